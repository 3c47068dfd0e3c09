package engine

import (
	"slices"

	"flowdrive/engine/access"
	"flowdrive/engine/files"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// maySeeEvent reports whether by may be told of the event: whether by may see its
// subject now, or could before it went. cases has the cases that were checked
// already.
func (e *base) maySeeEvent(r store.Reader, by identity.Principal, ev *Event, cases map[int64]bool) (bool, error) {
	switch ev.Kind {
	case EventCase, EventTask:
		if ev.Change == ChangeDeleted {
			return e.sawCase(by, ev), nil
		}
		sees, known := cases[ev.ID]
		if !known {
			row, err := store.OrNil(r.Cases().Get(ev.ID))
			if err == nil && row != nil {
				sees, err = e.rights.SeesCase(r, by, row)
			}
			if err != nil {
				return false, err
			}
			cases[ev.ID] = sees
		}
		return sees, nil
	case EventSchedule:
		stored, err := store.OrNil(r.Entries().Get(ev.UUID))
		if err != nil {
			return false, err
		}
		if stored != nil {
			return access.SeesEntry(by, stored.ContextID), nil
		}
		return access.SeesEntry(by, ev.context), nil
	case EventRoute:
		info := e.rights.Route(ev.ID)
		if info == nil {
			info = ev.route
		}
		return info != nil && e.rights.SeesRoute(by, info), nil
	case EventDocument:
		return files.ReadsDocuments(by, ev.context), nil
	}
	return false, nil
}

// sawCase reports whether by could see a case that is gone.
func (e *base) sawCase(by identity.Principal, ev *Event) bool {
	return by.Admin() || slices.ContainsFunc(ev.seenBy, by.In) || ev.route != nil && e.rights.Administers(by, ev.route)
}
