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
	Before   int64 // ID, 0: from the newest
	Limit    int

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
	err := e.Store.View(ctx, func(r store.Reader) error {
		l := e.lister(r, by, WorklistOffered, Filter{})
		place, err := r.Cases().Newest(f, func(found []store.CaseState) (bool, error) {
			for i := range found {
				full, err := l.addNewest(out, found[i].ID, q)
				if full || err != nil {
					return full, err
				}
			}
			return false, nil
		})
		if out.Next == 0 {
			out.Next = place
		}
		return err
	})
	return out, err
}

// newestFilter returns what the store is asked for; some is false if nothing can match.
func (e *Cases) newestFilter(by identity.Principal, q NewestQuery) (f store.NewestFilter, some bool) {
	plain, _, some := e.caseFilter(by, Filter{Route: q.Route, Context: q.Context})
	f = store.NewestFilter{
		Access: plain.Access, Routes: plain.Routes, RouteID: plain.RouteID, Status: q.Status, Context: plain.Context, Parent: q.Parent,
		Archived: q.Archived, Before: q.Before, Look: lookedAt,
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

// addNewest adds a case if by sees it and it passes the filters that the store does not
// know. It reports whether the page is full.
func (l *lister) addNewest(out *NewestPage, id int64, q NewestQuery) (full bool, err error) {
	row, _, err := l.findCase(l.r, l.by, Ref{CaseID: id})
	if err != nil || row == nil || q.Context == access.Mine && !l.by.In(row.ContextID) {
		return false, err
	}
	v, err := l.view(row)
	if err != nil {
		return false, err
	}
	if len(q.Lives) > 0 && !slices.Contains(q.Lives, v.Case.Shown()) {
		return false, nil
	}
	text := identity.Fold(strings.TrimSpace(q.Query))
	if text != "" && !strings.Contains(identity.Fold(v.Case.Title), text) && !strings.Contains(strconv.FormatInt(id, 10), text) || !v.plays(l.by, q.Part) {
		return false, nil
	}
	if out.told == q.Limit {
		out.Next = out.last
		return true, nil
	}
	out.told, out.last = out.told+1, id
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
	f.Look = countedNewest
	err = e.Store.View(ctx, func(r store.Reader) error {
		place, err := r.Cases().Newest(f, func(found []store.CaseState) (bool, error) {
			for i := range found {
				life, err := e.shownLife(r, &found[i])
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

// shownLife returns the life of a case as people see it.
func (e *Cases) shownLife(r store.Reader, found *store.CaseState) (machine.Life, error) {
	if found.State != string(machine.Queued) {
		return machine.Life(found.State), nil
	}
	row, err := r.Cases().Get(found.ID)
	if err != nil {
		return "", err
	}
	return machine.Life(access.ShownState(row)), nil
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
