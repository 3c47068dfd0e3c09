package engine

import (
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/quota"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// readLife reads "state", "suspendedUntil" and "startAt": what is to become of
// the life of the case. What they were says nothing, and null nothing to a
// case that has started.
func readLife(root document.Value, h *loadedCase, ed *edit, zone *time.Location) {
	life, mends := h.core.Life, false
	if v := root.Get("state"); v.Given() {
		state, ok := v.Str()
		if !ok {
			return
		}
		if life = machine.Life(state); life == h.core.Shown() {
			life = h.core.Life
		} else {
			ended := h.core.Shown() == machine.Failed || h.core.Shown() == machine.Completed
			mends = life == machine.Active && ended && h.core.Life != machine.Failed && h.core.HasFailures()
		}
	}
	if at, dated := readDate(root.Get("startAt"), h.core.StartAt, zone); dated && (h.core.Started.IsZero() || !at.IsZero()) {
		ed.StartAt = &at
	}
	date, dated := readDate(root.Get("suspendedUntil"), h.core.SuspendedUntil, zone)
	if dated && life != machine.Suspended && !date.IsZero() {
		root.Get("suspendedUntil").Fail(errs.CodeConflict, "goes with the state suspended, not with %s", life)
		return
	}
	switch {
	case mends:
		ed.life = machine.RetryAll{Actor: ed.Actor}
	case life == machine.Suspended && (dated || life != h.core.Life):
		if !dated {
			date = h.core.SuspendedUntil
		}
		ed.life = machine.Suspend{Actor: ed.Actor, Until: date}
	case life == h.core.Life:
	case life == machine.Canceled:
		ed.life = machine.Cancel{Actor: ed.Actor}
	case life == machine.Active && h.core.Life == machine.Suspended:
		ed.life = machine.Resume{Actor: ed.Actor}
	case life == machine.Active:
		ed.life = machine.Reopen{Actor: ed.Actor}
	default:
		root.Get("state").Fail(errs.CodeRange, "can be set to suspended, active or canceled, not to %q%s", life, document.Hint(string(life), []string{"suspended", "active", "canceled"}))
	}
}

// readDate reads a date that differs from the one that the case has; zero for
// none. One that names no zone is of the given one.
func readDate(v document.Value, has time.Time, zone *time.Location) (date time.Time, differs bool) {
	if v.Node == nil {
		return date, false
	}
	if v.Given() {
		text, ok := v.Str()
		if !ok || text == has.Format(time.RFC3339) { // as it was shown
			return date, false
		}
		if date, ok = clock.ParseMoment(text, zone); !ok {
			v.Fail(errs.CodeFormat, "must be %s, or null", clock.InstantForm)
			return date, false
		}
	}
	return date, !date.Equal(has)
}

// decideEdit decides on the changed fields, and then on the life of the case if
// the document asks for another.
func (e *Cases) decideEdit(r store.Reader, req Request, h *loadedCase, ed *edit) (*caseChange, error) {
	edit, dict := ed.Edit, e.completesDraft(h, ed)
	if dict != nil {
		edit.Xattrs = nil
	}
	change, err := e.decider.decideOn(h, edit, req)
	if dict != nil && err == nil {
		change, err = e.submitFurther(req, h, change, submission{dict: *dict})
	}
	if err != nil || ed.life == nil && ed.StartAt == nil && dict == nil {
		return change, err
	}
	if event := ed.life; event != nil {
		if reopen, is := event.(machine.Reopen); is {
			if err := e.mayReopen(r, h); err != nil {
				return nil, err
			}
			if h, err = e.renewed(r, h); err != nil {
				return nil, err
			}
			reopen.Version = h.route.Version
			event = reopen
		}
		if change, err = e.decideFurther(req, h, change, event); err != nil {
			return nil, err
		}
	}
	after := change.after
	if after.Life != machine.Queued || after.IsDraft() || ed.life == nil && h.row.Waits {
		return change, nil
	}
	return e.startIfFree(r, req, h, change)
}

// startIfFree starts a queued case if nothing keeps it from starting now.
func (e *Cases) startIfFree(r store.Reader, req Request, h *loadedCase, change *caseChange) (*caseChange, error) {
	after := change.after
	now, err := e.decider.startsNow(r, startable{after.RouteName, change.row.Group, after.Priority, after.StartAt}, req.Now)
	if err != nil || !now {
		return change, err
	}
	return e.decideFurther(req, h, change, machine.Start{})
}

// mayReopen returns errs.TooMany if the starter of an ended case already has
// the limit of open cases. An action that leads out of a complete status is not
// limited: the case goes on as its route says.
func (e *Cases) mayReopen(r store.Reader, h *loadedCase) error {
	if open(h.core.Life) {
		return nil
	}
	err := e.usage.Check(quota.OpenCases, h.row.StarterID, e.limits.OpenCases, r.Cases().CountOpen)
	if errs.Is(err, errs.TooMany) {
		return errs.New(errs.TooMany, "%s has as many open cases as the limit allows, %d; end some first or ask an administrator.", h.core.Starter, e.limits.OpenCases)
	}
	return err
}

// renewed returns a case that could not start with the present version of its
// route, which may have been mended since. Any other case keeps its version.
func (e *Cases) renewed(r store.Reader, h *loadedCase) (*loadedCase, error) {
	info := e.rights.Route(h.core.RouteID)
	if h.core.Life != machine.Failed || info == nil {
		return h, nil
	}
	with := *h
	var err error
	with.route, err = e.use(r, info)
	return &with, err
}

// decideFurther decides on an event after another one, as one change.
func (e *Cases) decideFurther(req Request, h *loadedCase, first *caseChange, event machine.Event) (*caseChange, error) {
	after := *h
	after.core, after.after = first.after, first.byID()
	after.find = first.finder(h.find)
	then, err := e.decider.decideOn(&after, event, req)
	if err != nil {
		return nil, err
	}
	then.follow(first)
	return then, nil
}
