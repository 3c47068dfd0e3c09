package route

import "strings"

// Meant says whom and what names of a document mean that are not, or no longer,
// the names of those: users, teams and routes that were renamed, deleted, or
// handed over to others since it was stored (docs/contract/routes.md#names-in-a-route).
// By name in lower case; "" is what was deleted.
type Meant struct {
	Parties map[string]string
	Routes  map[string]string
}

// deleted is before the name of what was deleted. No name begins so.
const deleted = "-"

// Party returns the name of the user or team that the name of one means.
func (m Meant) Party(name string) string { return meaning(m.Parties, name) }

// Route returns the name of the route that the name of one means.
func (m Meant) Route(name string) string { return meaning(m.Routes, name) }

func meaning(names map[string]string, name string) string {
	now, other := names[strings.ToLower(name)]
	switch {
	case !other:
		return name
	case now == "":
		return deleted + name
	}
	return now
}

// Deleted returns the name of a user, team or route that a document names and that
// was deleted, as it was; ok is false for all other names.
func Deleted(name string) (was string, ok bool) { return strings.CutPrefix(name, deleted) }
