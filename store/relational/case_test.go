package relational_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func insertCases(t *testing.T, db *storetest.DB, cases ...*store.Case) {
	t.Helper()
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, c := range cases {
			if err := tx.Write().Cases().Insert(c); err != nil {
				return err
			}
		}
		return nil
	})
}

// stored returns the case as it is read, with the parties among all that see
// it.
func stored(t *testing.T, db *storetest.DB, id int64, all ...identity.ID) *store.Case {
	t.Helper()
	var c *store.Case
	mustView(t, db, func(r store.Reader) (err error) {
		if c, err = r.Cases().Get(id); err != nil {
			return err
		}
		for _, party := range all {
			seen, err := r.Cases().SeenBy(id, []identity.ID{0, party})
			if err != nil {
				return err
			}
			listed, err := r.Cases().List(store.CaseFilter{Access: []identity.ID{party}})
			if err != nil {
				return err
			}
			if seen != slices.Contains(caseIDs(listed), id) {
				t.Errorf("case %d is seen by %d: %t, and the listing does not agree", id, party, seen)
			}
			if seen {
				c.Access = append(c.Access, party)
			}
		}
		return nil
	})
	return c
}

func TestCases(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann, bob := addUser(t, db, "sam"), addUser(t, db, "ann"), addUser(t, db, "bob")
	c := newCase(db, sam, 7)
	c.Access, c.Named, c.Due = sorted(sam, ann), true, noon().Add(time.Hour)
	insertCases(t, db, c)
	same(t, "stored", c, stored(t, db, c.ID, sam, ann, bob))

	change := func(base int64, f func(c *store.Case)) error {
		next := *c
		f(&next)
		err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Update(&next, base) })
		if err == nil {
			if next.Access == nil {
				next.Access = c.Access
			}
			*c = next
		}
		return err
	}
	for _, test := range []struct {
		name string
		f    func(c *store.Case)
	}{
		{"started", func(c *store.Case) { c.State, c.Status, c.Due = "active", "open", time.Time{} }},
		{"performed", func(c *store.Case) {
			c.Status, c.Version, c.Form, c.Marking = "voting", 2, []byte("{2}"), []byte("{m}")
		}},
		{"seen by another", func(c *store.Case) { c.Access = sorted(ann, bob) }},
		{"seen by the same", func(c *store.Case) { c.Access = sorted(ann, bob); c.Named = false }},
		{"access left alone", func(c *store.Case) { c.Access = nil; c.Modified = noon().Add(time.Minute) }},
		{"given away", func(c *store.Case) { c.ContextID, c.Access = ann, sorted(ann, bob, sam) }},
		{"of another priority", func(c *store.Case) { c.Priority = 65535 }},
		{"completed", func(c *store.Case) { c.State, c.Access = "completed", sorted(ann) }},
		{"seen by nobody", func(c *store.Case) { c.Access = []identity.ID{} }},
		{"reopened", func(c *store.Case) { c.State, c.Access = "active", sorted(bob) }},
	} {
		base := c.Revision
		err := change(base, func(c *store.Case) { c.Revision++; test.f(c) })
		kind(t, test.name, err, "")
		same(t, test.name, c, stored(t, db, c.ID, sam, ann, bob))
		consistent(t, db)

		kind(t, test.name+", from a stale revision", change(base, func(c *store.Case) { c.Status = "never" }), errs.Precondition)
		same(t, test.name+", from a stale revision", c, stored(t, db, c.ID, sam, ann, bob))
	}
	kind(t, "no such case", change(1, func(c *store.Case) { c.ID = 999 }), errs.NotFound)
	mustView(t, db, func(r store.Reader) error {
		_, err := r.Cases().Get(999)
		kind(t, "no such case", err, errs.NotFound)
		_, err = r.Cases().SeenBy(999, []identity.ID{sam})
		kind(t, "no such case", err, errs.NotFound)
		return nil
	})
}

func TestCaseConstraints(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	for name, spoil := range map[string]func(c *store.Case){
		"a state that is none":    func(c *store.Case) { c.State = "open" },
		"a priority beyond":       func(c *store.Case) { c.Priority = 65536 },
		"a party that is none":    func(c *store.Case) { c.Access = sorted(sam, 999) },
		"a party twice":           func(c *store.Case) { c.Access = sorted(sam, sam) },
		"a version that is none":  func(c *store.Case) { c.Version = 0 },
		"an id that is none":      func(c *store.Case) { c.ID = 0 },
		"an instant that is none": func(c *store.Case) { c.Created = time.Time{} },
	} {
		c := newCase(db, sam, 7)
		spoil(c)
		err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Insert(c) })
		kind(t, name, err, errs.Internal)
	}
}

func TestCaseFilters(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann, bob := addUser(t, db, "sam"), addUser(t, db, "ann"), addUser(t, db, "bob")
	var all []*store.Case
	for i := range 12 {
		c := newCase(db, sam, 7+int64(i%3))
		c.ContextID = []identity.ID{sam, ann}[i%2]
		c.Access = sorted(sam, c.ContextID)
		c.Access = slices.Compact(c.Access)
		c.State = []string{"queued", "active", "completed"}[i/4]
		c.Status = []string{"open", "done"}[i/6]
		all = append(all, c)
	}
	insertCases(t, db, all...)
	id := func(i int) int64 { return all[i].ID }
	everybody := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, test := range []struct {
		name   string
		filter store.CaseFilter
		want   []int
	}{
		{"all", store.CaseFilter{}, everybody},
		{"seen by one", store.CaseFilter{Access: []identity.ID{ann}}, []int{1, 3, 5, 7, 9, 11}},
		{"seen by several", store.CaseFilter{Access: []identity.ID{bob, ann, sam}}, everybody},
		{"seen by nobody", store.CaseFilter{Access: []identity.ID{}}, nil},
		{"seen, or of a route", store.CaseFilter{Access: []identity.ID{ann}, Routes: []int64{7}}, []int{0, 1, 3, 5, 6, 7, 9, 11}},
		{"only of routes", store.CaseFilter{Access: []identity.ID{}, Routes: []int64{8, 9}}, []int{1, 2, 4, 5, 7, 8, 10, 11}},
		{"a route", store.CaseFilter{RouteID: 8}, []int{1, 4, 7, 10}},
		{"a route that is administered", store.CaseFilter{RouteID: 8, Access: []identity.ID{bob}, Routes: []int64{7, 8}}, []int{1, 4, 7, 10}},
		{"a route, seen by one", store.CaseFilter{RouteID: 8, Access: []identity.ID{ann}}, []int{1, 7}},
		{"a context", store.CaseFilter{Context: ann}, []int{1, 3, 5, 7, 9, 11}},
		{"a context of the caller's", store.CaseFilter{Context: sam, Access: []identity.ID{ann, sam}}, []int{0, 2, 4, 6, 8, 10}},
		{"a context of another", store.CaseFilter{Context: sam, Access: []identity.ID{ann}}, nil},
		{"a state", store.CaseFilter{State: "active"}, []int{4, 5, 6, 7}},
		{"a status", store.CaseFilter{State: "active", Status: "done"}, []int{6, 7}},
		{"a page", store.CaseFilter{After: id(3), Limit: 3}, []int{4, 5, 6}},
		{"a page of a route", store.CaseFilter{RouteID: 7, After: id(0), Limit: 2}, []int{3, 6}},
		{"the last page", store.CaseFilter{Access: []identity.ID{sam, ann}, After: id(9), Limit: 5}, []int{10, 11}},
	} {
		var got []int
		mustView(t, db, func(r store.Reader) error {
			cases, err := r.Cases().List(test.filter)
			for i := range cases {
				at := slices.IndexFunc(all, func(c *store.Case) bool { return c.ID == cases[i].ID })
				want := *all[at]
				want.Marking, want.Access = nil, nil
				same(t, test.name, want, cases[i])
				got = append(got, at)
			}
			return err
		})
		same(t, test.name, test.want, got)
	}
}

// TestWalkMergesItsSources lists more than any one source yields at a time, from sources that
// overlap and that end at different places.
func TestWalkMergesItsSources(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	var all []*store.Case
	var bySam, byEither []int64
	for i := range 4*walkChunk + 7 {
		c := newCase(db, sam, 7)
		switch {
		case i%5 == 0:
			c.Access, c.RouteID = []identity.ID{}, 8
		case i%3 == 0 || i > 3*walkChunk:
			c.Access = sorted(sam, ann)
			bySam = append(bySam, c.ID)
			byEither = append(byEither, c.ID)
		case i%3 == 1:
			bySam = append(bySam, c.ID)
			byEither = append(byEither, c.ID)
		default:
			c.Access = sorted(ann)
			byEither = append(byEither, c.ID)
		}
		all = append(all, c)
	}
	insertCases(t, db, all...)
	list := func(f store.CaseFilter) (ids []int64) {
		mustView(t, db, func(r store.Reader) error {
			cases, err := r.Cases().List(f)
			ids = caseIDs(cases)
			return err
		})
		return ids
	}
	same(t, "one", bySam, list(store.CaseFilter{Access: []identity.ID{sam}}))
	same(t, "two", byEither, list(store.CaseFilter{Access: []identity.ID{ann, sam}}))
	for _, size := range []int{7, 100, walkChunk, walkChunk + 1, len(byEither)} {
		var paged []int64
		f := store.CaseFilter{Access: []identity.ID{ann, sam}, Limit: size}
		for page := list(f); len(page) > 0; page = list(f) {
			paged = append(paged, page...)
			f.After = page[len(page)-1]
		}
		same(t, fmt.Sprintf("by pages of %d", size), byEither, paged)
	}
	newest := slices.Clone(byEither)
	slices.Reverse(newest)
	for _, oldest := range []bool{false, true} {
		want := newest
		if oldest {
			want = byEither
		}
		for _, access := range [][]identity.ID{{ann, sam}, nil} {
			var found []int64
			f := store.NewestFilter{Access: access, Oldest: oldest, RouteID: 7, Look: 100}
			if access == nil {
				f.Routes = []int64{7}
			}
			for first := true; first || f.Before != 0; first = false {
				mustView(t, db, func(r store.Reader) (err error) {
					f.Before, err = r.Cases().Newest(f, func(cases []store.CaseState) (bool, error) {
						for i := range cases {
							found = append(found, cases[i].ID)
						}
						return false, nil
					})
					return err
				})
			}
			same(t, fmt.Sprintf("of %v, the oldest first: %t", access, oldest), want, found)
		}
	}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	var all []*store.Case
	for _, priority := range []int{200, 300, 200, 100, 65535} {
		c := newCase(db, sam, 7)
		c.Priority = priority
		all = append(all, c)
	}
	insertCases(t, db, all...)
	queue := func(limit int) (ids []int64, open int64) {
		mustView(t, db, func(r store.Reader) error {
			cases, err := r.Queue().QueuedCases(store.Lane{RouteID: 7}, limit)
			if err != nil {
				return err
			}
			ids = nil
			for _, c := range cases {
				ids = append(ids, c.ID)
			}
			open, err = r.Cases().CountOpen(sam)
			return err
		})
		return ids, open
	}
	ids, open := queue(10)
	same(t, "queue", []int64{all[4].ID, all[1].ID, all[0].ID, all[2].ID, all[3].ID}, ids)
	same(t, "open", int64(5), open)
	ids, _ = queue(2)
	same(t, "its head", []int64{all[4].ID, all[1].ID}, ids)
	for i, state := range map[int]string{4: "active", 1: "canceled", 2: "completed"} {
		mustUpdate(t, db, func(tx store.Tx) error {
			all[i].State = state
			return tx.Write().Cases().Update(all[i], 1)
		})
	}
	ids, open = queue(10)
	same(t, "queue after starts and ends", []int64{all[0].ID, all[3].ID}, ids)
	same(t, "open after starts and ends", int64(3), open)
	mustView(t, db, func(r store.Reader) error {
		open, err := r.Cases().CountOpen(ann)
		same(t, "open cases of another", int64(0), open)
		return err
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	c, other := newCase(db, sam, 7), newCase(db, sam, 7)
	insertCases(t, db, c, other)
	log := func(id int64) (text string, err error) {
		mustView(t, db, func(r store.Reader) error {
			var data []byte
			data, err = r.Cases().Log(id)
			text = string(data)
			return nil
		})
		return text, err
	}
	text, err := log(c.ID)
	same(t, "a case without log", "[]", text)
	kind(t, "a case without log", err, "")
	for _, entries := range []struct {
		seq  int64
		text string
	}{{4, `[{"seq":4}]`}, {1, `[{"seq":1},{"seq":2}]`}, {3, "[{\"seq\":3}]\n"}, {5, `[]`}} {
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().AppendLog(c.ID, entries.seq, []byte(entries.text)) })
	}
	text, _ = log(c.ID)
	same(t, "log", `[{"seq":1},{"seq":2},{"seq":3},{"seq":4}]`, text)
	text, _ = log(other.ID)
	same(t, "log of another", "[]", text)
	_, err = log(999)
	kind(t, "no such case", err, errs.NotFound)
	add := func(id, seq int64) error {
		return db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().AppendLog(id, seq, []byte(`[{}]`)) })
	}
	kind(t, "an entry twice", add(c.ID, 3), errs.Internal)
	kind(t, "an entry of no case", add(999, 1), errs.NotFound)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	c, other := newCase(db, sam, 7), newCase(db, sam, 7)
	insertCases(t, db, c, other)
	message := func(n byte, label, content string) *store.Message {
		return &store.Message{
			UUID: store.UUID{n}, CaseID: c.ID, Label: label, MediaType: "text/plain; charset=utf-8",
			Size: int64(len(content)), SHA256: store.Digest{n}, Content: []byte(content), Version: 1,
			Created: noon(), Modified: noon().Add(time.Second),
		}
	}
	input, empty, large := message(1, "InputMessage", "hello"), message(2, "Empty", ""), message(3, "Large", "")
	large.InFile, large.Content, large.Size = true, nil, 1<<32
	foreign := message(1, "InputMessage", "of another case")
	foreign.CaseID = other.ID
	all := []*store.Message{input, empty, large, foreign}
	put := func(m *store.Message) error {
		return db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Messages().Put(m) })
	}
	for _, m := range all {
		kind(t, m.Label, put(m), "")
	}
	input.UUID, input.Version, input.Content, input.Size = store.UUID{9}, 2, []byte("again"), 5
	kind(t, "replaced", put(input), "")
	mustView(t, db, func(r store.Reader) error {
		for _, m := range all {
			got, err := r.Cases().Messages().Get(m.CaseID, m.UUID)
			same(t, "by UUID", m, got)
			kind(t, "by UUID", err, "")
			got, err = r.Cases().Messages().GetByLabel(m.CaseID, m.Label)
			same(t, "by label", m, got)
			kind(t, "by label", err, "")
		}
		list, err := r.Cases().Messages().List(c.ID)
		var want []store.Message
		for _, m := range all[:3] {
			bare := *m
			bare.Content = nil
			want = append(want, bare)
		}
		same(t, "all", want, list)
		_, err2 := r.Cases().Messages().Get(c.ID, store.UUID{1})
		kind(t, "a UUID that was replaced", err2, errs.NotFound)
		_, err2 = r.Cases().Messages().GetByLabel(c.ID, "inputmessage")
		kind(t, "a label in another case", err2, errs.NotFound)
		return err
	})
	stray := message(4, "Stray", "x")
	stray.CaseID = 999
	kind(t, "of no case", put(stray), errs.NotFound)
	wrong := message(5, "Wrong", "x")
	wrong.Size = 2
	kind(t, "of another size than its content", put(wrong), errs.Internal)
}
