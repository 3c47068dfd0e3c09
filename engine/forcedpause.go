package engine

import (
	"slices"
	"time"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
	"flowdrive/store"
)

// troublePaused is that a schedule entry was paused because its route was deleted. It is
// over when somebody resumes or deletes the entry
// (docs/contract/routes.md#what-is-wrong).
const troublePaused = "paused"

// pauses tells people within a unit of schedule entries that were paused with their route.
type pauses struct {
	*decider
	tx store.Tx
}

// begin notes that an entry was paused. Services are told at once, people when all
// entries of the route are paused: each in one mail.
func (e *pauses) begin(n *ending, of loadedEntry) error {
	by := n.req.By.Name
	people := slices.DeleteFunc(e.concernedByEntry(of.row), func(p notice.Person) bool { return p.Name == by })
	told := &trouble{What: notice.WhatPaused, Text: of.entry.Note, Since: n.req.Now}
	told.addTold(e.accounts.Table(), people)
	row := &store.Trouble{Entry: of.row.UUID, Name: troublePaused, Due: againAt(n.req.Now), Data: document.Line(told)}
	if known, err := e.addTrouble(e.tx, row); known || err != nil || !e.canNotify() {
		return err
	}
	about := told.notice(told.What.Kind(), n.req.Now)
	var err error
	if about.Entry, err = noticeEntry(e.tx, of.row, of.entry); err != nil {
		return err
	}
	about.Trouble.By = e.callName(by)
	for _, p := range people {
		at := slices.IndexFunc(n.paused, func(o *heldOwner) bool { return o.person.Name == p.Name })
		if at < 0 {
			at, n.paused = len(n.paused), append(n.paused, &heldOwner{person: p, about: about})
		}
		n.paused[at].held.add(about.Entry, of.row.Paused)
	}
	return e.tell(e.tx, about, e.postLoose(e.tx, n.req.Now))
}

// add adds a schedule entry to those of a person.
func (h *heldEntries) add(entry *notice.Entry, next time.Time) {
	if h.Count++; len(h.Entries) < mostHeldListed {
		h.Entries = append(h.Entries, notice.HeldEntry{UUID: entry.UUID, Title: entry.Title, Next: next})
	}
}

// tellPaused tells each of those who have to know of schedule entries that were paused
// with their route, in one mail.
func (n *ending) tellPaused(e *decider, tx store.Tx) error {
	if n == nil {
		return nil
	}
	for _, owner := range n.paused {
		about := *owner.about
		trouble := *about.Trouble
		trouble.Entries = (*notice.Held)(&owner.held)
		about.Trouble, about.People, about.Links = &trouble, []notice.Person{owner.person}, e.links
		if !e.channels.Mail || owner.person.Email == "" {
			continue
		}
		if err := e.mail(tx, &about, &about.People[0], e.postLoose(tx, n.req.Now)); err != nil {
			return err
		}
	}
	return nil
}

// again tells people again of an entry that is still paused.
func (e *pauses) again(row *store.Trouble, told *trouble, now time.Time) error {
	stored, err := store.OrNil(e.tx.Entries().Get(row.Entry))
	if err != nil {
		return err
	}
	if stored == nil || stored.Paused.IsZero() {
		return e.tx.Write().Troubles().Delete(row.ID)
	}
	entry, err := e.readForm(stored)
	if err != nil {
		return err
	}
	n := told.notice(told.What.Kind(), now)
	n.Trouble.Again = true
	return (&deeds{e.decider, e.tx}).tellOfEntry(row, told, n, loadedEntry{stored, entry})
}

// resumed tells those who were told that an entry was paused with its route that somebody
// has resumed it. It returns whom it has told.
func (e *pauses) resumed(of loadedEntry, by identity.ID, now time.Time) ([]notice.Person, error) {
	rows, err := e.tx.Troubles().OfEntry(of.row.UUID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rows, func(row store.Trouble) bool { return row.Name == troublePaused })
	if at < 0 {
		return nil, nil
	}
	return (&deeds{e.decider, e.tx}).endTrouble(&rows[at], of, entryOver{at: now, by: by})
}

// pausedWithRoute says that an entry was paused because its route was deleted.
func pausedWithRoute(stored *store.Entry, _ *schedule.Entry, told *trouble) string {
	if stored.Paused.IsZero() {
		return ""
	}
	return "It is paused, and starts no cases: " + told.Text
}
