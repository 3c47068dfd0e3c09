package sqlite

import (
	"slices"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	selectHolds = `SELECT id, name, route, grp, engine, reason, author, revision, created, modified FROM holds ORDER BY id`
	insertHold  = `
		INSERT INTO holds (folded, name, route, grp, engine, reason, author, revision, created, modified)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`
	updateHold = `UPDATE holds SET route = ?2, grp = ?3, engine = ?4, reason = ?5, revision = ?6, modified = ?7 WHERE id = ?1`
	deleteHold = `DELETE FROM holds WHERE id = ?1`
)

// Holds returns all holds by ID. There are few.
func (r queueReader) Holds() (all []store.Hold, err error) {
	if known := r.c.memory.holds.known.Load(); known != nil {
		return slices.Clone(*known), nil
	}
	return r.storedHolds()
}

func (r *reader) storedHolds() (all []store.Hold, err error) {
	err = r.c.each(selectHolds, func(scan scan) error {
		var h store.Hold
		err := scan(&h.ID, &h.Name, &h.Route, &h.Group, &h.Engine, &h.Reason, &h.Author, &h.Revision, millis{&h.Created}, millis{&h.Modified})
		all = append(all, h)
		return err
	})
	return all, failure("read the holds", err)
}

// PutHold stores a new hold and sets its ID, or changes the one of that ID. A
// name in use, whatever its case, is errs.NameTaken.
func (t queueWriter) PutHold(h *store.Hold) error {
	t.c.memory.holds.move()
	if h.ID != 0 {
		n, err := t.c.change(updateHold, h.ID, h.Route, h.Group, h.Engine, h.Reason, h.Revision, at(h.Modified))
		return found(n, err, "hold")
	}
	res, err := t.c.exec(insertHold, identity.Fold(h.Name), h.Name, h.Route, h.Group, h.Engine, h.Reason, h.Author, h.Revision, at(h.Created), at(h.Modified))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "There is a hold %q already.", h.Name)
	}
	if err == nil {
		h.ID, err = res.LastInsertId()
	}
	return failure("store a hold", err)
}

// DeleteHold deletes a hold.
func (t queueWriter) DeleteHold(id int64) error {
	t.c.memory.holds.move()
	n, err := t.c.change(deleteHold, id)
	return found(n, err, "hold")
}
