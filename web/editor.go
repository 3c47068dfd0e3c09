package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/diagram"
)

// editorView is what editor.html shows.
type editorView struct {
	Title    string
	Name     string // of a new route as it was typed
	New      bool
	Examples []option // what a new route can begin with
	File     string
	Post     string
	Cancel   string
	Take     string // address of the page with what is stored
	Submit   string
	Key      string
	Match    string // ETag of the text that is edited
	Source   string
	Migrate  bool
	Curl     string
	Refused  *refusal
	Changed  []diffLine // what somebody else has stored, against what was typed
	Check    *checkView
}

// checkView is what the drive would say to the text.
type checkView struct {
	Faults   []fault
	Doubts   []fault
	Same     bool // the text is what is stored
	Picture  template.HTML
	Moves    *migration
	MoreText string // if some faults are not listed
}

// migration is what would become of cases, or has: a member of the answer to a PUT.
type migration struct {
	Version int64 `json:"version"`
	Moved   int   `json:"moved"`
	Failed  int   `json:"failed"`
	Faults  []struct {
		Case   int64  `json:"case"`
		Detail string `json:"detail"`
	} `json:"faults"`
}

// diffLine is a line of a comparison of two texts.
type diffLine struct{ Class, Text string }

// scenarioPointer is in place of the pointer of a fault in the scenario beside the route.
const scenarioPointer = "/scenario"

// shownFaults bounds the faults that are listed at once.
const shownFaults = 50

// emptyRoute is with what a new route begins if nothing else is chosen.
const emptyRoute = `title: A new route
access: {start: [everyone]}
roles:
  deciders: {assign: [starter]}
states:
  open: {title: Open, type: start}
  done: {title: Done, type: complete}
actions:
  begin: {trigger: init, to: open}
  finish: {title: Finish, in: [open], role: deciders, to: done}
`

func drawNewRoute(x *visit) error {
	v := &editorView{
		New: true, Title: "New route", Name: x.query.Get("name"), File: "new.yaml", Post: "/routes/new", Cancel: "/routes", Take: "/routes/new",
		Submit: "Store", Source: emptyRoute,
	}
	from := x.query.Get("from")
	known := from == ""
	for _, e := range route.Examples() {
		v.Examples = append(v.Examples, option{Value: e.Name, Title: titleOfText(e.Source, e.Name), Chosen: e.Name == from})
		if e.Name == from {
			known, v.Source = true, string(e.Source)
		}
	}
	slices.SortFunc(v.Examples, func(a, b option) int { return cmp.Compare(a.Title, b.Title) })
	v.Examples = slices.Insert(v.Examples, 0, option{Title: "A small one", Chosen: from == ""})
	if !known {
		return errs.New(errs.BadParameter, "There is no example %q.", from)
	}
	if x.sent != nil {
		v.Name = x.sent.Get("name")
	}
	return x.editorDrawing().drawEditor(v, head{Title: v.Title, Nav: "routes", Path: routeFolder + "/"}, storeNewRoute)
}

func drawEditRoute(x *visit) error {
	o, err := x.Queries.RouteOverview(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return err
	}
	stored := o.Stored
	at := pageOfRoute(stored.Name)
	v := &editorView{
		Title: "Edit " + cmp.Or(o.Drawn.Route.Title, stored.Name), Name: stored.Name, File: stored.Name + sourceSuffix(stored.YAML), Post: at + "/edit", Cancel: at, Take: at + "/edit",
		Submit: "Store", Source: string(stored.Source), Match: stored.SourceETag,
	}
	if x.refused != nil && x.refused.Kind == errs.Precondition {
		v.Submit = "Store mine all the same"
		v.Changed = diffLines(v.Source, x.sent.Get("source"))
	} else if x.sent != nil {
		v.Match = x.sent.Get("match")
	}
	path := routeFolder + "/" + url.PathEscape(stored.Name)
	return x.editorDrawing().drawEditor(v, head{Title: v.Title, Nav: "routes", Path: routeFolder + "/" + v.File, JSON: path + ".json"}, storeRoute)
}

// titleOfText returns the title in the text of a route, the name if it has none.
func titleOfText(source []byte, name string) string {
	node, err := document.Parse(source, true)
	if err != nil {
		return name
	}
	if title := node.Get("title"); title != nil {
		if text, is := title.Any().(string); is && text != "" {
			return text
		}
	}
	return name
}

// editorDrawing draws the editor of routes.
type editorDrawing struct{ *visit }

func (x *visit) editorDrawing() editorDrawing { return editorDrawing{x} }

// drawEditor draws the text that was typed, else what the view has, and what the drive
// would say to it.
func (x editorDrawing) drawEditor(v *editorView, h head, store form) error {
	stored := v.Source
	if x.sent != nil {
		v.Source, v.Migrate = x.sent.Get("source"), x.sent.Get("migrate") == "true"
	}
	v.Key = x.Key()
	sent := url.Values{"source": {v.Source}, "name": {v.Name}, "match": {v.Match}}
	if v.Migrate {
		sent.Set("migrate", "true")
	}
	a, err := store(x.visit, sent)
	if err != nil && asProblem(err) == nil {
		return err
	}
	checked := a
	if v.New && strings.TrimSpace(sent.Get("name")) == "" {
		// What is wrong with the text is said before the route has a name.
		sent.Set("name", "new-"+strings.ToLower(v.Key))
		checked, err = store(x.visit, sent)
	}
	if v.Check, err = x.checkOf(v, checked, err, stored); err != nil {
		return err
	}
	if v.Refused = x.refused; v.Refused != nil {
		v.Refused.Faults = nil // they stand beside the text
		if n := len(v.Check.Faults); n > 0 && v.Refused.Kind == errs.Invalid {
			v.Refused.Detail = plural(n, "fault") + ": nothing was stored. They are listed beside the text."
		}
	}
	if v.New && a == nil && checked != nil { // it has no name yet
		sent.Set("name", "NAME")
		if a, err = store(x.visit, sent); err != nil && asProblem(err) == nil {
			return err
		}
	}
	if a != nil {
		file := v.File
		if v.New {
			file = strings.TrimSpace(sent.Get("name")) + ".yaml"
		}
		v.Curl = x.curlLines(shownFile(a.requests, file))
	}
	h.Script = "editor.js"
	return x.draw("editor.html", h, v)
}

// shownFile returns the requests with the file in place of the text, which is too long
// for a command line.
func shownFile(requests []driveRequest, file string) []driveRequest {
	out := slices.Clone(requests)
	for i := range out {
		out[i].File = file
	}
	return out
}

// checkOf asks the drive what it would say if a did what it does. refused is why there is
// no such act.
func (x editorDrawing) checkOf(v *editorView, a *act, refused error, stored string) (*checkView, error) {
	c := &checkView{Same: !v.New && v.Source == stored && !v.Migrate}
	if refused != nil {
		c.Faults = []fault{{Detail: asProblem(refused).Detail}}
		return c, nil
	}
	q := a.requests[0]
	if !v.New {
		q.Header = nil // whether it has changed meanwhile is said when it is stored
	}
	q.Path += map[bool]string{false: "?dryRun", true: "&dryRun"}[strings.Contains(q.Path, "?")]
	dry, err := x.hand(&q, "")
	if err != nil {
		return nil, err
	}
	if dry.status >= http.StatusBadRequest {
		said := readRefusal(dry)
		switch {
		case !v.New && (said.Kind == errs.NotAllowed || said.Kind == errs.NotFound):
			return nil, errs.New(said.Kind, "%s", said.Detail)
		case said.Kind == errs.ScenarioBroken && len(said.Faults) > 0: // the lines are those of the scenario
			for _, one := range said.Faults {
				c.Faults = append(c.Faults, fault{Pointer: scenarioPointer, Detail: fmt.Sprintf("It breaks in line %d: %s", one.Line, one.Detail)})
			}
		case len(said.Faults) > 0:
			c.Faults = said.Faults
		case said.Kind == errs.Precondition || said.Kind == errs.NotAllowed:
			c.Faults = []fault{{Pointer: "/name", Detail: "There is a route of this name already; choose another name."}}
		default:
			at := struct{ Line, Column int }{}
			if err := json.Unmarshal(dry.body.Bytes(), &at); err != nil {
				return nil, errs.Wrap("read a problem", err)
			}
			c.Faults = []fault{{Detail: said.Detail, Line: at.Line, Column: at.Column}}
		}
		if more := len(c.Faults) - shownFaults; more > 0 {
			c.Faults, c.MoreText = c.Faults[:shownFaults], fmt.Sprintf("And %d more.", more)
		}
		return c, nil
	}
	var told struct {
		Warnings  []string   `json:"warnings"`
		Migration *migration `json:"migration"`
	}
	if err := json.Unmarshal(dry.body.Bytes(), &told); err != nil {
		return nil, errs.Wrap("read the answer to a dry run", err)
	}
	c.Doubts, c.Moves = doubts(told.Warnings), told.Migration
	c.Picture = pictureOfText(v)
	return c, nil
}

// doubts returns the warnings of the drive, which are lines of text, with their places.
func doubts(warnings []string) (out []fault) {
	for _, line := range warnings {
		f := errs.ReadFault(line)
		out = append(out, fault{Pointer: f.Pointer, Detail: f.Detail, Line: f.Line, Column: f.Column})
	}
	return out
}

// pictureOfText draws the route of a text that is valid; "" if it cannot.
func pictureOfText(v *editorView) template.HTML {
	node, err := document.Parse([]byte(v.Source), !strings.HasSuffix(v.File, ".json"))
	if err != nil {
		return ""
	}
	r, err := route.ParseStored(cmp.Or(strings.TrimSpace(v.Name), "new"), node, route.Meant{})
	if err != nil {
		return ""
	}
	return picture(diagram.Draw(diagram.Of(r)), diagram.Options{ID: "typed", Down: true})
}

// diffLines compares two texts by line, without what is equal far from any difference.
func diffLines(before, after string) (out []diffLine) {
	text := diff.Diff("before", []byte(before), "after", []byte(after))
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if i < 3 || line == "" { // the names of the files
			continue
		}
		l := diffLine{Text: line}
		switch line[0] {
		case '+':
			l.Class = "add"
		case '-':
			l.Class = "del"
		case '@':
			l.Class = "at"
		}
		out = append(out, l)
	}
	return out
}

// storeRoute stores the text of the form, if the route is still as it was shown.
func storeRoute(x *visit, v url.Values) (*act, error) {
	stored, err := x.Queries.Route(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	q := driveRequest{
		Method: http.MethodPut, Path: fileOfRoute(stored), Body: []byte(v.Get("source")),
	}
	done := storedRoute
	if v.Get("migrate") == "true" {
		q.Path += "?migrate"
		done = movedToRoute
	}
	if match := v.Get("match"); match != "" {
		q.Header = [][2]string{{"If-Match", match}}
	}
	return &act{requests: []driveRequest{q}, to: pageOfRoute(stored.Name), done: done}, nil
}

// storeNewRoute stores a route that there is not yet.
func storeNewRoute(_ *visit, v url.Values) (*act, error) {
	name := strings.TrimSpace(v.Get("name"))
	if name == "" {
		e := errs.New(errs.Invalid, "The route needs a name: that of its file.")
		e.Faults = []errs.Fault{{Pointer: "/name", Detail: "is missing"}}
		return nil, e
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".json")
	return &act{
		requests: []driveRequest{{
			Method: http.MethodPut, Path: routeFolder + "/" + url.PathEscape(name) + ".yaml", Header: [][2]string{{"If-None-Match", "*"}}, Body: []byte(v.Get("source")),
		}},
		to: pageOfRoute(name), done: storedRoute,
	}, nil
}

// storedRoute says what storing has done.
func storedRoute(answers []*driveAnswer) notice {
	said := notice{Text: "The route is stored."}
	var told struct {
		Migration *migration `json:"migration"`
		Warnings  []string   `json:"warnings"`
	}
	if body := answers[0].body.Bytes(); len(bytes.TrimSpace(body)) > 0 && json.Unmarshal(body, &told) == nil {
		if told.Migration != nil && told.Migration.Failed > 0 {
			said = notice{Text: "The route is stored. These cases could not be moved and stay as they were:", Failed: true}
			for _, f := range told.Migration.Faults {
				said.Items = append(said.Items, noticeItem{Link: fmt.Sprintf("/cases/%d", f.Case), Name: fmt.Sprint(f.Case), Text: f.Detail})
			}
		} else if len(told.Warnings) > 0 {
			said.Text += " " + plural(len(told.Warnings), "warning") + ": " + told.Warnings[0]
		}
	}
	return said
}

// movedToRoute says what storing and moving the cases have done: the drive reports only
// cases that could not be moved.
func movedToRoute(answers []*driveAnswer) notice {
	said := storedRoute(answers)
	if !said.Failed {
		said.Text += " Its open cases have moved to this version."
	}
	return said
}

// deleteRoute deletes a route; force cancels its open cases and pauses its entries.
func deleteRoute(x *visit, v url.Values) (*act, error) {
	name := x.r.PathValue("name")
	q := driveRequest{Method: http.MethodDelete, Path: routeFolder + "/" + url.PathEscape(name) + ".json"}
	if v.Get("force") == "true" {
		if v.Get("sure") != name {
			e := errs.New(errs.Invalid, "Type the name of the route to delete it with what uses it.")
			e.Faults = []errs.Fault{{Pointer: "/sure", Detail: "is not " + name}}
			return nil, e
		}
		q.Path += "?force"
	}
	return &act{requests: []driveRequest{q}, to: "/routes", done: said("The route " + name + " is deleted.")}, nil
}

// askDelete returns the form that deletes the route, nil if nobody asks for it. Once the
// drive has refused because something uses the route, it offers to delete that, too.
func (x editorDrawing) askDelete(name string) *asking {
	if x.asked() != "delete" {
		return nil
	}
	a := asking{
		Do: "delete", Title: "Delete the route " + name, Submit: "Delete", Cancel: pageOfRoute(name), Post: pageOfRoute(name),
		Text: "Its versions go with it. What was deleted can be brought back for a minute.",
	}
	if x.refused != nil && (x.refused.Kind == errs.InUse || x.sent.Get("force") == "true") {
		a.Text, a.Submit = "Its open cases are canceled and its schedule entries paused. Type its name if that is meant.", "Delete it with what uses it"
		a.Hidden = []hidden{{"force", "true"}}
		a.Fields = []*field{{Key: "sure", Name: "sure", Label: "Name of the route", Kind: "text", typ: "string", Needed: true}}
	}
	out := x.asks(a, func(x *visit, v url.Values) (*act, error) {
		if v.Has("sure") {
			v.Set("sure", name)
		}
		return deleteRoute(x, v)
	})
	return out
}
