package engine_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"flowdrive/internal/clock"
)

// template is what a database was filled with before tests get copies of it:
// migrating and filling one takes longer than most tests.
type template struct {
	peopled bool // not only founded
	at      time.Time
}

// templates are the files of the databases that were made so far.
var templates struct {
	sync.Mutex
	files map[template][]byte
}

// worldOn opens a world on a copy of the template, with the clock at the
// instant that the options set it to.
func worldOn(t *testing.T, peopled bool, options []func(*world)) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), clock: sandboxAt(start)}
	for _, option := range options {
		option(w)
	}
	file := template{peopled, w.clock.Now()}.file(t)
	if err := os.WriteFile(w.database(), file, 0o600); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.load()
	return w
}

// file returns the database file of the template, and makes it if nobody has
// asked for it before.
func (wanted template) file(t *testing.T) []byte {
	t.Helper()
	templates.Lock()
	defer templates.Unlock()
	if file, made := templates.files[wanted]; made {
		return file
	}
	w := &world{T: t, dir: t.TempDir(), clock: clock.NewSandbox(wanted.at)}
	w.open()
	w.found()
	if wanted.peopled {
		w.people()
	}
	w.stop()
	file, err := os.ReadFile(w.database())
	if err != nil {
		t.Fatal(err)
	}
	if templates.files == nil {
		templates.files = map[template][]byte{}
	}
	templates.files[wanted] = file
	return file
}

// database is the path of the world's database.
func (w *world) database() string { return filepath.Join(w.dir, "flowdrive.db") }

// found does what a first start does.
func (w *world) found() {
	w.Helper()
	if _, err := w.Found(w.Context(), w.clock.Now(), "", nil); err != nil {
		w.Fatal(err)
	}
	w.load()
}
