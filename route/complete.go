package route

import (
	"slices"
	"strconv"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
)

// Meta is what the complete form shows of a route in addition to its document.
type Meta struct {
	ID       int64
	Version  int64
	Context  string // the owner's name
	Author   string // who made the route
	StoredBy string // who stored this version; "" if that is not known
	Warnings []string
	Created  time.Time
	Modified time.Time
}

// readOnly are the keys of the complete form that are not part of the
// definition (docs/contract/drive.md#route). They are ignored in documents.
func readOnly() []string {
	return []string{"id", "version", "warnings", "created", "modified", "author", "storedBy", "scenario"}
}

// defaults are the keys of a document in the order in which the complete form
// adds absent ones, with the value that stands for their absence, as JSON. ""
// means that it depends on the name or the owner.
func defaults() [][2]string {
	return [][2]string{
		{"name", ""},
		{"title", ""},
		{"description", `""`},
		{"model", `"fsm"`},
		{"context", ""},
		{"access", ""},
		{"priority", strconv.Itoa(DefaultPriority)},
		{"group", "null"},
		{"timeout", "null"},
		{"onTimeout", "[]"},
		{"retention", `"P15D"`},
		{"then", `"archive"`},
		{"output", "null"},
		{"xattrs", "{}"},
		{"messages", "{}"},
		{"timers", "{}"},
		{"roles", "{}"},
		{"states", "{}"},
		{"actions", "{}"},
		{"transitions", "[]"},
		{"sideEffects", "[]"},
		{"onError", "null"},
		{"notify", "{}"},
	}
}

// CompleteForm returns the complete form of a route: indented JSON with the
// document's keys in their order, every absent one filled in, and the fields
// that only the server knows. It is a document of the same route.
func CompleteForm(node *document.Node, r *Route, meta Meta) []byte {
	form := append(make([]byte, 0, 4096), '{')
	for _, m := range complete(node, r.Name, meta.Context) {
		form = appendKey(form, m.Key)
		form = append(m.Value.AppendJSON(form), ',')
	}
	form = strconv.AppendInt(appendKey(form, "id"), meta.ID, 10)
	form = strconv.AppendInt(appendKey(append(form, ','), "version"), meta.Version, 10)
	form = append(appendKey(append(form, ','), "warnings"), '[')
	for i, warning := range meta.Warnings {
		if i > 0 {
			form = append(form, ',')
		}
		form = document.AppendString(form, warning)
	}
	form = appendTime(appendKey(append(form, `],`...), "created"), meta.Created)
	form = appendTime(appendKey(append(form, ','), "modified"), meta.Modified)
	form = document.AppendString(appendKey(append(form, ','), "author"), meta.Author)
	form = appendKey(append(form, ','), "storedBy")
	if meta.StoredBy == "" {
		form = append(form, "null"...)
	} else {
		form = document.AppendString(form, meta.StoredBy)
	}
	return document.Indent(append(form, "}\n"...))
}

func appendKey(dst []byte, key string) []byte { return append(document.AppendString(dst, key), ':') }

func appendTime(dst []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(dst, '"'), time.RFC3339), '"')
}

// complete returns the members of a document that define the route, with absent
// ones filled in. A null is filled in at its place.
func complete(node *document.Node, name, owner string) []document.Member {
	absent := make(map[string]*document.Node)
	for _, row := range defaults() {
		absent[row[0]] = defaultOf(row, name, owner)
	}
	var out []document.Member
	if node.Index("name") < 0 {
		out = append(out, document.Member{Key: "name", Value: absent["name"]})
		delete(absent, "name")
	}
	for _, m := range members(node) {
		if slices.Contains(readOnly(), m.Key) {
			continue
		}
		switch {
		case m.Value.Kind == document.Null && absent[m.Key] != nil:
			m.Value = absent[m.Key]
		case m.Key == "access":
			m.Value = access(m.Value, owner)
		default:
			m.Value = spellDurations(m.Key, m.Value)
		}
		delete(absent, m.Key)
		out = append(out, m)
	}
	for _, row := range defaults() {
		if v := absent[row[0]]; v != nil {
			out = append(out, document.Member{Key: row[0], Value: v})
		}
	}
	return out
}

func members(n *document.Node) []document.Member {
	if n == nil {
		return nil
	}
	return n.Members
}

func given(node *document.Node, key string) bool {
	v := node.Get(key)
	return v != nil && v.Kind != document.Null
}

func defaultOf(row [2]string, name, owner string) *document.Node {
	switch row[0] {
	case "name", "title":
		return text(name)
	case "context":
		return text(owner)
	case "access":
		return access(nil, owner)
	}
	v, err := document.ParseJSON([]byte(row[1]))
	if err != nil {
		panic("route: the default of " + row[0] + " is not JSON: " + err.Error())
	}
	return v
}

// spellDurations returns the value of a key of a document in which durations
// that are numbers of seconds stand as ISO 8601 has them
// (docs/contract/drive.md#5-json-of-the-main-resources).
func spellDurations(key string, v *document.Node) *document.Node {
	switch key {
	case "timeout", "retention":
		return spellDuration(v)
	case "notify":
		return mapMembers(v, func(_ string, remind *document.Node) *document.Node { return spellDuration(remind) })
	case "timers", "states", "actions":
		return mapMembers(v, func(_ string, of *document.Node) *document.Node {
			return mapMembers(of, func(key string, v *document.Node) *document.Node {
				switch key {
				case "limit", "timeout", "offerTimeout", "dueIn":
					return spellDuration(v)
				}
				return v
			})
		})
	}
	return v
}

func spellDuration(v *document.Node) *document.Node {
	if v.Kind != document.Number {
		return v
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return v
	}
	d, ok := clock.Seconds(n)
	if !ok {
		return v
	}
	return text(d.String())
}

// mapMembers returns an object with each value replaced by value's result.
// Anything that is not an object is returned unchanged.
func mapMembers(n *document.Node, value func(key string, v *document.Node) *document.Node) *document.Node {
	if n.Kind != document.Object {
		return n
	}
	out := *n
	out.Members = slices.Clone(n.Members)
	for i := range out.Members {
		m := &out.Members[i]
		m.Value = value(m.Key, m.Value)
	}
	return &out
}

// access returns the complete form of access: who may start, read and
// administer.
func access(v *document.Node, owner string) *document.Node {
	out := &document.Node{Kind: document.Object}
	for _, key := range []string{"start", "read", "admin"} {
		list := v.Get(key)
		if !given(v, key) {
			list = &document.Node{Kind: document.List}
			if key != "admin" {
				list.Items = []*document.Node{text(owner)}
			}
		}
		out.Members = append(out.Members, document.Member{Key: key, Value: list})
	}
	return out
}

func text(s string) *document.Node { return &document.Node{Kind: document.String, Text: s} }

// SameContent reports whether two documents of one route and one owner define
// the same, so that storing the second makes no new version. An absent key
// equals its default, and what the server adds does not count. The order of
// keys and lists counts, because it is content
// (docs/contract/routes.md#order-of-definition).
func SameContent(a, b *document.Node) bool {
	name, owner := "", ""
	for _, n := range []*document.Node{a, b} {
		if given(n, "name") {
			name = n.Get("name").Text
		}
		if given(n, "context") {
			owner = n.Get("context").Text
		}
	}
	x, y := complete(a, name, owner), complete(b, name, owner)
	return sameMembers(x, y) && sameOrder(a, b)
}

// sameMembers compares the filled-in members of two documents. The order of the
// document's own keys does not count.
func sameMembers(x, y []document.Member) bool {
	byKey := func(a, b document.Member) int {
		switch {
		case a.Key < b.Key:
			return -1
		case a.Key > b.Key:
			return 1
		}
		return 0
	}
	slices.SortFunc(x, byKey)
	slices.SortFunc(y, byKey)
	return document.Equal(&document.Node{Kind: document.Object, Members: x}, &document.Node{Kind: document.Object, Members: y})
}

// sameOrder reports whether the keys that both documents have stand in the
// same order in both.
func sameOrder(a, b *document.Node) bool {
	common := func(of, other *document.Node) []string {
		return slices.DeleteFunc(keys(of), func(key string) bool {
			return slices.Contains(readOnly(), key) || !given(of, key) || !given(other, key)
		})
	}
	return slices.Equal(common(a, b), common(b, a))
}
