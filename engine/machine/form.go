package machine

import (
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/route"
)

// Form returns the complete form of a case: indented JSON with every key,
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
	b = appendString(b, `,"state":`, string(c.Shown()))
	b = appendTextOrNull(b, `,"status":`, c.Status)
	b = appendInt(b, `,"contextId":`, c.ContextID)
	b = appendString(b, `,"context":`, c.Context)
	b = appendString(b, `,"starter":`, c.Starter)
	b = appendInt(b, `,"priority":`, int64(c.Priority))
	b = c.appendParent(b)
	b = appendRoles(b, `,"roles":`, c, r)
	b = appendStrings(b, `,"stakeholders":`, c.Stakeholders)
	b = c.Xattrs.AppendJSON(append(b, `,"xattrDict":`...))
	b = appendRelations(b, `,"links":`, c.Relations)
	b = append(b, `,"linkedFrom":{}`...) // who reads the case sees here what they may see
	if c.IsDraft() {
		b = appendStrings(b, `,"enabledActions":`, []string{DraftAction})
	} else {
		b = appendStrings(b, `,"enabledActions":`, enabledFor(c, r, people))
	}
	b = appendStrings(b, `,"pendingActions":`, enabledFor(c, r, engine))
	b = appendWarnings(b, `,"warnings":`, c.Warnings, func(*Warning) bool { return true })
	b = appendTimeOrNull(b, `,"suspendedUntil":`, c.SuspendedUntil)
	b = appendTimeOrNull(b, `,"startAt":`, c.StartAt)
	b = appendInt(b, `,"childrenCount":`, c.ChildrenCount)
	b = appendVisit(b, `,"visit":`, c, r)
	b = appendTextOrNull(b, `,"scheduleUUID":`, braced(c.ScheduleUUID))
	b = appendTimeOrNull(b, `,"scheduledFor":`, c.ScheduledFor)
	b = appendTextOrNull(b, `,"resolution":`, c.Resolution)
	b = appendTimeOrNull(b, `,"created":`, c.Created)
	b = appendTimeOrNull(b, `,"started":`, c.Started)
	b = appendTimeOrNull(b, `,"modified":`, c.Modified)
	b = appendTimeOrNull(b, `,"completed":`, c.Completed)
	b = appendInt(b, `,"version":`, c.Version)
	return document.Indent(append(b, "}\n"...))
}

// appendRoles appends the roles of the route with their parties.
func appendRoles(b []byte, key string, c *Case, r *route.Route) []byte {
	b = append(append(b, key...), '{')
	for i := range r.Roles {
		if i > 0 {
			b = append(b, ',')
		}
		b = document.AppendString(b, r.Roles[i].Name)
		b = appendStrings(b, ":", c.RoleParties(r.Roles[i].Name))
	}
	return append(b, '}')
}

// appendVisit appends the progress of the transitions out of the status, or
// null if it has none
// (docs/contract/routes.md#3-transitions-that-need-several-actions).
func appendVisit(b []byte, key string, c *Case, r *route.Route) []byte {
	b = append(b, key...)
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
		b = appendString(b, `{"action":`, a.Name)
		b = appendStrings(b, `,"transitions":`, serves)
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
		b = appendTextOrNull(b, `,"by":`, by)
		b = append(appendTimeOrNull(b, `,"at":`, at), '}')
	}
	return append(b, "]}"...)
}

// audience is whom an enabled action waits for.
type audience bool

const (
	people audience = true  // it is offered, or somebody has accepted it
	engine audience = false // the engine will perform it, it waits, or it is escalated
)

// enabledFor returns the names of the enabled actions that wait for people or for
// the engine, in order of definition. It is never nil.
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

// appendWarnings appends the warnings that shown accepts.
func appendWarnings(b []byte, key string, list []Warning, shown func(*Warning) bool) []byte {
	b = append(append(b, key...), '[')
	first := true
	for i := range list {
		if !shown(&list[i]) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendString(b, `{"timer":`, list[i].Timer)
		b = appendSeconds(b, `,"time":`, list[i].Time)
		b = append(appendString(b, `,"text":`, list[i].Text), '}')
	}
	return append(b, ']')
}

// appendParent appends the parent of a case and its newest children.
func (f *Family) appendParent(b []byte) []byte {
	if f.Parent == 0 {
		b = append(b, `,"parent":null,"parentAction":null`...)
	} else {
		b = appendInt(b, `,"parent":`, f.Parent)
		b = appendString(b, `,"parentAction":`, f.ParentAction)
	}
	b = append(b, `,"children":[`...)
	for i := range f.Children {
		line := &f.Children[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendInt(b, `{"id":`, line.ID)
		b = appendString(b, `,"route":`, line.Route)
		b = appendString(b, `,"state":`, string(line.Life))
		b = appendTextOrNull(b, `,"status":`, line.Status)
		b = append(appendString(b, `,"action":`, line.Action), '}')
	}
	return append(b, ']')
}

// braced returns the UUID of a schedule entry as the entry's own form writes
// it, with braces and dashes.
func braced(uuid string) string {
	const digits = 32
	if h := strings.ToLower(uuid); len(h) == digits {
		return "{" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:] + "}"
	}
	return uuid
}
