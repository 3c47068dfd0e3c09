package engine

import (
	"time"

	"flowdrive/engine/machine"
	"flowdrive/schedule"
	"flowdrive/store"
)

// overlap is what an entry's policy decides if earlier cases of it are open
// (docs/contract/schedule.md#overlap).
type overlap struct {
	skip   string  // why there is no case, or ""
	waits  bool    // until they have ended
	cancel []int64 // which of them are canceled
}

// mostOverlaps bounds how many open cases are looked at: more than one needs
// to be told.
const mostOverlaps = 1000

// overlapping applies the policy. It does not apply to a case that a user
// triggers.
func overlapping(tx store.Tx, stored *store.Entry, entry *schedule.Entry, outcome string) (o overlap, err error) {
	if entry.Overlap == schedule.OverlapAllow || entry.Overlap == "" || outcome == OutcomeTriggered {
		return o, nil
	}
	open, err := tx.Cases().OpenOf(stored.UUID, mostOverlaps)
	if err != nil || len(open) == 0 {
		return o, err
	}
	switch entry.Overlap {
	case schedule.OverlapSkip:
		o.skip = "overlap: an earlier case of the entry is still open"
	case schedule.OverlapBufferOne:
		if len(open) > 1 {
			o.skip = "overlap: an earlier case of the entry is open, and another waits for its end"
		}
		o.waits = true
	case schedule.OverlapBufferAll:
		o.waits = true
	case schedule.OverlapCancelOther:
		o.cancel = open
	case schedule.OverlapAllow:
	}
	return o, nil
}

// cancelOthers cancels earlier cases of an entry, in favour of a new one.
func (e *Schedules) cancelOthers(tx store.Tx, ids []int64, now time.Time) error {
	for _, id := range ids {
		row, err := store.OrNil(tx.Cases().Get(id))
		if err != nil {
			return err
		}
		if row == nil || !open(machine.Life(row.State)) {
			continue // a relative went with it
		}
		event := machine.Cancel{Actor: machine.Actor{Name: machine.ActorTimer, RouteAdmin: true}, Comment: "A later case of the same schedule entry takes its place."}
		if _, err := e.decider.advanceCase(tx, row, event, now, nil); err != nil {
			return err
		}
	}
	return nil
}

// releaseNext lets the next case of the entry start after one has ended.
func (e *decider) releaseNext(tx store.Tx, c *caseChange) error {
	if c.after.ScheduleUUID == "" || !open(c.before) || open(c.after.Shown()) {
		return nil
	}
	uuid, ok := store.ParseUUID(c.after.ScheduleUUID)
	if !ok {
		return nil
	}
	released, err := tx.Write().Cases().ReleaseNext(uuid)
	if released {
		tx.AfterCommit(e.sweeper.noteQueued)
	}
	return err
}
