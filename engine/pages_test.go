package engine

import (
	"slices"
	"testing"
)

// TestPagesAreReadInParts: who is told of resources one by one, and takes from them what is
// large, never has more than a few of them in memory. One listing of cases with much in
// their XATTRs took a gigabyte.
func TestPagesAreReadInParts(t *testing.T) {
	t.Parallel()
	const rows, large = 100, 900_000
	for _, tt := range []struct {
		name        string
		form        int
		size, limit int
		enough      int64 // upon this resource
		told, steps []int
	}{
		{"large", large, 0, 0, 0, []int{1, rows}, slices.Repeat([]int{4}, 26)},
		{"small", 100, 0, 0, 0, []int{1, rows}, []int{4, 8, 16, 32, 64}},
		{"limit", large, 6, 6, 0, []int{1, 6}, []int{4, 4}},
		{"enough", large, 0, 0, 10, []int{1, 12}, []int{4, 4, 4}},
	} {
		var steps []int
		var told []int64
		out, err := pages[int64]{
			size: tt.size, limit: tt.limit,
			each: func(r *Resource) bool {
				told = append(told, r.Seq)
				r.Form = nil
				return r.Seq == tt.enough
			},
			list: func(after int64, limit int) (list []int64, _ error) {
				steps = append(steps, limit)
				for n := after + 1; n <= rows && len(list) < limit; n++ {
					list = append(list, n)
				}
				return list, nil
			},
			place: func(row *int64) int64 { return *row },
			add: func(list []int64, out []Resource) ([]Resource, error) {
				for _, n := range list {
					out = append(out, Resource{Seq: n, Form: make([]byte, tt.form)})
				}
				return out, nil
			},
		}.all(0)
		if err != nil || len(told) != tt.told[1] || len(out) != len(told) || !slices.IsSorted(told) || int(told[0]) != tt.told[0] || out[0].Form != nil {
			t.Errorf("%s: told of %v, %d returned, %v", tt.name, told, len(out), err)
		}
		if !slices.Equal(steps, tt.steps) {
			t.Errorf("%s: read %v at once, want %v", tt.name, steps, tt.steps)
		}
	}
}
