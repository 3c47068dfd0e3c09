package engine

import (
	"slices"
	"testing"

	"flowdrive/store"
)

// changing is a store of which only its changes are asked for.
type changing struct {
	store.Store
	changes uint64
	cases   []int64 // the one that each commit has changed
}

func (c *changing) Changes() uint64 { return c.changes }

func (c *changing) ChangedCases(since uint64) (ids []int64, all bool) { return c.cases[since:], false }

func (c *changing) commit(id int64) {
	c.changes, c.cases = c.changes+1, append(c.cases, id)
}

// TestFactsOfAnOldView: what a view has read that was opened before a change is not
// remembered after it.
func TestFactsOfAnOldView(t *testing.T) {
	t.Parallel()
	var facts caseFacts
	from := &changing{}
	old := facts.now(from, nil)
	old.Learn([]store.CaseState{{ID: 1, State: "active"}, {ID: 2, State: "active"}})
	from.commit(1)
	young := facts.now(from, nil)
	old.Learn([]store.CaseState{{ID: 1, State: "active"}})
	old.add(2, func(f *caseFact) { f.titled = true })
	known, others := young.Recall([]int64{1, 2, 3})
	if len(known) != 1 || known[0].ID != 2 || !slices.Equal(others, []int64{1, 3}) {
		t.Errorf("known are %v, not %v", known, others)
	}
	if young.recall(2).titled {
		t.Error("a title of an old view is remembered")
	}
}

// TestFactsAreBounded: what is asked for is remembered, of the others no more than twice as many as said.
func TestFactsAreBounded(t *testing.T) {
	t.Parallel()
	var facts caseFacts
	v := facts.now(&changing{}, nil)
	for id := range int64(5 * mostFacts) {
		v.Learn([]store.CaseState{{ID: id + 1}})
		v.Recall([]int64{1})
	}
	if n := len(facts.lately) + len(facts.before); n > 2*mostFacts {
		t.Errorf("%d are remembered", n)
	}
	if known, _ := v.Recall([]int64{1}); len(known) == 0 {
		t.Error("what was asked for all the time is forgotten")
	}
}
