package sqlite

import (
	"errors"

	"github.com/mattn/go-sqlite3"

	"flowdrive/store/relational"
)

// DamagedStructure is what a Fault says of the structure of a database.
const DamagedStructure = "the structure is damaged"

// Fault is something in a database that is not as it should be.
type Fault = relational.Fault

const checkReferences = `SELECT "table" || ' ' || coalesce(rowid, '') FROM pragma_foreign_key_check`

const checkIntegrity = `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`

// Check calls f for each fault in the structure of the database, and if that is
// whole, for each rule between its rows that is broken. It returns f's error.
func (s *Source) Check(f func(Fault) error) error { return check(s.Source, f) }

func check(s *relational.Source, f func(Fault) error) error {
	broken := 0
	err := s.Find(DamagedStructure, checkIntegrity, func(fault Fault) error {
		broken++
		return f(fault)
	})
	if err == nil && broken == 0 {
		err = s.Find("a reference to nothing", checkReferences, f)
	}
	if err != nil || broken > 0 {
		return failure("check the database", err)
	}
	return s.Check(f)
}

// IsDamaged reports whether an error says that a database is damaged, or that a
// file is not a database at all.
func IsDamaged(err error) bool {
	primary, _ := code(err)
	return primary == sqlite3.ErrCorrupt || primary == sqlite3.ErrNotADB
}

// Cause returns what the database itself says of an error, without what is told to
// clients.
func Cause(err error) string {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return e.Error()
	}
	return err.Error()
}
