package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// Worklist is one of a user's lists of tasks
// (docs/contract/drive.md#worklists).
type Worklist string

// The worklists.
const (
	WorklistOffered   Worklist = "Offered"
	WorklistAccepted  Worklist = "Accepted"
	WorklistWarnings  Worklist = "Warnings"
	WorklistEscalated Worklist = "Escalated"
)

func (w Worklist) list() machine.Lists {
	switch w {
	case WorklistOffered:
		return machine.OnOffered
	case WorklistToday:
		return machine.OnOffered | machine.OnAccepted
	case WorklistAccepted:
		return machine.OnAccepted
	case WorklistWarnings:
		return machine.OnWarnings | machine.WatchedWarnings
	case WorklistEscalated:
		return machine.OnEscalated | machine.WatchedEscalated
	case WorklistDone:
		return 0 // what was done is read from the logs
	}
	return 0
}

// Lists returns the lists of the core that the worklist is made of.
func (w Worklist) Lists() machine.Lists { return w.list() }

// ordinals is how many tasks of a case can be told apart in the order of a
// worklist: a route's document has no room for so many actions.
const ordinals = 1 << 21

// Worklist returns the tasks on one of by's lists, by case and in order of
// definition. The Name of each is the case's id and the action's name, with a
// dot between.
func (e *Worklists) Worklist(ctx context.Context, by identity.Principal, list Worklist, f Filter) ([]Resource, error) {
	if out, ok, err := e.special(ctx, by, list, f); ok {
		return out, err
	}
	filter := e.taskFilter(by, list, f)
	var out []Resource
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = pages[store.Case]{
			limit: f.Limit, size: filter.Limit, each: f.Each,
			list: func(after int64, limit int) ([]store.Case, error) {
				filter.After, filter.Limit = after, limit
				return r.Cases().Tasks().WithTasks(filter)
			},
			place: func(row *store.Case) int64 { return row.ID },
			add:   e.lister(r, by, list, f).addAll,
		}.all(filter.After)
		return err
	})
	return out, err
}

// taskFilter returns what the store is asked for. What else the filter says is
// judged task by task, of as many cases at a time as a page is likely to take.
func (e *Worklists) taskFilter(by identity.Principal, list Worklist, f Filter) store.TaskFilter {
	filter := store.TaskFilter{Lists: list.list(), Parties: access.WithContexts(by, e.rights.Represented(by)), Routes: e.rights.Administered(by), Limit: f.Limit}
	const many = 500
	if f.Limit > 0 && (f.Route != "" || f.Context != "" || f.Role != "" || f.Query != "") {
		filter.Limit = max(f.Limit, many)
	}
	if f.After > 0 {
		filter.After = f.After/ordinals - 1 // the case of the last one may have more
	}
	return filter
}

// lister makes the tasks of cases into resources.
type lister struct {
	*base
	r     store.Reader
	by    identity.Principal
	actor machine.Actor
	list  machine.Lists
	f     Filter

	passesTask func(name string, due time.Time) bool // nil: all do
}

func (e *base) lister(r store.Reader, by identity.Principal, list Worklist, f Filter) *lister {
	return &lister{base: e, r: r, by: by, actor: e.rights.Actor(by, false), list: list.list(), f: f}
}

// addAll appends the tasks of cases.
func (l *lister) addAll(rows []store.Case, out []Resource) (_ []Resource, err error) {
	for i := range rows {
		if out, err = l.add(&rows[i], out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add appends the tasks of a case that are on the list and pass the filter.
func (l *lister) add(row *store.Case, out []Resource) ([]Resource, error) {
	c, err := l.caseOf(l.r, row.Marking)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	if !l.passes(row, c) {
		return out, nil
	}
	compiled, err := l.versionOf(l.r, c)
	if err != nil {
		return nil, err
	}
	l.actsAs(c)
	for _, task := range machine.Tasks(c, compiled, l.actor) {
		if task.Failed != nil {
			if res := undoneOf(c, task.Failed); task.Lists&l.list != 0 && l.f.Role == "" && l.asksOf(c.Title, task.Failed.Name) && res.Seq > l.f.After {
				out = append(out, *res)
			}
			continue
		}
		if task.OfCase {
			if res := warnedCase(c, compiled); task.Lists&l.list != 0 && l.f.Role == "" && l.asksOf(c.Title, "") && res.Seq > l.f.After {
				out = append(out, *res)
			}
			continue
		}
		if task.OfDraft {
			res := draftOf(c, compiled)
			passes := task.Lists&l.list != 0 && l.f.Role == "" && l.asksOf(c.Title, machine.DraftTitle(c, compiled)) && res.Seq > l.f.After
			if passes && (l.passesTask == nil || l.passesTask(res.Name, c.Draft.Ends)) {
				out = append(out, *res)
			}
			continue
		}
		a := &compiled.Actions[task.Action]
		if task.Lists&l.list == 0 || l.f.Role != "" && !slices.Contains(machine.TaskRoles(c, compiled, a), l.f.Role) || !l.asksOf(c.Title, a.Title) {
			continue
		}
		if !task.Assigned {
			if sees, err := l.sees(row.ID); err != nil || !sees {
				return out, err
			}
		}
		res := taskOf(c, compiled, task.Enabled, task.Action)
		if res.Seq > l.f.After && (l.passesTask == nil || l.passesTask(res.Name, task.Enabled.DueBy())) {
			out = append(out, *res)
		}
	}
	return out, nil
}

// passes asks the filters that are about the case.
func (l *lister) passes(row *store.Case, c *machine.Case) bool {
	if l.f.Route != "" && identity.Fold(l.f.Route) != identity.Fold(c.RouteName) {
		return false
	}
	switch l.f.Context {
	case "":
		return true
	case access.Mine:
		return l.by.In(row.ContextID)
	}
	return l.rights.ContextID(l.f.Context) == row.ContextID
}

// asksOf asks the filter that is about titles: of the case, and of the task.
func (l *lister) asksOf(title, task string) bool {
	q := identity.Fold(l.f.Query)
	return q == "" || strings.Contains(identity.Fold(title), q) || strings.Contains(identity.Fold(task), q)
}

// sees reports whether the reader of the list may see the case. They may have
// accepted a task in it and lost their role since.
func (l *lister) sees(id int64) (bool, error) {
	row, _, err := l.findCase(l.r, l.by, Ref{CaseID: id})
	return row != nil, err
}

// taskOf returns an enabled action as a resource of a worklist.
func taskOf(c *machine.Case, r *route.Route, en *machine.Enabled, action int) *Resource {
	form := machine.TaskForm(c, r, en.Action)
	return &Resource{
		Name: fmt.Sprintf("%d.%s", c.ID, en.Action), Seq: c.ID*ordinals + int64(action), Form: form, FormETag: change.SourceETag(form),
		Title: c.Title, Created: en.Since, Modified: c.Modified, Own: true,
	}
}

// undoneOf returns what has failed as a resource of a worklist: behind the actions of
// its case, in order.
func undoneOf(c *machine.Case, o *machine.Undone) *Resource {
	form := machine.UndoneForm(c, o)
	behind := int64(ordinals/2) + min(o.Seq, ordinals/2-1)
	return &Resource{
		Name: fmt.Sprintf("%d.%s", c.ID, o.Name), Seq: c.ID*ordinals + behind, Form: form, FormETag: change.SourceETag(form),
		Title: c.Title, Created: o.At, Modified: c.Modified, Own: true,
	}
}

// warnedCase returns a case that has warnings of its own as a resource of a worklist,
// behind its tasks.
func warnedCase(c *machine.Case, r *route.Route) *Resource {
	form := machine.Form(c, r)
	return &Resource{
		Name: fmt.Sprint(c.ID), Seq: c.ID*ordinals + ordinals - 1, Form: form, FormETag: change.SourceETag(form),
		Title: c.Title, Created: c.Created, Modified: c.Modified, Own: true,
	}
}

// WorklistTask returns a task that is on one of by's lists; without an action, the
// case itself if it is there for its warnings. Errors: errs.NotFound if it is not on
// the list.
func (e *Worklists) WorklistTask(ctx context.Context, by identity.Principal, list Worklist, id int64, action string) (*Resource, error) {
	if res, ok, err := e.specialTask(ctx, by, list, id, action); ok {
		return res, err
	}
	var found *Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		row, _, err := e.findCase(r, by, Ref{CaseID: id})
		if err != nil || row == nil || row.Archived != 0 {
			return err
		}
		tasks, err := e.lister(r, by, list, Filter{}).add(row, nil)
		for i := range tasks {
			if tasks[i].Name == strings.TrimSuffix(fmt.Sprintf("%d.%s", id, action), ".") {
				found = &tasks[i]
			}
		}
		return err
	})
	if err == nil && found == nil {
		err = change.Absent("task")
	}
	return found, err
}

// TaskMove moves a task from one worklist to another.
type TaskMove struct {
	CaseID   int64
	Action   string
	From, To Worklist
}

// MoveTask moves a task from one worklist to another: to the accepted ones
// accepts it, back to the offered ones releases it. Errors: errs.NotMovable for
// other moves, and those of the task's action.
func (e *Worklists) MoveTask(ctx context.Context, req Request, move TaskMove) (*Outcome, error) {
	var do string
	switch {
	case move.From == WorklistOffered && move.To == WorklistAccepted:
		do = "accept"
	case move.From == WorklistAccepted && move.To == WorklistOffered:
		do = "release"
	default:
		return nil, errs.New(errs.NotMovable, "Tasks can be moved from Offered to Accepted, which accepts them, and back, which releases them; not from %s to %s.", move.From, move.To)
	}
	return e.cases.Perform(ctx, req, move.CaseID, move.Action, append(document.AppendString([]byte(`{"do":`), do), '}'))
}

// shared says who had tasks in a case as it is stored, so that only what is
// other now is written.
func (e *decider) shared(c *caseChange, had []machine.Share) {
	if slices.Equal(had, c.shares) {
		c.row.Tasks = nil
		return
	}
	if c.row.Had = e.shares(had); len(c.row.Had) < len(had) {
		c.row.Had = nil // a name that is nobody's now was somebody's: who is not named any more goes
	}
}

// shares returns who may have tasks, by id. A name without a user or team has
// none.
func (e *decider) shares(list []machine.Share) []store.TaskShare {
	out := make([]store.TaskShare, 0, len(list))
	for _, s := range list {
		if s.Party == machine.PartyAdmins {
			out = append(out, store.TaskShare{Lists: s.Lists})
		} else if id := e.accounts.PartyID(s.Party); id != 0 {
			out = append(out, store.TaskShare{Party: id, Lists: s.Lists})
		}
	}
	return out
}
