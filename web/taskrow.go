package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// taskRow is a case in which the reader has tasks, with its tasks as buttons.
type taskRow struct {
	ID       int64
	Title    string
	Facts    []string // behind the number
	Warnings []string
	Due      dueView
	Buttons  []taskButton
	Menu     []anchor
	Form     *actionForm // while it is open
	Close    string      // address without the open form
	Bulk     []string    // the actions that can be performed together with others
	Fault    string      // why something could not be done
}

// taskButton opens the form of a task, or does at once what needs no form.
type taskButton struct {
	Title string
	Href  string // "": it does it at once
	Do    string
	Name  string // of the action
	Key   string
	rank  int  // as that of its task
	First bool // the form of the case begins with it: the key e presses it
}

// dueView is when something is due, as pages show it.
type dueView struct {
	Class, Icon string // of the mark, "" for none
	Text        template.HTML
	Sub         string
}

// bulkAction is what can be done with several cases at once.
type bulkAction struct{ Route, Action, Resolution, Title string }

// bulkActions returns the ways in which an action can be performed in several cases: one,
// or one a resolution.
func bulkActions(view *engine.CaseView, t *shownTask) (out []bulkAction) {
	for _, r := range view.Route.Actions[t.Action].Resolutions {
		out = append(out, bulkAction{view.Case.RouteName, t.name, r.Name, t.title + ": " + cmp.Or(r.Title, r.Name)})
	}
	if out == nil {
		out = append(out, bulkAction{view.Case.RouteName, t.name, "", t.title})
	}
	return out
}

// titleOf returns what a case is called: its title, else that of its route.
func titleOf(v *engine.CaseView) string { return cmp.Or(v.Case.Title, routeTitle(v)) }

func routeTitle(v *engine.CaseView) string { return cmp.Or(v.Route.Title, v.Case.RouteName) }

// stateTitle returns the title of a state of the route, "" for none.
func stateTitle(r *route.Route, name string) string {
	i := r.State(name)
	if i < 0 || i >= len(r.States) {
		return name
	}
	return cmp.Or(r.States[i].Title, r.States[i].Name)
}

// valueText returns the value of an XATTR as pages show it.
func valueText(v label.Value) string {
	if v.Kind == document.Number {
		return number(v.Text)
	}
	return v.Text
}

// mostOfFact is how many characters of it a row has.
const mostOfFact = 100

// firstFact returns the value of the first declared XATTR that has one.
func firstFact(v *engine.CaseView) string {
	for i := range v.Route.Xattrs {
		if value, set := v.Case.Xattrs.Get(v.Route.Xattrs[i].Key); set && value.Text != "" {
			return shorten(valueText(value), mostOfFact)
		}
	}
	return ""
}

// starterText says who started a case.
func (x *visit) starterText(c *machine.Case) string {
	if c.ScheduleUUID != "" {
		return "from the schedule"
	}
	return x.Queries.Person(c.Starter).Shown()
}

// taskRow returns the row of a case, nil if the reader has no task there any more.
func (x taskDrawing) taskRow(v *tasksView, s sorted, view *engine.CaseView) *taskRow {
	mine := x.tasksOn(view, v.List)
	if len(mine) == 0 {
		return nil
	}
	row := &taskRow{ID: view.Case.ID, Title: titleOf(view)}
	for _, fact := range []string{routeTitle(view), x.starterText(view.Case), firstFact(view), stateTitle(view.Route, view.Case.Status)} {
		if fact != "" {
			row.Facts = append(row.Facts, fact)
		}
	}
	if s.Deputy != "" {
		row.Facts = append(row.Facts, "for "+x.Queries.Person(s.Deputy).Shown()+", whose deputy you are")
	}
	for _, w := range view.Case.Warnings {
		row.Warnings = append(row.Warnings, x.Words.Instants(w.Text))
	}
	row.Due = x.dueOf(view, s)
	row.Close = x.with("open", "", "do", "")
	x.addButtons(v, row, view, mine)
	caseID, action, _ := strings.Cut(cmp.Or(x.sentTask(), x.query.Get("open")), ".")
	if caseID == strconv.FormatInt(row.ID, 10) {
		open := func(id, action string) string { return x.with("open", id+"."+action, "do", "") + "#t" + id }
		row.Form = x.actionForm(view, mine, formOptions{
			prefix: "t" + caseID + "-", chosen: action, do: cmp.Or(x.sentDo(), x.query.Get("do")), post: x.with("open", "", "do", ""), cancel: row.Close, list: v.List,
			open: func(action string) string { return open(caseID, action) },
		})
	}
	return row
}

// sentTask returns the task of the form that is drawn again, "" for none.
func (x taskDrawing) sentTask() string {
	if x.sent == nil {
		return ""
	}
	id := cmp.Or(x.sent.Get("case"), x.r.PathValue("id")) // the page of a case is about that one
	if id == "" || x.sent.Get("action") == "" {
		return ""
	}
	return id + "." + x.sent.Get("action")
}

func (x *visit) sentDo() string {
	if x.sent == nil {
		return ""
	}
	return x.sent.Get("do")
}

// shownTask is a task with what a row says of it.
type shownTask struct {
	machine.Task
	name, title, kind string
	rank              int    // in the order of the buttons
	icon              string // of the button that performs it
	possible          bool   // it is not the reader's task, but may be performed
}

// tasksOn returns the reader's tasks in the case that are on the list, in the order of
// the buttons: what denies and cancels first, so that yes is always at the edge.
func (x taskDrawing) tasksOn(view *engine.CaseView, list engine.Worklist) (out []shownTask) {
	for _, t := range view.Tasks {
		if list != "" && t.Lists&list.Lists() == 0 {
			continue
		}
		out = append(out, shownTaskOf(view, t))
	}
	slices.SortStableFunc(out, func(a, b shownTask) int { return cmp.Compare(a.rank, b.rank) })
	return out
}

func shownTaskOf(view *engine.CaseView, t machine.Task) shownTask {
	switch {
	case t.Failed != nil:
		return shownTask{Task: t, name: t.Failed.Name, title: t.Failed.Title, kind: "failed"}
	case t.OfCase:
		return shownTask{Task: t, kind: "warned"}
	case t.OfDraft:
		return shownTask{Task: t, name: machine.DraftAction, title: machine.DraftTitle(view.Case, view.Route), kind: "draft", icon: "check"}
	}
	a := &view.Route.Actions[t.Action]
	rank := 1
	switch a.Type {
	case "deny", "cancel":
		rank = 0
	case "approve":
		rank = 2
	}
	return shownTask{Task: t, name: a.Name, title: cmp.Or(a.Title, a.Name), kind: string(t.Enabled.State), rank: rank, icon: actionIcon(view.Route, a)}
}

// actionIcon returns the icon of the button that performs an action. It follows what the
// action does: its type says it, or else the state that it leads to.
func actionIcon(r *route.Route, a *route.Action) string {
	switch a.Type {
	case "deny", "cancel":
		return "x"
	case "approve", "resolve":
		return "check"
	}
	if a.Type == "" && a.To != route.NoState {
		switch r.States[a.To].Type {
		case route.StateDenied, route.StateCancelled, route.StateFailed:
			return "x"
		case route.StateComplete:
			return "check"
		case route.StateStart, route.StateNormal:
		}
	}
	return "arrow"
}

// own reports whether the reader can do something with the task.
func (t *shownTask) own() bool {
	return t.possible || t.Lists&machine.OwnLists != 0 && t.kind != "warned"
}

// mustAccept reports whether the task has to be accepted before it is performed.
func (t *shownTask) mustAccept(r *route.Route) bool {
	return t.Enabled != nil && t.Enabled.State == machine.Offered && r.Actions[t.Action].MustAccept
}

// addButtons gives the row two buttons at most, three if there is nothing else, and a
// menu.
func (x taskDrawing) addButtons(v *tasksView, row *taskRow, view *engine.CaseView, mine []shownTask) {
	id := strconv.FormatInt(row.ID, 10)
	// The address leads to the field that is written first, so that the browser gives it the
	// focus, also without script.
	open := func(name, do string) string {
		field := "comment"
		if do == "delegate" {
			field = "to"
		}
		return x.with("open", id+"."+name, "do", do) + "#t" + id + "-" + field
	}
	var menu []anchor
	of := func(verb string, t *shownTask) string {
		if len(mine) == 1 {
			return verb
		}
		return verb + " “" + t.title + "”"
	}
	for i := range mine {
		t := &mine[i]
		if t.kind == "failed" || t.kind == string(machine.Escalated) {
			row.Fault = faultText(t)
		}
		if !t.own() {
			continue
		}
		switch {
		case t.kind == "failed" || t.kind == string(machine.Escalated):
			row.Buttons = append(row.Buttons, taskButton{Title: "Try again", Do: "retry", Name: t.name, Key: x.Key(), rank: t.rank})
			if t.kind == string(machine.Escalated) {
				menu = append(menu, anchor{Label: of("Skip", t) + "…", Href: open(t.name, "skip")})
			}
			menu = append(menu, anchor{Label: of("Give up", t) + "…", Href: open(t.name, "abort")})
		case t.kind == "draft":
			row.Buttons = append(row.Buttons, taskButton{Title: t.title, Href: open(t.name, ""), rank: t.rank})
		case t.mustAccept(view.Route):
			row.Buttons = append(row.Buttons, taskButton{Title: "Accept", Do: "accept", Name: t.name, Key: x.Key(), rank: t.rank})
			menu = append(menu, anchor{Label: of("Delegate", t) + "…", Href: open(t.name, "delegate")}, anchor{Label: of("Reject", t) + "…", Href: open(t.name, "reject")})
		default:
			row.Buttons = append(row.Buttons, taskButton{Title: t.title, Href: open(t.name, ""), rank: t.rank})
			menu = append(menu, menuOf(view, t, func(verb, do string) anchor { return anchor{Label: of(verb, t), Href: open(t.name, do)} })...)
			if v.List == engine.WorklistOffered {
				if len(row.Bulk) < mostBulkActions {
					row.Bulk = append(row.Bulk, t.name)
				}
				for _, b := range bulkActions(view, t) {
					if len(v.Bulk) < mostBulkActions && !slices.Contains(v.Bulk, b) {
						v.Bulk = append(v.Bulk, b)
					}
				}
			}
		}
	}
	if v.List == engine.WorklistAccepted {
		for i := range mine {
			if t := &mine[i]; t.kind == string(machine.Accepted) {
				row.Buttons = append([]taskButton{{Title: "Release", Do: "release", Name: t.name, Key: x.Key(), rank: -1}}, row.Buttons...)
			}
		}
	}
	if most := 2; len(row.Buttons) > most && (len(menu) > 0 || len(row.Buttons) > most+1) {
		for _, b := range row.Buttons[:len(row.Buttons)-most] {
			if b.Href != "" {
				menu = append([]anchor{{Label: b.Title, Href: b.Href}}, menu...)
			}
		}
		row.Buttons = row.Buttons[len(row.Buttons)-most:]
	}
	markFirst(row.Buttons)
	last := anchor{Label: "Open the case", Href: "/cases/" + id}
	if more := len(menu) - mostMenu; more > 0 {
		menu = menu[:mostMenu]
		last.Label = fmt.Sprintf("Open the case: %d more", more)
	}
	row.Menu = append(menu, last)
}

// markFirst marks the button with which the form of the case begins: what agrees, or else what
// the route names first.
func markFirst(buttons []taskButton) {
	first := -1
	for i := range buttons {
		if first < 0 || buttons[i].rank > buttons[first].rank {
			first = i
		}
	}
	if first >= 0 {
		buttons[first].First = true
	}
}

// A case can have a thousand tasks: a row offers the first of them, and the page of the case
// all.
const (
	mostMenu        = 30
	mostBulkActions = 50
)

// menuOf returns what else can be done with a task.
func menuOf(view *engine.CaseView, t *shownTask, entry func(verb, do string) anchor) (out []anchor) {
	several := view.Route.Actions[t.Action].Need != nil
	if t.Enabled.State == machine.Offered {
		if !several {
			out = append(out, entry("Accept", "accept"))
		}
		out = append(out, entry("Reject", "reject"))
	}
	if !several {
		out = append(out, entry("Delegate", "delegate"))
	}
	return out
}

// faultText says what the server could not do, and how often it has tried.
func faultText(t *shownTask) string {
	if t.Failed != nil {
		return fmt.Sprintf("%s: %s (%s)", t.Failed.Title, t.Failed.Fault, plural(int(t.Failed.Attempts), "attempt"))
	}
	where := t.title
	if t.Enabled.Step != "" {
		where += ", step " + t.Enabled.Step
	}
	return where + ": " + t.Enabled.Fault
}

// dueOf returns when the tasks of a row are due; without a date what decides if nobody
// does, or since when they are offered.
func (x *visit) dueOf(view *engine.CaseView, s sorted) dueView {
	if !s.due.IsZero() {
		return x.dueAt(s.due)
	}
	for i := range view.Case.Enabled {
		en := &view.Case.Enabled[i]
		a := timedAction(view.Route, en)
		if a == nil {
			continue
		}
		d := x.dueAt(en.Due)
		d.Sub = "else: " + lowerFirst(cmp.Or(a.Title, a.Name))
		return d
	}
	return dueView{Sub: "since " + x.Words.Since(s.offered)}
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func lowerFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}
