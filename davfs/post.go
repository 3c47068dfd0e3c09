package davfs

import (
	"slices"
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
