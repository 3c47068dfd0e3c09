package status

import (
	"slices"
	"testing"
)

// TestWeekInOrder: in an hour what fires first comes first, and an imported line of a crontab is
// known by its title.
func TestWeekInOrder(t *testing.T) {
	t.Parallel()
	w := new(Week)
	w.Cells[2][8] = []Firing{
		{Name: "nightly", Title: "Nightly", Hour: 8, Minutes: []int{40}, Count: 1},
		{Name: "crontab-4c49a0b1c2d3", Title: "backup.sh", Hour: 8, Minutes: []int{5, 50}, Count: 2},
		{Name: "b", Title: "B", Hour: 8, Minutes: []int{5}, Count: 1},
		{Name: "crontab-4c49a0b1c2d4@ann", Title: "mail.sh", Hour: 8, Minutes: []int{5}, Count: 1},
		{Name: "crontab-monday", Title: "Monday", Hour: 8, Minutes: []int{0}, Count: 1},
	}
	w.Sort()
	var got []string
	for _, row := range w.rows(8) {
		got = append(got, row[3])
	}
	want := []string{"08:00 crontab-monday", "08:05 b", "08:05 mail.sh", "08:05 08:50 backup.sh", "08:40 nightly"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
