package engine

import (
	"errors"
	"fmt"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// A person who keeps one file for the requests that they make saves it again with other
// words, and means another case. The name is that of the case which it has started, so that
// this one is changed, or the save is refused: both say which case it is.

// isStartDocument reports whether a document is one that starts a case: it names a route,
// and nothing that only a case which is there has.
func isStartDocument(node *document.Node) bool {
	if node.Get("route") == nil && node.Get("routeId") == nil {
		return false
	}
	for _, key := range [...]string{"id", "guid", "state", "status", fieldComment} {
		if node.Get(key) != nil {
			return false
		}
	}
	return true
}

// saysItIsACase adds to a refusal of a start document that its file is a case, and what to do
// to start another.
func saysItIsACase(c *machine.Case, refusal error) error {
	e, is := errors.AsType[*errs.Error](refusal)
	if !is || e.Kind != errs.NotAllowed && e.Kind != errs.ReadOnly {
		return refusal
	}
	said := *e
	if c.Life.Ended() {
		said.Detail += fmt.Sprintf(" This file is case %d already, which has ended in %q. For another case, save it under another name.", c.ID, c.Status)
	} else {
		said.Detail += fmt.Sprintf(" This file is case %d already, which is in %q. For another case, save it under another name. To give this one up, delete the file: that cancels the case.", c.ID, c.Status)
	}
	return &said
}

// fields names what the edit changes, as the document has it.
func (ed *edit) fields() (names []string) {
	for _, f := range []struct {
		name    string
		changes bool
	}{
		{"title", ed.Title != nil},
		{"priority", ed.Priority != nil},
		{"context", ed.ContextID != nil},
		{"roles", ed.Roles != nil},
		{"stakeholders", ed.Stakeholders != nil},
		{"xattrDict", ed.Xattrs != nil},
		{"links", ed.Relations != nil},
		{"startAt", ed.StartAt != nil},
	} {
		if f.changes {
			names = append(names, f.name)
		}
	}
	return names
}
