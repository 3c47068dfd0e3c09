package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/store"
)

// op is one statement with its arguments. Where it is about a case, the
// first is the case's id.
type op struct {
	query  string
	args   []any
	ofCase bool
	reads  bool // one row
}

// The statements by which the store keeps cases, written down again: the
// limit must not use the store, and a test holds both against each other.
const (
	bareReadCase = `SELECT id, route_id, context_id, starter_id, state, status, priority, version, revision, due,
		coalesce(parent_id, 0), coalesce(parent_row, 0), named, form, created, modified, marking FROM cases WHERE id = ?1`
	bareInsertCase = `
		INSERT INTO cases (id, route_id, context_id, starter_id, state, status, priority, version, revision,
			due, named, form, created, modified, marking, access)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)`
	bareAdvanceCase = `
		UPDATE cases SET context_id = ?3, status = ?5, version = ?7, revision = ?8, due = ?9, named = ?10,
			form = ?11, modified = ?12, marking = ?13
		WHERE id = ?1 AND revision = ?2 AND state = ?4 AND priority = ?6 AND (?14 IS NULL OR access = ?14)`
	bareUpdateCase = `
		UPDATE cases SET context_id = ?3, status = ?5, version = ?7, revision = ?8, due = ?9, named = ?10,
			form = ?11, modified = ?12, marking = ?13,
			state = ?4, priority = ?6, access = coalesce(?14, access)
		WHERE id = ?1 AND revision = ?2`
	bareInsertLog     = `INSERT INTO case_log (case_id, seq, entries) VALUES (?1, ?2, ?3)`
	bareUpsertMessage = `
		INSERT INTO messages (case_id, label, uuid, media_type, size, sha256, version, created, modified, content)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
		ON CONFLICT (case_id, label) DO UPDATE SET
			uuid = ?3, media_type = ?4, size = ?5, sha256 = ?6, version = ?7, created = ?8, modified = ?9, content = ?10`
	bareInsertTask = `
		INSERT INTO tasks (case_id, party_id, lists) VALUES (?1, ?2, ?3)
		ON CONFLICT DO UPDATE SET lists = excluded.lists WHERE lists <> excluded.lists`
	bareDeleteTasks = `DELETE FROM tasks WHERE case_id = ?1`
)

// recorder is a store that notes, while it is asked to, what the engine
// writes: the limit writes the same rows with other ids.
type recorder struct {
	store.Store
	mu    sync.Mutex
	on    bool
	units [][]op
}

// Update implements store.Store.
func (r *recorder) Update(ctx context.Context, f func(store.Tx) error) error {
	r.mu.Lock()
	on := r.on
	r.mu.Unlock()
	if !on {
		return r.Store.Update(ctx, f)
	}
	var ops []op
	err := r.Store.Update(ctx, func(tx store.Tx) error {
		t := &recordingTx{Tx: tx}
		err := f(t)
		ops = t.ops
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units = append(r.units, ops)
	return err
}

// record returns what the engine writes while f runs, unit by unit.
func (r *recorder) record(f func() error) ([][]op, error) {
	r.set(true)
	err := f()
	units := r.set(false)
	return units, err
}

func (r *recorder) set(on bool) (units [][]op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = on
	units, r.units = r.units, nil
	return units
}

// recordingTx notes the statements about cases.
type recordingTx struct {
	store.Tx
	ops []op
}

// Case implements store.Tx.
func (t *recordingTx) Case(id int64) (*store.Case, error) {
	t.ops = append(t.ops, op{query: bareReadCase, args: []any{id}, ofCase: true, reads: true})
	return t.Tx.Case(id)
}

// InsertCase implements store.Tx.
func (t *recordingTx) InsertCase(c *store.Case) error {
	access, err := accessText(c)
	if err != nil {
		return err
	}
	t.ops = append(t.ops, op{query: bareInsertCase, ofCase: true, args: []any{
		c.ID, c.RouteID, int64(c.ContextID), int64(c.StarterID), c.State, c.Status, int64(c.Priority), c.Version, c.Revision,
		millisOrNull(c.Due), c.Named, slices.Clone(c.Form), c.Created.UnixMilli(), c.Modified.UnixMilli(), slices.Clone(c.Marking), access,
	}})
	t.tasks(c)
	return t.Tx.InsertCase(c)
}

// UpdateCase implements store.Tx.
func (t *recordingTx) UpdateCase(c *store.Case, base int64) error {
	query := bareUpdateCase
	if c.State == string(machine.Active) {
		query = bareAdvanceCase
	}
	access, err := accessText(c)
	if err != nil {
		return err
	}
	t.ops = append(t.ops, op{query: query, ofCase: true, args: []any{
		c.ID, base, int64(c.ContextID), c.State, c.Status, int64(c.Priority), c.Version, c.Revision, millisOrNull(c.Due), c.Named,
		slices.Clone(c.Form), c.Modified.UnixMilli(), slices.Clone(c.Marking), access,
	}})
	t.tasks(c)
	return t.Tx.UpdateCase(c, base)
}

// tasks notes what is written of the tasks of a case: those of a new one, and
// that one that had a task has none any more.
func (t *recordingTx) tasks(c *store.Case) {
	for _, share := range c.Tasks {
		t.ops = append(t.ops, op{query: bareInsertTask, ofCase: true, args: []any{c.ID, int64(share.Party), int64(share.Lists)}})
	}
	if len(c.Tasks) == 0 && len(c.Had) > 0 {
		t.ops = append(t.ops, op{query: bareDeleteTasks, ofCase: true, args: []any{c.ID}})
	}
}

// AppendLog implements store.Tx.
func (t *recordingTx) AppendLog(caseID, seq int64, entries []byte) error {
	t.ops = append(t.ops, op{query: bareInsertLog, ofCase: true, args: []any{caseID, seq, slices.Clone(entries)}})
	return t.Tx.AppendLog(caseID, seq, entries)
}

// PutMessage implements store.Tx.
func (t *recordingTx) PutMessage(m *store.Message) error {
	content := slices.Clone(m.Content)
	if content == nil {
		content = []byte{}
	}
	t.ops = append(t.ops, op{query: bareUpsertMessage, ofCase: true, args: []any{
		m.CaseID, m.Label, m.UUID[:], m.MediaType, m.Size, m.SHA256[:], m.Version, m.Created.UnixMilli(), m.Modified.UnixMilli(), content,
	}})
	return t.Tx.PutMessage(m)
}

// accessText is the JSON array of the column, nil for as it is.
func accessText(c *store.Case) (any, error) {
	if c.Access == nil {
		return nil, nil //nolint:nilnil // a NULL
	}
	text, err := json.Marshal(c.Access)
	return string(text), err
}

func millisOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// bind returns the operations for another case.
func bind(ops []op, id int64) []op {
	out := slices.Clone(ops)
	for i := range out {
		if out[i].ofCase {
			out[i].args = slices.Clone(out[i].args)
			out[i].args[0] = id
		}
	}
	return out
}

// series is a unit that is written again and again on the same case: its
// numbers grow.
type series struct {
	ops  []op
	nth  int64     // of those on a case
	grow [][]int64 // each argument of each operation, from one to the next
}

// seriesOf finds out from the last two of the units, which were written on
// one case one after the other, how a series goes on.
func seriesOf(units [][]op) (*series, error) {
	last, before := units[len(units)-1], units[len(units)-2]
	if len(last) != len(before) {
		return nil, errors.New("what is done again is not written as it was before")
	}
	s := &series{ops: last, nth: int64(len(units))}
	for i := range last {
		if last[i].query != before[i].query {
			return nil, fmt.Errorf("what is done again is not written as it was before: %s", last[i].query)
		}
		grow := make([]int64, len(last[i].args))
		for k := range last[i].args {
			a, isNumber := before[i].args[k].(int64)
			b, isToo := last[i].args[k].(int64)
			if isNumber && isToo {
				grow[k] = b - a
			}
		}
		s.grow = append(s.grow, grow)
	}
	return s, nil
}

// unit returns the n-th of the series on a case, beginning with 1.
func (s *series) unit(id, n int64) []op {
	out := bind(s.ops, id)
	for i := range out {
		for k, by := range s.grow[i] {
			if value, ok := out[i].args[k].(int64); ok && by != 0 {
				out[i].args[k] = value + by*(n-s.nth)
			}
		}
	}
	return out
}

// over puts the recorder between an engine and its store.
func (r *recorder) over(s store.Store) store.Store {
	r.Store = s
	return r
}
