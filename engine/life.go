package engine

import (
	"time"

	"flowdrive/clock"
	"flowdrive/document"
	"flowdrive/engine/core"
	"flowdrive/errs"
)

// readLife reads "state" and "suspendedUntil": what is to become of the life
// of the case. What they were says nothing.
func readLife(root document.Value, h *held, ed *edit) error {
	if root.Get("startAt").Given() {
		return notBuiltYet("/startAt", "Starting cases later is not built yet; leave startAt out or null.")
	}
	life := h.core.Life
	if v := root.Get("state"); v.Given() {
		state, ok := v.Str()
		if !ok {
			return nil
		}
		life = core.Life(state)
	}
	date, dated := readUntil(root.Get("suspendedUntil"), h.core)
	if dated && life != core.Suspended && !date.IsZero() {
		root.Get("suspendedUntil").Fail(errs.CodeConflict, "goes with the state suspended, not with %s", life)
		return nil
	}
	switch {
	case life == core.Suspended && (dated || life != h.core.Life):
		if !dated {
			date = h.core.HeldUntil
		}
		ed.life = core.Suspend{Actor: ed.Actor, Until: date}
	case life == h.core.Life:
	case life == core.Canceled:
		ed.life = core.Cancel{Actor: ed.Actor}
	case life == core.Active && h.core.Life == core.Suspended:
		ed.life = core.Resume{Actor: ed.Actor}
	case life == core.Active:
		return notBuiltYet("/state", "Reopening by the state is not built yet.")
	default:
		root.Get("state").Fail(errs.CodeRange, "can be set to suspended, active or canceled, not to %q", life)
	}
	return nil
}

// readUntil reads a date that differs from the one that the case has; zero
// for none.
func readUntil(v document.Value, c *core.Case) (date time.Time, differs bool) {
	if v.Node == nil {
		return date, false
	}
	if v.Given() {
		text, ok := v.Str()
		if !ok || text == c.HeldUntil.Format(time.RFC3339) { // as it was shown
			return date, false
		}
		if date, ok = clock.ParseInstant(text); !ok {
			v.Fail(errs.CodeFormat, "must be %s, or null", clock.InstantForm)
			return date, false
		}
	}
	return date, !date.Equal(c.HeldUntil)
}
