package web

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

const newCasePath = "/dav/Workflow/Cases/new.json"

// startView is what start.html shows.
type startView struct {
	Name, Title string
	Text        string
	Ask         *asking
}

// startPage is the page that starts a case, with a file or without one.
func startPage() page {
	g := page{pattern: "/routes/{name}/start", query: []string{"title", "x.*"}, draw: drawStart, forms: map[string]form{"start": startCase}, fields: map[string]string{"start": "title priority startAt x.* xattrDict.* " + rolePrefix + "*+ " + inputField + " " + inputNameField}}
	g.post = func(x *visit) error {
		return takeFile(x, g, fileTaker{request: attachRequest, lost: "is not stored, and no case is started."})
	}
	return g
}

func drawStart(x *visit) error {
	name := x.r.PathValue("name")
	drawn, err := x.Queries.RoutePicture(x.r.Context(), x.by, name)
	if err != nil {
		return err
	}
	r := drawn.Route
	for _, name := range sortedKeys(x.query) {
		if key, is := strings.CutPrefix(name, "x."); is && !slices.ContainsFunc(r.Xattrs, func(d route.Xattr) bool { return d.Key == key }) {
			return errs.New(errs.BadParameter, "The route %q declares no XATTR %q, which the parameter %q would fill in.", r.Name, key, name)
		}
	}
	v := &startView{Name: r.Name, Title: cmp.Or(r.Title, r.Name), Text: r.Description}
	v.Ask = x.asks(asking{
		Do: "start", Title: "Start a case", Submit: "Start", Cancel: pageOfRoute(r.Name),
		Post: pageOfRoute(r.Name) + "/start", Fields: x.startFields(r), More: moreStartFields(), File: x.inputFile(),
	}, startCase)
	return x.draw("start.html", head{Title: "Start: " + v.Title, Nav: "routes", Path: newCasePath}, v)
}

// startFields returns the fields of a case that begins, filled in by the address.
func (x *visit) startFields(r *route.Route) []*field {
	title := &field{Key: "title", Name: "title", Label: "Title", Kind: "text", typ: "string", Value: x.query.Get("title")}
	return append(append([]*field{title}, x.xattrFields(r, x.sent)...), x.roleFields(r)...)
}

// roleFields returns a field for each role whose players the starter may choose.
func (x *visit) roleFields(r *route.Route) (out []*field) {
	for i := range r.Roles {
		role := &r.Roles[i]
		if len(role.Pick) == 0 {
			continue
		}
		f := someOf(field{Name: rolePrefix + role.Name, Label: cmp.Or(role.Title, role.Name), typ: "string", Hint: "Names of users or teams, with commas between them."},
			suggested(x.Queries.Pickable(x.by, r, role.Name)))
		if len(role.Assign) > 0 {
			f.Hint = strings.TrimSpace(f.Hint + " The route chooses if this is empty.")
		}
		out = append(out, f)
	}
	return out
}

// rolePrefix begins the names of fields that say who plays a role.
const rolePrefix = "roles."

// moreStartFields returns the fields that few cases need.
func moreStartFields() []*field {
	return []*field{
		{Name: "startAt", Label: "Start at", Kind: "text", typ: "string", Hint: "A date, or a date and time such as 2012-11-09 12:34. The case waits until then."},
		{Name: "priority", Label: "Priority", Kind: "text", Number: true, typ: "integer", Hint: "From 0 to 65535. Cases with a higher one come first."},
	}
}

// sentRoles returns who plays which role, by the fields of a form. A role without players
// is left to the route.
func sentRoles(r *route.Route, v url.Values) (out []member) {
	for i := range r.Roles {
		name := r.Roles[i].Name
		if players := names(strings.Join(v[rolePrefix+name], ",")); len(players) > 0 {
			out = append(out, member{name, bytes.TrimSpace(document.Line(players))})
		}
	}
	for _, field := range sortedKeys(v) { // the drive says that there is no such role
		name, is := strings.CutPrefix(field, rolePrefix)
		if is && !slices.ContainsFunc(r.Roles, func(role route.Role) bool { return role.Name == name }) {
			out = append(out, member{name, bytes.TrimSpace(document.Line(names(strings.Join(v[field], ","))))})
		}
	}
	return out
}

// xattrFields returns a field for each XATTR that a start asks for, and for those that the
// address or the form gives besides.
func (x *visit) xattrFields(r *route.Route, given url.Values) (out []*field) {
	asked := r.AskedAtStart()
	for i := range r.Xattrs {
		d := &r.Xattrs[i]
		f := xattrField(d)
		if !slices.Contains(asked, d) && !x.query.Has(f.Name) && !given.Has(f.Name) {
			continue
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
	fields := slices.DeleteFunc(x.xattrFields(r, v), func(f *field) bool {
		// A box that nobody has ticked says nothing, if nothing is needed.
		return f.Kind == "check" && !f.Needed && f.Value != "true" && !v.Has(f.Name)
	})
	if err := askNumbers(fields, v); err != nil {
		return nil, err
	}
	if xattrs := sentXattrs(fields, v); len(xattrs) > 0 {
		members = append(members, member{"xattrDict", object(xattrs...)})
	}
	if roles := sentRoles(r, v); len(roles) > 0 {
		members = append(members, member{"roles", object(roles...)})
	}
	if priority := strings.TrimSpace(v.Get("priority")); priority != "" {
		members = append(members, member{"priority", numberOr(priority)})
	}
	members = append(members, text("startAt", x.Words.sentDate(strings.TrimSpace(v.Get("startAt")))), text(inputField, v.Get(inputField)))
	return &act{
		requests: []driveRequest{{Method: http.MethodPut, Path: newCasePath, Body: object(members...)}},
		lead:     pageOfStarted,
		done:     said(x.Words.saidOfStart(v.Get("startAt"))),
	}, nil
}

// saidOfStart says that a case is started, or when it will be.
func (w words) saidOfStart(startAt string) string {
	d, err := clock.ParseDate(startAt, w.zone)
	if err != nil || !d.Time.After(w.now) {
		return "The case is started."
	}
	return "The case is stored. It will start on " + w.Exact(d.Time) + "."
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
