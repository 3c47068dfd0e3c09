package attach_test

import (
	"os"
	"path/filepath"
	"testing"

	"flowdrive/attach"
	"flowdrive/internal/placetest"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	placetest.Run(t, func(t *testing.T) placetest.Subject {
		t.Helper()
		path := filepath.Join(t.TempDir(), "contents")
		return placetest.Subject{
			Open: func(t *testing.T) attach.Keeper {
				t.Helper()
				f, err := attach.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				return f
			},
			Left: func(t *testing.T) int {
				t.Helper()
				left, err := os.ReadDir(filepath.Join(path, "spool"))
				if err != nil {
					t.Fatal(err)
				}
				return len(left)
			},
			// A file is in the way. A content that waits to be kept stays with it.
			Away: func(t *testing.T, f func()) {
				t.Helper()
				if err := os.Rename(path, path+".away"); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				f()
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(path+".away", path); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
