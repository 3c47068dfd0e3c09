package engine_test

import (
	"context"
	"sync"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// spy is a store that tells of every write, and fails those it is told to.
type spy struct {
	store.Store
	mu     sync.Mutex
	writes []write

	// before is asked before each write; an error is the write's. It may be
	// set while nothing runs.
	before func(write) error

	// first is asked before each Update, outside the writer; nil: nothing.
	first func() error
}

// write is one write: which method, and of what.
type write struct {
	method string
	caseID int64
	row    any
}

// spied puts a spy between engine and store.
func spied(s *spy) func(*world) {
	return func(w *world) {
		w.wrap = func(store store.Store) store.Store {
			s.Store = store
			return s
		}
	}
}

// seen returns the writes since the last call.
func (s *spy) seen() []write {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.writes
	s.writes = nil
	return out
}

func (s *spy) Update(ctx context.Context, f func(store.Tx) error) error {
	if s.first != nil {
		if err := s.first(); err != nil {
			return err
		}
	}
	return s.Store.Update(ctx, s.unit(f))
}

func (s *spy) unit(f func(store.Tx) error) func(store.Tx) error {
	return func(tx store.Tx) error { return f(spyTx{tx, s}) }
}

// spyTx passes each write on.
type spyTx struct {
	store.Tx
	spy *spy
}

func (t spyTx) pass(w write, f func() error) error {
	t.spy.mu.Lock()
	t.spy.writes = append(t.spy.writes, w)
	before := t.spy.before
	t.spy.mu.Unlock()
	if before != nil {
		if err := before(w); err != nil {
			return err
		}
	}
	return f()
}

func (t spyTx) PutParty(p *store.Party) error {
	return t.pass(write{method: "PutParty", row: p}, func() error { return t.Tx.PutParty(p) })
}

func (t spyTx) DeleteParty(id identity.ID) error {
	return t.pass(write{method: "DeleteParty"}, func() error { return t.Tx.DeleteParty(id) })
}

func (t spyTx) PutRoute(r *store.Route) error {
	return t.pass(write{method: "PutRoute", row: r}, func() error { return t.Tx.PutRoute(r) })
}

func (t spyTx) DeleteRoute(id int64) error {
	return t.pass(write{method: "DeleteRoute"}, func() error { return t.Tx.DeleteRoute(id) })
}

func (t spyTx) InsertEntry(e *store.Entry) error {
	return t.pass(write{method: "InsertEntry", row: e}, func() error { return t.Tx.InsertEntry(e) })
}

func (t spyTx) UpdateEntry(e *store.Entry) error {
	return t.pass(write{method: "UpdateEntry", row: e}, func() error { return t.Tx.UpdateEntry(e) })
}

func (t spyTx) DeleteEntry(uuid store.UUID) error {
	return t.pass(write{method: "DeleteEntry"}, func() error { return t.Tx.DeleteEntry(uuid) })
}

func (t spyTx) InsertOccurrence(o *store.Occurrence) error {
	return t.pass(write{method: "InsertOccurrence", row: o}, func() error { return t.Tx.InsertOccurrence(o) })
}

func (t spyTx) RedoOccurrence(o *store.Occurrence) error {
	return t.pass(write{method: "RedoOccurrence", row: o}, func() error { return t.Tx.RedoOccurrence(o) })
}

func (t spyTx) InsertCase(c *store.Case) error {
	return t.pass(write{method: "InsertCase", caseID: c.ID, row: c}, func() error { return t.Tx.InsertCase(c) })
}

func (t spyTx) UpdateCase(c *store.Case, base int64) error {
	return t.pass(write{method: "UpdateCase", caseID: c.ID, row: c}, func() error { return t.Tx.UpdateCase(c, base) })
}

func (t spyTx) AppendLog(caseID, seq int64, entries []byte) error {
	return t.pass(write{method: "AppendLog", caseID: caseID}, func() error { return t.Tx.AppendLog(caseID, seq, entries) })
}

func (t spyTx) PutMessage(m *store.Message) error {
	return t.pass(write{method: "PutMessage", caseID: m.CaseID, row: m}, func() error { return t.Tx.PutMessage(m) })
}

func (t spyTx) PutGivenName(n *store.GivenName) error {
	return t.pass(write{method: "PutGivenName", row: n}, func() error { return t.Tx.PutGivenName(n) })
}

func (t spyTx) DeleteGivenName(folder store.Folder, author identity.ID, name string) error {
	return t.pass(write{method: "DeleteGivenName"}, func() error { return t.Tx.DeleteGivenName(folder, author, name) })
}

func (t spyTx) DeleteAttachment(uuid store.UUID) error {
	return t.pass(write{method: "DeleteAttachment"}, func() error { return t.Tx.DeleteAttachment(uuid) })
}

func (t spyTx) PutAnswer(a *store.Answer) error {
	return t.pass(write{method: "PutAnswer", row: a}, func() error { return t.Tx.PutAnswer(a) })
}

func (t spyTx) PutSetting(key, value string) error {
	return t.pass(write{method: "PutSetting", row: key}, func() error { return t.Tx.PutSetting(key, value) })
}

// unavailable is what a store answers that cannot serve.
func unavailable() error { return errs.New(errs.Unavailable, "The store is away.") }

// broken is what a defect answers.
func broken() error { return errs.New(errs.Internal, "This is broken.") }
