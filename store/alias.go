package store

import "flowdrive/internal/identity"

// Alias is the name under which the author of a dropped file finds it in the
// folder of its route, while the case that it has started is open
// (docs/contract/drive.md#dropped-files). It stands for the case's input.
type Alias struct {
	Author  identity.ID
	RouteID int64
	Name    string // compared folded
	CaseID  int64
	Input   Message // set if an alias is read, without Content in a list
}

// AliasReader reads aliases of open cases.
type AliasReader interface {
	Alias(author identity.ID, routeID int64, name string) (*Alias, error)
	Aliases(author identity.ID, routeID int64) ([]Alias, error) // by first use of the name
}

// AliasWriter writes aliases.
type AliasWriter interface {
	// PutAlias stores an alias, by author, route and folded name: one of that
	// name that was there stands for the new case from then on. It can be
	// read while the case is open.
	PutAlias(a *Alias) error
	DeleteAlias(author identity.ID, routeID int64, name string) error
}
