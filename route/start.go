package route

import (
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// NewCase is an independent case that a step starts. The case that starts it
// keeps no link to it (docs/contract/routes.md#starting-a-case).
type NewCase struct {
	Route   string
	Title   Value     // null: the route's
	Xattrs  []Setting // over those that it inherits
	Roles   []NewRole
	Input   string // label of the message that is its input, "" for an empty one
	Inherit bool   // the XATTRs
}

// NewRole fills a role of a new case.
type NewRole struct {
	Role    string // of the new case's route
	Parties []Recipient
}

func (c *compiler) start(v document.Value) *NewCase {
	s := &NewCase{Title: c.value(v.Get("title"))}
	if name, ok := str(v.Get("route")); ok {
		at := v.Get("route")
		if written := labelIn(name); written != "" && !c.stored {
			at.Fail(errs.CodeFormat, "names a route as it is called: %s is not replaced here", written)
		}
		name = c.meant.Route(name)
		s.Route = name
		c.route.started = append(c.route.started, Party{Name: name, Pointer: at.Pointer, Line: at.Node.Line, Column: at.Node.Column})
	}
	s.Input = c.from(v.Get("input"))
	if inherit := v.Get("inherit"); isKind(inherit, document.Bool) {
		s.Inherit = inherit.Node.Bool
	}
	if dict := v.Get("xattrDict"); isKind(dict, document.Object) {
		for i := range dict.Node.Members {
			name, member := dict.Member(i)
			key, err := label.NormalizeKey(name)
			if err != nil {
				c.faults.AddKey(&dict.Node.Members[i], member.Pointer, errs.CodeFormat, "%s", err)
				continue
			}
			s.Xattrs = append(s.Xattrs, Setting{Key: key, Value: c.value(member)})
		}
	}
	if roles := v.Get("roles"); isKind(roles, document.Object) {
		for i := range roles.Node.Members {
			name, member := roles.Member(i)
			s.Roles = append(s.Roles, NewRole{Role: name, Parties: c.recipients(member)})
		}
	}
	if !c.stored {
		c.starts = append(c.starts, newCase{v, s})
	}
	return s
}

// labelIn returns the first label of a text, as it is written, "" for none.
func labelIn(text string) string {
	if all := label.References(text); len(all) > 0 {
		return all[0].Written
	}
	start, end := label.ScanMessage(text)
	return text[start:end]
}

// Started returns the routes that steps start cases of, in the order of the
// document. The caller checks that they exist.
func (r *Route) Started() []Party { return r.started }
