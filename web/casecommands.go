package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// caseCommand is what can be done with a case as a whole: by its starter and those who
// administer its route.
type caseCommand struct {
	do, title, submit, text string
	field, label, hint      string // what it asks for; field "": it only asks whether
	may                     func(d *engine.CaseDetail) bool
	body                    func(w words, v url.Values) []member
	done                    string
	already                 string // what is said instead if the case is active; "": that is not looked at
}

func owns(d *engine.CaseDetail) bool { return (d.Starter || d.RouteAdmin) && d.Archived == 0 }

func administers(d *engine.CaseDetail) bool { return d.RouteAdmin && d.Archived == 0 }

func state(value string) []member { return []member{text("state", value)} }

// caseCommands lists them, in the order of the page.
func caseCommands() []caseCommand {
	return []caseCommand{
		{
			do: "suspend", title: "Suspend…", submit: "Suspend", text: "Its timers stand still, and nobody can perform anything.", done: "The case is suspended.",
			field: "suspendedUntil", label: "Until", hint: "A date and time such as 2012-12-01 08:00. Without one it stays suspended until somebody resumes it.",
			may: func(d *engine.CaseDetail) bool { return owns(d) && d.Case.Life == machine.Active },
			body: func(w words, v url.Values) []member {
				return append(state("suspended"), text("suspendedUntil", w.sentDate(v.Get("suspendedUntil"))))
			},
		},
		{
			do: "resume", title: "Resume", submit: "Resume", text: "It goes on where it was. Timers that are past run out at once.", done: "The case goes on.", already: "The case goes on already: nothing was to be done.",
			may:  func(d *engine.CaseDetail) bool { return owns(d) && d.Case.Life == machine.Suspended },
			body: func(words, url.Values) []member { return state("active") },
		},
		{
			do: "reopen", title: "Reopen", submit: "Reopen", text: "It goes on where it was canceled.", done: "The case is open again.", already: "The case is open already: nothing was to be done.",
			may:  func(d *engine.CaseDetail) bool { return d.MayReopen }, // from the archive as well
			body: func(words, url.Values) []member { return state("active") },
		},
		{
			do: "restart", title: "Try to start again", submit: "Try again", text: "The server tries once more to start it.", done: "The server tries to start the case again.", already: "The case has started already: nothing was to be done.",
			may:  func(d *engine.CaseDetail) bool { return administers(d) && d.Case.Life == machine.Failed },
			body: func(words, url.Values) []member { return state("active") },
		},
		{
			do: "priority", title: "Priority…", submit: "Set the priority", text: "Cases with a higher one come first.", done: "The priority is set.", field: "priority", label: "Priority", hint: "From 0 to 65535.",
			may:  func(d *engine.CaseDetail) bool { return administers(d) && !d.Case.Life.Ended() },
			body: func(_ words, v url.Values) []member { return []member{{"priority", numberOr(v.Get("priority"))}} },
		},
		{
			do: "title", title: "Title…", submit: "Set the title", done: "The title is set.", field: "title", label: "Title",
			may: func(d *engine.CaseDetail) bool { return owns(d) && !d.Case.Life.Ended() },
			body: func(_ words, v url.Values) []member {
				return []member{{"title", document.AppendString(nil, v.Get("title"))}}
			},
		},
		{
			do: "cancel", title: "Cancel…", submit: "Cancel the case", text: "Nobody can perform anything in it any more, and its open children end with it. You can reopen it for 15 minutes, an administrator of its route later, too.", done: "The case is canceled.",
			may:  func(d *engine.CaseDetail) bool { return owns(d) && !d.Case.Life.Ended() },
			body: func(words, url.Values) []member { return state("canceled") },
		},
	}
}

// numberOr returns a number as JSON; what is none as a string, which the drive refuses.
func numberOr(text string) []byte {
	if _, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return []byte(strings.TrimSpace(text))
	}
	return document.AppendString(nil, text)
}

func isCaseCommand(do string) bool {
	if slices.Contains([]string{"timer", "attach", "watch", "unwatch"}, do) {
		return true
	}
	for _, c := range caseCommands() {
		if c.do == do {
			return true
		}
	}
	return slices.ContainsFunc(caseEdits(), func(e caseEdit) bool { return e.do == do })
}

// caseForms are the forms of a case: those of its tasks, and of the case itself.
func caseForms() map[string]form {
	out := map[string]form{"timer": setTimer, "attach": attachFile, "watch": watchCase(true), "unwatch": watchCase(false)}
	for do, f := range taskForms() {
		if do != "several" {
			out[do] = ofThisCase(f)
		}
	}
	for _, e := range caseEdits() {
		out[e.do] = e.form
	}
	for _, c := range caseCommands() {
		out[c.do] = func(x *visit, v url.Values) (*act, error) {
			if c.already != "" {
				if active, err := x.caseDrawing().isActive(); err != nil || active {
					return &act{done: said(c.already)}, err
				}
			}
			return &act{
				requests: []driveRequest{caseRequest(x.r.PathValue("id"), c.body(x.Words, v))},
				done:     func([]*driveAnswer) notice { return notice{Text: c.done} },
			}, nil
		}
	}
	return out
}

// isActive reports whether the case of the page is active. Who may not see it is told so by
// the drive.
func (x caseDrawing) isActive() (bool, error) {
	id, err := sentCase(url.Values{"case": {x.r.PathValue("id")}})
	if err != nil {
		return false, err
	}
	views, err := x.Queries.CaseViews(x.r.Context(), x.by, []int64{id})
	return err == nil && len(views) == 1 && views[0].Case.Life == machine.Active, err
}

// ofThisCase has a form act on the case of the page alone.
func ofThisCase(f form) form {
	return func(x *visit, v url.Values) (*act, error) {
		if given := v.Get("case"); given != "" && given != x.r.PathValue("id") {
			return nil, errs.New(errs.BadParameter, "The form is about another case.")
		}
		v.Set("case", x.r.PathValue("id"))
		return f(x, v)
	}
}

func caseRequest(id string, members []member) driveRequest {
	return driveRequest{Method: "PUT", Path: "/dav/Workflow/Cases/" + url.PathEscape(id) + ".json", Body: object(members...)}
}

// setTimer sets the limit of a timer: a duration, a date, or none.
func setTimer(x *visit, v url.Values) (*act, error) {
	limit := []byte("null")
	if text := strings.TrimSpace(v.Get("limit")); text != "" {
		limit = document.AppendString(nil, x.Words.sentEnd(text))
	}
	path := fmt.Sprintf("/dav/Workflow/Cases/%s/Timers/%s.json", url.PathEscape(x.r.PathValue("id")), url.PathEscape(v.Get("timer")))
	return &act{
		requests: []driveRequest{{Method: "PUT", Path: path, Body: object(member{"limit", limit})}},
		done:     func([]*driveAnswer) notice { return notice{Text: "The timer has another date."} },
	}, nil
}

// commandsOf adds what the reader may do with the case, and what is asked before.
func (x caseDrawing) commandsOf(v *caseView, d *engine.CaseDetail) {
	asked := x.query.Get("do")
	if x.sentDo() != "" {
		asked = x.sentDo()
	}
	for _, c := range caseCommands() {
		if !c.may(d) {
			continue
		}
		v.Commands = append(v.Commands, anchor{Label: c.title, Href: x.with("do", c.do, "open", "", "timer", "") + "#ask"})
		if c.do == asked {
			v.Ask = x.askOf(v, d, c)
		}
	}
	name := x.query.Get("timer")
	if x.sent != nil && x.sent.Has("timer") {
		name = x.sent.Get("timer")
	}
	if asked == "timer" && d.MaySetTimer(name) {
		c := caseCommand{
			do: "timer", title: "Set another date: " + timerSays(d, name), submit: "Set the date", field: "limit", label: "Date or time from now",
			hint: "A date and time such as 2012-12-01 08:00, a time such as P3D or PT4H, or nothing for no date.",
		}
		v.Ask = x.askOf(v, d, c)
		v.Ask.Timer = name
		if a, err := setTimer(x.visit, url.Values{"timer": {name}, "limit": {v.Ask.Value}}); err == nil {
			v.Ask.Curl = x.curlLines(a.requests)
		}
	}
}

// askOf returns the form of a command.
func (x caseDrawing) askOf(v *caseView, d *engine.CaseDetail, c caseCommand) *caseAsk {
	a := &caseAsk{
		Do: c.do, Title: strings.TrimSuffix(c.title, "…"), Text: c.text, Submit: c.submit, Field: c.field, Label: c.label, Hint: c.hint, Needed: c.field == "priority",
		Cancel: v.Post, Key: x.Key(), Refused: x.refused.within([]*field{{Name: c.field, Label: c.label}}),
	}
	switch c.field {
	case "priority":
		a.Value = strconv.Itoa(d.Case.Priority)
	case "title":
		a.Value = d.Case.Title
	}
	if typed, was := x.Sent(c.field); was {
		a.Value = typed
	}
	if c.field != "" {
		a.Fault = x.refused.Of(c.field)
	}
	if c.body != nil {
		a.Curl = x.curlLines([]driveRequest{caseRequest(strconv.FormatInt(v.ID, 10), c.body(x.Words, url.Values{c.field: {a.Value}}))})
	}
	return a
}
