// Package outbox has what is to be done outside the server: it delivers what is due,
// in lanes that several deliveries share, tries again what has failed, and gives the
// answers to the cases. It says what can be reached outside. In a sandbox it records
// what would be delivered.
package outbox

import (
	"context"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// Outside is the world beyond the server: the destination of mails, calls of
// services and commands. It is used after the commit of the change that asks
// for them, at least once, and never delays a case
// (docs/contract/routes.md#reaching-outside).
type Outside interface {
	// Deliver makes one delivery, within ctx. It returns the answer, or nil for
	// none. If it returns an error, NextAttempt says if the delivery is tried
	// again: a *Final says that this mends nothing, a *Later when, and a *Failed
	// how it failed.
	Deliver(ctx context.Context, d *Delivery) (*Reply, error)

	// These return the detail of a fault, for the author of a route, if a step
	// would be refused now; else "".
	RefusesURL(url string) string
	RefusesAddress(address string) string // an e-mail address that is not a user's
	RefusesCommand(name string) string
	// RefusesSecret says it of a secret that an author uses so: one of the kinds
	// route.ReachSecret…. Without an author it is the settings that use it.
	RefusesSecret(by *Author, use route.ReachKind, name string) string
}

// Author is who answers for the secrets that a route or an entry uses.
type Author struct {
	Route string // "" for an entry
	Admin bool   // administers the server
	Older bool   // who it is is not known: the case has an older version of its route
	// In reports whether the author is one of those users, or a member of one of those
	// teams.
	In func(names []identity.Name) bool
}

// Rehearser is an Outside that can say, in a sandbox, what would become of a
// delivery, which is then not recorded but takes place.
type Rehearser interface {
	// Rehearse returns what Deliver would, or false if it cannot say.
	Rehearse(d *Delivery) (reply *Reply, err error, known bool)
}

// Delivery is one piece of work outside; one of its pointers is set. Callbacks
// are not the outside's: it never gets one.
type Delivery struct {
	Case    int64        // that it is about; 0 for none
	Key     string       // idempotency key: the same at every attempt, and no other delivery's
	Attempt int          // 1, 2, …
	By      *Author      // of the route whose step asks for it; nil: the server itself does, or no secret is used
	Wrote   func(Output) // is told what a command has written so far, about every second and at its end; nil: nobody is
	Mail    *Mail
	HTTP    *HTTPCall
	Exec    *Command
	Call    *Callback
	News    *Bulletin
}

// What is to be done outside is decided by the core.
type (
	// Mail is a mail to be sent to each of its addresses.
	Mail = machine.Mail
	// HTTPCall is a request to a service.
	HTTPCall = machine.HTTPCall
	// Command is a command that an administrator allowed by its name.
	Command = machine.Command
	// Callback is a function that the program which embeds the engine has
	// registered by its name.
	Callback = machine.Callback
	// Bulletin is what a destination of notices is told.
	Bulletin = machine.Bulletin
)

// Output is what a command has written, the end of it.
type Output struct{ Stdout, Stderr []byte }

// Bounds on what is kept of the output of a command.
const (
	MostKept = 64 << 10 // bytes of each stream, as messages of the case; also of the answer of a service that failed
	MostTold = 2000     // bytes that people are told when it has failed
)

// Reply is what the outside answered.
type Reply struct {
	MediaType string
	Content   []byte
}

// Final is an error that no repetition mends.
type Final struct{ Reason string }

// Error implements error.
func (f *Final) Error() string { return f.Reason }

// Later is an error after which the outside asks not to be tried again before
// a while.
type Later struct {
	After time.Duration
	Err   error
}

// Error implements error.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns the error of the attempt.
func (l *Later) Unwrap() error { return l.Err }

// Nowhere is the outside of a server that was given none: nothing leaves it.
type Nowhere struct{}

// Deliver implements Outside.
func (Nowhere) Deliver(context.Context, *Delivery) (*Reply, error) {
	return nil, &Final{"this server is not set up to reach others"}
}

// RefusesURL implements Outside.
func (Nowhere) RefusesURL(string) string {
	return "leads to a host that the administrator has not allowed"
}

// RefusesAddress implements Outside.
func (Nowhere) RefusesAddress(string) string {
	return "is neither a user's address nor in a domain that the administrator has allowed"
}

// RefusesCommand implements Outside.
func (Nowhere) RefusesCommand(string) string {
	return "is not a command that the administrator has allowed"
}

// RefusesSecret implements Outside.
func (Nowhere) RefusesSecret(*Author, route.ReachKind, string) string {
	return "is not a secret that the administrator has set"
}
