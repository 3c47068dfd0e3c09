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

	"flowdrive/internal/document"
	"flowdrive/route"
	"flowdrive/route/diagram"
)

const routeFolder = "/dav/Workflow/Routes"

func routePages() []page {
	return []page{
		{pattern: "/routes", query: []string{"q", "context"}, draw: drawRoutes},
		{pattern: "/routes/new", query: []string{"name", "from"}, draw: drawNewRoute, forms: map[string]form{"store": storeNewRoute}},
		{pattern: "/routes/{name}", query: []string{"do"}, draw: drawRoute, forms: map[string]form{"delete": deleteRoute}},
		{pattern: "/routes/{name}/edit", draw: drawEditRoute, forms: map[string]form{"store": storeRoute}},
		{pattern: "/routes/{name}/versions/{version}", query: []string{"against"}, draw: drawVersion},
		{pattern: "/routes/{name}/board", query: []string{"q", "role", "do", "case"}, draw: drawBoard, forms: map[string]form{"move": moveCard}},
		{pattern: "/routes/{name}/report", draw: drawReport},
		{pattern: "/routes/{name}/report.csv", query: []string{"figure", "week"}, draw: drawReportCSV},
		{pattern: "/routes/{name}/start", query: []string{"title", "x.*"}, draw: drawStart, forms: map[string]form{"start": startCase}},
	}
}

// routesView is what routes.html shows.
type routesView struct {
	Lede    string
	Query   string
	Filters []chooser
	Rows    []routeRow
	Empty   string
	Filter  bool
}

// routeRow is a route in the list.
type routeRow struct {
	ID          int64
	Name, Title string
	Text        string
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
	for i := range found {
		var shown shownRoute
		if err := json.Unmarshal(found[i].Form, &shown); err != nil {
			return fmt.Errorf("read the form of the route %s: %w", found[i].Name, err)
		}
		v.Rows = append(v.Rows, routeRow{
			ID: found[i].Seq, Name: found[i].Name, Title: cmp.Or(shown.Title, found[i].Name),
			Text: firstSentence(shown.Description), Changed: x.Words.Time(found[i].Modified, x.Words.Since(found[i].Modified)),
			MayStart: x.Queries.MayStart(x.by, found[i].Name),
		})
	}
	slices.SortStableFunc(v.Rows, func(a, b routeRow) int {
		return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	})
	v.Lede = "You can see " + plural(len(v.Rows), "route") + "."
	v.Empty = "There is no route yet."
	if v.Filter {
		v.Empty = "No route has that."
	}
	v.Filters = []chooser{x.chooser("Belongs to", "context", x.Queries.Contexts(x.by))}
	return x.draw("routes.html", head{Title: "Routes", Nav: "routes", Path: routeFolder + "/", JSON: routeFolder + "/.contents"}, v)
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
	Picture     template.HTML
	PictureTall template.HTML
	Actions     []diagram.Row
	Fields      []aboutLine
	About       []aboutLine
	Versions    []routeVersion
	Cases       string // address of its cases
	Schedule    string // address of its entries
	Start       string // address of the form that starts a case, "" if the reader may not
	Board       string
	Report      string
	Source      string
	Edit        string // address of its editor, "" if the reader may not change it
	Ask         *asking
	Refused     *refusal
}

type routeVersion struct {
	Number string
	Href   string
	At     time.Time
}

func drawRoute(x *visit) error {
	name := x.r.PathValue("name")
	drawn, err := x.Queries.RoutePicture(x.r.Context(), x.by, name)
	if err != nil {
		return err
	}
	stored, err := x.Queries.Route(x.r.Context(), x.by, name)
	if err != nil {
		return err
	}
	versions, err := x.Queries.RouteVersions(x.r.Context(), x.by, name)
	if err != nil {
		return err
	}
	r, at := drawn.Route, routeFolder+"/"+url.PathEscape(stored.Name)
	v := &routeView{
		Name: stored.Name, Title: cmp.Or(r.Title, stored.Name), Text: r.Description,
		Picture:     picture(drawn.Picture, diagram.Options{ID: "wide"}),
		PictureTall: picture(drawn.Picture, diagram.Options{ID: "tall", Down: true}),
		Actions:     drawn.Picture.Graph().Rows,
		Cases:       "/cases?route=" + url.QueryEscape(stored.Name), Schedule: "/schedule?route=" + url.QueryEscape(stored.Name),
		Board: x.Link(pageOfRoute(stored.Name)+"/board", at+"/Board/"), Report: pageOfRoute(stored.Name) + "/report", Source: at + sourceSuffix(stored.YAML),
	}
	if x.Queries.AdministersRoute(x.by, stored.Name) {
		v.Edit, v.Ask = pageOfRoute(stored.Name)+"/edit", x.editorDrawing().askDelete(stored.Name)
	}
	v.Refused = x.untold(v.Ask)
	if x.Queries.MayStart(x.by, stored.Name) {
		v.Start = pageOfRoute(stored.Name) + "/start"
	}
	for i := range r.Xattrs {
		v.Fields = append(v.Fields, aboutLine{Key: cmp.Or(r.Xattrs[i].Title, r.Xattrs[i].Key), Value: wordsOfXattr(&r.Xattrs[i])})
	}
	v.About = []aboutLine{{Key: "Name", Value: stored.Name}, {Key: "Version", Value: fmt.Sprint(drawn.Version)}}
	for i := range slices.Backward(versions) {
		v.Versions = append(v.Versions, routeVersion{Number: versions[i].Name, Href: pageOfRoute(stored.Name) + "/versions/" + versions[i].Name, At: versions[i].Created})
		if len(v.Versions) == mostVersions {
			break
		}
	}
	return x.draw("route.html", head{Title: v.Title, Nav: "routes", Path: v.Source, JSON: at + ".json"}, v)
}

// mostVersions is how many versions of a route its page lists; the folder has all.
const mostVersions = 20

func pageOfRoute(name string) string { return "/routes/" + url.PathEscape(name) }

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
