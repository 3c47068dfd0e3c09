package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/audit"
	"flowdrive/engine/machine"
	"flowdrive/engine/status"
	"flowdrive/internal/errs"
)

const adminPath = "/dav/Admin/"

func adminPages() []page {
	forms := adminForms()
	out := []page{
		{pattern: "/admin", draw: drawAdmin, forms: forms, fields: adminFields()},
		{pattern: "/admin/users", query: []string{"do", "name"}, draw: drawUsers, forms: forms, fields: adminFields()},
		{pattern: "/admin/teams", query: []string{"do", "name"}, draw: drawTeams, forms: forms, fields: adminFields()},
		{pattern: "/admin/holds", query: []string{"do", "name"}, draw: drawHolds, forms: forms, fields: adminFields()},
		{pattern: "/admin/audit", query: []string{"date", "actor", "action", "q", "outcome"}, draw: toAudit},
		{pattern: "/admin/audit/{date}", query: []string{"actor", "action", "q", "outcome", "after"}, draw: drawAudit},
		{pattern: "/admin/escalated", draw: func(x *visit) error { return x.redirect("/tasks/escalated") }},
		{pattern: "/admin/metrics", draw: func(x *visit) error { return x.redirect("/metrics") }},
	}
	for i := range out {
		out[i].admin = true
	}
	return out
}

// adminView is what the pages of administrators show.
type adminView struct {
	Tabs    []tab
	Title   string
	Lede    string
	Add     string // address of the form that adds one, "" for none
	AddText string
	Ask     *asking
	Holds   []holdRow
	Figures []figure
	Notes   []adminNote
	Users   []userRow
	Teams   []teamRow
	Empty   string
	Audit   *auditView
}

type figure struct {
	Title, Value, Sub string
	Href              string // where one looks at what was counted, "" for nowhere
}

type adminNote struct{ Class, Icon, Title, Text, Href string }

type teamRow struct {
	Name    string   `json:"name"`
	Members []string `json:"members"`
	Admins  []string `json:"admins"`

	Menu []anchor `json:"-"`
}

type holdRow struct {
	Name   string    `json:"name"`
	Route  string    `json:"route"`
	Group  string    `json:"group"`
	Engine bool      `json:"engine"`
	Reason string    `json:"reason"`
	Author string    `json:"author"`
	Made   time.Time `json:"created"`

	What string `json:"-"`
	Key  string `json:"-"`
}

// adminForms are the forms of all these pages.
func adminForms() map[string]form {
	return map[string]form{
		"user":        storeUser,
		"user-add":    storeUser,
		"user-factor": resetFactor,
		"user-delete": deleteOf("Users"),
		"team":        storeTeam,
		"team-add":    storeTeam,
		"team-delete": deleteOf("Teams"),
		"hold":        storeHold,
		"letgo":       deleteOf("Holds"),
	}
}

// nameOf returns the name that a form is about.
func nameOf(v url.Values) (string, error) {
	name := strings.TrimSpace(v.Get("name"))
	if name == "" {
		return "", fieldMissing("name", "A name is needed.")
	}
	return name, nil
}

// creating returns the condition that keeps a form that adds from overwriting.
func creating(do string) [][2]string {
	if strings.HasSuffix(do, "-add") || do == "hold" {
		return [][2]string{{"If-None-Match", "*"}}
	}
	return nil
}

func flagOf(v url.Values, name string) []byte {
	return []byte(strconv.FormatBool(v.Get(name) == "true"))
}

func storeTeam(x *visit, v url.Values) (*act, error) {
	name, err := nameOf(v)
	if err != nil {
		return nil, err
	}
	q := put(adminPath+"Teams/"+url.PathEscape(name)+".json", []member{{"members", list(names(v.Get("members")))}, {"admins", list(names(v.Get("admins")))}})
	q.Header = creating(v.Get("do"))
	return &act{requests: []driveRequest{q}, to: x.with("do", "", "name", ""), done: said("The team " + name + " is stored.")}, nil
}

func storeHold(x *visit, v url.Values) (*act, error) {
	name, err := nameOf(v)
	if err != nil {
		return nil, err
	}
	m := []member{text("route", v.Get("route")), text("group", v.Get("group"))}
	if v.Get("engine") == "true" {
		m = append(m, member{"engine", []byte("true")})
	}
	q := put(adminPath+"Holds/"+url.PathEscape(name)+".json", append(m, text("reason", v.Get("reason"))))
	q.Header = creating("hold")
	return &act{requests: []driveRequest{q}, to: x.with("do", "", "name", ""), done: said("Cases wait, queued, until " + name + " is let go.")}, nil
}

func deleteOf(folder string) form {
	return func(x *visit, v url.Values) (*act, error) {
		name, err := nameOf(v)
		if err != nil {
			return nil, err
		}
		at, done := adminPath+folder+"/"+url.PathEscape(name)+".json", name+" is deleted."
		if folder == "Holds" {
			done = name + " is let go. What waited starts."
		} else if to := strings.TrimSpace(v.Get("handOver")); to != "" {
			at += "?handOver=" + url.QueryEscape(to)
			done = name + " is deleted. All that " + name + " had is " + to + "'s now."
		}
		return &act{
			requests: []driveRequest{{Method: "DELETE", Path: at}},
			to:       x.with("do", "", "name", ""), done: said(done),
		}, nil
	}
}

// adminDraw draws one of the pages, with the tabs that they share.
func (x *visit) adminDraw(v *adminView, below string) error {
	add := func(label, path, count, class string) {
		v.Tabs = append(v.Tabs, tab{Label: label, Href: path, Count: count, Class: class, Current: x.r.URL.Path == path || path != "/admin" && strings.HasPrefix(x.r.URL.Path, path)})
	}
	holds, err := x.holds()
	if err != nil {
		return err
	}
	cases, err := x.Queries.TaskCases(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	escalated := 0
	for _, c := range cases {
		if c.IsOn(engine.WorklistEscalated) {
			escalated++
		}
	}
	hot := func(n int, class string) string {
		if n > 0 {
			return class
		}
		return ""
	}
	add("Overview", "/admin", "", "")
	add("Users", "/admin/users", "", "")
	add("Teams", "/admin/teams", "", "")
	add("Holds", "/admin/holds", many(len(holds)), hot(len(holds), " warm"))
	add("Escalated", "/admin/escalated", many(escalated), hot(escalated, " hot"))
	add("Audit log", "/admin/audit", "", "")
	h := head{Title: v.Title, Nav: "admin", Path: adminPath + below, JSON: adminPath + below}
	if below != "" && !strings.HasSuffix(below, ".jsonl") {
		h.JSON += "/.contents"
	}
	return x.draw("admin.html", h, v)
}

func (x *visit) holds() ([]holdRow, error) {
	var out []holdRow
	err := x.readJSON(adminPath+"Holds/.contents", &out)
	for i := range out {
		h := &out[i]
		h.Key = x.Key()
		switch {
		case h.Engine:
			h.What = "Everything is held"
		case h.Route != "":
			h.What = "The route " + h.Route + " is held"
		default:
			h.What = "The group " + h.Group + " is held"
		}
	}
	return out, err
}

func drawAdmin(x *visit) error {
	v, d := &adminView{Title: "Administration", Lede: "How the server stands, and who may do what."}, adminDrawing{x}
	var err error
	if v.Holds, err = x.holds(); err != nil {
		return err
	}
	counts, all, err := x.Queries.LifeCounts(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	open := counts[machine.Active] + counts[machine.Queued] + counts[machine.Suspended]
	sub := fmt.Sprintf("%s completed, %s failed", many(counts[machine.Completed]), many(counts[machine.Failed]))
	if !all {
		sub += ", of the newest"
	}
	v.Figures = append(v.Figures, figure{"Open cases", many(open), sub, "/cases"})
	var overview struct {
		Late struct {
			Overdue   int `json:"overdue"`
			Warnings  int `json:"warnings"`
			Escalated int `json:"escalated"`
			Failed    int `json:"failed"`
		} `json:"late"`
	}
	if err := x.readJSON("/dav/Workflow/Status/overview.json", &overview); err != nil {
		return err
	}
	late := overview.Late
	v.Figures = append(v.Figures, figure{"Late or failed", many(late.Overdue + late.Escalated + late.Failed), fmt.Sprintf("%d overdue, %d escalated, %d failed; %d with warnings", late.Overdue, late.Escalated, late.Failed, late.Warnings), "/late"})
	if err := d.notesOfServer(v); err != nil {
		return err
	}
	quota, err := x.Queries.Quota(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	d.serverFigures(v)
	v.Figures = append(v.Figures, figure{"Stored by you", sizeOf(quota.Used), "of " + sizeOf(quota.Used+quota.Available), ""})
	return x.adminDraw(v, "")
}

// adminDrawing draws the overview of administrators.
type adminDrawing struct{ *visit }

// notesOfServer says what is wrong outside of cases, as Status/late.txt does.
func (x adminDrawing) notesOfServer(v *adminView) error {
	late, err := x.Queries.Late(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	late.Zone = status.Zone{Location: x.Words.zone}
	const most = 5
	others := slices.DeleteFunc(late.Others, func(o status.Other) bool { return o.Kind == status.OtherHold }) // these are shown with what lets them go
	for i := range others {
		if i == most {
			v.Notes = append(v.Notes, adminNote{"bad", "failed", fmt.Sprintf("%d more things are wrong outside of cases.", len(others)-most), "", "/late"})
			break
		}
		o := &others[i]
		v.Notes = append(v.Notes, adminNote{"bad", "failed", upperFirst(o.About()) + ".", late.Says(o) + " (since " + x.Words.Moment(o.Since) + ")", o.Path})
	}
	if late.Untold != "" {
		v.Notes = append(v.Notes, adminNote{Class: "warn", Icon: "warn", Text: late.Untold})
	}
	return nil
}

func drawTeams(x *visit) error {
	v := &adminView{Title: "Teams", Lede: "Who works together. Teams may be members of teams.", Add: x.with("do", "team-add", "name", "") + "#ask", AddText: "Add a team"}
	if err := x.readJSON(adminPath+"Teams/.contents", &v.Teams); err != nil {
		return err
	}
	do, name := x.asked(), x.about()
	var chosen *teamRow
	for i := range v.Teams {
		t := &v.Teams[i]
		if t.Name != "everyone" {
			t.Menu = []anchor{{Label: "Change…", Href: x.with("do", "team", "name", t.Name) + "#ask"}, {Label: "Delete…", Href: x.with("do", "team-delete", "name", t.Name) + "#ask"}}
		}
		if t.Name == name {
			chosen = t
		}
	}
	a := asking{Do: do, Cancel: x.with("do", "", "name", "")}
	switch {
	case do == "team-add":
		a.Title, a.Submit, chosen = "Add a team", "Add", &teamRow{}
		a.Fields = []*field{{Name: "name", Label: "Name", Kind: "text", Needed: true}}
	case chosen == nil:
		return x.adminDraw(v, "Teams")
	case do == "team-delete":
		a.Title, a.Submit, a.Hidden = "Delete the team "+name, "Delete", []hidden{{"name", name}}
		a.Text = "If the team owns something or takes part in a case, all that goes to another team or user."
		a.Fields = []*field{handOverField(x, name)}
	case do == "team":
		a.Title, a.Submit, a.Hidden = "Change the team "+name, "Store", []hidden{{"name", name}}
	default:
		return x.adminDraw(v, "Teams")
	}
	if do != "team-delete" {
		a.Fields = append(a.Fields,
			&field{Name: "members", Label: "Members", Kind: "text", Value: strings.Join(chosen.Members, ", "), Hint: "Names of users and teams, with commas between them.", Suggest: suggested(x.Queries.Parties())},
			&field{Name: "admins", Label: "Lead it", Kind: "text", Value: strings.Join(chosen.Admins, ", "), Hint: "They administer what belongs to the team.", Suggest: suggested(x.Queries.Parties())})
	}
	v.Ask = x.asks(a, adminForms()[do])
	return x.adminDraw(v, "Teams")
}

func drawHolds(x *visit) error {
	v := &adminView{
		Title: "Holds", Lede: "While something is held its cases wait, queued. What has started goes on.",
		Add: x.with("do", "hold", "name", "") + "#ask", AddText: "Hold…", Empty: "Nothing is held.",
	}
	var err error
	if v.Holds, err = x.holds(); err != nil {
		return err
	}
	if x.asked() == "hold" {
		v.Ask = x.asks(asking{
			Do: "hold", Title: "Hold", Submit: "Hold", Cancel: x.with("do", "", "name", ""), Text: "A route, a group, or everything.",
			Fields: []*field{
				{Name: "name", Label: "Name of the hold", Kind: "text", Needed: true},
				{Name: "route", Label: "Route", Kind: "text", Suggest: named(x.Queries.RouteNames(x.by))},
				{Name: "group", Label: "Group", Kind: "text"},
				{Name: "engine", Label: "Everything", Kind: "check"},
				{Name: "reason", Label: "Reason", Kind: "text", Hint: "Those whose cases wait read it."},
			},
		}, storeHold)
	}
	return x.adminDraw(v, "Holds")
}

// auditView is a day of the audit log.
type auditView struct {
	Date, Query, Outcome string
	Actor, Action        string
	Actions              []option // what is offered while one types
	Outcomes             []tab
	File                 string
	Before, After        string // addresses of the days beside it
	Next                 string
	Rows                 []auditRow
}

type auditRow struct {
	Time    time.Time    `json:"time"`
	Actor   *string      `json:"actor"`
	Action  audit.Action `json:"action"`
	Target  string       `json:"target"`
	Outcome string       `json:"outcome"`
	Detail  *string      `json:"detail"`
}

// passes reports whether a row, of which the line is given, is of who and what the page is
// filtered by. Who is found by a part of the name: that of somebody at the machine's command
// line is longer than what people know. What was done is found by its words and by its name in the log.
func (a *auditView) passes(row *auditRow, line string) bool {
	has := func(text, part string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) }
	title := row.Action.Title()
	return (a.Outcome == "" || row.Outcome == a.Outcome) && has(deref(row.Actor), a.Actor) &&
		(has(string(row.Action), a.Action) || has(title, a.Action)) && (has(line, a.Query) || has(title, a.Query))
}

// auditOf returns the address of another day with the same filters.
func auditOf(x *visit, day time.Time) string {
	to := url.URL{Path: "/admin/audit/" + day.Format(time.DateOnly)}
	q := url.Values{}
	for _, name := range []string{"actor", "action", "q", "outcome"} {
		if value := x.query.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	to.RawQuery = q.Encode()
	return to.String()
}

// toAudit leads to the day that the form of the audit log asks for, today without one.
func toAudit(x *visit) error {
	day := x.now.UTC()
	if date := strings.TrimSpace(x.query.Get("date")); date != "" {
		var err error
		if day, err = time.Parse(time.DateOnly, date); err != nil {
			return errs.New(errs.BadParameter, "date is a day such as 2012-11-09, not %q.", errs.Clip(date, mostOfALine))
		}
	}
	return x.redirect(auditOf(x, day))
}

// auditRows is how many lines of the audit log a page shows.
const auditRows = 200

func drawAudit(x *visit) error {
	date := x.r.PathValue("date")
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return absent()
	}
	if outcome := x.query.Get("outcome"); outcome != "" && outcome != "done" && outcome != "refused" {
		return errs.New(errs.BadParameter, "outcome can be done or refused, not %q.", outcome)
	}
	a := &auditView{Date: date, Query: x.query.Get("q"), Outcome: x.query.Get("outcome"), Actor: strings.TrimSpace(x.query.Get("actor")), Action: strings.TrimSpace(x.query.Get("action")), File: adminPath + "Audit/" + date + ".jsonl"}
	a.Before, a.After = auditOf(x, day.AddDate(0, 0, -1)), auditOf(x, day.AddDate(0, 0, 1))
	for _, one := range [][2]string{{"All", ""}, {"Refused", "refused"}, {"Done", "done"}} {
		a.Outcomes = append(a.Outcomes, tab{Label: one[0], Href: x.with("outcome", one[1], "after", ""), Current: a.Outcome == one[1]})
	}
	for _, one := range audit.Actions() {
		a.Actions = append(a.Actions, option{Value: string(one.Action), Title: one.Title})
	}
	skip := 0
	if after := x.query.Get("after"); after != "" {
		if skip, err = strconv.Atoi(after); err != nil || skip < 0 {
			return errs.New(errs.BadParameter, "after is not a place in this list; follow the link to the next page.")
		}
	}
	text, err := x.read(a.File)
	if err != nil && errs.KindOf(err) != errs.NotFound { // on a day without rows there is no file
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range slices.Backward(lines) {
		var row auditRow
		if line == "" || json.Unmarshal([]byte(line), &row) != nil || !a.passes(&row, line) {
			continue
		}
		if skip--; skip >= 0 {
			continue
		}
		if len(a.Rows) == auditRows {
			from, _ := strconv.Atoi(x.query.Get("after")) // it was read above
			a.Next = x.with("after", strconv.Itoa(from+auditRows))
			break
		}
		a.Rows = append(a.Rows, row)
	}
	v := &adminView{Title: "Audit log", Lede: "What was done and refused on " + day.Format("Monday, 2 January 2006") + " (UTC), the newest first.", Audit: a, Empty: "There is nothing of this day that passes the filter."}
	return x.adminDraw(v, "Audit/"+date+".jsonl")
}
