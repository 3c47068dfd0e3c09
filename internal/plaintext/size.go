package plaintext

import "fmt"

// Size returns a number of bytes for people, such as 1.4 GiB.
func Size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n), 0
	for size >= 1024 && unit < 4 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.1f %s", size, [...]string{"", "KiB", "MiB", "GiB", "TiB"}[unit])
}
