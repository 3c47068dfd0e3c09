package engine

import (
	"sync"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/account"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// mostFacts is of how many cases facts are remembered, twice: of those that were asked
// about lately, and of those before them.
const mostFacts = 16384

// caseFacts remembers by what pages choose and count cases, so that of the thousands that
// a page looks at only those are read again that have changed. Who may see a case is not
// among it.
type caseFacts struct {
	mu      sync.Mutex
	changes uint64         // of the store: what is remembered was true then, or is truer
	table   *account.Table // in whose words the titles are
	lately  map[int64]caseFact
	before  map[int64]caseFact
}

type caseFact struct {
	store.CaseState
	shown  machine.Life // "": not known
	title  string       // folded
	titled bool         // the title is known
	due    time.Time    // of its first task, zero: none is
	dated  bool         // due is known
}

// now returns the facts for a view that is opened after that.
func (f *caseFacts) now(from store.Store, table *account.Table) *factsOfView {
	f.mu.Lock()
	defer f.mu.Unlock()
	changes := from.Changes()
	changed, all := from.ChangedCases(f.changes)
	if all || table != f.table {
		f.lately, f.before = nil, nil
	}
	for _, id := range changed {
		delete(f.lately, id)
		delete(f.before, id)
	}
	f.changes, f.table = changes, table
	return &factsOfView{caseFacts: f, changes: changes}
}

// get returns what is known of a case. mu is held.
func (f *caseFacts) get(id int64) (fact caseFact, known bool) {
	if fact, known = f.lately[id]; !known {
		if fact, known = f.before[id]; known {
			f.put(fact)
		}
	}
	return fact, known
}

// put remembers a fact. mu is held.
func (f *caseFacts) put(fact caseFact) {
	if len(f.lately) >= mostFacts {
		f.lately, f.before = nil, f.lately
	}
	if f.lately == nil {
		f.lately = map[int64]caseFact{}
	}
	f.lately[fact.ID] = fact
}

// factsOfView are the facts as one view of the store uses them. It implements
// store.CaseFacts.
type factsOfView struct {
	*caseFacts
	changes uint64
}

// Recall implements store.CaseFacts.
func (v *factsOfView) Recall(ids []int64) (known []store.CaseState, others []int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known = make([]store.CaseState, 0, len(ids))
	for _, id := range ids {
		if fact, is := v.get(id); is {
			known = append(known, fact.CaseState)
		} else {
			others = append(others, id)
		}
	}
	return known, others
}

// Learn implements store.CaseFacts.
func (v *factsOfView) Learn(read []store.CaseState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changes != v.caseFacts.changes {
		return // the view may be older than what is known to have changed
	}
	for i := range read {
		v.put(caseFact{CaseState: read[i]})
	}
}

// add completes what is known of a case.
func (v *factsOfView) add(id int64, complete func(*caseFact)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if fact, known := v.get(id); known && v.changes == v.caseFacts.changes {
		complete(&fact)
		v.put(fact)
	}
}

// recall returns what is known of a case.
func (v *factsOfView) recall(id int64) caseFact {
	v.mu.Lock()
	defer v.mu.Unlock()
	fact, _ := v.get(id)
	return fact
}

// shownLife returns the life of a case as people see it.
func (v *factsOfView) shownLife(r store.Reader, found *store.CaseState) (machine.Life, error) {
	if found.State != string(machine.Queued) {
		return machine.Life(found.State), nil
	}
	if fact := v.recall(found.ID); fact.shown != "" {
		return fact.shown, nil
	}
	row, err := r.Cases().Get(found.ID)
	if err != nil {
		return "", err
	}
	shown := machine.Life(access.ShownState(row))
	v.add(found.ID, func(f *caseFact) { f.shown = shown })
	return shown, nil
}

// titles returns the titles of cases, folded, by id. It reads those that are not known.
func (v *factsOfView) titles(r store.Reader, cases []store.CaseState) (map[int64]string, error) {
	out := make(map[int64]string, len(cases))
	ids := make([]int64, len(cases))
	for i := range cases {
		ids[i] = cases[i].ID
	}
	err := v.ofMarkings(r, ids, func(fact *caseFact) bool {
		out[fact.ID] = fact.title
		return fact.titled
	}, func(fact *caseFact, c *machine.Case) { fact.title, fact.titled = identity.Fold(c.Title), true })
	return out, err
}

// dues returns when the first task of each case is due, by id. It reads those that are not
// known.
func (v *factsOfView) dues(r store.Reader, ids []int64) (map[int64]time.Time, error) {
	out := make(map[int64]time.Time, len(ids))
	err := v.ofMarkings(r, ids, func(fact *caseFact) bool {
		out[fact.ID] = fact.due
		return fact.dated
	}, func(fact *caseFact, c *machine.Case) { fact.due, fact.dated = c.FirstDue(), true })
	return out, err
}

// ofMarkings calls take with what is known of each case, and once more, if take does not
// report that it is enough, with what complete adds to it from the marking of the case.
func (v *factsOfView) ofMarkings(r store.Reader, ids []int64, take func(*caseFact) bool, complete func(*caseFact, *machine.Case)) error {
	var others []int64
	for _, id := range ids {
		if fact := v.recall(id); fact.ID == 0 || !take(&fact) {
			others = append(others, id)
		}
	}
	rows, err := r.Cases().Tasks().WithMarkings(others)
	if err != nil {
		return err
	}
	for i := range rows {
		c, err := machine.ReadMarking(rows[i].Marking)
		if err != nil {
			return errs.Wrap("read a case", err)
		}
		fact := caseFact{CaseState: store.CaseState{ID: rows[i].ID}}
		complete(&fact, c)
		take(&fact)
		v.add(rows[i].ID, func(f *caseFact) { complete(f, c) })
	}
	return nil
}
