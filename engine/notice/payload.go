package notice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/link"
)

// Payload is the document that services are told by, in the form that Standard
// Webhooks recommends (docs/contract/routes.md#what-a-service-is-told).
type Payload struct {
	Type      string `json:"type"`      // what it is about, and what happened: "case.completed"
	Timestamp string `json:"timestamp"` // when it happened
	Data      Data   `json:"data"`      // the rest
}

// Data is the content of a payload. What it is about has an href, a path of the drive;
// a url, the same with the address of the server; and a page, for people. The last two
// are absolute if the server knows the address by which it is called.
type Data struct {
	XAttrs      []machine.Fact   `json:"xattrs,omitempty"`      // those that the route declares
	Kind        Kind             `json:"kind"`                  // the kind of notice
	Severity    Severity         `json:"severity"`              // how much it matters
	Text        string           `json:"text"`                  // the notice in a sentence
	Title       string           `json:"title"`                 // of the case or entry, or the name of the hook, hold, destination or part
	Route       string           `json:"route,omitempty"`       // its name
	Href        string           `json:"href,omitempty"`        // the path of what it is about
	URL         string           `json:"url,omitempty"`         // the same with the address of the server
	Page        string           `json:"page,omitempty"`        // the page about it, with the address of the server
	Case        *CaseData        `json:"case,omitempty"`        // of a case
	Entry       *EntryData       `json:"entry,omitempty"`       // of a schedule entry
	Hook        *HookData        `json:"hook,omitempty"`        // of a hook
	Hold        *HoldData        `json:"hold,omitempty"`        // of a hold
	Destination *DestinationData `json:"destination,omitempty"` // of a way of telling people
	Server      *ServerData      `json:"server,omitempty"`      // of a part of the server
	Acts        []ActData        `json:"acts"`                  // what was done, the first first
	Tasks       []TaskData       `json:"tasks"`                 // new or waiting, each once
	People      []PersonData     `json:"people"`                // who is told
	Trouble     *TroubleData     `json:"trouble,omitempty"`     // what is wrong or was
	Over        []TroubleData    `json:"over,omitempty"`        // what is over with what this tells
	Cases       []CaseLine       `json:"cases,omitempty"`       // in place of case, if one event concerns several: the first 100
	Count       int              `json:"count,omitempty"`       // how many these are in all
}

// CaseData is a case that a notice is about.
type CaseData struct {
	ID      int64        `json:"id"`      // its number
	GUID    string       `json:"guid"`    // its UUID
	State   machine.Life `json:"state"`   // its life: active, completed and so on
	Status  string       `json:"status"`  // the state of the route that it is in
	Starter string       `json:"starter"` // who has started it
}

// EntryData is a schedule entry that a notice is about.
type EntryData struct {
	UUID    string `json:"uuid"`              // of the entry
	Instant string `json:"instant,omitempty"` // that failed
	Next    string `json:"next,omitempty"`    // when it fires next, or would have if nobody had paused or deleted it
}

// HookData is a hook that a notice is about.
type HookData struct {
	Name string `json:"name"` // of the hook
}

// HoldData is a hold that a notice is about.
type HoldData struct {
	Name  string `json:"name"`  // of the hold
	Cases int    `json:"cases"` // how many wait
}

// ServerData is a part of the server that a notice is about.
type ServerData struct {
	Part    string `json:"part"`              // what of the server: backup, disk and so on; away if it was not there
	From    string `json:"from,omitempty"`    // since when it was away
	To      string `json:"to,omitempty"`      // until when
	Stopped bool   `json:"stopped,omitempty"` // it had been stopped in good order
	Late    int    `json:"late,omitempty"`    // instants of schedule entries that come late by it
	Skipped int    `json:"skipped,omitempty"` // instants that are skipped by it
}

// DestinationData is a way of telling people that a notice is about.
type DestinationData struct {
	ID   string `json:"id"`   // tells it from others
	Lost int64  `json:"lost"` // notices that were given up since it has failed
}

// ActData is what somebody or a timer did.
type ActData struct {
	Case       int64   `json:"case"`       // in which
	Action     *string `json:"action"`     // the name of the action
	Actor      *string `json:"actor"`      // who did it, or "timer"
	OnBehalfOf *string `json:"onBehalfOf"` // for whom, if a deputy did it
	From       *string `json:"from"`       // the state before
	To         *string `json:"to"`         // the state after
	Comment    *string `json:"comment"`    // what the actor said
	Text       string  `json:"text"`       // what was done, in the words of the log
	Line       string  `json:"line"`       // all of it in a line, for people
}

// TaskData is something to do.
type TaskData struct {
	Case   int64  `json:"case"`   // its number
	Action string `json:"action"` // the name of the action
	Title  string `json:"title"`  // of the action
	Href   string `json:"href"`   // the path of its form
	URL    string `json:"url"`    // the same with the address of the server
	Page   string `json:"page"`   // the page with its form, with the address of the server
}

// PersonData is somebody who is told.
type PersonData struct {
	Name  string         `json:"name"`          // of the user
	Why   machine.Reason `json:"why,omitempty"` // the strongest reason
	For   string         `json:"for,omitempty"` // whose deputy the person is
	Tasks []string       `json:"tasks"`         // what the person has to do: <case>.<action>
}

// TroubleData is what is wrong or was.
type TroubleData struct {
	Text  string `json:"text"`            // what is wrong, in words
	Since string `json:"since,omitempty"` // since when
	Ended bool   `json:"ended"`           // it is over
	How   string `json:"how,omitempty"`   // how it is over
	Last  bool   `json:"last,omitempty"`  // the schedule entry has no other instant

	Alike  int     `json:"alike,omitempty"`  // how many other cases of the schedule entry have it as well, or had it if it is over
	Others []int64 `json:"others,omitempty"` // the other cases of the schedule entry that are failed still
}

// data returns what services are told of something that is wrong, or was.
func (t *Trouble) data(ended bool, service *Person) TroubleData {
	d := TroubleData{Text: service.text(t.Text), Since: stamp(t.Since), Ended: ended, Last: t.Ended, Alike: t.Alike, Others: t.Others}
	if ended {
		d.Alike = t.OverCount
		d.How = cmp.Or(string(t.Over), "mended")
	}
	return d
}

// Waiting returns the names of the people who have something to do.
func (d *Data) Waiting() []string {
	var names []string
	for i := range d.People {
		if len(d.People[i].Tasks) > 0 {
			names = append(names, d.People[i].Name)
		}
	}
	return names
}

// Payload returns what services are told. There is one for each notice, for any
// number of recipients.
func (n *Notice) Payload() *Payload {
	service := &Person{Zone: n.Zone}
	p := &Payload{Timestamp: stamp(n.Time), Data: Data{
		Kind: n.Kind, Severity: n.Kind.Severity(), Text: machine.OneLine(n.Sentence(nil)), Route: n.route(),
		Acts: []ActData{}, Tasks: []TaskData{}, People: []PersonData{},
	}}
	if c := n.Case; c != nil {
		p.Type = "case." + n.happened()
		p.Data.Title = c.Title
		if n.Facts != nil {
			p.Data.XAttrs = n.Facts(c)
		}
		p.Data.Case = &CaseData{ID: c.ID, GUID: c.GUID, State: c.Shown(), Status: c.Status, Starter: c.Starter}
		p.Data.Href, p.Data.URL, p.Data.Page = link.Base("").CaseFile(c.ID), n.Links.CaseFile(c.ID), n.Links.Case(c.ID)
	} else if e := n.Entry; e != nil {
		p.Type = "schedule." + n.happened()
		p.Data.Title = e.Title
		p.Data.Entry = &EntryData{UUID: e.UUID}
		p.Data.Href, p.Data.URL, p.Data.Page = link.Base("").EntryFile(e.UUID), n.Links.EntryFile(e.UUID), n.Links.Entry(e.UUID)
	} else if h := n.Hook; h != nil {
		p.Type = "hook." + n.happened()
		p.Data.Title = h.title()
		p.Data.Hook = &HookData{Name: h.Name}
		p.Data.Href, p.Data.URL, p.Data.Page = h.path(), n.Links.To(h.path()), n.Links.Route(h.Route)
	} else if h := n.Hold; h != nil {
		p.Type = "hold." + n.happened()
		p.Data.Title = h.About
		p.Data.Hold = &HoldData{Name: h.Name, Cases: h.Cases}
		p.Data.Href, p.Data.URL, p.Data.Page = h.path(), n.Links.To(h.path()), n.Links.To("/admin/holds")
	} else if s := n.Server; s != nil {
		p.Type = "server." + n.happened()
		p.Data.Title = s.Title
		p.Data.Server = &ServerData{Part: s.Name}
		p.Data.Href, p.Data.URL, p.Data.Page = StatusPath, n.Links.To(StatusPath), n.Links.To(latePage)
	} else if a := n.Away; a != nil {
		p.Type = "server." + n.happened()
		p.Data.Title = "Flowdrive"
		p.Data.Server = &ServerData{Part: "away", From: stamp(a.From), To: stamp(a.To), Stopped: a.Stopped, Late: a.Late, Skipped: a.Skipped}
		p.Data.Href, p.Data.URL, p.Data.Page = StatusPath, n.Links.To(StatusPath), n.Links.To(latePage)
	} else {
		p.Type = "destination." + n.happened()
		p.Data.Title = n.Way.Name
		p.Data.Destination = &DestinationData{ID: n.Way.ID, Lost: n.Way.Lost}
	}
	if t := n.Trouble; t != nil {
		d := t.data(n.Kind == KindMended, service)
		p.Data.Trouble = &d
		if p.Data.Entry != nil {
			p.Data.Entry.Instant = stamp(t.Instant)
		}
	}
	if d := n.Deed; d != nil {
		if p.Data.Entry != nil {
			p.Data.Entry.Next = stamp(d.Next)
		}
		act := ActData{Actor: &d.Actor, Text: string(d.What), Line: string(d.What) + byWhom(d.By)}
		if d.Said != "" {
			act.Comment = &d.Said
		}
		p.Data.Acts = append(p.Data.Acts, act)
	}
	for _, t := range n.Over {
		p.Data.Over = append(p.Data.Over, t.data(true, service))
	}
	for i := range n.Acts {
		a := &n.Acts[i]
		p.Data.Acts = append(p.Data.Acts, ActData{n.ActsCase, a.Action, a.Actor, a.OnBehalfOf, a.From, a.To, a.Comment, a.Text, n.describeAct(a, service)})
	}
	n.addPeople(&p.Data)
	return p
}

func (n *Notice) addPeople(d *Data) {
	for i := range n.People {
		p := &n.People[i]
		told := PersonData{Name: string(p.Name), Why: p.Why, For: strings.Join(p.Behalf, ", "), Tasks: []string{}}
		for _, task := range p.Tasks {
			told.Tasks = append(told.Tasks, fmt.Sprintf("%d.%s", task.Case, task.Action))
			known := func(t TaskData) bool { return t.Case == task.Case && t.Action == task.Action }
			if !slices.ContainsFunc(d.Tasks, known) {
				d.Tasks = append(d.Tasks, TaskData{
					Case: task.Case, Action: task.Action, Title: n.Title(task),
					Href: link.Base("").ActionFile(task.Case, task.Action), URL: n.Links.ActionFile(task.Case, task.Action), Page: n.Links.Action(task.Case, task.Action),
				})
			}
		}
		d.People = append(d.People, told)
	}
}

// happened returns the second part of a payload's type.
func (n *Notice) happened() string {
	switch n.Kind {
	case KindTask:
		return "task-offered"
	case KindReminder:
		return "task-reminded"
	case KindAct:
		return "changed"
	case KindOutcome:
		return string(n.Case.Shown())
	case KindOverdue:
		return "overdue"
	case KindFailure:
		return "failed"
	case KindMended:
	}
	return "mended"
}

// About returns what the notice is about, as the same text for each notice about it.
func (n *Notice) About() string {
	switch {
	case n.Case != nil:
		return "case " + n.Case.GUID
	case n.Entry != nil:
		return "entry " + n.Entry.UUID
	case n.Hook != nil:
		return fmt.Sprintf("hook %d", n.Hook.ID)
	case n.Hold != nil:
		return "hold " + n.Hold.Name
	}
	if n.Server != nil {
		return "server " + n.Server.Name
	}
	if n.Away != nil {
		return "server away"
	}
	return "way " + n.Way.ID
}

// Body returns the payload as it is sent.
func (n *Notice) Body() []byte { return document.Line(n.Payload()) }

// stamp writes an instant for programs, "" for none.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
