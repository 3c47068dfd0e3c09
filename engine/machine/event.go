package machine

import (
	"time"

	"flowdrive/internal/label"
)

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
