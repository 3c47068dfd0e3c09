package schedule

import (
	"slices"

	"flowdrive/internal/document"
)

// Source returns a document that says what the entry does: its complete form
// without what only the server sets
// (docs/contract/drive.md#source-document-and-complete-form).
func Source(e *Entry) []byte {
	n, err := document.ParseJSON(e.Form())
	if err != nil { // the form is ours
		return e.Form()
	}
	readOnly := []string{
		"UUID", "interval", "nextIteration", "next", "iterationsPerformed", "iterationsRemaining", "description", "warnings", "upcoming",
		"lastIteration", "lastCase", "lastError", "created", "modified",
	}
	n.Members = slices.DeleteFunc(n.Members, func(m document.Member) bool { return slices.Contains(readOnly, m.Key) })
	return document.Indent(append(n.AppendJSON(nil), '\n'))
}
