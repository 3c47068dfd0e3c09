package backup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestParseKeep reads what may be kept, and refuses the rest with an example.
func TestParseKeep(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Keep{
		"7d,4w,12m": {Days: 7, Weeks: 4, Months: 12}, "2y": {Years: 2}, " 1m , 3d": {Days: 3, Months: 1},
	} {
		if got, err := ParseKeep(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ",", "7", "d", "7d,", "0d", "-1d", "7x", "7d,7d", "1e3d", "99999d", "7 d", "7ds"} {
		if got, err := ParseKeep(text); err == nil || !strings.Contains(err.Error(), "7d,4w,12m") {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

// TestKeep says which of daily backups go.
func TestKeep(t *testing.T) {
	t.Parallel()
	at := func(days ...string) (all []made) {
		for _, day := range days {
			instant, err := time.Parse("2006-01-02T15", day)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, made{path: day, Manifest: &Manifest{Instant: instant}})
		}
		return all
	}
	daily := at("2026-01-30T03", "2026-01-31T03", "2026-02-01T03", "2026-02-07T03", "2026-02-08T03", "2026-02-09T03", "2026-02-09T15", "2026-02-10T03")
	for _, test := range []struct {
		keep  Keep
		stays string
	}{
		{Keep{}, "all"},
		{Keep{Days: 1}, "2026-02-10T03"},
		{Keep{Days: 2}, "2026-02-09T15 2026-02-10T03"},
		{Keep{Days: 3}, "2026-02-08T03 2026-02-09T15 2026-02-10T03"},
		{Keep{Weeks: 3}, "2026-02-01T03 2026-02-08T03 2026-02-10T03"}, // Mondays are the 2nd and the 9th
		{Keep{Months: 2}, "2026-01-31T03 2026-02-10T03"},
		{Keep{Years: 5}, "2026-02-10T03"},
		{Keep{Days: 2, Weeks: 2, Months: 2}, "2026-01-31T03 2026-02-08T03 2026-02-09T15 2026-02-10T03"},
	} {
		goes := map[string]bool{}
		for _, m := range test.keep.goes(daily) {
			goes[m.path] = true
		}
		var stays []string
		for _, m := range daily {
			if !goes[m.path] {
				stays = append(stays, m.path)
			}
		}
		if test.stays == "all" && len(goes) == 0 {
			continue
		}
		if got := strings.Join(stays, " "); got != test.stays {
			t.Errorf("%+v keeps %s, want %s", test.keep, got, test.stays)
		}
	}
}

// TestThinTouchesNothingElse: what is removed are backups of the same data folder,
// not the one that was just made although the clock says it is old, and nothing
// that merely looks like one.
func TestThinTouchesNothingElse(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 3, 0, 0, 0, time.UTC) }
	backup := func(name, host, data string, instant time.Time) made {
		t.Helper()
		m := made{filepath.Join(to, name), &Manifest{Format: 1, Program: manifestProgram, Instant: instant, Host: host, Data: data, Files: []File{}}}
		if err := os.Mkdir(m.path, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(m.path, manifestName))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := m.write(f); err != nil {
			t.Fatal(err)
		}
		return m
	}
	backup("20260101T030000Z", "a", "/data", day(1))
	backup("20260102T030000Z", "a", "/other", day(2))
	backup("20260103T030000Z", "b", "/data", day(3))
	backup("my-copy", "a", "/data", day(1))
	backup("20260109T030000Z", "a", "/data", day(9))
	latest := backup("20260105T030000Z", "a", "/data", day(5)) // the clock was set back
	for _, name := range []string{"20260104T030000Z", "20260106T030000Z"} {
		if err := os.MkdirAll(filepath.Join(to, name, "photos"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := thin(to, latest, Keep{Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range removed {
		removed[i] = filepath.Base(removed[i])
	}
	if diff := cmp.Diff([]string{"20260101T030000Z"}, removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	for _, name := range []string{"20260102T030000Z", "20260103T030000Z", "my-copy", "20260105T030000Z", "20260109T030000Z", "20260104T030000Z/photos", "20260106T030000Z/photos"} {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
