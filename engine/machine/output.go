package machine

import (
	"time"

	"flowdrive/route"
)

// Output is what an event does: the case afterwards, its log entries, its messages
// and its effects on other cases. The caller stores all of it in one transaction.
type Output struct {
	Case      *Case
	Log       []LogEntry
	Messages  []NewMessage    // in order; of those with the same label the last counts
	Outbox    []Posting       // what it does to the outbox, in order
	Performed string          // the action that a person's request was about, also if it named a type
	Plans     map[int64]*Plan // by number of the enablement: to be kept until it is nil
	Failures  []Failure       // what failed in this event, in order
	Mended    []Failure       // what had failed before and has not any more
	Notices   *Notices        // for the whole tree; nil: nobody is to be notified
	Others    []Changed       // other cases that changed, in order: a parent before its new children
	Stores    int64           // of the whole event: bytes for which it took room of Facts.Room
	Full      bool            // of the whole event: something failed because there was no room for it
}

// Changed is a case other than the event's own that the event changed.
type Changed struct {
	Output
	New   bool  // it was created in this event
	From  *Case // as it was; nil if it is new
	Route *route.Route
	Input InputRef // if it is new
}

// InputRef names the message of another case that is the input of a new one.
type InputRef struct {
	Case  int64 // 0: the input is empty
	Label string
}

// NewMessage is a message that an event writes.
type NewMessage struct {
	Label     string
	MediaType string
	Content   []byte
}

// LogKind is the kind of a log entry.
type LogKind string

// The kinds of log entries.
const (
	LogAction  LogKind = "action"  // an action was performed
	LogState   LogKind = "state"   // the case has entered another state
	LogLife    LogKind = "life"    // of the case: created, changed by hand, suspended, resumed, failed, ended, moved to another version
	LogTimer   LogKind = "timer"   // a timer has expired
	LogTask    LogKind = "task"    // of a task: accepted, reminded, retried, given up, aborted, without effect
	LogRoles   LogKind = "roles"   // other people play a role
	LogMessage LogKind = "message" // a message was written, or one was deleted
	LogChild   LogKind = "child"   // a child case was started, or has ended
	LogWarning LogKind = "warning" // something that people should look at
	LogError   LogKind = "error"   // something has failed
	LogRemark  LogKind = "remark"  // a person has said something, and done nothing
)

// Trigger says what set off a log entry.
type Trigger string

// What can set off a log entry.
const (
	ByUser    Trigger = "user"    // a person
	ByInit    Trigger = "init"    // the start of the case
	ByAuto    Trigger = "auto"    // the case itself, because a guard became true
	ByTime    Trigger = "time"    // a timer
	ByMessage Trigger = "message" // a message of the case
	ByChild   Trigger = "child"   // a child case
	ByStep    Trigger = "step"    // a step of another action
)

// ActorTimer is the actor of log entries about what a timer does.
const ActorTimer = "timer"

// LogEntry is one line of a case's log (docs/contract/drive.md#log).
type LogEntry struct {
	Seq        int64     `json:"seq"`        // its number in the case, from 1
	Time       time.Time `json:"time"`       // when
	Kind       LogKind   `json:"kind"`       // what it is about
	Action     *string   `json:"action"`     // the name of the action
	Actor      *string   `json:"actor"`      // who did it, or "timer"
	OnBehalfOf *string   `json:"onBehalfOf"` // for whom, if a deputy did it
	From       *string   `json:"from"`       // the state before
	To         *string   `json:"to"`         // the state after
	Comment    *string   `json:"comment"`    // what the actor said
	Resolution *string   `json:"resolution"` // how the case was resolved
	Trigger    *Trigger  `json:"trigger"`    // what set it off
	Text       string    `json:"text"`       // all of it in words, for people
}

// Limits on what one event may set off (docs/contract/engine.md#limits).
const (
	MaxPerformances = 1000
	MaxSteps        = 10_000
	MaxCost         = 300_000 // of expressions, in the units of CEL: a tenth of a second, in which nobody else writes
)
