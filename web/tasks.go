package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// pageRows is how many rows a list has.
const pageRows = 50

func taskPages() []page {
	var out []page
	for _, list := range taskLists() {
		pattern := "/tasks"
		if list != engine.WorklistOffered {
			pattern += "/" + strings.ToLower(string(list))
		}
		out = append(out, page{
			pattern: pattern, query: []string{"route", "role", "context", "q", "sort", "after", "open", "do", "changed"},
			draw:  func(x *visit) error { return drawTasks(x, list) },
			forms: taskForms(), fields: taskFields(),
		})
	}
	return out
}

func taskLists() []engine.Worklist {
	return []engine.Worklist{engine.WorklistOffered, engine.WorklistAccepted, engine.WorklistWarnings, engine.WorklistEscalated}
}

// tasksView is what tasks.html shows.
type tasksView struct {
	List    engine.Worklist
	Lede    template.HTML
	Tabs    []tab
	Query   string
	Kept    []hidden // of the filters, for the form of the search
	Filters []chooser
	Sort    chooser
	Groups  []*taskGroup
	Next    string // address of the next page, "" for none
	Bulk    []bulkAction
	Empty   string
	Hint    string // below Empty: what comes next
	Filter  bool   // something is filtered
	Key     string
	Action  string // the address of the page, for its forms
	Lost    *lostForm
	First   *firstView // instead of the empty list
}

// lostForm is a form that was refused and that the page has no more: the task is gone.
type lostForm struct {
	Refused *refusal
	Comment string // what was typed
}

// lost returns the form that was refused, if there was one.
func (x taskDrawing) lost() *lostForm {
	if x.refused == nil || x.sentTask() == "" {
		return nil
	}
	return &lostForm{x.refused, x.sent.Get("comment")}
}

// tab is a list beside others.
type tab struct {
	Label, Href, Count, Class string
	Current                   bool
}

type hidden struct{ Name, Value string }

// chooser is a filter that one opens to choose.
type chooser struct {
	Label   string
	On      bool
	Options []anchor
	End     bool
}

type anchor struct {
	Label, Href string
	Current     bool
}

// taskGroup is rows that are due alike.
type taskGroup struct {
	ID, Title string
	Count     string
	Late      bool
	Rows      []*taskRow
}

// sorted is a case at its place in a list.
type sorted struct {
	*engine.TaskCase
	due, offered time.Time
}

// orders are the orders of the list, the first without saying so.
func orders() []string { return []string{"due", "newest", "priority", "route"} }

func drawTasks(x *visit, list engine.Worklist) error {
	order := cmp.Or(x.query.Get("sort"), orders()[0])
	if !slices.Contains(orders(), order) {
		return errs.New(errs.BadParameter, "sort can be %s, not %q.", strings.Join(orders(), ", "), order)
	}
	if open := x.query.Get("open"); open != "" {
		number, action, _ := strings.Cut(open, ".")
		if id, err := strconv.ParseInt(number, 10, 64); err != nil || id <= 0 || action == "" {
			return errs.New(errs.BadParameter, "open can be the number of a case, a point and the name of an action, not %q.", open)
		}
	}
	cases, err := x.Queries.TaskCases(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	v := &tasksView{List: list, Query: x.query.Get("q"), Action: x.with(), Key: x.Key()}
	rows := x.taskDrawing().filterTasks(cases, list)
	if len(rows) == 0 {
		if err := knownRoute(x); err != nil {
			return err
		}
	}
	x.taskDrawing().tabTasks(v, cases)
	x.taskDrawing().chooseTasks(v, cases, order)
	v.Lede = x.taskDrawing().ledeOfTasks(rows, list)
	place, err := readPlace(x.query.Get("after"))
	if err != nil {
		return err
	}
	shown := firstTasks(rows, place, order, pageRows+1)
	if len(shown) > pageRows {
		shown = shown[:pageRows]
		v.Next = x.with("after", placeOf(shown[len(shown)-1], order), "open", "", "do", "")
		x.w.Header().Add("Link", "<"+v.Next+`>; rel="next"`)
	}
	if err := x.taskDrawing().groupTasks(v, rows, shown, order); err != nil {
		return err
	}
	if len(v.Groups) == 0 {
		x.taskDrawing().emptyTasks(v)
		if v.First, err = x.taskDrawing().firstRun(v); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(v.Groups, func(g *taskGroup) bool {
		return slices.ContainsFunc(g.Rows, func(r *taskRow) bool { return r.Form != nil })
	}) {
		v.Lost = x.taskDrawing().lost()
	}
	h := head{Title: "Tasks", Nav: "tasks", Path: "/dav/Workflow/Worklist/" + string(list), JSON: "/dav/Workflow/Worklist/" + string(list) + "/.contents", Cases: make([]int64, len(shown))}
	for i := range shown {
		h.Cases[i] = shown[i].ID
	}
	return x.draw("tasks.html", h, v)
}

// taskDrawing draws worklists and the tasks on them.
type taskDrawing struct{ *visit }

func (x *visit) taskDrawing() taskDrawing { return taskDrawing{x} }

// filterTasks returns the cases that are on the list and pass the filters of the address.
func (x taskDrawing) filterTasks(cases []*engine.TaskCase, list engine.Worklist) []sorted {
	name, role, query := identity.Fold(x.query.Get("route")), x.query.Get("role"), identity.Fold(strings.TrimSpace(x.query.Get("q")))
	in := x.Queries.InContext(x.by, x.query.Get("context"))
	out := make([]sorted, 0, len(cases))
	for _, c := range cases {
		on, due, offered := c.On(list, role)
		if on && (name == "" || name == identity.Fold(c.Route)) && (query == "" || c.Has(query)) && (in == nil || in(c.ContextID)) {
			out = append(out, sorted{c, due, offered})
		}
	}
	return out
}

// compareTasks orders cases: by the date, then priority (falling), then age; or by what
// the order names, and then so.
func compareTasks(order string) func(a, b sorted) int {
	date := func(t time.Time) int64 {
		if t.IsZero() {
			return 1<<62 - 1
		}
		return t.UnixMilli()
	}
	byDue := func(a, b sorted) int {
		if c := cmp.Compare(date(a.due), date(b.due)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.offered.Compare(b.offered), cmp.Compare(a.ID, b.ID))
	}
	switch order {
	case "newest":
		return func(a, b sorted) int { return cmp.Compare(b.ID, a.ID) }
	case "priority":
		return func(a, b sorted) int {
			if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
				return c
			}
			return byDue(a, b)
		}
	case "route":
		return func(a, b sorted) int {
			if a.Route != b.Route {
				if c := strings.Compare(identity.Fold(a.Route), identity.Fold(b.Route)); c != 0 {
					return c
				}
			}
			return byDue(a, b)
		}
	}
	return byDue
}

// firstTasks returns the first n rows behind a place in the order. Of thousands it sorts
// only those.
func firstTasks(rows []sorted, place sorted, order string, n int) []sorted {
	compare := compareTasks(order)
	first := make([]int, 0, n) // indexes, which are cheaper to move than rows
	for i := range rows {
		if place.TaskCase != nil && compare(rows[i], place) <= 0 || len(first) == n && compare(rows[i], rows[first[n-1]]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, i, func(a, b int) int { return compare(rows[a], rows[b]) })
		first = slices.Insert(first[:min(len(first), n-1)], at, i)
	}
	out := make([]sorted, len(first))
	for i, at := range first {
		out[i] = rows[at]
	}
	return out
}

// placeOf returns the place of a case in the order, for the address of the next page: it
// holds even if the case is gone by then.
func placeOf(s sorted, order string) string {
	date := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return strconv.FormatInt(t.UnixMilli(), 36)
	}
	parts := []string{strconv.FormatInt(s.ID, 10), date(s.due), strconv.Itoa(s.Priority), date(s.offered)}
	if order == "route" {
		parts = append(parts, s.Route)
	}
	return strings.Join(parts, "~")
}

// readPlace reads what placeOf has written. The begin of the list is no case.
func readPlace(place string) (at sorted, err error) {
	if place == "" {
		return at, nil
	}
	bad := errs.New(errs.BadParameter, "after is not a place in this list; follow the link to the next page.")
	parts := strings.SplitN(place, "~", 5)
	if len(parts) < 4 {
		return sorted{}, bad
	}
	at.TaskCase = &engine.TaskCase{}
	var failed error
	date := func(text string) (t time.Time) {
		if text != "" {
			millis, err := strconv.ParseInt(text, 36, 64)
			failed = cmp.Or(failed, err)
			t = time.UnixMilli(millis)
		}
		return t
	}
	at.ID, err = strconv.ParseInt(parts[0], 10, 64)
	failed = cmp.Or(failed, err)
	at.Priority, err = strconv.Atoi(parts[2])
	failed = cmp.Or(failed, err)
	at.due, at.offered = date(parts[1]), date(parts[3])
	if failed != nil {
		return sorted{}, bad
	}
	if len(parts) == 5 {
		at.Route = parts[4]
	}
	return at, nil
}

// with returns the address of the page with some parameters changed: names and values in
// turn, "" removes one.
func (x *visit) with(pairs ...string) string {
	q := url.Values{}
	for name, values := range x.query {
		q[name] = values
	}
	q.Del("part")
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	u := url.URL{Path: x.r.URL.Path, RawQuery: q.Encode()}
	return u.RequestURI()
}

// tabTasks says what is on each list, without filters.
func (x taskDrawing) tabTasks(v *tasksView, cases []*engine.TaskCase) {
	for _, list := range taskLists() {
		n := 0
		for _, c := range cases {
			if c.IsOn(list) {
				n++
			}
		}
		t := tab{Label: string(list), Href: PageOf("/dav/Workflow/Worklist/" + string(list)), Count: many(n), Current: list == v.List}
		if n > 0 && list == engine.WorklistWarnings {
			t.Class = " warm"
		}
		if n > 0 && list == engine.WorklistEscalated {
			t.Class = " hot"
		}
		v.Tabs = append(v.Tabs, t)
	}
	v.Tabs = x.moreTabs(v.Tabs)
}

// chooseTasks makes the filters of what there is.
func (x taskDrawing) chooseTasks(v *tasksView, cases []*engine.TaskCase, order string) {
	routes, roles := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		if !c.IsOn(v.List) {
			continue
		}
		if !routes[c.Route] {
			routes[c.Route] = true
		}
		for i := range c.Tasks {
			for _, role := range c.Tasks[i].Roles {
				if !roles[role] {
					roles[role] = true
				}
			}
		}
	}
	v.Filters = []chooser{x.chooser("Route", "route", sortedKeys(routes)), x.chooser("Role", "role", sortedKeys(roles)), x.chooser("Belongs to", "context", x.Queries.Contexts(x.by))}
	titles := map[string]string{"due": "By due date", "newest": "Newest first", "priority": "By priority", "route": "By route"}
	v.Sort = chooser{Label: titles[order], End: true}
	for _, one := range orders() {
		v.Sort.Options = append(v.Sort.Options, anchor{titles[one], x.with("sort", one, "after", "", "open", ""), one == order})
	}
	for _, name := range []string{"route", "role", "context", "sort"} {
		if value := x.query.Get(name); value != "" {
			v.Kept = append(v.Kept, hidden{name, value})
		}
	}
	for _, name := range []string{"route", "role", "context", "q"} {
		v.Filter = v.Filter || x.query.Get(name) != ""
	}
}

// chooser returns a filter of a parameter with the values that there are.
func (x *visit) chooser(title, name string, values []string) chooser {
	c := chooser{Label: title}
	now := x.query.Get(name)
	if now != "" {
		c.Label, c.On = title+": "+now, true
		c.Options = append(c.Options, anchor{"All", x.with(name, "", "after", "", "open", ""), false})
	}
	for _, value := range values {
		c.Options = append(c.Options, anchor{value, x.with(name, value, "after", "", "open", ""), value == now})
	}
	return c
}

// ledeOfTasks says how things stand, nothing if the list is empty.
func (x taskDrawing) ledeOfTasks(rows []sorted, list engine.Worklist) template.HTML {
	if len(rows) == 0 {
		return "" // the list says so
	}
	late, week := 0, 0
	next := x.Words.startOf(8)
	for i := range rows {
		switch n := rows[i]; {
		case n.due.IsZero():
		case !n.due.After(x.now):
			late++
		case n.due.Before(next):
			week++
		}
	}
	var b strings.Builder
	switch list {
	case engine.WorklistAccepted:
		fmt.Fprintf(&b, "You have accepted tasks in %s.", plural(len(rows), "case"))
	case engine.WorklistWarnings:
		fmt.Fprintf(&b, "%s with warnings.", plural(len(rows), "case"))
	case engine.WorklistEscalated:
		fmt.Fprintf(&b, "%s in which something could not be done.", plural(len(rows), "case"))
	default:
		b.WriteString(waitWords(rows, list))
	}
	if late > 0 {
		fmt.Fprintf(&b, " <b>%d %s overdue</b>%s", late, isAre(late), stop(week))
	}
	if week > 0 {
		if late > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %d %s due this week.", week, isAre(week))
	}
	return template.HTML(b.String()) //nolint:gosec // numbers and words of ours
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func stop(more int) string {
	if more > 0 {
		return ""
	}
	return "."
}

// waitWords says how many cases wait for the reader, and how many are listed only because they
// can be taken back.
func waitWords(rows []sorted, list engine.Worklist) string {
	n := 0
	for i := range rows {
		if rows[i].Waits(list) {
			n++
		}
	}
	verb := "wait"
	if n == 1 {
		verb = "waits"
	}
	text := fmt.Sprintf("%s %s for you.", plural(n, "case"), verb)
	if n == 0 {
		text = "Nothing waits for you."
	}
	if back := len(rows) - n; back > 0 {
		text += fmt.Sprintf(" %s can be taken back by you.", plural(back, "case"))
	}
	return text
}

// emptyTasks says why there is nothing, and what comes next.
func (x taskDrawing) emptyTasks(v *tasksView) {
	switch {
	case v.Filter:
		v.Empty = "Nothing in this list passes the filter."
	case v.List == engine.WorklistAccepted:
		v.Empty, v.Hint = "You have accepted nothing.", "A task that you accept is offered to no other person."
	case v.List == engine.WorklistWarnings:
		v.Empty, v.Hint = "No case of yours has a warning.", "A route can warn of a case that waits for long."
	case v.List == engine.WorklistEscalated:
		v.Empty, v.Hint = "Nothing has failed.", "What the server could not do by itself appears here, with what went wrong."
	default:
		v.Empty, v.Hint = "Nothing waits for you.", "Tasks appear here when a case asks you for something."
	}
}

// grouping returns what tells the group of a case by its date.
func (x taskDrawing) grouping() func(sorted) int {
	tomorrow, next := x.Words.startOf(1), x.Words.startOf(8)
	return func(s sorted) int {
		switch {
		case s.due.IsZero():
			return 3
		case !s.due.After(x.now):
			return 0
		case s.due.Before(tomorrow):
			return 1
		case s.due.Before(next):
			return 2
		}
		return 3
	}
}

// groupTasks makes the rows of a page into groups, which show their whole number.
func (x taskDrawing) groupTasks(v *tasksView, all, shown []sorted, order string) error {
	ids := make([]int64, len(shown))
	for i := range shown {
		ids[i] = shown[i].ID
	}
	views, err := x.Queries.CaseViews(x.r.Context(), x.by, ids)
	if err != nil {
		return err
	}
	groups := []*taskGroup{{ID: "g1", Title: "Overdue", Late: true}, {ID: "g2", Title: "Today"}, {ID: "g3", Title: "This week"}, {ID: "g4", Title: "Later or without a date"}}
	counts := make([]int, len(groups))
	place := x.grouping()
	if order != orders()[0] {
		groups = []*taskGroup{{ID: "g1", Title: v.Sort.Label}}
		place = func(sorted) int { return 0 }
	}
	for _, s := range all {
		counts[place(s)]++
	}
	byID := map[int64]*engine.CaseView{}
	for _, view := range views {
		byID[view.Case.ID] = view
	}
	for _, s := range shown {
		if view := byID[s.ID]; view != nil { // else it has gone meanwhile
			if row := x.taskRow(v, s, view); row != nil {
				g := groups[place(s)]
				g.Rows = append(g.Rows, row)
			}
		}
	}
	for i, g := range groups {
		if g.Count = many(counts[i]); len(g.Rows) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	return nil
}
