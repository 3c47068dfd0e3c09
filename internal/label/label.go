// Package label knows labels ($__TODAY__;) and XATTRs: what a label stands
// for at an instant, and the dictionary of strings, numbers and booleans
// that every case carries. It fetches nothing; its values are handed to it.
package label

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxGrowth is the number of bytes by which labels may lengthen the text in one
// call: a document of one megabyte of labels must not become many gigabytes of
// text. A label that would exceed it stays verbatim and is reported.
const MaxGrowth = 1 << 20

// Values is what labels stand for. A field that is zero makes its labels the
// empty string.
type Values struct {
	Now          time.Time      // the instant the values are needed at: of a scheduled case, of its firing
	Zone         *time.Location // of the dates that labels stand for; nil: UTC
	Created      time.Time      // of the case
	PID          int64          // the case's id
	ParentPID    int64
	GUID         string // the case's, 32 hex digits
	Task         string
	Email, Login string // of the context
	Route        string
	Title        string
	ScheduledFor time.Time
	Iteration    int64 // 1 for the first case of a schedule entry
	XAttrs       Dict  // of the case, sorted by key; Expand does not look at it
	Error        Error // what onError is run for

	Escape func(string) string // what Substitute puts in for what a label stands for; nil: just that
}

// Error is a failure as labels stand for it.
type Error struct {
	Step, Kind   string
	Status       int64
	Text, Output string
}

// Substitute replaces every label of the text, in one pass: what a label
// stands for is not scanned again. A label that is not known, or whose date
// would leave the years 1 to 9999, stays as it is written and is in unknown,
// once, in order of appearance. One for which there is no room within MaxGrowth stays,
// too, and is in long.
func Substitute(text string, v *Values) (out string, unknown, long []string) {
	if !strings.Contains(text, opening) {
		return text, nil, nil
	}
	s := substitution{values: v, room: MaxGrowth}
	var b strings.Builder
	s.split(text, func(literal string) {
		b.WriteString(literal)
	}, func(key, written string) {
		value, ok := find(v.XAttrs, key)
		if !ok {
			s.unknown.add(written)
			b.WriteString(written)
			return
		}
		b.WriteString(s.fit(v.escaped(value.Text), written))
	})
	return b.String(), s.unknown.list, s.long.list
}

// Expand returns the dictionary as the case gets it: keys normalised and
// sorted, every label in its strings replaced. First come the labels of
// Values, then $__XATTR_name__; is the final value of that key of the same
// dictionary. References that lead back to themselves, and those to keys
// that do not exist, stay verbatim and are reported.
//
// The keys of d must be legal and distinct; one that is not
// legal is left out, of equal ones the first stays.
func Expand(d Dict, v *Values) (out Dict, unknown, long []string) {
	e := expansion{substitution: substitution{values: v, room: MaxGrowth}}
	for _, x := range d {
		if key, err := NormalizeKey(x.Key); err == nil {
			e.out = append(e.out, XAttr{Key: key, Value: x.Value})
		}
	}
	slices.SortStableFunc(e.out, byKey)
	e.out = slices.CompactFunc(e.out, func(a, b XAttr) bool { return a.Key == b.Key })
	e.run()
	return e.out, e.unknown.list, e.long.list
}

// substitution is one call's state.
type substitution struct {
	values  *Values
	room    int    // bytes by which the texts may still grow
	unknown labels // that stay as they are written
	long    labels // those for which there was no room
}

// labels are labels as they are written, each once.
type labels struct {
	list []string
	set  map[string]struct{} // the same, once it is long
}

// escaped returns what is put in for a value.
func (v *Values) escaped(value string) string {
	if v.Escape == nil {
		return value
	}
	return v.Escape(value)
}

func (l *labels) add(written string) {
	const large = 16
	if len(l.list) < large {
		if !slices.Contains(l.list, written) {
			l.list = append(l.list, written)
		}
		return
	}
	if l.set == nil {
		l.set = make(map[string]struct{}, 2*large)
		for _, have := range l.list {
			l.set[have] = struct{}{}
		}
	}
	if _, twice := l.set[written]; !twice {
		l.set[written] = struct{}{}
		l.list = append(l.list, written)
	}
}

// fit returns the value, or the label as written if there is no room left for
// the value.
func (s *substitution) fit(value, written string) string {
	growth := len(value) - len(written)
	if growth <= 0 {
		return value
	}
	if growth > s.room {
		s.long.add(written)
		return written
	}
	s.room -= growth
	return value
}

// split cuts the text into literals, in which the labels of Values are
// replaced already, and references to XATTRs.
func (s *substitution) split(text string, literal func(string), xattr func(key, written string)) {
	for {
		start, end := scan(text)
		if start < 0 {
			literal(text)
			return
		}
		literal(text[:start])
		written := text[start:end]
		name := written[len(opening) : len(written)-len(closing)]
		text = text[end:]
		if key, ok := strings.CutPrefix(name, "XATTR_"); ok {
			xattr(strings.ToLower(key), written)
			continue
		}
		value, known := s.values.lookUp(name)
		if !known {
			s.unknown.add(written)
			literal(written)
			continue
		}
		literal(s.fit(s.values.escaped(value), written))
	}
}

// A label is written $__NAME__; and NAME has letters, digits, _ and, for
// arithmetic and the keys of XATTRs, + - and a dot.
const (
	opening = "$__"
	closing = "__;"
)

// scan returns the begin and the end of the first label of the text; start is
// negative if there is none. It reads each byte twice at most.
func scan(text string) (start, end int) {
	at := 0
	for {
		i := strings.Index(text[at:], opening)
		if i < 0 {
			return -1, -1
		}
		start = at + i
		at = start + len(opening)
		for at < len(text) && inName(text[at]) {
			at++
		}
		// The name may not share its underscores with the closing.
		if at < len(text) && text[at] == ';' && strings.HasSuffix(text[start+len(opening):at], "__") {
			return start, at + 1
		}
	}
}

func inName(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '_' || c == '+' || c == '-' || c == '.'
}

// lookUp returns what the label of that name stands for.
func (v *Values) lookUp(name string) (value string, known bool) {
	switch name {
	case "PID":
		return number(v.PID), true
	case "PARENTPID":
		return number(v.ParentPID), true
	case "UUID":
		if id := dashed(v.GUID); id != "" {
			return "{" + id + "}", true
		}
		return "", true
	case "GUID":
		return dashed(v.GUID), true
	case "TASK":
		return v.Task, true
	case "EMAIL":
		return v.Email, true
	case "LOGIN":
		return v.Login, true
	case "ROUTE":
		return v.Route, true
	case "TITLE":
		return v.Title, true
	case "ITERATION":
		return number(v.Iteration), true
	case "ERROR_STEP":
		return v.Error.Step, true
	case "ERROR_KIND":
		return v.Error.Kind, true
	case "ERROR_STATUS":
		return number(v.Error.Status), true
	case "ERROR_TEXT":
		return v.Error.Text, true
	case "ERROR_OUTPUT":
		return v.Error.Output, true
	}
	if value, known = v.instant(name); known {
		return value, true
	}
	return v.date(name)
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// dashed returns 32 hex digits in the groups of a UUID (RFC 9562).
func dashed(guid string) string {
	if len(guid) != 32 {
		return ""
	}
	return guid[:8] + "-" + guid[8:12] + "-" + guid[12:16] + "-" + guid[16:20] + "-" + guid[20:]
}
