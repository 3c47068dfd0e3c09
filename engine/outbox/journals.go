package outbox

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"flowdrive/engine/machine"
	"flowdrive/store"
)

// Step is the step of a case that has asked for a delivery.
type Step struct{ Case, Seq, Step int64 }

// stepOf returns the step that has asked for the delivery of a row.
func stepOf(row *store.OutboxRow) Step { return Step{row.CaseID, row.Seq, row.Step} }

// JournalOf changes the journal of a delivery, if there is one: a delivery that a
// notification has asked for has none.
func JournalOf(tx store.Tx, s Step, now time.Time, change func(*Journal)) error {
	if s.Case == 0 || s.Step == 0 {
		return nil
	}
	row, err := store.OrNil(tx.Outbox().Journal(s.Case, s.Seq, s.Step))
	if err != nil || row == nil {
		return err
	}
	j, err := ReadJournal(row.Form)
	if err != nil {
		return err
	}
	change(j)
	row.Form, row.Modified = j.Form(), now
	return tx.Write().Outbox().PutJournal(row)
}

// wrote keeps what a command has written so far as messages of its case, so that
// people can follow it. Nothing of the case is told of them.
func (e *Dispatcher) wrote(ctx context.Context, row *store.OutboxRow, o Output) {
	if row.CaseID == 0 || row.Step == 0 {
		return
	}
	err := e.Store.Update(context.WithoutCancel(ctx), func(tx store.Tx) error { return e.keepOutput(tx, row, o, e.Clock.Now()) })
	if err != nil {
		e.Log.Warn().Err(err).Str("key", row.Key).Msg("outbox: could not keep what a command writes")
	}
}

// keepOutput stores what the last attempt of a delivery has written so far.
func (e *Dispatcher) keepOutput(tx store.Tx, row *store.OutboxRow, o Output, now time.Time) error {
	if len(o.Stdout)+len(o.Stderr) == 0 {
		return nil
	}
	c, err := store.OrNil(tx.Cases().Get(row.CaseID))
	if err != nil || c == nil {
		return err
	}
	var stdout, stderr string
	err = JournalOf(tx, stepOf(row), now, func(j *Journal) { stdout, stderr = j.Wrote(row.Seq, row.Step, o) })
	if err != nil || stdout == "" {
		return err
	}
	for _, n := range []machine.NewMessage{{Label: stdout, Content: o.Stdout}, {Label: stderr, Content: o.Stderr}} {
		if len(n.Content) == 0 {
			continue
		}
		n.MediaType = typeOfOutput(n.Content)
		if err := e.Cases.PutMessage(tx, c, n, now); err != nil {
			return err
		}
	}
	return nil
}

// keepBody keeps what a service has answered to an attempt that failed as a message of the
// case, in place of that of the attempt before, and returns its label; "" for nothing, and if
// the starter of the case has no room for it.
func (e *Dispatcher) keepBody(tx store.Tx, row *store.OutboxRow, failure error, now time.Time) (label string, err error) {
	if failure == nil || row.CaseID == 0 || row.Step == 0 {
		return "", nil
	}
	body := HowFailed(failure).Body
	if body == nil || len(body.Content) == 0 {
		return "", nil
	}
	c, err := store.OrNil(tx.Cases().Get(row.CaseID))
	if err != nil || c == nil {
		return "", err
	}
	label = fmt.Sprintf("%s-%d-%d", answerBody, row.Seq, row.Step)
	if fits, err := e.Cases.HasRoom(tx, c, int64(len(body.Content))); err != nil || !fits {
		return "", err
	}
	return label, e.Cases.PutMessage(tx, c, machine.NewMessage{Label: label, MediaType: CleanType(body.MediaType), Content: body.Content}, now)
}

// typeOfOutput returns the media type of what a command has written.
func typeOfOutput(content []byte) string {
	if utf8.Valid(content) {
		return "text/plain; charset=utf-8"
	}
	return "text/plain"
}
