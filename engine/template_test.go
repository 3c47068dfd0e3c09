package engine_test

import (
	"sync"
	"testing"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/store/storetest"
)

// template is what a database was filled with before tests get copies of it:
// migrating and filling one takes longer than most tests.
type template struct {
	peopled bool // not only founded
	at      time.Time
}

// templates are the stores that were filled so far.
var templates struct {
	sync.Mutex
	kept map[template]storetest.Kept
}

// worldOn opens a world on a copy of the template, with the clock at the
// instant that the options set it to.
func worldOn(t *testing.T, peopled bool, options []func(*world)) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), clock: sandboxAt(start)}
	for _, option := range options {
		option(w)
	}
	w.place = template{peopled, w.clock.Now()}.keep(t).Place(t, w.dir)
	w.open()
	w.load()
	return w
}

// keep returns the filled store, and makes it if nobody has asked for it before.
func (wanted template) keep(t *testing.T) storetest.Kept {
	t.Helper()
	templates.Lock()
	defer templates.Unlock()
	if kept, made := templates.kept[wanted]; made {
		return kept
	}
	dir := t.TempDir()
	w := &world{T: t, dir: dir, place: storetest.NewPlace(t, dir), clock: clock.NewSandbox(wanted.at)}
	w.open()
	w.found()
	if wanted.peopled {
		w.people()
	}
	w.stop()
	if templates.kept == nil {
		templates.kept = map[template]storetest.Kept{}
	}
	kept := w.place.Keep(t)
	templates.kept[wanted] = kept
	return kept
}

// found does what a first start does.
func (w *world) found() {
	w.Helper()
	if _, err := w.Found(w.Context(), w.clock.Now(), "", nil); err != nil {
		w.Fatal(err)
	}
	w.load()
}
