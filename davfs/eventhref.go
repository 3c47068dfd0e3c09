package davfs

import (
	"strconv"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
)

// EventHref returns the path of what an event is about, percent-encoded: that
// of its identity, which is the same for everyone who sees it. A task's is the
// action's of its case, which stays when it moves between the folders of a
// worklist.
func EventHref(ev *engine.Event) string {
	id := strconv.FormatInt(ev.ID, 10)
	switch ev.Kind {
	case engine.EventCase:
		return dav.Href("dav", "Workflow", "Cases", id+".json")
	case engine.EventTask:
		return dav.Href("dav", "Workflow", "Cases", id, "Actions", ev.Name+".json")
	case engine.EventSchedule:
		return dav.Href("dav", "Workflow", "Schedule", ev.UUID.String()+".json")
	case engine.EventRoute:
		return dav.Href("dav", "Workflow", "Routes", ev.Name+".json")
	case engine.EventDocument:
		return dav.Href(ev.Name[1:])
	}
	return ""
}
