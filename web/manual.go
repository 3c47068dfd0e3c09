package web

import (
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"flowdrive/docs"
	"flowdrive/internal/errs"
	"flowdrive/internal/manual"
	"flowdrive/internal/mediatype"
)

// longestManualQuery bounds what is searched for in the manual.
const longestManualQuery = 200

// theManual is the manual, read when somebody first asks for it.
type theManual struct {
	once sync.Once
	read *manual.Manual
	err  error
}

func (t *theManual) get() (*manual.Manual, error) {
	t.once.Do(func() { t.read, t.err = manual.New(docs.Files()) })
	return t.read, errs.Wrap("read the manual", t.err)
}

// manualPages are the pages of the manual. They need no log-in.
func manualPages() []page {
	return []page{
		{pattern: "/docs/{path...}", open: true, draw: drawManual},
		{pattern: "/docs/search", query: []string{"q"}, open: true, draw: drawManualSearch},
	}
}

// manualView is what manual.html shows.
type manualView struct {
	Sections []manualSection
	Title    string
	Kind     string // what the problem of the page is called, "" if it is of none
	Status   int    // of that problem
	Body     template.HTML
	Headings []manual.Heading
	Before   manual.Entry
	After    manual.Entry
	Known    bool // somebody is logged in
	Search   bool
	Query    string
	Found    []manual.Found
}

type manualSection struct {
	Title string
	Open  bool // it has the page
	Pages []navItem
}

func drawManual(x *visit) error {
	m, err := x.manual.get()
	if err != nil {
		return err
	}
	at := strings.TrimSuffix(x.r.PathValue("path"), "/")
	if before, markdown := strings.CutSuffix(at, ".md"); markdown {
		return x.redirect("/docs/" + strings.TrimSuffix(before, "README"))
	}
	found := m.Page(at)
	if found == nil {
		return x.manualFile(at)
	}
	v := x.manualView(m, found.Path)
	v.Title, v.Headings = found.Title, found.Headings
	v.Body = template.HTML(found.HTML) //nolint:gosec // rendered from our own pages, without raw HTML
	v.Before, v.After = m.Around(found.Path)
	if slug, ok := strings.CutPrefix(found.Path, "problems/"); ok {
		v.Kind, v.Status = x.Title(errs.Kind(slug)), x.Status(errs.Kind(slug))
	}
	return x.draw("manual.html", head{Title: found.Title}, v)
}

// manualFile answers with a picture of the manual, or a document of an example.
func (x *visit) manualFile(at string) error {
	if !manual.IsFile(at) || !fs.ValidPath(at) {
		return absent()
	}
	kind := mediatype.Of(at)
	if !strings.HasPrefix(kind, "image/") {
		kind = "text/plain; charset=utf-8"
	}
	content, err := fs.ReadFile(docs.Files(), at)
	if err != nil {
		return absent()
	}
	x.headers("public, max-age=3600")
	x.w.Header().Set("Content-Type", kind)
	x.w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if x.r.Method == http.MethodGet {
		_, _ = x.w.Write(content)
	}
	return nil
}

func drawManualSearch(x *visit) error {
	m, err := x.manual.get()
	if err != nil {
		return err
	}
	v := x.manualView(m, "search")
	v.Title, v.Search, v.Query = "Search the manual", true, strings.TrimSpace(x.query.Get("q"))
	if len(v.Query) > longestManualQuery {
		return errs.New(errs.BadParameter, "A search has at most %d bytes.", longestManualQuery)
	}
	v.Found = m.Find(v.Query)
	return x.draw("manual.html", head{Title: v.Title}, v)
}

// manualView returns what is around a page of the manual.
func (x *visit) manualView(m *manual.Manual, at string) *manualView {
	v := &manualView{Known: x.by.ID != 0}
	for _, s := range m.Sections() {
		out := manualSection{Title: s.Title}
		for _, e := range s.Pages {
			// A page of problems belongs to the list of them.
			here := e.Path == at || e.Path == "reference/problems" && path.Dir(at) == "problems"
			out.Open = out.Open || here
			out.Pages = append(out.Pages, navItem{Label: e.Title, Href: "/docs/" + e.Path, Current: here})
		}
		v.Sections = append(v.Sections, out)
	}
	return v
}
