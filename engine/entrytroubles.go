package engine

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
	"flowdrive/store"
)

// firingFailed notes that a schedule entry could not create its case. People are
// told once until it has created one; of the last instant they are told always.
func (e *decider) firingFailed(tx store.Tx, stored *store.Entry, n *notice.Notice) error {
	n.Trouble.What = notice.WhatUnstarted
	n.People = e.concernedByEntry(stored)
	if !n.Trouble.Ended {
		kept := trouble{What: n.Trouble.What, Text: n.Trouble.Text, Since: n.Time, Instant: n.Trouble.Instant}
		entry, err := e.readForm(stored)
		if err != nil {
			return err
		}
		if _, _, err := e.startable(tx, stored, entry); err != nil && reasonOf(err) == kept.Text {
			kept.Target = kept.Text
		}
		kept.addTold(e.accounts.Table(), n.People)
		row := &store.Trouble{Entry: stored.UUID, Name: troubleFiring, Due: againAt(n.Time), Data: document.Line(&kept)}
		if known, err := e.addTrouble(tx, row); known || err != nil {
			return err
		}
	}
	return e.tell(tx, n, e.postLoose(tx, n.Time))
}

// fired notes that a schedule entry has created a case.
func (e *decider) fired(tx store.Tx, stored *store.Entry, entry *schedule.Entry, now time.Time) error {
	_, err := e.endEntryTroubles(tx, stored, entry, entryOver{at: now})
	return err
}

// entryOver says how what was wrong with a schedule entry is over.
type entryOver struct {
	at  time.Time
	end notice.End
	by  identity.ID // whose doing that is, 0 for nobody
}

// endEntryTroubles forgets what is wrong with a schedule entry and tells those who were
// told of it, but not whose doing that is. It returns whom it has told.
func (e *decider) endEntryTroubles(tx store.Tx, stored *store.Entry, entry *schedule.Entry, over entryOver) (people []notice.Person, err error) {
	rows, err := tx.Troubles().OfEntry(stored.UUID)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if name := rows[i].Name; over.end != notice.EndDeleted && (name == troubleSkipped || name == troublePaused || name == troubleUnfilled || name == troubleDaysOff) {
			continue // a case that comes to be does not make up for an instant that was skipped, nor resume the entry, nor fill its labels, nor make a calendar good
		}
		told, err := (&deeds{e, tx}).endTrouble(&rows[i], loadedEntry{stored, entry}, over)
		if err != nil {
			return nil, err
		}
		people = append(people, told...)
	}
	return people, nil
}

// endTrouble forgets one thing that is wrong with a schedule entry, and tells people
// as endEntryTroubles.
func (e *deeds) endTrouble(row *store.Trouble, of loadedEntry, over entryOver) ([]notice.Person, error) {
	told, err := readTrouble(row)
	if err != nil {
		return nil, err
	}
	if err := e.tx.Write().Troubles().Delete(row.ID); err != nil || row.Name == troubleSkipped {
		return nil, err
	}
	n := told.notice(notice.KindMended, over.at)
	if n.Entry, err = noticeEntry(e.tx, of.row, of.entry); err != nil {
		return nil, err
	}
	n.Trouble.Over = over.end
	n.People = e.toldButNot(told, over.by, n.Trouble)
	return n.People, e.tell(e.tx, n, e.postLoose(e.tx, over.at))
}

// tellEntryAgain tells people again that a schedule entry could not create its
// cases, unless somebody has paused it.
func (e *decider) tellEntryAgain(tx store.Tx, row *store.Trouble, told *trouble, now time.Time) error {
	if row.Name == troubleSkipped {
		return (&skips{e, tx}).again(row, told, now)
	}
	if row.Name == troublePaused {
		return (&pauses{e, tx}).again(row, told, now)
	}
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
	mended := false
	if row.Name == troubleFiring {
		if mended, err = e.noteCause(tx, stored, entry, told); err != nil {
			return err
		}
	}
	n := told.notice(told.What.Kind(), now)
	n.Trouble.Again = true
	if mended {
		n.Trouble.Text, n.Trouble.Next = causeMended, stored.Due
	}
	return (&deeds{e, tx}).tellOfEntry(row, told, n, loadedEntry{stored, entry})
}

// causeMended is why an entry has started no case although it could.
const causeMended = "What it failed for is mended, and its next instant is to start a case"

// noteCause notes why an entry still creates no case, as things are now, and reports whether
// the cause is mended already: it may be given another context before its next instant.
func (e *base) noteCause(r store.Reader, stored *store.Entry, entry *schedule.Entry, told *trouble) (mended bool, err error) {
	last := cmp.Or(entry.LastError, told.Text) // another PUT may have taken the former away
	_, _, err = e.startable(r, stored, entry)
	var refused *errs.Error
	switch {
	case errors.As(err, &refused):
		if told.Text = reasonOf(err); told.Text == last {
			told.Target = last
		}
		return false, nil
	case err != nil:
		return false, err
	case told.Target == last:
		return true, nil
	}
	told.Text = last
	return false, nil
}

// tellOfEntry tells those whom an entry concerns of what is wrong with it, and keeps in the
// row whom it has told.
func (e *deeds) tellOfEntry(row *store.Trouble, told *trouble, n *notice.Notice, of loadedEntry) (err error) {
	if n.Entry, err = noticeEntry(e.tx, of.row, of.entry); err != nil {
		return err
	}
	n.People = e.concernedByEntry(of.row)
	told.addTold(e.accounts.Table(), n.People)
	row.Data = document.Line(told)
	if err := e.tx.Write().Troubles().Update(row); err != nil {
		return err
	}
	return e.tell(e.tx, n, e.postLoose(e.tx, n.Time))
}

// forgetEntry forgets what is wrong with a schedule entry that is gone. If somebody has
// deleted it, those who were told that it fails are told that, as are those whose entry it
// was; that an entry had its last instant they know by what became of that.
func (e *decider) forgetEntry(tx store.Tx, stored *store.Entry, end entryEnd) error {
	if end.actor != "" {
		entry, err := e.readForm(stored)
		if err != nil {
			return err
		}
		told, err := e.endEntryTroubles(tx, stored, entry, entryOver{end.at, notice.EndDeleted, e.accounts.PartyID(end.actor)})
		if err != nil {
			return err
		}
		d := &notice.Deed{What: notice.DeedDeleted, Actor: end.actor, Next: stored.Due}
		return (&deeds{e, tx}).tellDeed(loadedEntry{stored, entry}, d, end.at, told...)
	}
	rows, err := tx.Troubles().OfEntry(stored.UUID)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := tx.Write().Troubles().Delete(rows[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// noticeEntry returns a schedule entry as people are told of it: one without a title by the
// name that its author, else somebody, has given it.
func noticeEntry(r store.Reader, stored *store.Entry, entry *schedule.Entry) (*notice.Entry, error) {
	n := &notice.Entry{UUID: stored.UUID.String(), Title: entry.Title, Route: entry.Route}
	if n.Title != "" {
		return n, nil
	}
	given, err := r.Names().List(store.FolderSchedule, []store.UUID{stored.UUID}, nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(given, func(a, b store.GivenName) int {
		own := func(g *store.GivenName) int { return map[bool]int{true: 0, false: 1}[g.Author == stored.AuthorID] }
		return cmp.Or(cmp.Compare(own(&a), own(&b)), strings.Compare(a.Name, b.Name))
	})
	if n.Title = entry.Route; len(given) > 0 {
		n.Title = strings.TrimSuffix(given[0].Name, path.Ext(given[0].Name))
	}
	return n, nil
}
