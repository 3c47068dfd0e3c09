package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"flowdrive/davfs/dav"
)

//go:embed templates
var templateFiles embed.FS

// Person is a user or team as pages name them.
type Person struct {
	Name     string
	FullName string // "" if it has none
	Team     bool
	Phrase   bool // the name describes people, such as "the stakeholders", and is nobody's
}

// Shown returns what the person is called on pages.
func (p Person) Shown() string {
	if p.FullName != "" {
		return p.FullName
	}
	return p.Name
}

// Initials returns two letters for the picture beside the name.
func (p Person) Initials() string {
	fields := strings.Fields(p.Shown())
	out := ""
	for i, f := range fields {
		if i == 0 || i == len(fields)-1 {
			out += strings.ToUpper(string([]rune(f)[:1]))
		}
	}
	if runes := []rune(p.Shown()); len(fields) == 1 && p.Team && len(runes) > 1 {
		out = strings.ToUpper(string(runes[:2]))
	}
	return out
}

// frame is what is around a page.
type frame struct {
	Items   []navItem
	Below   []navItem
	Tabs    []navItem // of the bar on the phone
	Me      Person
	Sandbox *time.Time  // what the sandbox's clock shows
	Steps   []clockStep // by which an administrator moves that clock
	Theme   string
	Path    []segment
	Copy    string // the path on the drive, for copying
	Notice  *notice
	Find    string // address of the search, "": there is none
	Clock   string // address of the page of the sandbox's clock, likewise
}

type navItem struct {
	Key, Label, Href, Icon string
	Current                bool
	Count                  string
	Dot                    string // beside the icon, on the phone
}

// segment is a part of the path bar.
type segment struct {
	Name, Href string // Href "": here
}

// frame returns what is around the page.
func (x *visit) frame(h head) (*frame, error) {
	f := &frame{Theme: x.theme(), Path: x.segmentsOf(h.Path), Copy: h.Path, Find: x.Link("/search", ""), Clock: x.Link("/sandbox", "")}
	if x.Sandbox {
		f.Sandbox = &x.now
		if x.by.Admin() && x.Clock != nil {
			f.Steps = []clockStep{{Title: "+1 h", Value: "PT1H"}, {Title: "+1 d", Value: "P1D"}}
		}
	}
	if h.Bare || x.by.ID == 0 {
		return f, nil
	}
	f.Me = x.Queries.Person(string(x.by.Name))
	f.Notice = x.notices.take(x.token)
	tasks := navItem{Key: "tasks", Label: "Tasks", Href: "/tasks", Icon: "tasks"}
	load, err := x.Queries.TaskLoad(x.r.Context(), x.by)
	if err != nil {
		return nil, err
	}
	if load.Offered > 0 {
		tasks.Count = many(load.Offered)
	}
	if load.Overdue > 0 {
		tasks.Dot = many(load.Overdue)
	}
	f.Items = []navItem{
		tasks,
		{Key: "cases", Label: "Cases", Href: x.Link("/cases", "/dav/Workflow/Cases/"), Icon: "cases"},
		{Key: "routes", Label: "Routes", Href: x.Link("/routes", "/dav/Workflow/Routes/"), Icon: "routes"},
		{Key: "schedule", Label: "Schedule", Href: x.Link("/schedule", "/dav/Workflow/Schedule/"), Icon: "schedule"},
		{Key: "late", Label: "Late", Href: x.Link("/late", "/dav/Workflow/Status/late.txt"), Icon: "late"},
		{Key: "documents", Label: "Documents", Href: x.Link("/documents", "/dav/Documents/"), Icon: "documents"},
	}
	if x.by.Admin() {
		f.Below = append(f.Below, navItem{Key: "admin", Label: "Administration", Href: x.Link("/admin", "/dav/Admin/"), Icon: "admin"})
	}
	f.Below = append(f.Below, navItem{Key: "mount", Label: "Mount the drive", Href: x.Link("/mount", "/dav/Workflow/README.txt"), Icon: "mount"}, navItem{Key: "docs", Label: "Manual", Href: "/docs/", Icon: "info"})
	for _, list := range [][]navItem{f.Items, f.Below} {
		for i := range list {
			list[i].Current = list[i].Key == h.Nav
		}
	}
	f.Tabs = append(append(f.Tabs, f.Items[:4]...), navItem{Label: "More", Href: "/account", Icon: "more", Current: h.Nav == "late" || h.Nav == "documents" || h.Nav == "mount" || h.Nav == "admin" || h.Nav == "account"})
	return f, nil
}

// TaskLoad is how many cases wait for somebody, as far as they are counted: those above
// engine.MostCounted are not.
type TaskLoad struct{ Offered, Overdue int }

// PageOf returns the address of the page that shows a folder of the drive, given decoded and
// without a slash at its end; "" for none.
func PageOf(folder string) string {
	switch folder {
	case "/dav/Workflow", "/dav/Workflow/Worklist", "/dav/Workflow/Worklist/Offered":
		return "/tasks"
	case "/dav/Workflow/Worklist/Accepted":
		return "/tasks/accepted"
	case "/dav/Workflow/Worklist/Warnings":
		return "/tasks/warnings"
	case "/dav/Workflow/Worklist/Escalated":
		return "/tasks/escalated"
	case "/dav/Workflow/Cases":
		return "/cases"
	case "/dav/Workflow/Archive":
		return "/cases?archived=1"
	case "/dav/Workflow/Routes":
		return "/routes"
	case "/dav/Workflow/Schedule":
		return "/schedule"
	case "/dav/Documents":
		return "/documents"
	case "/dav/Account":
		return "/account"
	case "/dav/Admin":
		return "/admin"
	}
	if strings.HasPrefix(folder, "/dav/Documents/") {
		return hrefOf(folder)
	}
	for _, of := range [][2]string{{"/dav/Workflow/Cases/", "cases"}, {routeFolder + "/", "routes"}} {
		if name, below := strings.CutPrefix(folder, of[0]); below && !strings.Contains(name, "/") {
			return dav.Href(of[1], name)
		}
	}
	return ""
}

// segmentsOf returns the path bar of a path on the drive: each folder leads to its page,
// if it has one, else to its listing.
func (p *pages) segmentsOf(drivePath string) (out []segment) {
	if drivePath == "" {
		return nil
	}
	shown, isDrive := strings.CutPrefix(drivePath, "/dav/")
	if !isDrive || shown == "" {
		return []segment{{Name: drivePath}}
	}
	parts := strings.Split(strings.TrimSuffix(shown, "/"), "/")
	at := "/dav"
	for i, name := range parts {
		at += "/" + name
		s := segment{Name: name}
		if i < len(parts)-1 {
			if s.Href = PageOf(at); s.Href == "" || p.Link(s.Href, "") == "" {
				s.Href = dav.Href(strings.TrimPrefix(at, "/")) + "/"
			}
		}
		out = append(out, s)
	}
	return out
}

// templates are the templates of each page, by the name of its file.
type templates map[string]func() (*template.Template, error)

// parseTemplates reads the frame and the parts that all pages share, and returns a
// function for each page's file that joins both. A page's templates are made when they are
// first used and kept: those of all pages take 6 MiB, and most servers show few of them.
func (p *pages) parseTemplates() (templates, error) {
	base, err := template.New("frame").Funcs(p.functions()).ParseFS(templateFiles, "templates/frame.html", "templates/shared.html")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	out := templates{}
	for _, file := range files {
		name := path.Base(file)
		if name == "frame.html" || name == "shared.html" {
			continue
		}
		out[name] = sync.OnceValues(func() (*template.Template, error) {
			t, err := base.Clone()
			if err != nil {
				return nil, err
			}
			return t.ParseFS(templateFiles, file)
		})
	}
	return out, nil
}

// functions are what templates can call.
func (p *pages) functions() template.FuncMap {
	return template.FuncMap{
		"asset": p.assets.href,
		"icon":  func(name string) template.HTML { return p.icon(name, "i") },
		"small": func(name string) template.HTML { return p.icon(name, "i i-s") },
		"query": func(s string) template.URL { return template.URL(url.QueryEscape(s)) }, //nolint:gosec // it is escaped, and is not to be a second time
		"path":  url.PathEscape,
		"dict":  dict,
	}
}

// icon returns one of the icons, which says nothing to those who do not see it. The name
// is one of ours, never what somebody has written.
func (p *pages) icon(name, class string) template.HTML {
	return template.HTML(`<svg class="` + class + `" aria-hidden="true"><use href="` + template.HTMLEscapeString(p.assets.href("icons.svg")+"#"+name) + `"/></svg>`) //nolint:gosec // made of constants
}

// dict returns names and values as a map, for templates that take several things.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is not a name", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

// many returns a count as pages show it.
func many(n int) string {
	if n > 999 {
		return "999+"
	}
	return fmt.Sprint(n)
}
