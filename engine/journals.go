package engine

import (
	"context"
	"slices"
	"time"

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

// shownDeliveries is of how many deliveries of a case its page tells, at most.
const shownDeliveries = 10

// addDeliveries adds what became of deliveries of the case: first of those that have not
// ended, in the order in which they were asked for, then of the newest of the others.
func (l *lister) addDeliveries(d *CaseDetail) error {
	newest, err := l.r.Outbox().NewestJournals(d.Case.ID, shownDeliveries+1)
	if err != nil {
		return err
	}
	d.MoreDeliveries = len(newest) > shownDeliveries
	open := func(j store.Journal) bool {
		return slices.ContainsFunc(d.Case.Outbox, func(o machine.Outgoing) bool { return o.Seq == j.Seq && o.Step == j.Step })
	}
	var all []store.Journal
	for i := range d.Case.Outbox[:min(len(d.Case.Outbox), shownDeliveries)] {
		o := &d.Case.Outbox[i]
		if at := slices.IndexFunc(newest, func(j store.Journal) bool { return j.Seq == o.Seq && j.Step == o.Step }); at >= 0 {
			all = append(all, newest[at])
			continue
		}
		j, err := store.OrNil(l.r.Outbox().Journal(d.Case.ID, o.Seq, o.Step))
		if err != nil {
			return err
		}
		if j != nil { // else it is older than those that are kept
			all = append(all, *j)
		}
	}
	all = append(all, slices.DeleteFunc(newest, open)...)
	for i := range all[:min(len(all), shownDeliveries)] {
		j, err := outbox.ReadJournal(all[i].Form)
		if err != nil {
			return err
		}
		d.Deliveries = append(d.Deliveries, j)
	}
	return nil
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

// journal writes into the journals of a case what an event does to its outbox.
func journal(tx store.Tx, c *caseChange, p *machine.Posting) error {
	now := c.after.Modified
	if p.Request == nil {
		return outbox.JournalOf(tx, outbox.Step{Case: c.after.ID, Seq: p.Seq, Step: p.Step}, now, func(j *outbox.Journal) {
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
