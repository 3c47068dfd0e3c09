package outbox

import (
	"context"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/store"
)

// A mail that a step sends may have to wait, because the author of its route has others
// sent already (docs/contract/routes.md#how-many-mails).

// Admission is when a mail of a step is sent.
type Admission struct {
	At     time.Time // zero: now
	Never  bool      // it is given up
	Reason string    // why it is not sent now
	Back   func()    // if not nil: is called if that could not be stored, so that the mail does not count
}

// places are what rows that are to be sent take of bounds, by their keys, until they are sent.
type places map[string]func()

// giveBack gives back the places of rows that were not sent.
func (p places) giveBack(rows []store.OutboxRow) {
	for i := range rows {
		if back := p[rows[i].Key]; back != nil {
			back()
		}
	}
}

// admit leaves out what is not sent now, and says so in its case. taken is of those that are sent.
func (e *Dispatcher) admit(ctx context.Context, rows []store.OutboxRow, now time.Time) (admitted []store.OutboxRow, taken places, err error) {
	taken = places{}
	defer func() {
		if err != nil {
			taken.giveBack(admitted)
		}
	}()
	for i := range rows {
		row := &rows[i]
		if e.Admit == nil || row.Lane != MailLane || row.Step == 0 || row.Attempts > 0 || row.Flying {
			admitted = append(admitted, *row)
			continue
		}
		a, err := e.Admit(ctx, row, now)
		if err != nil {
			return admitted, taken, err
		}
		switch {
		case a.Never:
			reason := &Final{Reason: a.Reason}
			err = e.conclude(ctx, row, machine.Undelivered{Seq: row.Seq, Step: row.Step, Reason: a.Reason, Kind: machine.FailureFault}, reason)
		case a.At.IsZero():
			admitted = append(admitted, *row)
			taken[row.Key] = a.Back
		default:
			err = e.postpone(ctx, row, a, now)
		}
		if err != nil {
			places{row.Key: a.Back}.giveBack(rows[i : i+1])
			return admitted, taken, err
		}
	}
	return admitted, taken, nil
}

// postpone has a row wait, of which no attempt was made.
func (e *Dispatcher) postpone(ctx context.Context, row *store.OutboxRow, a Admission, now time.Time) error {
	event := machine.Attempted{Seq: row.Seq, Step: row.Step, Reason: a.Reason, Again: a.At, Until: a.At}
	return e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		write, err := e.Cases.Take(r, row, event, now)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) error {
			if write != nil {
				if _, err := write(tx); err != nil {
					return err
				}
			}
			tx.AfterCommit(func() { e.Note(a.At) })
			return tx.Write().Outbox().Put(row.Key, a.At, 0)
		}, nil
	})
}
