package sqlite

import (
	"fmt"
	"testing"
)

// BenchmarkOpen opens an empty folder and one that has a database (P14).
func BenchmarkOpen(b *testing.B) {
	for _, fresh := range []bool{true, false} {
		b.Run(fmt.Sprintf("fresh=%t", fresh), func(b *testing.B) {
			dir, i := b.TempDir(), 0
			for b.Loop() {
				if fresh {
					i++
				}
				db, err := Open(b.Context(), fmt.Sprintf("%s/%d.db", dir, i), Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
