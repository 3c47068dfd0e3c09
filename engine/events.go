package engine

import (
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/files"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// EventKind says what kind of resource an event is about.
type EventKind string

// The kinds of events (docs/contract/drive.md#events).
const (
	EventCase     EventKind = "case"     // a case; id is its number
	EventTask     EventKind = "task"     // a task; id is <case>.<action>
	EventSchedule EventKind = "schedule" // a schedule entry; id is its UUID
	EventRoute    EventKind = "route"    // a route; id is its number
	EventDocument EventKind = "document" // a document or folder; id is its number
)

// Change says what became of a resource.
type Change string

// The changes: the first three of every kind but tasks, the rest of the kind
// that is named.
const (
	ChangeCreated Change = "created" // all but tasks: it is new
	ChangeChanged Change = "changed" // all: it is not as it was
	ChangeDeleted Change = "deleted" // all but tasks: it is gone

	ChangeTimerExpired Change = "timer-expired" // case: before what the timer did

	ChangeFired   Change = "fired"   // schedule: it created a case
	ChangeSkipped Change = "skipped" // schedule: an instant passed without a case, as the entry asks for
	ChangeFailed  Change = "failed"  // schedule: an instant should have created a case and could not

	ChangeOffered   Change = "offered"   // task: it can be done, for the first time or again
	ChangeWaiting   Change = "waiting"   // task: its guard is false
	ChangeAccepted  Change = "accepted"  // task: somebody has taken it on
	ChangeEscalated Change = "escalated" // task: the engine could not do it
	ChangeReminded  Change = "reminded"  // task: those who have it were reminded of it
	ChangePerformed Change = "performed" // task: it is over
	ChangeWithdrawn Change = "withdrawn" // task: it is over without having been performed
)

// Event says that something was changed, and holds nothing of it: who hears
// of it looks.
type Event struct {
	Kind    EventKind
	Change  Change
	ID      int64      // of a case, of a task's case, of a route or document
	UUID    store.UUID // of a schedule entry
	Name    string     // of a task's action, of a route; the path of a document
	Version int64
	Time    time.Time

	context identity.ID   // of an entry, and of a document's root
	seenBy  []identity.ID // of a case that is gone: its contexts
	route   *access.Route // of a route that is gone, or of a case that is
}

// publish publishes the event once the unit is durable.
func (e *base) publish(tx store.Tx, ev Event) { tx.AfterCommit(func() { e.events.Publish(ev) }) }

// publishEntry says what became of a schedule entry, as it is when the unit ends.
func (e *base) publishEntry(tx store.Tx, stored *store.Entry, change Change, now time.Time) {
	tx.AfterCommit(func() {
		e.events.Publish(Event{Kind: EventSchedule, Change: change, UUID: stored.UUID, Version: stored.Revision, Time: now, context: stored.ContextID})
	})
}

// documentNews tells what became of documents.
type documentNews struct{ *decider }

// publish says what became of a document or folder below the root of a
// context, and has schedule entries look at it whose calendar it is or holds.
func (e documentNews) publish(tx store.Tx, c files.Published) error {
	e.base.publish(tx, Event{Kind: EventDocument, Change: Change(c.Change), ID: c.Document.ID, Name: c.Path.String(), Version: c.Document.Revision, Time: c.Time, context: c.Root})
	return (&daysOffTroubles{e.decider, tx}).changed(c)
}

// publishCase says what a change has made of a case and its tasks.
func (e *base) publishCase(c *caseChange) {
	var room [8]Event
	ev := Event{Kind: EventCase, ID: c.row.ID, Version: c.row.Version, Time: c.row.Modified}
	for _, m := range c.messages {
		if m.Modified.After(ev.Time) {
			ev.Time = m.Modified // which may be all that has changed
		}
	}
	events := room[:0]
	for i := range c.log {
		if c.log[i].Kind == machine.LogTimer {
			ev.Change = ChangeTimerExpired
			events = append(events, ev)
		}
	}
	ev.Change = ChangeChanged
	if c.was == nil {
		ev.Change = ChangeCreated
	}
	events = append(events, ev)
	ev.Kind = EventTask
	e.events.Publish(c.taskEvents(events, ev)...)
}

// taskEvents appends what has become of the tasks of the case.
func (c *caseChange) taskEvents(events []Event, ev Event) []Event {
	if ev.Change = c.draftTaskBecame(); ev.Change != "" {
		ev.Name = machine.DraftAction
		events = append(events, ev)
	}
	var before []machine.Enabled
	if c.was != nil {
		before = c.was.Enabled
	}
	for i := range before {
		old := &before[i]
		if enabledRow(c.after.Enabled, old.Number) == nil && c.isTask(old) {
			ev.Name, ev.Change = old.Action, c.ended(old.Action)
			events = append(events, ev)
		}
	}
	for i := range c.after.Enabled {
		en := &c.after.Enabled[i]
		if !c.isTask(en) {
			continue
		}
		if ev.Change = taskBecame(enabledRow(before, en.Number), en); ev.Change != "" {
			ev.Name = en.Action
			events = append(events, ev)
		}
	}
	return events
}

// enabledRow returns the enablement of that row, nil for none. They are in
// order of row.
func enabledRow(list []machine.Enabled, row int64) *machine.Enabled {
	for i := range list {
		if list[i].Number == row {
			return &list[i]
		}
	}
	return nil
}

// isTask reports whether people have to do with the enablement: an action of
// theirs, or one that the engine could not perform.
func (c *caseChange) isTask(en *machine.Enabled) bool {
	if en.State == machine.Escalated {
		return true
	}
	at := c.route.Action(en.Action)
	return at >= 0 && c.route.Actions[at].Trigger == route.TriggerUser
}

// ended says how the task of an action ended.
func (c *caseChange) ended(action string) Change {
	for i := range c.log {
		if c.log[i].Kind == machine.LogAction && c.log[i].Action != nil && *c.log[i].Action == action {
			return ChangePerformed
		}
	}
	return ChangeWithdrawn
}

// taskBecame says what has become of a task, "" for nothing.
func taskBecame(old, now *machine.Enabled) Change {
	if old != nil && old.State == now.State {
		if !old.Remind.IsZero() && now.Remind.After(old.Remind) {
			return ChangeReminded
		}
		if old.Due.Equal(now.Due) && old.AcceptBy == now.AcceptBy && old.DoBy == now.DoBy && old.FireBy == now.FireBy &&
			old.By == now.By && old.To == now.To && len(old.Rejected) == len(now.Rejected) {
			return ""
		}
		return ChangeChanged
	}
	switch now.State {
	case machine.Offered:
		return ChangeOffered
	case machine.Accepted:
		return ChangeAccepted
	case machine.Waiting:
		return ChangeWaiting
	case machine.Escalated:
		return ChangeEscalated
	case machine.Running:
	}
	return ChangeChanged
}
