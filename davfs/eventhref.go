package davfs

import (
	"strconv"

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
		return href("dav", "Workflow", "Cases", id+".json")
	case engine.EventTask:
		return href("dav", "Workflow", "Cases", id, "Actions", ev.Name+".json")
	case engine.EventSchedule:
		return href("dav", "Workflow", "Schedule", ev.UUID.String()+".json")
	case engine.EventRoute:
		return href("dav", "Workflow", "Routes", ev.Name+".json")
	case engine.EventDocument:
		return href(ev.Name[1:])
	}
	return ""
}
