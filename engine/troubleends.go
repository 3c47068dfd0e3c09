package engine

import (
	"slices"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/store"
)

// over returns how each of what was wrong with a case before its change, and is not
// any more, is over, by its name.
func (c *caseChange) over() map[string]notice.End {
	if c.was == nil {
		return nil
	}
	if c.after.Life == machine.Canceled && c.was.Life != machine.Canceled {
		return map[string]notice.End{everyTrouble: notice.EndCanceled}
	}
	over := map[string]notice.End{}
	for i := range c.mended {
		if f := &c.mended[i]; f.Handler != "" {
			over[troubleHandler+f.Handler] = endOf(f.Over)
		} else if f.Name != "" { // a case that is to start again has not started yet
			over[troubleFailure+f.Name] = endOf(f.Over)
		}
	}
	if c.was.Life == machine.Active && c.was.Shown() == machine.Failed && c.after.Shown() == machine.Completed {
		for _, u := range c.was.AllUndone() { // it can still be tried again, and nothing waits for it
			if _, is := over[troubleFailure+u.Name]; !is {
				over[troubleFailure+u.Name] = notice.EndPassed
			}
		}
	}
	waited := c.was.Life == machine.Queued && c.was.LogSeq > 1
	if (waited || c.was.Life == machine.Failed) && c.after.Life != machine.Queued && c.after.Life != machine.Failed {
		over[troubleFailure] = notice.EndMended
	}
	for _, o := range machine.LateDeliveries(c.was) {
		if !isLate(c.after, o.Name()) {
			over[troubleDelay+o.Name()] = notice.EndMended
		}
	}
	if c.after.ScheduleUUID != "" && c.after.Life.Ended() && !c.was.Life.Ended() {
		over[troubleSlow] = notice.EndMended
	}
	if isLeftSuspended(c.was) && !isLeftSuspended(c.after) {
		over[troubleSuspended] = notice.EndMended
	}
	after := machine.OverdueTimers(c.after, c.route)
	for _, o := range machine.OverdueTimers(c.was, c.route) {
		if !hasOverdue(after, o.Name) {
			over[troubleTimer+o.Name] = notice.EndMended
		}
	}
	c.staffedSince(over)
	c.evaluatedSince(over)
	return over
}

func endOf(over machine.FailureEnd) notice.End {
	switch over {
	case machine.FailureGivenUp:
		return notice.EndGivenUp
	case machine.FailurePassed:
		return notice.EndPassed
	case machine.FailureGone:
		return notice.EndGone
	case machine.FailureMended:
	}
	return notice.EndMended
}

// endTroubles forgets what is over, by its name, and adds the notices of it.
func (t *notifier) endTroubles(over map[string]notice.End) error {
	rows, err := t.tx.Troubles().OfCase(t.change.row.ID)
	if err != nil {
		return err
	}
	for i := range rows {
		end, is := over[everyTrouble]
		if !is {
			end, is = over[rows[i].Name]
		}
		if !is {
			continue
		}
		told, err := readTrouble(&rows[i])
		if err != nil {
			return err
		}
		if end == notice.EndGone {
			if err := t.goneTrouble(&rows[i], told); err != nil {
				return err
			}
			continue
		}
		shared, err := t.leave(&rows[i], told, end)
		if err != nil {
			return err
		}
		if shared || told.untold() || told.What == notice.WhatSlow && t.change.failsInstead() {
			continue
		}
		if told.What == notice.WhatDelayed && t.hasFailed(strings.TrimPrefix(rows[i].Name, troubleDelay)) {
			continue // that is told
		}
		if told.What == notice.WhatOverdue && machine.IsOverdue(t.change.after, t.change.route, told.Task) {
			continue // that it was not accepted in time is over because it is not done in time either
		}
		n := t.about(told, notice.KindMended, t.now())
		n.Trouble.Over = end
		if actors := t.actors(); len(actors) > 0 {
			n.Trouble.By = t.userName(actors[0])
		}
		if n.Trouble.Others, err = t.othersFailed(told.What); err != nil {
			return err
		}
		if n.People, err = t.toldOf(told); err != nil {
			return err
		}
		n.People = slices.DeleteFunc(n.People, func(p notice.Person) bool { return t.knows(&p, n.Trouble) })
		if at := slices.IndexFunc(t.notices, t.saysMore); at >= 0 {
			n.Better, t.notices[at].Over = t.notices[at], append(t.notices[at].Over, n.Trouble)
		}
		t.notices = append(t.notices, n)
	}
	return nil
}

// goneTrouble notes that the case does not warn of a handler any more that has not run
// since. It is known until people would be told again: they are not told at once if it
// fails again before.
func (t *notifier) goneTrouble(row *store.Trouble, told *trouble) error {
	told.Gone = true
	row.Data = document.Line(told)
	return t.tx.Write().Troubles().Update(row)
}

// endWithCase tells those who know of something that is wrong with a case which is archived
// that it was given up, or that the case is about to be deleted: nothing is tried again. by is
// who has archived it, "" for its retention.
func endWithCase(e *decider, tx store.Tx, h *loadedCase, gone caseGone) error {
	if !e.canNotify() {
		return nil
	}
	c := &caseChange{row: *h.row, after: h.core, was: h.core, route: h.route.Compiled}
	t := &notifier{decider: e, tx: tx, change: c, posted: int(gone.at.Unix()), at: gone.at, by: gone.by, recipientCases: map[int64]*recipientCase{h.row.ID: {h.core, c}}}
	if err := t.endTroubles(map[string]notice.End{everyTrouble: gone.end}); err != nil {
		return err
	}
	for _, n := range t.notices {
		if err := t.tell(n); err != nil {
			return err
		}
	}
	return nil
}

// caseGone is how a case has gone.
type caseGone struct {
	end notice.End
	by  string
	at  time.Time
}
