package files

import (
	"slices"
	"testing"
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// TestThinned: what is saved every few seconds leaves the newest versions, and older ones
// the farther apart the older they are.
func TestThinned(t *testing.T) {
	t.Parallel()
	start := time.Date(2012, 11, 9, 0, 0, 0, 0, time.UTC)
	saved := func(every time.Duration, n int) (all []store.Version) {
		now := start
		for i := range n {
			now = now.Add(every)
			all = append(all, version(int64(i+1), 1, now))
			drop := thinned(all, now, 100)
			all = slices.DeleteFunc(all, func(v store.Version) bool { return slices.Contains(drop, v.ID) })
		}
		return all
	}
	for _, tt := range []struct {
		what        string
		every       time.Duration
		n           int
		least, most int
	}{
		{"five saves", time.Second, 5, 5, 5},
		{"a minute", 10 * time.Second, 6, 6, 6},
		{"an hour, each 10 s", 10 * time.Second, 360, 13, 18},
		{"a day, each 10 s", 10 * time.Second, 8640, 35, 45},
		{"a month, each 10 min", 10 * time.Minute, 30 * 24 * 6, 55, 70},
		{"a year, each day", 24 * time.Hour, 365, 100, 100},
	} {
		if got := len(saved(tt.every, tt.n)); got < tt.least || got > tt.most {
			t.Errorf("%s: %d versions, want %d to %d", tt.what, got, tt.least, tt.most)
		}
	}

	now := start.Add(time.Hour)
	near := []store.Version{version(1, 1, now), version(2, 1, now), version(3, 2, now), version(4, 1, now), version(5, 1, now), version(6, 1, now), version(7, 1, now), version(8, 1, now), version(9, 1, now)}
	if got := thinned(near, now, 100); !slices.Equal(got, []int64{4}) {
		t.Errorf("what others have overwritten: %v are dropped", got)
	}
	twice := []store.Version{version(1, 1, now), version(2, 1, now)}
	twice[1].SHA256 = twice[0].SHA256
	if got := thinned(twice, now, 100); !slices.Equal(got, []int64{1}) {
		t.Errorf("the same twice: %v are dropped", got)
	}
	if got := thinned(near, now, 2); !slices.Equal(got, []int64{4, 1, 2, 3, 5, 6, 7}) {
		t.Errorf("more than two: %v are dropped", got)
	}
	folders := []store.Version{version(1, 1, now), version(2, 1, now), version(3, 1, now), version(4, 1, now), version(5, 1, now), version(6, 1, now), version(7, 1, now)}
	for i := range folders {
		folders[i].Folder, folders[i].SHA256 = true, store.Digest{}
	}
	if got := thinned(folders, now, 100); len(got) != 0 {
		t.Errorf("of folders %v are dropped", got)
	}
}

func version(id int64, author identity.ID, replaced time.Time) store.Version {
	return store.Version{Document: store.Document{ID: id, AuthorID: author, SHA256: store.Digest{byte(id), byte(id >> 8), byte(id >> 16)}}, Replaced: replaced}
}
