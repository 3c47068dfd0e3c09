package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/diagram"
	"flowdrive/store"
)

const routeFolder = "/dav/Workflow/Routes"

func routePages() []page {
	return []page{
		{pattern: "/routes", query: []string{"q", "context"}, draw: drawRoutes},
		{pattern: "/routes/new", query: []string{"name", "from"}, draw: drawNewRoute, forms: map[string]form{"store": storeNewRoute}, fields: map[string]string{"store": "name source match migrate?"}},
		routePage(),
		{pattern: "/routes/{name}/edit", draw: drawEditRoute, forms: map[string]form{"store": storeRoute}, fields: map[string]string{"store": "source match migrate?"}},
		{pattern: "/routes/{name}/board", query: []string{"q", "role", "do", "case", "changed"}, draw: drawBoard, forms: map[string]form{"move": moveCard}, fields: map[string]string{"move": "case from way to comment"}},
		{pattern: "/routes/{name}/cases", draw: listOfRoute("/cases")},
		{pattern: "/routes/{name}/schedule", draw: listOfRoute("/schedule")},
		{pattern: "/routes/{name}/versions", query: []string{"from", "to"}, draw: drawRouteVersions},
		{pattern: "/routes/{name}/versions/{version}", draw: drawRouteVersion},
		{pattern: "/routes/{name}/access", draw: drawRouteAccess},
		{pattern: "/routes/{name}/report", draw: drawReport},
		{pattern: "/routes/{name}/report.csv", query: []string{"figure", "week"}, draw: drawReportCSV},
		startPage(),
	}
}

// routesView is what routes.html shows.
type routesView struct {
	Lede    string
	Query   string
	Filters []chooser
	Routes  []routeCard
	Empty   string
	Filter  bool
}

// routeCard is a route in the list.
type routeCard struct {
	ID          int64
	Name, Title string
	Text        string
	Picture     string // address of its picture on the drive
	Open        string // how many of its cases are open, "" for none
	Changed     template.HTML
	MayStart    bool
}

// shownRoute is what a list reads of the complete form of a route.
type shownRoute struct {
	Title       string `json:"title"`
	Description string `json:"description"`
}

func drawRoutes(x *visit) error {
	context := x.query.Get("context")
	found, err := x.Queries.Routes(x.r.Context(), x.by, context, x.query.Get("q"))
	if err != nil {
		return err
	}
	v := &routesView{Query: x.query.Get("q"), Filter: len(x.query) > 0}
	ids := make([]int64, len(found))
	for i := range found {
		ids[i] = found[i].Seq
	}
	open, err := x.Queries.OpenOfRoutes(x.r.Context(), x.by, ids)
	if err != nil {
		return err
	}
	for i := range found {
		var shown shownRoute
		if err := json.Unmarshal(found[i].Form, &shown); err != nil {
			return fmt.Errorf("read the form of the route %s: %w", found[i].Name, err)
		}
		v.Routes = append(v.Routes, routeCard{
			ID: found[i].Seq, Name: found[i].Name, Title: cmp.Or(shown.Title, found[i].Name), Text: firstSentence(shown.Description),
			Picture: routeFolder + "/" + url.PathEscape(found[i].Name) + "/diagram.svg", Open: wordsOfOpen(open[found[i].Seq]),
			Changed: x.Words.Time(found[i].Modified, x.Words.Since(found[i].Modified)), MayStart: x.Queries.MayStart(x.by, found[i].Name),
		})
	}
	slices.SortStableFunc(v.Routes, func(a, b routeCard) int {
		return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	})
	v.Lede = "You can see " + plural(len(v.Routes), "route") + "."
	v.Empty = "There is no route yet."
	if v.Filter {
		v.Empty = "No route has that."
	}
	v.Filters = []chooser{x.chooser("Belongs to", "context", x.Queries.Contexts(x.by))}
	return x.draw("routes.html", head{Title: "Routes", Nav: "routes", Path: routeFolder + "/", JSON: routeFolder + "/.contents"}, v)
}

// wordsOfOpen says how many cases of a route are open, "" for none.
func wordsOfOpen(n store.OpenCount) string {
	switch {
	case n.More && n.Cases == 0:
		return "Open cases" // there may be some: its list knows
	case n.More:
		return fmt.Sprintf("%d+ open cases", n.Cases)
	case n.Cases == 0:
		return ""
	}
	return plural(n.Cases, "open case")
}

// firstSentence returns the first line of a text, up to its first full stop.
func firstSentence(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if first, _, more := strings.Cut(line, ". "); more {
		return first + "."
	}
	return line
}

// routeView is what route.html shows.
type routeView struct {
	Name, Title string
	Text        string
	Who         string // whose it is, and who may do what
	Tabs        []tab
	Menu        []anchor
	Cases       string // how many there are, in words
	Counted     bool   // there are some
	Picture     template.HTML
	PictureTall template.HTML
	Actions     []diagram.Row
	Fields      []aboutLine
	People      []aboutLine // roles, and teams that are allowed something: who that is
	About       []aboutLine
	Versions    []routeVersion
	Start       string  // address of the form that starts a case, "" if the reader may not
	Drop        *asking // starts a case with a file; nil: the reader may not
	Page        string  // address of this page
	Edit        string  // address of its editor, "" if the reader may not change it
	Ask         *asking
	Scenario    *routeScenario // nil: there is none
	Hooks       []routeHook
	HookFolder  string // on the drive, "" for those who do not administer the route
}

type routeVersion struct {
	Number  int64
	Href    string
	At      time.Time
	Current bool
}

// routeScenario is the scenario beside a route, and how it went when it was played last.
type routeScenario struct {
	Href    string `json:"href"`
	Title   string `json:"title"`
	Played  string `json:"played"` // "": it was not
	Version int64  `json:"version"`
	Steps   int    `json:"steps"`
	Checks  int    `json:"expectations"`

	State mark
	Text  string
	At    template.HTML
}

// routeHook is a hook of a route.
type routeHook struct {
	Name   string  `json:"name"`
	Author string  `json:"author"`
	Fault  *string `json:"fault"`

	Deliver *struct {
		Label string `json:"label"`
	} `json:"deliver"`
	Href  string
	Does  string
	State mark
	Text  string
}

func drawRoute(x *visit) error {
	o, err := x.Queries.RouteOverview(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return err
	}
	stored, drawn := o.Stored, o.Drawn
	r, at := drawn.Route, routeFolder+"/"+url.PathEscape(stored.Name)
	counts, err := x.Queries.StateCounts(x.r.Context(), x.by, stored.Name)
	if err != nil {
		return err
	}
	marks := marksOfCounts(drawn.Picture, r, counts)
	v := &routeView{
		Name: stored.Name, Title: cmp.Or(r.Title, stored.Name), Text: r.Description,
		Who: whoActsOn(x, &o.Access).sentence(), Tabs: tabsOfRoute(r, ""), Cases: wordsOfCounts(counts), Counted: len(counts.States) > 0 && r.Model != route.Dependency,
		Picture:     picture(drawn.Picture, diagram.Options{ID: "wide", Marks: marks}),
		PictureTall: picture(drawn.Picture, diagram.Options{ID: "tall", Down: true, Marks: marks}),
		Actions:     drawn.Picture.Graph().Rows,
		Page:        pageOfRoute(stored.Name),
	}
	source := fileOfRoute(stored)
	if v.Scenario, err = x.scenarioOf(stored.Form, drawn.Version); err != nil {
		return err
	}
	if o.Access.MayChange {
		v.Edit, v.Ask = v.Page+"/edit", x.editorDrawing().askDelete(stored.Name)
		v.Menu = []anchor{{Href: "?do=delete#ask", Label: "Delete…"}}
		if v.Ask == nil {
			if v.Ask, err = x.editorDrawing().askScenario(stored.Name, r, v.Scenario); err != nil {
				return err
			}
		}
	}
	if o.Access.MayStart {
		v.Start, v.Drop = v.Page+"/start", dropForm(x, stored.Name)
	}
	for i := range r.Xattrs {
		v.Fields = append(v.Fields, aboutLine{Key: cmp.Or(r.Xattrs[i].Title, r.Xattrs[i].Key), Value: wordsOfXattr(&r.Xattrs[i])})
	}
	v.People = peopleOfRoute(x, o)
	v.About = []aboutLine{{Key: "Name", Value: stored.Name}, {Key: "Version", Value: fmt.Sprint(drawn.Version)}}
	for i := range slices.Backward(o.Versions) {
		n := o.Versions[i].Version
		v.Versions = append(v.Versions, routeVersion{Number: n, Href: fmt.Sprintf("%s/versions/%d", v.Page, n), At: o.Versions[i].Created, Current: n == drawn.Version})
		if len(v.Versions) == mostVersions {
			break
		}
	}
	if o.Access.MayChange {
		v.HookFolder = at + "/Hooks/"
		if v.Hooks, err = x.hooksOf(stored.Name, v.HookFolder); err != nil {
			return err
		}
	}
	return x.draw("route.html", head{Title: v.Title, Nav: "routes", Path: source, JSON: at + ".json", Text: source}, v)
}

// scenarioOf returns the scenario that the complete form of a route names, nil for none.
func (x *visit) scenarioOf(form []byte, version int64) (*routeScenario, error) {
	var shown struct {
		Scenario *routeScenario `json:"scenario"`
	}
	if err := json.Unmarshal(form, &shown); err != nil {
		return nil, errs.Wrap("read the scenario of a route", err)
	}
	s := shown.Scenario
	if s == nil {
		return nil, nil
	}
	if s.Played == "" {
		s.State, s.Text = mark{"off", "waiting", "Not played"}, "This server could not play it when it was stored."
		return s, nil
	}
	s.State, s.Text = mark{"good", "done", "Holds"}, plural(s.Steps, "step")+", "+plural(s.Checks, "expectation")+". A version with which it breaks is not stored."
	if s.Version != version {
		s.State = mark{"warn", "warn", fmt.Sprintf("Played with version %d", s.Version)}
	}
	played, err := time.Parse(time.RFC3339, s.Played)
	if err != nil {
		return nil, errs.Wrap("read when a scenario was played", err)
	}
	s.At = x.Words.Time(played, x.Words.Moment(played))
	return s, nil
}

// hooksOf returns the hooks of a route that the reader administers.
func (x *visit) hooksOf(name, folder string) (out []routeHook, err error) {
	found, err := x.Queries.RouteHooks(x.r.Context(), x.by, name)
	for i := range found {
		var h routeHook
		if err := json.Unmarshal(found[i].Form, &h); err != nil {
			return nil, errs.Wrap("read a hook", err)
		}
		h.Href, h.Does, h.State = folder+url.PathEscape(h.Name)+".json", "starts cases", mark{"good", "done", "Works"}
		if h.Deliver != nil {
			h.Does = "writes the message " + h.Deliver.Label
		}
		if h.Author != "" {
			h.Does += ", as " + x.Queries.Person(h.Author).Shown()
		}
		if h.Fault != nil {
			h.State, h.Text = mark{"bad", "failed", "Does not work"}, *h.Fault
		}
		out = append(out, h)
	}
	return out, err
}

// listOfRoute leads to a list that is filtered by a route.
func listOfRoute(list string) func(x *visit) error {
	return func(x *visit) error {
		stored, err := x.Queries.Route(x.r.Context(), x.by, x.r.PathValue("name"))
		if err != nil {
			return err
		}
		return x.redirect(list + "?route=" + url.QueryEscape(stored.Name))
	}
}

// mostVersions is how many versions of a route its pages list; the folder has all.
const mostVersions = 20

func pageOfRoute(name string) string { return "/routes/" + url.PathEscape(name) }

// fileOfRoute returns the file in which the folder lists a route.
func fileOfRoute(stored *engine.Resource) string {
	return routeFolder + "/" + url.PathEscape(stored.Name) + sourceSuffix(stored.YAML)
}

func sourceSuffix(yaml bool) string {
	if yaml {
		return ".yaml"
	}
	return ".json"
}

// wordsOfXattr says what an XATTR takes.
func wordsOfXattr(d *route.Xattr) string {
	words := "anything"
	switch d.Type {
	case document.String:
		words = "text"
	case document.Number:
		words = "number"
	case document.Bool:
		words = "yes or no"
	default:
	}
	if d.Date {
		words = "date"
	}
	if limits := boundsOf(d).limits(); limits != "" {
		words += ", " + limits
	}
	switch {
	case d.Default != nil:
		words += ", at first " + d.Default.Text
	case d.Required:
		words += ", needed"
	}
	return words
}

// boundsOf returns a property with the bounds of an XATTR.
func boundsOf(d *route.Xattr) *property {
	number := func(bound *float64) *json.Number {
		if bound == nil {
			return nil
		}
		text := json.Number(strconv.FormatFloat(*bound, 'f', -1, 64))
		return &text
	}
	return &property{Minimum: number(d.Minimum), Maximum: number(d.Maximum)}
}
