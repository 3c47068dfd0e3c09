package store

import "time"

// Hold keeps matching cases queued while it exists: those of a route, those of
// a group, or all. What has started goes on (docs/contract/drive.md#hold).
type Hold struct {
	ID       int64 // order of creation, set by the store
	Name     string
	Route    string // "" for none; it is held by its name
	Group    string // "" for none
	Engine   bool
	Reason   string
	Author   string
	Revision int64
	Created  time.Time
	Modified time.Time
}

// HoldReader reads holds.
type HoldReader interface {
	Holds() ([]Hold, error) // by ID
}

// HoldWriter writes holds.
type HoldWriter interface {
	// PutHold stores a new hold and sets its ID, or changes the one with that
	// ID. It returns errs.NameTaken if the name is in use, in any case.
	PutHold(h *Hold) error
	DeleteHold(id int64) error
}
