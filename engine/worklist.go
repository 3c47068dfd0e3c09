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
	var out []Resource
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = pages[listedTask]{
			limit: f.Limit, size: f.Limit, each: f.Each,
			list:  e.taskSource(e.lister(r, by, list, f)).next,
			place: func(t *listedTask) int64 { return t.seq },
			add:   addTasks,
		}.all(f.After)
		return err
	})
	return out, err
}

// addTasks appends tasks as resources.
func addTasks(tasks []listedTask, out []Resource) ([]Resource, error) {
	for i := range tasks {
		out = append(out, *tasks[i].resource())
	}
	return out, nil
}

// taskFilter returns what the store is asked for. What else the filter says is
// judged task by task.
func (e *Worklists) taskFilter(by identity.Principal, list machine.Lists, f Filter) store.TaskFilter {
	filter := store.TaskFilter{Lists: list, Parties: access.WithContexts(by, e.rights.Represented(by)), Routes: e.rights.Administered(by)}
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

	passesTask func(due time.Time) bool // nil: all do
}

func (e *base) lister(r store.Reader, by identity.Principal, list Worklist, f Filter) *lister {
	return &lister{base: e, r: r, by: by, actor: e.rights.Actor(by, false), list: list.list(), f: f}
}

// listedTask is a task that is on a list. Its form is made when it is told: each names all
// XATTRs of the case, and a case may have hundreds of tasks.
type listedTask struct {
	seq      int64
	of       int64 // the case
	name     string
	due      time.Time
	resource func() *Resource
}

// taskSource reads the tasks that are on a list, of some cases at a time.
type taskSource struct {
	*lister
	filter store.TaskFilter // of the cases that follow
	steps  steps
	ended  bool
	ready  []listedTask // that are read and not told
}

func (e *Worklists) taskSource(l *lister) *taskSource {
	return &taskSource{lister: l, filter: e.taskFilter(l.by, l.list, l.f)}
}

// next returns the next tasks, at most limit unless that is 0. It goes on where it has ended,
// wherever the caller thinks that it is.
func (s *taskSource) next(_ int64, limit int) ([]listedTask, error) {
	for !s.ended && (limit == 0 || len(s.ready) < limit) {
		if s.filter.Limit = s.steps.rows(); limit > 0 {
			s.filter.Limit = min(s.filter.Limit, limit-len(s.ready)) // the next part of the listing reads what follows
		}
		rows, err := s.r.Cases().Tasks().WithTasks(s.filter)
		if err != nil {
			return nil, err
		}
		s.ended = len(rows) < s.filter.Limit
		for i := range rows {
			tasks, err := s.tasks(&rows[i])
			if err != nil {
				return nil, err
			}
			s.ready = append(s.ready, tasks...)
			s.filter.After = rows[i].ID
			s.steps.read += len(rows[i].Marking)
		}
	}
	n := len(s.ready)
	if limit > 0 {
		n = min(n, limit)
	}
	out := s.ready[:n:n]
	s.ready = s.ready[n:]
	return out, nil
}

// tasks returns the tasks of a case that are on the list and pass the filter.
func (l *lister) tasks(row *store.Case) (out []listedTask, err error) {
	c, err := l.caseOf(l.r, row.Marking)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	if !l.passes(row, c) {
		return nil, nil
	}
	add := func(seq int64, name string, due time.Time, resource func() *Resource) {
		if seq > l.f.After && (l.passesTask == nil || l.passesTask(due)) {
			out = append(out, listedTask{seq, c.ID, name, due, resource})
		}
	}
	dated := l.passesTask != nil // it lists only what has a date
	compiled, err := l.versionOf(l.r, c)
	if err != nil {
		return nil, err
	}
	l.actsAs(c)
	h := &loadedCase{core: c, route: &usedRoute{Compiled: compiled}, beside: machine.Beside{Reader: l.actor}}
	if h.beside.Files, err = l.fileNames(l.r, c); err != nil {
		return nil, err
	}
	for _, task := range machine.Tasks(c, compiled, l.actor) {
		if task.Failed != nil {
			if u := task.Failed; task.Lists&l.list != 0 && l.f.Role == "" && l.asksOf(c.Title, u.Name) && !dated {
				add(placeOfUndone(c, u), taskNamed(c, u.Name), time.Time{}, func() *Resource { return undoneOf(c, u, h.beside) })
			}
			continue
		}
		if task.OfCase {
			if task.Lists&l.list != 0 && l.f.Role == "" && l.asksOf(c.Title, "") && !dated {
				add(placeOfWarned(c), fmt.Sprint(c.ID), time.Time{}, func() *Resource { return warnedCase(c, compiled) })
			}
			continue
		}
		if task.OfDraft {
			if task.Lists&l.list != 0 && l.f.Role == "" && l.asksOf(c.Title, machine.DraftTitle(c, compiled)) {
				add(c.ID*ordinals, taskNamed(c, machine.DraftAction), c.Draft.Ends, func() *Resource { return draftOf(c, compiled, h.beside) })
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
		add(c.ID*ordinals+int64(task.Action), taskNamed(c, task.Enabled.Action), task.Enabled.DueBy(), func() *Resource {
			return taskOf(h, task.Enabled, task.Action)
		})
	}
	return out, nil
}

// passes asks the filters that are about the case.
func (l *lister) passes(row *store.Case, c *machine.Case) bool {
	if l.f.Route != "" && identity.Fold(l.f.Route) != identity.Fold(c.RouteName) {
		return false
	}
	return l.rights.InContext(l.by, l.f.Context, row.ContextID)
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

// taskNamed returns the name of a task on a list.
func taskNamed(c *machine.Case, task string) string { return fmt.Sprintf("%d.%s", c.ID, task) }

// taskOf returns an enabled action as a resource of a worklist.
func taskOf(h *loadedCase, en *machine.Enabled, action int) *Resource {
	c := h.core
	form := machine.TaskForm(c, h.route.Compiled, en.Action, h.beside)
	return &Resource{
		Name: taskNamed(c, en.Action), Seq: c.ID*ordinals + int64(action), Form: form, FormETag: change.SourceETag(form),
		Title: c.Title, Created: en.Since, Modified: c.Modified, Own: true,
	}
}

// placeOfUndone returns the place on a list of what has failed: behind the actions of its case,
// in order.
func placeOfUndone(c *machine.Case, o *machine.Undone) int64 {
	return c.ID*ordinals + ordinals/2 + min(o.Seq, ordinals/2-1)
}

// placeOfWarned returns the place on a list of a case that has warnings of its own: behind its
// tasks.
func placeOfWarned(c *machine.Case) int64 { return c.ID*ordinals + ordinals - 1 }

// undoneOf returns what has failed as a resource of a worklist.
func undoneOf(c *machine.Case, o *machine.Undone, beside machine.Beside) *Resource {
	form := machine.UndoneForm(c, o, beside)
	return &Resource{
		Name: taskNamed(c, o.Name), Seq: placeOfUndone(c, o), Form: form, FormETag: change.SourceETag(form),
		Title: c.Title, Created: o.At, Modified: c.Modified, Own: true,
	}
}

// warnedCase returns a case that has warnings of its own as a resource of a worklist.
func warnedCase(c *machine.Case, r *route.Route) *Resource {
	form := machine.Form(c, r)
	return &Resource{
		Name: fmt.Sprint(c.ID), Seq: placeOfWarned(c), Form: form, FormETag: change.SourceETag(form),
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
		tasks, err := e.lister(r, by, list, Filter{}).tasks(row)
		for i := range tasks {
			if tasks[i].name == strings.TrimSuffix(fmt.Sprintf("%d.%s", id, action), ".") {
				found = tasks[i].resource()
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
