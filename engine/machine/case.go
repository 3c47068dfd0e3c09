package machine

import (
	"time"

	"flowdrive/internal/label"
)

// Life is where a case is in its life cycle.
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

// Ended reports whether a case with this life has come to an end. A completed
// case may still be reopened by an action.
func (l Life) Ended() bool { return l == Completed || l == Closed || l == Canceled || l == Failed }

// Case is everything that Decide needs to know of a case, and what it returns.
// Its JSON is the marking, the stored form. Decide does not change the case that
// it is given; the case of the Output is another one.
type Case struct {
	ID             int64       `json:"id"`
	GUID           string      `json:"guid"` // 32 hex digits
	RouteID        int64       `json:"rid"`
	RouteName      string      `json:"rn"`
	RouteVersion   int64       `json:"rv"`
	Title          string      `json:"t,omitempty"`
	Life           Life        `json:"l"`
	SuspendedSelf  bool        `json:"h,omitempty"` // suspended by itself, not only with an ancestor
	SuspendedUntil time.Time   `json:"hu,omitzero"` // when its own suspension ends by itself; zero: never
	StartAt        time.Time   `json:"sa,omitzero"` // not to be started before; stays as it was given
	Status         string      `json:"s,omitempty"` // name of a state of the route, "" before the start
	ContextID      int64       `json:"cid"`
	Context        string      `json:"c"`
	Starter        string      `json:"by"`           // a user's name; for a scheduled case that of its context
	StartedBy      string      `json:"sb,omitempty"` // who started it, if Starter is somebody to whom it was handed over since
	Priority       int         `json:"p"`
	Roles          []Players   `json:"r,omitempty"` // that have players, in order of definition
	Stakeholders   []string    `json:"sh,omitempty"`
	Xattrs         label.Dict  `json:"x,omitempty"`
	Relations      []Relation  `json:"ln,omitempty"` // to other cases, by name
	Enabled        []Enabled   `json:"e,omitempty"`  // in order of their numbers
	LastNumber     int64       `json:"lr,omitempty"`
	Timers         []Timer     `json:"ti,omitempty"` // of the case, by name; only those of which something is known
	Visit          int64       `json:"v,omitempty"`  // number of the present visit
	Done           []string    `json:"vd,omitempty"` // actions of transitions performed in this visit
	Withdrawn      []string    `json:"wd,omitempty"` // actions taken out of this visit
	Interrupted    []string    `json:"in,omitempty"` // actions whose children its status was waiting for when it was canceled, until they are enabled again
	Performed      []Performed `json:"d,omitempty"`  // for life, in order of first performance
	Written        []Written   `json:"wr,omitempty"` // labels that actions wait for
	Resolution     string      `json:"re,omitempty"` // the last one chosen
	Warnings       []Warning   `json:"w,omitempty"`
	Outbox         []Outgoing  `json:"ob,omitempty"` // deliveries that have not ended, in order
	Failing        bool        `json:"fl,omitempty"` // people see it as failed; see Shown
	Draft          *Draft      `json:"dr,omitempty"` // of a case that lacks what its route requires; replaced, never changed in place
	Broken         *Broken     `json:"br,omitempty"` // what led it into the failed state that it is in, if that was the fault of an action
	Moved          *Moved      `json:"mv,omitempty"` // what led it to where it is, if no performance did; replaced, never changed in place
	Remark         *Remark     `json:"rk,omitempty"` // the last one; replaced, never changed in place
	Family
	LogSeq       int64     `json:"q,omitempty"` // number of the last log entry
	Version      int64     `json:"ver"`         // counts the changes of the case itself
	Revision     int64     `json:"rev"`         // counts the changes of its complete form
	ScheduleUUID string    `json:"su,omitempty"`
	ScheduledFor time.Time `json:"sf,omitzero"`
	LabelZone    string    `json:"lz,omitempty"`  // the time zone of the dates that labels stand for, by its name; "" is UTC
	Iteration    int64     `json:"si,omitempty"`  // number among the instants of its entry, from 1; 0: it has no entry
	InputName    string    `json:"inn,omitempty"` // of the file that is its input, "" if that was none
	Created      time.Time `json:"cr"`
	Started      time.Time `json:"st,omitzero"`
	Modified     time.Time `json:"mo"`
	Completed    time.Time `json:"co,omitzero"`
	Ended        time.Time `json:"en,omitzero"` // when it ended, in any way; zero while it has not
}

// Players are the parties of a role: names of users and teams, and symbolic
// parties, which begin with "@" so that they cannot be names.
type Players struct {
	Role    string   `json:"r"`
	Parties []string `json:"p"`
}

// The symbolic parties. A role keeps them as they are; they are resolved when an
// action is submitted (docs/contract/routes.md#assignment).
const (
	PartyStakeholders = "@stakeholders"
	PartyAdmins       = "@admins" // of the route
)

// TaskState is the state of an enablement.
type TaskState string

// The states of enablements; see also Accepted.
const (
	Waiting   TaskState = "waiting"   // its guard is false
	Offered   TaskState = "offered"   // it may be performed
	Running   TaskState = "running"   // the engine will perform it
	Escalated TaskState = "escalated" // the engine failed to perform it
)

// Enabled is one enablement of an action: while the case has it, the action is
// enabled.
type Enabled struct {
	Number   int64         `json:"n"` // 1, 2, … within the case
	Action   string        `json:"a"`
	State    TaskState     `json:"s"`
	Since    time.Time     `json:"f"`
	Due      time.Time     `json:"d,omitzero"`  // when the engine performs it; zero: never
	Children *ChildSummary `json:"k,omitempty"` // of an action with children, once they were planned
	Offer

	// While it is escalated: why, the verb of the step at fault, and whether onError
	// is still to be run.
	Fault     string `json:"fa,omitempty"`
	Step      string `json:"fs,omitempty"`
	Unhandled bool   `json:"fu,omitempty"`

	// Its timers as far as something is known of them. They are replaced, never
	// changed in place.
	AcceptBy *Timer `json:"ta,omitempty"`
	DoBy     *Timer `json:"td,omitempty"`
	FireBy   *Timer `json:"tf,omitempty"` // of a timed action: the limit that was set, and the date that follows

	Votes []Vote `json:"vo,omitempty"` // of an action that needs several; replaced, never changed in place

	Remind time.Time `json:"rm,omitzero"` // when its assignees are reminded next; zero: never
}

// Performed is how often an action was performed in the life of the case, and
// what is known of the last time.
type Performed struct {
	Action string    `json:"a"`
	Count  int64     `json:"n"`
	By     string    `json:"by,omitempty"` // "" for the engine and timers
	For    string    `json:"fo,omitempty"` // on whose behalf, "" if on their own
	At     time.Time `json:"at"`

	From string `json:"fr,omitempty"` // the status in which it was performed, "" for none

	// The outcome of the last performance.
	Resolution string `json:"re,omitempty"`
	Output     string `json:"o,omitempty"`  // of its decision
	Used       int64  `json:"us,omitempty"` // number of the writing that it used; see Written
	Seq        int64  `json:"q,omitempty"`  // of its log entry
	Named      string `json:"nm,omitempty"` // who did it, if By is somebody to whom that was handed over since
}

// Written is the last writing of a message with a label that an action waits for.
// The action is due until it has used that writing.
type Written struct {
	Label  string    `json:"l"`
	Number int64     `json:"n"` // 1, 2, … within the case and label
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
}

// Warning is a notice on a case for people.
type Warning struct {
	Timer      string    `json:"timer"` // the timer or action that made it
	Time       time.Time `json:"time"`
	Text       string    `json:"text"`
	Enablement int64     `json:"n,omitempty"` // the enablement that it goes with, 0: the case
	Handler    string    `json:"h,omitempty"` // the handler that has failed: "onError of pay", "the timer nag"; else ""
}

// NextDue returns the earliest instant at which something of the case is due, or
// zero if nothing will be.
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
		if c.Draft != nil {
			return c.Draft.due()
		}
		if c.StartAt.After(c.Modified) {
			return c.StartAt // from then on the manager may start it
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
		// Children may have ended later than now, if the clock has stepped back.
		if k := c.Enabled[i].Children; k != nil && !k.Finished.IsZero() && c.Enabled[i].State != Escalated && (first.IsZero() || k.Finished.Before(first)) {
			first = k.Finished
		}
	}
	if _, date, _, ok := c.firstTimer(); ok && (first.IsZero() || date.Before(first)) {
		return date
	}
	return first
}

// Busy reports whether the engine has something to do on the case at now: work
// that is due, work left by earlier events, or deliveries. While a case is busy, no
// other case of its group starts (docs/contract/routes.md#groups). A case that
// waits for people, for an instant or for children is not busy, nor is a queued
// one.
func (c *Case) Busy(now time.Time) bool {
	if c.Life == Queued {
		return false
	}
	due := c.NextDue()
	return c.nextWork() >= 0 || c.Sending() || !due.IsZero() && !due.After(now)
}

// RoleParties returns the parties of the role, nil if it has none.
func (c *Case) RoleParties(role string) []string {
	for i := range c.Roles {
		if c.Roles[i].Role == role {
			return c.Roles[i].Parties
		}
	}
	return nil
}
