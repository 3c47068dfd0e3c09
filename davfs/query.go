package davfs

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
)

// mostPage is how many resources one page of a hidden key may have.
const maxPage = 10_000

// query is the query of a request: every parameter once.
type query map[string]string

// parseQuery reads a raw query.
func parseQuery(raw string) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, errs.New(errs.BadParameter, "The query cannot be read: %v.", err)
	}
	q := make(query, len(values))
	for name, given := range values {
		if len(given) > 1 {
			return nil, errs.New(errs.BadParameter, "The parameter %q is given %d times; give it once.", name, len(given))
		}
		q[name] = given[0]
	}
	return q, nil
}

// only answers errs.BadParameter for the first parameter, in order of name,
// that is not among known.
func (q query) only(known ...string) error {
	var unknown []string
	for name := range q {
		if !slices.Contains(known, name) && !(slices.Contains(known, xattrParameters) && strings.HasPrefix(name, xattrQuery)) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	if len(known) == 0 {
		return errs.New(errs.BadParameter, "There is no parameter %q here; this address takes none.", unknown[0])
	}
	return errs.New(errs.BadParameter, "There is no parameter %q here; this address takes %s.", unknown[0], strings.Join(known, ", "))
}

// The parameters that name an XATTR, as filters list them, and what they begin with.
const (
	xattrParameters = "xattr.<key>"
	xattrQuery      = "xattr."
)

// xattrs reads the parameters that name an XATTR, in order of their names.
func (q query) xattrs() (out []engine.XattrFilter, err error) {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		key, is := strings.CutPrefix(name, xattrQuery)
		if !is {
			continue
		}
		if key == "" || len(key) > maxName || len(q[name]) > maxName {
			return nil, errs.New(errs.BadParameter, "The parameter %s<key> must name an XATTR, by a key of 1 to %d bytes, and a value of at most as many.", xattrQuery, maxName)
		}
		out = append(out, engine.XattrFilter{Key: key, Value: q[name]})
	}
	return out, nil
}

// flag reports whether a parameter is given that needs no value ("?force").
// What might mean that it is not wanted is refused: of a rehearsal it would
// make a change by surprise, or the other way round.
func (q query) flag(name string) (bool, error) {
	value, given := q[name]
	if given && !slices.Contains([]string{"", "1", "true"}, value) {
		return false, errs.New(errs.BadParameter, "The parameter %s takes no value, true or 1, not %q; leave it out otherwise.", name, value)
	}
	return given, nil
}

// number reads a parameter that is a whole number; 0 if it is not given.
func (q query) number(name string, lo, hi int64) (int64, error) {
	text, given := q[name]
	if !given {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && lo <= n && n <= hi:
		return n, nil
	case hi == math.MaxInt64:
		return 0, errs.New(errs.BadParameter, "The parameter %s must be a whole number of at least %d, not %q.", name, lo, text)
	}
	return 0, errs.New(errs.BadParameter, "The parameter %s must be a whole number from %d to %d, not %q.", name, lo, hi, text)
}

// word reads a parameter that is one of the words; "" if it is not given.
func (q query) word(name string, words ...string) (string, error) {
	text, given := q[name]
	if !given || slices.Contains(words, text) {
		return text, nil
	}
	return "", errs.New(errs.BadParameter, "The parameter %s must be one of %s, not %q.", name, strings.Join(words, ", "), text)
}

// text reads a parameter that may be any text but none.
func (q query) text(name string) (string, error) {
	text, given := q[name]
	if given && (text == "" || len(text) > maxName) {
		return "", errs.New(errs.BadParameter, "The parameter %s must have 1 to %d bytes.", name, maxName)
	}
	return text, nil
}

// filter reads what the hidden keys take.
func (q query) filter() (engine.Filter, error) {
	var f engine.Filter
	var limit int64
	for _, read := range []func() error{
		func() (err error) { f.Route, err = q.text("route"); return },
		func() (err error) { f.Status, err = q.text("status"); return },
		func() (err error) { f.Role, err = q.text("role"); return },
		func() (err error) { f.Context, err = q.text("context"); return },
		func() (err error) { f.Query, err = q.text("q"); return },
		func() (err error) { f.CreatedFrom, err = q.text("createdFrom"); return },
		func() (err error) { f.CreatedTo, err = q.text("createdTo"); return },
		func() (err error) { f.ModifiedFrom, err = q.text("modifiedFrom"); return },
		func() (err error) { f.ModifiedTo, err = q.text("modifiedTo"); return },
		func() (err error) { f.Warnings, err = q.flag("warnings"); return },
		func() (err error) { f.Xattrs, err = q.xattrs(); return },
		func() (err error) {
			f.State, err = q.word("state", append(lives(), engine.StateOpen, engine.StateAll)...)
			return
		},
		func() (err error) { f.Type, err = q.word("type", "simple", "interval", "cron", "crontab"); return },
		func() (err error) { f.Paused, err = q.word("paused", "true", "false"); return },
		func() (err error) { f.Parent, err = q.number("parent", 1, maxID); return },
		func() (err error) { f.After, err = q.number("after", 0, math.MaxInt64); return },
		func() (err error) { limit, err = q.number("limit", 1, maxPage); return },
	} {
		if err := read(); err != nil {
			return engine.Filter{}, err
		}
	}
	f.Limit = int(limit)
	return f, nil
}

// lives are the states of a case's life (docs/contract/drive.md#case).
func lives() []string {
	return []string{machine.StateDraft, "queued", "active", "suspended", "completed", "closed", "canceled", "failed"}
}

// following returns the query of the page after the resource of that
// number, with the same filters in order of name.
func (q query) following(seq int64) string {
	values := url.Values{}
	for name, value := range q {
		values.Set(name, value)
	}
	values.Set("after", strconv.FormatInt(seq, 10))
	return values.Encode()
}
