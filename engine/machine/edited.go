package machine

import (
	"fmt"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// Bounds of what an entry of the log says of an edit. The rest is told as a number, so
// that nobody takes the first changes for all of them.
const (
	mostEdits     = 20 // changes
	mostEditBytes = MaxLogText - 200
	mostEditValue = 60 // characters of a value
)

// edits collects what an edit has changed, for the log.
type edits struct {
	texts []string
	more  int // that are not told
	bytes int
}

// changed notes the change of a field or an XATTR. Each value is as editValue gives it,
// "" if there is none.
func (e *edits) changed(name, from, to string) {
	switch {
	case from == "" && to == "":
		e.add(name)
	case to == "":
		e.add(name + " removed, was " + from)
	case from == "":
		e.add(name + ": " + to)
	default:
		e.add(name + ": " + from + " → " + to)
	}
}

func (e *edits) add(text string) {
	if len(e.texts) == mostEdits || e.bytes+len(text) > mostEditBytes {
		e.more++
		return
	}
	e.texts, e.bytes = append(e.texts, text), e.bytes+len(text)+len("; ")
}

// xattrs notes each XATTR that differs, in the order of the keys. Both dictionaries are
// sorted.
func (e *edits) xattrs(before, after label.Dict) {
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].Key < after[0].Key:
			from, _ := editValues(before[0].Value, label.Value{})
			e.changed(xattrName(before[0].Key), from, "")
			before = before[1:]
		case len(before) == 0 || after[0].Key < before[0].Key:
			_, to := editValues(label.Value{}, after[0].Value)
			e.changed(xattrName(after[0].Key), "", to)
			after = after[1:]
		default:
			if before[0].Value != after[0].Value {
				from, to := editValues(before[0].Value, after[0].Value)
				e.changed(xattrName(after[0].Key), from, to)
			}
			before, after = before[1:], after[1:]
		}
	}
}

// xattrName returns the key of an XATTR as the log says it. One that is called as a field
// of the case is not taken for that.
func xattrName(key string) string {
	switch key {
	case "title", "priority", "context", "roles", "stakeholders", "startat":
		return "xattr." + key
	}
	return key
}

// text returns what the log says, "" if nothing has changed.
func (e *edits) text() string {
	if len(e.texts) == 0 {
		return ""
	}
	text := "Changed " + strings.Join(e.texts, "; ")
	if e.more > 0 {
		text += fmt.Sprintf("; and %d more", e.more)
	}
	return text
}

// editValues returns two values as the log shows them. Long texts that begin alike are
// shown from shortly before they differ, and a text and a number that look alike as JSON
// writes them.
func editValues(from, to label.Value) (string, string) {
	if from.Kind != to.Kind && from.Text == to.Text {
		return string(from.AppendJSON(nil)), string(to.AppendJSON(nil))
	}
	a, b := []rune(from.Text), []rune(to.Text)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	const before = 20 // characters that show where in the text one is
	if same < mostEditValue || len(a) <= mostEditValue && len(b) <= mostEditValue {
		same = 0
	}
	skip := max(0, same-before)
	return editValue(from.Kind, a[skip:], skip > 0), editValue(to.Kind, b[skip:], skip > 0)
}

// editValue returns a value, or the end of one, as the log shows it. A text stands in
// quotation marks if it could be taken for something else: nobody can write a value that
// reads like a change of another XATTR.
func editValue(kind document.Kind, value []rune, cut bool) string {
	text := string(value)
	if cut {
		text = "…" + text
	}
	text = errs.Clip(text, mostEditValue)
	if kind != document.String {
		return text
	}
	if text == "" || text != strings.TrimSpace(text) || text != OneLine(text) || strings.ContainsAny(text, `;→"`) {
		return string(document.AppendString(nil, text))
	}
	return text
}
