package engine

import (
	"bytes"
	"fmt"
	"hash/fnv"

	"flowdrive/schedule"
	"flowdrive/store"
)

// Some warnings of an entry follow from its route, which may have changed since the entry
// was stored (docs/contract/schedule.md#fields). They are made again when they are shown.

// warnByRoute warns of what an entry gives and its route does not know, and lacks and its
// route needs.
func warnByRoute(entry *schedule.Entry, used *usedRoute) {
	warnCannotStart(entry, used)
	keys := make([]string, len(entry.XattrDict))
	for i := range entry.XattrDict {
		keys[i] = entry.XattrDict[i].Name()
	}
	entry.WarnUnknown(unknownXattrs(used.Compiled, used.Name, keys))
}

// warnAgain leaves of such warnings those that are true of the route as it is now.
func (e *Schedules) warnAgain(r store.Reader, entry *schedule.Entry) error {
	cannot, unknown := len(entry.CannotStart) > 0, len(entry.Unknown) > 0
	if !cannot && !unknown {
		return nil
	}
	info := e.rights.Route(entry.RouteID)
	if info == nil {
		return nil // the entry says so
	}
	used, err := e.use(r, info)
	if err != nil {
		return err
	}
	entry.CannotStart, entry.Unknown = nil, nil
	warnByRoute(entry, used)
	if !cannot {
		entry.CannotStart = nil // a case has started since
	}
	if !unknown {
		entry.Unknown = nil
	}
	return nil
}

// shownEntry returns the complete form of an entry with warnings that are true now, and its
// ETag, which is another one if they differ from those that are stored.
func (e *Schedules) shownEntry(r store.Reader, s *store.Entry) (form []byte, etag string, err error) {
	if !schedule.WarnsByRoute(s.Form) {
		return s.Form, entryETag(s), nil
	}
	entry, err := e.readForm(s)
	if err != nil {
		return nil, "", err
	}
	if err := e.warnAgain(r, entry); err != nil {
		return nil, "", err
	}
	if form = entry.Form(); bytes.Equal(form, s.Form) {
		return s.Form, entryETag(s), nil
	}
	sum := fnv.New32a()
	sum.Write(form)
	return form, fmt.Sprintf(`%s%d-%x"`, entryDefinition(s), s.Revision, sum.Sum(nil)), nil
}
