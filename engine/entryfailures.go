package engine

import (
	"math"
	"slices"
	"time"

	"flowdrive/engine/notice"
	"flowdrive/store"
)

// likeBefore names what people were told of instead of this one: an earlier case of the same
// schedule entry that has failed in the same way.
type likeBefore struct {
	Case  int64     `json:"case"`
	Since time.Time `json:"since"`
	// Row is the ID of that trouble, which passes from case to case (leave). Stored by a
	// version that did not know it, it is 0.
	Row int64 `json:"row,omitempty"`
}

// lastFired is among how many of the last instants of an entry, and of the last of its cases
// with which something is wrong, another one is looked for.
const lastFired = 20

// isLike reports whether the same is wrong in another case of the same entry. The text of what
// is overdue says since when.
func (t *trouble) isLike(other *trouble) bool {
	return t.Word == other.Word && (t.Text == other.Text || t.What == notice.WhatOverdue && t.Task == other.Task)
}

// wereTold reports whether all of the people were told of something that is wrong.
func (t *notifier) wereTold(people []notice.Person, of *trouble) bool {
	return !slices.ContainsFunc(people, func(p notice.Person) bool { return !slices.Contains(of.Told, t.accounts.PartyID(string(p.Name))) })
}

// othersFailed returns the newest other cases of the same schedule entry that are failed
// still, if it is a failure that is over: people were told of one of them. A case whose failure
// was given up, or that a later one has mended, is failed, too, but nothing is wrong with it.
func (t *notifier) othersFailed(what notice.What) (others []int64, err error) {
	entry, scheduled := store.ParseUUID(t.change.after.ScheduleUUID)
	if what != notice.WhatFailed || !scheduled {
		return nil, nil
	}
	if others, err = t.tx.Troubles().OfFailed(entry, math.MaxInt64, lastFired); err != nil {
		return nil, err
	}
	others = slices.DeleteFunc(others, func(id int64) bool { return id == t.change.row.ID })
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

// troubleRow returns what is wrong with a case under that name, nil for nothing.
func (t *notifier) troubleRow(caseID int64, name string) (*store.Trouble, error) {
	rows, err := t.tx.Troubles().OfCase(caseID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rows, func(row store.Trouble) bool { return row.Name == name })
	if at < 0 {
		return nil, nil
	}
	return &rows[at], nil
}
