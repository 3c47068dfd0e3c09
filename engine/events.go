package engine

import (
	"sync"
	"time"

	"flowdrive/engine/core"
	"flowdrive/errs"
	"flowdrive/identity"
	"flowdrive/route"
)

// EventKind says what kind of resource an event is about.
type EventKind string

// The kinds of events (design: the drive, section 5).
const (
	EventCase     EventKind = "case"
	EventTask     EventKind = "task"
	EventSchedule EventKind = "schedule"
	EventRoute    EventKind = "route"
	EventDocument EventKind = "document"
)

// Change says what became of a resource.
type Change string

// The changes: the first three of every kind but tasks, the rest of the kind
// that is named.
const (
	ChangeCreated Change = "created"
	ChangeChanged Change = "changed"
	ChangeDeleted Change = "deleted"

	ChangeTimerExpired Change = "timer-expired" // case: before what the timer did

	ChangeFired   Change = "fired"   // schedule: it created a case
	ChangeSkipped Change = "skipped" // schedule: an instant passed without a case, as the entry asks for
	ChangeFailed  Change = "failed"  // schedule: an instant should have created a case and could not

	ChangeOffered   Change = "offered"   // task: it can be done, for the first time or again
	ChangeWaiting   Change = "waiting"   // task: its guard is false
	ChangeAccepted  Change = "accepted"  // task
	ChangeEscalated Change = "escalated" // task: the engine could not do it
	ChangeReminded  Change = "reminded"  // task: those who have it were reminded of it
	ChangePerformed Change = "performed" // task: it is over
	ChangeWithdrawn Change = "withdrawn" // task: it is over without having been performed
)

// Event says that something was changed, and holds nothing of it: who hears
// of it looks.
type Event struct {
	Seq     int64 // ascending; see eventBus
	Kind    EventKind
	Change  Change
	ID      int64  // of a case, of a task's case, of a route or document
	UUID    UUID   // of a schedule entry
	Name    string // of a task's action, of a route; the path of a document
	Version int64
	Time    time.Time

	context identity.ID   // of an entry, and of a document's root
	seenBy  []identity.ID // of a case that is gone: its contexts
	route   *routeInfo    // of a route that is gone, or of a case that is
}

const (
	keptEvents = 32 << 10 // at most so many are replayed …
	keepEvents = time.Hour
	mostEvents = 256 // that a stream takes at once
	firstKept  = 64  // the ring grows from here

	// StreamsPerUser is how many streams a user may have at a time (design:
	// the drive, section 5).
	StreamsPerUser = 8
)

// eventBus keeps the latest events, and wakes the streams that read them. It
// is all memory: what a reader has missed for longer, or over a restart, it
// learns by looking at everything again.
//
// A sequence number is the instant of the event in Unix microseconds, or one
// more than the last one's. So numbers of a run are above those of the runs
// before it, and how far two are apart says nothing of what was between them
// and is not for the reader to see.
type eventBus struct {
	wall func() time.Time

	mu      sync.Mutex
	ring    []Event // of a length that is a power of two
	oldest  int     // its index in the ring
	kept    int
	last    int64 // number of the newest one, ever
	floor   int64 // every event after this one is in the ring
	streams map[*Stream]struct{}
	users   map[identity.ID]int // how many streams each has
}

func newEventBus(wall func() time.Time) *eventBus {
	now := wall().UnixMicro()
	return &eventBus{
		wall: wall, ring: make([]Event, firstKept), last: now, floor: now,
		streams: map[*Stream]struct{}{}, users: map[identity.ID]int{},
	}
}

// publish keeps the events and wakes whoever listens. It does not block: it
// runs after commits, where the writer waits for it.
func (b *eventBus) publish(events ...Event) {
	now := b.wall().UnixMicro()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	for i := range events {
		b.last = max(b.last+1, now)
		events[i].Seq = b.last
		b.keep(&events[i])
	}
	for s := range b.streams {
		s.rouse()
	}
}

func (b *eventBus) keep(ev *Event) {
	if b.kept == len(b.ring) {
		if len(b.ring) == keptEvents {
			b.drop()
		} else {
			grown := make([]Event, 2*len(b.ring))
			for i := range b.kept {
				grown[i] = *b.at(i)
			}
			b.ring, b.oldest = grown, 0
		}
	}
	b.kept++
	*b.at(b.kept - 1) = *ev
}

// at returns the i-th oldest event.
func (b *eventBus) at(i int) *Event { return &b.ring[(b.oldest+i)&(len(b.ring)-1)] }

// drop forgets the oldest event.
func (b *eventBus) drop() {
	first := b.at(0)
	b.floor = first.Seq
	*first = Event{}
	b.oldest = (b.oldest + 1) & (len(b.ring) - 1)
	b.kept--
}

// forget drops what is older than is kept.
func (b *eventBus) forget(now int64) {
	for b.kept > 0 && b.at(0).Seq < now-keepEvents.Microseconds() {
		b.drop()
	}
}

// after returns the events after one, at most so many, and whether there are
// more; ok is false where some of them are gone.
func (b *eventBus) after(seq int64, most int) (events []Event, more, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq < b.floor || seq > b.last {
		return nil, false, false
	}
	from, to := 0, b.kept
	for from < to {
		if mid := (from + to) / 2; b.at(mid).Seq <= seq {
			from = mid + 1
		} else {
			to = mid
		}
	}
	n := min(most, b.kept-from)
	for i := range n {
		events = append(events, *b.at(from + i))
	}
	return events, from+n < b.kept, true
}

// latest returns the number of the newest event.
func (b *eventBus) latest() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// wakeAll lets every stream look whether it still may.
func (b *eventBus) wakeAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		s.rouse()
	}
}

func (b *eventBus) join(s *Stream) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users[s.user] >= StreamsPerUser {
		return errs.New(errs.TooMany, "You have %d streams of events open already; close one first.", StreamsPerUser)
	}
	b.forget(b.wall().UnixMicro())
	b.users[s.user]++
	b.streams[s] = struct{}{}
	return nil
}

func (b *eventBus) leave(s *Stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.streams[s]; !there {
		return
	}
	delete(b.streams, s)
	if b.users[s.user]--; b.users[s.user] == 0 {
		delete(b.users, s.user)
	}
}

// tell publishes the event once the unit is durable.
func (e *Engine) tell(tx Tx, ev Event) { tx.AfterCommit(func() { e.events.publish(ev) }) }

// tellEntry says what became of a schedule entry, as it is when the unit ends.
func (e *Engine) tellEntry(tx Tx, stored *Entry, change Change, now time.Time) {
	tx.AfterCommit(func() {
		e.events.publish(Event{Kind: EventSchedule, Change: change, UUID: stored.UUID, Version: stored.Revision, Time: now, context: stored.ContextID})
	})
}

// tellDocument says what became of a document or folder at the place.
func (e *Engine) tellDocument(tx Tx, at *documentPlace, d *Document, change Change, now time.Time) {
	e.tell(tx, Event{Kind: EventDocument, Change: change, ID: d.ID, Name: at.path.String(), Version: d.Revision, Time: now, context: at.root.ID})
}

// tellCase says what a change has made of a case and its tasks.
func (e *Engine) tellCase(c *caseChange) {
	var room [8]Event
	ev := Event{Kind: EventCase, ID: c.row.ID, Version: c.row.Version, Time: c.row.Modified}
	for _, m := range c.messages {
		if m.Modified.After(ev.Time) {
			ev.Time = m.Modified // which may be all that has changed
		}
	}
	events := room[:0]
	for i := range c.log {
		if c.log[i].Kind == core.LogTimer {
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
	e.events.publish(c.taskEvents(events, ev)...)
}

// taskEvents appends what has become of the tasks of the case.
func (c *caseChange) taskEvents(events []Event, ev Event) []Event {
	var before []core.Enabled
	if c.was != nil {
		before = c.was.Enabled
	}
	for i := range before {
		old := &before[i]
		if enabledRow(c.after.Enabled, old.Row) == nil && c.isTask(old) {
			ev.Name, ev.Change = old.Action, c.ended(old.Action)
			events = append(events, ev)
		}
	}
	for i := range c.after.Enabled {
		en := &c.after.Enabled[i]
		if !c.isTask(en) {
			continue
		}
		if ev.Change = taskBecame(enabledRow(before, en.Row), en); ev.Change != "" {
			ev.Name = en.Action
			events = append(events, ev)
		}
	}
	return events
}

// enabledRow returns the enablement of that row, nil for none. They are in
// order of row.
func enabledRow(list []core.Enabled, row int64) *core.Enabled {
	for i := range list {
		if list[i].Row == row {
			return &list[i]
		}
	}
	return nil
}

// isTask reports whether people have to do with the enablement: an action of
// theirs, or one that the engine could not perform.
func (c *caseChange) isTask(en *core.Enabled) bool {
	if en.State == core.Escalated {
		return true
	}
	at := c.route.Action(en.Action)
	return at >= 0 && c.route.Actions[at].Trigger == route.TriggerUser
}

// ended says how the task of an action ended.
func (c *caseChange) ended(action string) Change {
	for i := range c.log {
		if c.log[i].Kind == core.LogAction && c.log[i].Action != nil && *c.log[i].Action == action {
			return ChangePerformed
		}
	}
	return ChangeWithdrawn
}

// taskBecame says what has become of a task, "" for nothing.
func taskBecame(old, now *core.Enabled) Change {
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
	case core.Offered:
		return ChangeOffered
	case core.Accepted:
		return ChangeAccepted
	case core.Waiting:
		return ChangeWaiting
	case core.Escalated:
		return ChangeEscalated
	case core.Running:
	}
	return ChangeChanged
}
