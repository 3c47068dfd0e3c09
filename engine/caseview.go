package engine

import (
	"context"
	"encoding/json"
	"slices"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// CaseView is a case as somebody looks at it. It belongs to the caller.
type CaseView struct {
	Case       *machine.Case
	Route      *route.Route   // of the version that the case has
	Newest     int64          // the version of the route that is in force, 0 if it was deleted
	Tasks      []machine.Task // of the reader
	RouteAdmin bool           // the reader administers the route
	Starter    bool           // the reader has started it
	Archived   store.Month    // in which it has ended, 0: it is not archived
	MayReopen  bool           // it is canceled, and the reader may reopen it

	actor machine.Actor
}

// MaySetTimer reports whether the reader may set the limit of a timer of the case.
func (v *CaseView) MaySetTimer(name string) bool {
	return machine.MaySetTimer(v.Case, v.Route, name, v.actor, v.Starter)
}

// ETag returns the ETag of the case.
func (v *CaseView) ETag() string { return caseETag(v.Case) }

// MayEditXattr reports whether the reader may change the XATTR of that key.
func (v *CaseView) MayEditXattr(key string) bool {
	return machine.MayEditXattr(v.Case, v.Route, v.actor, v.Starter, key)
}

// MayChoosePlayers reports whether the reader may choose who plays the role; which parties
// is another question.
func (v *CaseView) MayChoosePlayers(role string) bool {
	def := v.Route.Role(role)
	return v.RouteAdmin || v.Starter && def != nil && len(def.Pick) > 0
}

// MayWriteLabels reports whether there are labels of the case that the reader may write, by
// what the case has: a label that the engine, a step or a hook writes is refused all the same.
func (v *CaseView) MayWriteLabels() bool {
	if v.RouteAdmin || v.Starter || performsSome(v.Case, v.Route, v.actor) {
		return true
	}
	return slices.ContainsFunc(v.Route.Messages, func(m route.Message) bool {
		return m.Edit != nil && machine.PlaysAny(v.Case, m.Edit, v.actor)
	})
}

// Ways returns what the reader may perform that may lead the case to another state.
func (v *CaseView) Ways() []machine.Way { return machine.Ways(v.Case, v.Route, v.actor) }

// Possible returns what the reader may perform though it is not among their tasks.
func (v *CaseView) Possible() []machine.Task {
	return machine.Possible(v.Case, v.Route, v.actor)
}

// CaseViews returns those of the cases that by sees, in the order of the ids.
func (e *Cases) CaseViews(ctx context.Context, by identity.Principal, ids []int64) ([]*CaseView, error) {
	out := make([]*CaseView, 0, len(ids))
	err := e.Store.View(ctx, func(r store.Reader) error {
		l := e.lister(r, by, WorklistOffered, Filter{})
		views, err := l.views(ids)
		out = append(out, views...)
		return err
	})
	return out, err
}

// views returns those of the cases that the reader of the list sees, in the order of ids.
func (l *lister) views(ids []int64) (out []*CaseView, err error) {
	for steps := (steps{}); len(ids) > 0; {
		n := min(len(ids), steps.rows())
		rows, err := l.findCases(l.r, l.by, ids[:n])
		if err != nil {
			return nil, err
		}
		ids = ids[n:]
		for i := range rows {
			view, err := l.view(&rows[i])
			if err != nil {
				return nil, err
			}
			out = append(out, view)
			steps.read += len(rows[i].Marking)
		}
	}
	return out, nil
}

// view returns the case of a row as the reader of the list sees it.
func (l *lister) view(row *store.Case) (*CaseView, error) {
	c, err := l.caseOf(l.r, row.Marking)
	if err != nil {
		return nil, errs.Wrap("read a case", err)
	}
	compiled, err := l.versionOf(l.r, c)
	if err != nil {
		return nil, err
	}
	l.actsAs(c)
	v := &CaseView{Case: c, Route: compiled, RouteAdmin: l.actor.RouteAdmin, Starter: access.IsStarter(l.by, c), Archived: row.Archived, actor: l.actor}
	v.MayReopen = c.Life == machine.Canceled && (v.RouteAdmin || v.Starter && mayUndoCancel(Request{By: l.by, Now: l.Clock.Now()}, c))
	if info := l.rights.Route(c.RouteID); info != nil {
		v.Newest = info.Version
	}
	if row.Archived == 0 {
		v.Tasks = machine.Tasks(c, compiled, l.actor)
	}
	return v, nil
}

// CaseDetail is a case with what belongs to it.
type CaseDetail struct {
	CaseView
	Log      []machine.LogEntry // oldest first
	Messages []store.Message
	Children []*CaseView // the newest that the reader sees, by id

	// Deliveries are of what the case has asked for outside: first what has not ended, then
	// the newest of the rest.
	Deliveries     []*outbox.Journal
	MoreDeliveries bool // there are others
}

// mostShownChildren is of how many children a page tells.
const mostShownChildren = 20

// CaseDetail returns a case with its log, its messages and its newest children. Errors:
// errs.NotFound if by may not see it.
func (e *Cases) CaseDetail(ctx context.Context, by identity.Principal, id int64, room LogRoom) (*CaseDetail, error) {
	if _, err := room.weighed(ctx, e.base, by, Ref{CaseID: id}, pageWeightOf); err != nil {
		return nil, err
	}
	var out *CaseDetail
	err := e.Store.View(ctx, func(r store.Reader) error {
		row, _, err := e.findCase(r, by, Ref{CaseID: id})
		if err != nil {
			return err
		}
		if row == nil {
			return change.Absent("case")
		}
		l := e.lister(r, by, WorklistOffered, Filter{})
		view, err := l.view(row)
		if err != nil {
			return err
		}
		out = &CaseDetail{CaseView: *view}
		log, err := r.Cases().Log(id)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(log, &out.Log); err != nil {
			return errs.Wrap("read the log of a case", err)
		}
		if out.Messages, err = r.Cases().Messages().List(id); err != nil {
			return err
		}
		if err := l.addDeliveries(out); err != nil {
			return err
		}
		return l.addChildren(out)
	})
	return out, err
}

// addChildren adds the newest children that the reader sees.
func (l *lister) addChildren(d *CaseDetail) error {
	var ids []int64
	for i := range d.Case.Children {
		ids = append(ids, d.Case.Children[i].ID)
	}
	for len(ids) > 0 && len(d.Children) < mostShownChildren {
		some := ids[max(0, len(ids)-(mostShownChildren-len(d.Children))):]
		ids = ids[:len(ids)-len(some)]
		seen, err := l.views(some)
		if err != nil {
			return err
		}
		d.Children = append(seen, d.Children...)
	}
	return nil
}
