package machine

import (
	"time"

	"flowdrive/internal/label"
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
