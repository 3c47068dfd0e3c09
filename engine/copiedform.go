package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
)

// Who copies the document of a case to start one like it may believe that the copy is that
// case, or that it begins where that one is
// (docs/contract/drive.md#the-document-of-another-case).

// startFields are the fields of a case's complete form that a start document can have too.
func startFields() []string {
	return []string{
		"route", "routeId", "title", "contextId", "context", "priority", "roles", "stakeholders", "xattrDict", "links", "startAt",
	}
}

// mostPassedOver bounds the fields that a warning names.
const mostPassedOver = 4

// passedOver warns of the fields of a start document that say what another case is or was;
// nil if it has none.
func passedOver(node *document.Node, c *machine.Case) []string {
	root := document.Root(node, new(document.Faults))
	var fields []string
	for _, name := range caseFields() {
		if !slices.Contains(startFields(), name) && root.Get(name).Given() {
			fields = append(fields, name)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	named := strings.Join(fields, ", ")
	if more := len(fields) - mostPassedOver; more > 1 {
		named = fmt.Sprintf("%s and %d more", strings.Join(fields[:mostPassedOver], ", "), more)
	}
	text := fmt.Sprintf("/%s: this has made a new case, %d, which begins as its route says: %s of the document have no effect in a start.", fields[0], c.ID, named)
	if len(fields) == 1 {
		text = strings.Replace(text, " of the document have ", " of the document has ", 1)
	}
	if id, ok := root.Get("id").Int(1, 1<<53-1); ok && fields[0] == "id" {
		text += fmt.Sprintf(" To change case %d, save Cases/%d.json.", id, id)
	}
	return []string{text}
}

// formAsInput warns of a dropped file that is the complete form of a case: in a drop folder
// it is the input of another one.
func formAsInput(content []byte, c *machine.Case) []string {
	var form struct {
		ID           int64
		GUID         string
		RouteVersion int64
	}
	if json.Unmarshal(content, &form) != nil || form.ID == 0 || form.GUID == "" || form.RouteVersion == 0 {
		return nil // an input like any other
	}
	return []string{fmt.Sprintf("/id: this is the document of case %d, and was taken as the input of a new case, %d. To start a case with the fields of the document, save it in Cases/ under a new name; to change case %d, save Cases/%d.json.", form.ID, c.ID, form.ID, form.ID)}
}
