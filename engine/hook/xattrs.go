package hook

import (
	"bytes"
	"encoding/json"
	"mime"
	"slices"
	"strconv"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// mostPlaced is up to how many bytes of a body it is said where it is not JSON: its values are
// made for that.
const mostPlaced = 64 << 10

// mostXattrs bounds the XATTRs that a hook takes from requests, beside its headers.
const mostXattrs = 50

// Xattr is an XATTR of the cases that a hook starts, and where a request has its value.
type Xattr struct {
	Key string
	Named
}

// XattrMap is an object of them, in the order of the document.
type XattrMap []Xattr

// MarshalJSON implements json.Marshaler.
func (m XattrMap) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, x := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(document.AppendString(out, x.Key), ':')
		out = append(out, document.Line(x.Named)...)
	}
	return append(bytes.ReplaceAll(out, []byte("\n"), nil), '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler; it keeps the order.
func (m *XattrMap) UnmarshalJSON(data []byte) error {
	node, err := document.ParseJSON(data)
	if err != nil {
		return err
	}
	*m = XattrMap{}
	for _, member := range node.Members {
		x := Xattr{Key: member.Key}
		for _, at := range member.Value.Members {
			switch at.Key {
			case "header":
				x.Header = at.Value.Text
			case "query":
				x.Query = at.Value.Text
			case "json":
				x.JSON = at.Value.Text
			}
		}
		*m = append(*m, x)
	}
	return nil
}

// readXattrs reads where a request has the XATTRs of the case that it starts.
func readXattrs(v document.Value) XattrMap {
	out := XattrMap{}
	if !v.Given() || !v.Is(document.Object) {
		return out
	}
	if len(v.Node.Members) > mostXattrs {
		v.Fail(errs.CodeRange, "must not have more than %d XATTRs", mostXattrs)
		return out
	}
	for i := range v.Node.Members {
		given, member := v.Member(i)
		key, err := label.NormalizeKey(given)
		switch {
		case err != nil:
			member.Fail(errs.CodeFormat, "%v", err)
		case slices.ContainsFunc(out, func(x Xattr) bool { return x.Key == key }):
			member.Fail(errs.CodeConflict, "is the same XATTR as another one; keep one of them")
		default:
			x := Xattr{key, readNamed(member, "where a request has the value")}
			checkPublic(member.Get("header"), x.Header, "an XATTR")
			out = append(out, x)
		}
	}
	return out
}

// readNamed reads where a request has something: by exactly one of three ways.
func readNamed(v document.Value, what string) (at Named) {
	if !v.Is(document.Object) {
		return at
	}
	v.Only("header", "query", "json")
	v.Get("header").Text(&at.Header, 100)
	checkHeader(v.Get("header"), at.Header)
	v.Get("query").Text(&at.Query, 100)
	v.Get("json").Text(&at.JSON, 500)
	n := 0
	for _, text := range []string{at.Header, at.Query, at.JSON} {
		if text != "" {
			n++
		}
	}
	if n != 1 {
		v.Fail(errs.CodeRequired, "must have one of header, query and json: %s", what)
	}
	return at
}

// Gives reports whether a request may give an XATTR of that key.
func (s *Settings) Gives(key string) bool {
	return slices.ContainsFunc(s.Xattrs, func(x Xattr) bool { return x.Key == key }) ||
		slices.ContainsFunc(s.Headers, func(name string) bool {
			of, err := label.NormalizeKey(name)
			return err == nil && of == key
		})
}

// value returns what a request has at a place; ok is false if it has nothing there that an
// XATTR can be.
func (r *Received) value(at Named) (v label.Value, ok bool) {
	var text string
	switch {
	case at.Header != "":
		values := r.header(at.Header)
		text, ok = strings.Join(values, ", "), len(values) > 0
	case at.Query != "":
		text, ok = r.In.Query.Get(at.Query), r.In.Query.Has(at.Query)
	default:
		switch value := r.inJSON(at.JSON).(type) {
		case string:
			text, ok = value, true
		case json.Number:
			v = label.Value{Kind: document.Number, Text: value.String()}
			return v, v.Finite()
		case bool:
			return label.Value{Kind: document.Bool, Text: strconv.FormatBool(value)}, true
		}
	}
	return label.Text(strings.ToValidUTF8(text, "\uFFFD")), ok
}

// Readable returns errs.NotParseable if the request says that it has JSON, XATTRs or the case
// are taken from that, and it is not JSON, as what was cut short; or if a parameter that is
// taken stands twice. Its sender would take it for delivered otherwise.
func (r *Received) Readable() error {
	for _, name := range r.Settings.parameters() {
		if name != "" && len(r.In.Query[name]) > 1 {
			return errs.New(errs.NotParseable, "The parameter %q stands twice in the address; give it once.", name)
		}
	}
	content, mediaType := r.Content()
	kind, _, err := mime.ParseMediaType(mediaType)
	isJSON := err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
	if !isJSON || len(r.Settings.jsonPaths()) == 0 || json.Valid(content) {
		return nil
	}
	if len(content) <= mostPlaced {
		if _, err := document.ParseJSON(content); err != nil {
			return err
		}
	}
	return errs.New(errs.NotParseable, "The body is not JSON.")
}

// parameters returns those of the query from which something is taken.
func (s *Settings) parameters() (names []string) {
	if s.Deliver != nil {
		return []string{s.Deliver.Case.Query} // "" if it names the case in another way
	}
	for _, x := range s.Xattrs {
		names = append(names, x.Query)
	}
	return names
}

// jsonPaths returns the paths of what is taken from the JSON of requests.
func (s *Settings) jsonPaths() (paths []string) {
	if s.Deliver != nil {
		if s.Deliver.Case.JSON != "" {
			paths = append(paths, s.Deliver.Case.JSON)
		}
		return paths
	}
	for _, x := range s.Xattrs {
		if x.JSON != "" {
			paths = append(paths, x.JSON)
		}
	}
	return paths
}

// inJSON returns the value to which a path leads; nil if it leads to nothing.
func (r *Received) inJSON(path string) any {
	if r.values == nil {
		content, _ := r.Content()
		r.values = pick(content, r.Settings.jsonPaths())
	}
	return r.values[path]
}
