// Package simulate plays scenarios: stories of what people do with cases and of
// time that passes, with what must be true after each step. It uses the drive
// by requests alone, as users do. So what works on the drive works in a
// scenario too, and the other way round.
package simulate

import (
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
)

// Scenario is a story that is played on an empty sandbox: who there is, and
// what happens. Language describes how it is written down.
type Scenario struct {
	Title  string
	Author string    // the user who stores the routes
	Clock  time.Time // the time of the clock at first
	Users  []Party
	Teams  []Party
	Steps  []Step

	Commands map[string][]Run // how commands end, by name: the first run, the second, …; the last one is repeated
}

// Party is a user or team and the document that makes it.
type Party struct {
	Name     string
	Document []byte
}

// Step is one thing that happens.
type Step struct {
	Verb    Verb
	Subject string         // the action, state, label, timer or team that it is about
	As      string         // who does it
	Of      Of             // the case that it is about
	Name    string         // of start: what later steps call the case
	Body    []byte         // the document or message that is saved
	Type    string         // its media type
	Advance clock.Duration // of advance by a duration
	Refused string         // the slug of the problem that is expected as its answer; "" if it must succeed
	Expect  []Expectation
	At      Place
}

// String returns what the step does, as "perform approve".
func (s *Step) String() string {
	if s.Subject == "" || s.Verb == VerbStart {
		return string(s.Verb)
	}
	return string(s.Verb) + " " + s.Subject
}

// Of names a case: one that a step started, or a child below it.
type Of struct {
	Case  string   // "": the one that was started last
	Child []string // titles or numbers from 1, outermost first
	At    Place
}

// Expectation is what must be true of a case after a step.
type Expectation struct {
	Of
	Want []document.Member // keys as Language lists them
}

// Place is a place in the scenario.
type Place struct {
	Pointer      string
	Line, Column int
}

// Verb is what a step does.
type Verb string

// The verbs of steps.
const (
	VerbStart    Verb = "start"
	VerbPerform  Verb = "perform"
	VerbAccept   Verb = "accept"
	VerbRelease  Verb = "release"
	VerbReject   Verb = "reject"
	VerbDelegate Verb = "delegate"
	VerbSkip     Verb = "skip"
	VerbRetry    Verb = "retry"
	VerbAbort    Verb = "abort"
	VerbMove     Verb = "move"
	VerbAdvance  Verb = "advance"
	VerbMessage  Verb = "message"
	VerbTimer    Verb = "timer"
	VerbChange   Verb = "change"
	VerbSuspend  Verb = "suspend"
	VerbResume   Verb = "resume"
	VerbCancel   Verb = "cancel"
	VerbTeam     Verb = "team"
	VerbDeputy   Verb = "deputy"
	VerbCheck    Verb = "check"
)

// verbs returns every verb with the keys that it takes in addition to those of
// every step.
func verbs() []struct {
	verb Verb
	keys []string
} {
	return []struct {
		verb Verb
		keys []string
	}{
		{VerbStart, []string{"name"}},
		{VerbPerform, []string{"comment", "resolution", "xattrDict"}},
		{VerbAccept, []string{"comment"}},
		{VerbRelease, []string{"comment"}},
		{VerbReject, []string{"comment"}},
		{VerbDelegate, []string{"comment", "to"}},
		{VerbSkip, []string{"comment", "output"}},
		{VerbRetry, []string{"comment"}},
		{VerbAbort, []string{"comment"}},
		{VerbMove, nil},
		{VerbAdvance, nil},
		{VerbMessage, []string{"text", "value"}},
		{VerbTimer, []string{"limit"}},
		{VerbChange, nil},
		{VerbSuspend, nil},
		{VerbResume, nil},
		{VerbCancel, nil},
		{VerbTeam, []string{"members"}},
		{VerbDeputy, nil},
		{VerbCheck, nil},
	}
}

// everyStep are the keys that every step may have in addition to its verb. A
// step that does not concern a case has neither case nor child.
func everyStep() []string {
	return []string{"note", "as", "case", "child", "refused", "expect"}
}

// caseFields are the fields of a case's document that may be expected.
func caseFields() []string {
	return []string{
		"state", "status", "title", "resolution", "enabledActions", "pendingActions", "roles", "stakeholders", "xattrDict",
		"priority", "starter", "context", "route", "routeVersion", "suspendedUntil", "startAt", "started", "completed", "visit",
	}
}

// In addition to the fields of a case these may be expected.
const (
	wantTasks     = "tasks"     // by action: the state of the task, or fields of it
	wantAssignees = "assignees" // by action: whose task it is
	wantWorklist  = "worklist"  // by user: the actions on the worklist, for this case
	wantTimers    = "timers"    // by timer: its state, or fields of it
	wantMessages  = "messages"  // by label: its text, or its JSON
	wantOutput    = "output"    // what the case shows as output
	wantSent      = "sent"      // what would have left the server, in order
	wantChildren  = "children"  // how many, in which states
	wantLog       = "log"       // what the log says, in this order
	wantNoLog     = "notLog"    // what it must not say
	wantWarnings  = "warnings"  // every warning, in order
)

func wantedKeys() []string {
	return append(caseFields(), wantTasks, wantAssignees, wantWorklist, wantTimers, wantMessages, wantOutput, wantSent,
		wantChildren, wantLog, wantNoLog, wantWarnings)
}
