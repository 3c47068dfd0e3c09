// Package machine decides what an event does to a case. It is pure: equal
// inputs give byte-equal outputs, and there is no clock, no database, no
// goroutine and no random value in it
// (docs/contract/engine.md#the-machine-is-a-pure-function). It does not know
// how cases are stored or shown over HTTP, only their complete form.
package machine

import (
	"time"

	"flowdrive/internal/label"
	"flowdrive/route"
)

// Life is the state of a case's life cycle.
type Life string

// The states of the life cycle.
const (
	Queued    Life = "queued"
	Active    Life = "active"
	Suspended Life = "suspended"
	Completed Life = "completed"
	Closed    Life = "closed" // completed, and its parent has moved on
	Canceled  Life = "canceled"
	Failed    Life = "failed"
)

// Ended reports whether the case has come to an end. A completed one may
// still be reopened by an action.
func (l Life) Ended() bool { return l == Completed || l == Closed || l == Canceled || l == Failed }

// Case is all that is known of a case. It is what Decide takes and returns;
// its JSON is the marking as it is stored. A Case that Decide was given is
// not changed: the one in the Output is another.
type Case struct {
	ID             int64       `json:"id"`
	GUID           string      `json:"guid"` // 32 hex digits
	RouteID        int64       `json:"rid"`
	RouteName      string      `json:"rn"`
	RouteVersion   int64       `json:"rv"`
	Title          string      `json:"t,omitempty"`
	Life           Life        `json:"l"`
	SuspendedSelf  bool        `json:"h,omitempty"` // suspended by its own mark, not only by an ancestor's
	SuspendedUntil time.Time   `json:"hu,omitzero"` // when the mark goes by itself; zero: only by hand
	StartAt        time.Time   `json:"sa,omitzero"` // it is not to be started before; it stays as it was given
	Status         string      `json:"s,omitempty"` // name of the FSM state, "" before the start
	ContextID      int64       `json:"cid"`
	Context        string      `json:"c"`
	Starter        string      `json:"by"` // a user's name; the context's for what a schedule starts
	Priority       int         `json:"p"`
	Roles          []Players   `json:"r,omitempty"` // those that have somebody, in order of definition
	Stakeholders   []string    `json:"sh,omitempty"`
	Xattrs         label.Dict  `json:"x,omitempty"`
	Enabled        []Enabled   `json:"e,omitempty"` // in order of row
	LastNumber     int64       `json:"lr,omitempty"`
	Timers         []Timer     `json:"ti,omitempty"` // those of the case of which something is known, by name
	Visit          int64       `json:"v,omitempty"`  // number of the present visit
	Done           []string    `json:"vd,omitempty"` // actions of transitions performed in this visit
	Withdrawn      []string    `json:"wd,omitempty"` // actions taken out of this visit
	Interrupted    []string    `json:"in,omitempty"` // actions whose children it was waiting for in its status when it was canceled, until they are enabled again
	Performed      []Performed `json:"d,omitempty"`  // for life, in order of first performance
	Written        []Written   `json:"wr,omitempty"` // of the labels that actions wait for
	Resolution     string      `json:"re,omitempty"` // the last one chosen
	Warnings       []Warning   `json:"w,omitempty"`
	Outbox         []Outgoing  `json:"ob,omitempty"` // deliveries that are not over, in order
	Family
	LogSeq       int64     `json:"q,omitempty"` // number of the last log entry
	Version      int64     `json:"ver"`         // counts what changed the case itself
	Revision     int64     `json:"rev"`         // counts every change of its complete form
	ScheduleUUID string    `json:"su,omitempty"`
	ScheduledFor time.Time `json:"sf,omitzero"`
	Iteration    int64     `json:"si,omitempty"` // which of its entry's it is, from 1; 0: it is of none
	Created      time.Time `json:"cr"`
	Started      time.Time `json:"st,omitzero"`
	Modified     time.Time `json:"mo"`
	Completed    time.Time `json:"co,omitzero"`
	Ended        time.Time `json:"en,omitzero"` // when it came to its end, in whichever way; zero while it goes on
}

// Players are the parties of a role: names of users and teams, and the
// symbolic ones, which begin with "@" and so are nobody's name.
type Players struct {
	Role    string   `json:"r"`
	Parties []string `json:"p"`
}

// The symbolic parties: kept as such in a role and resolved when an action
// is submitted (docs/contract/routes.md#assignment).
const (
	PartyStakeholders = "@stakeholders"
	PartyAdmins       = "@admins" // of the route
)

// TaskState is the state of an enabled action.
type TaskState string

// The states of enabled actions that are built.
const (
	Waiting   TaskState = "waiting"   // its guard is false
	Offered   TaskState = "offered"   // somebody or something may perform it
	Running   TaskState = "running"   // automatic, waits for the engine
	Escalated TaskState = "escalated" // the engine failed to perform it
)

// Enabled is one enablement of an action. While it exists the action is enabled.
type Enabled struct {
	Number   int64         `json:"n"` // 1, 2, … within the case
	Action   string        `json:"a"`
	State    TaskState     `json:"s"`
	Since    time.Time     `json:"f"`
	Due      time.Time     `json:"d,omitzero"`  // when it performs itself; zero: never
	Children *ChildSummary `json:"k,omitempty"` // of an action with children, once they were planned
	Offer

	// What is known of its timers; replaced, never changed in place.
	AcceptBy *Timer `json:"ta,omitempty"`
	DoBy     *Timer `json:"td,omitempty"`
	FireBy   *Timer `json:"tf,omitempty"` // of a timed action: the limit that was set, with the date that it gives

	Remind time.Time `json:"rm,omitzero"` // when its assignees are reminded next; zero: never
}

// Performed is how often an action was performed in the life of the case,
// and by whom last.
type Performed struct {
	Action string    `json:"a"`
	Count  int64     `json:"n"`
	By     string    `json:"by,omitempty"` // "" for the engine and timers
	For    string    `json:"fo,omitempty"` // on whose behalf, "" for nobody's
	At     time.Time `json:"at"`

	From string `json:"fr,omitempty"` // status that it was performed in, "" for none

	// What came of the last performance.
	Resolution string `json:"re,omitempty"`
	Output     string `json:"o,omitempty"`  // of its decision
	Used       int64  `json:"us,omitempty"` // number of the writing that it used, see Written
	Seq        int64  `json:"q,omitempty"`  // of its log entry
}

// Written is the last writing of a label that some action waits for. A
// message action is due while it has not used that one.
type Written struct {
	Label  string    `json:"l"`
	Number int64     `json:"n"` // 1, 2, … within the case and label
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
}

// Warning is a notice on the case for people.
type Warning struct {
	Timer      string    `json:"timer"` // the timer or action that made it
	Time       time.Time `json:"time"`
	Text       string    `json:"text"`
	Enablement int64     `json:"n,omitempty"` // of the enablement with which it goes, 0 for the case
}

// NextDue returns the earliest instant at which something of the case is
// due, zero for none.
func (c *Case) NextDue() time.Time {
	var first time.Time
	if c.nextWork() >= 0 {
		return c.Modified
	}
	switch c.Life {
	case Active:
	case Completed:
		if c.AncestorSuspended {
			return first
		}
	case Suspended:
		return c.SuspendedUntil
	case Queued:
		if c.StartAt.After(c.Modified) {
			return c.StartAt // then it can be started; by the manager, when its turn comes
		}
		return first
	case Closed, Canceled, Failed:
		return first
	}
	for i := range c.Enabled {
		if c.Enabled[i].State == Waiting {
			continue // its guard becomes true by an event
		}
		if due := c.Enabled[i].Due; !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	if _, date, _, ok := c.firstTimer(); ok && (first.IsZero() || date.Before(first)) {
		return date
	}
	return first
}

// Busy reports whether there is something for the engine to do on the case:
// automatic work that is due, was left to further events, or is in its outbox.
// While there is, no other case of its group starts
// (docs/contract/routes.md#groups). What waits for people, for an instant or
// for children is not busy, and what is queued has not begun.
func (c *Case) Busy(now time.Time) bool {
	if c.Life == Queued {
		return false
	}
	due := c.NextDue()
	return c.nextWork() >= 0 || c.Sending() || !due.IsZero() && !due.After(now)
}

// RoleParties returns the parties of the role.
func (c *Case) RoleParties(role string) []string {
	for i := range c.Roles {
		if c.Roles[i].Role == role {
			return c.Roles[i].Parties
		}
	}
	return nil
}

// Input is what a decision rests on. An event with its facts is what can be
// replayed.
type Input struct {
	Route *route.Route
	Case  *Case // as it is stored; for Create: its seed, see there
	Event Event
	Now   time.Time // never before the case's Modified: Decide sees to it
	Facts Facts
	Tell  bool // somebody can be told: the Output shall have Notices

	batch int // as Batch, for tests; 0: Batch
}

// Facts are values that the shell has looked up.
type Facts struct {
	Parties  map[string]PartyKind // by name as asked for; NoParty where there is none
	Emails   map[string]string    // addresses, by name as asked for
	Messages map[string][]byte    // contents of the case's messages by label; nil where there is none, or one too long
	Types    map[string]string    // media types of Messages

	Cases    map[int64]*RelatedCase // nil where there is none
	Members  map[string][]string    // the persons of a party by its name, transitively, in order of names
	Admins   map[int64][]string     // the parties that administer a route, by its id
	Watchers map[int64][]string     // the users who watch a route, by its id
	Routes   map[string]*Definition // by name; nil where there is none
	Rights   map[StartRight]bool
	New      []Identity             // of new cases
	Full     bool                   // there are no more: the starter has as many open cases as the limit allows
	ChildIDs map[ChildQuery][]int64 // ids, ascending
	Children map[Enablement][]Child // all of an enablement, by id
	Plans    map[Enablement]*Plan   // that an Output had
	Filtered map[Filter]Filtered    // what filters yield
	Called   map[Call]Called        // what callbacks yield
}

// MaxFact bounds the content of a message that a decision rests on, and of
// one that a step writes; a longer one is as if it were absent.
const MaxFact = 1 << 20

// PartyKind says what a name stands for.
type PartyKind string

// What a name can stand for.
const (
	NoParty   PartyKind = ""
	UserParty PartyKind = "user"
	TeamParty PartyKind = "team"
)

// Need is a fact that was absent; one of its fields is set.
type Need struct {
	Party   string // the kind of the party of that name
	Email   string // the address of the party of that name
	Message string // the content of the message with that label; of the case Case, 0 for the event's own

	Case     int64 // the case, without Message
	Members  string
	Admins   int64 // of the route with that id
	Watchers int64 // likewise
	Route    string
	Right    StartRight
	New      int // so many identities in all
	ChildIDs ChildQuery
	Children Enablement
	Plan     Enablement
	Filter   Filter // what it yields
	Call     Call   // likewise
}

// Filter is a jq filter with all that its result depends on, as JSON.
type Filter struct{ Filter, Input, Xattr, Case string }

// Filtered is what a filter yields: JSON, or what is wrong with it.
type Filtered struct {
	Output []byte
	Fault  string
}

// Actor is who performs, with what the shell knows of it.
type Actor struct {
	Name       string
	Contexts   []string // names: the actor, its teams transitively, everyone
	RouteAdmin bool     // administers the case's route
	DeputyFor  []Absent // whose active deputy the actor is, by name
}

// Absent is somebody whom the actor stands in for.
type Absent struct {
	Name     string
	Contexts []string // as an Actor's
}

// Event is what happens to a case. Each kind is a type of its own.
type Event interface{ event() }

type (
	// Create makes a case of Input.Case, the seed: identity, route, title,
	// context, starter, priority, xattrs, roles and stakeholders given,
	// schedule. The result is queued.
	Create struct {
		Warnings []string // for the log: what the shell noticed, as unknown labels
	}

	// Start performs the init action of a queued case; the manager's event.
	Start struct{}

	// Perform is a person's performance of an enabled action, by its name or
	// by its type.
	Perform struct {
		Action     string
		Actor      Actor
		Comment    string
		Resolution string
		Xattrs     []Change // merged into the case's
	}

	// Skip passes an offered action over: it counts as performed. It is a
	// right of the route's administrators, as Abort and Retry are.
	Skip struct {
		Action  string
		Actor   Actor
		Comment string
		Output  string // of an action that decides
	}

	// Abort ends an enablement without a performance; the action is taken out
	// of this visit.
	Abort struct {
		Action  string
		Actor   Actor
		Comment string
	}

	// Retry lets the engine try again what was escalated.
	Retry struct {
		Action  string
		Actor   Actor
		Comment string
	}

	// Due says that something of the case may be due; the sweeper's event.
	Due struct{}

	// Cancel ends the case.
	Cancel struct {
		Actor   Actor
		Comment string
	}

	// Suspend holds an active case: people do not see its tasks, and nothing
	// happens to it by itself until it is resumed. Of one that is suspended it
	// changes the date.
	Suspend struct {
		Actor   Actor
		Comment string
		Until   time.Time // when it resumes by itself; zero: never
	}

	// Resume lets a suspended case go on.
	Resume struct {
		Actor   Actor
		Comment string
	}

	// Reopen takes back a canceled case, or one that could not start; both
	// are rights of the route's administrators, judged by the shell.
	Reopen struct {
		Actor   Actor
		Comment string
		Version int64 // of the Input's route, for one that could not start; 0: the one it has
	}

	// Edit changes the case's own fields; nil leaves one as it is. Rights
	// were judged by the shell.
	Edit struct {
		Actor        Actor
		Title        *string
		Priority     *int
		ContextID    *int64 // with Context
		Context      string
		Roles        *[]Players
		Stakeholders *[]string
		Xattrs       *label.Dict // replaces the whole
		StartAt      *time.Time  // of a case that has not started; zero: as soon as it can be
	}

	// Wake says that a message was written; guards and message actions are
	// looked at again.
	Wake struct {
		Actor Actor
		Label string
	}
)

func (Create) event()  {}
func (Start) event()   {}
func (Perform) event() {}
func (Skip) event()    {}
func (Abort) event()   {}
func (Retry) event()   {}
func (Due) event()     {}
func (Cancel) event()  {}
func (Suspend) event() {}
func (Resume) event()  {}
func (Reopen) event()  {}
func (Edit) event()    {}
func (Wake) event()    {}

// Change sets an XATTR, or removes it.
type Change struct {
	Key    string // normalised
	Value  label.Value
	Remove bool
}

// Output is what an event does: the case afterwards, what it left in the log
// and the messages it wrote. The shell stores all in one transaction.
type Output struct {
	Case      *Case
	Log       []LogEntry
	Messages  []NewMessage    // in order; of one label the last counts
	Outbox    []Posting       // what it does to the outbox, in order
	Performed string          // the action that a person's request was about, whatever it called it
	Plans     map[int64]*Plan // by row: to be kept until it is nil
	Notices   *Notices        // of the whole tree; nil: nobody is to be told
	Others    []Changed       // other cases that changed, in order: a parent before its new children
}

// Changed is another case that an event changed.
type Changed struct {
	Output
	New   bool  // it is another case's child, or was started by one
	From  *Case // as it was, nil for a new one
	Route *route.Route
	Input InputRef // of a new one
}

// InputRef is the message of another case that a new one has as its input.
type InputRef struct {
	Case  int64 // 0: none, the input is empty
	Label string
}

// NewMessage is a message that a step wrote.
type NewMessage struct {
	Label     string
	MediaType string
	Content   []byte
}

// LogKind is the kind of a log entry.
type LogKind string

// The kinds of log entries.
const (
	LogAction  LogKind = "action"
	LogState   LogKind = "state"
	LogLife    LogKind = "life"
	LogTimer   LogKind = "timer"
	LogTask    LogKind = "task"
	LogRoles   LogKind = "roles"
	LogMessage LogKind = "message"
	LogChild   LogKind = "child"
	LogWarning LogKind = "warning"
	LogError   LogKind = "error"
)

// Trigger says what set off a log entry.
type Trigger string

// What can set off a log entry.
const (
	ByUser    Trigger = "user"
	ByInit    Trigger = "init"
	ByAuto    Trigger = "auto"
	ByTime    Trigger = "time"
	ByMessage Trigger = "message"
	ByChild   Trigger = "child"
	ByStep    Trigger = "step"
)

// ActorTimer is the actor of what time does.
const ActorTimer = "timer"

// LogEntry is one line of a case's log (docs/contract/drive.md#log).
type LogEntry struct {
	Seq        int64     `json:"seq"`
	Time       time.Time `json:"time"`
	Kind       LogKind   `json:"kind"`
	Action     *string   `json:"action"`
	Actor      *string   `json:"actor"`
	OnBehalfOf *string   `json:"onBehalfOf"`
	From       *string   `json:"from"`
	To         *string   `json:"to"`
	Comment    *string   `json:"comment"`
	Resolution *string   `json:"resolution"`
	Trigger    *Trigger  `json:"trigger"`
	Text       string    `json:"text"`
}

// Limits on what one event may set off (docs/contract/engine.md#limits).
const (
	MaxPerformances = 1000
	MaxSteps        = 10_000
	MaxCost         = 1_000_000 // of expressions, in the units of CEL
)
