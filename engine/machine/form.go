package machine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/route"
)

// Form returns the complete form of a case: one line of JSON with every key,
// in the order of docs/contract/drive.md#case. It depends on nothing but the case
// and its route.
func Form(c *Case, r *route.Route) []byte {
	b := make([]byte, 0, 1024)
	b = appendInt(b, `{"id":`, c.ID)
	b = appendString(b, `,"guid":`, c.GUID)
	b = appendString(b, `,"route":`, c.RouteName)
	b = appendInt(b, `,"routeId":`, c.RouteID)
	b = appendInt(b, `,"routeVersion":`, c.RouteVersion)
	b = appendString(b, `,"title":`, c.Title)
	b = appendString(b, `,"state":`, string(c.Life))
	b = appendTextOrNull(append(b, `,"status":`...), c.Status)
	b = appendInt(b, `,"contextId":`, c.ContextID)
	b = appendString(b, `,"context":`, c.Context)
	b = appendString(b, `,"starter":`, c.Starter)
	b = appendInt(b, `,"priority":`, int64(c.Priority))
	b = append(c.appendParent(b), `,"roles":{`...)
	for i := range r.Roles {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(document.AppendString(b, r.Roles[i].Name), ':')
		b = appendStrings(b, c.RoleParties(r.Roles[i].Name))
	}
	b = appendStrings(append(b, `},"stakeholders":`...), c.Stakeholders)
	b = c.Xattrs.AppendJSON(append(b, `,"xattrDict":`...))
	b = appendStrings(append(b, `,"enabledActions":`...), enabledFor(c, r, people))
	b = appendStrings(append(b, `,"pendingActions":`...), enabledFor(c, r, engine))
	b = appendWarnings(append(b, `,"warnings":`...), c.Warnings)
	b = appendTimeOrNull(append(b, `,"suspendedUntil":`...), c.HeldUntil)
	b = appendTimeOrNull(append(b, `,"startAt":`...), c.StartAt)
	b = append(appendInt(b, `,"childrenCount":`, c.ChildrenCount), `,"visit":`...)
	b = appendVisit(b, c, r)
	b = append(b, `,"scheduleUUID":`...)
	b = appendUUID(b, c.ScheduleUUID)
	b = appendTimeOrNull(append(b, `,"scheduledFor":`...), c.ScheduledFor)
	b = appendTextOrNull(append(b, `,"resolution":`...), c.Resolution)
	b = appendTimeOrNull(append(b, `,"created":`...), c.Created)
	b = appendTimeOrNull(append(b, `,"started":`...), c.Started)
	b = appendTimeOrNull(append(b, `,"modified":`...), c.Modified)
	b = appendTimeOrNull(append(b, `,"completed":`...), c.Completed)
	b = appendInt(b, `,"version":`, c.Version)
	return append(b, "}\n"...)
}

// TaskForm returns the complete form of an enabled action, one line of JSON
// (docs/contract/drive.md#task), or nil where the action is not enabled.
func TaskForm(c *Case, r *route.Route, action string) []byte {
	row := slices.IndexFunc(c.Enabled, func(e Enabled) bool { return e.Action == action })
	i := r.Action(action)
	if row < 0 || i == unknown {
		return nil
	}
	a, e := &r.Actions[i], &c.Enabled[row]
	status := r.State(c.Status)
	b := make([]byte, 0, 512)
	b = appendInt(b, `{"case":`, c.ID)
	b = appendString(b, `,"route":`, c.RouteName)
	b = appendString(b, `,"action":`, a.Name)
	title := a.Title
	if title == "" {
		title = a.Name
	}
	b = appendString(b, `,"title":`, title)
	b = appendString(b, `,"state":`, string(e.State))
	b = appendStrings(append(b, `,"roles":`...), assignedRoles(a, status))
	b = appendStrings(append(b, `,"assignees":`...), assignees(c, status, a, e))
	b = appendTextOrNull(append(b, `,"acceptedBy":`...), e.By)
	b = appendTimeOrNull(append(b, `,"offered":`...), e.Since)
	b = appendTimeOrNull(append(b, `,"fireAt":`...), e.Due)
	var warnings []Warning
	for _, w := range c.Warnings {
		if w.Row == e.Row {
			warnings = append(warnings, w)
		}
	}
	due, acceptBy := e.dueDates()
	b = appendTimeOrNull(append(b, `,"due":`...), due)
	b = appendTimeOrNull(append(b, `,"acceptBy":`...), acceptBy)
	b = appendWarnings(append(b, `,"warnings":`...), warnings)
	b = append(b, `,"resolutions":{`...)
	for i, resolution := range a.Resolutions {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(document.AppendString(b, resolution.Name), ':')
		b = document.AppendString(b, resolution.Title)
	}
	b = append(b, `},"form":`...)
	if a.Form == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, a.Form.Source()...)
	}
	return append(b, "}\n"...)
}

// appendVisit appends how far the transitions of the status are; null where
// it has none
// (docs/contract/routes.md#3-transitions-that-need-several-actions).
func appendVisit(b []byte, c *Case, r *route.Route) []byte {
	status := r.State(c.Status)
	if status == route.NoState || len(r.States[status].Out) == 0 || c.Life != Active && c.Life != Suspended && c.Life != Completed {
		return append(b, "null"...)
	}
	out := r.States[status].Out
	b = append(appendInt(b, `{"number":`, c.Visit), `,"actions":[`...)
	first := true
	for i := range r.Actions {
		a := &r.Actions[i]
		var serves []string
		for _, t := range a.Transitions {
			if slices.Contains(out, t) {
				serves = append(serves, r.Transitions[t].Name)
			}
		}
		if serves == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendStrings(append(appendString(b, `{"action":`, a.Name), `,"transitions":`...), serves)
		state, by, at := "waiting", "", time.Time{}
		if slices.Contains(c.Done, a.Name) {
			state = "performed"
			if p := c.performed(a.Name); p != nil {
				by, at = p.By, p.At
			}
		} else if slices.Contains(c.Withdrawn, a.Name) {
			state = "withdrawn"
		}
		b = appendString(b, `,"state":`, state)
		b = appendTextOrNull(append(b, `,"by":`...), by)
		b = append(appendTimeOrNull(append(b, `,"at":`...), at), '}')
	}
	return append(b, "]}"...)
}

func appendTextOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return document.AppendString(b, s)
}

// audience is whom an enabled action waits for.
type audience bool

const (
	people audience = true  // it is offered, or somebody has accepted it
	engine audience = false // it is in progress, waits for its time, or is escalated
)

// enabledFor returns the names of the enabled actions that wait for those,
// in order of definition; never nil.
func enabledFor(c *Case, r *route.Route, who audience) []string {
	var few [16]int
	actions := appendActions(few[:0], r, c.Enabled)
	kept := actions[:0]
	for i, action := range actions {
		if action != unknown && c.Enabled[i].State.forPeople() == bool(who) {
			kept = append(kept, action)
		}
	}
	slices.Sort(kept)
	names := make([]string, len(kept))
	for i, action := range kept {
		names[i] = r.Actions[action].Name
	}
	return names
}

func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

func appendString(b []byte, key, s string) []byte {
	return document.AppendString(append(b, key...), s)
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = document.AppendString(b, s)
	}
	return append(b, ']')
}

func appendWarnings(b []byte, list []Warning) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, `{"timer":`, list[i].Timer)
		b = appendSeconds(append(b, `,"time":`...), list[i].Time)
		b = append(appendString(b, `,"text":`, list[i].Text), '}')
	}
	return append(b, ']')
}

// appendSeconds appends an instant as every resource shows it: RFC 3339,
// UTC, seconds.
func appendSeconds(b []byte, t time.Time) []byte {
	b = t.UTC().AppendFormat(append(b, '"'), time.RFC3339)
	return append(b, '"')
}

func appendTimeOrNull(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	return appendSeconds(b, t)
}

// appendUUID appends the UUID of a schedule entry as the entry itself writes
// it, with braces and dashes.
func appendUUID(b []byte, uuid string) []byte {
	if uuid == "" {
		return append(b, "null"...)
	}
	const digits = 32
	if h := strings.ToLower(uuid); len(h) == digits {
		uuid = "{" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:] + "}"
	}
	return document.AppendString(b, uuid)
}
