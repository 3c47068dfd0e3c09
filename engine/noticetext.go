package engine

import (
	"fmt"
	"strings"
	"time"

	"flowdrive/document"
	"flowdrive/engine/core"
	"flowdrive/route"
)

// mail returns what a person is told of the event: what happened, who did it,
// what they can do, and where.
func (t *telling) mail(p *person) *core.Mail {
	at := t.seats[p.Notice.Case]
	var b strings.Builder
	if len(p.Tasks) > 0 {
		t.writeTasks(&b, p, at)
	} else {
		fmt.Fprintf(&b, "Case %d, %s:\n\n", at.ID, core.OneLine(at.Title))
	}
	t.writeActs(&b, p)
	folder := fmt.Sprintf("/dav/Workflow/Cases/%d", at.ID)
	fmt.Fprintf(&b, "The case:  %s.json\nIts log:   %s/log.txt\n\n", folder, folder)
	if len(p.Tasks) > 0 {
		b.WriteString("Save {} to the file of a task to do it, {\"comment\": \"…\"} to say something with\nit, {\"do\": \"accept\"} to take it on first.\n\n")
	}
	fmt.Fprintf(&b, "You get this because %s. With {\"notify\": false} saved to\n/dav/Account/me.json there are no more such mails.\n", p.because())
	return &core.Mail{To: []string{p.Email}, Subject: subjectLine(t.subject(p, at)), Text: b.String(), Thread: at.GUID}
}

func (t *telling) subject(p *person, at *seat) string {
	if len(p.Tasks) == 0 {
		if !p.sees {
			return at.Title
		}
		return t.change.notices.Acts[0].Text + ": " + at.Title
	}
	titles := make([]string, len(p.Tasks))
	for i, task := range p.Tasks {
		titles[i] = t.taskTitle(task)
	}
	word := "To do: "
	if p.Why == core.ReasonReminder {
		word = "Reminder: "
	}
	return word + strings.Join(titles, ", ") + " (" + at.Title + ")"
}

// taskTitle returns what people call a task.
func (t *telling) taskTitle(task core.TaskRef) string {
	if at := t.seats[task.Case]; at != nil && at.change != nil {
		if i := at.change.route.Action(task.Action); i != route.NoAction && at.change.route.Actions[i].Title != "" {
			return at.change.route.Actions[i].Title
		}
	}
	return task.Action
}

func (t *telling) writeTasks(b *strings.Builder, p *person, at *seat) {
	has := "There is something for you to do"
	switch {
	case p.Why == core.ReasonReminder:
		has = "This still waits for you"
	case p.behalf != "":
		has = "There is something to do for " + p.behalf
	}
	fmt.Fprintf(b, "%s in case %d, %s:\n\n", has, at.ID, core.OneLine(at.Title))
	for _, task := range p.Tasks {
		fmt.Fprintf(b, "  %s\n  /dav/Workflow/Cases/%d/Actions/%s.json\n\n", core.OneLine(t.taskTitle(task)), task.Case, task.Action)
	}
}

// writeActs writes what was done, and what was said with it. Of a case that is
// not for the person to see no more is told than its parent's log tells.
func (t *telling) writeActs(b *strings.Builder, p *person) {
	acts := t.change.notices.Acts
	if len(acts) > 0 && !p.sees {
		fmt.Fprintf(b, "  Something was done in case %d, which belongs to it.\n\n", t.change.row.ID)
		return
	}
	for i := range acts {
		b.WriteString("  " + describeAct(&acts[i]) + "\n")
		if c := acts[i].Comment; c != nil {
			for said := range strings.SplitSeq(strings.TrimSpace(*c), "\n") {
				b.WriteString("  > " + core.OneLine(said) + "\n")
			}
		}
	}
	if len(acts) > 0 {
		b.WriteByte('\n')
	}
}

// describeAct says in a line what was done: "Approved by ann (open → done)".
func describeAct(entry *core.LogEntry) string {
	text := core.OneLine(entry.Text)
	if entry.Actor != nil && *entry.Actor != core.ActorTimer {
		text += " by " + *entry.Actor
		if entry.OnBehalfOf != nil {
			text += " for " + *entry.OnBehalfOf
		}
	}
	if entry.From != nil && entry.To != nil {
		text += " (" + *entry.From + " → " + *entry.To + ")"
	}
	return text + ", " + entry.Time.UTC().Format(time.RFC3339)
}

// because says why a person is told.
func (p *person) because() string {
	if p.behalf != "" {
		return "you stand in for " + p.behalf
	}
	switch p.Why {
	case core.ReasonTask, core.ReasonReminder:
		return "the task is yours"
	case core.ReasonPlayer:
		return "you play a role in the case"
	case core.ReasonStakeholder:
		return "you are a stakeholder of the case"
	case core.ReasonStarter:
		return "you started the case"
	case core.ReasonWatcher:
	}
	return "you watch the route"
}

// hookForm is what a webhook is told of an event.
type hookForm struct {
	Kind   string       `json:"kind"`
	Case   int64        `json:"case"`
	GUID   string       `json:"guid"`
	Route  string       `json:"route"`
	Title  string       `json:"title"`
	State  core.Life    `json:"state"`
	Status string       `json:"status"`
	Href   string       `json:"href"`
	Time   string       `json:"time"`
	Acts   []hookAct    `json:"acts"`
	People []hookPerson `json:"people"`
}

type hookAct struct {
	Action     *string `json:"action"`
	Actor      *string `json:"actor"`
	OnBehalfOf *string `json:"onBehalfOf"`
	From       *string `json:"from"`
	To         *string `json:"to"`
	Comment    *string `json:"comment"`
	Text       string  `json:"text"`
}

type hookPerson struct {
	Name  string      `json:"name"`
	Why   core.Reason `json:"why"`
	For   string      `json:"for,omitempty"`
	Tasks []string    `json:"tasks"`
}

// failedHook is what a webhook is told of an entry that fails to fire.
type failedHook struct {
	Kind    string `json:"kind"`
	UUID    string `json:"uuid"`
	Title   string `json:"title"`
	Href    string `json:"href"`
	Instant string `json:"instant"`
	Reason  string `json:"reason"`
}

// hook returns the call of the webhook: one for the event, whoever is told.
func (t *telling) hook() *core.HTTPCall {
	c := t.change.after
	form := hookForm{
		Kind: "notice", Case: c.ID, GUID: c.GUID, Route: c.RouteName, Title: c.Title, State: c.Life, Status: c.Status,
		Href: fmt.Sprintf("/dav/Workflow/Cases/%d.json", c.ID), Time: c.Modified.UTC().Format(time.RFC3339),
		Acts: []hookAct{}, People: []hookPerson{},
	}
	for i := range t.change.notices.Acts {
		a := &t.change.notices.Acts[i]
		form.Acts = append(form.Acts, hookAct{a.Action, a.Actor, a.OnBehalfOf, a.From, a.To, a.Comment, a.Text})
	}
	for i := range t.people {
		p := &t.people[i]
		told := hookPerson{Name: string(p.Name), Why: p.Why, For: p.behalf, Tasks: []string{}}
		for _, task := range p.Tasks {
			told.Tasks = append(told.Tasks, fmt.Sprintf("%d.%s", task.Case, task.Action))
		}
		form.People = append(form.People, told)
	}
	return t.hookCall(document.Line(form))
}

func (e *Engine) hookCall(body []byte) *core.HTTPCall {
	return &core.HTTPCall{Method: "POST", URL: e.channels.Webhook, MediaType: "application/json", Body: body, Secret: e.channels.Secret}
}

// subjectLine makes a subject of a text: one line, and not a long one.
func subjectLine(text string) string {
	const most = 120
	text = core.OneLine(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
