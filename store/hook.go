package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Hook is an address that needs no log-in, by which others start cases of a route
// or write messages of them (docs/contract/drive.md#hooks).
type Hook struct {
	ID       int64 // order of creation, set by the store
	RouteID  int64
	Name     string
	Author   identity.ID // the user as whom it acts
	SHA256   Digest      // of the token
	Settings []byte      // JSON
	Fault    string      // why it does not work, "" if it does
	Revision int64
	Created  time.Time
	Modified time.Time
}

// HookReader reads hooks.
type HookReader interface {
	Get(route int64, name string) (*Hook, error) // in any case
	ByToken(sum Digest) (*Hook, error)
	ByID(id int64) (*Hook, error)
	OfRoute(route int64) ([]Hook, error) // by ID
}

// HookWriter writes hooks.
type HookWriter interface {
	// Put stores a new hook and sets its ID, or changes the one with that ID. It
	// returns errs.NameTaken if the route has one of that name, in any case.
	Put(h *Hook) error
	Delete(id int64) error
}
