package notice

import (
	"fmt"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
)

// hookForm is what a webhook is told of an event.
type hookForm struct {
	Kind   Kind         `json:"kind"`
	Case   int64        `json:"case"`
	GUID   string       `json:"guid"`
	Route  string       `json:"route"`
	Title  string       `json:"title"`
	State  machine.Life `json:"state"`
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
	Name  string         `json:"name"`
	Why   machine.Reason `json:"why"`
	For   string         `json:"for,omitempty"`
	Tasks []string       `json:"tasks"`
}

// Hook returns the document for the webhook. There is one for each notice, for
// any number of recipients.
func (n *Notice) Hook() []byte {
	if n.Case == nil {
		return n.entryHook()
	}
	c := n.Case
	form := hookForm{
		Kind: n.Kind, Case: c.ID, GUID: c.GUID, Route: c.RouteName, Title: c.Title, State: c.Shown(), Status: c.Status,
		Href: fmt.Sprintf("/dav/Workflow/Cases/%d.json", c.ID), Time: n.Time.UTC().Format(time.RFC3339),
		Acts: []hookAct{}, People: []hookPerson{},
	}
	for i := range n.Acts {
		a := &n.Acts[i]
		form.Acts = append(form.Acts, hookAct{a.Action, a.Actor, a.OnBehalfOf, a.From, a.To, a.Comment, a.Text})
	}
	for i := range n.People {
		p := &n.People[i]
		told := hookPerson{Name: string(p.Name), Why: p.Why, For: p.Behalf, Tasks: []string{}}
		for _, task := range p.Tasks {
			told.Tasks = append(told.Tasks, fmt.Sprintf("%d.%s", task.Case, task.Action))
		}
		form.People = append(form.People, told)
	}
	return document.Line(form)
}
