package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

func searchPages() []page {
	return []page{
		{pattern: "/search", query: []string{"q"}, draw: drawSearch},
		{pattern: "/keys", draw: func(x *visit) error { return x.draw("keys.html", head{Title: "Keys", Narrow: true}, nil) }},
	}
}

// How much a search shows of each kind, how many it looks at for that, and from how many
// characters on it looks.
const (
	foundRows    = 5
	foundLooked  = 50
	leastSearch  = 2
	longestQuery = 200
)

// searchView is what search.html shows.
type searchView struct {
	Query  string
	Groups []foundGroup
	All    []anchor // to all of a kind
	Short  bool     // too short to search for
}

// foundGroup is what was found of a kind.
type foundGroup struct {
	ID, Title string
	All       string // address of all of it, "" for none
	Rows      []foundRow
}

type foundRow struct {
	Href, Icon, Title, Sub string
}

func drawSearch(x *visit) error {
	v := &searchView{Query: strings.TrimSpace(x.query.Get("q"))}
	if len(v.Query) > longestQuery {
		return errs.New(errs.BadParameter, "A search has at most %d bytes.", longestQuery)
	}
	_, err := strconv.ParseInt(v.Query, 10, 64)
	if v.Short = len(v.Query) < leastSearch && err != nil; !v.Short {
		for _, find := range []func(q string) (foundGroup, error){x.findTasks, x.findCases, x.findRoutes, x.findEntries, x.findDocuments} {
			g, err := find(v.Query)
			if err != nil {
				return err
			}
			if len(g.Rows) > 0 {
				v.Groups = append(v.Groups, g)
				if g.All != "" {
					v.All = append(v.All, anchor{Label: g.Title, Href: g.All})
				}
			}
		}
	}
	if err == nil { // a number is first of all that of a case
		slices.SortStableFunc(v.Groups, func(a, b foundGroup) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	}
	return x.draw("search.html", head{Title: "Search", Path: "/dav/", Narrow: true}, v)
}

func rankOf(g foundGroup) int {
	if g.ID == "found-cases" {
		return 0
	}
	return 1
}

// best keeps what is shown of a kind: what begins with the query first, otherwise in the
// order in which it was found.
func best[R any](found []R, query string, title func(R) string) []R {
	query = identity.Fold(query)
	begins := func(r R) int {
		if strings.HasPrefix(identity.Fold(title(r)), query) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b R) int { return cmp.Compare(begins(a), begins(b)) })
	return found[:min(len(found), foundRows)]
}

func (r foundRow) title() string { return r.Title }

func (x *visit) findTasks(query string) (foundGroup, error) {
	g := foundGroup{ID: "found-tasks", Title: "Tasks", All: "/tasks?q=" + url.QueryEscape(query)}
	cases, err := x.Queries.TaskCases(x.r.Context(), x.by)
	if err != nil {
		return g, err
	}
	folded := identity.Fold(query)
	var found []*engine.TaskCase
	for _, c := range slices.Backward(cases) {
		if c.IsOn(engine.WorklistOffered) && c.Has(folded) {
			if found = append(found, c); len(found) == foundLooked {
				break
			}
		}
	}
	var ids []int64
	for _, c := range best(found, query, func(c *engine.TaskCase) string { return c.Title }) {
		ids = append(ids, c.ID)
	}
	views, err := x.Queries.CaseViews(x.r.Context(), x.by, ids)
	for _, c := range views {
		g.Rows = append(g.Rows, foundRow{caseHref(c.Case.ID), "tasks", c.Case.Title, stateTitle(c.Route, c.Case.Status)})
	}
	return g, err
}

func caseHref(id int64) string { return "/cases/" + strconv.FormatInt(id, 10) }

func (x *visit) findCases(query string) (foundGroup, error) {
	g := foundGroup{ID: "found-cases", Title: "Cases", All: "/cases?q=" + url.QueryEscape(query)}
	id, failed := strconv.ParseInt(query, 10, 64)
	q := engine.NewestQuery{Query: query, Limit: foundLooked, Best: foundRows}
	if failed == nil {
		q.Limit, q.Best = foundRows, 0 // its number says which is meant, not how a title begins
	}
	page, err := x.Queries.NewestCases(x.r.Context(), x.by, q)
	if err != nil {
		return g, err
	}
	views := page.Cases
	if failed == nil {
		exact, err := x.Queries.CaseViews(x.r.Context(), x.by, []int64{id})
		if err != nil {
			return g, err
		}
		views = append(exact, slices.DeleteFunc(views, func(c *engine.CaseView) bool { return c.Case.ID == id })...)
	}
	for _, c := range views {
		sub := strconv.FormatInt(c.Case.ID, 10)
		if state := stateTitle(c.Route, c.Case.Status); state != "" {
			sub += ", " + state
		}
		g.Rows = append(g.Rows, foundRow{caseHref(c.Case.ID), "cases", c.Case.Title, sub})
	}
	g.Rows = g.Rows[:min(len(g.Rows), foundRows)]
	return g, nil
}

func (x *visit) findRoutes(query string) (foundGroup, error) {
	g := foundGroup{ID: "found-routes", Title: "Routes", All: x.Link("/routes", "")}
	folded := identity.Fold(query)
	for _, name := range x.Queries.RouteNames(x.by) {
		if strings.Contains(identity.Fold(name), folded) {
			href := x.Link("/routes/"+url.PathEscape(name), "/dav/Workflow/Routes/"+url.PathEscape(name)+".json")
			g.Rows = append(g.Rows, foundRow{href, "routes", name, ""})
		}
	}
	if g.All != "" {
		g.All += "?q=" + url.QueryEscape(query)
	}
	g.Rows = best(g.Rows, query, foundRow.title)
	return g, nil
}

func (x *visit) findEntries(query string) (foundGroup, error) {
	g := foundGroup{ID: "found-entries", Title: "Schedule", All: x.Link("/schedule", "")}
	var entries []struct {
		UUID        string `json:"UUID"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Route       string `json:"route"`
	}
	path := "/dav/Workflow/Schedule/.contents?q=" + url.QueryEscape(query) + "&limit=" + strconv.Itoa(foundLooked)
	if err := x.readJSON(path, &entries); err != nil {
		return g, err
	}
	for _, e := range slices.Backward(entries) {
		id := strings.ReplaceAll(strings.Trim(e.UUID, "{}"), "-", "")
		href := x.Link("/schedule/"+id, "/dav/Workflow/Schedule/"+id+".json")
		g.Rows = append(g.Rows, foundRow{href, "schedule", cmp.Or(e.Title, e.Route), e.Description})
	}
	if g.All != "" {
		g.All += "?q=" + url.QueryEscape(query)
	}
	g.Rows = best(g.Rows, query, foundRow.title)
	return g, nil
}

// findDocuments looks at the names of the documents of the caller's areas. Of an area with
// very many it looks at those of its first folder alone.
func (x *visit) findDocuments(query string) (foundGroup, error) {
	g := foundGroup{ID: "found-documents", Title: "Documents"}
	paths, err := x.Queries.DocumentsNamed(x.r.Context(), x.by, identity.Fold(query))
	for _, d := range paths {
		row := foundRow{pageOfDocument(d.Path...), "file", d.Path[len(d.Path)-1], strings.Join(d.Path[:len(d.Path)-1], "/")}
		if d.Folder {
			row.Icon = "documents"
		}
		g.Rows = append(g.Rows, row)
	}
	g.Rows = best(g.Rows, query, foundRow.title)
	return g, err
}

// NamedDocument is a document with the path to it.
type NamedDocument struct {
	Path   engine.DocumentPath
	Folder bool
}
