package engine

import (
	"context"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// Timers returns the timers of a case (docs/contract/timers.md#kinds): those
// that have a limit, and the user-defined ones. Errors: errs.NotFound if by may
// not see the case.
func (e *Cases) Timers(ctx context.Context, by identity.Principal, id int64) ([]Resource, error) {
	h, err := e.viewCase(ctx, by, id)
	if err != nil {
		return nil, err
	}
	var out []Resource
	for i, name := range machine.Timers(h.core, h.route.Compiled) {
		res := timerResource(h, name)
		res.Seq = int64(i + 1)
		out = append(out, *res)
	}
	return out, nil
}

// Timer returns one timer of a case. Errors: errs.NotFound if by may not see
// the case, or it has no such timer now.
func (e *Cases) Timer(ctx context.Context, by identity.Principal, id int64, name string) (*Resource, error) {
	h, err := e.viewCase(ctx, by, id)
	if err != nil {
		return nil, err
	}
	if res := timerResource(h, name); res != nil {
		return res, nil
	}
	return nil, change.Absent("timer")
}

// timerResource returns the timer as a resource, or nil if the case has no
// timer of that name now.
func timerResource(h *loadedCase, name string) *Resource {
	form := machine.TimerForm(h.core, h.route.Compiled, name)
	if form == nil {
		return nil
	}
	return &Resource{
		Name: name, Form: form, FormETag: change.SourceETag(form),
		Created: machine.TimerSince(h.core, h.route.Compiled, name), Modified: h.core.Modified, Own: true, Lock: store.TimerKey(h.core.ID, name),
	}
}

// MaySetTimer returns errs.NotAllowed if the caller may not set the limit of
// the timer, and errs.NotFound if there is no such timer.
func (e *Cases) MaySetTimer(ctx context.Context, by identity.Principal, id int64, name string) error {
	h, err := e.viewCase(ctx, by, id)
	if err != nil {
		return err
	}
	return e.judgeTimer(by, h, name)
}

// judgeTimer judges the caller's right to set a timer
// (docs/contract/drive.md#rights-table).
func (e *Cases) judgeTimer(by identity.Principal, h *loadedCase, name string) error {
	switch {
	case timerResource(h, name) == nil:
		return change.Absent("timer")
	case h.core.Life == machine.Canceled:
		return errs.New(errs.ReadOnly, "The case is canceled; it can be read, not changed.")
	case h.row.Archived != 0:
		return notArchived(h.row)
	case machine.MaySetTimer(h.core, h.route.Compiled, name, e.rights.Actor(by, h.admin), access.IsStarter(by, h.core)):
		return nil
	}
	if _, _, ofAction := route.SplitTimer(name); ofAction {
		return errs.New(errs.NotAllowed, "Only the assignees of its task and the route's administrators may set the timer %q.", name)
	}
	return errs.New(errs.NotAllowed, "Only the case's starter and the route's administrators may set the timer %q.", name)
}

// PutTimer sets the limit of a timer. Errors: those of MaySetTimer;
// errs.Invalid with every fault of the document.
func (e *Cases) PutTimer(ctx context.Context, req Request, id int64, name string, body []byte) (*Outcome, error) {
	return change.Do(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		h, err := e.decider.loadCase(r, req.By, Ref{CaseID: id})
		if err != nil {
			return nil, err
		}
		if err := e.judgeTimer(req.By, h, name); err != nil {
			return nil, err
		}
		if err := e.CheckRequest(r.Locks(), req, timerVersion(h, name), change.ScopeOf(store.TimerKey(id, name))); err != nil {
			return nil, err
		}
		limit, err := readTimer(body, name, e.zoneOf(req.By))
		if err != nil {
			return nil, err
		}
		var c *caseChange
		if limit != nil {
			event := machine.SetTimer{Timer: name, Actor: e.rights.Actor(req.By, h.admin), Limit: *limit}
			if c, err = e.decider.decideOn(h, event, req); err != nil {
				return nil, err
			}
		}
		return func(tx store.Tx) (*Outcome, error) {
			if c != nil {
				if err := e.decider.write(tx, c); err != nil {
					return nil, err
				}
			}
			out := timerOutcome(h, c, name)
			return out, e.Finish(tx, req, out)
		}, nil
	})
}

// timerOutcome returns the outcome for a timer. c is nil if nothing changed. A
// timer that expired at once may have ended its task: then the case is
// returned, without a Name.
func timerOutcome(h *loadedCase, c *caseChange, name string) *Outcome {
	after := &loadedCase{core: h.core, route: h.route}
	form := h.row.Form
	if c != nil {
		after.core, form = c.after, c.row.Form
	}
	out := &Outcome{
		Changed: c != nil, Name: name, Modified: after.core.Modified,
		CaseID: after.core.ID, Life: after.core.Shown(), Status: after.core.Status, LogSeq: after.core.LogSeq,
	}
	if res := timerResource(after, name); res != nil {
		out.Form, out.FormETag = res.Form, res.FormETag
	} else {
		out.Name, out.Form, out.FormETag = "", form, caseETag(after.core)
	}
	return out
}

func timerVersion(h *loadedCase, name string) Version {
	res := timerResource(h, name)
	if res == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: res.FormETag, Modified: res.Modified}
}

// readTimer reads the limit that a document sets, or nil if it sets none. Dates
// that name no zone are of the given one. A
// complete form with another limit sets that limit.
func readTimer(body []byte, name string, zone *time.Location) (*route.Limit, error) {
	node, err := document.Parse(body, false)
	if err != nil {
		return nil, err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	var limit *route.Limit
	if root.Is(document.Object) {
		root.Only("limit", "name", "kind", "state", "relative", "expirationDate", "expired", "action")
		if v := root.Get("name"); v.Given() && (v.Node.Kind != document.String || v.Node.Text != name) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %s", name)
		}
		if v := root.Get("limit"); v.Node != nil {
			limit = readLimit(v, zone)
		}
	}
	return limit, faults.Err()
}

// readLimit reads a limit that a document sets.
func readLimit(v document.Value, zone *time.Location) *route.Limit {
	switch v.Node.Kind {
	case document.Null:
		return &route.Limit{}
	case document.String:
		// Who writes a day means that it can still be done on that day.
		if end, err := clock.ParseEnd(v.Node.Text, zone); err == nil && end.Day {
			return &route.Limit{Kind: route.AbsoluteLimit, At: end.Time}
		}
		limit, err := route.ParseLimit(v.Node.Text, zone)
		if err == nil {
			return &limit
		}
		v.Fail(errs.CodeFormat, "%s", err)
	case document.Number:
		quiet := document.Value{Node: v.Node, Faults: &document.Faults{}}
		if n, ok := quiet.Int(0, 1<<53-1); ok {
			if limit, ok := route.SecondsLimit(n); ok {
				return &limit
			}
		}
		v.Fail(errs.CodeRange, "must be %s, not %s", route.LimitForm, v.Node.Text)
	case document.Bool, document.List, document.Object:
		v.Fail(errs.CodeType, "must be %s, not %s", route.LimitForm, v.Node.Kind)
	}
	return nil
}
