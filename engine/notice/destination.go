package notice

import (
	"slices"

	"flowdrive/internal/identity"
)

// Destination is a service that is told of notices, beside the mails that people
// get.
type Destination struct {
	ID     string   // stays the same as long as the service has the same address
	Name   string   // for people: "slack at hooks.slack.com", without what is secret
	Kinds  []Kind   // of notices that it is told of; none: all
	Routes []string // whose notices it is told of; none: all
	Least  Severity // of notices that it is told of; "": all. That something is mended is told in any case.
}

// Wants reports whether the destination is told of the notice.
func (d *Destination) Wants(n *Notice) bool {
	if len(d.Kinds) > 0 && !slices.Contains(d.Kinds, n.Kind) {
		return false
	}
	if len(d.Routes) > 0 && !slices.ContainsFunc(d.Routes, func(route string) bool { return identity.Fold(route) == identity.Fold(n.route()) }) {
		return false
	}
	return n.Kind == KindMended || n.Kind.Severity().rank() >= d.Least.rank()
}

// route returns the name of the route that the notice is about, "" for none.
func (n *Notice) route() string {
	switch {
	case n.Case != nil:
		return n.Case.RouteName
	case n.Entry != nil:
		return n.Entry.Route
	case n.Hook != nil:
		return n.Hook.Route
	case n.Hold != nil:
		return n.Hold.Route
	}
	return ""
}

// Severities returns all severities, from the least.
func Severities() []Severity { return []Severity{Info, Warning, Serious} }

// rank returns how much a severity matters among others.
func (s Severity) rank() int { return max(0, slices.Index(Severities(), s)) }
