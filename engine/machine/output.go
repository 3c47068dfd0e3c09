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

// ActorTimer is the actor of log entries about what a timer does.
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
