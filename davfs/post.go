package davfs

import (
	"fmt"
	"slices"
	"strconv"

	"flowdrive/davfs/dav"
)

// poster is a node that takes POST, for clients that know no other way to make
// something or to have it done (docs/contract/drive.md#post).
type poster interface {
	node
	// putsAt returns the name of the member that the POST is a PUT of, "" for the
	// node itself.
	putsAt() string
}

func (casesFolder) putsAt() string    { return newName }
func (scheduleFolder) putsAt() string { return newName }
func (actionFile) putsAt() string     { return "" }

// newName is the name of a document that is not kept: each PUT of it makes another
// resource.
const newName = "new.json"

// post answers POST as the PUT that it stands for. No drive is mounted by a client
// that sends it, so that it is taken at its word, as a script.
func (d *drive) post(x *request) (*answer, error) {
	n, err := x.place()
	if err != nil {
		return nil, err
	}
	target, ok := n.(poster)
	if !ok {
		return nil, x.notAllowed(n)
	}
	x.script, x.writes = true, true
	if name := target.putsAt(); name != "" {
		if _, err := n.stat(x.r.Context()); err != nil {
			return nil, err
		}
		x.at = addressOf(append(slices.Clone(x.at.Segments), name))
	}
	return d.put(x)
}

// postHint says what to do instead at a place that clients of other systems POST to, "" if
// there is nothing that they could mean.
func postHint(n node) string {
	const perform = "To perform an action, POST to /dav/Workflow/Cases/%s/Actions/<action>.json."
	switch n := n.(type) {
	case routesFolder:
		return "To store a route, PUT its document to Routes/<name>.yaml; to start a case, POST its document to Cases/."
	case dropFolder:
		return fmt.Sprintf("To start a case with a file, PUT it to %s<name>; to start one with a document, POST that to /dav/Workflow/Cases/.", dav.Href("dav", "Workflow", "Routes", n.route)+"/")
	case attachFolder:
		return "To store an attachment, PUT it to /attachfs/<name>."
	case caseAttachments:
		return fmt.Sprintf("To attach a file to the case, PUT it to /attachfs/%d/<name>.", n.id)
	case caseFiles:
		return fmt.Sprintf("To attach a file to the case, PUT it to /dav/Workflow/Cases/%d/Files/<name>.", n.id)
	case worklistFolder:
		return "To perform a task, POST to its file here. " + fmt.Sprintf(perform, "<id>")
	case caseFile:
		return "To change the case, PUT to this address. " + fmt.Sprintf(perform, "<id>")
	case caseFolder:
		return fmt.Sprintf(perform, strconv.FormatInt(n.id, 10))
	case actionsFolder:
		return fmt.Sprintf(perform, strconv.FormatInt(n.id, 10))
	}
	return ""
}
