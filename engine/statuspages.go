package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/status"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// The pages of Workflow/Status/.
const (
	StatusOverview = "overview"
	StatusWeek     = "week"
	StatusLate     = "late"
	StatusRefused  = "refused"
)

// Bounds of the pages, so that they take no longer the more there is.
const (
	mostWeekEntries = 500  // entries of a week
	mostLateCases   = 5000 // cases that are looked at
	mostLateItems   = 1000
)

// Page returns a page of that name about everything that by has a part in. Errors:
// errs.NotFound if there is no such page.
func (e *Status) Page(ctx context.Context, by identity.Principal, name string) (*StatusFile, error) {
	look := e.look(by)
	pages := map[string]func() (statusPage, error){
		StatusOverview: func() (statusPage, error) { return look.overview(ctx) },
		StatusWeek:     func() (statusPage, error) { return look.week(ctx) },
		StatusLate:     func() (statusPage, error) { return look.late(ctx) },
		StatusRefused:  func() (statusPage, error) { return look.refused(ctx) },
	}
	write := pages[name]
	if write == nil {
		return nil, change.Absent("page")
	}
	return look.keep(name, func() (*StatusFile, error) {
		page, err := write()
		if err != nil {
			return nil, err
		}
		return newStatusFile(name, page, e.Clock.Now().UTC().Truncate(time.Second)), nil
	})
}

// Late returns what is late or has failed, as far as by has a part in it.
func (e *Status) Late(ctx context.Context, by identity.Principal) (*status.Late, error) {
	return e.look(by).late(ctx)
}

// entryNames returns the names of the files of entries.
func (l *statusLook) entryNames(r store.Reader, entries []store.Entry) (map[store.UUID]string, error) {
	uuids := make([]store.UUID, len(entries))
	names := make(map[store.UUID]string, len(entries))
	for i := range entries {
		uuids[i] = entries[i].UUID
		names[uuids[i]] = uuids[i].String()
	}
	given, err := r.Names().List(store.FolderSchedule, uuids, nil)
	for i := range given {
		names[given[i].Entry] = l.nameFor(given[i].Entry, given[i].Author, given[i].Name)
	}
	return names, err
}

// week returns the grid of the coming week: what the entries of the user's contexts
// do.
func (l *statusLook) week(ctx context.Context) (statusPage, error) {
	w := status.NewWeek(l.zone, l.Clock.Now())
	err := l.Store.View(ctx, func(r store.Reader) error {
		entries, err := r.Entries().Upcoming(l.by.Contexts(), w.End(), mostWeekEntries+1)
		if err != nil {
			return err
		}
		if w.More = max(0, len(entries)-mostWeekEntries); w.More > 0 {
			entries = entries[:mostWeekEntries]
		}
		names, err := l.entryNames(r, entries)
		if err != nil {
			return err
		}
		for i := range entries {
			entry, _, err := l.schedules.calendars.ReadForView(ctx, r, &entries[i])
			if err != nil {
				return err
			}
			w.Add(names[entries[i].UUID], entry)
		}
		w.Sort()
		return nil
	})
	return w, err
}

// overview returns how things stand for the user.
func (l *statusLook) overview(ctx context.Context) (statusPage, error) {
	o := &status.Overview{Zone: l.zone, User: string(l.by.Name), Sandbox: l.sandbox, Cases: map[machine.Life]int{}}
	err := l.countTasks(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Late, err = l.late(ctx); err != nil {
		return nil, err
	}
	cases, err := l.cases.Cases(ctx, l.by, Filter{OwnOnly: true, Unfinished: true})
	if err != nil {
		return nil, err
	}
	for i := range cases {
		if !l.givenUp[cases[i].Seq] {
			o.Cases[machine.Life(cases[i].State)]++
		}
	}
	return o, l.overviewEntries(ctx, o)
}

// countTasks counts the tasks on the user's worklists. It renders none of them: there may be
// thousands.
func (l *statusLook) countTasks(ctx context.Context, o *status.Overview) error {
	cases, err := l.worklists.TaskCases(ctx, l.by)
	until := l.worklists.endOfDay(l.by)
	for _, c := range cases {
		for i := range c.Tasks {
			t := &c.Tasks[i]
			if t.Lists&machine.OnOffered != 0 && !t.Optional {
				o.Offered++
			}
			if t.Lists&machine.OnAccepted != 0 {
				o.Accepted++
			}
			if t.Lists&WorklistToday.list() != 0 && !t.Due.IsZero() && t.Due.Before(until) {
				o.Today++
			}
		}
	}
	return err
}

// mostOverviewEntries is up to how many entries of all users an administrator is told of.
const mostOverviewEntries = 1000

// overviewed returns the entries that the overview counts: those of the user's contexts, and for
// an administrator of the server those of all users, unless there are very many.
func (l *statusLook) overviewed(r store.Reader) (entries []store.Entry, ofAll bool, err error) {
	if l.by.Admin() {
		entries, err = r.Entries().List(store.EntryFilter{Limit: mostOverviewEntries + 1})
		if err != nil || len(entries) <= mostOverviewEntries {
			return entries, true, err
		}
	}
	entries, err = r.Entries().List(store.EntryFilter{Contexts: l.by.Contexts()})
	return entries, false, err
}

// overviewEntries adds what entries do.
func (l *statusLook) overviewEntries(ctx context.Context, o *status.Overview) error {
	return l.Store.View(ctx, func(r store.Reader) error {
		entries, ofAll, err := l.overviewed(r)
		if err != nil {
			return err
		}
		o.AllEntries = ofAll
		names, err := l.entryNames(r, entries)
		if err != nil {
			return err
		}
		o.Entries = len(entries)
		for i := range entries {
			entry, err := l.readForm(&entries[i])
			if err != nil {
				return err
			}
			name := names[entries[i].UUID]
			disabled := !l.directory().Active(entries[i].ContextID)
			switch {
			case entry.Paused:
				o.Paused = append(o.Paused, name)
			case disabled:
				o.OwnerDisabled = append(o.OwnerDisabled, name)
			}
			if entry.LastError != "" {
				o.Failing = append(o.Failing, name)
			}
			if !entry.NextIteration.IsZero() && !disabled {
				o.Next = append(o.Next, status.NextFiring{At: entry.NextIteration, Name: name, Title: entry.Title})
			}
		}
		slices.SortStableFunc(o.Next, func(a, b status.NextFiring) int { return a.At.Compare(b.At) })
		o.Next = o.Next[:min(len(o.Next), status.MostUpcoming)]
		return nil
	})
}

// late returns what is late or has failed, of the user's tasks, the cases that the user
// started, and the routes that the user administers.
func (l *statusLook) late(ctx context.Context) (*status.Late, error) {
	late := &status.Late{Zone: l.zone}
	if l.by.Admin() {
		late.Untold = l.channels.untold(l.accounts.Table())
	}
	// Of an administrator of the server OwnOnly would leave out what has failed in the
	// routes that they administer.
	administered := l.rights.Administered(l.by)
	failed, err := l.cases.Cases(ctx, l.by, Filter{OwnOnly: len(administered) == 0, State: string(machine.Failed), Limit: mostLateCases})
	if err != nil {
		return nil, err
	}
	queued, err := l.cases.Cases(ctx, l.by, Filter{OwnOnly: true, State: string(machine.Queued), Limit: mostLateCases})
	if err != nil {
		return nil, err
	}
	for i := range queued {
		l.queued = append(l.queued, queued[i].Seq)
	}
	suspended, err := l.cases.Cases(ctx, l.by, Filter{OwnOnly: len(administered) == 0, State: string(machine.Suspended), Limit: mostLateCases})
	if err != nil {
		return nil, err
	}
	err = l.Store.View(ctx, func(r store.Reader) error {
		lists := machine.OwnLists | machine.WatchedWarnings | machine.WatchedEscalated
		filter := store.TaskFilter{Lists: lists, Parties: access.WithContexts(l.by, l.rights.Represented(l.by)), Routes: administered, Limit: mostLateCases}
		rows, err := r.Cases().Tasks().WithTasks(filter)
		if err != nil {
			return err
		}
		late.More = len(rows) == mostLateCases
		for i := range rows {
			if err := l.lateIn(r, &rows[i], late); err != nil {
				return err
			}
		}
		for i := range failed {
			if err := l.lateFailed(r, failed[i].Seq, late); err != nil {
				return err
			}
		}
		for i := range suspended {
			if err := l.lateSuspended(r, suspended[i].Seq, late); err != nil {
				return err
			}
		}
		return l.lateElsewhere(r, late)
	})
	late.Once()
	late.Sort()
	if len(late.Items) > mostLateItems {
		late.Items, late.More = late.Items[:mostLateItems], true
	}
	if len(late.Others) > mostLateItems {
		late.Others, late.More = late.Others[:mostLateItems], true
	}
	return late, err
}

// lateFailed adds a case that has failed, unless all that had failed in it was given up.
func (l *statusLook) lateFailed(r store.Reader, id int64, late *status.Late) error {
	row, err := store.OrNil(r.Cases().Get(id))
	if err != nil || row == nil {
		return err // nil: it has gone since it was listed
	}
	c, err := l.caseOf(r, row.Marking)
	if err != nil {
		return errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	if c.GivenUp() {
		l.givenUp[id] = true
		return nil
	}
	item := status.LateItem{Kind: status.LateFailed, Case: c.ID, Title: c.Title, Since: c.Modified}
	if c.Life == machine.Failed || c.HasFailures() {
		item.Who = []string{machine.PartyAdmins}
		if l.administers(row.RouteID) {
			item.May = status.LateMayStart
		}
	}
	if item.Text, err = whyUnstarted(l.cases.decider, r, c); err != nil {
		return err
	}
	if n := len(c.Warnings); n > 0 {
		item.Text = c.Warnings[n-1].Text
	}
	if item.Text == "" {
		item.Text = fmt.Sprintf("It has ended in the state %q.", c.Status)
	}
	late.Items = append(late.Items, item)
	return nil
}

// lateIn adds what is late in a case.
func (l *statusLook) lateIn(r store.Reader, row *store.Case, late *status.Late) error {
	c, err := l.caseOf(r, row.Marking)
	if err != nil {
		return errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	compiled, err := l.versionOf(r, c)
	if err != nil {
		return err
	}
	actor := l.rights.Actor(l.by, l.by.Admin())
	if info := l.rights.Route(c.RouteID); info != nil {
		actor.RouteAdmin = l.rights.Administers(l.by, info)
	}
	waits := machine.Waits(c, compiled)
	for _, task := range machine.Tasks(c, compiled, actor) {
		if task.OfDraft {
			continue // it is never late: it ends at its date
		}
		if !task.Assigned {
			seen, _, err := l.findCase(r, l.by, Ref{CaseID: row.ID})
			if err != nil {
				return err
			}
			if seen == nil {
				continue // tasks of the user's own are shown all the same
			}
		}
		l.lateTask(late, c, compiled, task, waits)
	}
	return nil
}

// lateTask adds what is late of a task.
func (l *statusLook) lateTask(late *status.Late, c *machine.Case, r *route.Route, task machine.Task, waits []machine.Wait) {
	item := status.LateItem{Case: c.ID, Title: c.Title}
	number := int64(0)
	var name string
	switch {
	case task.Failed != nil:
		name = task.Failed.Name
	case !task.OfCase:
		name, number = r.Actions[task.Action].Name, task.Enabled.Number
	}
	item.Action = name
	const mine = machine.OnOffered | machine.OnAccepted
	may := func(lists machine.Lists, may status.LateMay) {
		if item.May = status.LateMayNothing; task.Lists&lists != 0 {
			item.May = may
		}
	}
	if at := slices.IndexFunc(waits, func(w machine.Wait) bool { return w.Action == name }); at >= 0 {
		w := &waits[at]
		if item.What, item.Who, item.Since = status.Title(w), w.Who, w.Since; w.By != "" {
			item.Who = []string{w.By}
		}
		if w.State == machine.Escalated {
			item.Kind, item.Text = status.LateEscalated, w.Fault
			may(machine.OnEscalated, status.LateMayRetry)
			late.Items = append(late.Items, item)
		}
	}
	if task.Enabled != nil {
		if due := task.Enabled.DueBy(); !due.IsZero() && !due.After(l.Clock.Now()) {
			item.Kind, item.Since, item.Text = status.LateOverdue, due, ""
			if may(mine, status.LateMayPerform); item.May == status.LateMayNothing && l.administers(c.RouteID) {
				item.May = status.LateMayDate
			}
			late.Items = append(late.Items, item)
		}
	}
	if task.Failed != nil {
		return // its warning says the same
	}
	may(mine, status.LateMayPerform)
	for i := range c.Warnings {
		if w := &c.Warnings[i]; w.Enablement == number && (number != 0 || c.Undone(w.Timer) == nil) {
			item.Kind, item.Since, item.Text = status.LateWarning, w.Time, w.Text
			late.Items = append(late.Items, item)
		}
	}
}
