package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

func casePages() []page {
	return []page{{
		pattern: "/cases", query: []string{"route", "state", "status", "role", "context", "parent", "q", "sort", "after", "archived", "changed"}, draw: drawCases,
	}, casePage(), {pattern: "/cases/{id}/messages/{uuid}", draw: drawMessage}}
}

// caseView is what case.html shows.
type caseView struct {
	ID          int64
	Title       string
	Life        mark
	Route       string // its title
	RouteName   string
	Starter     Person
	StarterIs   string // how it was started, in a word
	Created     template.HTML
	State       string // the title of the state
	Since       string
	Picture     template.HTML // of the route with the way of the case, for wide pages
	PictureTall template.HTML // for narrow ones
	Parent      int64
	Commands    []anchor
	Ask         *caseAsk
	Attach      *asking
	Edit        *asking
	EditFields  string // address of the form that changes the fields, "": the reader may not
	EditPeople  string // likewise
	WriteLabel  string // likewise, that writes a message
	AttachAt    string // address of the form that attaches a file, "": nothing is attached any more
	Watch       string // what the form is called that has the reader watch the route, or no longer; "": the reader does not see it
	WatchCurl   string
	Notes       []note
	Failures    []failureNote
	Forecast    *forecastView
	Deliveries  *deliveriesView // nil: nothing was asked for outside
	Form        *actionForm
	Lost        *lostForm
	Why         string // why there is no form
	Role        string // as whom the reader acts
	Due         dueView
	More        []anchor // what else can be done with the tasks
	Can         []anchor // what the reader may do though nobody waits for them
	Others      []otherTask
	Need        []needView
	Vote        *voteView
	Log         []logLine
	LogTabs     []tab
	Earlier     string
	Messages    []messageView
	Files       []caseFile
	Timers      []timerView
	Fields      []fieldView
	People      []roleView
	About       []aboutLine
	Key         string
	Post        string
}

// mark is a state as pages show it: a shape, a word, a colour.
type mark struct{ Class, Icon, Text string }

// note is what a page says above what it shows.
type note struct{ Class, Icon, Title, Text string }

// failureNote says what could not be done.
type failureNote struct {
	note
	Task  string // by which it is tried again
	Again string // address of the form by which the reader has it tried again, "" if they may not
}

// caseAsk is what is asked before something is done with a case.
type caseAsk struct {
	Do, Title, Text, Submit string
	Field, Label, Value     string // of a text; Field "": there is none
	Hint                    string
	Needed                  bool
	Cancel                  string
	Key                     string
	Curl                    string
	Refused                 *refusal
	Fault                   string
	Timer                   string
}

// otherTask is an action that others can do.
type otherTask struct{ Title, Who string }

// aboutLine is a line of a list of keys and values.
type aboutLine struct {
	Key   string
	Value string
	Href  string
}

// lifeMark returns the life of a case as a mark.
func lifeMark(c *machine.Case) mark {
	if c.IsDraft() {
		return mark{"hold", "edit", "Draft"}
	}
	switch c.Shown() {
	case machine.Queued:
		return mark{"hold", "queued", "Queued"}
	case machine.Suspended:
		return mark{"hold", "suspended", "Suspended"}
	case machine.Completed:
		return mark{"good", "done", "Completed"}
	case machine.Closed:
		return mark{"off", "lock", "Closed"}
	case machine.Canceled:
		return mark{"off", "cancelled", "Canceled"}
	case machine.Failed:
		return mark{"bad", "failed", "Failed"}
	case machine.Active:
	}
	return mark{"active", "active", "Active"}
}

func drawCase(x *visit) error {
	id, err := strconv.ParseInt(x.r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 || strconv.FormatInt(id, 10) != x.r.PathValue("id") {
		return absent()
	}
	if log := x.query.Get("log"); log != "" && log != "decisions" {
		return errs.New(errs.BadParameter, "log can be decisions, not %q.", log)
	}
	d, err := x.Queries.CaseDetail(x.r.Context(), x.by, id, x.logRoom)
	if err != nil {
		return err
	}
	if err := x.caseDrawing().knows(d); err != nil {
		return err
	}
	c := d.Case
	v := &caseView{
		ID: id, Title: titleOf(&d.CaseView), Life: lifeMark(c), Route: routeTitle(&d.CaseView), RouteName: c.RouteName,
		Starter: x.Queries.Person(c.Starter), StarterIs: startedText(d.Route), Created: x.Words.Time(c.Created, x.Words.Relative(c.Created)),
		State: stateTitle(d.Route, c.Status), Parent: c.Parent, Key: x.Key(), Post: x.with("open", "", "do", "", "timer", ""),
	}
	if c.ScheduleUUID != "" {
		v.StarterIs = "from the schedule, for"
	}
	x.caseDrawing().notesOf(v, d)
	x.caseDrawing().sinceOf(v, d)
	if err := x.pictureOf(v); err != nil {
		return err
	}
	x.caseDrawing().commandsOf(v, d)
	x.caseDrawing().editsOf(v, d)
	x.caseDrawing().todoOf(v, d)
	x.caseDrawing().needsOf(v, d)
	x.caseDrawing().voteOf(v, d)
	if err := x.caseDrawing().logOf(v, d); err != nil {
		return err
	}
	x.caseDrawing().messagesOf(v, d)
	if err := x.caseDrawing().filesOf(v, d); err != nil {
		return err
	}
	if err := x.caseDrawing().watchOf(v, c); err != nil {
		return err
	}
	x.caseDrawing().timersOf(v, d)
	if err := x.foreseeCase(v, d); err != nil {
		return err
	}
	if err := x.caseDrawing().deliveriesOf(v, d); err != nil {
		return err
	}
	x.caseDrawing().xattrsOf(v, d)
	x.caseDrawing().peopleOf(v, d)
	x.caseDrawing().aboutOf(v, d)
	path := fmt.Sprintf("/dav/Workflow/Cases/%d", id)
	return x.draw("case.html", head{Title: v.Title, Nav: "cases", Path: path, JSON: path + ".json"}, v)
}

// startedText says how a case was started, in the words of its route.
func startedText(r *route.Route) string {
	if r.Init >= 0 && r.Init < len(r.Actions) {
		if past := pastForm(&r.Actions[r.Init]); past != "" {
			return past + " by"
		}
	}
	return "started by"
}

// pastForm returns the past form of an action within a sentence, "" if its author gave it none.
func pastForm(a *route.Action) string {
	if a.Past == a.Title || a.Past == a.Name {
		return ""
	}
	return lowerFirst(a.Past)
}

// caseDrawing draws the page of a case.
type caseDrawing struct{ *visit }

func (x *visit) caseDrawing() caseDrawing { return caseDrawing{x} }

// notesOf adds the warnings, and what stands above everything else.
func (x caseDrawing) notesOf(v *caseView, d *engine.CaseDetail) {
	c := d.Case
	switch {
	case d.Archived != 0 && c.Life == machine.Canceled:
		v.Notes = append(v.Notes, note{"", "lock", "This case is canceled, and in the archive.", "It can be read, and not changed. Those who administer its route can reopen it for as long as it is there."})
	case d.Archived != 0:
		v.Notes = append(v.Notes, note{"", "lock", "This case is in the archive.", "It can be read, and not changed."})
	case c.Life == machine.Canceled:
		v.Notes = append(v.Notes, note{"", "cancelled", "This case is canceled.", "Those who administer its route can reopen it" + x.untilDeleted(d) + ", and who canceled it for 15 minutes."})
	case c.Life == machine.Queued && !c.StartAt.IsZero() && c.StartAt.After(x.now):
		v.Notes = append(v.Notes, note{"warn", "queued", "Queued until " + x.Words.Exact(c.StartAt) + ".", "It starts by itself then."})
	case c.Life == machine.Suspended && !c.SuspendedUntil.IsZero():
		v.Notes = append(v.Notes, note{"warn", "suspended", "Suspended until " + x.Words.Exact(c.SuspendedUntil) + ".", "It goes on by itself then."})
	case c.Life == machine.Suspended:
		v.Notes = append(v.Notes, note{"warn", "suspended", "Suspended.", "Its timers stand still until it is resumed."})
	}
	if c.IsDraft() {
		v.Notes = append(v.Notes, note{"warn", "queued", "This case is a draft.", machine.DraftWhy(c, d.Route)})
	}
	undone := c.AllUndone()
	for _, u := range undone {
		v.Failures = append(v.Failures, failureNote{
			note: note{"bad", "failed", undoneTitle(d.Route, u) + " could not be done.", u.Fault + " (" + plural(int(u.Attempts), "attempt") + ", " + x.Words.Moment(u.At) + ")"},
			Task: u.Name,
		})
	}
	for i := range c.Enabled {
		if en := &c.Enabled[i]; en.State == machine.Escalated {
			v.Failures = append(v.Failures, failureNote{note: note{"bad", "escalated", actionTitle(d.Route, en.Action) + " could not be done.", en.Fault}, Task: en.Action})
		}
	}
	for _, w := range c.Warnings {
		if !slices.ContainsFunc(undone, func(u *machine.Undone) bool { return u.Fault != "" && strings.HasSuffix(w.Text, u.Fault) }) { // it is told above
			v.Notes = append(v.Notes, note{"warn", "warn", x.Words.Instants(w.Text), x.Words.Moment(w.Time)})
		}
	}
}

// untilDeleted says until when a case that has ended can be reopened, if its route deletes it.
func (x caseDrawing) untilDeleted(d *engine.CaseDetail) string {
	if at := d.Case.RetiredAt(d.Route); d.Route.Then == route.ThenDelete && !at.IsZero() {
		return " until " + x.Words.Exact(at) + ": then it is deleted"
	}
	return ""
}

// undoneTitle says what has failed: "Run (exec)".
func undoneTitle(r *route.Route, u *machine.Undone) string {
	title := actionTitle(r, u.Action)
	if u.Step != "" {
		title += " (" + u.Step + ")"
	}
	return title
}

// actionTitle returns the title of an action of the route.
func actionTitle(r *route.Route, name string) string {
	if i := r.Action(name); i >= 0 && i < len(r.Actions) {
		return cmp.Or(r.Actions[i].Title, name)
	}
	return name
}

// sinceOf says since when the case is in its state: since its log said so last.
func (x caseDrawing) sinceOf(v *caseView, d *engine.CaseDetail) {
	if d.Case.Status == "" {
		return
	}
	for _, e := range slices.Backward(d.Log) {
		if e.To != nil && *e.To == d.Case.Status && (e.From == nil || *e.From != *e.To) {
			v.Since = "since " + x.Words.Moment(e.Time)
			return
		}
	}
}

// knows refuses an address that names an action or a timer that the route of the case
// has not.
func (x caseDrawing) knows(d *engine.CaseDetail) error {
	if open := x.query.Get("open"); open != "" && !machine.KnowsTask(d.Route, open) {
		return errs.New(errs.BadParameter, "open can be the name of an action of the route, not %q.", open)
	}
	if timer := x.query.Get("timer"); timer != "" && !d.Route.KnowsTimer(timer) {
		return errs.New(errs.BadParameter, "timer can be the name of a timer of the case, not %q.", timer)
	}
	return nil
}

// todoOf adds the form of the reader's tasks, and what others can do.
func (x caseDrawing) todoOf(v *caseView, d *engine.CaseDetail) {
	mine := slices.DeleteFunc(x.taskDrawing().tasksOn(&d.CaseView, ""), func(t shownTask) bool { return !t.own() })
	chosen := x.query.Get("open")
	if isCaseCommand(x.sentDo()) { // what was sent is not this form
		sent, refused := x.sent, x.refused
		x.sent, x.refused = nil, nil
		defer func() { x.sent, x.refused = sent, refused }()
	}
	if x.taskDrawing().sentTask() != "" {
		chosen = x.sent.Get("action")
	}
	do := cmp.Or(x.sentDo(), x.query.Get("do"))
	if isCaseCommand(do) {
		do = ""
	}
	here := v.Post
	besides, free := x.besidesOf(v, d, chosen)
	mine = append(mine, besides...)
	v.Form = x.taskDrawing().actionForm(&d.CaseView, mine, formOptions{
		prefix: "c-", chosen: chosen, do: do, post: here, open: func(action string) string { return x.with("open", action, "do", "") + "#todo" },
	})
	if v.Form != nil && (len(besides) > 0 || do != "" && do != "perform") {
		v.Form.Cancel = here
	}
	var due time.Time
	for i := range mine {
		t := &mine[i]
		if t.possible {
			continue
		}
		if t.kind == "draft" {
			v.More = append(v.More, anchor{Label: "Give up the draft", Href: x.with("open", t.name, "do", "abort")})
			continue
		}
		if t.Enabled == nil || t.Enabled.State == machine.Escalated {
			v.tryAgain(t.name, x.with("open", t.name, "do", "retry"))
		}
		if t.Enabled == nil {
			continue
		}
		if at := t.Enabled.DueBy(); !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
		if more := x.moreOf(d, t, len(mine) > 1); v.Form.takes(t.name) {
			v.Form.addMore(t, x.moreOf(d, t, false))
		} else {
			v.More = append(v.More, more...)
		}
	}
	if !due.IsZero() {
		v.Due = x.dueAt(due)
		v.Due.Text = x.Words.Time(due, "due "+x.Words.Moment(due))
	}
	for i := range d.Case.Enabled {
		en := &d.Case.Enabled[i]
		a := d.Route.Action(en.Action)
		if a < 0 || a >= len(d.Route.Actions) || d.Route.Actions[a].Trigger != route.TriggerUser || free[en.Action] || slices.ContainsFunc(mine, func(t shownTask) bool { return t.name == en.Action }) {
			continue
		}
		v.Others = append(v.Others, otherTask{actionTitle(d.Route, en.Action), x.whoText(d, en)})
	}
	if v.Form == nil {
		v.Lost = x.taskDrawing().lost()
		v.Why = whyNothing(d, v)
	}
}

// tryAgain adds the address at which what has failed is tried again.
func (v *caseView) tryAgain(task, address string) {
	for i := range v.Failures {
		if v.Failures[i].Task == task {
			v.Failures[i].Again = address
		}
	}
}

// besidesOf adds links to what the reader may do though nobody waits for them, and returns
// the one that was chosen, if it is one of these, and which of them are nobody's task.
func (x caseDrawing) besidesOf(v *caseView, d *engine.CaseDetail, chosen string) (one []shownTask, free map[string]bool) {
	free = map[string]bool{}
	for _, task := range d.Possible() {
		t := shownTaskOf(&d.CaseView, task)
		t.possible = true
		free[t.name] = len(machine.Assignees(d.Case, d.Route, t.Enabled)) == 0
		if t.name == chosen {
			one = append(one, t)
			continue
		}
		v.Can = append(v.Can, anchor{Label: t.title, Href: x.with("open", t.name, "do", "")})
	}
	return one, free
}

// moreOf returns what else can be done with a task, as links.
func (x caseDrawing) moreOf(d *engine.CaseDetail, t *shownTask, several bool) (out []anchor) {
	of := func(verb string) string {
		if !several {
			return verb
		}
		return verb + " “" + t.title + "”"
	}
	link := func(verb, do string) anchor { return anchor{Label: of(verb), Href: x.with("open", t.name, "do", do)} }
	switch t.Enabled.State {
	case machine.Accepted:
		return []anchor{link("Release", "release"), link("Delegate", "delegate")}
	case machine.Escalated:
		return []anchor{link("Try again", "retry"), link("Skip", "skip"), link("Give up", "abort")}
	case machine.Offered:
		return menuOf(&d.CaseView, t, link)
	case machine.Waiting, machine.Running:
	}
	return nil
}

// whoText says who can do an action, or has accepted it.
func (x caseDrawing) whoText(d *engine.CaseDetail, en *machine.Enabled) string {
	if en.By != "" {
		return x.Queries.Person(en.By).Shown() + " has accepted it"
	}
	if en.State == machine.Waiting {
		return "not yet"
	}
	var names []string
	for _, party := range machine.Performers(d.Case, d.Route, en) {
		names = append(names, x.partyText(party))
	}
	if len(names) == 0 {
		return "only the route's administrators can do it"
	}
	return joined(names) + " can do it"
}

// partyText returns what a party is called.
func (x caseDrawing) partyText(party string) string {
	switch party {
	case machine.PartyAdmins:
		return "the route's administrators"
	case machine.PartyStakeholders:
		return "the stakeholders"
	}
	return x.Queries.Person(party).Shown()
}

// joined returns names as a sentence has them.
func joined(names []string) string {
	out := ""
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			out += " and "
		default:
			out += ", "
		}
		out += name
	}
	return out
}

// whyNothing says why the reader has nothing to do in the case.
func whyNothing(d *engine.CaseDetail, v *caseView) string {
	switch {
	case d.Case.Life.Ended() && len(d.Case.AllUndone()) > 0:
		return "Nothing is left to do in the case, but to try again what has failed."
	case d.Case.Life.Ended():
		return "Nothing is left to do: the case has ended."
	case d.Case.Life == machine.Queued:
		return "The case has not started yet."
	case d.Case.Life == machine.Suspended:
		return "The case is suspended."
	case len(v.Others) > 0:
		return "Nothing waits for you here; it waits for others."
	}
	if len(v.Can) > 0 {
		return "Nothing waits for you here."
	}
	return "Nothing waits for people here."
}
