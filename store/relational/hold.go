package relational

import (
	"slices"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

var holdTable = table[store.Hold]{"holds", "hold", func(h *store.Hold, to []column) []column {
	return append(to, []column{
		{"id", selected, &h.ID},
		{"folded", inserted, folded{&h.Name}},
		{"name", fixed, &h.Name},
		{"route", full, &h.Route},
		{"grp", full, &h.Group},
		{"engine", full, &h.Engine},
		{"reason", full, &h.Reason},
		{"author", fixed, &h.Author},
		{"revision", full, &h.Revision},
		{"created", fixed, millis{&h.Created}},
		{"modified", full, millis{&h.Modified}},
	}...)
}}

var (
	insertHold  = holdTable.insert()
	updateHold  = holdTable.update(condition{where: `id = ?1`, given: 1})
	selectHolds = `SELECT ` + holdTable.list("") + ` FROM holds ORDER BY id`
)

const deleteHold = `DELETE FROM holds WHERE id = ?1`

// Holds returns all holds by ID. There are few.
func (r queueReader) Holds() (all []store.Hold, err error) {
	if known := r.c.memory.holds.known.Load(); known != nil {
		return slices.Clone(*known), nil
	}
	return r.storedHolds()
}

func (r *reader) storedHolds() (all []store.Hold, err error) {
	err = holdTable.add(r.c, &all, selectHolds)
	return all, Failure("read the holds", err)
}

// PutHold stores a new hold and sets its ID, or changes the one with that ID.
// It returns errs.NameTaken if the name is in use, in any case.
func (t queueWriter) PutHold(h *store.Hold) error {
	t.c.memory.holds.move()
	if h.ID != 0 {
		n, err := updateHold.change(t.c, h, h.ID)
		return found(n, err, "hold")
	}
	err := insertHold.added(t.c, h, &h.ID)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "There is a hold %q already.", h.Name)
	}
	return Failure("store a hold", err)
}

// DeleteHold deletes a hold.
func (t queueWriter) DeleteHold(id int64) error {
	t.c.memory.holds.move()
	n, err := t.c.Change(deleteHold, id)
	return found(n, err, "hold")
}
