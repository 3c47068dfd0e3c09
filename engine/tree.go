package engine

import (
	"encoding/json"
	"maps"
	"slices"

	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// newIDs gives ids to cases that a decision creates in addition to the one that
// it is about. A dry run only looks up which ids would be next.
func (e *decider) newIDs(req Request) func() int64 {
	if !req.DryRun {
		return e.Store.NextID
	}
	next := e.Store.PeekID()
	return func() int64 {
		next++
		return next
	}
}

// newIDs returns the ids for all decisions of one change.
func (h *loadedCase) newIDs(e *decider, req Request) func() int64 {
	if h.ids == nil {
		h.ids = e.newIDs(req)
	}
	return h.ids
}

// addRelated adds what a decision did to other cases of the tree.
func (e *decider) addRelated(c *caseChange, out *machine.Output, l *lookup) error {
	c.plans, c.readCases = out.Plans, l.cases
	for i := range out.Others {
		other := &out.Others[i]
		change := &caseChange{after: other.Case, log: other.Log, written: other.Messages, postings: other.Outbox, plans: other.Plans, failures: other.Failures, mended: other.Mended}
		if other.New {
			m, err := e.inherited(c, out, other, l)
			if err != nil {
				return err
			}
			change.inherited = m
		} else {
			change.before, change.was, change.base = other.From.Shown(), other.From, other.From.Revision
		}
		e.render(change, other.Route)
		if row := l.rows[other.Case.ID]; row != nil {
			change.base = row.Revision
			change.freesName = row.Named && other.Case.Life == machine.Canceled
			change.row.Named = row.Named && !change.freesName
		}
		if earlier := l.after[other.Case.ID]; earlier != nil {
			change.follow(earlier)
		} else if !other.New {
			e.shared(change, machine.Shares(other.From, other.Route))
		}
		if row := l.rows[other.Case.ID]; row != nil {
			e.wasArchived(change, row.Archived)
		}
		c.others = append(c.others, change)
	}
	return nil
}

// inherited returns the input of a case that a decision made: a message of
// the case that made it, as that is after the event, else an empty one.
func (e *decider) inherited(c *caseChange, out *machine.Output, other *machine.Changed, l *lookup) (*store.Message, error) {
	input := &contents.Content{MediaType: "text/plain"}
	var source *store.Message
	if from := other.Input; from.Case != 0 {
		var err error
		if source, err = e.messageAfter(c, out, l, from); err != nil {
			return nil, err
		}
		version := int64(0)
		if source != nil {
			input.MediaType, input.Inline, version = source.MediaType, source.Content, source.Version
		}
		c.read = append(c.read, readFact{from.Case, from.Label, version})
	}
	m := input.Message(other.Case.ID, mustGUID(other.Case.GUID), store.LabelInput)
	if source != nil && source.InFile {
		m.Size, m.SHA256, m.InFile, m.Content = source.Size, source.SHA256, true, nil
	}
	m.Created, m.Modified, m.AuthorID = other.Case.Created, other.Case.Created, e.accounts.PartyID(other.Case.Starter)
	return m, nil
}

// messageAfter returns a message of one of the decision's cases as it is after
// the event, or nil.
func (e *decider) messageAfter(c *caseChange, out *machine.Output, l *lookup, of machine.InputRef) (*store.Message, error) {
	if of.Case == c.after.ID {
		return c.finder(l.find)(of.Label)
	}
	stored := func(label string) (*store.Message, error) {
		if l.reader == nil {
			return nil, nil
		}
		return store.OrNil(l.reader.Cases().Messages().GetByLabel(of.Case, label))
	}
	for i := range out.Others {
		if out.Others[i].Case.ID == of.Case {
			return (&caseChange{written: out.Others[i].Messages}).finder(stored)(of.Label)
		}
	}
	return stored(of.Label)
}

// follow makes a change of a case the second part of one.
func (c *caseChange) follow(earlier *caseChange) {
	c.before, c.was, c.base = earlier.before, earlier.was, earlier.base
	c.log = append(earlier.log, c.log...)
	c.written = append(earlier.written, c.written...)
	c.postings = append(earlier.postings, c.postings...)
	c.messages = append(earlier.messages, c.messages...)
	c.notices = merge(earlier.notices, c.notices)
	c.stores, c.full = c.stores+earlier.stores, c.full || earlier.full
	c.failures, c.mended = append(earlier.failures, c.failures...), append(earlier.mended, c.mended...)
	c.read = append(earlier.read, c.read...)
	c.readCases = append(earlier.readCases, c.readCases...)
	for row, plan := range earlier.plans {
		if _, known := c.plans[row]; !known {
			keep(&c.plans, row, plan)
		}
	}
	for _, other := range earlier.others {
		if !c.changes(other.after.ID) {
			c.others = append(c.others, other)
		}
	}
}

func (c *caseChange) changes(id int64) bool {
	for _, other := range c.others {
		if other.after.ID == id {
			return true
		}
	}
	return false
}

// byID returns the other cases of a change.
func (c *caseChange) byID() map[int64]*caseChange {
	var all map[int64]*caseChange
	for _, other := range c.others {
		keep(&all, other.after.ID, other)
	}
	return all
}

// putPlans keeps what is needed to go on with children, or drops it.
func putPlans(tx store.Tx, c *caseChange) error {
	for _, row := range slices.Sorted(maps.Keys(c.plans)) {
		var form []byte
		if plan := c.plans[row]; plan != nil {
			var err error
			if form, err = json.Marshal(plan); err != nil {
				return errs.Wrap("store a plan of children", err)
			}
		}
		if err := tx.Write().Cases().PutPlan(c.row.ID, row, form); err != nil {
			return err
		}
	}
	return nil
}
