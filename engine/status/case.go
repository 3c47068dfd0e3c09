package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/route"
)

// Case is what the file of a case says: cases/<id>.
type Case struct {
	Zone      Zone
	Case      *machine.Case
	Route     *route.Route
	Why       string // of a queued case: what it waits for
	Unstarted string // why it could not start, "" of others
	Sandbox   bool   // nothing is done outside
	Forecast  machine.Forecast
	Written   []Written // by commands, the oldest first
	Files     []string  // the names of its files
	Named     bool      // its file has a name of its author's
}

// Written is a message of a case that holds the end of what a command wrote, or what a
// service has answered that failed.
type Written struct {
	Label string // Stdout-…, Stderr-… or Body-…
	Size  int64
	At    time.Time
}

// MostWritten is how many messages of commands the file of a case names.
const MostWritten = 20

// sandboxed says what a sandbox does not do.
const sandboxed = "This is a sandbox: no command is run, and no request and no mail is sent."

// Text returns the file for people.
func (c *Case) Text() []byte {
	m := c.Case
	var p page
	p.line("Case %d: %s", m.ID, machine.OneLine(cmp.Or(m.Title, c.Route.Title, m.RouteName)))
	p.line("")
	rows := [][]string{{"Route", m.RouteName}, {"Started by", c.startedBy() + ", " + c.Zone.Minute(m.Created)}, {"Where it is", c.place()}, {"Why", c.why()}}
	if m.Resolution != "" {
		rows = append(rows, []string{"Resolution", m.Resolution})
	}
	if r := m.Remark; r != nil {
		rows = append(rows, []string{"Last remark", fmt.Sprintf("“%s” by %s, %s", machine.OneLine(r.Text), r.By, c.Zone.Minute(r.At))})
	}
	if len(c.Files) > 0 {
		rows = append(rows, []string{"Files", machine.OneLine(strings.Join(c.Files, ", "))})
	}
	p.table(rows, "")
	p.heading("Whom it waits for")
	c.writeWaits(&p)
	c.writeOptional(&p)
	c.writeRefused(&p)
	if c.Sandbox && len(c.Route.Reaches()) > 0 {
		p.line("\n%s\nWhat would have been done are the messages Outbox-… of the case. Save an answer as\nthe message that the route waits for to have the case go on.", sandboxed)
	}
	p.heading("What happens if nobody does anything")
	c.writeForecast(&p)
	c.writeWritten(&p)
	if len(m.Warnings) > 0 {
		p.heading("Warnings")
		warnings := make([][]string, len(m.Warnings))
		for i := range m.Warnings {
			warnings[i] = []string{c.Zone.Minute(m.Warnings[i].Time), c.Zone.words(m.Warnings[i].Text)}
		}
		p.table(warnings, "")
	}
	if c.Named {
		p.line("\nThe case is /dav/Workflow/Cases/%d.json, which is listed there under the name that\nits file was given. What happened so far is in\n/dav/Workflow/Cases/%d/log.txt.", m.ID, m.ID)
	} else {
		p.line("\nThe case is /dav/Workflow/Cases/%d.json. What happened so far is in\n/dav/Workflow/Cases/%d/log.txt.", m.ID, m.ID)
	}
	return p.bytes()
}

// writeWritten says where there is what commands wrote.
func (c *Case) writeWritten(p *page) {
	if len(c.Written) == 0 {
		return
	}
	p.heading(fmt.Sprintf("What commands wrote, and what services answered that failed (at most %d, newest last)", MostWritten))
	rows := make([][]string, len(c.Written))
	for i := range c.Written {
		w := &c.Written[i]
		rows[i] = []string{c.Zone.Minute(w.At), c.messageAt(w.Label), fmt.Sprintf("%d bytes", w.Size)}
	}
	p.table(rows, "")
}

func (c *Case) messageAt(label string) string {
	return fmt.Sprintf("/dav/Workflow/Cases/%d/Labels/%s", c.Case.ID, label)
}

// startedBy says who started the case, and whose it is if it was handed over since.
func (c *Case) startedBy() string {
	if m := c.Case; m.StartedBy != "" {
		return m.StartedBy + " (handed over to " + m.Starter + ")"
	}
	return c.Case.Starter
}

// place says where the case is.
func (c *Case) place() string {
	m := c.Case
	text := lifeWords(m.Shown())
	if m.Status != "" {
		text += ", in the state " + m.Status
	}
	switch {
	case m.Life == machine.Suspended && !m.SuspendedUntil.IsZero():
		text += ", until " + c.Zone.Minute(m.SuspendedUntil)
	case m.Life.Ended() && !m.Ended.IsZero():
		text += ", since " + c.Zone.Minute(m.Ended)
	case m.Life == machine.Queued && m.StartAt.After(m.Modified):
		text += ", to start at " + c.Zone.Minute(m.StartAt)
	}
	return text
}

// lifeWords says in a word what state a case is in.
func lifeWords(life machine.Life) string {
	switch life {
	case machine.Queued:
		return "waits to start"
	case machine.Closed:
		return "completed, and the case that started it has moved on"
	case machine.Active, machine.Suspended, machine.Completed, machine.Canceled, machine.Failed:
	}
	return string(life)
}

// why says what brought the case to where it is.
func (c *Case) why() string {
	last, text := machine.Last(c.Case, c.Route)
	switch {
	case c.Why != "":
		return c.Zone.words(c.Why)
	case c.Unstarted != "":
		return "it could not start: " + c.Unstarted
	case c.Case.Moved != nil:
		return c.moved()
	case last == nil:
		return "nothing was done yet"
	}
	by := ""
	if last.By != "" {
		by = " by " + cmp.Or(last.Named, last.By)
	}
	if last.For != "" {
		by += " for " + last.For
	}
	if last.Resolution != "" {
		by += " (" + last.Resolution + ")"
	}
	return fmt.Sprintf("%s%s, %s", machine.OneLine(text), by, c.Zone.Minute(last.At))
}

// moved says what has led the case to where it is if no action did.
func (c *Case) moved() string {
	m := c.Case.Moved
	by := ""
	if m.By != "" {
		by = " by " + m.By
	}
	text := fmt.Sprintf("%s%s, %s", c.Zone.words(machine.OneLine(m.Text)), by, c.Zone.Minute(m.At))
	if c.Case.GivenUp() && m.GivenUpBy != "" {
		text += fmt.Sprintf("; given up by %s, %s", m.GivenUpBy, c.Zone.Minute(m.GivenUp))
	}
	return text
}

func (c *Case) writeWaits(p *page) {
	var rows [][]string
	for _, w := range machine.Waits(c.Case, c.Route) {
		if !w.Optional {
			rows = append(rows, []string{title(&w), c.whom(&w), c.until(&w)})
		}
	}
	for i := range c.Case.Children {
		if child := &c.Case.Children[i]; !child.Life.Ended() {
			rows = append(rows, []string{fmt.Sprintf("case %d", child.ID), fmt.Sprintf("of the route %s, %s", child.Route, lifeWords(child.Life)), ""})
		}
	}
	if c.Unstarted != "" {
		who := list([]string{machine.PartyAdmins})
		rows = append(rows, []string{"its start", fmt.Sprintf("waits for %s to retry it (flowdrive resume %d) or cancel it (flowdrive cancel %d)", who, c.Case.ID, c.Case.ID)})
	}
	none := "Nobody."
	if c.Case.Life.Ended() {
		none = "Nobody: it has ended."
	}
	p.table(rows, none)
}

// Title says in a few words what a case waits for.
func Title(w *machine.Wait) string { return title(w) }

func title(w *machine.Wait) string {
	if !w.Delivery {
		return machine.OneLine(w.Title)
	}
	what := map[string]string{"exec": "the command", "http": "the request", "mail": "the mail", "call": "the call"}[w.Title]
	return fmt.Sprintf("%s of “%s”", cmp.Or(what, w.Title), w.Source)
}

// pending says of a delivery, by its verb, that nothing has become of it yet.
func pending(verb string) string {
	switch verb {
	case "exec":
		return "has not ended yet"
	case "mail":
		return "has not been sent yet"
	}
	return "has not been answered yet"
}

// writeOptional writes what can be done though nothing waits for it, if there is such.
func (c *Case) writeOptional(p *page) {
	var rows [][]string
	for _, w := range machine.Waits(c.Case, c.Route) {
		if !w.Optional {
			continue
		}
		who := "can be done by " + list(w.Who)
		switch {
		case w.State == machine.Waiting:
			who = "cannot be done now: " + condition(&w)
		case len(w.Who) == 0:
			who = "can be done by the administrators of the route"
		}
		rows = append(rows, []string{machine.OneLine(w.Title), who})
	}
	if len(rows) > 0 {
		p.heading("What else can be done")
		p.table(rows, "")
	}
}

// writeRefused writes what the case would offer but for enableIf, if there is such.
func (c *Case) writeRefused(p *page) {
	var rows [][]string
	for _, a := range machine.Refused(c.Case, c.Route) {
		rows = append(rows, []string{machine.OneLine(cmp.Or(a.Title, a.Name)), "is asked again whenever the case changes"})
	}
	if len(rows) > 0 {
		p.heading("What its condition (enableIf) does not allow now")
		p.table(rows, "")
	}
}

// condition says why an action waits for its condition.
func condition(w *machine.Wait) string {
	if w.Fault == "" {
		return "its condition does not hold"
	}
	return "its condition could not be evaluated (" + strings.TrimSuffix(machine.OneLine(w.Fault), ".") + ")"
}

// whom says whom an enabled action waits for.
func (c *Case) whom(w *machine.Wait) string {
	who := list(w.Who)
	if w.Need != nil { // who has performed it is not waited for
		who = list(slices.DeleteFunc(slices.Clone(w.Who), func(name string) bool { return slices.Contains(w.Need.By, name) }))
	}
	switch {
	case w.State == machine.Escalated:
		return "has failed (" + strings.TrimSuffix(machine.OneLine(w.Fault), ".") + ") and waits for " + who + fmt.Sprintf(" to retry it (flowdrive resume %d) or give it up", c.Case.ID)
	case w.Delivery && w.Delay != nil:
		return c.Zone.words(w.Delay.Text())
	case w.Delivery:
		return pending(w.Title)
	case w.Children > 0:
		return "waits for " + english.Plural(int(w.Children), "other case", "")
	case w.State == machine.Waiting:
		return "cannot be done yet: " + condition(w)
	case w.State == machine.Accepted:
		return "accepted by " + w.By
	case w.State == machine.Running && !w.At.IsZero():
		return "happens by itself"
	case w.State == machine.Running:
		return "waits for the server"
	case who == "":
		return "nobody: only the administrators of the route can do it"
	}
	if w.Need != nil {
		return fmt.Sprintf("waits for %s: so far %s", who, w.Need.Text())
	}
	return "waits for " + who
}

// until says until when.
func (c *Case) until(w *machine.Wait) string {
	text := ""
	add := func(what string, t time.Time) {
		if t.IsZero() {
			return
		}
		if text != "" {
			text += ", "
		}
		text += what + " " + c.Zone.Minute(t)
	}
	add("to be accepted by", w.AcceptBy)
	add("due", w.Due)
	if w.State != machine.Waiting {
		add("at", w.At)
	}
	add("reminded", w.Remind)
	return text
}

func (c *Case) writeForecast(p *page) {
	rows := make([][]string, 0, len(c.Forecast.Steps))
	for i := range c.Forecast.Steps {
		s := &c.Forecast.Steps[i]
		rows = append(rows, []string{c.Zone.Minute(s.At), c.Foreseen(s)})
	}
	if len(rows) > 0 {
		p.table(rows, "")
	}
	p.line("  %s", c.Outlook())
}

// Foreseen says what happens, in words for people.
func (c *Case) Foreseen(s *machine.Foreseen) string {
	text := c.Zone.words(s.Text)
	switch s.Kind {
	case machine.LogTimer:
		text = machine.RunsOut(s.Timer, s.Action)
	case machine.LogWarning:
		text = "Warning: " + text
	case machine.LogError:
		text = "Failure: " + text
	case machine.LogAction, machine.LogState, machine.LogLife, machine.LogTask, machine.LogRoles, machine.LogMessage, machine.LogChild, machine.LogRemark:
	}
	if s.To != "" {
		text += " → " + s.To
	}
	return text
}

// Outlook says in a sentence how it goes on then.
func (c *Case) Outlook() string {
	then := ""
	if len(c.Forecast.Steps) > 0 {
		then = "then"
	}
	begin := func(text string) string {
		if then != "" {
			return "After that " + text
		}
		return string(text[0]-'a'+'A') + text[1:]
	}
	switch c.Forecast.Then {
	case machine.OutlookEnded:
		switch {
		case then == "" && len(c.Case.AllUndone()) > 0:
			return "Nothing, unless somebody tries again what has failed."
		case then == "":
			return "Nothing: the case has ended."
		}
		return "With that the case has ended."
	case machine.OutlookQueued:
		return "It starts when its turn comes."
	case machine.OutlookOutside:
		return begin("what happens depends on an answer from outside.")
	case machine.OutlookOthers:
		return begin("what happens depends on other cases.")
	case machine.OutlookMore:
		return "And so on: more happens than is foreseen here."
	case machine.OutlookUnknown:
		return begin("what happens cannot be foreseen.")
	case machine.OutlookWaits:
	}
	var who []string
	for _, w := range machine.Waits(c.Forecast.Case, c.Route) {
		if name := list(w.Who); name != "" && !w.Optional && w.State != machine.Waiting {
			who = append(who, name)
		}
	}
	switch {
	case c.Forecast.Case.Life == machine.Suspended:
		return begin("nothing happens until somebody resumes the case.")
	case len(who) == 0:
		return begin("nothing happens by itself.")
	}
	return begin("nothing happens by itself: the case waits.")
}

// caseStatusForm is the file as JSON.
type caseStatusForm struct {
	ID           int64          `json:"id"`
	Title        string         `json:"title"`
	Route        string         `json:"route"`
	State        string         `json:"state"`
	Status       *string        `json:"status"`
	Starter      string         `json:"starter"`
	Timezone     string         `json:"timezone"`
	Created      *string        `json:"created"`
	Why          string         `json:"why"`
	Remark       *remarkForm    `json:"remark"`
	Files        []string       `json:"files"`
	WaitsFor     []waitForm     `json:"waitsFor"`
	Optional     []waitForm     `json:"optional"`
	Refused      []refusedForm  `json:"refused"`
	Warnings     []warningForm  `json:"warnings"`
	Forecast     []foreseenForm `json:"forecast"`
	Then         string         `json:"then"`
	Sandbox      bool           `json:"sandbox"`
	Written      []writtenForm  `json:"written"`
	IfNobodyActs string         `json:"ifNobodyActs"`
}

// remarkForm is what was remarked on the case last.
type remarkForm struct {
	By   string  `json:"by"`
	Time *string `json:"time"`
	Text string  `json:"text"`
}

type waitForm struct {
	Action   string    `json:"action"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Who      []string  `json:"who"`
	By       *string   `json:"acceptedBy"`
	Due      *string   `json:"due"`
	AcceptBy *string   `json:"acceptBy"`
	At       *string   `json:"at"`
	Remind   *string   `json:"reminded"`
	Need     *needForm `json:"need"`
	Children int64     `json:"children"`
	Attempts int64     `json:"attempts"` // of a delivery: how many have failed since it was asked for or retried
	Result   *string   `json:"result"`   // of the last attempt
	Next     *string   `json:"next"`     // the next attempt
	Until    *string   `json:"until"`    // the last attempt, if all fail
}

// needForm is how many have performed what several must.
type needForm struct {
	Count int      `json:"count"`
	Of    string   `json:"of"`
	Given int      `json:"given"`
	By    []string `json:"by"`
}

// refusedForm is an action that enableIf refuses.
type refusedForm struct {
	Action string `json:"action"`
	Title  string `json:"title"`
}

type warningForm struct {
	Timer string  `json:"timer"`
	Time  *string `json:"time"`
	Text  string  `json:"text"`
}

type writtenForm struct {
	Label string  `json:"label"`
	Href  string  `json:"href"`
	Size  int64   `json:"size"`
	Time  *string `json:"time"`
}

type foreseenForm struct {
	At     *string `json:"at"`
	Action *string `json:"action"`
	Text   string  `json:"text"`
	To     *string `json:"to"`
}

// JSON returns the file for programs.
func (c *Case) JSON() []byte {
	m := c.Case
	f := caseStatusForm{
		ID: m.ID, Title: m.Title, Route: m.RouteName, State: string(m.Shown()), Status: orNull(m.Status), Starter: cmp.Or(m.StartedBy, m.Starter),
		Timezone: c.Zone.String(), Created: c.Zone.instant(m.Created), Why: c.why(), WaitsFor: []waitForm{}, Optional: []waitForm{}, Refused: []refusedForm{}, Written: []writtenForm{}, Files: append([]string{}, c.Files...),
		Warnings: make([]warningForm, len(m.Warnings)), Forecast: make([]foreseenForm, len(c.Forecast.Steps)),
		Then: string(c.Forecast.Then), Sandbox: c.Sandbox, IfNobodyActs: c.Outlook(),
	}
	if r := m.Remark; r != nil {
		f.Remark = &remarkForm{r.By, c.Zone.instant(r.At), r.Text}
	}
	for _, w := range machine.Waits(m, c.Route) {
		form := waitForm{
			Action: w.Action, Title: w.Title, State: string(w.State), Who: append([]string{}, w.Who...), By: orNull(w.By), Due: c.Zone.instant(w.Due),
			AcceptBy: c.Zone.instant(w.AcceptBy), At: c.Zone.instant(w.At), Remind: c.Zone.instant(w.Remind), Children: w.Children, Result: orNull(w.Fault),
		}
		if y := w.Delay; y != nil {
			form.Attempts, form.Result, form.Next, form.Until = y.Tries, &y.Last, c.Zone.instant(y.Next), c.Zone.instant(y.Until)
		}
		if q := w.Need; q != nil {
			form.Need = &needForm{q.Count, q.Of, len(q.By), q.By}
		}
		if w.Optional {
			f.Optional = append(f.Optional, form)
		} else {
			f.WaitsFor = append(f.WaitsFor, form)
		}
	}
	for _, a := range machine.Refused(m, c.Route) {
		f.Refused = append(f.Refused, refusedForm{a.Name, cmp.Or(a.Title, a.Name)})
	}
	for i, w := range m.Warnings {
		f.Warnings[i] = warningForm{w.Timer, c.Zone.instant(w.Time), w.Text}
	}
	for i := range c.Forecast.Steps {
		s := &c.Forecast.Steps[i]
		f.Forecast[i] = foreseenForm{c.Zone.instant(s.At), orNull(s.Action), c.Foreseen(s), orNull(s.To)}
	}
	for i := range c.Written {
		w := &c.Written[i]
		f.Written = append(f.Written, writtenForm{w.Label, c.messageAt(w.Label), w.Size, c.Zone.instant(w.At)})
	}
	return document.Form(f)
}

// Name is the name of the file, without extension.
func (c *Case) Name() string { return strconv.FormatInt(c.Case.ID, 10) }
