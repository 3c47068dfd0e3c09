package schedule

import (
	"strings"
	"unicode"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// How long titles and notes may be, in bytes.
const (
	MaxTitle = 1000
	MaxNote  = 10_000
)

// FitsTitle reports whether a text may be a title.
func FitsTitle(title string) bool {
	return title != "" && len(title) <= MaxTitle && !strings.ContainsFunc(title, unicode.IsControl)
}

// ReadTitle reads a title of an entry or of a case: a text of one line. A case
// takes the title of its entry. If the title is not valid, ok is false and v
// has a fault.
func ReadTitle(v document.Value) (title string, ok bool) {
	return readBounded(v, MaxTitle, unicode.IsControl, "must have no control characters, and no line breaks")
}

// ReadNote reads a note, which may have several lines.
func ReadNote(v document.Value) (note string, ok bool) {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }
	return readBounded(v, MaxNote, control, "must have no control characters other than line breaks and tabs")
}

func readBounded(v document.Value, most int, illegal func(rune) bool, detail string) (text string, ok bool) {
	text, ok = v.Str()
	switch {
	case !ok:
		return "", false
	case len(text) > most:
		v.Fail(errs.CodeRange, "must have at most %d bytes, not %d", most, len(text))
		return "", false
	case strings.ContainsFunc(text, illegal):
		v.Fail(errs.CodeFormat, "%s", detail)
		return "", false
	}
	return text, true
}
