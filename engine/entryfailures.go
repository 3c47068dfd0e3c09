package engine

import (
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/store"
)

// likeBefore names an earlier case of the same schedule entry that has failed in the same
// way, of which people have been told.
type likeBefore struct {
	Case  int64     `json:"case"`
	Since time.Time `json:"since"`
}

// lastFired is among how many of the last instants of an entry its last case is looked for.
const lastFired = 20

// toldBefore returns the earlier case of the same schedule entry of whose failure people
// were told less than a day ago, if that is this failure again and is not mended: a job
// that runs every minute would send a mail a minute. It returns nil for none.
func (t *notifier) toldBefore(n *named) (*likeBefore, error) {
	row := &t.change.row
	entry, scheduled := store.ParseUUID(t.change.after.ScheduleUUID)
	repeats := n.What == notice.WhatFailed || n.What == notice.WhatHandler || n.What == notice.WhatCondition
	if !repeats || !scheduled {
		return nil, nil
	}
	fired, err := t.tx.Entries().Occurrences(entry, lastFired)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(fired, func(o store.Occurrence) bool { return o.CaseID != 0 && o.CaseID < row.ID })
	if at < 0 {
		return nil, nil
	}
	before, err := t.troubleOf(fired[at].CaseID, n.name)
	if err != nil || before == nil || before.Text != n.Text {
		return nil, err
	}
	like := before.Like
	if like == nil {
		like = &likeBefore{Case: fired[at].CaseID, Since: before.Since}
	}
	if t.change.after.Modified.Sub(like.Since) >= toldAgainAfter {
		return nil, nil
	}
	is, err := t.stillLike(like, n.name)
	if err != nil || !is {
		return nil, err
	}
	return like, nil
}

// othersFailed returns the other cases among the last of the same schedule entry that are
// failed still, if it is a failure that is over: people were told of one of them.
func (t *notifier) othersFailed(what notice.What) (others []int64, err error) {
	entry, scheduled := store.ParseUUID(t.change.after.ScheduleUUID)
	if what != notice.WhatFailed || !scheduled {
		return nil, nil
	}
	fired, err := t.tx.Entries().Occurrences(entry, lastFired)
	if err != nil {
		return nil, err
	}
	for i := range fired {
		if o := &fired[i]; machine.Life(o.State) == machine.Failed && o.CaseID != t.change.row.ID {
			others = append(others, o.CaseID)
		}
	}
	slices.Sort(others)
	return others, nil
}

// again returns when people are told of it if the one that they were told of is mended:
// together with that one.
func (l *likeBefore) again(now time.Time) time.Time {
	due := againAt(l.Since)
	for !due.After(now) {
		due = due.Add(toldAgainAfter)
	}
	return due
}

// stillLike reports whether what people were told of instead is still wrong. like may be
// nil.
func (t *notifier) stillLike(like *likeBefore, name string) (bool, error) {
	if like == nil {
		return false, nil
	}
	first, err := t.troubleOf(like.Case, name)
	return first != nil, err
}

// troubleOf returns what is wrong with a case under that name, nil for nothing.
func (t *notifier) troubleOf(caseID int64, name string) (*trouble, error) {
	rows, err := t.tx.Troubles().OfCase(caseID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rows, func(row store.Trouble) bool { return row.Name == name })
	if at < 0 {
		return nil, nil
	}
	return readTrouble(&rows[at])
}
