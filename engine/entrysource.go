package engine

import (
	"strconv"
	"strings"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
	"flowdrive/store"
)

// What the author of a schedule entry has saved under its given name says the names of
// users, teams, routes and documents. If one of them is renamed, or handed over, the
// source follows: it could not be saved again otherwise
// (docs/contract/drive.md#source-document-and-complete-form).

// renamed is what had another name before.
type renamed struct {
	keys []string // the fields of an entry that can name it
	name string   // the old name, of which paths consist
	id   int64    // the old id, 0 if it is the same
}

// partyRenamed is a user or team that is renamed, or handed over to another one.
func partyRenamed(from, to *store.Party) renamed {
	r := renamed{keys: []string{"context", "document", "excludeCalendar"}, name: string(from.Name)}
	if from.ID != to.ID {
		r.id = int64(from.ID)
	}
	return r
}

// routeRenamed is a route that is renamed.
func routeRenamed(old string) renamed { return renamed{keys: []string{"route"}, name: old} }

// namedIn reports whether a document names it by the old name or id.
func (r renamed) namedIn(source *document.Node) bool {
	for _, key := range r.keys {
		n := source.Get(key)
		if n == nil || n.Kind != document.String {
			continue
		}
		for part := range strings.SplitSeq(n.Text, "/") {
			if identity.Fold(part) == identity.Fold(r.name) {
				return true
			}
		}
	}
	n := source.Get("contextId")
	return r.id != 0 && n != nil && n.Text == strconv.FormatInt(r.id, 10)
}

// followInSource rewrites the source of an entry that names something by its old name:
// it becomes the complete form without the read-only fields. The old one is kept in the
// history.
func (e *base) followInSource(tx store.Tx, req change.Request, uuid store.UUID, entry *schedule.Entry, what renamed) error {
	given, err := store.OrNil(tx.Names().Of(store.FolderSchedule, uuid, 0))
	if err != nil || given == nil {
		return err
	}
	source, err := parseNamed(Ref{Name: given.Name}, given.Source)
	if err != nil || !what.namedIn(source) {
		return nil //nolint:nilerr // a source that cannot be read names nothing
	}
	was := given.ETag
	setSource(given, schedule.Source(entry), req.Now)
	return e.claimName(tx, given, was)
}
