package engine

import (
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// mostMended is in how many cases of a schedule entry, or at how many of its last instants, is
// looked for what has failed before.
const mostMended = 10_000

// wentWell reports whether a case of a schedule entry has come to its end, and all that it
// has sent has got through.
func wentWell(c *machine.Case) bool {
	return c != nil && c.Shown() == machine.Completed && !c.Sending() && len(c.AllUndone()) == 0
}

// mendEarlier tells those who know that earlier cases of the same schedule entry have failed
// that this one went well, each once, and has nobody told of those again.
func (t *notifier) mendEarlier() error {
	c := t.change
	entry, scheduled := store.ParseUUID(c.after.ScheduleUUID)
	if !scheduled || !wentWell(c.after) || wentWell(c.was) {
		return nil
	}
	// Not only the last instants count: a case may fail hours after later ones have gone well.
	failed, err := t.tx.Troubles().OfFailed(entry, c.row.ID, mostMended)
	if err != nil {
		return err
	}
	var told *earlier // the newest of them
	for _, id := range failed {
		rows, err := t.tx.Troubles().OfCase(id)
		if err != nil {
			return err
		}
		for i := range rows {
			of, err := readTrouble(&rows[i])
			if err != nil {
				return err
			}
			if of.What.Kind() != notice.KindFailure || of.What == notice.WhatUnstaffed {
				continue
			}
			if shared, err := t.leave(&rows[i], of, notice.EndLater); err != nil {
				return err
			} else if shared || of.untold() {
				continue
			}
			e, err := t.earlier(id, of)
			if err != nil {
				return err
			}
			if told != nil {
				if told.add(e); len(e.notice.People) == 0 {
					continue
				}
			} else {
				told = e
			}
			t.earlierMended = append(t.earlierMended, e)
		}
	}
	return nil
}

// earlier is that an earlier case had failed, and what people are told of it.
type earlier struct {
	notifier *notifier // of that case
	notice   *notice.Notice
}

// earlier returns what those are told who know that the case has failed.
func (t *notifier) earlier(id int64, of *trouble) (*earlier, error) {
	stored, err := t.tx.Cases().Get(id)
	if err != nil {
		return nil, err
	}
	h, err := t.loadRow(t.tx, identity.Principal{}, stored, nil)
	if err != nil {
		return nil, err
	}
	now := t.now()
	c := &caseChange{row: *h.row, after: h.core, was: h.core, route: h.route.Compiled}
	e := &earlier{notifier: &notifier{
		decider: t.decider, tx: t.tx, change: c, posted: int(now.Unix()), at: now,
		recipientCases: map[int64]*recipientCase{id: {h.core, c}},
	}}
	e.notice = e.notifier.about(of, notice.KindMended, now)
	e.notice.Trouble.Over, e.notice.Trouble.Later = notice.EndLater, t.change.row.ID
	if e.notice.People, err = e.notifier.toldOf(of); err != nil {
		return nil, err
	}
	e.notice.People = slices.DeleteFunc(e.notice.People, func(p notice.Person) bool { return !t.wants(&p, notice.KindMended) })
	for _, n := range t.notices { // who hears this is not told besides how the later one has ended
		if n.Kind != notice.KindOutcome || n.Case.ID != t.change.row.ID {
			continue
		}
		e.notice.Trouble.LaterEnd = n.Word
		n.People = slices.DeleteFunc(n.People, func(p notice.Person) bool { return isAmong(e.notice.People, &p) })
	}
	return e, nil
}

// add has those who are told of a newer one learn of an older one by that.
func (e *earlier) add(older *earlier) {
	of := older.notice
	of.Better, e.notice.Over = e.notice, append(e.notice.Over, of.Trouble)
	of.People = slices.DeleteFunc(of.People, func(p notice.Person) bool {
		at := slices.IndexFunc(e.notice.People, func(other notice.Person) bool { return other.Name == p.Name })
		if at < 0 {
			return false
		}
		e.notice.People[at].Over = append(e.notice.People[at].Over, of.Trouble)
		return true
	})
}

func isAmong(people []notice.Person, p *notice.Person) bool {
	return slices.ContainsFunc(people, func(other notice.Person) bool { return other.Name == p.Name })
}
