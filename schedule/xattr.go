package schedule

import (
	"encoding/json"
	"strconv"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// XAttr is one item of an entry's xattrDict, as it was given. The value is a
// string, a bool or a json.Number, whose literal is kept.
type XAttr struct {
	Key   string
	Value any
}

// maxXAttrKey is how long a key may be.
const maxXAttrKey = 127

// Name returns the key as cases have it: in lower case, without blanks.
func (x XAttr) Name() string {
	return strings.ToLower(strings.ReplaceAll(x.Key, " ", ""))
}

// appendJSON appends the value.
func (x XAttr) appendJSON(dst []byte) []byte {
	switch value := x.Value.(type) {
	case string:
		return document.AppendString(dst, value)
	case bool:
		return strconv.AppendBool(dst, value)
	case json.Number:
		return append(dst, value...)
	}
	return append(dst, "null"...)
}

// readXAttrs reads an xattrDict, in the order of the document.
func readXAttrs(v document.Value) []XAttr {
	if !v.Given() || !v.Is(document.Object) {
		return nil
	}
	names := make(map[string]string, len(v.Node.Members))
	var out []XAttr
	for i := range v.Node.Members {
		key, member := v.Member(i)
		x := XAttr{Key: key}
		name := x.Name()
		if other, twice := names[name]; twice {
			member.Fail(errs.CodeConflict, "is the same XATTR as %q: capitals and blanks do not count", other)
		} else if !legalXAttr(key, name) {
			member.Fail(errs.CodeFormat, "the key of an XATTR has 1 to %d letters, digits and the characters _ - . (blanks are removed)", maxXAttrKey)
		} else {
			names[name] = key
		}
		if _, ok := label.ReadValue(member); ok {
			x.Value, _ = xattrValue(member.Node)
		}
		out = append(out, x)
	}
	return out
}

// xattrValue returns what an XATTR can be; ok is false for null, lists and
// objects.
func xattrValue(n *document.Node) (value any, ok bool) {
	switch n.Kind {
	case document.String:
		return n.Text, true
	case document.Number:
		return json.Number(n.Text), true
	case document.Bool:
		return n.Bool, true
	case document.Null, document.List, document.Object:
	}
	return nil, false
}

func legalXAttr(key, name string) bool {
	if name == "" || len(key) > maxXAttrKey {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == ""
}
