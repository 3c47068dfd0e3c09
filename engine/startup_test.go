package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// readCounter is a store that counts the texts of routes that are read.
type readCounter struct {
	store.Store
	texts atomic.Int64
}

func (s *readCounter) View(ctx context.Context, f func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return f(countedReader{r, s}) })
}

type countedReader struct {
	store.Reader
	counter *readCounter
}

func (r countedReader) Routes() store.RouteReader {
	return countedRoutes{r.Reader.Routes(), r.counter}
}

type countedRoutes struct {
	store.RouteReader
	counter *readCounter
}

func (r countedRoutes) Version(id, version int64) (*store.RouteVersion, error) {
	r.counter.texts.Add(1)
	return r.RouteReader.Version(id, version)
}

func (r countedRoutes) List() ([]store.Route, error) {
	r.counter.texts.Add(1)
	return r.RouteReader.List()
}

// TestStartReadsNoRoutes: however many routes there are, a start reads none of them, and
// who may see and start which is known all the same. What is used is compiled then.
func TestStartReadsNoRoutes(t *testing.T) {
	t.Parallel()
	counter := &readCounter{}
	w := newWorld(t, func(w *world) {
		w.wrap = func(s store.Store) store.Store {
			counter.Store = s
			return counter
		}
	})
	const doc = `{"title": "Number %d", "access": %s, "states": {"a": {"type": "start"}, "b": {"type": "complete"}},
		"actions": {"i": {"trigger": "init"}, "go": {"in": ["a"], "allowed": "everyone", "to": "b"}}}`
	admin := w.as("admin")
	for i, access := range []string{
		`{"start": ["everyone"]}`, `{"start": ["sam"]}`, `{"read": ["core"]}`, `{"admin": ["bob"]}`, `{"start": [], "read": ["ann"]}`, `{}`,
	} {
		admin.mustPutRoute(fmt.Sprintf("r%d", i), fmt.Sprintf(doc, i, access))
	}
	seen := func() (out []string) {
		for _, name := range []string{"admin", "sam", "ann", "bob", "eve"} {
			out = append(out, name+": "+fmt.Sprint(w.Cases.RouteNames(w.as(name).by())))
		}
		return out
	}
	before := seen()
	counter.texts.Store(0)
	w.reopen()
	same(t, "who sees what after a start", seen(), before)
	if n := counter.texts.Load(); n != 0 {
		t.Errorf("a start reads the texts of %d routes", n)
	}
	w.as("sam").startCase(`{"route": "r1"}`)
	if n := counter.texts.Load(); n != 1 {
		t.Errorf("%d texts were read to start a case; want 1", n)
	}
	_, err := w.as("eve").putCase("", `{"route": "r1"}`)
	w.refused(err, errs.Invalid, "/route not-found")
}

// TestBriefsFollowNames: what is kept of routes beside their texts follows users who are
// renamed and deleted, over restarts too, and is made for routes that have none.
func TestBriefsFollowNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("of-eve", `{"title": "Of eve", "access": {"start": ["eve", "bob"]},
		"states": {"a": {"type": "start"}, "b": {"type": "complete"}}, "actions": {"i": {"trigger": "init"}, "go": {"in": ["a"], "allowed": "everyone", "to": "b"}}}`)
	seen := func(name string) string { return fmt.Sprint(w.Cases.RouteNames(w.as(name).by())) }
	const some, all = "[ask auto]", "[ask auto of-eve]"
	wanted := func(what string, pairs ...string) {
		t.Helper()
		for _, restarted := range []bool{false, true} {
			if restarted {
				w.reopen()
			}
			for i := 0; i < len(pairs); i += 2 {
				same(t, fmt.Sprintf("%s: what %s sees (after a start: %t)", what, pairs[i], restarted), seen(pairs[i]), pairs[i+1])
			}
		}
	}
	wanted("at first", "eve", all, "bob", all)
	admin = w.as("admin")
	if _, err := w.Accounts.RenameParty(t.Context(), admin.request(nil), identity.User, "eve", "eva"); err != nil {
		t.Fatal(err)
	}
	admin.mustPutParty(identity.User, "eve", `{}`) // another one
	wanted("renamed", "eva", all, "eve", some)
	w.update(func(tx store.Tx) error {
		r, err := tx.Routes().GetByName("of-eve")
		if err != nil {
			return err
		}
		r.Brief = []byte{} // as an earlier release left it
		return tx.Write().Routes().PutBrief(r)
	})
	wanted("without a brief", "eva", all, "eve", some)
	w.view(func(r store.Reader) error {
		all, err := r.Routes().Briefs()
		for i := range all {
			if len(all[i].Brief) == 0 {
				t.Errorf("the route %s has no brief after a start", all[i].Name)
			}
		}
		return err
	})
}
