package engine

import (
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/store"
)

// troubleSlow is the name of the trouble that a case takes longer than usual.
const troubleSlow = "slow"

// When a case of a schedule entry takes longer than usual
// (docs/contract/routes.md#what-takes-longer-than-usual).
const (
	usualCases = 5                // completed cases among the last of the entry, from which on it is known what is usual
	slowBy     = 10 * time.Minute // more than the longest of them, at least
)

// usualTime is how long the last completed cases of a schedule entry took.
type usualTime struct {
	Cases   int           `json:"cases"`
	Longest time.Duration `json:"longest"` // ns
	Waits   bool          `json:"waits"`   // nobody was told: the case may end in time
}

// most returns how long a case may take before people are told.
func (u *usualTime) most() time.Duration { return max(2*u.Longest, u.Longest+slowBy) }

// usual returns how long the completed cases of the last instants of a schedule entry took, nil if
// that is not known. The newest of the instants is one that is about to be recorded: reading
// them before spares a round trip, as nothing has to be sent first.
func usual(tx store.Tx, newest *store.Occurrence) (*usualTime, error) {
	fired, err := tx.Entries().Occurrences(newest.Entry, lastFired)
	if err != nil {
		return nil, err
	}
	is := func(o store.Occurrence) bool { return o.Instant.Equal(newest.Instant) }
	if last := len(fired) - 1; len(fired) == lastFired && newest.Instant.After(fired[last].Instant) && !slices.ContainsFunc(fired, is) {
		fired = fired[:last]
	}
	u := &usualTime{Waits: true}
	for i := range fired {
		if o := &fired[i]; !o.Completed.IsZero() {
			u.Cases++
			u.Longest = max(u.Longest, o.Completed.Sub(o.FiredAt))
		}
	}
	if u.Cases < usualCases {
		return nil, nil
	}
	return u, nil
}

// watchTime notes when a new case of a schedule entry takes longer than usual, if that is known.
func (e *Schedules) watchTime(tx store.Tx, c *caseChange, u *usualTime, now time.Time) error {
	if u == nil {
		return nil
	}
	row := troubleOfCase(c, troubleSlow, &trouble{What: notice.WhatSlow, Since: now, Usual: u})
	row.Due = now.Add(u.most())
	_, err := e.decider.addTrouble(tx, row)
	return err
}

// tellSlow tells people that a case takes longer than usual, at first or again, unless
// it waits for its start or somebody has suspended it, or they know it of an earlier
// case of its schedule entry.
func (t *notifier) tellSlow(row *store.Trouble, told *trouble) error {
	core, write := t.change.after, t.tx.Write().Troubles()
	switch {
	case core.Life.Ended():
		_, err := t.leaveAgain(row, told)
		return err
	case core.Shown() != machine.Active: // that it has failed is told as that
		row.Due = t.at.Add(told.Usual.most())
		return write.Update(row)
	}
	first := len(told.Told) == 0
	told.Usual.Waits = false
	told.Text = fmt.Sprintf("it has been open for %s; the last %d cases of its schedule entry that were completed took %s at most", roughly(t.at.Sub(told.Since)), told.Usual.Cases, roughly(told.Usual.Longest))
	if first {
		row.Due = againAt(t.at)
		var err error
		if told.Like, err = t.slowBefore(); err != nil {
			return err
		}
	}
	if told.Like != nil {
		if err := t.joins(told.Like); err != nil {
			return err
		}
		row.Due, row.Data = told.Like.again(t.at), document.Line(told)
		return write.Update(row)
	}
	people, err := t.concernedBy(told)
	if err != nil {
		return err
	}
	told.addTold(t.accounts.Table(), people)
	row.Data = document.Line(told)
	if err := write.Update(row); err != nil {
		return err
	}
	n := t.about(told, notice.WhatSlow.Kind(), t.at)
	if n.People, n.Trouble.Again = people, !first; told.Alike > 0 {
		if n.Trouble.LastAlike, err = t.lastAlike(row); err != nil {
			return err
		}
	}
	return t.tell(n)
}

// slowBefore returns an earlier case of the same schedule entry of which people were told
// that it takes longer than usual, nil for none.
func (t *notifier) slowBefore() (*likeBefore, error) {
	return t.alikeBefore(troubleSlow, func(caseID int64, of, _ *trouble) bool {
		return caseID < t.change.row.ID && !of.Usual.Waits
	})
}

// untold reports whether nobody was told of a trouble: it may not come to pass, or another
// one was told of instead.
func (t *trouble) untold() bool {
	return t.Gone || t.Like != nil || t.isQuiet() && len(t.Told) == 0 || t.Usual != nil && t.Usual.Waits
}

// failsInstead reports whether people are told of the change that the case has failed.
func (c *caseChange) failsInstead() bool {
	return slices.ContainsFunc(c.open(), func(n named) bool { return n.What == notice.WhatFailed })
}

// roughly writes a time in its two largest units.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%d days %d h", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
