package engine

import (
	"slices"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/store"
)

// Cases of one schedule entry that fail alike share a notice (docs/contract/routes.md#what-is-wrong).
// It is stored as the trouble of one of them, its head. The others name that by likeBefore.

const (
	mostOverIn = 100 // of the cases of a notice in which it is over are named
	alikePage  = 100 // troubles are read at once to find one that shares the notice
)

// leave forgets something that is over in a case. It reports whether people know of it by a
// notice that it shares with other cases in which it is wrong still: they are told of the end
// when it is over in the last of them. What they were told of passes to one of the others.
func (t *notifier) leave(row *store.Trouble, told *trouble, end notice.End) (shared bool, err error) {
	if told.Like != nil {
		return t.leaveHead(row, told, end)
	}
	if told.Alike > 0 {
		next, of, err := t.nextAlike(row)
		if err != nil {
			return false, err
		}
		if next != nil {
			told.overToo(row.CaseID, end)
			return true, t.passOn(row, told, next, of)
		}
	}
	return false, t.tx.Write().Troubles().Delete(row.ID)
}

// leaveAgain is leave for what turns out to be over when people would be told of it again:
// they are told of it in the next case that shares the notice.
func (t *notifier) leaveAgain(row *store.Trouble, told *trouble) (shared bool, err error) {
	isHead := told.Like == nil
	if shared, err = t.leave(row, told, notice.EndMended); err != nil || !shared || !isHead {
		return shared, err
	}
	return true, t.tellCaseAgain(t.tx, row, told, t.at)
}

// leaveHead is leave for a case that shares a notice which is stored with another one.
func (t *notifier) leaveHead(row *store.Trouble, told *trouble, end notice.End) (shared bool, err error) {
	head, first, err := t.head(row, told)
	if err != nil {
		return false, err
	}
	if err := t.tx.Write().Troubles().Delete(row.ID); err != nil || head == nil {
		return false, err
	}
	first.overToo(row.CaseID, end)
	head.Data = document.Line(first)
	return true, t.tx.Write().Troubles().Update(head)
}

// passOn has the notice of a case go on with another one.
func (t *notifier) passOn(row *store.Trouble, told *trouble, next *store.Trouble, of *trouble) error {
	if err := t.tx.Write().Troubles().Delete(next.ID); err != nil {
		return err
	}
	row.CaseID = next.CaseID
	told.Text, told.Output, told.Holders, told.Skips, told.Outputs, told.Gone = of.Text, of.Output, of.Holders, of.Skips, of.Outputs, of.Gone
	if of.Usual != nil {
		told.Usual, told.Since = of.Usual, of.Since // it is the case that takes long
	}
	row.Data = document.Line(told)
	return t.tx.Write().Troubles().Update(row)
}

// overToo notes how it is over in one of the cases that share a notice.
func (t *trouble) overToo(caseID int64, end notice.End) {
	t.Alike--
	if t.OverCount++; len(t.OverIn) < mostOverIn {
		t.OverIn = append(t.OverIn, notice.OverIn{Case: caseID, End: end})
	}
}

// wrongToo notes that it is wrong in another case, in which it may have been over.
func (t *trouble) wrongToo(caseID int64) {
	t.Alike++
	if at := slices.IndexFunc(t.OverIn, func(in notice.OverIn) bool { return in.Case == caseID }); at >= 0 {
		t.OverIn = slices.Delete(t.OverIn, at, at+1)
		t.OverCount--
	}
}

// nextAlike returns the next case that shares the notice of one, the oldest first, nil for
// none. A case that does not warn of it any more is none.
func (t *notifier) nextAlike(head *store.Trouble) (*store.Trouble, *trouble, error) {
	for from := int64(0); ; {
		rows, err := t.tx.Troubles().From(head.CaseEntry, head.Name, from, alikePage)
		if err != nil {
			return nil, nil, err
		}
		for i := range rows {
			of, err := readTrouble(&rows[i])
			if err != nil {
				return nil, nil, err
			}
			if of.shares(head) && !of.Gone {
				return &rows[i], of, nil
			}
		}
		if len(rows) < alikePage {
			return nil, nil, nil
		}
		from = rows[len(rows)-1].CaseID + 1
	}
}

// lastAlike returns the newest case that shares the notice of one, 0 if it is not among the
// last with which something is wrong.
func (t *notifier) lastAlike(head *store.Trouble) (int64, error) {
	rows, err := t.tx.Troubles().Newest(head.CaseEntry, head.Name, lastFired)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		of, err := readTrouble(&rows[i])
		if err != nil {
			return 0, err
		}
		if of.shares(head) {
			return rows[i].CaseID, nil
		}
	}
	return 0, nil
}

// shares reports whether people were told of the head instead.
func (t *trouble) shares(head *store.Trouble) bool {
	return t.Like != nil && (t.Like.Row == head.ID || t.Like.Row == 0 && t.Like.Case == head.CaseID)
}

// head returns the trouble that people were told of instead of one, itself if they were told
// of it; nil if that is not there any more.
func (t *notifier) head(row *store.Trouble, of *trouble) (*store.Trouble, *trouble, error) {
	if of.Like == nil {
		return row, of, nil
	}
	var first *store.Trouble
	var err error
	if of.Like.Row == 0 {
		first, err = t.troubleRow(of.Like.Case, row.Name)
	} else {
		first, err = store.OrNil(t.tx.Troubles().Get(of.Like.Row))
	}
	if err != nil || first == nil || first.Name != row.Name || first.CaseEntry != row.CaseEntry {
		return nil, nil, err
	}
	told, err := readTrouble(first)
	if err != nil || told.Like != nil {
		return nil, nil, err
	}
	return first, told, nil
}

// alikeBefore returns what people were told of instead of something that is wrong with the
// case, nil for nothing: of something of the same name with another of the last cases of the
// schedule entry. is says whether one is the same, and first what people were told of.
func (t *notifier) alikeBefore(name string, is func(caseID int64, of, first *trouble) bool) (*likeBefore, error) {
	entry, scheduled := store.ParseUUID(t.change.after.ScheduleUUID)
	if !scheduled {
		return nil, nil
	}
	rows, err := t.tx.Troubles().Newest(entry, name, lastFired)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].CaseID == t.change.row.ID {
			continue
		}
		of, err := readTrouble(&rows[i])
		if err != nil {
			return nil, err
		}
		head, first, err := t.head(&rows[i], of)
		if err != nil {
			return nil, err
		}
		if head != nil && head.CaseID != t.change.row.ID && is(rows[i].CaseID, of, first) {
			return &likeBefore{Case: head.CaseID, Since: first.Since, Row: head.ID}, nil
		}
	}
	return nil, nil
}

// toldBefore returns the earlier case of the same schedule entry of whose failure people
// were told, if that is this failure again and is not mended, however long ago that was: a
// job that runs every minute would send a mail a minute, and a nightly one a mail each night
// beside the daily one. What is overdue is the same if those who would be told of it now were
// told of that. It returns nil for none.
func (t *notifier) toldBefore(n *named, people []notice.Person) (*likeBefore, error) {
	if !slices.Contains([]notice.What{notice.WhatFailed, notice.WhatHandler, notice.WhatCondition, notice.WhatUnstaffed, notice.WhatUnstarted, notice.WhatOverdue}, n.What) {
		return nil, nil
	}
	return t.alikeBefore(n.name, func(_ int64, of, first *trouble) bool {
		return of.isLike(&n.trouble) && (n.What != notice.WhatOverdue || t.wereTold(people, first))
	})
}

// joins counts another case with what people were told of instead: the next mail about that
// says how many there are.
func (t *notifier) joins(like *likeBefore) error {
	row, err := t.tx.Troubles().Get(like.Row)
	if err != nil {
		return err
	}
	first, err := readTrouble(row)
	if err != nil {
		return err
	}
	first.wrongToo(t.change.row.ID)
	row.Data = document.Line(first)
	return t.tx.Write().Troubles().Update(row)
}

// stillLike reports whether what people were told of instead is still wrong.
func (t *notifier) stillLike(row *store.Trouble, told *trouble) (bool, error) {
	if told.Like == nil {
		return false, nil
	}
	head, _, err := t.head(row, told)
	return head != nil, err
}

// troubleOfCase returns the row of something that is wrong with a case. The caller sets when
// it is due.
func troubleOfCase(c *caseChange, name string, of *trouble) *store.Trouble {
	entry, _ := store.ParseUUID(c.after.ScheduleUUID) // zero if it has none
	return &store.Trouble{CaseID: c.row.ID, CaseEntry: entry, Name: name, Data: document.Line(of)}
}
