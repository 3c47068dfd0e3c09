package web

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Lists of tasks in which nothing is to be done: what the user has performed, and, for
// those who lead a team, what waits for its members.

const worklistPath = "/dav/Workflow/Worklist/"

func taskListPages() []page {
	return []page{
		{pattern: "/tasks/done", query: []string{"after"}, draw: drawDone},
		{pattern: "/tasks/team/{team}", query: []string{"after"}, draw: drawTeam},
	}
}

// taskListView is what tasklist.html shows.
type taskListView struct {
	Title string
	Lede  string
	Tabs  []tab
	Rows  []taskListRow
	Next  string
	Empty string
	Live  string
}

type taskListRow struct {
	Case    int64
	Title   string
	Route   string
	Action  string
	Sub     string
	Person  []Person
	At      time.Time
	State   mark
	Comment string
}

// moreTabs adds the lists of this file to those of the tasks.
func (x taskDrawing) moreTabs(tabs []tab) []tab {
	tabs = append(tabs, tab{Label: "Done", Href: "/tasks/done", Current: x.r.URL.Path == "/tasks/done"})
	for _, team := range x.Queries.TeamsLed(x.by) {
		tabs = append(tabs, tab{Label: "Team " + team, Href: "/tasks/team/" + url.PathEscape(team), Current: x.r.PathValue("team") == team})
	}
	return tabs
}

// readList reads a page of a list into a value.
func (x *visit) readList(v *taskListView, path string, into any) error {
	path += "/.contents?limit=" + strconv.Itoa(pageRows)
	if after := x.query.Get("after"); after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	body, next, err := x.readPage(path)
	if err != nil {
		return err
	}
	if next != "" {
		if u, err := url.Parse(next); err == nil {
			v.Next = x.with("after", u.Query().Get("after"))
			x.w.Header().Add("Link", "<"+v.Next+`>; rel="next"`)
		}
	}
	return errs.Wrap("read "+path, json.Unmarshal(body, into))
}

func (x taskDrawing) drawTaskList(v *taskListView, path string) error {
	cases, err := x.Queries.TaskCases(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	tasks := &tasksView{}
	x.tabTasks(tasks, cases)
	v.Tabs = tasks.Tabs
	return x.draw("tasklist.html", head{Title: v.Title, Nav: "tasks", Path: path, JSON: path + "/.contents"}, v)
}

func drawDone(x *visit) error {
	v := &taskListView{Title: "Done", Lede: "What you have performed in the last seven days, or a deputy for you, the newest first.", Empty: "You have performed nothing in the last seven days.", Live: "/dav/Workflow/Cases/"}
	var done []struct {
		Case       int64     `json:"case"`
		Title      string    `json:"caseTitle"`
		Route      string    `json:"route"`
		Time       time.Time `json:"time"`
		Actor      string    `json:"actor"`
		OnBehalfOf string    `json:"onBehalfOf"`
		Comment    string    `json:"comment"`
		Resolution string    `json:"resolution"`
		Text       string    `json:"text"`
	}
	if err := x.readList(v, worklistPath+string(engine.WorklistDone), &done); err != nil {
		return err
	}
	for _, d := range done {
		row := taskListRow{Case: d.Case, Title: d.Title, Route: d.Route, Action: d.Text, Sub: d.Resolution, At: d.Time, Comment: d.Comment, State: mark{Icon: "done", Class: "good", Text: d.Text}}
		switch {
		case d.Actor != "" && identity.Fold(d.Actor) != identity.Fold(x.Me()): // a deputy has done it
			row.Person = []Person{x.Queries.Person(d.Actor)}
		case d.OnBehalfOf != "":
			row.Person = []Person{x.Queries.Person(d.OnBehalfOf)}
		}
		v.Rows = append(v.Rows, row)
	}
	return x.taskDrawing().drawTaskList(v, worklistPath+string(engine.WorklistDone))
}

func drawTeam(x *visit) error {
	team := x.r.PathValue("team")
	v := &taskListView{Title: "Team " + team, Lede: "What waits for the members of the team, also in cases that you do not see.", Empty: "Nothing waits for a member of the team.", Live: "/dav/Workflow/Cases/"}
	var open []struct {
		Case       int64      `json:"case"`
		CaseTitle  string     `json:"caseTitle"`
		Route      string     `json:"route"`
		Title      string     `json:"title"`
		Members    []string   `json:"members"`
		AcceptedBy string     `json:"acceptedBy"`
		Due        *time.Time `json:"due"`
		Offered    time.Time  `json:"offered"`
	}
	path := worklistPath + "Team/" + url.PathEscape(team)
	if err := x.readList(v, path, &open); err != nil {
		return err
	}
	for _, o := range open {
		row := taskListRow{Case: o.Case, Title: o.CaseTitle, Route: o.Route, Action: o.Title, At: o.Offered, State: mark{Icon: "offered", Text: o.Title}}
		if o.AcceptedBy != "" {
			row.State = mark{Icon: "accepted", Class: "now", Text: o.Title}
			o.Members = []string{o.AcceptedBy}
		}
		if o.Due != nil && !o.Due.After(x.now) {
			row.State = mark{Icon: "late", Class: "bad", Text: o.Title + ", " + x.Words.Over(*o.Due)}
		}
		for _, name := range o.Members {
			row.Person = append(row.Person, x.Queries.Person(name))
		}
		v.Rows = append(v.Rows, row)
	}
	return x.taskDrawing().drawTaskList(v, path)
}
