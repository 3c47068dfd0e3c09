package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// actionForm is the form by which a task is performed, or another thing is done with it.
type actionForm struct {
	Prefix      string // of the ids of its elements
	Post        string // where it is sent to
	Cancel      string // address without the form, "" for none
	Case        int64
	Do          string
	Name        string     // of the action that is chosen
	Submits     []formPart // on the button: for each choice what it is called
	Choices     []option   // the actions
	Leads       map[string]string
	Place       int        // of the chosen one among the choices, from 1; 0: there are no others
	More        []formPart // what else can be done with a task, and forms of choices that have fields
	Comment     string
	Resolutions []option
	Others      []otherAction // that can be chosen, and ask for a resolution
	Outputs     []option
	Fields      []*field
	To          string // whom it is delegated to
	People      []option
	AsksTo      bool
	Curl        string
	Key         string
	Refused     *refusal
	Moved       string // a 409 in words
	Says        string // what is done, if the button alone does not say it
	Last        string // what was done last in the case
	Faults      map[string]string
}

// formPart is a part of a form that shows while one of its choices is chosen. The style
// sheet does that, so that it needs no script.
type formPart struct {
	Place int // of the choice, from 1; 0: it always shows
	Title string
	Icon  string
	Href  string // "": it is no link
	About string // the title of the task, for those who do not see the choice
}

// otherAction is another action of a form, with the resolutions that it needs.
type otherAction struct {
	Place       int
	Name, Title string
	Resolutions []option
}

// formOptions say where a form stands and what it begins with.
type formOptions struct {
	prefix, chosen, do, post, cancel string
	list                             engine.Worklist
	open                             func(action string) string // the address of the form of another action
}

// doTitle returns what the button of a form says for what is done with a task, and its icon:
// to perform it has that of the action.
func doTitle(do, action, icon string) (string, string) {
	switch do {
	case "delegate":
		return "Delegate", "user"
	case "reject":
		return "Reject", "x"
	case "accept":
		return "Accept " + action, "check"
	case "release":
		return "Release", "check"
	case "skip":
		return "Skip " + action, "arrow"
	case "abort":
		return "Give up " + action, "x"
	case "retry":
		return "Try again", "check"
	}
	return action, icon
}

// actionForm returns the form of the reader's tasks in a case, nil if there is none.
func (x taskDrawing) actionForm(view *engine.CaseView, mine []shownTask, o formOptions) *actionForm {
	f := &actionForm{Prefix: o.prefix, Post: o.post, Cancel: o.cancel, Case: view.Case.ID, Do: cmp.Or(o.do, "perform"), Key: x.Key(), Leads: map[string]string{}, Faults: map[string]string{}}
	var chosen *shownTask
	mine = slices.Clone(mine) // the buttons end with yes; here it comes first
	slices.SortStableFunc(mine, func(a, b shownTask) int { return cmp.Compare(b.rank, a.rank) })
	for i := range mine {
		t := &mine[i]
		if !t.own() {
			continue
		}
		if t.name == o.chosen {
			chosen = t
		}
		if t.kind == "draft" {
			f.Choices = append(f.Choices, option{Value: t.name, Title: t.title})
			continue
		}
		if f.Do == "perform" && t.Enabled != nil && !t.mustAccept(view.Route) && t.Enabled.State != machine.Escalated {
			f.Choices = append(f.Choices, option{Value: t.name, Title: t.title})
			f.Leads[t.name] = leadsText(view, t)
		}
	}
	if chosen == nil && x.refused == nil && o.cancel == "" && len(f.Choices) > 0 { // on the page of a case
		first := f.Choices[0].Value
		chosen = &mine[slices.IndexFunc(mine, func(t shownTask) bool { return t.name == first })]
	}
	if chosen == nil {
		if x.refused == nil || o.chosen == "" {
			return nil
		}
		chosen = &shownTask{name: o.chosen, title: o.chosen, icon: "arrow"}
		f.Choices = nil
	}
	f.Name = chosen.name
	submit := formPart{}
	submit.Title, submit.Icon = doTitle(f.Do, chosen.title, chosen.icon)
	f.Submits = []formPart{submit}
	if f.Do == "reject" {
		f.Says = "This gives the task back: it stays with the others who can do it, and nothing is decided in the case."
	}
	if len(f.Choices) > 1 {
		f.Submits = nil
	}
	for i := range f.Choices {
		c := &f.Choices[i]
		if c.Chosen = c.Value == f.Name; len(f.Choices) > 1 {
			f.Submits = append(f.Submits, formPart{Place: i + 1, Title: c.Title, Icon: mine[slices.IndexFunc(mine, func(t shownTask) bool { return t.name == c.Value })].icon})
		}
		if c.Chosen && len(f.Choices) > 1 {
			f.Place = i + 1
		}
	}
	x.ask(f, view, chosen)
	x.askOthers(f, view, o)
	f.Refused = x.refused.within(f.asked())
	if x.refused != nil && x.refused.Kind == errs.ActionNotEnabled {
		f.Moved = x.movedOn(view)
	}
	f.Comment, _ = x.Sent("comment")
	f.Last = x.lastOf(view)
	x.curlOf(f)
	return f
}

// asked returns all fields of the form.
func (f *actionForm) asked() []*field {
	all := append([]*field{{Name: "comment", Label: "Comment"}}, f.Fields...)
	if len(f.Resolutions) > 0 {
		all = append(all, &field{Name: "resolution", Label: "Resolution"})
	}
	if f.AsksTo {
		all = append(all, &field{Name: "to", Label: "To"})
	}
	if len(f.Outputs) > 0 {
		all = append(all, &field{Name: "output", Label: "As if it had yielded"})
	}
	return all
}

// ask adds what the form asks for: the fields of the action, resolutions, whom.
func (x taskDrawing) ask(f *actionForm, view *engine.CaseView, t *shownTask) {
	for _, name := range []string{"comment", "resolution", "to", "output"} {
		f.Faults[name] = x.refused.Of(name)
	}
	if f.Do == "delegate" {
		f.AsksTo, f.People = true, others(x.visit)
		f.To, _ = x.Sent("to")
	}
	if t.kind == "draft" && f.Do == "perform" {
		f.Fields = draftFields(view.Case, view.Route)
		x.fill(f.Fields, f.Prefix)
	}
	if t.Enabled == nil {
		return
	}
	a := &view.Route.Actions[t.Action]
	if f.Do == "perform" {
		typed, _ := x.Sent("resolution")
		f.Resolutions = resolutionsOf(a, typed)
		f.Fields = fieldsOf(a.Form, view.Case.Xattrs)
		for _, one := range f.Fields {
			one.Loose = len(f.Choices) > 1
			if one.Label == one.Key { // the form has no title for it; the route may
				one.Label = fieldTitle(view.Route, one.Key)
			}
		}
		x.fill(f.Fields, f.Prefix)
	}
	if f.Do == "skip" {
		typed, _ := x.Sent("output")
		for _, out := range a.Outputs {
			f.Outputs = append(f.Outputs, option{Value: out.Name, Title: out.Name, Chosen: typed == out.Name})
		}
	}
}

// askOthers adds what the choices ask for that are not chosen: resolutions, and links to the
// forms of those that have fields.
func (x taskDrawing) askOthers(f *actionForm, view *engine.CaseView, o formOptions) {
	typed, _ := x.Sent("resolution")
	for n, c := range f.Choices {
		i := view.Route.Action(c.Value)
		if c.Value == f.Name || i < 0 || i >= len(view.Route.Actions) {
			continue
		}
		a := &view.Route.Actions[i]
		if len(a.Resolutions) > 0 {
			f.Others = append(f.Others, otherAction{n + 1, c.Value, c.Title, resolutionsOf(a, typed)})
		}
		if a.Form != nil && len(a.Form.Asked()) > 0 && o.open != nil {
			f.More = append(f.More, formPart{Place: n + 1, Title: "Open its form, which asks for more", Href: o.open(c.Value), About: c.Title})
		}
	}
}

// resolutionsOf returns the resolutions of an action, as one can choose them.
func resolutionsOf(a *route.Action, typed string) (out []option) {
	for _, r := range a.Resolutions {
		out = append(out, option{Value: r.Name, Title: cmp.Or(r.Title, r.Name), Chosen: typed == r.Name})
	}
	return out
}

// leadsText returns the title of the state that the action leads to, if that is certain.
func leadsText(view *engine.CaseView, t *shownTask) string {
	names := machine.LeadsTo(view.Case, view.Route, &view.Route.Actions[t.Action])
	if len(names) != 1 {
		return ""
	}
	return stateTitle(view.Route, names[0])
}

// movedOn says who was faster, and where the case is now.
func (x taskDrawing) movedOn(view *engine.CaseView) string {
	text := x.refused.Detail
	if by := x.refused.By; len(by) > 0 {
		var name string
		if n, err := document.ParseJSON(by); err == nil && n.Kind == document.String {
			name = n.Text
		}
		if name != "" {
			text = x.Queries.Person(name).Shown() + " was faster"
			if strings.EqualFold(name, x.Me()) {
				text = "You have done that already"
			}
			if at, err := time.Parse(time.RFC3339, x.refused.At); err == nil {
				text += ": " + x.Words.Moment(at)
			}
			text += "."
		}
	}
	if state := stateTitle(view.Route, view.Case.Status); state != "" {
		text += " The case is in " + state + "."
	}
	return text
}

// lastOf says what was done last in the case.
func (x taskDrawing) lastOf(view *engine.CaseView) string {
	last, text := machine.Last(view.Case, view.Route)
	if last == nil || last.By == "" {
		return ""
	}
	return cmp.Or(text, last.Action) + " by " + x.Queries.Person(last.By).Shown() + ", " + x.Words.Moment(last.At)
}

// curlOf adds the curl line of the form as it stands. If a resolution is needed and none
// is chosen yet, it has the first.
func (x taskDrawing) curlOf(f *actionForm) {
	v := url.Values{"case": {strconv.FormatInt(f.Case, 10)}, "action": {f.Name}, "do": {f.Do}, "comment": {f.Comment}, "to": {f.To}}
	for i, r := range f.Resolutions {
		if r.Chosen || i == 0 {
			v.Set("resolution", r.Value)
		}
	}
	for _, one := range f.Fields {
		v.Set(one.Name, one.Value)
	}
	f.Curl = x.curlLines([]driveRequest{taskRequest(v, f.Fields)})
}

// taskRequest returns the request that does something with a task.
func taskRequest(v url.Values, fields []*field) driveRequest {
	id, action, do := v.Get("case"), v.Get("action"), cmp.Or(v.Get("do"), "perform")
	q := driveRequest{Method: "PUT", Path: "/dav/Workflow/Cases/" + id + "/Actions/" + url.PathEscape(action) + ".json"}
	members := []member{text("comment", v.Get("comment"))}
	switch do {
	case "perform":
		members = append(members, text("resolution", v.Get("resolution")))
		if xattrs := sentXattrs(fields, v); len(xattrs) > 0 {
			members = append(members, member{"xattrDict", object(xattrs...)})
		}
	case "skip":
		members = append([]member{text("do", do)}, append(members, text("output", v.Get("output")))...)
	case "delegate":
		members = append([]member{text("do", do), {"to", document.AppendString(nil, v.Get("to"))}}, members...)
	default:
		members = append([]member{text("do", do)}, members...)
	}
	q.Body = object(members...)
	return q
}

// dueAt returns a date as the time by which something is due.
func (x *visit) dueAt(t time.Time) dueView {
	d := dueView{Icon: "clock", Text: x.Words.Time(t, x.Words.Relative(t)), Sub: x.Words.Exact(t)}
	switch {
	case !t.After(x.now):
		d.Class, d.Icon = "bad", "late"
	case x.Words.days(t) <= 1:
		d.Class = "warn"
	}
	return d
}

// timedAction returns the action of an enablement if it performs itself at a time.
func timedAction(r *route.Route, en *machine.Enabled) *route.Action {
	i := r.Action(en.Action)
	if i < 0 || i >= len(r.Actions) || en.Due.IsZero() || r.Actions[i].Trigger != route.TriggerTime {
		return nil
	}
	return &r.Actions[i]
}

// takes reports whether a task is performed by the form, or may be.
func (f *actionForm) takes(action string) bool {
	return f != nil && f.Do == "perform" && (f.Name == action || slices.ContainsFunc(f.Choices, func(c option) bool { return c.Value == action }))
}

// addMore adds what else can be done with a task that the form performs.
func (f *actionForm) addMore(t *shownTask, more []anchor) {
	place := 0
	if len(f.Choices) > 1 {
		place = 1 + slices.IndexFunc(f.Choices, func(c option) bool { return c.Value == t.name })
	}
	for _, one := range more {
		title := one.Label + "…"
		if one.Label == "Accept" {
			title = "Accept for me"
		}
		f.More = append(f.More, formPart{Place: place, Title: title, Href: one.Href + "#todo", About: t.title})
	}
}
