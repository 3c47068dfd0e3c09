package engine

import (
	"bytes"
	"fmt"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/route"
	"flowdrive/schedule"
	"flowdrive/store"
)

// Soundness compares stored cases and schedule entries with what the rules make of
// them. It is for one goroutine.
type Soundness struct {
	versions versionCache
	zones    schedule.Zones
}

// NewSoundness returns one that knows the time zones.
func NewSoundness(zones schedule.Zones) *Soundness { return &Soundness{zones: zones} }

// Case returns what is wrong with a case, a text each: what its row and its stored
// form say beside its marking, and, if it is active, what a second pass would do to
// it (docs/contract/engine.md#wanted). unjudged says what could not be judged, "" for
// nothing. r reads its route.
func (s *Soundness) Case(r store.Reader, row *store.Case) (faults []string, unjudged string) {
	c, err := machine.ReadMarking(row.Marking)
	if err != nil {
		return []string{fmt.Sprintf("its marking cannot be read: %v", err)}, ""
	}
	compiled, err := s.versions.get(r, c.RouteID, c.RouteVersion)
	if err != nil {
		return []string{fmt.Sprintf("its route cannot be read: %v", err)}, ""
	}
	var wrong differences
	wrong.compare("id", row.ID, c.ID)
	wrong.compare("route", row.RouteID, c.RouteID)
	wrong.compare("state", row.State, storedState(string(c.Shown())))
	wrong.compare("status", row.Status, c.Status)
	wrong.compare("priority", row.Priority, c.Priority)
	wrong.compare("version", row.Version, c.Version)
	wrong.compare("revision", row.Revision, c.Revision)
	wrong.compare("parent", row.Parent, c.Parent)
	if c.Life != machine.Queued || !row.Due.IsZero() { // one whose startAt has come is not due any more
		due := c.NextDue()
		if row.Archived != 0 && c.Life.Ended() {
			due = dueInArchive(c)
		}
		wrong.compareTime("due time", row.Due, due)
	}
	if !c.IsDraft() && !bytes.Equal(row.Form, machine.Form(c, compiled)) {
		wrong.add("its stored form is not what its marking says")
	}
	if c.Status != "" && c.Life == machine.Active && compiled.State(c.Status) == route.NoState {
		wrong.add("its status %q is not a state of its route", c.Status)
	}
	if len(wrong) == 0 && c.Life == machine.Active {
		if due := c.NextDue(); due.IsZero() || due.After(c.Modified) { // else work is left
			var spent uint64
			again, needs, err := machine.Decide(machine.Input{Route: compiled, Case: c, Event: machine.Due{}, Now: c.Modified, Spent: &spent})
			switch {
			case spent >= machine.MaxCost:
				unjudged = "whether it is at rest: its expressions cost as much as those of an event may, and those behind them fail"
			case err == nil && len(needs) == 0 && again.Case.Revision != c.Revision:
				wrong.add("it is not at rest: a second pass would change it")
			}
		}
	}
	return wrong, unjudged
}

// Entry returns what is wrong with a schedule entry, a text each.
func (s *Soundness) Entry(row *store.Entry) []string {
	entry, err := schedule.ReadForm(row.Form, s.zones)
	if err != nil {
		return []string{fmt.Sprintf("its stored form cannot be read: %v", err)}
	}
	var wrong differences
	wrong.compare("UUID", row.UUID.String(), entry.UUID)
	if due, _ := entry.Due(); !row.Due.IsZero() { // one that cannot be fired is not due any more
		wrong.compareTime("due time", row.Due, due)
	}
	if !bytes.Equal(row.Form, entry.Form()) {
		wrong.add("its stored form is not what it says")
	}
	return wrong
}

// differences are texts that say what differs.
type differences []string

func (d *differences) add(format string, args ...any) { *d = append(*d, fmt.Sprintf(format, args...)) }

func (d *differences) compare(what string, row, want any) {
	if row != want {
		d.add("its row has the %s %v, and it is %v", what, row, want)
	}
}

func (d *differences) compareTime(what string, row, want time.Time) {
	text := func(t time.Time) string {
		if t.IsZero() {
			return "none"
		}
		return t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if got, want := text(row), text(want); got != want {
		d.add("its row has the %s %s, and it is %s", what, got, want)
	}
}
