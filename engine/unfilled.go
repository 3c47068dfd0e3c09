package engine

import (
	"slices"
	"strings"
	"time"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/schedule"
	"flowdrive/store"
)

// troubleUnfilled is that the last case of an entry has labels as they are written, which its
// route may decide on. It is over when a case has none
// (docs/contract/routes.md#labels-that-nothing-has-filled).
const troubleUnfilled = "unfilled"

// unfilled tells people within a unit of cases that have labels as they are written.
type unfilled struct {
	*decider
	tx store.Tx
}

// fired notes with what labels as they are written an entry has created its case. Those who
// have the entry and the administrators of its route are told of the first such case, and of
// the first without.
func (e *unfilled) fired(f *firing, left []string, now time.Time) error {
	was := f.entry.Unfilled
	f.entry.SetUnfilled(strings.Join(left, "; "))
	switch {
	case len(left) == 0 && len(was) == 0:
		return nil
	case len(left) == 0:
		return e.over(&f.loadedEntry, now)
	}
	told := &trouble{What: notice.WhatUnfilled, Text: strings.Join(left, "; "), Since: now, Instant: f.step.Instant}
	people := e.concernedByEntry(f.row)
	told.addTold(e.accounts.Table(), people)
	row := &store.Trouble{Entry: f.row.UUID, Name: troubleUnfilled, Due: againAt(now), Data: document.Line(told)}
	if known, err := e.addTrouble(e.tx, row); known || err != nil {
		return err
	}
	n := told.notice(told.What.Kind(), now)
	var err error
	if n.Entry, err = noticeEntry(e.tx, f.row, f.entry); err != nil {
		return err
	}
	n.People, n.Trouble.Ended = people, f.step.Ended
	return e.tell(e.tx, n, e.postLoose(e.tx, now))
}

// over tells those who were told that the entry has created a case without.
func (e *unfilled) over(of *loadedEntry, now time.Time) error {
	rows, err := e.tx.Troubles().OfEntry(of.row.UUID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(rows, func(row store.Trouble) bool { return row.Name == troubleUnfilled })
	if at < 0 {
		return nil
	}
	_, err = (&deeds{e.decider, e.tx}).endTrouble(&rows[at], *of, entryOver{at: now})
	return err
}

// notFilled says which labels the last case of an entry has as they are written.
func notFilled(_ *store.Entry, form *schedule.Entry, _ *trouble) string {
	return strings.Join(form.Unfilled, "; ")
}
