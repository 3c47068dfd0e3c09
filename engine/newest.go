package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine/access"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// NewestQuery selects cases for a page, the newest first.
type NewestQuery struct {
	Lives    []machine.Life // as people see them, machine.StateDraft too; empty: all but canceled ones
	Route    string
	Status   string
	Context  string
	Parent   int64
	Query    string // in titles and numbers
	Part     string // of the reader: "starter", "stakeholder" or a role; "" for any
	Archived bool
	Before   int64 // ID, 0: from the newest; after it, if the oldest come first
	Oldest   bool  // the oldest come first
	Limit    int

	// Best, if it is not 0, is how many of those found are in the page: first those whose
	// titles begin with Query.
	Best int

	// Each gets the cases as they are read, which are not in the page then; nil: they are.
	Each func(v *CaseView) error
}

// NewestPage are the cases of a page.
type NewestPage struct {
	Cases []*CaseView
	Next  int64 // from where the next page begins, 0: there is none

	told int
	last int64 // ID of the last that was told
}

// How many cases are looked at for a page, so that none takes long however many there
// are: what is rare is found by going on to the next page.
const (
	lookedAt      = 4096
	lookedAtText  = 1024 // if their texts have to be read
	countedNewest = 2048
)

// NewestCases returns the cases that by sees, the newest first.
func (e *Cases) NewestCases(ctx context.Context, by identity.Principal, q NewestQuery) (*NewestPage, error) {
	out := &NewestPage{}
	f, some := e.newestFilter(by, q)
	if !some {
		return out, nil
	}
	facts := e.facts.now(e.Store, e.accounts.Table())
	f.Facts = facts
	err := e.Store.View(ctx, func(r store.Reader) error {
		n := &newest{lister: e.lister(r, by, WorklistOffered, Filter{}), q: q, text: identity.Fold(strings.TrimSpace(q.Query)), facts: facts, page: out}
		place, err := r.Cases().Newest(f, n.take)
		if err != nil {
			return err
		}
		if out.Next == 0 {
			out.Next = place
		}
		return n.addBest()
	})
	return out, err
}

// newest makes a page of cases.
type newest struct {
	*lister
	q     NewestQuery
	text  string // that is searched for, folded
	facts *factsOfView
	page  *NewestPage
	best  []candidate
	steps steps
}

// candidate is a case that has been found and not yet read.
type candidate struct {
	id     int64
	begins bool // its title begins with what is searched for
}

// titlesAtOnce is of how many cases the titles are read together.
const titlesAtOnce = 64

// take adds those of the cases that belong to the page, and reports whether it is full.
func (n *newest) take(found []store.CaseState) (full bool, err error) {
	for len(found) > 0 && !full && err == nil {
		some := found[:min(len(found), titlesAtOnce)]
		found = found[len(some):]
		full, err = n.takeSome(some)
	}
	return full, err
}

func (n *newest) takeSome(found []store.CaseState) (full bool, err error) {
	var titles map[int64]string
	if n.text != "" {
		if titles, err = n.facts.titles(n.r, found); err != nil {
			return false, err
		}
	}
	var ids []int64
	for i := range found {
		id := found[i].ID
		if title := titles[id]; n.text != "" && !strings.Contains(title, n.text) && !strings.Contains(strconv.FormatInt(id, 10), n.text) {
			continue
		}
		if n.q.Best == 0 {
			ids = append(ids, id)
			continue
		}
		n.best = append(n.best, candidate{id, strings.HasPrefix(titles[id], n.text)})
		if len(n.best) == n.q.Limit {
			return true, nil
		}
	}
	return n.addAll(ids)
}

// addAll adds those of the cases that belong to the page, in their order, and reports
// whether it is full. It reads several at once, no more than the page has room for.
func (n *newest) addAll(ids []int64) (full bool, err error) {
	for len(ids) > 0 {
		room := n.q.Limit + 1 - n.page.told
		if n.q.Best != 0 {
			room = n.q.Best - len(n.page.Cases)
		}
		if room <= 0 {
			return true, nil
		}
		some := ids[:min(len(ids), max(room, fewRows), n.steps.rows())]
		ids = ids[len(some):]
		rows, err := n.findCases(n.r, n.by, some)
		if err != nil {
			return false, err
		}
		for i := range rows {
			n.steps.read += len(rows[i].Marking)
			if full, err := n.add(&rows[i]); full || err != nil {
				return full, err
			}
		}
	}
	return false, nil
}

// addBest adds the best of what was found.
func (n *newest) addBest() error {
	slices.SortStableFunc(n.best, func(a, b candidate) int {
		switch {
		case a.begins == b.begins:
			return 0
		case a.begins:
			return -1
		}
		return 1
	})
	ids := make([]int64, len(n.best))
	for i := range n.best {
		ids[i] = n.best[i].id
	}
	_, err := n.addAll(ids)
	return err
}

// newestFilter returns what the store is asked for; some is false if nothing can match.
func (e *Cases) newestFilter(by identity.Principal, q NewestQuery) (f store.NewestFilter, some bool) {
	plain, _, some := e.caseFilter(by, Filter{Route: q.Route, Context: q.Context})
	f = store.NewestFilter{
		Access: plain.Access, Routes: plain.Routes, RouteID: plain.RouteID, Status: q.Status, Context: plain.Context, Parent: q.Parent,
		Archived: q.Archived, Before: q.Before, Oldest: q.Oldest, Look: lookedAt,
	}
	if q.Query != "" || q.Part != "" {
		f.Look = lookedAtText
	}
	for _, life := range q.Lives {
		if life == machine.StateDraft || life == machine.Queued {
			f.Look = lookedAtText // the store does not tell one from the other
		}
		f.States = append(f.States, storedState(string(life)))
	}
	return f, some
}

// add adds a case that the reader sees if it passes the filters that the store does not
// know. It reports whether the page is full.
func (n *newest) add(row *store.Case) (full bool, err error) {
	out, q := n.page, &n.q
	if q.Context == access.Mine && !n.by.In(row.ContextID) {
		return false, nil
	}
	if q.Best != 0 && len(out.Cases) == q.Best {
		return true, nil
	}
	v, err := n.view(row)
	if err != nil {
		return false, err
	}
	if len(q.Lives) > 0 && !slices.Contains(q.Lives, v.Case.Shown()) || !v.plays(n.by, q.Part) {
		return false, nil
	}
	if out.told == q.Limit {
		out.Next = out.last
		return true, nil
	}
	out.told, out.last = out.told+1, row.ID
	if q.Each != nil {
		return false, q.Each(v)
	}
	out.Cases = append(out.Cases, v)
	return false, nil
}

// plays reports whether the reader has the part in the case.
func (v *CaseView) plays(by identity.Principal, part string) bool {
	switch part {
	case "":
		return true
	case "starter":
		return v.Starter
	case "stakeholder":
		return by.InAny(access.Names(v.Case.Stakeholders))
	}
	return by.InAny(access.Names(slices.DeleteFunc(slices.Clone(v.Case.RoleParties(part)), func(p string) bool { return strings.HasPrefix(p, "@") })))
}

// LifeCounts counts by life, as people see it, the newest cases that by may see. all says that there are no
// others.
func (e *Cases) LifeCounts(ctx context.Context, by identity.Principal) (counts map[machine.Life]int, all bool, err error) {
	counts = map[machine.Life]int{}
	f, _ := e.newestFilter(by, NewestQuery{})
	facts := e.facts.now(e.Store, e.accounts.Table())
	f.Look, f.Facts = countedNewest, facts
	err = e.Store.View(ctx, func(r store.Reader) error {
		place, err := r.Cases().Newest(f, func(found []store.CaseState) (bool, error) {
			for i := range found {
				life, err := facts.shownLife(r, &found[i])
				if err != nil {
					return false, err
				}
				counts[life]++
			}
			return false, nil
		})
		all = place == 0
		return err
	})
	return counts, all, err
}

// RouteNames returns the names of the routes that by sees, in alphabetical order.
func (e *Cases) RouteNames(by identity.Principal) (out []string) {
	for _, info := range e.rights.Routes() {
		if e.rights.SeesRoute(by, info) {
			out = append(out, info.Name)
		}
	}
	slices.Sort(out)
	return out
}
