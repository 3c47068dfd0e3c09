package engine

import (
	"flowdrive/engine/calendar"
	"flowdrive/engine/files"
	"flowdrive/engine/scratch"
)

// The parts of the engine. Each has what all share, and the parts that it uses.

// Attachments has the use cases of attachments.
type Attachments struct{ *base }

// History has the source documents that were overwritten or deleted.
type History struct{ *base }

// Holds has the use cases of holds, which keep cases queued.
type Holds struct{ *base }

// decider has the state machine decide what an event does to a case, and writes
// it.
type decider struct{ *base }

// Cases has the use cases of cases, their tasks, timers and messages.
type Cases struct {
	*base
	attachments *Attachments
	files       *files.Files
	decider     *decider
	facts       caseFacts
}

// Worklists has the use cases of the lists of tasks, across cases.
type Worklists struct {
	*base
	cases     *Cases
	taskCases taskCases
}

// Archive deletes cases, and keeps those that have ended.
type Archive struct {
	*base
	cases   *Cases
	decider *decider
}

// Drops has the use cases of files that are put into the folder of a route and
// start a case there.
type Drops struct {
	*base
	attachments *Attachments
	decider     *decider
	cases       *Cases
}

// Schedules has the use cases of schedule entries, and fires them.
type Schedules struct {
	*base
	calendars   *calendar.Calendars
	attachments *Attachments
	files       *files.Files
	decider     *decider
}

// deliveries gives the cases what became of what their steps wanted done outside the
// server.
type deliveries struct {
	*base
	decider *decider
}

// Routes has the use cases of routes.
type Routes struct {
	*base
	schedules *Schedules
	decider   *decider
}

// Scenarios has the use cases of the scenarios beside routes.
type Scenarios struct{ *base }

// Locks has the use cases of locks, on whatever can be locked.
type Locks struct {
	*base
	cases     *Cases
	drops     *Drops
	files     *files.Files
	scratch   *scratch.Area
	schedules *Schedules
	decider   *decider

	attachments *Attachments
	hooks       *Hooks
}
