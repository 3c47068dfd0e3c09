package engine

import (
	"path"
	"strings"
	"time"

	"flowdrive/engine/calendar"
	"flowdrive/engine/files"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/schedule"
	"flowdrive/store"
)

// troubleDaysOff is that the calendar of a schedule entry cannot be used. It is due at once when
// the calendar changes, and looked at by the sweeper: a calendar that is a file cannot be read in
// the unit that changes it. Until then its text is empty
// (docs/contract/routes.md#calendars-that-cannot-be-used).
const troubleDaysOff = "days off"

// daysOffTroubles tells people within a unit of calendars that cannot be used.
type daysOffTroubles struct {
	*decider
	tx store.Tx
}

// changed has the entries looked at whose calendar was changed, or stands below a folder that was.
func (e *daysOffTroubles) changed(c files.Published) error {
	if !c.Document.Folder && !strings.EqualFold(path.Ext(c.Path[len(c.Path)-1]), ".ics") {
		return nil
	}
	last := document.AppendString(nil, "/"+c.Path[len(c.Path)-1])
	entries, err := e.tx.Entries().Holding(string(last[1 : len(last)-1]))
	if err != nil {
		return err
	}
	for i := range entries {
		entry, err := e.readForm(&entries[i])
		if err != nil {
			return err
		}
		if !below(entry.ExcludeCalendar, c.Path) {
			continue
		}
		kept := trouble{What: notice.WhatDaysOff, Since: c.Time}
		row := &store.Trouble{Entry: entries[i].UUID, Name: troubleDaysOff, Due: c.Time, Data: document.Line(&kept)}
		known, err := e.addTrouble(e.tx, row)
		if known && err == nil {
			err = e.lookIfKnown(entries[i].UUID, c.Time)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookIfKnown has an entry looked at again of whose calendar it is known that something may be
// wrong with it.
func (e *daysOffTroubles) lookIfKnown(uuid store.UUID, now time.Time) error {
	rows, err := e.tx.Troubles().OfEntry(uuid)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Name != troubleDaysOff {
			continue
		}
		rows[i].Due = now
		e.tx.AfterCommit(func() { e.sweeper.note(now) })
		return e.tx.Write().Troubles().Update(&rows[i])
	}
	return nil
}

// look finds out whether the calendar of an entry can be used. People are told if it cannot,
// again after a day, and when it can. Nobody is told while the entry is paused.
func (e *daysOffTroubles) look(calendars *calendar.Calendars, row *store.Trouble, told *trouble, now time.Time) error {
	stored, err := store.OrNil(e.tx.Entries().Get(row.Entry))
	if err != nil {
		return err
	}
	if stored == nil {
		return e.tx.Write().Troubles().Delete(row.ID)
	}
	entry, wrong, err := calendars.ReadEntry(e.tx, stored, now)
	switch {
	case err != nil:
		return err
	case wrong == nil && told.Text == "":
		return e.tx.Write().Troubles().Delete(row.ID)
	case wrong == nil:
		_, err := (&deeds{e.decider, e.tx}).endTrouble(row, loadedEntry{stored, entry}, entryOver{at: now})
		return err
	case !stored.Paused.IsZero():
		return e.tx.Write().Troubles().Update(row)
	}
	again, text := told.Text != "", calendar.DetailOf(wrong)
	if again && now.Before(told.Instant) { // another change has it looked at before the day is over
		told.Text, row.Due = text, told.Instant
		row.Data = document.Line(told)
		return e.tx.Write().Troubles().Update(row)
	}
	if again && entry.LastError == text { // people are told each day that it has not started a case for that
		return e.tx.Write().Troubles().Update(row)
	}
	if !again {
		told.Since, row.Due = now, againAt(now)
	}
	told.Text, told.Instant = text, row.Due // when people are told again, however often it is looked at
	n := told.notice(told.What.Kind(), now)
	n.Trouble.Instant, n.Trouble.Again = time.Time{}, again
	return (&deeds{e.decider, e.tx}).tellOfEntry(row, told, n, loadedEntry{stored, entry})
}

// noDaysOff says why the calendar of an entry cannot be used.
func noDaysOff(stored *store.Entry, form *schedule.Entry, told *trouble) string {
	if !stored.Paused.IsZero() || form.LastError == told.Text { // that it has not started a case for that is said
		return ""
	}
	return told.Text
}
