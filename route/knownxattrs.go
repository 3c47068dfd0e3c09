package route

import (
	"regexp"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// appendSet appends the keys of XATTRs that the route declares or that its steps set.
func (r *Route) appendSet(keys []string) []string {
	for i := range r.Xattrs {
		keys = append(keys, r.Xattrs[i].Key)
	}
	r.hasStep(func(s *Step) bool {
		for _, setting := range s.Set {
			keys = append(keys, setting.Key)
		}
		if s.Search != nil {
			keys = append(keys, s.Search.Set)
		}
		return false // look at all of them
	})
	return keys
}

// Unknown returns those of the keys that stand nowhere in the route, and all that do stand
// there as keys that a case can be given. A route that has none of these takes any XATTR:
// of it nothing is unknown.
func (r *Route) Unknown(keys []string) (unknown, known []string) {
	known = r.appendSet(nil)
	for i := range r.Actions {
		if form := r.Actions[i].Form; form != nil {
			if schema, err := document.ParseJSON(form.source); err == nil {
				known = appendAsked(known, schema)
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if len(known) == 0 {
		return nil, nil
	}
	for _, key := range keys {
		if !slices.Contains(known, key) && !slices.Contains(r.mentioned, key) {
			unknown = append(unknown, key)
		}
	}
	return unknown, known
}

// mentions finds the keys of XATTRs in expressions, labels, filters and names of recipients.
var mentions = regexp.MustCompile(`(?i)xattr(?:[.:_]|\[\s*["'])([^\s"'\]();,.?&|=<>!+*/]+)|["']([^"']+)["']\s+in\s+xattr`)

// mentionedXattrs returns the keys of XATTRs that the texts of a document name, in order.
func mentionedXattrs(n *document.Node) (keys []string) {
	var look func(n *document.Node)
	look = func(n *document.Node) {
		if n == nil {
			return
		}
		if n.Kind == document.String && (strings.Contains(n.Text, "xattr") || strings.Contains(n.Text, "XATTR")) {
			for _, m := range mentions.FindAllStringSubmatch(n.Text, -1) {
				if key, err := label.NormalizeKey(strings.TrimSuffix(m[1]+m[2], "__")); err == nil {
					keys = append(keys, key)
				}
			}
		}
		for i := range n.Members {
			look(n.Members[i].Value)
		}
		for _, item := range n.Items {
			look(item)
		}
	}
	look(n)
	slices.Sort(keys)
	return slices.Compact(keys)
}
