package schedule

import (
	"maps"
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
	dropReadOnly(n)
	return document.Indent(append(n.AppendJSON(nil), '\n'))
}

// EditSource returns a complete form without what only the server sets and with other fields:
// those of drop are removed, and those of set, in JSON, take the place of what is there.
func EditSource(form []byte, drop []string, set map[string][]byte) ([]byte, error) {
	n, err := document.ParseJSON(form)
	if err != nil {
		return nil, err
	}
	dropReadOnly(n)
	n.Members = slices.DeleteFunc(n.Members, func(m document.Member) bool { return slices.Contains(drop, m.Key) })
	for _, key := range slices.Sorted(maps.Keys(set)) {
		value, err := document.ParseJSON(set[key])
		if err != nil {
			return nil, err
		}
		if i := n.Index(key); i >= 0 {
			n.Members[i].Value = value
		} else {
			n.Members = append(n.Members, document.Member{Key: key, Value: value})
		}
	}
	return document.Indent(append(n.AppendJSON(nil), '\n')), nil
}

// dropReadOnly removes from a complete form what only the server sets.
func dropReadOnly(form *document.Node) {
	readOnly := []string{
		"UUID", "interval", "nextIteration", "next", "iterationsPerformed", "iterationsRemaining", "description", "warnings", "upcoming",
		"lastIteration", "lastCase", "lastError", "created", "modified",
	}
	form.Members = slices.DeleteFunc(form.Members, func(m document.Member) bool { return slices.Contains(readOnly, m.Key) })
}
