// Package notice has what people and services are told, and the words in which
// they are told it. The engine decides who is told what, and when
// (docs/contract/routes.md#6-notifications).
package notice

import (
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
)

// Kind is what a notice is about. People and destinations choose by it.
type Kind string

// The kinds of notices.
const (
	KindTask     Kind = "task"     // the recipient has a new task
	KindReminder Kind = "reminder" // a task still waits for the recipient, or an app password of theirs ends soon
	KindAct      Kind = "act"      // a person or a timer has done something in a case, or somebody else to a schedule entry
	KindOutcome  Kind = "outcome"  // a case has ended
	KindOverdue  Kind = "overdue"  // a timer is due and nothing handles it, or something takes too long
	KindFailure  Kind = "failure"  // something failed, and stays failed until it is mended
	KindMended   Kind = "mended"   // what was told of as a failure or as overdue is over
)

// Kinds returns all kinds, in the order in which they are documented.
func Kinds() []Kind {
	return []Kind{KindTask, KindReminder, KindAct, KindOutcome, KindOverdue, KindFailure, KindMended}
}

// Title returns what the kind is about, as people read it at /account and in mails.
func (k Kind) Title() string {
	return map[Kind]string{
		KindTask: "New tasks", KindReminder: "Reminders of tasks, and of app passwords that end", KindAct: "What happens in cases and to schedule entries",
		KindOutcome: "How cases end", KindOverdue: "What is overdue", KindFailure: "What has failed", KindMended: "What is mended",
	}[k]
}

// Severity says how much a notice matters.
type Severity string

// The severities, from the least.
const (
	Info    Severity = "info"    // nothing is wrong
	Warning Severity = "warning" // something is late
	Serious Severity = "failure" // something has failed, and somebody must mend it
)

// Severity returns how much a notice of the kind matters.
func (k Kind) Severity() Severity {
	switch k {
	case KindFailure:
		return Serious
	case KindOverdue:
		return Warning
	case KindTask, KindReminder, KindAct, KindOutcome, KindMended:
	}
	return Info
}

// Notice is one thing that some people are told. Exactly one of Case, Entry, Hook, Hold,
// Way, Server, Away, Password, Deputy and RouteChange is set, or none of a Deed that is a hold.
type Notice struct {
	Kind Kind
	Time time.Time
	Case *machine.Case // that it is about, as it is since
	// Entry is the schedule entry that it is about.
	Entry *Entry
	// Hook is the hook that it is about.
	Hook *Hook
	// Hold is the hold that it is about.
	Hold *Hold
	// Deed is what somebody did to Entry, or to all that a hold is about.
	Deed *Deed
	// Way is the way of telling people that it is about.
	Way *Way
	// Server is the part of the server that it is about.
	Server *Server
	// Away is the time that it is about, in which there was no server.
	Away *Away
	// Password is the app password that it is about.
	Password *Password
	// Deputy is who stands in for whom, and RouteChange the change of a route: both are
	// told to one person, by mail alone.
	Deputy      *Deputy
	RouteChange *RouteChange
	// Word is what was done in the case, or how it ended: "Approved".
	Word string
	// Child is set for what happened in a case that another case has started.
	Child *machine.ChildNews
	// Acts is what a person or a timer did, of ActsCase: Case, or a case below it.
	Acts     []machine.LogEntry
	ActsCase int64
	// Trouble is what is wrong or was, of KindOverdue, KindFailure and KindMended.
	Trouble *Trouble
	Title   func(machine.TaskRef) string // what people call a task
	Name    func(user string) string     // what people call a user; nil: by the name to log in with
	// Brief returns what is told of a task, and Facts the XATTRs of a case that its
	// route declares. Both may be nil.
	Brief func(machine.TaskRef) (machine.Brief, bool)
	Facts func(*machine.Case) []machine.Fact
	// Better is a notice of the same event that says the same and more: who is told that
	// is not told this. It may be nil.
	Better *Notice
	// Crowd says that it is one of many notices of one event, which go in one mail.
	Crowd bool
	// Over is what is over with what this notice tells, for services. Of a person it is
	// what they were told of.
	Over   []*Trouble
	Links  link.Base      // how links begin
	Zone   *time.Location // in which services are told times; nil: UTC
	People []Person       // who is told, each once
}

// Entry is a schedule entry, as far as people are told of it.
type Entry struct {
	UUID  string
	Title string
	Route string
}

// Hook is a hook, as far as people are told of it.
type Hook struct {
	ID     int64
	Name   string
	Route  string
	Sender bool // requests are refused for what they are, and not by the hook's fault
}

// Way is a way by which people and services are told, as far as administrators are
// told of it: a destination of the settings, the mail server, or a mailbox.
type Way struct {
	ID   string
	Name string // for people, without what is secret
	Lost int64  // deliveries that were given up since it has failed
	// Heartbeat says that it is not a way of telling people: it is an address that waits
	// for signs of life.
	Heartbeat bool
}

// Trouble is something that is wrong until it is mended.
type Trouble struct {
	What    What
	Word    string    // of WhatOverdue and WhatUnstaffed: "Overdue: Approve"
	Text    string    // in a sentence without its end, as users may read it
	Output  string    // the end of what a command wrote, "" for nothing
	Task    string    // the action by which it is mended, "" for none
	Since   time.Time // when it was told of first
	Instant time.Time // of a schedule entry: the instant that failed
	// Ended says that the schedule entry has no other instant.
	Ended bool
	Next  time.Time // its next instant, if what it failed for is mended; else zero
	Again bool      // the people have been told of it before, and it is still wrong
	// Over and By say, of KindMended, how it is over and who brought that about; "" for
	// nobody.
	Over End
	By   string
	// Others are the other cases of the same schedule entry that are failed still, of
	// KindMended: people were told of the first alone.
	Others []int64
	// Alike is in how many other cases of the same schedule entry it is wrong in the same way,
	// and LastAlike the newest of them, 0 if that is not known: people are told of them with
	// this one. In OverCount others it was wrong and is over, OverIn are the first of these.
	Alike     int
	LastAlike int64
	OverIn    []OverIn
	OverCount int
	// Later is the later case of the same schedule entry that went well, of EndLater, and
	// LaterEnd how that has ended if that is told with it: "Done".
	Later    int64
	LaterEnd string
	// Delay is what is known of the attempts of a delivery, of WhatDelayed.
	Delay *machine.Delay
	// Menders are the names of those who may mend it, and Skips says that they may also
	// have it count as done. Both are of WhatFailed.
	Menders []string
	Skips   bool
	Outputs []string // of which one must be given with that; none: it has none
	// Once says that people are told once, of WhatHandler: nobody can end it.
	Once bool
	// Entries are the schedule entries of a person that were paused together, of WhatPaused;
	// nil: it is about one.
	Entries *Held
}

// OverIn is a case in which something is over that is wrong in others, and how.
type OverIn struct {
	Case int64 `json:"case"`
	End  End   `json:"end,omitempty"`
}

// End says how something that was wrong is over.
type End string

// How something is over.
const (
	EndMended   End = ""         // it was done
	EndCanceled End = "canceled" // with its case
	EndGivenUp  End = "given-up" // somebody gave it up
	EndPassed   End = "passed"   // the case has gone on without it
	EndDeleted  End = "deleted"  // with its schedule entry, hook or case
	EndLater    End = "later"    // a later case of the same schedule entry went well
	EndGone     End = "gone"     // the case does not warn of it any more: nobody is told
)

// Person is a recipient.
type Person struct {
	machine.Notice
	Name   identity.Name
	Email  string         // "" if no mails are sent
	At     *machine.Case  // through which they are told, nil if there is no case
	Behalf []string       // the users as whose deputy this is told, none: on their own account
	Sees   bool           // the case in which the acts were done
	Mends  bool           // may have what has failed tried again
	Over   []*Trouble     // what they were told of, and what is over with what this notice tells
	Zone   *time.Location // in which the person is told times; nil: UTC

	// Lent are those of the tasks that they have as a deputy, and for whom.
	Lent map[machine.TaskRef]string

	// Together says that the same event has another notice of something wrong for them: both
	// go in one mail.
	Together bool
}

// text returns a text with its instants as the person reads them.
func (p *Person) text(text string) string { return machine.WithInstants(text, p.When) }

// When writes an instant as the person reads it: "2012-11-09 13:34 Europe/Berlin".
// The form is that of no language.
func (p *Person) When(t time.Time) string {
	zone := time.UTC
	if p.Zone != nil {
		zone = p.Zone
	}
	return clock.Minute(t, zone)
}
