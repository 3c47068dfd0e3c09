package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// casesView is what cases.html shows.
type casesView struct {
	Lede    string
	Tabs    []tab
	Query   string
	Kept    []hidden
	Filters []chooser
	Sort    chooser
	Rows    []caseRow
	Next    string
	Empty   string
	Others  []tab // that have what this list has not
	Filter  bool
}

// caseRow is a case in the list.
type caseRow struct {
	ID        int64
	Title     string
	Route     string
	RouteName string
	Fact      string
	State     mark
	Starter   Person
	Schedule  bool
	Due       dueView
	Since     template.HTML
}

// lifeTab is a tab of the list of cases.
type lifeTab struct {
	name, title string
	lives       []machine.Life
	empty       string
}

func lifeTabs() []lifeTab {
	return []lifeTab{
		{"active", "Open", []machine.Life{machine.Active}, "No case is open."},
		{"queued", "Queued", []machine.Life{machine.Queued}, "No case is queued."},
		{machine.StateDraft, "Drafts", []machine.Life{machine.StateDraft}, "No case is a draft."},
		{"suspended", "Suspended", []machine.Life{machine.Suspended}, "No case is suspended."},
		{"ended", "Ended", []machine.Life{machine.Completed, machine.Closed, machine.Canceled}, "No case has ended."},
		{"failed", "Failed", []machine.Life{machine.Failed}, "No case has failed."},
	}
}

func drawCases(x *visit) error {
	q, at, err := x.casesQuery()
	if err != nil {
		return err
	}
	found, err := x.Queries.NewestCases(x.r.Context(), x.by, q)
	if err != nil {
		return err
	}
	if len(found.Cases) == 0 {
		if err := knownRoute(x); err != nil {
			return err
		}
	}
	v := &casesView{Query: x.query.Get("q")}
	if err := x.tabCases(v, at); err != nil {
		return err
	}
	for _, view := range found.Cases {
		v.Rows = append(v.Rows, x.caseRow(view))
	}
	if found.Next != 0 {
		v.Next = x.with("after", strconv.FormatInt(found.Next, 10))
		x.w.Header().Add("Link", "<"+v.Next+`>; rel="next"`)
	}
	if err := x.filterCases(v, found.Cases); err != nil {
		return err
	}
	switch {
	case len(v.Rows) > 0:
	case v.Next != "":
		v.Empty = "None among those that were looked at. Next looks further."
	case v.Filter:
		v.Empty = "No case in this list passes the filter."
		if v.Others, err = otherLists(x, q, at); err != nil {
			return err
		}
	case at < 0:
		v.Empty = "The archive is empty."
	default:
		v.Empty = lifeTabs()[at].empty
	}
	path := "/dav/Workflow/Cases"
	if at < 0 {
		path = "/dav/Workflow/Archive"
	}
	shown := make([]int64, len(v.Rows))
	for i := range v.Rows {
		shown[i] = v.Rows[i].ID
	}
	return x.draw("cases.html", head{Title: "Cases", Nav: "cases", Path: path, JSON: path + "/.contents", Cases: shown}, v)
}

// otherLists returns the tabs beside the one at which some case passes the filters: who looks
// for a case may not know that it has ended.
func otherLists(x *visit, q engine.NewestQuery, at int) (others []tab, err error) {
	q.Before, q.Limit, q.Archived = 0, 1, false
	look := func(title string, change ...string) error {
		found, err := x.Queries.NewestCases(x.r.Context(), x.by, q)
		if err == nil && len(found.Cases) > 0 {
			others = append(others, tab{Label: title, Href: x.with(append(change, "after", "")...)})
		}
		return err
	}
	for i, t := range lifeTabs() {
		if q.Lives = t.lives; i == at {
			continue
		}
		if err := look(t.title, "state", t.name, "archived", ""); err != nil {
			return nil, err
		}
	}
	if q.Lives, q.Archived = nil, true; at < 0 {
		return others, nil
	}
	return others, look("Archive", "state", "", "archived", "1")
}

// knownRoute refuses a list that is empty because the address names a route that is not there, or
// that the reader does not see.
func knownRoute(x *visit) error {
	name := x.query.Get("route")
	if name == "" || slices.ContainsFunc(x.Queries.RouteNames(x.by), func(one string) bool { return identity.Fold(one) == identity.Fold(name) }) {
		return nil
	}
	return errs.New(errs.BadParameter, "There is no route %q, or it is not for you to see.", errs.Clip(name, mostOfALine))
}

// casesQuery reads the filters of the address. at is the tab, -1 for the archive.
func (x *visit) casesQuery() (q engine.NewestQuery, at int, err error) {
	q = engine.NewestQuery{
		Route: x.query.Get("route"), Status: x.query.Get("status"), Context: x.query.Get("context"), Query: x.query.Get("q"), Part: x.query.Get("role"), Limit: pageRows,
	}
	switch sort := x.query.Get("sort"); sort {
	case "", "newest":
	case "oldest":
		q.Oldest = true
	default:
		return q, 0, errs.New(errs.BadParameter, "sort can be newest or oldest, not %q.", sort)
	}
	for _, number := range []struct {
		name string
		to   *int64
	}{{"parent", &q.Parent}, {"after", &q.Before}} {
		if text := x.query.Get(number.name); text != "" {
			if *number.to, err = strconv.ParseInt(text, 10, 64); err != nil || *number.to <= 0 {
				return q, 0, errs.New(errs.BadParameter, "%s is not the number of a case.", number.name)
			}
		}
	}
	if archived := x.query.Get("archived"); archived != "" {
		if archived != "1" {
			return q, 0, errs.New(errs.BadParameter, "archived can be 1, not %q.", archived)
		}
		q.Archived = true
		return q, -1, nil
	}
	name := cmp.Or(x.query.Get("state"), lifeTabs()[0].name)
	at = slices.IndexFunc(lifeTabs(), func(t lifeTab) bool { return t.name == name })
	if life := machine.Life(name); at < 0 && slices.ContainsFunc(lifeTabs(), func(t lifeTab) bool { return slices.Contains(t.lives, life) }) {
		q.Lives = []machine.Life{life}
		return q, slices.IndexFunc(lifeTabs(), func(t lifeTab) bool { return slices.Contains(t.lives, life) }), nil
	}
	if at < 0 {
		return q, 0, errs.New(errs.BadParameter, "state can be active, queued, draft, suspended, ended or failed, or one of what these stand for, not %q.", name)
	}
	q.Lives = lifeTabs()[at].lives
	return q, at, nil
}

// tabCases makes the tabs, which keep the filters but for the state. Without filters they
// say how many cases there are.
func (x *visit) tabCases(v *casesView, at int) error {
	counts, all, err := x.Queries.LifeCounts(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	filtered := slices.ContainsFunc([]string{"route", "status", "role", "context", "parent", "q"}, x.query.Has)
	for i, t := range lifeTabs() {
		n := 0
		for _, life := range t.lives {
			n += counts[life]
		}
		if t.name == machine.StateDraft && n == 0 && i != at {
			continue // there are seldom any
		}
		one := tab{Label: t.title, Href: x.with("state", t.name, "status", "", "archived", "", "after", ""), Current: i == at}
		if i == 0 {
			one.Href = x.with("state", "", "status", "", "archived", "", "after", "")
		}
		if one.Count = many(n); !all && n <= 999 {
			one.Count += "+"
		}
		if filtered {
			one.Count = ""
		}
		if t.name == "failed" && n > 0 {
			one.Class = " hot"
		}
		v.Tabs = append(v.Tabs, one)
	}
	v.Tabs = append(v.Tabs, tab{Label: "Archive", Href: x.with("state", "", "status", "", "archived", "1", "after", ""), Current: at < 0})
	open := counts[machine.Active]
	v.Lede = plural(open, "open case") + " that you may see."
	if !all {
		v.Lede = fmt.Sprintf("%s among the newest that you may see.", plural(open, "open case"))
	}
	return nil
}

// filterCases makes the filters: routes that are seen, states, the parts that one can have.
// The states are those of the route that is chosen, else of the routes of the cases shown.
func (x *visit) filterCases(v *casesView, rows []*engine.CaseView) error {
	v.Filters = append(v.Filters, x.chooser("Route", "route", x.Queries.RouteNames(x.by)))
	var routes []*route.Route
	for _, row := range rows {
		if !slices.ContainsFunc(routes, func(r *route.Route) bool { return r.Name == row.Route.Name }) {
			routes = append(routes, row.Route)
		}
	}
	parts := []string{"starter", "stakeholder"}
	if name := x.query.Get("route"); name != "" {
		drawn, err := x.Queries.RoutePicture(x.r.Context(), x.by, name)
		switch {
		case err == nil:
			routes = []*route.Route{drawn.Route}
			for i := range drawn.Route.Roles {
				parts = append(parts, drawn.Route.Roles[i].Name)
			}
		case errs.KindOf(err) != errs.NotFound: // of a route that is not seen there are no cases either
			return err
		}
	}
	v.Filters = append(v.Filters, stateChooser(x, routes), x.chooser("My part", "role", parts), x.chooser("Belongs to", "context", x.Queries.Contexts(x.by)))
	v.Sort = chooser{Label: "Newest first", End: true}
	for _, one := range [][2]string{{"newest", "Newest first"}, {"oldest", "Oldest first"}} {
		current := one[0] == cmp.Or(x.query.Get("sort"), "newest")
		if current {
			v.Sort.Label = one[1]
		}
		v.Sort.Options = append(v.Sort.Options, anchor{one[1], x.with("sort", one[0], "after", ""), current})
	}
	for _, name := range []string{"archived", "state", "route", "status", "role", "context", "parent"} {
		if value := x.query.Get(name); value != "" {
			v.Kept = append(v.Kept, hidden{name, value})
			v.Filter = v.Filter || name != "archived" && name != "state"
		}
	}
	if sort := x.query.Get("sort"); sort != "" {
		v.Kept = append(v.Kept, hidden{"sort", sort})
	}
	v.Filter = v.Filter || v.Query != ""
	return nil
}

// stateChooser returns the filter of states: those of the routes, each once, with its title,
// and the chosen one even if none of the routes has it.
func stateChooser(x *visit, routes []*route.Route) chooser {
	now := x.query.Get("status")
	titles := map[string]string{}
	if now != "" {
		titles[now] = now
	}
	for _, r := range routes {
		for i := range r.States {
			titles[r.States[i].Name] = cmp.Or(r.States[i].Title, r.States[i].Name)
		}
	}
	c := chooser{Label: "State"}
	if now != "" {
		c.Label, c.On = "State: "+titles[now], true
		c.Options = append(c.Options, anchor{"All", x.with("status", "", "after", ""), false})
	}
	names := sortedKeys(titles)
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(titles[a]), strings.ToLower(titles[b])) })
	for _, name := range names {
		c.Options = append(c.Options, anchor{titles[name], x.with("status", name, "after", ""), name == now})
	}
	return c
}

// caseRow returns a case as a row.
func (x *visit) caseRow(view *engine.CaseView) caseRow {
	c := view.Case
	row := caseRow{
		ID: c.ID, Title: titleOf(view), Route: routeTitle(view), RouteName: c.RouteName, Fact: firstFact(view), State: stateMark(view),
		Starter: x.Queries.Person(c.Starter), Schedule: c.ScheduleUUID != "", Since: x.Words.Time(c.Modified, x.Words.Moment(c.Modified)),
	}
	var first dueView
	for _, en := range c.Enabled {
		if due := en.DueBy(); !due.IsZero() {
			if d := x.dueAt(due); first.Icon == "" || d.Class == "bad" {
				first = d
				if d.Class == "bad" {
					first.Text = x.Words.Time(due, x.Words.Over(due))
				}
			}
		}
	}
	row.Due = first
	if row.Due.Icon == "" && len(c.Warnings) > 0 {
		row.Due = dueView{Class: "warn", Icon: "warn", Text: template.HTML(plural(len(c.Warnings), "warning"))} //nolint:gosec // a number
	}
	if row.Due.Icon == "" {
		row.Due.Sub = howFar(view)
	}
	return row
}

// stateMark returns the state of a case with the shape of its type.
func stateMark(view *engine.CaseView) mark {
	if view.Case.Shown() != machine.Active && view.Case.Shown() != machine.Completed {
		return lifeMark(view.Case)
	}
	i := view.Route.State(view.Case.Status)
	if i < 0 || i >= len(view.Route.States) {
		return lifeMark(view.Case)
	}
	return markOfState(&view.Route.States[i])
}

// markOfState returns a state of a route with the shape of its type.
func markOfState(s *route.State) mark {
	m := mark{"now", "active", cmp.Or(s.Title, s.Name)}
	switch s.Type {
	case route.StateStart:
		m.Class, m.Icon = "", "offered"
	case route.StateComplete:
		m.Class, m.Icon = "good", "done"
	case route.StateDenied:
		m.Class, m.Icon = "bad", "denied"
	case route.StateCancelled:
		m.Class, m.Icon = "off", "cancelled"
	case route.StateFailed:
		m.Class, m.Icon = "bad", "failed"
	case route.StateNormal:
	}
	return m
}
