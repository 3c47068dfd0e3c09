package store

// MeaningKind says of what a name in a route is the name.
type MeaningKind string

// The kinds of meanings.
const (
	PartyMeant MeaningKind = "party"
	RouteMeant MeaningKind = "route"
)

// Meaning is what a name in the texts of a route means, up to a version of it.
type Meaning struct {
	RouteID int64
	Kind    MeaningKind
	Folded  string // the name, in lower case
	Upto    int64  // the last version whose text means that
	MeantID int64
	Name    string // what it is called now, "": it was deleted; set by the store
}

// MeaningReader reads what names in routes mean.
type MeaningReader interface {
	Meanings(route, version int64) ([]Meaning, error) // of a version
}

// MeaningWriter writes what names in routes mean.
type MeaningWriter interface {
	PutMeaning(m *Meaning) error // inserts or replaces
	// ReplaceMeant lets all names that mean one party mean another.
	ReplaceMeant(kind MeaningKind, from, to int64) error
}
