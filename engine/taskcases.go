package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/account"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// TaskCase is a case in which somebody has tasks: what lists of such cases are sorted and
// counted by. It must not be changed.
type TaskCase struct {
	ID        int64
	RouteID   int64
	Route     string
	Title     string
	ContextID identity.ID
	Priority  int
	Tasks     []CaseTask
	// Deputy names the user whose deputy the reader is, if the tasks are the reader's
	// only so.
	Deputy string

	revision int64
	lists    machine.Lists // of all tasks
	text     string        // folded, to be searched
}

// CaseTask is a task as lists know it.
type CaseTask struct {
	Action  string
	Lists   machine.Lists
	Roles   []string
	Due     time.Time // the date by which it is to be done, else accepted; zero: none
	Offered time.Time
	// Optional says that it is only offered, without a date, and takes the case back: nobody
	// waits for a starter to withdraw what they have asked for.
	Optional bool
}

// Waits reports whether one of the tasks on the list is more than a way to take the case back.
func (c *TaskCase) Waits(list Worklist) bool {
	return slices.ContainsFunc(c.Tasks, func(t CaseTask) bool { return t.Lists&list.list() != 0 && !t.Optional })
}

// IsOn reports whether the case is on the list.
func (c *TaskCase) IsOn(list Worklist) bool { return c.lists&list.list() != 0 }

// On reports whether the case is on one of the lists, by its tasks there, and by when
// the first of them is due (zero: never) and the oldest offered.
func (c *TaskCase) On(list Worklist, role string) (on bool, due, offered time.Time) {
	if !c.IsOn(list) {
		return false, due, offered
	}
	for i := range c.Tasks {
		t := &c.Tasks[i]
		if t.Lists&list.list() == 0 || role != "" && !slices.Contains(t.Roles, role) {
			continue
		}
		if !t.Due.IsZero() && (due.IsZero() || t.Due.Before(due)) {
			due = t.Due
		}
		if !on || t.Offered.Before(offered) {
			offered = t.Offered
		}
		on = true
	}
	return on, due, offered
}

// Has reports whether what one searches is in the titles of the case and its tasks, or is
// its number. query is folded.
func (c *TaskCase) Has(query string) bool { return strings.Contains(c.text, query) }

// taskCases remembers for the users who look at their tasks what their cases say, so
// that of thousands only those are read again that have changed.
type taskCases struct {
	mu    sync.Mutex
	users map[identity.ID]*userTasks
	clock int64 // counts the uses
}

// userTasks is what is remembered of one user, and what it rests on.
type userTasks struct {
	mu      sync.Mutex
	changes uint64 // of the store
	table   *account.Table
	routes  *access.Table
	absent  string
	cases   []*TaskCase // by id; replaced, never changed in place
	used    int64
}

// mostTaskUsers is of how many users at most.
const mostTaskUsers = 64

// of returns what is remembered of the user. Of many users the one that was not asked
// about for longest is forgotten.
func (t *taskCases) of(user identity.ID) *userTasks {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	u := t.users[user]
	if u == nil {
		if len(t.users) >= mostTaskUsers {
			oldest, at := identity.ID(0), t.clock
			for id, other := range t.users {
				if other.used < at {
					oldest, at = id, other.used
				}
			}
			delete(t.users, oldest)
		}
		if t.users == nil {
			t.users = map[identity.ID]*userTasks{}
		}
		u = &userTasks{}
		t.users[user] = u
	}
	u.used = t.clock
	return u
}

// TaskCases returns the cases in which by has tasks, on any list, by id.
func (e *Worklists) TaskCases(ctx context.Context, by identity.Principal) ([]*TaskCase, error) {
	u := e.taskCases.of(by.ID)
	u.mu.Lock()
	defer u.mu.Unlock()
	absent := e.rights.Represented(by)
	var whom strings.Builder
	for i := range absent {
		whom.WriteString(strconv.FormatInt(int64(absent[i].ID), 10) + " ")
	}
	changes, table, routes := e.Store.Changes(), e.accounts.Table(), e.rights.Table()
	same := u.table == table && u.routes == routes && u.absent == whom.String()
	if same && u.changes == changes && u.cases != nil {
		return u.cases, nil
	}
	var known []*TaskCase
	changed, all := []int64(nil), true
	if same && u.cases != nil {
		known = u.cases
		changed, all = e.Store.ChangedCases(u.changes)
	}
	cases := known
	if all || len(changed) > 0 {
		err := e.Store.View(ctx, func(r store.Reader) (err error) {
			cases, err = e.readTaskCases(r, by, known, changed)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	u.changes, u.table, u.routes, u.absent, u.cases = changes, table, routes, whom.String(), cases
	return cases, nil
}

// readTaskCases reads the cases that have changed since some were known, by id: those of
// changed at most, unless that is nil.
func (e *Worklists) readTaskCases(r store.Reader, by identity.Principal, known []*TaskCase, changed []int64) ([]*TaskCase, error) {
	const all = machine.OwnLists | machine.WatchedWarnings | machine.WatchedEscalated
	revisions, err := r.Cases().Tasks().TaskRevisions(store.TaskFilter{
		Lists: all, Parties: access.WithContexts(by, e.rights.Represented(by)), Routes: e.rights.Administered(by), Among: changed,
	})
	if err != nil {
		return nil, err
	}
	out := make([]*TaskCase, 0, len(known)+len(revisions))
	if changed != nil {
		for _, c := range known {
			if _, may := slices.BinarySearch(changed, c.ID); !may {
				out = append(out, c)
			}
		}
	}
	var stale []int64
	for _, at := range revisions {
		i, found := slices.BinarySearchFunc(known, at.ID, func(c *TaskCase, id int64) int { return cmp.Compare(c.ID, id) })
		if found && known[i].revision == at.Revision {
			out = append(out, known[i])
		} else {
			stale = append(stale, at.ID)
		}
	}
	l := e.lister(r, by, WorklistOffered, Filter{})
	for steps := (steps{}); len(stale) > 0; {
		n := min(len(stale), steps.rows())
		rows, err := r.Cases().Tasks().WithMarkings(stale[:n])
		if err != nil {
			return nil, err
		}
		for i := range rows {
			c, err := l.taskCase(&rows[i])
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			steps.read += len(rows[i].Marking)
		}
		stale = stale[n:]
	}
	slices.SortFunc(out, func(a, b *TaskCase) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// taskCase returns what lists know of a case. It has no tasks if the reader, though found
// among those who may have some, has none.
func (l *lister) taskCase(row *store.Case) (*TaskCase, error) {
	c, err := l.caseOf(l.r, row.Marking)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	compiled, err := l.versionOf(l.r, c)
	if err != nil {
		return nil, err
	}
	l.actsAs(c)
	out := &TaskCase{ID: c.ID, RouteID: c.RouteID, Route: c.RouteName, Title: c.Title, ContextID: row.ContextID, Priority: row.Priority, revision: row.Revision}
	text := []string{c.Title, strconv.FormatInt(c.ID, 10)}
	for _, task := range machine.Tasks(c, compiled, l.actor) {
		if !task.Assigned {
			if sees, err := l.sees(row.ID); err != nil || !sees {
				return out, err
			}
		}
		t := caseTaskOf(c, compiled, task)
		out.Tasks, out.lists = append(out.Tasks, t), out.lists|t.Lists
		switch {
		case task.OfDraft:
			text = append(text, machine.DraftTitle(c, compiled))
		case task.Enabled != nil:
			text = append(text, cmp.Or(compiled.Actions[task.Action].Title, t.Action))
		}
	}
	out.Deputy = l.onlyFor(c, compiled, out.Tasks)
	out.text = identity.Fold(strings.Join(text, "\n"))
	return out, nil
}

// actsAs sets whether the reader administers the route of the case.
func (l *lister) actsAs(c *machine.Case) {
	l.actor.RouteAdmin = l.by.Admin()
	if info := l.rights.Route(c.RouteID); info != nil {
		l.actor.RouteAdmin = l.rights.Administers(l.by, info)
	}
}

func caseTaskOf(c *machine.Case, r *route.Route, task machine.Task) CaseTask {
	switch {
	case task.Failed != nil:
		return CaseTask{Action: task.Failed.Name, Lists: task.Lists, Offered: task.Failed.At}
	case task.OfCase:
		return CaseTask{Lists: task.Lists, Offered: c.Modified}
	case task.OfDraft:
		return CaseTask{Action: machine.DraftAction, Lists: task.Lists, Due: c.Draft.Ends, Offered: c.Created}
	}
	a := &r.Actions[task.Action]
	due := task.Enabled.DueBy()
	return CaseTask{
		Action: a.Name, Lists: task.Lists, Roles: machine.TaskRoles(c, r, a), Due: due, Offered: task.Enabled.Since,
		Optional: a.Type == route.TypeCancel && task.Enabled.State == machine.Offered && due.IsZero(),
	}
}

// onlyFor names the user whose deputy the reader is if the reader would have none of the
// tasks without that.
func (l *lister) onlyFor(c *machine.Case, r *route.Route, tasks []CaseTask) string {
	if len(l.actor.DeputyFor) == 0 || len(tasks) == 0 {
		return ""
	}
	alone := l.actor
	alone.DeputyFor = nil
	if len(machine.Tasks(c, r, alone)) > 0 {
		return ""
	}
	for _, absent := range l.actor.DeputyFor {
		alone.DeputyFor = []machine.Absent{absent}
		if len(machine.Tasks(c, r, alone)) > 0 {
			return absent.Name
		}
	}
	return ""
}
