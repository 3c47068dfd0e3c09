package store

import (
	"time"

	"flowdrive/internal/identity"
)

// FolderRoutes is Routes/, of whose documents a history is kept as well.
const FolderRoutes Folder = "routes"

// Folder says in which folder of the drive a name was given.
type Folder string

// The folders that keep given names.
const (
	FolderSchedule Folder = "schedule"
	FolderCases    Folder = "cases"
)

// GivenName is a name that a user gave a resource, with the bytes that were
// stored under it.
type GivenName struct {
	Folder   Folder
	Author   identity.ID
	Name     string // compared folded
	Entry    UUID   // in FolderSchedule
	CaseID   int64  // in FolderCases
	Source   []byte
	Size     int64  // of Source, also if that is left out
	ETag     string // of Source
	Modified time.Time
}

// NameReader reads given names.
type NameReader interface {
	Get(folder Folder, author identity.ID, name string) (*GivenName, error)
	Of(folder Folder, entry UUID, caseID int64) (*GivenName, error)
	// List returns the names, without Source, of the resources whose
	// entries or cases are given; in no particular order.
	List(folder Folder, entries []UUID, cases []int64) ([]GivenName, error)
	AliasReader
}

// NameWriter writes given names.
type NameWriter interface {
	Put(n *GivenName) error // by folder, author and folded name
	Delete(folder Folder, author identity.ID, name string) error
	AliasWriter
}
