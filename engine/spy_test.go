package engine_test

import (
	"context"
	"sync"
	"time"

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

// Write implements store.Tx.
func (t spyTx) Write() store.Writer { return spyWriter{t.Tx.Write(), t.spy} }

func (s *spy) pass(w write, f func() error) error {
	s.mu.Lock()
	s.writes = append(s.writes, w)
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(w); err != nil {
			return err
		}
	}
	return f()
}

// spyWriter passes on what is written of each noun.
type spyWriter struct {
	store.Writer
	spy *spy
}

func (w spyWriter) Parties() store.PartyWriter { return spyParties{w.Writer.Parties(), w.spy} }

func (w spyWriter) Routes() store.RouteWriter { return spyRoutes{w.Writer.Routes(), w.spy} }

func (w spyWriter) Entries() store.EntryWriter { return spyEntries{w.Writer.Entries(), w.spy} }

func (w spyWriter) Cases() store.CaseWriter { return spyCases{w.Writer.Cases(), w.spy} }

func (w spyWriter) Names() store.NameWriter { return spyNames{w.Writer.Names(), w.spy} }

func (w spyWriter) Attachments() store.AttachmentWriter {
	return spyAttachments{w.Writer.Attachments(), w.spy}
}

func (w spyWriter) Answers() store.AnswerWriter { return spyAnswers{w.Writer.Answers(), w.spy} }

func (w spyWriter) Settings() store.SettingWriter { return spySettings{w.Writer.Settings(), w.spy} }

func (w spyWriter) Outbox() store.OutboxWriter { return spyOutbox{w.Writer.Outbox(), w.spy} }

type spyOutbox struct {
	store.OutboxWriter
	spy *spy
}

func (t spyOutbox) Lease(o *store.OutboxRow, until time.Time) (held bool, err error) {
	err = t.spy.pass(write{method: "Lease", row: o}, func() error {
		held, err = t.OutboxWriter.Lease(o, until)
		return err
	})
	return held, err
}

type spyParties struct {
	store.PartyWriter
	spy *spy
}

func (t spyParties) Put(p *store.Party) error {
	return t.spy.pass(write{method: "PutParty", row: p}, func() error { return t.PartyWriter.Put(p) })
}

func (t spyParties) Delete(id identity.ID) error {
	return t.spy.pass(write{method: "DeleteParty"}, func() error { return t.PartyWriter.Delete(id) })
}

type spyRoutes struct {
	store.RouteWriter
	spy *spy
}

func (t spyRoutes) Put(r *store.Route) error {
	return t.spy.pass(write{method: "PutRoute", row: r}, func() error { return t.RouteWriter.Put(r) })
}

func (t spyRoutes) Delete(id int64) error {
	return t.spy.pass(write{method: "DeleteRoute"}, func() error { return t.RouteWriter.Delete(id) })
}

type spyEntries struct {
	store.EntryWriter
	spy *spy
}

func (t spyEntries) Insert(e *store.Entry) error {
	return t.spy.pass(write{method: "InsertEntry", row: e}, func() error { return t.EntryWriter.Insert(e) })
}

func (t spyEntries) Update(e *store.Entry) error {
	return t.spy.pass(write{method: "UpdateEntry", row: e}, func() error { return t.EntryWriter.Update(e) })
}

func (t spyEntries) Delete(uuid store.UUID) error {
	return t.spy.pass(write{method: "DeleteEntry"}, func() error { return t.EntryWriter.Delete(uuid) })
}

func (t spyEntries) InsertOccurrence(o *store.Occurrence) error {
	return t.spy.pass(write{method: "InsertOccurrence", row: o}, func() error { return t.EntryWriter.InsertOccurrence(o) })
}

func (t spyEntries) RedoOccurrence(o *store.Occurrence) error {
	return t.spy.pass(write{method: "RedoOccurrence", row: o}, func() error { return t.EntryWriter.RedoOccurrence(o) })
}

type spyCases struct {
	store.CaseWriter
	spy *spy
}

func (t spyCases) Messages() store.MessageWriter {
	return spyMessages{t.CaseWriter.Messages(), t.spy}
}

func (t spyCases) Insert(c *store.Case) error {
	return t.spy.pass(write{method: "InsertCase", caseID: c.ID, row: c}, func() error { return t.CaseWriter.Insert(c) })
}

func (t spyCases) Update(c *store.Case, base int64) error {
	return t.spy.pass(write{method: "UpdateCase", caseID: c.ID, row: c}, func() error { return t.CaseWriter.Update(c, base) })
}

func (t spyCases) AppendLog(caseID, seq int64, entries []byte) error {
	return t.spy.pass(write{method: "AppendLog", caseID: caseID}, func() error { return t.CaseWriter.AppendLog(caseID, seq, entries) })
}

type spyMessages struct {
	store.MessageWriter
	spy *spy
}

func (t spyMessages) Put(m *store.Message) error {
	return t.spy.pass(write{method: "PutMessage", caseID: m.CaseID, row: m}, func() error { return t.MessageWriter.Put(m) })
}

type spyNames struct {
	store.NameWriter
	spy *spy
}

func (t spyNames) Put(n *store.GivenName) error {
	return t.spy.pass(write{method: "PutGivenName", row: n}, func() error { return t.NameWriter.Put(n) })
}

func (t spyNames) Delete(folder store.Folder, author identity.ID, name string) error {
	return t.spy.pass(write{method: "DeleteGivenName"}, func() error { return t.NameWriter.Delete(folder, author, name) })
}

type spyAttachments struct {
	store.AttachmentWriter
	spy *spy
}

func (t spyAttachments) Delete(uuid store.UUID) error {
	return t.spy.pass(write{method: "DeleteAttachment"}, func() error { return t.AttachmentWriter.Delete(uuid) })
}

type spyAnswers struct {
	store.AnswerWriter
	spy *spy
}

func (t spyAnswers) Put(a *store.Answer) error {
	return t.spy.pass(write{method: "PutAnswer", row: a}, func() error { return t.AnswerWriter.Put(a) })
}

type spySettings struct {
	store.SettingWriter
	spy *spy
}

func (t spySettings) Put(key, value string) error {
	return t.spy.pass(write{method: "PutSetting", row: key}, func() error { return t.SettingWriter.Put(key, value) })
}

// unavailable is what a store answers that cannot serve.
func unavailable() error { return errs.New(errs.Unavailable, "The store is away.") }

// broken is what a defect answers.
func broken() error { return errs.New(errs.Internal, "This is broken.") }
