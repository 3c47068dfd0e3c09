package engine

import (
	"slices"
	"time"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/schedule"
	"flowdrive/store"
)

// troubleSkipped is that an entry has passed over instants, as its policies ask for
// (docs/contract/routes.md#instants-that-were-skipped).
const troubleSkipped = "skipped"

// skips tells people within a unit of instants that schedule entries have passed over.
type skips struct {
	*decider
	tx store.Tx
}

// skippedInstant is an instant for which an entry has not created a case.
type skippedInstant struct {
	at     time.Time
	reason string
	ended  bool      // it was the last of the entry
	now    time.Time // when that was found
}

// missed tells of the instants that were missed by an entry whose misfire is to skip them.
// That others were excluded, or missed while it was paused, is what people have asked for,
// and known to them.
func (e *skips) missed(f *firing, now time.Time) error {
	if f.entry.Misfire != schedule.MisfireSkip {
		return nil
	}
	for _, instant := range slices.Backward(f.step.Skipped) {
		if instant.After(f.entry.Modified) {
			return e.add(&f.loadedEntry, skippedInstant{instant, reasonMissed, f.step.Ended, now})
		}
	}
	return nil
}

// add notes that an entry has passed over an instant. People are told of the first of a
// day: an entry can skip every other instant for ever.
func (e *skips) add(l *loadedEntry, skipped skippedInstant) error {
	rows, err := e.tx.Troubles().OfEntry(l.row.UUID)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Name != troubleSkipped {
			continue
		}
		told, err := readTrouble(&rows[i])
		if err != nil {
			return err
		}
		told.Seen, told.Text, told.Instant = true, skipped.reason, skipped.at
		rows[i].Data = document.Line(told)
		return e.tx.Write().Troubles().Update(&rows[i])
	}
	told := &trouble{What: notice.WhatSkipped, Text: skipped.reason, Since: skipped.now, Instant: skipped.at}
	row := &store.Trouble{Entry: l.row.UUID, Name: troubleSkipped, Due: againAt(skipped.now), Data: document.Line(told)}
	if _, err := e.addTrouble(e.tx, row); err != nil || e.away.Load().has(skipped.at) {
		return err // people were told of all that the server has missed
	}
	return e.tellOf(l, told, skipped)
}

// again tells people of the latest instant that an entry has passed over since they were
// told, or forgets it if there was none.
func (e *skips) again(row *store.Trouble, told *trouble, now time.Time) error {
	stored, err := store.OrNil(e.tx.Entries().Get(row.Entry))
	if err != nil {
		return err
	}
	if stored == nil || !told.Seen {
		return e.tx.Write().Troubles().Delete(row.ID)
	}
	entry, err := e.readForm(stored)
	if err != nil {
		return err
	}
	told.Seen = false
	row.Data = document.Line(told)
	if err := e.tx.Write().Troubles().Update(row); err != nil {
		return err
	}
	return e.tellOf(&loadedEntry{stored, entry}, told, skippedInstant{now: now})
}

func (e *skips) tellOf(l *loadedEntry, told *trouble, skipped skippedInstant) error {
	n := told.notice(told.What.Kind(), skipped.now)
	var err error
	if n.Entry, err = noticeEntry(e.tx, l.row, l.entry); err != nil {
		return err
	}
	n.People, n.Trouble.Ended = e.concernedByEntry(l.row), skipped.ended
	return e.tell(e.tx, n, e.postLoose(e.tx, skipped.now))
}
