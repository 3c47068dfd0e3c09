module flowdrive/tools

go 1.26

require github.com/andybalholm/brotli v1.2.0
