package store

import (
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
)

// TaskShare says that a party may have tasks in a case, and on which lists;
// the party 0 are the administrators of its route.
type TaskShare struct {
	Party identity.ID
	Lists machine.Lists
}

// TaskFilter selects cases in which there may be tasks: tasks of one of the
// parties, or of the administrators of one of the routes.
type TaskFilter struct {
	Lists   machine.Lists
	Parties []identity.ID
	Routes  []int64
	After   int64   // ID
	Limit   int     // 0: all
	Among   []int64 // these cases alone, for TaskRevisions; nil: all
}

// CaseRevision is a case and its revision.
type CaseRevision struct{ ID, Revision int64 }

// TaskReader reads who has tasks.
type TaskReader interface {
	TaskRevisions(f TaskFilter) ([]CaseRevision, error) // of the cases of WithTasks, by ID
	WithMarkings(ids []int64) ([]Case, error)           // those of the ids that there are, as WithTasks does
	WithTasks(f TaskFilter) ([]Case, error)             // by ID; with Marking, without Form, Access and Tasks
	// HasTasks reports whether one of the parties may have tasks in the case. Those that
	// a party only watches do not count.
	HasTasks(caseID int64, parties []identity.ID) (bool, error)
	SeenAmong(ids []int64, parties []identity.ID) (seen []int64, err error) // those of the cases that one of the parties sees
	// UpcomingTasks returns cases that are due and in which one of the parties
	// may have tasks on the lists, the earliest first. If there are very many
	// cases, it looks at the newest only.
	UpcomingTasks(lists machine.Lists, parties []identity.ID, limit int) ([]Case, error)
}
