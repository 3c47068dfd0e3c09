package davfs

import (
	"testing"

	"flowdrive/engine"
)

// TestPagesOfLargeForms: pages are short where resources are large, and as long as
// they may be where they are small.
func TestPagesOfLargeForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ size, limit, want int }{
		{100, 16, 32},
		{100, 256, 500},
		{100, 500, 500},
		{0, 500, 500},
		{900_000, 16, 1},
		{200_000, 4, 5},
		{9_000_000, 4, 1},
		{40_000, 64, 26},
	} {
		page := []engine.Resource{{}, {Form: make([]byte, tt.size)}, {}}
		if got := nextPage(page, tt.limit); got != tt.want {
			t.Errorf("after %d of at most %d bytes: %d, want %d", tt.limit, tt.size, got, tt.want)
		}
	}
}
