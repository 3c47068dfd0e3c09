package store

import "flowdrive/internal/identity"

// Alias is the name under which the author of a dropped file finds it in the
// folder of its route, while the case that it has started is open or has failed
// (docs/contract/drive.md#dropped-files). It stands for the case's input.
type Alias struct {
	ID      int64 // set if an alias is read; in the order of the first use of the names
	Author  identity.ID
	RouteID int64
	Name    string // compared folded
	CaseID  int64
	Open    bool    // set if an alias is read: its case is open, else it has failed
	Input   Message // set if an alias is read, without Content in a list
}

// AliasReader reads aliases of cases that are open or have failed.
type AliasReader interface {
	Alias(author identity.ID, routeID int64, name string) (*Alias, error)
	Aliases(author identity.ID, routeID int64) ([]Alias, error) // by first use of the name
}

// AliasWriter writes aliases.
type AliasWriter interface {
	// PutAlias stores an alias, by author, route and folded name: one of that
	// name that was there stands for the new case from then on. It can be
	// read while the case is open or has failed, until that is archived.
	PutAlias(a *Alias) error
	DeleteAlias(author identity.ID, routeID int64, name string) error
}
