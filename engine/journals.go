package engine

import (
	"context"
	"time"
	"unicode/utf8"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Outbox returns what became of the deliveries of a case, in the order in which its
// steps asked for them (docs/contract/drive.md#outbox-of-a-case). Errors:
// errs.NotFound if by may not see the case.
func (e *Cases) Outbox(ctx context.Context, by identity.Principal, id int64) (out []Resource, err error) {
	if _, err := e.viewCase(ctx, by, id); err != nil {
		return nil, err
	}
	err = e.Store.View(ctx, func(r store.Reader) error {
		journals, err := r.Outbox().Journals(id)
		for i := range journals {
			j := &journals[i]
			out = append(out, Resource{
				Name: j.Name, Form: j.Form, FormETag: change.SourceETag(j.Form), Created: j.Created, Modified: j.Modified, Own: true, Seq: int64(i + 1),
			})
		}
		return err
	})
	return out, err
}

// Delivery returns what became of one delivery of a case, by its name. Errors:
// errs.NotFound if there is none of that name, or by may not see the case.
func (e *Cases) Delivery(ctx context.Context, by identity.Principal, id int64, name string) (*Resource, error) {
	all, err := e.Outbox(ctx, by, id)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, change.Absent("delivery")
}

// delivery names a delivery that a step of a case has asked for.
type delivery struct{ caseID, seq, step int64 }

func deliveryOf(row *store.OutboxRow) delivery { return delivery{row.CaseID, row.Seq, row.Step} }

// journalOf changes the journal of a delivery, if there is one: a delivery that a
// notification has asked for has none.
func journalOf(tx store.Tx, d delivery, now time.Time, change func(*outbox.Journal)) error {
	if d.caseID == 0 || d.step == 0 {
		return nil
	}
	row, err := store.OrNil(tx.Outbox().Journal(d.caseID, d.seq, d.step))
	if err != nil || row == nil {
		return err
	}
	j, err := outbox.ReadJournal(row.Form)
	if err != nil {
		return err
	}
	change(j)
	row.Form, row.Modified = j.Form(), now
	return tx.Write().Outbox().PutJournal(row)
}

// journal writes into the journals of a case what an event does to its outbox.
func journal(tx store.Tx, c *caseChange, p *machine.Posting) error {
	now := c.after.Modified
	if p.Request == nil {
		return journalOf(tx, delivery{c.after.ID, p.Seq, p.Step}, now, func(j *outbox.Journal) {
			switch {
			case p.Again:
				j.Again(now)
			case p.Failed:
				j.Failed()
			case p.Over:
				j.End(p.End, now)
			}
		})
	}
	for i := range c.after.Outbox {
		if o := &c.after.Outbox[i]; o.Seq == p.Seq && o.Step == p.Step {
			j := outbox.NewJournal(c.after.ID, o, p.What)
			return tx.Write().Outbox().PutJournal(&store.Journal{CaseID: c.after.ID, Seq: p.Seq, Step: p.Step, Name: j.Name, Created: now, Modified: now, Form: j.Form()})
		}
	}
	return nil
}

// wrote keeps what a command has written so far as messages of its case, so that
// people can follow it. Nothing of the case is told of them.
func (e *deliveries) wrote(ctx context.Context, row *store.OutboxRow, o outbox.Output) {
	if row.CaseID == 0 || row.Step == 0 {
		return
	}
	err := e.Store.Update(context.WithoutCancel(ctx), func(tx store.Tx) error { return e.keepOutput(tx, row, o, e.Clock.Now()) })
	if err != nil {
		e.log.Warn().Err(err).Str("key", row.Key).Msg("outbox: could not keep what a command writes")
	}
}

// keepOutput stores what the last attempt of a delivery has written so far.
func (e *deliveries) keepOutput(tx store.Tx, row *store.OutboxRow, o outbox.Output, now time.Time) error {
	if len(o.Stdout)+len(o.Stderr) == 0 {
		return nil
	}
	c, err := store.OrNil(tx.Cases().Get(row.CaseID))
	if err != nil || c == nil {
		return err
	}
	var stdout, stderr string
	err = journalOf(tx, deliveryOf(row), now, func(j *outbox.Journal) { stdout, stderr = j.Wrote(row.Seq, row.Step, o) })
	if err != nil || stdout == "" {
		return err
	}
	for _, n := range []machine.NewMessage{{Label: stdout, Content: o.Stdout}, {Label: stderr, Content: o.Stderr}} {
		if len(n.Content) == 0 {
			continue
		}
		n.MediaType = typeOfOutput(n.Content)
		if err := e.decider.putMessage(tx, c, n, now); err != nil {
			return err
		}
	}
	return nil
}

// typeOfOutput returns the media type of what a command has written.
func typeOfOutput(content []byte) string {
	if utf8.Valid(content) {
		return "text/plain; charset=utf-8"
	}
	return "text/plain"
}

// putMessage stores a message of a case, in place of one with the same label.
func (e *decider) putMessage(tx store.Tx, c *store.Case, n machine.NewMessage, now time.Time) error {
	core, err := machine.ReadMarking(c.Marking)
	if err != nil {
		return err
	}
	inline := &contents.Content{MediaType: n.MediaType, Inline: n.Content}
	m := inline.Message(c.ID, mustGUID(core.GUID), n.Label)
	m.Created, m.Modified, m.AuthorID = now, now, c.StarterID
	return e.replace(tx, m)
}
