package machine

import (
	"fmt"
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// Migrate moves a case to Input.Route, another version of its route
// (docs/contract/routes.md#migration).
type Migrate struct {
	Actor   Actor
	Version int64        // number of that version
	From    *route.Route // the version that the case has
}

func (Migrate) event() {}

// migrateByPerson moves the case. Enabled actions that both versions have keep their
// enablements. A pass enables what is new and un-enables what is gone; for a
// suspended case it runs when that resumes. No visit begins.
func (d personal) migrateByPerson(e Migrate) error {
	switch d.c.Life {
	case Closed, Canceled, Failed:
		return d.refusals().notOpen()
	default:
	}
	if e.Version == d.c.RouteVersion {
		return nil
	}
	started := !d.c.Started.IsZero()
	if stranded := d.status == route.NoState; d.route.Model == route.Dependency && d.c.Status != "" || d.route.Model != route.Dependency && started && stranded {
		return errs.New(errs.Migrate, "The case is in %q, which version %d of the route does not have.", d.c.Status, e.Version)
	}
	d.c.RouteVersion, d.changed = e.Version, true
	d.add(LogEntry{Kind: LogLife, Actor: new(e.Actor.Name), Trigger: new(ByUser), Text: fmt.Sprintf("Moved to version %d of the route", e.Version)})
	d.dropRoles()
	if err := d.redeclared(); err != nil {
		return err
	}
	if !started {
		return nil
	}
	d.dropOthers(e.From)
	d.dropTimers()
	if d.c.written(labelInput) == nil {
		d.noteWritten(labelInput, d.c.Starter) // as at a start
	}
	if err := d.assignRoles(); err != nil {
		return err
	}
	return d.suspensions().wake()
}

// redeclared gives the case the defaults of newly declared XATTRs. It need not have
// one that is newly required.
func (d personal) redeclared() error {
	d.xattrs().addDefaults()
	var faults document.Faults
	d.xattrs().checkTypes(nil, &faults)
	return faults.Err()
}

// dropOthers ends the enablements of actions that are gone, and of actions that have
// kept their name but are of another kind: performed by somebody else, or with
// other children. A pass enables the latter again.
func (d personal) dropOthers(from *route.Route) {
	d.c.Enabled = slices.DeleteFunc(d.c.Enabled, func(e Enabled) bool {
		if stays(from, d.route, e.Action) {
			return false
		}
		d.unwarnEnablement(e.Number)
		d.relations().endChildrenOf(&e)
		return true
	})
	d.index()
}

// stays reports whether enablements of the action are valid in both versions.
func stays(from, to *route.Route, action string) bool {
	was, is := from.Action(action), to.Action(action)
	if was == unknown || is == unknown {
		return false
	}
	a, b := &from.Actions[was], &to.Actions[is]
	if a.Child == nil || b.Child == nil {
		return a.Child == b.Child && a.Trigger == b.Trigger
	}
	return a.Child.Route == b.Child.Route
}

// dropTimers clears the user-defined timers that the route no longer has.
func (d personal) dropTimers() {
	gone := func(name string) bool {
		return name != route.TimerCase && name != route.TimerState && d.route.Timer(name) == route.NoTimer
	}
	for _, t := range d.c.Timers {
		if gone(t.Name) {
			d.dropWarnings(func(w Warning) bool { return w.Timer == t.Name && w.Enablement == 0 })
		}
	}
	d.c.Timers = slices.DeleteFunc(slices.Clone(d.c.Timers), func(t Timer) bool { return gone(t.Name) })
}
