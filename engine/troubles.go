package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/account"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// toldAgainAfter is after how long people are told again of what is still wrong
// (docs/contract/routes.md#what-is-wrong).
const toldAgainAfter = 24 * time.Hour

// trouble is something that is wrong, as it is stored until it is mended.
type trouble struct {
	What    notice.What   `json:"what"`
	Word    string        `json:"word,omitempty"`
	Text    string        `json:"text"`
	Output  string        `json:"output,omitempty"`
	Task    string        `json:"task,omitempty"`
	Holders []string      `json:"holders,omitempty"` // parties who have the task that it is about
	Since   time.Time     `json:"since"`
	Instant time.Time     `json:"instant,omitzero"`
	Told    []identity.ID `json:"told"` // who is told when it is mended
	Skips   bool          `json:"skips,omitempty"`
	Outputs []string      `json:"outputs,omitempty"` // of what may be skipped
	Like    *likeBefore   `json:"like,omitempty"`    // it was not told of, since an earlier one was
	// Alike counts the other cases of the same schedule entry in which it is wrong, of which
	// people are told with this one. OverIn are the first of the cases in which it was wrong
	// and is over, and OverCount is how many these are: people are told of the end with the last.
	Alike     int             `json:"alike,omitempty"`
	OverIn    []notice.OverIn `json:"overIn,omitempty"`
	OverCount int             `json:"overCount,omitempty"`
	Usual     *usualTime      `json:"usual,omitempty"`
	Gone      bool            `json:"gone,omitempty"`   // the case does not warn of the handler any more, or a hook refuses no more: nobody is told again
	Target    string          `json:"target,omitempty"` // the text, if the context or the route of the entry was the cause: it may be mended before the entry fires
	Quiet     bool            `json:"quiet,omitempty"`  // a hook refuses again, and nobody was told of that so far
	Seen      bool            `json:"seen,omitempty"`   // it was there after people were told of it

	Why   map[identity.ID]machine.Reason `json:"why,omitempty"` // of those who were told
	Delay *machine.Delay                 `json:"delay,omitempty"`
}

// named is a trouble with its name within its case.
type named struct {
	name string
	trouble
}

// The names of troubles.
const (
	troubleFailure = "failure "
	troubleTimer   = store.OverdueTrouble
	troubleNobody  = "nobody "
	troubleFiring  = "firing"
	troubleDelay   = "delay "
	troubleHandler = "handler "

	everyTrouble = "" // of what is over with the case itself: whatever is wrong with it
)

// againAt returns when people are told again of what they are told of now: a day later,
// at the full hour before that, so that what went wrong in the same hour is told of in
// one mail.
func againAt(now time.Time) time.Time { return now.Add(toldAgainAfter).Truncate(time.Hour) }

// notice returns the notice of a trouble. The caller sets what it is about.
func (t *trouble) notice(kind notice.Kind, now time.Time) *notice.Notice {
	return &notice.Notice{
		Kind: kind, Time: now,
		Trouble: &notice.Trouble{What: t.What, Word: t.Word, Text: t.Text, Output: t.Output, Task: t.Task, Since: t.Since, Instant: t.Instant, Delay: t.Delay, Skips: t.Skips, Outputs: t.Outputs, Once: t.Gone, Alike: t.Alike, OverIn: t.OverIn, OverCount: t.OverCount},
	}
}

// open returns what is wrong with a case since its change.
func (c *caseChange) open() (out []named) {
	for i := range c.failures {
		f := &c.failures[i]
		if f.Handled {
			continue
		}
		if f.Handler != "" {
			out = append(out, named{troubleHandler + f.Handler, trouble{What: notice.WhatHandler, Text: f.Text, Gone: !c.after.FailedHandler(f.Handler)}})
			continue
		}
		t := trouble{What: notice.WhatFailed, Text: f.Text, Output: f.Output, Task: f.Name}
		if t.Skips = isEscalated(c.after, f.Name); t.Skips {
			t.Outputs = c.outputsOf(f.Name)
		}
		if f.Name == "" {
			t.What = notice.WhatUnstarted
		}
		out = append(out, named{troubleFailure + f.Name, t})
	}
	for _, o := range machine.LateDeliveries(c.after) {
		if !isLate(c.was, o.Name()) {
			out = append(out, named{troubleDelay + o.Name(), trouble{What: notice.WhatDelayed, Text: o.Delay.Last, Delay: o.Delay}})
		}
	}
	before := machine.OverdueTimers(c.was, c.route)
	for _, o := range machine.OverdueTimers(c.after, c.route) {
		if !hasOverdue(before, o.Name) {
			out = append(out, named{troubleTimer + o.Name, trouble{What: notice.WhatOverdue, Word: o.Word, Text: o.Text, Task: o.Action, Holders: o.Holders}})
		}
	}
	return slices.Concat(out, c.unevaluatedSince(), c.unstaffedSince(), c.suspension())
}

// outputsOf returns the outputs of an action, of which one must be given to have it count as done.
func (c *caseChange) outputsOf(action string) (names []string) {
	if at := c.route.Action(action); at != route.NoAction {
		for _, o := range c.route.Actions[at].Outputs {
			names = append(names, o.Name)
		}
	}
	return names
}

func isEscalated(c *machine.Case, action string) bool {
	return slices.ContainsFunc(c.Enabled, func(e machine.Enabled) bool { return e.Action == action && e.State == machine.Escalated })
}

func isLate(c *machine.Case, name string) bool {
	return slices.ContainsFunc(machine.LateDeliveries(c), func(o *machine.Outgoing) bool { return o.Name() == name })
}

func hasOverdue(list []machine.Overdue, name string) bool {
	return slices.ContainsFunc(list, func(o machine.Overdue) bool { return o.Name == name })
}

// noteTroubles stores what has gone wrong with the case, and adds the notices of it
// and of what was mended.
func (t *notifier) noteTroubles() error {
	c := t.change
	if over := c.over(); len(over) > 0 {
		if err := t.endTroubles(over); err != nil {
			return err
		}
	}
	for _, each := range c.open() {
		if err := t.beginTrouble(each); err != nil {
			return err
		}
	}
	return t.mendEarlier()
}

// beginTrouble stores that something is wrong, and adds the notice of it, unless it
// is known already.
func (t *notifier) beginTrouble(n named) error {
	now := t.change.after.Modified
	n.Since = now
	people, err := t.concernedBy(&n.trouble)
	if err != nil {
		return err
	}
	if n.Like, err = t.toldBefore(&n, people); err != nil {
		return err
	}
	if n.Like == nil && !n.isQuiet() {
		n.addTold(t.accounts.Table(), people)
	}
	row := troubleOfCase(t.change, n.name, &n.trouble)
	if row.Due = againAt(now); n.Like != nil {
		row.Due = n.Like.again(now)
	}
	if known, err := t.addTrouble(t.tx, row); err != nil {
		return err
	} else if known {
		if err := t.failsAgain(&n); err != nil {
			return err
		}
		t.endsAgain(&n, people)
		return nil
	}
	if n.Like != nil {
		if err := t.joins(n.Like); err != nil {
			return err
		}
	}
	told := t.about(&n.trouble, n.What.Kind(), now)
	told.People = people
	isTold := n.Like == nil && !n.isQuiet()
	if n.What == notice.WhatFailed || isTold && told.Kind == notice.KindFailure {
		t.tellInstead(told, isTold)
	}
	if isTold {
		t.notices = append(t.notices, told)
	}
	return nil
}

// failsAgain stores why something has failed again that is known to fail: people are told
// that when they are told again.
func (t *notifier) failsAgain(n *named) error {
	rows, err := t.tx.Troubles().OfCase(t.change.row.ID)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Name != n.name {
			continue
		}
		known, err := readTrouble(&rows[i])
		if err != nil || n.What != notice.WhatFailed && n.What != notice.WhatHandler || known.same(&n.trouble) {
			return err
		}
		known.Text, known.Output, known.Skips, known.Outputs, known.Gone = n.Text, n.Output, n.Skips, n.Outputs, n.Gone
		rows[i].Data = document.Line(known)
		return t.tx.Write().Troubles().Update(&rows[i])
	}
	return nil
}

// endsAgain sees to it that a case which was tried again, and has ended by failing again, is
// told as what has failed, with its reason, and not as a case that has ended.
func (t *notifier) endsAgain(n *named, people []notice.Person) {
	ended := func(of *notice.Notice) bool {
		return of.Kind == notice.KindOutcome && of.Case.ID == t.change.row.ID && of.Case.Shown() == machine.Failed
	}
	if n.What != notice.WhatFailed || !slices.ContainsFunc(t.notices, ended) {
		return
	}
	told := t.about(&n.trouble, notice.KindFailure, t.change.after.Modified)
	told.People, told.Trouble.Again = people, true
	t.tellInstead(told, true)
	t.notices = append(t.notices, told)
}

// same reports whether people would be told the same of what has failed again.
func (t *trouble) same(again *trouble) bool {
	return t.Text == again.Text && t.Output == again.Output && t.Gone == again.Gone
}

// about returns the notice of something that is or was wrong with the case, without
// the people who are told.
func (t *notifier) about(of *trouble, kind notice.Kind, now time.Time) *notice.Notice {
	n := of.notice(kind, now)
	n.Case, n.Title, n.Name = t.change.after, t.taskTitle, t.userName
	if t.change.notices != nil {
		n.Acts, n.ActsCase = t.change.notices.Acts, t.change.row.ID
	}
	c := &concerned{decider: t.decider, table: t.accounts.Table()}
	c.admins(t.change.after.RouteID, false)
	for i := range c.people {
		n.Trouble.Menders = append(n.Trouble.Menders, t.userName(string(c.people[i].Name)))
	}
	return n
}

// tellInstead sees to it that nobody is told twice in one event in which something has
// failed. Who is told of it is not told as well what was done, or that the case has
// ended by it. If that mail is sent, it has the tasks that it gives to the person. A mail of the steps of onError is the route's own: it tells of the end of
// the case, but not how to mend what has failed.
func (t *notifier) tellInstead(failure *notice.Notice, isTold bool) {
	byRoute := t.mailedOnError()
	mailed := func(p notice.Person) bool { return slices.Contains(byRoute, strings.ToLower(p.Email)) }
	for _, n := range t.notices {
		if n.Trouble != nil || n.Case.ID != t.change.row.ID {
			continue
		}
		if n.Kind == notice.KindTask || n.Kind == notice.KindReminder {
			if isTold {
				t.moveTasks(n, failure)
			}
			continue
		}
		handler := failure.Trouble.What == notice.WhatHandler && n.Kind == notice.KindAct
		if handler || n.Kind == notice.KindOutcome && n.Case.Shown() == machine.Failed {
			n.Better = failure
		}
		n.People = slices.DeleteFunc(n.People, func(p notice.Person) bool {
			told := func(other notice.Person) bool { return other.Name == p.Name && t.wants(&other, failure.Kind) }
			return n.Better != nil && mailed(p) || slices.ContainsFunc(failure.People, told)
		})
	}
}

// moveTasks has those who are told of a failure learn by that what they have got to do, and
// not by a mail of its own.
func (t *notifier) moveTasks(tasks, failure *notice.Notice) {
	tasks.People = slices.DeleteFunc(tasks.People, func(p notice.Person) bool {
		at := slices.IndexFunc(failure.People, func(other notice.Person) bool { return other.Name == p.Name })
		if at < 0 || len(p.Behalf) > 0 || !t.wants(&failure.People[at], failure.Kind) {
			return false
		}
		to := &failure.People[at]
		for _, task := range p.Tasks {
			if !slices.Contains(to.Tasks, task) {
				to.Notice.Tasks = append(to.Notice.Tasks, task)
			}
		}
		return true
	})
}

// mailedOnError returns the addresses, in lower case, to which the steps of onError
// send mails in this event.
func (t *notifier) mailedOnError() (addresses []string) {
	c := t.change
	for i := range c.postings {
		p := &c.postings[i]
		asked := func(o machine.Outgoing) bool { return o.Seq == p.Seq && o.Step == p.Step && o.OfError }
		if p.Request != nil && p.Request.Mail != nil && slices.ContainsFunc(c.after.Outbox, asked) {
			for _, to := range p.Request.Mail.To {
				addresses = append(addresses, strings.ToLower(to))
			}
		}
	}
	return addresses
}

// wants reports whether a person gets mails of that kind.
func (t *notifier) wants(p *notice.Person, kind notice.Kind) bool {
	return mailed(t.accounts.Table().ByName(identity.User, string(p.Name)), kind)
}

// addTrouble stores something that is wrong, and reports whether it was known.
func (e *decider) addTrouble(tx store.Tx, row *store.Trouble) (known bool, err error) {
	err = store.Savepoint(tx, func() error { return tx.Write().Troubles().Insert(row) })
	if errs.Is(err, errs.NameTaken) {
		return true, nil
	}
	due := row.Due
	tx.AfterCommit(func() { e.sweeper.note(due) })
	return false, err
}

// hasFailed reports whether the delivery of that name has failed for good.
func (t *notifier) hasFailed(name string) bool {
	return slices.ContainsFunc(t.change.after.AllUndone(), func(u *machine.Undone) bool { return u.Name == name })
}

// actors returns the people whose doing the event is, each once. The init action of a case
// that is started again, or later, is by its starter, and not the starter's doing.
func (t *notifier) actors() (names []string) {
	if t.by != "" {
		return []string{t.by}
	}
	log := t.change.log
	for i := range log {
		if init := log[i].Trigger; init != nil && *init == machine.ByInit && t.change.was != nil {
			continue
		}
		if by := log[i].Actor; by != nil && *by != machine.ActorTimer && !slices.Contains(names, *by) {
			names = append(names, *by)
		}
	}
	return names
}

// knows reports whether a person knows by the event itself that something is over:
// they did it, or are told of the event anyway. That notice says it then.
func (t *notifier) knows(p *notice.Person, over *notice.Trouble) bool {
	if slices.ContainsFunc(t.actors(), func(by string) bool { return identity.Fold(by) == identity.Fold(string(p.Name)) }) {
		return true
	}
	for _, n := range t.notices {
		at := slices.IndexFunc(n.People, func(other notice.Person) bool { return other.Name == p.Name })
		if n.Case.ID == t.change.row.ID && at >= 0 && t.wants(p, n.Kind) {
			n.People[at].Over = append(n.People[at].Over, over)
			return true
		}
	}
	return false
}

// saysMore reports whether a notice tells services of the event by which something in
// the case is over: that it is, is told with it.
func (t *notifier) saysMore(n *notice.Notice) bool {
	return n.Trouble == nil && n.Case.ID == t.change.row.ID && (n.Kind == notice.KindAct || n.Kind == notice.KindOutcome)
}

func readTrouble(row *store.Trouble) (*trouble, error) {
	t := new(trouble)
	return t, errs.Wrap("read what is wrong", json.Unmarshal(row.Data, t))
}

// fireTrouble tells people again of what is still wrong.
func (e *Engine) fireTrouble(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	row, err := store.OrNil(tx.Troubles().Get(item.ID))
	if err != nil || row == nil || row.Due.After(b.now) {
		return time.Time{}, false, err
	}
	told, err := readTrouble(row)
	if err != nil {
		return time.Time{}, false, err
	}
	for row.Due = row.Due.Add(toldAgainAfter); !row.Due.After(b.now); {
		row.Due = row.Due.Add(toldAgainAfter) // the server was down: once for all of it
	}
	switch {
	case row.CaseID != 0:
		err = e.decider.tellCaseAgain(tx, row, told, b.now)
	case row.Hook != 0:
		err = e.Hooks.tellAgain(tx, row, told, b.now)
	case row.Hold != 0:
		err = (&holdTroubles{e.decider, tx}).again(row, told, b.now)
	case row.Name == troubleDaysOff:
		err = (&daysOffTroubles{e.decider, tx}).look(e.Calendars, row, told, b.now)
	default:
		err = e.decider.tellEntryAgain(tx, row, told, b.now)
	}
	return row.Due, false, err
}

// stopTrouble forgets something that is wrong and cannot be told again.
func stopTrouble(tx store.Tx, row store.DueRow) error { return tx.Write().Troubles().Delete(row.ID) }

// tellCaseAgain tells people again of what is wrong with a case. That nobody can do
// a task may have been mended elsewhere.
func (e *decider) tellCaseAgain(tx store.Tx, row *store.Trouble, told *trouble, now time.Time) error {
	stored, err := tx.Cases().Get(row.CaseID)
	if err != nil {
		return err
	}
	h, err := e.loadRow(tx, identity.Principal{}, stored, nil)
	if err != nil {
		return err
	}
	c := &caseChange{row: *h.row, after: h.core, was: h.core, route: h.route.Compiled}
	const apart = 10_000_000_000 // what is told at the same instant of the case is kept under another name
	t := &notifier{
		decider: e, tx: tx, change: c, posted: int(row.ID*apart + now.Unix()), at: now,
		recipientCases: map[int64]*recipientCase{row.CaseID: {h.core, c}},
	}
	if told.Gone {
		_, err := t.leaveAgain(row, told)
		return err
	}
	if like, err := t.stillLike(row, told); like || err != nil {
		if err != nil {
			return err
		}
		return tx.Write().Troubles().Update(row)
	}
	told.Like = nil
	if told.Usual != nil {
		return t.tellSlow(row, told)
	}
	kind := told.What.Kind()
	var people []notice.Person
	if name, isTask := strings.CutPrefix(row.Name, troubleNobody); isTask && !e.stillUnstaffed(c, name) {
		if shared, err := t.leaveAgain(row, told); shared || err != nil {
			return err
		}
		kind = notice.KindMended
		if people, err = t.toldOf(told); err != nil {
			return err
		}
	} else {
		if people, err = t.concernedBy(told); err != nil {
			return err
		}
		told.addTold(e.accounts.Table(), people)
		row.Data = document.Line(told)
		if err := tx.Write().Troubles().Update(row); err != nil {
			return err
		}
	}
	for _, o := range machine.LateDeliveries(h.core) {
		if row.Name == troubleDelay+o.Name() {
			told.Delay = o.Delay
		}
	}
	n := t.about(told, kind, now)
	if n.People, n.Trouble.Again = people, kind != notice.KindMended; told.Alike > 0 {
		if n.Trouble.LastAlike, err = t.lastAlike(row); err != nil {
			return err
		}
	}
	return t.tell(n)
}

// addTold adds people who have been told, and why.
func (t *trouble) addTold(table *account.Table, people []notice.Person) {
	for i := range people {
		p := table.ByName(identity.User, string(people[i].Name))
		if p == nil {
			continue
		}
		if !slices.Contains(t.Told, p.ID) {
			t.Told = append(t.Told, p.ID)
		}
		if t.Why == nil {
			t.Why = map[identity.ID]machine.Reason{}
		}
		t.Why[p.ID] = people[i].Why
	}
}
