package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/route"
)

const newCasePath = "/dav/Workflow/Cases/new.json"

// startView is what start.html shows.
type startView struct {
	Name, Title string
	Text        string
	Ask         *asking
	Refused     *refusal
}

func drawStart(x *visit) error {
	name := x.r.PathValue("name")
	drawn, err := x.Queries.RoutePicture(x.r.Context(), x.by, name)
	if err != nil {
		return err
	}
	r := drawn.Route
	v := &startView{Name: r.Name, Title: cmp.Or(r.Title, r.Name), Text: r.Description}
	v.Ask = x.asks(asking{
		Do: "start", Title: "Start a case", Submit: "Start", Cancel: pageOfRoute(r.Name),
		Post: pageOfRoute(r.Name) + "/start", Fields: x.startFields(r),
	}, startCase)
	v.Refused = x.untold(v.Ask)
	return x.draw("start.html", head{Title: "Start: " + v.Title, Nav: "routes", Path: newCasePath}, v)
}

// startFields returns the fields of a case that begins, filled in by the address.
func (x *visit) startFields(r *route.Route) []*field {
	title := &field{Key: "title", Name: "title", Label: "Title", Kind: "text", typ: "string", Value: x.query.Get("title")}
	return append([]*field{title}, x.xattrFields(r)...)
}

// xattrFields returns a field for each XATTR that the route declares.
func (x *visit) xattrFields(r *route.Route) (out []*field) {
	for i := range r.Xattrs {
		d := &r.Xattrs[i]
		p := boundsOf(d)
		p.Type, p.Title = "string", d.Title
		switch d.Type {
		case document.Number:
			p.Type = "number"
		case document.Bool:
			p.Type = "boolean"
		default:
		}
		f := p.field(d.Key)
		f.Needed = d.Required && d.Default == nil
		if d.Default != nil {
			f.Value = d.Default.Text
		}
		if x.query.Has(f.Name) {
			f.Value = x.query.Get(f.Name)
		}
		out = append(out, f)
	}
	return out
}

// startCase is the request that starts a case.
func startCase(x *visit, v url.Values) (*act, error) {
	drawn, err := x.Queries.RoutePicture(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	r := drawn.Route
	members := []member{text("route", r.Name), text("title", strings.TrimSpace(v.Get("title")))}
	fields := slices.DeleteFunc(x.xattrFields(r), func(f *field) bool {
		// A box that nobody has ticked says nothing, if nothing is needed.
		return f.Kind == "check" && !f.Needed && f.Value != "true" && !v.Has(f.Name)
	})
	if xattrs := sentXattrs(fields, v); len(xattrs) > 0 {
		members = append(members, member{"xattrDict", object(xattrs...)})
	}
	return &act{
		requests: []driveRequest{{Method: http.MethodPut, Path: newCasePath, Body: object(members...)}},
		lead:     pageOfStarted,
		done:     said("The case is started."),
	}, nil
}

// pageOfStarted returns the page of the case that an answer has started.
func pageOfStarted(answers []*driveAnswer) string {
	for _, a := range answers {
		location := a.header.Get("Location")
		name := location[strings.LastIndexByte(location, '/')+1:]
		if id, is := strings.CutSuffix(name, ".json"); is && id != "" {
			return "/cases/" + id
		}
	}
	return "/cases"
}
