package davfs

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

const (
	maxPriority = 65535
	maxTitle    = 1000 // bytes
)

// dropQuery is the query of a file that is dropped into a route's folder.
// It is not read as other queries are: a parameter may stand several times,
// of which the first counts, and a semicolon is one, since labels end with
// it.
type dropQuery struct {
	options query // the parameters that begin with a dot
	xattrs  label.Dict
	seen    map[string]bool // the keys of xattrs
}

// readDrop reads the query of a dropped file: how its case is started, and
// the XATTRs of that
// (docs/contract/labels-attachments.md#xattrs-of-a-dropped-file).
func readDrop(rawQuery string) (d engine.Drop, dryRun bool, err error) {
	q := dropQuery{options: query{}, seen: map[string]bool{}}
	for part := range strings.SplitSeq(rawQuery, "&") {
		if part == "" {
			continue
		}
		if err := q.add(part); err != nil {
			return engine.Drop{}, false, err
		}
	}
	d.Xattrs = q.xattrs.Sorted()
	if err := readOptions(q.options, &d); err != nil {
		return engine.Drop{}, false, err
	}
	dryRun, err = q.options.flag(".dryRun")
	return d, dryRun, err
}

// add reads one parameter.
func (q *dropQuery) add(part string) error {
	rawName, rawValue, _ := strings.Cut(part, "=")
	name, nameErr := url.QueryUnescape(rawName)
	value, valueErr := url.QueryUnescape(rawValue)
	switch {
	case nameErr != nil || valueErr != nil:
		return errs.New(errs.BadParameter, "The query contains %q, which is not valid percent-encoding.", part)
	case !utf8.ValidString(name) || !utf8.ValidString(value):
		return errs.New(errs.BadParameter, "The query is not UTF-8.")
	case !strings.HasPrefix(name, "."):
		return q.addXattr(name, value)
	}
	if _, twice := q.options[name]; twice {
		return errs.New(errs.BadParameter, "The parameter %q appears twice; give it once.", name)
	}
	q.options[name] = value
	return nil
}

// addXattr adds an XATTR, unless there is one of that key already. One
// without a value says YES: a key alone is how clients of OpenGroupware Coils set
// a flag.
func (q *dropQuery) addXattr(name, value string) error {
	key, err := label.NormalizeKey(name)
	if err != nil {
		return errs.New(errs.BadParameter, "A parameter of a dropped file is an XATTR: %v.", err)
	}
	if q.seen[key] {
		return nil
	}
	q.seen[key] = true
	if value == "" {
		value = "YES"
	}
	q.xattrs = append(q.xattrs, label.XAttr{Key: key, Value: label.Text(value)})
	return nil
}

// readOptions reads the parameters that say how the case is started.
func readOptions(options query, d *engine.Drop) error {
	if err := options.only(".priority", ".title", ".context", ".startAt", ".dryRun"); err != nil {
		return err
	}
	if at, given := options[".startAt"]; given {
		if at == "" {
			return errs.New(errs.BadParameter, "The parameter .startAt must be %s.", clock.InstantForm)
		}
		d.StartAt = at
	}
	if _, given := options[".priority"]; given {
		priority, err := options.number(".priority", 0, maxPriority)
		if err != nil {
			return err
		}
		d.Priority = new(int(priority))
	}
	if d.Title = options[".title"]; len(d.Title) > maxTitle {
		return errs.New(errs.BadParameter, "The parameter .title must have at most %d bytes.", maxTitle)
	}
	var err error
	d.Context, err = options.text(".context")
	return err
}
