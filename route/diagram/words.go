package diagram

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/route"
)

// iconOf says who performs an action.
func iconOf(a *route.Action) Icon {
	switch a.Trigger {
	case route.TriggerUser:
		return ByPeople
	case route.TriggerAuto:
		return ByItself
	case route.TriggerTime:
		return ByTime
	case route.TriggerMessage:
		return ByMessage
	case route.TriggerChild:
		return ByCases
	case route.TriggerInit:
	}
	return NoIcon
}

// labelOf is what stands on the arrow of an action.
func labelOf(a *route.Action) Label {
	text := titleOr(a.Title, a.Name)
	if a.Trigger == route.TriggerTime && a.Timeout != nil {
		text += " after " + a.Timeout.Words()
	}
	return Label{Icon: iconOf(a), Text: text, Action: a.Name}
}

// lineOf is what stands in the box of a state that an action does not leave.
func lineOf(a *route.Action) Label {
	l := labelOf(a)
	if l.Icon == ByPeople {
		l.Icon = Again
	}
	return l
}

// stackOf is the node of the children of an action.
func stackOf(a *route.Action) Node {
	return Node{
		Kind: Stack, Action: a.Name, Title: titleOr(a.Title, a.Name),
		Lines: []Label{{Icon: ByPeople, Text: "cases of " + a.Child.Route, Action: a.Name}},
	}
}

// askedOf says whom children are for: "each voter".
func askedOf(c *route.Child) string {
	if len(c.Roles) == 0 {
		return "for " + c.Route
	}
	names := make([]string, len(c.Roles))
	for i, role := range c.Roles {
		names[i] = role.From
		if role.Each != route.PerRole {
			names[i] = "each " + role.From
		}
	}
	return strings.Join(names, ", ")
}

// whenOf says when or by whom an action is performed that no task is.
func whenOf(a *route.Action) string {
	switch a.Trigger {
	case route.TriggerAuto:
		return "by itself"
	case route.TriggerTime:
		if a.Timeout != nil {
			return "by itself after " + a.Timeout.Words()
		}
		return "by itself"
	case route.TriggerMessage:
		return "when " + a.Message + " is written"
	case route.TriggerInit:
		return "at the start"
	case route.TriggerChild, route.TriggerUser:
	}
	return ""
}

// allowedWords says who may perform an action without being asked to.
func allowedWords(r *route.Route, a route.Allowed) string {
	switch a.Kind {
	case route.AllowedRole:
		if found := r.Role(a.Name); found != nil {
			return titleOr(found.Title, a.Name)
		}
	case route.AllowedTeam:
		return "the team " + a.Name
	case route.AllowedEveryone:
		return "everyone"
	case route.AllowedReaders:
		return "everyone who sees the case"
	case route.AllowedUser:
	}
	return a.Name
}

// byOf says who performs an action.
func byOf(r *route.Route, a *route.Action) string {
	if a.Child != nil {
		return "cases of " + a.Child.Route
	}
	if when := whenOf(a); when != "" {
		return when
	}
	var names []string
	for _, role := range a.Roles {
		title := role
		if found := r.Role(role); found != nil {
			title = titleOr(found.Title, role)
		}
		names = append(names, title)
	}
	if a.Need != nil {
		names = append(names, fmt.Sprintf("%d of %s", a.Need.Count, a.Need.Role))
	}
	for _, one := range a.Allowed {
		if words := allowedWords(r, one); !slices.Contains(names, words) {
			names = append(names, words)
		}
	}
	if len(names) == 0 {
		return "who administers the route"
	}
	if a.Timeout != nil {
		names = append(names, "by itself after "+a.Timeout.Words())
	}
	return strings.Join(names, ", ")
}

// Row is an action in words. From and To are titles of states.
type Row struct {
	Action string // its name
	Title  string
	From   []string
	By     string
	To     []string
}

// rowsOf returns the actions of a route in order of definition.
func rowsOf(r *route.Route) []Row {
	out := make([]Row, len(r.Actions))
	after := followers(r)
	for i := range r.Actions {
		a := &r.Actions[i]
		out[i] = Row{Action: a.Name, Title: titleOr(a.Title, a.Name), By: byOf(r, a)}
		if r.Model == route.Dependency {
			out[i].From, out[i].To = few(precedes(r, a)), few(after[i])
			continue
		}
		out[i].From, out[i].To = few(fromOf(r, a)), few(toOf(r, a))
	}
	return out
}

// mostNamed is how many states or actions a row names.
const mostNamed = 20

// few returns the first of the names, and how many more there are.
func few(names []string) []string {
	over := len(names) - mostNamed
	if over <= 0 {
		return names
	}
	return append(names[:mostNamed:mostNamed], fmt.Sprintf("%d more", over))
}

func stateTitle(r *route.Route, state int) string {
	return cut(titleOr(r.States[state].Title, r.States[state].Name))
}

func fromOf(r *route.Route, a *route.Action) []string {
	var out []string
	if a.Always {
		return []string{"every state"}
	}
	for i := range r.States {
		if a.In.Has(i) || a.EnabledIn.Has(i) {
			out = append(out, stateTitle(r, i))
		}
	}
	return out
}

func toOf(r *route.Route, a *route.Action) []string {
	var out []string
	for _, o := range a.Outputs {
		to := "no other state"
		if o.To != route.NoState {
			to = stateTitle(r, o.To)
		}
		out = append(out, to+" ("+o.Name+")")
	}
	if a.To != route.NoState {
		out = append(out, stateTitle(r, a.To))
	}
	for _, i := range a.Transitions {
		t := &r.Transitions[i]
		to := stateTitle(r, t.To)
		if others := len(t.Requires) - 1; others > 0 {
			to += " (with " + otherTitles(r, t, a) + ")"
		}
		out = append(out, to)
	}
	if on, _ := handlerOf(r, a); on != nil {
		out = append(out, stateTitle(r, on.To)+" (if it fails)")
	}
	return out
}

func otherTitles(r *route.Route, t *route.Transition, a *route.Action) string {
	var out []string
	for _, i := range t.Requires {
		if other := &r.Actions[i]; other.Name != a.Name {
			out = append(out, cut(titleOr(other.Title, other.Name)))
		}
	}
	return strings.Join(few(out), " and ")
}

func precedes(r *route.Route, a *route.Action) []string {
	var out []string
	for _, after := range a.After {
		title := cut(titleOr(r.Actions[after.Action].Title, r.Actions[after.Action].Name))
		if after.Min > 1 {
			title += fmt.Sprintf(" ×%d", after.Min)
		}
		out = append(out, title)
	}
	return out
}

// followers returns the titles of the actions that wait for each action.
func followers(r *route.Route) [][]string {
	out := make([][]string, len(r.Actions))
	for i := range r.Actions {
		for _, after := range r.Actions[i].After {
			out[after.Action] = append(out[after.Action], cut(titleOr(r.Actions[i].Title, r.Actions[i].Name)))
		}
	}
	return out
}
