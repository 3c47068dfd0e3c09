package machine

import (
	"time"

	"flowdrive/route"
)

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
