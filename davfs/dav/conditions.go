package dav

import (
	"slices"
	"strings"
	"time"

	"flowdrive/internal/errs"
)

// Version is what is stored under a request's URL. Definition is the part of a
// form's ETag that stays the same while only counters move: an If-Match matches
// every ETag that begins with it.
type Version struct {
	Exists     bool
	ETag       string // of what GET of the URL gives, quoted
	Definition string // "" if If-Match is strict
	Modified   time.Time
	Tokens     []Token // of the locks that cover it
}

// Header is the head of a request, as http.Header has it.
type Header interface {
	Get(name string) string
	Values(name string) []string
}

// Conditions are the conditional headers of a request (RFC 9110, section
// 13.1; RFC 4918, section 10.4).
type Conditions struct {
	match      *tagList
	noneMatch  *tagList
	unmodified time.Time // zero: not given
	lists      []ifList  // of the If header; one of them must match
}

// tagList is the value of If-Match or If-None-Match.
type tagList struct {
	any  bool     // "*"
	tags []string // as they were given
}

// ReadConditions reads the headers of a change. What cannot be read of If-Match
// and If is errs.BadParameter: a change that was to be made under a condition
// must not be made without. What is not an entity tag in If-None-Match names no
// version, and Joplin sends such a text with every request: it is passed over. So
// is an unreadable date (RFC 9110, section 13.1.4).
func ReadConditions(h Header) (Conditions, error) {
	c, err := ReadConditionsOfGet(h)
	if err != nil {
		return c, err
	}
	c.noneMatch = readTagsIn(h.Values("If-None-Match"))
	if text := strings.Join(h.Values("If"), " "); strings.TrimSpace(text) != "" {
		if c.lists, err = parseIf(text); err != nil {
			return c, err
		}
	}
	return c, nil
}

// ReadConditionsOfGet reads what a GET is answered 412 for. If-None-Match only decides
// whether it is answered 304, and an If header is about locks.
func ReadConditionsOfGet(h Header) (Conditions, error) {
	var c Conditions
	var err error
	if c.match, err = readTagList(h, "If-Match"); err != nil {
		return c, err
	}
	c.unmodified = parseDate(h.Get("If-Unmodified-Since"))
	return c, nil
}

// parseDate reads an HTTP date in one of its three forms (RFC 9110, section
// 5.6.7); zero if it cannot be read.
func parseDate(text string) time.Time {
	if text == "" {
		return time.Time{} // each attempt makes an error, and most requests have no date
	}
	for _, form := range [...]string{timeFormat, time.RFC850, time.ANSIC} {
		if date, err := time.Parse(form, text); err == nil {
			return date
		}
	}
	return time.Time{}
}

// timeFormat is how HTTP writes a time, which must be in UTC.
const timeFormat = "Mon, 02 Jan 2006 15:04:05 GMT"

func readTagList(h Header, name string) (*tagList, error) {
	values := h.Values(name)
	if len(values) == 0 {
		return nil, nil
	}
	list, ok := parseTagList(strings.Join(values, ","))
	if !ok {
		return nil, errs.New(errs.BadParameter, "The header %s must be * or a list of ETags in double quotes.", name)
	}
	return &list, nil
}

// parseTagList reads "*" or a list of entity tags; empty members are passed
// over (RFC 9110, section 5.6.1.2).
func parseTagList(text string) (tagList, bool) {
	if strings.TrimSpace(text) == "*" {
		return tagList{any: true}, true
	}
	var list tagList
	for rest := strings.TrimLeft(text, " \t,"); rest != ""; {
		tag, after, ok := cutTag(rest)
		if !ok {
			return tagList{}, false
		}
		list.tags = append(list.tags, tag)
		after = strings.TrimLeft(after, " \t")
		if after != "" && after[0] != ',' {
			return tagList{}, false
		}
		rest = strings.TrimLeft(after, " \t,")
	}
	return list, len(list.tags) > 0
}

// readTagsIn reads the entity tags in the values and passes over what is none. It
// returns nil if there is none. A "*" among others counts.
func readTagsIn(values []string) *tagList {
	text := strings.Join(values, ",")
	if list, ok := parseTagList(text); ok {
		return &list
	}
	var list tagList
	for rest := strings.TrimLeft(text, " \t,"); rest != ""; rest = strings.TrimLeft(rest, " \t,") {
		tag, after, ok := cutTag(rest)
		if ok {
			list.tags = append(list.tags, tag)
			rest = after
			continue
		}
		member, others, _ := strings.Cut(rest, ",")
		list.any = list.any || strings.TrimSpace(member) == "*"
		rest = others
	}
	if !list.any && len(list.tags) == 0 {
		return nil
	}
	return &list
}

// cutTag cuts the entity tag off that the text begins with (RFC 9110,
// section 8.8.3).
func cutTag(text string) (tag, rest string, ok bool) {
	quoted := strings.TrimPrefix(text, "W/")
	if len(quoted) < 2 || quoted[0] != '"' {
		return "", "", false
	}
	end := strings.IndexByte(quoted[1:], '"')
	if end < 0 || strings.ContainsFunc(quoted[1:1+end], func(r rune) bool { return r < '!' || r == 0x7f }) {
		return "", "", false
	}
	n := len(text) - len(quoted) + end + 2
	return text[:n], text[n:], true
}

// None reports whether the request is without condition.
func (c *Conditions) None() bool {
	return c.match == nil && c.noneMatch == nil && c.unmodified.IsZero() && len(c.lists) == 0
}

// Check answers errs.Precondition if the conditions do not match the stored
// version, in the order of RFC 9110, section 13.2.2.
func (c *Conditions) Check(v Version) error {
	switch {
	case c.match != nil && !c.match.matches(v):
		return failed("If-Match", v)
	case c.match == nil && !c.unmodified.IsZero() && v.Exists && v.Modified.Truncate(time.Second).After(c.unmodified):
		return failed("If-Unmodified-Since", v)
	case c.noneMatch != nil && c.noneMatch.names(v):
		return failed("If-None-Match", v)
	case len(c.lists) > 0 && !slices.ContainsFunc(c.lists, func(l ifList) bool { return l.matches(v) }):
		return failed("If", v)
	}
	return nil
}

// What the stored version is if a condition is not met.
const (
	isNothing = "there is nothing at this address."
	isNamed   = "a version that it names is stored at this address. Fetch it, and decide again."
	isOther   = "another version is stored at this address. Fetch it, and decide again."
)

func failed(header string, v Version) error {
	is := isOther
	switch {
	case !v.Exists:
		is = isNothing
	case header == "If-None-Match":
		is = isNamed
	}
	return errs.New(errs.Precondition, "The condition in %s is not met: %s", header, is)
}

// PlainCondition says what the detail of a failed condition says to a person on a mount, who
// has sent none: their program has. Any other text it returns as it is.
func PlainCondition(detail string) string {
	_, is, found := strings.Cut(detail, " is not met: ")
	if !found || !strings.HasPrefix(detail, "The condition in ") {
		return detail
	}
	switch is {
	case isNothing:
		return "The file is not there any more. Look into its folder, and decide again."
	case isNamed:
		return "There is a file of this name already, and your program wanted to make a new one. Open the one that is there, and decide again."
	case isOther:
		return "The file has changed since your program has read it. Open it again, and decide again."
	}
	return detail
}

// matches judges If-Match: strong comparison, in which the counters of a form
// do not count.
func (l *tagList) matches(v Version) bool {
	if !v.Exists || l.any {
		return v.Exists
	}
	return slices.ContainsFunc(l.tags, func(tag string) bool { return strongly(tag, v) })
}

// strongly reports whether the tag is of what is stored, byte by byte or but
// for what only counts. A weak one never is.
func strongly(tag string, v Version) bool {
	if !v.Exists || v.ETag == "" || strings.HasPrefix(tag, "W/") {
		return false
	}
	return tag == v.ETag || v.Definition != "" && strings.HasPrefix(tag, v.Definition)
}

// names judges If-None-Match: weak comparison.
func (l *tagList) names(v Version) bool {
	if !v.Exists || l.any {
		return v.Exists
	}
	return v.ETag != "" && slices.ContainsFunc(l.tags, func(tag string) bool {
		return strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(v.ETag, "W/")
	})
}
