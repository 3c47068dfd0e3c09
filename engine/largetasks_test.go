package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/store"
)

const largeTasks = 30

// withLargeTasks has sam store a route whose cases have so many tasks for sam that are due
// today, the form of each with all that is in the XATTRs of the case.
func withLargeTasks(sam user) {
	sam.Helper()
	var actions strings.Builder
	for i := range largeTasks {
		fmt.Fprintf(&actions, "  a%02d: {in: [open], to: done, role: me, dueIn: PT1H}\n", i)
	}
	sam.mustPutRoute("large", "xattrs: {t: {type: string}}\nroles: {me: {assign: [starter]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n"+actions.String())
}

// TestTasksAreMadeInParts: who is told of tasks one by one, and has enough, has the forms of few
// made. Each form has all that is in the XATTRs of its case: six listings of one user's tasks
// of 20 cases took two gigabytes.
func TestTasksAreMadeInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	withLargeTasks(sam)
	large := fmt.Sprintf(`{"route": "large", "xattrDict": {"t": %q}}`, strings.Repeat("x", 60_000))
	ids := []int64{sam.startCase(large), sam.startCase(large)}
	var want []string
	for _, id := range ids {
		for i := range largeTasks {
			want = append(want, fmt.Sprintf("%d.a%02d", id, i))
		}
	}
	for _, list := range []engine.Worklist{engine.WorklistOffered, engine.WorklistToday} {
		var got []string
		for after := int64(0); ; {
			made := 0
			page, err := w.Worklists.Worklist(t.Context(), sam.by(), list, engine.Filter{After: after, Each: func(*engine.Resource) bool { made++; return made == 2 }})
			if err != nil {
				t.Fatal(err)
			}
			if made > 4 {
				t.Errorf("%s: %d forms are made for two", list, made)
			}
			if len(page) == 0 {
				break
			}
			for i := range page {
				got = append(got, page[i].Name)
				if len(page[i].Form) < 60_000 {
					t.Errorf("%s: the form of %s has %d bytes", list, page[i].Name, len(page[i].Form))
				}
			}
			after = page[len(page)-1].Seq
		}
		same(t, string(list), got, want)
		page, err := w.Worklists.Worklist(t.Context(), sam.by(), list, engine.Filter{After: 0, Limit: 3})
		if err != nil || len(page) != 3 {
			t.Errorf("%s: %d tasks, %v; want 3", list, len(page), err)
		}
	}
	one, err := w.Worklists.WorklistTask(t.Context(), sam.by(), engine.WorklistToday, ids[1], "a07")
	if err != nil || one.Name != want[largeTasks+7] || len(one.Form) < 60_000 {
		t.Errorf("one task: %v, %v", one, err)
	}
}

// TestTasksAreReadInParts: of large cases with tasks few are read at once, also for the page of
// tasks.
func TestTasksAreReadInParts(t *testing.T) {
	t.Parallel()
	const cases, few = 12, 4
	counted := &widestStore{}
	w := newWorld(t, overStore(func(s store.Store) store.Store { counted.Store = s; return counted }))
	sam := w.as("sam")
	withLargeTasks(sam)
	for range cases {
		sam.startCase(fmt.Sprintf(`{"route": "large", "xattrDict": {"t": %q, "u": %[1]q, "v": %[1]q, "w": %[1]q, "x": %[1]q}}`, strings.Repeat("x", 60_000)))
	}
	for name, list := range map[string]func() error{
		"the page": func() error { _, err := w.Worklists.TaskCases(t.Context(), sam.by()); return err },
		"the list": func() error {
			_, err := w.Worklists.Worklist(t.Context(), sam.by(), engine.WorklistOffered, engine.Filter{Each: func(r *engine.Resource) bool { r.Form = nil; return false }})
			return err
		},
		"today": func() error {
			_, err := w.Worklists.Worklist(t.Context(), sam.by(), engine.WorklistToday, engine.Filter{Each: func(r *engine.Resource) bool { r.Form = nil; return false }})
			return err
		},
	} {
		w.reopen() // nothing is remembered of the user's tasks
		counted.widest = 0
		if err := list(); err != nil {
			t.Fatal(err)
		}
		if counted.widest == 0 || counted.widest > few {
			t.Errorf("%s: %d cases are read at once, want %d at most", name, counted.widest, few)
		}
	}
}

// TestListInPartsReadsCasesOnce: a listing that comes in parts, as .contents does, does not
// read all cases again for each part.
func TestListInPartsReadsCasesOnce(t *testing.T) {
	t.Parallel()
	const cases, parts = 40, 5
	counted := &widestStore{}
	w := newWorld(t, overStore(func(s store.Store) store.Store { counted.Store = s; return counted }))
	sam := w.as("sam")
	sam.mustPutRoute("due", "roles: {me: {assign: [starter]}}\nstates: {open: {type: start}, done: {type: complete}}\nactions:\n"+
		"  begin: {trigger: init}\n  note: {in: [open], role: me}\n  finish: {in: [open], to: done, role: me, dueIn: PT2H}\n")
	for range cases {
		if _, err := sam.perform(sam.startCase(`{"route": "due"}`), "note", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		list  engine.Worklist
		tasks int
		reads int // each case to know what is on the list, and each for what it tells of it
	}{
		{engine.WorklistOffered, 2 * cases, cases + 2*parts},
		{engine.WorklistToday, cases, 2 * cases},
		{engine.WorklistDone, cases, 2 * cases},
	} {
		w.reopen() // nothing is remembered of the user's tasks
		counted.read = 0
		told, limit := 0, 3 // each part is twice as long as the one before, as in davfs
		for after := int64(0); ; limit *= 2 {
			page, err := w.Worklists.Worklist(t.Context(), sam.by(), want.list, engine.Filter{After: after, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			if told += len(page); len(page) < limit {
				break
			}
			after = page[len(page)-1].Seq
		}
		if told != want.tasks || counted.read < cases || counted.read > want.reads {
			t.Errorf("%s: %d tasks and %d readings of cases, want %d and %d at most", want.list, told, counted.read, want.tasks, want.reads)
		}
	}
}

// widestStore counts how many cases with tasks are read at once, and how many at all.
type widestStore struct {
	store.Store
	widest, read int
}

// View implements store.Store.
func (s *widestStore) View(ctx context.Context, f func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return f(widestReader{r, s}) })
}

type widestReader struct {
	store.Reader
	of *widestStore
}

func (r widestReader) Cases() store.CaseReader { return widestCases{r.Reader.Cases(), r.of} }

type widestCases struct {
	store.CaseReader
	of *widestStore
}

func (c widestCases) Tasks() store.TaskReader { return widestTasks{c.CaseReader.Tasks(), c.of} }

func (c widestCases) Get(id int64) (*store.Case, error) {
	c.of.read++
	return c.CaseReader.Get(id)
}

type widestTasks struct {
	store.TaskReader
	of *widestStore
}

func (t widestTasks) WithTasks(f store.TaskFilter) ([]store.Case, error) {
	rows, err := t.TaskReader.WithTasks(f)
	t.of.widest, t.of.read = max(t.of.widest, len(rows)), t.of.read+len(rows)
	return rows, err
}

func (t widestTasks) WithMarkings(ids []int64) ([]store.Case, error) {
	rows, err := t.TaskReader.WithMarkings(ids)
	t.of.widest, t.of.read = max(t.of.widest, len(rows)), t.of.read+len(rows)
	return rows, err
}

// TestPageOfLargeCaseIsWeighed: the page of a case with much in its XATTRs asks for room.
func TestPageOfLargeCaseIsWeighed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	asked := int64(0)
	look := func(size int) {
		t.Helper()
		asked = 0
		id := sam.startCase(fmt.Sprintf(`{"route": "ask", "xattrDict": {"t": %q, "u": %[1]q}}`, strings.Repeat("x", size)))
		if _, err := w.Cases.CaseDetail(t.Context(), sam.by(), id, func(bytes int64) error { asked = bytes; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if look(60_000); asked < 8*2*60_000 {
		t.Errorf("a large case: room for %d bytes is asked for", asked)
	}
	if look(1000); asked != 0 {
		t.Errorf("a small case: room for %d bytes is asked for", asked)
	}
}
