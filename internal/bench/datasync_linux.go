package main

import (
	"os"
	"syscall"
)

// dataSync waits until what was written is on the disk, as SQLite does.
func dataSync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
