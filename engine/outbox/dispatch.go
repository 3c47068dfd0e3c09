package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/quota"
	"flowdrive/internal/clock"
	"flowdrive/store"
)

// Dispatcher has the deliveries of the outbox made, and gives their answers to the
// cases. Its fields are set once.
type Dispatcher struct {
	*change.Maker
	Attempts
	Due     *clock.Earliest // when something is due next, as far as it could be begun
	Rouse   func()          // wakes who calls Dispatch
	Cases   Cases
	Reach   *Reach
	Letters *Letters
	Sandbox bool // nothing leaves the server
	// Admit says when a mail of a step is sent that was not tried yet; nil: now.
	Admit func(ctx context.Context, row *store.OutboxRow, now time.Time) (Admission, error)
	Log   zerolog.Logger
}

// Cases are the cases whose steps ask for deliveries.
type Cases interface {
	// Take decides what an event of a delivery does to its case. It returns nil if no
	// case waits for the delivery.
	Take(r store.Reader, row *store.OutboxRow, event machine.Event, now time.Time) (Write, error)
	// NoteAttempt notes what became of an attempt; failure is nil if it got through. If
	// there is another attempt, it is due at row.Due.
	NoteAttempt(tx store.Tx, row *store.OutboxRow, failure error, now time.Time) error
	// PutMessage stores a message of a case, in place of one with the same label.
	PutMessage(tx store.Tx, c *store.Case, n machine.NewMessage, now time.Time) error
	// HasRoom reports whether the starter of a case may store so many bytes more.
	HasRoom(tx store.Tx, c *store.Case, size int64) (bool, error)
}

// Write writes what an event of a delivery does to its case. It reports whether the
// case still waits for the delivery, which may be retried.
type Write func(tx store.Tx) (waits bool, err error)

// batch is how many rows of a lane a sandbox takes at once.
const batch = 256

// Note says that something of the outbox is due then; zero for never.
func (e *Dispatcher) Note(due time.Time) {
	if !due.IsZero() && e.Due.Lower(due) {
		e.Rouse()
	}
}

// leaseOfAttempt is for how long an attempt is waited for before it counts as
// lost, as when the machine has lost power. One that takes longer has its lease
// renewed.
const leaseOfAttempt = 2 * time.Minute

// Begin starts the deliveries. Those that were under way when the server
// ended come first. Nobody knows what became of them. A command is not run again
// unless its step allows it; the others are made at least once, and a repeated
// attempt has the same key.
func (e *Dispatcher) Begin(ctx context.Context) (drain func() Cut) {
	drain = e.Open()
	if e.Due.Empty() {
		return drain // nothing is in it
	}
	now := e.Clock.Now()
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		tx.AfterCommit(func() { e.Note(now) })
		return tx.Write().Outbox().Release(now)
	})
	if err != nil && ctx.Err() == nil {
		e.Log.Error().Err(err).Msg("outbox: could not release the deliveries left over from the last run; they are looked at when their time is over")
	}
	return drain
}

// Dispatch has done what is due in the outbox, as far as there is room, and
// finds out when something is due next. The sweeper's lock must be held.
func (e *Dispatcher) Dispatch(ctx context.Context, now time.Time) (err error) {
	e.Due.Forget() // commits and landings from here on lower it again
	defer func() {
		if err != nil {
			e.Due.Lower(now) // try again, but not at once
		}
	}()
	rows, err := e.dueOutbox(ctx, now)
	if err != nil {
		return err
	}
	rows, taken, err := e.admit(ctx, rows, now)
	if err != nil {
		return err
	}
	if e.Sandbox {
		err = e.record(ctx, rows, taken, now)
	} else {
		err = e.send(ctx, rows, taken, now)
	}
	taken.giveBack(rows)
	if err != nil {
		return err
	}
	next, err := e.nextOutbox(ctx)
	if err != nil {
		return err
	}
	e.Note(next)
	return nil
}

// roomIn returns how many rows of a lane may be taken now.
func (e *Dispatcher) roomIn(lane string) int {
	if e.Sandbox {
		return batch
	}
	return e.Room(lane)
}

// dueOutbox returns what is due, as many of each lane as there is room for.
func (e *Dispatcher) dueOutbox(ctx context.Context, now time.Time) (rows []store.OutboxRow, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		lanes, err := r.Outbox().Lanes()
		if err != nil {
			return err
		}
		for _, lane := range lanes {
			room := e.roomIn(lane.Name)
			if lane.Due.After(now) || room <= 0 {
				continue
			}
			due, err := r.Outbox().Due(lane.Name, now, room)
			if err != nil {
				return err
			}
			rows = append(rows, due...)
		}
		return nil
	})
	return rows, err
}

// nextOutbox returns when something is due next in a lane that has room, zero
// for never: of the others a landing tells.
func (e *Dispatcher) nextOutbox(ctx context.Context) (next time.Time, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		lanes, err := r.Outbox().Lanes()
		for _, lane := range lanes {
			if e.roomIn(lane.Name) > 0 && (next.IsZero() || lane.Due.Before(next)) {
				next = lane.Due
			}
		}
		return err
	})
	return next, err
}

// send leases the rows and begins an attempt of each. One that is under way
// still has its lease renewed, but not one whose end is stored and that is only about
// to leave the dispatcher: what is due of it then is its next attempt. Of one that was begun and is not under way the end
// is not known: the server has ended since, or could not record it.
func (e *Dispatcher) send(ctx context.Context, rows []store.OutboxRow, taken places, now time.Time) error {
	units := make([]func(store.Tx) error, len(rows))
	leased, lost := make([]bool, len(rows)), make([]bool, len(rows))
	for i := range rows {
		row := &rows[i]
		renews := e.Running(row.Key)
		lost[i] = row.Flying && !renews
		units[i] = func(tx store.Tx) error {
			if renews && !row.Flying {
				return nil // its leaving wakes the sweeper
			}
			if !renews && !lost[i] {
				row.Attempts++
			}
			held, err := tx.Write().Outbox().Lease(row, now.Add(leaseOfAttempt))
			leased[i] = held && !renews
			if err != nil || !leased[i] || lost[i] {
				return err
			}
			return JournalOf(tx, stepOf(row), now, func(j *Journal) { j.Begin(now) })
		}
	}
	var failed error
	for i, err := range store.InParts(ctx, e.Store, units) {
		switch {
		case err != nil: // the others are leased nevertheless, and would count as lost if they were not begun
			failed = cmp.Or(failed, err)
		case leased[i]:
			row := rows[i]
			delete(taken, row.Key)
			e.Start(&row, func(ctx context.Context) { e.attempt(ctx, &row, lost[i]) })
		}
	}
	return failed
}

// errLost is the error of an attempt whose end is not known.
var errLost = &Failed{Kind: machine.FailureFault, Err: &Final{Reason: "the server ended while it ran, or could not record its end; what became of it is not known"}}

// What is said of an attempt that the stop of the server has cut off. Nobody knows what it had
// done by then either, but it was not the fault of a command.
var (
	errCut        = &Failed{Kind: machine.FailureFault, Err: &Final{Reason: "ended by the stop of the server"}}
	errCutForGood = &Failed{Kind: machine.FailureFault, Err: &Final{Reason: errCut.Error() + ", and not run again by itself: nobody knows what it had done by then"}}
)

// isLost reports whether nobody knows what an attempt that has failed had done.
func isLost(failure error) bool {
	return errors.Is(failure, errLost) || errors.Is(failure, errCut) || errors.Is(failure, errCutForGood)
}

// longestNote is how long a server that stops tries to note what it has cut off.
const longestNote = 2 * time.Second

// noteCut notes that the stop of the server has cut off an attempt. The next start takes that
// to the case.
func (e *Dispatcher) noteCut(ctx context.Context, row *store.OutboxRow) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestNote)
	defer cancel()
	now := e.Clock.Now()
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		return JournalOf(tx, stepOf(row), now, func(j *Journal) { j.Ended(now, errCut, time.Time{}) })
	})
	if err != nil {
		e.Log.Warn().Err(err).Str("key", row.Key).Int64("case", row.CaseID).Msg("outbox: could not note that the stop of the server has ended a delivery; its case will say that what became of it is not known")
	}
}

// howLost returns why nobody knows what became of the last attempt.
func (e *Dispatcher) howLost(ctx context.Context, row *store.OutboxRow, request *machine.Request) error {
	if row.CaseID == 0 || row.Step == 0 {
		return errLost // it has no journal
	}
	cut := false
	err := e.Store.View(ctx, func(r store.Reader) error {
		kept, err := store.OrNil(r.Outbox().Journal(row.CaseID, row.Seq, row.Step))
		if err != nil || kept == nil {
			return err
		}
		j, err := ReadJournal(kept.Form)
		cut = err == nil && j.isCut()
		return err
	})
	switch {
	case err != nil:
		e.Log.Warn().Err(err).Str("key", row.Key).Int64("case", row.CaseID).Msg("outbox: could not read how the last attempt of a delivery has ended")
		return errLost
	case cut && Restarts(request, row.Attempts):
		return errCut
	case cut:
		return errCutForGood
	}
	return errLost
}

// attempt makes one attempt. If the end of the last one is lost, that is recorded
// first, and there is another one only if it may be repeated.
func (e *Dispatcher) attempt(ctx context.Context, row *store.OutboxRow, lost bool) {
	defer func() {
		if e.End(row) {
			e.Note(e.Clock.Now())
		}
	}()
	var request machine.Request
	var reply *Reply
	failure := json.Unmarshal(row.Request, &request)
	switch {
	case failure != nil:
		failure = &Final{Reason: "the request cannot be read: " + failure.Error()}
	case lost:
		failure = e.howLost(ctx, row, &request)
	default:
		reply, failure = e.deliver(ctx, row, &request)
	}
	if failure != nil && ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), errStopped) {
			e.noteCut(ctx, row) // the next start takes it to the case
		}
		return
	}
	err := e.recordEnd(ctx, row, func(ctx context.Context) error { return e.finishDelivery(ctx, row, &request, reply, failure) })
	if err == nil || quota.Unserved(err) {
		return // unserved: the next start finds it as lost
	}
	ctx = context.WithoutCancel(ctx)
	e.Log.Error().Err(err).Str("key", row.Key).Int64("case", row.CaseID).Msg("outbox: could not pass an answer to its case; it is not tried again")
	if err := e.Store.Update(ctx, func(tx store.Tx) error {
		if row.Step == 0 {
			return e.endRow(tx, row) // others wait for it
		}
		return tx.Write().Outbox().Put(row.Key, time.Time{}, row.Attempts)
	}); err != nil {
		e.Log.Error().Err(err).Str("key", row.Key).Msg("outbox: could not record the end of a delivery; it may be repeated")
	}
}

// recordAgain is the pause after which what became of a delivery is recorded again.
const recordAgain = 5 * time.Second

// recordEnd records what became of a delivery. If nothing can be stored, as on a full disk,
// it tries until something can be: a command that has succeeded would count as lost
// otherwise. Its lease is renewed meanwhile. The end is recorded also if the server is being
// stopped, if that can be done at once.
func (e *Dispatcher) recordEnd(ctx context.Context, row *store.OutboxRow, record func(context.Context) error) error {
	said := false
	for {
		err := record(context.WithoutCancel(ctx))
		if err == nil || !quota.Unserved(err) {
			return err
		}
		if !said {
			e.Log.Warn().Err(err).Str("key", row.Key).Int64("case", row.CaseID).Msg("outbox: what became of a delivery cannot be recorded now; that is tried again")
			said = true
		}
		pause := time.NewTimer(recordAgain)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// deliver does what a row asks for.
func (e *Dispatcher) deliver(ctx context.Context, row *store.OutboxRow, request *machine.Request) (reply *Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestAttempt(request))
	defer cancel()
	if call := request.Call; call != nil {
		answer, err := e.Reach.Callbacks.Call(ctx, call.Name, CallbackInput{Key: row.Key, Case: call.Case, Value: call.Value})
		if err != nil {
			return nil, &Failed{Kind: machine.FailureFault, Err: err}
		}
		return &Reply{MediaType: "application/json", Content: answer}, nil
	}
	defer func() {
		if trouble := recover(); trouble != nil {
			e.Log.Error().Str("lane", row.Lane).Any("panic", trouble).Msg("outbox: a delivery panicked")
			err = errors.New("an internal error; the server's log has it")
		}
	}()
	refused := ""
	if m := request.Mail; m != nil {
		if refused = e.Reach.withoutStrangers(m); len(m.To) == 0 && len(m.ToSecrets) == 0 {
			return nil, &Final{Reason: refused}
		}
	}
	by, err := e.authorOf(ctx, row, request)
	if err != nil {
		return nil, err
	}
	reply, err = e.Reach.Outside.Deliver(ctx, &Delivery{
		By:   by,
		Case: row.CaseID, Key: row.Key, Attempt: int(row.Attempts), Mail: request.Mail, HTTP: request.HTTP, Exec: request.Exec, News: request.News,
		Wrote: func(o Output) { e.wrote(ctx, row, o) },
	})
	if err == nil && refused != "" {
		err = &Final{Reason: refused}
	}
	return reply, err
}

// longestAttempt bounds an attempt. A command has limits of its own; this one is
// for what would never end.
func longestAttempt(r *machine.Request) time.Duration {
	switch {
	case r.HTTP != nil, r.News != nil:
		return 10 * time.Second
	case r.Exec != nil:
		return 25 * time.Hour
	}
	return 30 * time.Second
}

// record keeps what would be sent as messages of the cases: nothing leaves a
// sandbox (docs/contract/drive.md#8-sandbox-mode).
func (e *Dispatcher) record(ctx context.Context, rows []store.OutboxRow, taken places, now time.Time) error {
	slices.SortFunc(rows, func(a, b store.OutboxRow) int { // as it was asked for, lanes aside
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
	})
	units := make([]func(store.Tx) error, len(rows))
	for i := range rows {
		row := &rows[i]
		rehearsed, err := e.askOutside(ctx, row, now)
		if err != nil {
			return err
		}
		units[i] = func(tx store.Tx) error {
			if rehearsed != nil {
				return e.writeRehearsal(tx, row, rehearsed, now)
			}
			content, err := Record(row)
			if err != nil {
				return err
			}
			if err := e.rehearseRow(tx, row, now); err != nil {
				return err
			}
			event := machine.Recorded{Seq: row.Seq, Step: row.Step, Content: content}
			write, err := e.Cases.Take(tx, row, event, now)
			if err != nil {
				return err
			}
			return e.writeReply(tx, row, event, write)
		}
	}
	for i, err := range store.InParts(ctx, e.Store, units) {
		err = e.Ahead(ctx, err, func() error { return e.Store.Update(ctx, units[i]) })
		if err == nil {
			delete(taken, rows[i].Key)
			continue
		}
		if ctx.Err() != nil || quota.Unserved(err) {
			return err
		}
		e.Log.Error().Err(err).Str("key", rows[i].Key).Msg("outbox: could not record what would be sent; it stays in the outbox")
		if err := e.Store.Update(ctx, func(tx store.Tx) error { return tx.Write().Outbox().Put(rows[i].Key, time.Time{}, 0) }); err != nil {
			return err
		}
	}
	return nil
}
