package machine

import (
	"time"

	"flowdrive/internal/label"
)

// Actor is the user who makes a request, with what decides on their rights.
type Actor struct {
	Name       string
	Contexts   []string // names: the user, their teams transitively, everyone
	RouteAdmin bool     // whether the user administers the case's route
	DeputyFor  []Absent // whose active deputy the user is, by name
}

// Absent is a user whose deputy an actor is.
type Absent struct {
	Name     string
	Contexts []string // as those of Actor
}

// Event is what happens to a case. Each kind is a type of its own.
type Event interface{ event() }

type (
	// Create makes a queued case of Input.Case, the seed. It has the identity,
	// route, title, context, starter and priority of the case, the XATTRs, roles
	// and stakeholders that were given, and the schedule entry, if any.
	Create struct {
		Warnings []string // for the log: what the caller noticed, such as unknown labels
		MayLack  bool     // if a required XATTR is missing, the case is a draft
		By       *Case    // the case with the step that starts this one; nil: no step does
	}

	// Start performs the init action of a queued case.
	Start struct{}

	// Perform performs an enabled action for a person, who names the action or its
	// type.
	Perform struct {
		Action     string
		Actor      Actor
		Comment    string
		Resolution string
		Xattrs     []Change // merged into the case's
	}

	// Skip has an offered action count as performed without its steps. As with
	// Abort and Retry, only administrators of the route may.
	Skip struct {
		Action  string
		Actor   Actor
		Comment string
		Output  string // of an action that decides
	}

	// Abort ends an enablement without a performance and takes the action out of
	// this visit.
	Abort struct {
		Action  string
		Actor   Actor
		Comment string
	}

	// Retry has the engine try again to perform what was escalated.
	Retry struct {
		Action  string
		Actor   Actor
		Comment string
	}

	// RetryAll has everything tried again that has failed in the case.
	RetryAll struct {
		Actor     Actor
		Corrected bool // the starter has given the case another input, for which they need not administer the route
	}

	// Due does what is due. If nothing is, nothing happens.
	Due struct{}

	// Cancel cancels the case.
	Cancel struct {
		Actor   Actor
		Comment string
	}

	// Suspend suspends an active case: its tasks are on no worklist, and nothing
	// happens to it by itself until it resumes. If the case is suspended already,
	// Suspend changes the date.
	Suspend struct {
		Actor   Actor
		Comment string
		Until   time.Time // when it resumes by itself; zero: never
	}

	// Resume ends the suspension of a case.
	Resume struct {
		Actor   Actor
		Comment string
	}

	// Reopen takes up a canceled case again, or has one that could not start
	// queued again. The caller has checked that the actor administers the route.
	Reopen struct {
		Actor   Actor
		Comment string
		Version int64 // of Input.Route, for a case that could not start; 0: its own version
	}

	// Edit changes fields of the case; nil leaves a field as it is. The caller has
	// checked the rights.
	Edit struct {
		Actor        Actor
		Title        *string
		Priority     *int
		ContextID    *int64 // with Context
		Context      string
		Roles        *[]Players
		Stakeholders *[]string
		Xattrs       *label.Dict // replaces all
		Relations    []RelationChange
		StartAt      *time.Time // of a case that has not started; zero: as soon as it can be
		Remark       string     // what the actor says about the case
	}

	// Wake says that a message was written. Guards and message actions are
	// evaluated again.
	Wake struct {
		Actor Actor
		Label string
		Wrote *Writing // how it was written; nil: that is not told
	}

	// NoteFile says in the log what a person has done with a file of the case. Nothing
	// follows from it.
	NoteFile struct {
		Actor Actor
		Text  string
	}
)

// Writing is how a message was written.
type Writing struct {
	Size int64  // in bytes
	Over bool   // it took the place of another one
	Hook string // the hook that has delivered it; "": the actor has written it
}

func (Create) event()   {}
func (Start) event()    {}
func (Perform) event()  {}
func (Skip) event()     {}
func (Abort) event()    {}
func (Retry) event()    {}
func (RetryAll) event() {}
func (Due) event()      {}
func (Cancel) event()   {}
func (Suspend) event()  {}
func (Resume) event()   {}
func (Reopen) event()   {}
func (Edit) event()     {}
func (Wake) event()     {}
func (NoteFile) event() {}

// Change sets an XATTR, or removes it.
type Change struct {
	Key    string // normalised
	Value  label.Value
	Remove bool
}
