package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Further worklists (docs/contract/drive.md#worklists).
const (
	WorklistToday Worklist = "Today" // what is due by the end of the user's day, in order of time
	WorklistDone  Worklist = "Done"  // what the user has performed lately, the newest first

	teamPrefix = "Team/"
)

// TeamWorklist is the list of the open tasks of a team's members, for its
// administrators.
func TeamWorklist(team string) Worklist { return Worklist(teamPrefix + team) }

// team returns the name of the team whose tasks are on the list.
func (w Worklist) team() (name string, ok bool) { return strings.CutPrefix(string(w), teamPrefix) }

// special returns a list that is not read off the index of tasks as it stands. ok is
// false if the list is an ordinary one.
func (e *Worklists) special(ctx context.Context, by identity.Principal, list Worklist, f Filter) (out []Resource, ok bool, err error) {
	team, ofTeam := list.team()
	switch {
	case list == WorklistToday:
		out, err = e.today(ctx, by, f)
	case list == WorklistDone:
		out, err = e.done(ctx, by, f)
	case ofTeam:
		out, err = e.teamTasks(ctx, by, team, f)
	default:
		return nil, false, nil
	}
	return out, true, err
}

// specialTask returns a task of such a list; without an action nothing is found.
func (e *Worklists) specialTask(ctx context.Context, by identity.Principal, list Worklist, id int64, action string) (*Resource, bool, error) {
	name := fmt.Sprintf("%d.%s", id, action)
	all, ok, err := e.special(ctx, by, list, Filter{CaseID: id, Each: func(r *Resource) bool {
		if r.Name == name {
			return true
		}
		r.Form = nil
		return false
	}})
	if !ok || err != nil {
		return nil, ok, err
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], true, nil
		}
	}
	return nil, true, change.Absent("task")
}

// numbered gives resources that are in order their places in it, and returns the page
// that the filter asks for.
func numbered(all []Resource, f Filter) []Resource {
	for i := range all {
		all[i].Seq = int64(i + 1)
	}
	all = all[min(f.After, int64(len(all))):]
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all
}

// endOfDay returns when the user's day ends.
func (e *Worklists) endOfDay(by identity.Principal) time.Time {
	year, month, day := e.Clock.Now().In(e.zoneOf(by)).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, e.zoneOf(by))
}

// today returns the user's tasks that are to be accepted or performed by the end of
// the user's day, in order of time; what is overdue comes first.
func (e *Worklists) today(ctx context.Context, by identity.Principal, f Filter) (out []Resource, err error) {
	until := e.endOfDay(by)
	inTime := func(at time.Time) bool { return !at.IsZero() && at.Before(until) }
	var dated []listedTask
	if f.CaseID == 0 {
		if dated, err = e.dated(ctx, by, f, inTime); err != nil || int64(len(dated)) <= f.After {
			return nil, err
		}
	}
	whole := f
	whole.After, whole.Limit = 0, 0
	err = e.Store.View(ctx, func(r store.Reader) error {
		l := e.lister(r, by, WorklistToday, whole)
		l.passesTask = inTime
		if f.CaseID != 0 {
			if dated, err = l.ofCase(f.CaseID); err != nil {
				return err
			}
		}
		out, err = l.page(dated, f)
		return err
	})
	return out, err
}

// dated returns the tasks of the list Today in order of time. It takes them from what is
// remembered of the user's cases: a listing comes in parts, and each part needs the order
// of all.
func (e *Worklists) dated(ctx context.Context, by identity.Principal, f Filter, inTime func(time.Time) bool) (all []listedTask, err error) {
	cases, err := e.TaskCases(ctx, by)
	if err != nil {
		return nil, err
	}
	query := identity.Fold(f.Query)
	for _, c := range cases {
		if f.Route != "" && identity.Fold(f.Route) != identity.Fold(c.Route) || !e.rights.InContext(by, f.Context, c.ContextID) || !c.Has(query) {
			continue
		}
		for i := range c.Tasks {
			t := &c.Tasks[i]
			if t.Lists&WorklistToday.list() != 0 && inTime(t.Due) && (f.Role == "" || slices.Contains(t.Roles, f.Role)) {
				all = append(all, listedTask{of: c.ID, name: fmt.Sprintf("%d.%s", c.ID, t.Action), due: t.Due})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b listedTask) int { return a.due.Compare(b.due) })
	return all, nil
}

// ofCase returns the tasks of a case that are on the list.
func (l *lister) ofCase(id int64) ([]listedTask, error) {
	row, _, err := l.findCase(l.r, l.by, Ref{CaseID: id})
	if err != nil || row == nil || row.Archived != 0 {
		return nil, err
	}
	return l.tasks(row)
}

// page returns the page of a list that the filter asks for. Cases are read again, one at a time.
func (l *lister) page(all []listedTask, f Filter) (out []Resource, err error) {
	var tasks []listedTask // of the case before
	for i := int(min(f.After, int64(len(all)))); i < len(all) && (f.Limit == 0 || len(out) < f.Limit); i++ {
		if len(tasks) == 0 || tasks[0].of != all[i].of {
			row, _, err := l.findCase(l.r, l.by, Ref{CaseID: all[i].of})
			if err != nil {
				return nil, err
			}
			if row == nil || row.Archived != 0 { // it has ended since its tasks were remembered
				continue
			}
			if tasks, err = l.tasks(row); err != nil {
				return nil, err
			}
		}
		at := slices.IndexFunc(tasks, func(t listedTask) bool { return t.name == all[i].name })
		if at < 0 {
			continue
		}
		res := tasks[at].resource()
		res.Seq = int64(i + 1)
		out = append(out, *res)
		if f.Each != nil && f.Each(&out[len(out)-1]) {
			break
		}
	}
	return out, nil
}

const (
	// doneLasts is how long a performance is on the list of who performed it, by the
	// drive's clock.
	doneLasts = 7 * 24 * time.Hour
	// One of purgesDone performances deletes old rows, at most purgedDone of them: more
	// than are added until the next one does.
	purgesDone = 32
	purgedDone = 100
	// mostDone is how many performances the list has at most.
	mostDone = 1000
)

// doneForm is a file of Worklist/Done/.
type doneForm struct {
	Case       int64   `json:"case"`
	CaseTitle  string  `json:"caseTitle"`
	Route      string  `json:"route"`
	Action     string  `json:"action"`
	Time       string  `json:"time"`
	Actor      *string `json:"actor"`
	OnBehalfOf *string `json:"onBehalfOf"`
	Comment    *string `json:"comment"`
	Resolution *string `json:"resolution"`
	From       *string `json:"from"`
	To         *string `json:"to"`
	Text       string  `json:"text"`
	Undo       string  `json:"undo,omitempty"`
}

// noteDone notes what people have performed in an event, and that they have canceled the
// case, so that they find it on their list, and what a deputy has performed for a user, who
// finds it there, too.
func (e *decider) noteDone(tx store.Tx, c *caseChange) error {
	for i := range c.log {
		entry := &c.log[i]
		action, undo := doneAction(c.row.ID, entry)
		if action == "" {
			continue
		}
		var users []identity.ID
		for _, name := range []*string{entry.Actor, entry.OnBehalfOf} {
			if name == nil {
				continue
			}
			if user := e.accounts.PartyID(*name); user != 0 && !slices.Contains(users, user) {
				users = append(users, user)
			}
		}
		if len(users) == 0 {
			continue
		}
		form := document.Form(doneForm{
			Case: c.row.ID, CaseTitle: c.after.Title, Route: c.after.RouteName, Action: action, Time: entry.Time.UTC().Format(time.RFC3339),
			Actor: entry.Actor, OnBehalfOf: entry.OnBehalfOf, Comment: entry.Comment, Resolution: entry.Resolution, From: entry.From, To: entry.To, Text: entry.Text, Undo: undo,
		})
		if (c.row.ID+int64(entry.Seq))%purgesDone == 0 {
			if err := tx.Write().Cases().DeleteDoneBefore(entry.Time.Add(-doneLasts), purgedDone); err != nil {
				return err
			}
		}
		for _, user := range users {
			if err := tx.Write().Cases().InsertDone(&store.DoneTask{User: user, Time: entry.Time, CaseID: c.row.ID, Seq: entry.Seq, Action: action, Form: form}); err != nil {
				return err
			}
		}
	}
	return nil
}

// done returns what the user has performed in the last days, the newest first: of each
// action of a case the last time. Cases that the user may not see any more are left
// out.
func (e *Worklists) done(ctx context.Context, by identity.Principal, f Filter) ([]Resource, error) {
	var out []Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		rows, err := r.Cases().Done(by.ID, e.Clock.Now().Add(-doneLasts), mostDone)
		if err != nil {
			return err
		}
		known := map[string]bool{}
		cases := map[int64]*store.Case{}
		for i := 0; i < len(rows) && (f.Limit == 0 || int64(len(out)) < f.After+int64(f.Limit)); i++ {
			d := &rows[i]
			name := fmt.Sprintf("%d.%s", d.CaseID, d.Action)
			if known[name] || f.CaseID != 0 && f.CaseID != d.CaseID {
				continue
			}
			known[name] = true
			row, looked := cases[d.CaseID]
			if !looked {
				if row, _, err = e.findCase(r, by, Ref{CaseID: d.CaseID}); err != nil {
					return err
				}
				cases[d.CaseID] = row
			}
			if row == nil {
				continue
			}
			res, passes, err := e.doneResource(by, d, row, f)
			if err != nil {
				return err
			}
			if passes {
				out = append(out, *res)
			}
		}
		return nil
	})
	return numbered(out, f), err
}

// doneResource returns a performance as a resource, and whether it passes the filter.
func (e *Worklists) doneResource(by identity.Principal, d *store.DoneTask, row *store.Case, f Filter) (*Resource, bool, error) {
	var form doneForm
	if err := json.Unmarshal(d.Form, &form); err != nil {
		return nil, false, errs.Wrap(fmt.Sprintf("read what was performed in case %d", d.CaseID), err)
	}
	passes := (f.Route == "" || identity.Fold(f.Route) == identity.Fold(form.Route)) && e.rights.InContext(by, f.Context, row.ContextID) &&
		strings.Contains(identity.Fold(form.CaseTitle+"\n"+form.Text), identity.Fold(f.Query))
	return &Resource{
		Name: fmt.Sprintf("%d.%s", d.CaseID, d.Action), Form: d.Form, FormETag: change.SourceETag(d.Form), Title: form.CaseTitle,
		Created: d.Time, Modified: d.Time, Own: true,
	}, passes, nil
}

// HeadedTeams returns the teams whose administrator by is, by name.
func (e *Worklists) HeadedTeams(by identity.Principal) (names []string) {
	for _, p := range e.directory().Parties() {
		if p.Kind == identity.Team && by.InAny(p.Admins) {
			names = append(names, string(p.Name))
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(strings.Compare(identity.Fold(a), identity.Fold(b)), strings.Compare(a, b))
	})
	return names
}

// headed returns the team if by administers it, or errs.NotFound.
func (e *Worklists) headed(by identity.Principal, name string) (*identity.Party, error) {
	team := e.directory().ByName(identity.Name(name))
	if team == nil || team.Kind != identity.Team || !by.Admin() && !by.InAny(team.Admins) {
		return nil, change.Absent("team")
	}
	return team, nil
}

// teamTasks returns the open tasks of the members of a team, by case. Whoever
// administers the team is told of all of them, whatever the case; what the case holds
// is not told. Errors: errs.NotFound if by does not administer such a team.
func (e *Worklists) teamTasks(ctx context.Context, by identity.Principal, name string, f Filter) ([]Resource, error) {
	team, err := e.headed(by, name)
	if err != nil {
		return nil, err
	}
	members := e.membersOf(string(team.Name))
	var out []Resource
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		if f.CaseID != 0 {
			row, err := store.OrNil(r.Cases().Get(f.CaseID))
			if err != nil || row == nil || row.Archived != 0 {
				return err
			}
			out, err = e.addTeamTasks(r, members, f, []store.Case{*row}, nil)
			return err
		}
		filter := store.TaskFilter{Lists: machine.OnOffered | machine.OnAccepted, Parties: members.parties, Limit: f.Limit}
		if f.After > 0 {
			filter.After = f.After/ordinals - 1
		}
		out, err = pages[store.Case]{
			limit: f.Limit, size: filter.Limit, each: f.Each,
			list: func(after int64, limit int) ([]store.Case, error) {
				filter.After, filter.Limit = after, limit
				return r.Cases().Tasks().WithTasks(filter)
			},
			place:  func(row *store.Case) int64 { return row.ID },
			weight: func(row *store.Case) int { return len(row.Marking) },
			add: func(rows []store.Case, out []Resource) ([]Resource, error) {
				return e.addTeamTasks(r, members, f, rows, out)
			},
		}.all(filter.After)
		return err
	})
	return out, err
}

// members are the users of a team, by the names of the parties through which they have
// tasks.
type members struct {
	parties []identity.ID       // whose tasks are theirs: the users, and all their teams
	users   map[string][]string // folded name of a party: who of the team it stands for
}

// membersOf returns the users of a team.
func (e *base) membersOf(team string) members {
	m := members{users: map[string][]string{}}
	d := e.directory()
	decider := &decider{e}
	for _, user := range decider.persons(team) {
		p := d.ByName(identity.Name(user))
		for _, id := range d.Contexts(p.ID) {
			of := d.ByID(id)
			if of == nil || id == d.EveryoneID() { // what everyone may do is nobody's in particular
				continue
			}
			if !slices.Contains(m.parties, id) {
				m.parties = append(m.parties, id)
			}
			key := identity.Fold(string(of.Name))
			m.users[key] = append(m.users[key], user)
		}
	}
	return m
}

// of returns the members for whom the parties stand, each once.
func (m *members) of(parties []string) (users []string) {
	for _, party := range parties {
		for _, user := range m.users[identity.Fold(party)] {
			if !slices.Contains(users, user) {
				users = append(users, user)
			}
		}
	}
	slices.Sort(users)
	return users
}

// teamForm is a file of Worklist/Team/<team>/.
type teamForm struct {
	Case       int64    `json:"case"`
	CaseTitle  string   `json:"caseTitle"`
	Route      string   `json:"route"`
	Action     string   `json:"action"`
	Title      string   `json:"title"`
	State      string   `json:"state"`
	Members    []string `json:"members"`
	AcceptedBy *string  `json:"acceptedBy"`
	Offered    string   `json:"offered"`
	Due        *string  `json:"due"`
	AcceptBy   *string  `json:"acceptBy"`
	Warned     bool     `json:"warned"`
}

// addTeamTasks appends the tasks of the members in the cases.
func (e *Worklists) addTeamTasks(r store.Reader, m members, f Filter, rows []store.Case, out []Resource) ([]Resource, error) {
	for i := range rows {
		c, err := e.caseOf(r, rows[i].Marking)
		if err != nil {
			return nil, errs.Wrap(fmt.Sprintf("read case %d", rows[i].ID), err)
		}
		l := lister{base: e.base, f: f}
		if c.Life != machine.Active || !l.passes(&rows[i], c) {
			continue
		}
		compiled, err := e.versions.get(r, c.RouteID, c.RouteVersion)
		if err != nil {
			return nil, err
		}
		for _, w := range machine.Waits(c, compiled) {
			if w.State != machine.Offered && w.State != machine.Accepted || !l.asksOf(c.Title, w.Title) {
				continue
			}
			who := w.Assigned
			if w.State == machine.Accepted {
				who = []string{w.By, w.For}
			}
			at := compiled.Action(w.Action)
			if f.Role != "" && !slices.Contains(machine.TaskRoles(c, compiled, &compiled.Actions[at]), f.Role) {
				continue
			}
			users := slices.DeleteFunc(m.of(who), func(user string) bool {
				return slices.ContainsFunc(w.Without, func(name string) bool { return identity.Fold(name) == identity.Fold(user) })
			})
			if len(users) > 0 {
				res := teamTask(c, &w, users)
				if res.Seq = c.ID*ordinals + int64(at); res.Seq > f.After {
					out = append(out, *res)
				}
			}
		}
	}
	return out, nil
}

// teamTask returns a task of members of a team as a resource.
func teamTask(c *machine.Case, w *machine.Wait, users []string) *Resource {
	at := func(t time.Time) *string {
		if t.IsZero() {
			return nil
		}
		return new(t.UTC().Format(time.RFC3339))
	}
	f := teamForm{
		Case: c.ID, CaseTitle: c.Title, Route: c.RouteName, Action: w.Action, Title: w.Title, State: string(w.State), Members: users,
		Offered: w.Since.UTC().Format(time.RFC3339), Due: at(w.Due), AcceptBy: at(w.AcceptBy), Warned: w.Warned,
	}
	if w.By != "" {
		f.AcceptedBy = &w.By
	}
	form := document.Form(f)
	return &Resource{
		Name: fmt.Sprintf("%d.%s", c.ID, w.Action), Form: form, FormETag: change.SourceETag(form), Title: c.Title,
		Created: w.Since, Modified: c.Modified, Own: true,
	}
}
