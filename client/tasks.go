package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"time"
)

// Task is something that can be done in a case.
type Task struct {
	Document `json:"-"`

	Case      int64             `json:"case"`
	ID        int64             `json:"id"` // in Warnings: of a case that is there itself; Case is 0 then
	CaseTitle string            `json:"caseTitle"`
	Route     string            `json:"route"`
	Starter   string            `json:"starter"`
	Action    string            `json:"action"`
	Title     string            `json:"title"`
	State     string            `json:"state"` // waiting, offered, accepted, running or escalated
	Due       *time.Time        `json:"due"`
	AcceptBy  *time.Time        `json:"acceptBy"`
	Accepted  string            `json:"acceptedBy"`
	Assignees []string          `json:"assignees"`
	XAttrs    map[string]any    `json:"xattrDict"`
	Choices   map[string]string `json:"choices"` // what can be done with it, and what it leads to
	// Resolutions are what the action can be resolved as, each with its title.
	Resolutions map[string]any  `json:"resolutions"`
	Form        json.RawMessage `json:"form"` // a JSON Schema, or null
	Warnings    []TaskWarning   `json:"warnings"`
}

// TaskWarning is something about a task that somebody is warned of.
type TaskWarning struct {
	Timer string    `json:"timer"`
	Time  time.Time `json:"time"`
	Text  string    `json:"text"`
}

// The worklists of a user.
const (
	Offered   = "Offered"
	Accepted  = "Accepted"
	Today     = "Today"
	Warnings  = "Warnings"
	Escalated = "Escalated"
)

// TaskFilter restricts a listing of tasks.
type TaskFilter struct{ Route, Role, Context, Query string }

// Tasks returns the tasks of one of the user's worklists.
func (c *Client) Tasks(ctx context.Context, worklistName string, f TaskFilter) iter.Seq2[Task, error] {
	v := url.Values{}
	for key, value := range map[string]string{"route": f.Route, "role": f.Role, "context": f.Context, "q": f.Query} {
		if value != "" {
			v.Set(key, value)
		}
	}
	return list[Task](ctx, c, worklist+worklistName+"/.contents", v)
}

// TeamTasks returns the open tasks of the members of a team, for who heads it.
func (c *Client) TeamTasks(ctx context.Context, team string) iter.Seq2[Task, error] {
	return list[Task](ctx, c, worklist+"Team/"+team+"/.contents", nil)
}

// Task returns an action of a case as a task, with its form.
func (c *Client) Task(ctx context.Context, id int64, action string) (Task, error) {
	return get[Task](ctx, c, actionPath(id, action))
}

func actionPath(id int64, action string) string { return casePath(id) + "/Actions/" + action + ".json" }

// Do is what is done with a task. The zero value performs it.
type Do struct {
	Command    string         `json:"do,omitempty"` // perform, accept, release, reject, delegate, skip, retry or abort
	Comment    string         `json:"comment,omitempty"`
	Resolution string         `json:"resolution,omitempty"`
	XAttrs     map[string]any `json:"xattrDict,omitempty"`
	To         string         `json:"to,omitempty"` // whom it is delegated to
}

// Done is what became of a case by what was done.
type Done struct {
	State, Status string
}

// Do does something with an action of a case. It is done once, also if its answer is lost.
func (c *Client) Do(ctx context.Context, id int64, action string, d Do) (Done, error) {
	header, err := c.putJSON(ctx, actionPath(id, action), d)
	if err != nil {
		return Done{}, err
	}
	return Done{State: header.Get("X-Flowdrive-Case-State"), Status: header.Get("X-Flowdrive-Case-Status")}, nil
}

// Actions returns the names of the actions of a case that the user may look at.
func (c *Client) Actions(ctx context.Context, id int64) ([]string, error) {
	type line struct {
		Document `json:"-"`

		Name string `json:"name"`
	}
	lines, err := Collect(list[line](ctx, c, casePath(id)+"/Actions/.ls", nil))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = stem(l.Name)
	}
	return names, nil
}

// stem returns the name of a file without .json, .yaml or .yml.
func stem(name string) string {
	for _, ext := range []string{".json", ".yaml", ".yml"} {
		if n := len(name) - len(ext); n > 0 && name[n:] == ext {
			return name[:n]
		}
	}
	return name
}
