package engine

import (
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
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
// were told, if that is this failure again and is not mended, however long ago that was: a
// job that runs every minute would send a mail a minute, and a nightly one a mail each night
// beside the daily one. What is overdue is the same if those who would be told of it now were
// told of that. It returns nil for none.
func (t *notifier) toldBefore(n *named, people []notice.Person) (*likeBefore, error) {
	row := &t.change.row
	entry, scheduled := store.ParseUUID(t.change.after.ScheduleUUID)
	if !slices.Contains([]notice.What{notice.WhatFailed, notice.WhatHandler, notice.WhatCondition, notice.WhatUnstaffed, notice.WhatUnstarted, notice.WhatOverdue}, n.What) || !scheduled {
		return nil, nil
	}
	other, before, err := t.troubleBeside(entry, n.name)
	if err != nil || before == nil || !before.isLike(&n.trouble) {
		return nil, err
	}
	like := before.Like
	if like == nil {
		like = &likeBefore{Case: other, Since: before.Since}
	}
	if like.Case == row.ID {
		return nil, nil
	}
	first, err := t.troubleOf(like.Case, n.name)
	if err != nil || first == nil || n.What == notice.WhatOverdue && !t.wereTold(people, first) {
		return nil, err
	}
	return like, nil
}

// isLike reports whether the same is wrong in another case of the same entry. The text of what
// is overdue says since when.
func (t *trouble) isLike(other *trouble) bool {
	return t.Word == other.Word && (t.Text == other.Text || t.What == notice.WhatOverdue && t.Task == other.Task)
}

// wereTold reports whether all of the people were told of something that is wrong.
func (t *notifier) wereTold(people []notice.Person, of *trouble) bool {
	return !slices.ContainsFunc(people, func(p notice.Person) bool { return !slices.Contains(of.Told, t.accounts.PartyID(string(p.Name))) })
}

// troubleBeside returns what is wrong under that name with the last other case of the
// entry of which it is known how it went, nil for nothing. Instants that were skipped have
// no case, and cases of instants that are made up for at once fail in any order.
func (t *notifier) troubleBeside(entry store.UUID, name string) (caseID int64, of *trouble, err error) {
	seen, looked := 0, 0
	for limit := lastFired; ; limit *= 10 {
		fired, err := t.tx.Entries().Occurrences(entry, limit)
		if err != nil {
			return 0, nil, err
		}
		for ; seen < len(fired) && looked < lastFired; seen++ {
			id := fired[seen].CaseID
			if id == 0 || id == t.change.row.ID {
				continue
			}
			looked++
			of, err := t.troubleOf(id, name)
			if err != nil || of != nil {
				return id, of, err
			}
			if machine.Life(fired[seen].State).Ended() {
				return 0, nil, nil
			}
		}
		if len(fired) < limit || looked == lastFired || limit >= mostMended {
			return 0, nil, nil
		}
	}
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

// joins counts another case with what people were told of instead: the next mail about that
// says how many there are.
func (t *notifier) joins(like *likeBefore, name string) error {
	row, err := t.troubleRow(like.Case, name)
	if err != nil || row == nil {
		return err
	}
	first, err := readTrouble(row)
	if err != nil {
		return err
	}
	first.Alike++
	first.LastAlike = t.change.row.ID
	row.Data = document.Line(first)
	return t.tx.Write().Troubles().Update(row)
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
	row, err := t.troubleRow(caseID, name)
	if err != nil || row == nil {
		return nil, err
	}
	return readTrouble(row)
}

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
