package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
)

// mostBulk is how many cases one form performs at most.
const mostBulk = 50

// taskForms are what can be done with tasks, by the name of the drive.
func taskForms() map[string]form {
	out := map[string]form{"several": performSeveral}
	for _, do := range []string{"perform", "accept", "release", "reject", "delegate", "skip", "abort", "retry"} {
		out[do] = doTask
	}
	return out
}

// sentCase returns the id of the case that a form names.
func sentCase(v url.Values) (int64, error) {
	id, err := strconv.ParseInt(v.Get("case"), 10, 64)
	if err != nil || id <= 0 {
		return 0, errs.New(errs.BadParameter, "The form names no case.")
	}
	return id, nil
}

// doTask does something with one task.
func doTask(x *visit, v url.Values) (*act, error) {
	id, err := sentCase(v)
	if err != nil {
		return nil, err
	}
	views, err := x.Queries.CaseViews(x.r.Context(), x.by, []int64{id})
	if err != nil {
		return nil, err
	}
	if len(views) == 0 {
		return nil, absent()
	}
	if v.Get("action") == "" {
		return nil, errs.New(errs.BadParameter, "The form names no action.")
	}
	dropResolution(views[0], v)
	dropFields(views[0], v)
	fields := fieldsFor(views[0], v.Get("action"))
	if err := askNumbers(fields, v); err != nil {
		return nil, err
	}
	return &act{
		requests: []driveRequest{taskRequest(v, fields)},
		done:     func(answers []*driveAnswer) notice { return x.taskDrawing().saidOf(views[0], v, answers[0]) },
	}, nil
}

// dropResolution removes a resolution that is not one of the action: it was chosen for
// another action of the same form.
func dropResolution(view *engine.CaseView, v url.Values) {
	i := view.Route.Action(v.Get("action"))
	if i < 0 || i >= len(view.Route.Actions) || len(view.Route.Actions[i].Resolutions) == 0 {
		v.Del("resolution")
	}
}

// dropFields removes what was written into the fields of another action of the same form.
func dropFields(view *engine.CaseView, v url.Values) {
	asked := map[string]bool{}
	for _, f := range fieldsFor(view, v.Get("action")) {
		asked[f.Name] = true
	}
	for i := range view.Route.Actions {
		for _, f := range fieldsOf(view.Route.Actions[i].Form, nil) {
			if !asked[f.Name] {
				v.Del(f.Name)
			}
		}
	}
}

// fieldsFor returns the fields of the form of an action.
func fieldsFor(view *engine.CaseView, action string) []*field {
	if view.Case.IsDraft() && action == machine.DraftAction {
		return draftFields(view.Case, view.Route)
	}
	i := view.Route.Action(action)
	if i < 0 || i >= len(view.Route.Actions) {
		return nil
	}
	return fieldsOf(view.Route.Actions[i].Form, view.Case.Xattrs)
}

// saidOf says what was done with a task: "Approved. Now: Paid.".
func (x taskDrawing) saidOf(view *engine.CaseView, v url.Values, a *driveAnswer) notice {
	said := notice{Link: "/cases/" + v.Get("case"), Name: titleOf(view)}
	said.Text = pastOf(view, v.Get("action"), v.Get("do"))
	if cmp.Or(v.Get("do"), "perform") == "perform" {
		if state := stateTitle(view.Route, a.header.Get("X-Flowdrive-Case-Status")); state != "" {
			said.Text += " Now: " + state + "."
		}
	}
	return said
}

// pastOf returns in a sentence what was done with an action.
func pastOf(view *engine.CaseView, action, do string) string {
	title, past := action, ""
	if view.Case.IsDraft() && action == machine.DraftAction {
		title, past = "the draft", "Started"
	}
	if u := view.Case.Undone(action); u != nil {
		title = undoneTitle(view.Route, u)
	}
	if i := view.Route.Action(action); i >= 0 && i < len(view.Route.Actions) {
		title = cmp.Or(view.Route.Actions[i].Title, action)
		past = view.Route.Actions[i].Past
	}
	switch do {
	case "accept":
		return "You have accepted " + title + "."
	case "release":
		return "You have released " + title + "."
	case "reject":
		return "You have rejected " + title + "."
	case "delegate":
		return "You have delegated " + title + "."
	case "skip":
		return title + " was skipped."
	case "abort":
		return title + " was given up."
	case "retry":
		return title + " is tried again."
	}
	return cmp.Or(past, "Done: "+title) + "."
}

// performSeveral performs one action in several cases, one after the other.
func performSeveral(x *visit, v url.Values) (*act, error) {
	name, action, _ := strings.Cut(v.Get("each"), "/")
	action, resolution, _ := strings.Cut(action, "/")
	ids := v["select"]
	if action == "" || len(ids) == 0 {
		return nil, errs.New(errs.BadParameter, "Choose cases, and what is to be done in them.")
	}
	if len(ids) > mostBulk {
		return nil, errs.New(errs.BadParameter, "At most %d cases can be done at once, not %d.", mostBulk, len(ids))
	}
	numbers := make([]int64, 0, len(ids))
	for _, text := range ids {
		id, err := sentCase(url.Values{"case": {text}})
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, id)
	}
	views, err := x.Queries.CaseViews(x.r.Context(), x.by, numbers)
	if err != nil {
		return nil, err
	}
	a := &act{every: true}
	var left []*engine.CaseView
	var done []*engine.CaseView
	for _, view := range views {
		if !strings.EqualFold(view.Case.RouteName, name) {
			left = append(left, view)
			continue
		}
		done = append(done, view)
		a.requests = append(a.requests, taskRequest(url.Values{"case": {strconv.FormatInt(view.Case.ID, 10)}, "action": {action}, "resolution": {resolution}, "comment": {v.Get("comment")}}, nil))
	}
	if len(done) == 0 {
		return nil, errs.New(errs.BadParameter, "None of the cases can be done like this.")
	}
	a.done = func(answers []*driveAnswer) notice { return saidOfSeveral(action, done, left, answers) }
	return a, nil
}

// saidOfSeveral lists what went and what did not, per case.
func saidOfSeveral(action string, done, left []*engine.CaseView, answers []*driveAnswer) notice {
	said := notice{}
	n := 0
	for i, view := range done {
		item := noticeItem{Link: fmt.Sprintf("/cases/%d", view.Case.ID), Name: fmt.Sprintf("%d %s", view.Case.ID, titleOf(view))}
		if answers[i].status >= http.StatusBadRequest {
			item.Text, said.Failed = "not: "+readRefusal(answers[i]).Words(), true
		} else {
			n++
		}
		said.Items = append(said.Items, item)
	}
	for _, view := range left {
		said.Failed = true
		said.Items = append(said.Items, noticeItem{Link: fmt.Sprintf("/cases/%d", view.Case.ID), Name: fmt.Sprintf("%d %s", view.Case.ID, titleOf(view)), Text: "not: it is of another route."})
	}
	past := strings.TrimSuffix(lowerFirst(pastOf(done[0], action, "")), ".")
	said.Text = fmt.Sprintf("%d of %d %s.", n, len(said.Items), past)
	return said
}
