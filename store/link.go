package store

// CaseLink is a relation of one case to another.
type CaseLink struct {
	CaseID   int64
	Relation string
	Target   int64
}

// LinkReader reads the relations between cases.
type LinkReader interface {
	// Linked returns the relations of other cases to a case, by relation and
	// case.
	Linked(target int64) ([]CaseLink, error)
}

// LinkWriter writes the relations between cases.
type LinkWriter interface {
	PutLinks(caseID int64, links []CaseLink) error // replaces all of that case
}
