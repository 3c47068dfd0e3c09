package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
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
}

// named is a trouble with its name within its case.
type named struct {
	name string
	trouble
}

// The names of troubles.
const (
	troubleFailure = "failure "
	troubleTimer   = "timer "
	troubleNobody  = "nobody "
	troubleFiring  = "firing"
)

// notice returns the notice of a trouble. The caller sets what it is about.
func (t *trouble) notice(kind notice.Kind, now time.Time) *notice.Notice {
	return &notice.Notice{
		Kind: kind, Time: now,
		Trouble: &notice.Trouble{What: t.What, Word: t.Word, Text: t.Text, Output: t.Output, Task: t.Task, Since: t.Since, Instant: t.Instant},
	}
}

// open returns what is wrong with a case since its change.
func (c *caseChange) open() (out []named) {
	for i := range c.failures {
		f := &c.failures[i]
		if f.Handled {
			continue
		}
		t := trouble{What: notice.WhatFailed, Text: f.Text, Output: f.Output, Task: f.Name}
		if f.Name == "" {
			t.What = notice.WhatUnstarted
		}
		out = append(out, named{troubleFailure + f.Name, t})
	}
	before := machine.OverdueTimers(c.was, c.route)
	for _, o := range machine.OverdueTimers(c.after, c.route) {
		if !hasOverdue(before, o.Name) {
			out = append(out, named{troubleTimer + o.Name, trouble{What: notice.WhatOverdue, Word: o.Word, Text: o.Text, Task: o.Action, Holders: o.Holders}})
		}
	}
	return append(out, c.unstaffedSince()...)
}

// over returns the names of what was wrong with a case before its change and is not
// any more; all says that nothing is wrong with it any more, by whatever name.
func (c *caseChange) over() (over []string, all bool) {
	if c.was == nil {
		return nil, false
	}
	if c.after.Life == machine.Canceled && c.was.Life != machine.Canceled {
		return nil, true
	}
	for i := range c.mended {
		if c.mended[i].Name != "" { // a case that is to start again has not started yet
			over = append(over, troubleFailure+c.mended[i].Name)
		}
	}
	if c.was.Life == machine.Queued && c.was.LogSeq > 1 && c.after.Life != machine.Queued && c.after.Life != machine.Failed {
		over = append(over, troubleFailure)
	}
	after := machine.OverdueTimers(c.after, c.route)
	for _, o := range machine.OverdueTimers(c.was, c.route) {
		if !hasOverdue(after, o.Name) {
			over = append(over, troubleTimer+o.Name)
		}
	}
	return append(over, c.staffedSince()...), false
}

func hasOverdue(list []machine.Overdue, name string) bool {
	return slices.ContainsFunc(list, func(o machine.Overdue) bool { return o.Name == name })
}

// noteTroubles stores what has gone wrong with the case, and adds the notices of it
// and of what was mended.
func (t *notifier) noteTroubles() error {
	c := t.change
	over, all := c.over()
	if all || len(over) > 0 {
		if err := t.endTroubles(over, all); err != nil {
			return err
		}
	}
	for _, each := range c.open() {
		if err := t.beginTrouble(each); err != nil {
			return err
		}
	}
	return nil
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
	n.Told = idsOf(t.accounts.Table(), people)
	row := &store.Trouble{CaseID: t.change.row.ID, Name: n.name, Due: now.Add(toldAgainAfter), Data: document.Line(&n.trouble)}
	if known, err := t.addTrouble(t.tx, row); known || err != nil {
		return err
	}
	told := n.notice(n.What.Kind(), now)
	told.Case, told.People = t.change.after, people
	t.notices = append(t.notices, told)
	return nil
}

// addTrouble stores something that is wrong, and reports whether it was known.
func (e *decider) addTrouble(tx store.Tx, row *store.Trouble) (known bool, err error) {
	err = tx.Savepoint(func() error { return tx.Write().Troubles().Insert(row) })
	if errs.Is(err, errs.NameTaken) {
		return true, nil
	}
	due := row.Due
	tx.AfterCommit(func() { e.sweeper.note(due) })
	return false, err
}

// endTroubles forgets what is mended, and adds the notices of it: all that is wrong
// with the case, or what has one of those names.
func (t *notifier) endTroubles(over []string, all bool) error {
	rows, err := t.tx.Troubles().OfCase(t.change.row.ID)
	if err != nil {
		return err
	}
	for i := range rows {
		if !all && !slices.Contains(over, rows[i].Name) {
			continue
		}
		told, err := readTrouble(&rows[i])
		if err != nil {
			return err
		}
		if err := t.tx.Write().Troubles().Delete(rows[i].ID); err != nil {
			return err
		}
		n := told.notice(notice.KindMended, t.change.after.Modified)
		n.Case, n.Trouble.Canceled = t.change.after, all
		if n.People, err = t.toldOf(told); err != nil {
			return err
		}
		if all || told.What == notice.WhatOverdue {
			n.People = slices.DeleteFunc(n.People, t.knows)
		}
		t.notices = append(t.notices, n)
	}
	return nil
}

// knows reports whether a person knows by the event itself that something is over:
// they did it, or are told of it anyway.
func (t *notifier) knows(p notice.Person) bool {
	if t.change.notices == nil {
		return false
	}
	for i := range t.change.notices.Acts {
		if by := t.change.notices.Acts[i].Actor; by != nil && identity.Fold(*by) == identity.Fold(string(p.Name)) {
			return true
		}
	}
	return slices.ContainsFunc(t.notices, func(n *notice.Notice) bool {
		told := func(other notice.Person) bool { return other.Name == p.Name }
		return n.Trouble == nil && n.Case.ID == t.change.row.ID && slices.ContainsFunc(n.People, told)
	})
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
	if row.CaseID != 0 {
		err = e.decider.tellCaseAgain(tx, row, told, b.now)
	} else {
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
	t := &notifier{decider: e, tx: tx, change: c, posted: int(now.Unix())}
	kind := told.What.Kind()
	var people []notice.Person
	if name, isTask := strings.CutPrefix(row.Name, troubleNobody); isTask && !e.stillUnstaffed(c, name) {
		kind = notice.KindMended
		if people, err = t.toldOf(told); err != nil {
			return err
		}
		if err := tx.Write().Troubles().Delete(row.ID); err != nil {
			return err
		}
	} else {
		if people, err = t.concernedBy(told); err != nil {
			return err
		}
		told.addTold(idsOf(e.accounts.Table(), people))
		row.Data = document.Line(told)
		if err := tx.Write().Troubles().Update(row); err != nil {
			return err
		}
	}
	n := told.notice(kind, now)
	n.Case, n.People, n.Trouble.Again = h.core, people, true
	return t.tell(n)
}

// addTold adds people who have been told.
func (t *trouble) addTold(ids []identity.ID) {
	for _, id := range ids {
		if !slices.Contains(t.Told, id) {
			t.Told = append(t.Told, id)
		}
	}
}

// firingFailed notes that a schedule entry could not create its case. People are
// told once until it has created one; of the last instant they are told always.
func (e *decider) firingFailed(tx store.Tx, stored *store.Entry, n *notice.Notice) error {
	if !e.canNotify() {
		return nil
	}
	n.Trouble.What = notice.WhatUnstarted
	n.People = e.concernedByEntry(stored)
	if !n.Trouble.Ended {
		kept := trouble{What: n.Trouble.What, Text: n.Trouble.Text, Since: n.Time, Instant: n.Trouble.Instant, Told: idsOf(e.accounts.Table(), n.People)}
		row := &store.Trouble{Entry: stored.UUID, Name: troubleFiring, Due: n.Time.Add(toldAgainAfter), Data: document.Line(&kept)}
		if known, err := e.addTrouble(tx, row); known || err != nil {
			return err
		}
	}
	return e.tell(tx, n, e.postLoose(tx, n.Time))
}

// fired notes that a schedule entry has created a case.
func (e *decider) fired(tx store.Tx, stored *store.Entry, entry *schedule.Entry, now time.Time) error {
	rows, err := tx.Troubles().OfEntry(stored.UUID)
	if err != nil {
		return err
	}
	for i := range rows {
		told, err := readTrouble(&rows[i])
		if err != nil {
			return err
		}
		if err := tx.Write().Troubles().Delete(rows[i].ID); err != nil {
			return err
		}
		n := told.notice(notice.KindMended, now)
		n.Entry = noticeEntry(stored, entry)
		n.People = e.people(told.Told)
		if err := e.tell(tx, n, e.postLoose(tx, now)); err != nil {
			return err
		}
	}
	return nil
}

// tellEntryAgain tells people again that a schedule entry could not create its
// cases, unless somebody has paused it.
func (e *decider) tellEntryAgain(tx store.Tx, row *store.Trouble, told *trouble, now time.Time) error {
	stored, err := store.OrNil(tx.Entries().Get(row.Entry))
	if err != nil {
		return err
	}
	if stored == nil {
		return tx.Write().Troubles().Delete(row.ID)
	}
	entry, err := e.readForm(stored)
	if err != nil {
		return err
	}
	if !stored.Paused.IsZero() {
		return tx.Write().Troubles().Update(row)
	}
	if entry.LastError != "" {
		told.Text = entry.LastError // another PUT has taken it away, and it has not fired since
	}
	n := told.notice(notice.KindFailure, now)
	n.Entry, n.People, n.Trouble.Again = noticeEntry(stored, entry), e.concernedByEntry(stored), true
	told.addTold(idsOf(e.accounts.Table(), n.People))
	row.Data = document.Line(told)
	if err := tx.Write().Troubles().Update(row); err != nil {
		return err
	}
	return e.tell(tx, n, e.postLoose(tx, now))
}

// forgetEntry forgets what is wrong with a schedule entry that is deleted.
func forgetEntry(tx store.Tx, uuid store.UUID) error {
	rows, err := tx.Troubles().OfEntry(uuid)
	for i := range rows {
		if err == nil {
			err = tx.Write().Troubles().Delete(rows[i].ID)
		}
	}
	return err
}

func noticeEntry(stored *store.Entry, entry *schedule.Entry) *notice.Entry {
	title := entry.Title
	if title == "" {
		title = entry.Route
	}
	return &notice.Entry{UUID: stored.UUID.String(), Title: title, Route: entry.Route}
}
