// Package change says how something is changed: what a request carries, on what
// condition it is carried out, and how a decision that was made on a snapshot
// becomes a unit of the store (docs/decisions/0001-decide-outside-check-inside.md).
package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Maker makes changes: it decides outside of the writer of the store and checks
// inside. Its fields are set once.
type Maker struct {
	Store store.Store
	Wall  func() time.Time // the machine's clock, by which locks expire
	Clock Clock            // the server's, by which answers do

	// Snapshot identifies what decisions rest on and the store's snapshot does
	// not have: the users and teams. A change that was decided on another
	// Snapshot is decided again.
	Snapshot func() any
	// Ahead does what a change waits for that ended with err, if it can be
	// done, and makes the change again; else it returns err.
	Ahead func(ctx context.Context, err error, again func() error) error
	// DeleteSource deletes what a COPY or MOVE takes its content from.
	DeleteSource func(tx store.Tx, req Request) error
	// RunDue does what has become due by a change, if it is to be done before
	// the answer.
	RunDue func(ctx context.Context)

	// NameOf returns the name of a user or team, "" for none, and ZoneOf the time zone in
	// which a user reads times: refusals say who keeps the caller out, and until when.
	NameOf func(id identity.ID) string
	ZoneOf func(id identity.ID) *time.Location
}

// Clock says what time it is: the machine's, or the sandbox's.
type Clock interface{ Now() time.Time }

// Decision is what a change was decided to be: apply writes it, in a
// transaction in which everything it was decided on still holds.
type Decision func(store.Tx) error

// How often a change is decided outside the writer before it is decided
// inside. Inside nothing stored can move; but what is kept in memory learns
// of a commit only after it, so that a second time may be needed.
const (
	attempts       = 4
	attemptsInside = 2
)

// ChangeTag is an entity tag, quoted, for what is made of anything that is
// stored, as a folder of the workflow is: it is another after every change.
func (m *Maker) ChangeTag() string { return fmt.Sprintf("\"%x\"", m.Store.Changes()) }

// Change decides on a snapshot and applies the decision in a unit of its
// own. A decision that finds that something moved returns ErrStale and is
// made again, at last within the unit itself.
func (m *Maker) Change(ctx context.Context, decide func(store.Reader) (Decision, error)) error {
	try := func() error { return m.tryChange(ctx, decide) }
	return m.Ahead(ctx, try(), try)
}

func (m *Maker) tryChange(ctx context.Context, decide func(store.Reader) (Decision, error)) error {
	for attempt := range attempts {
		var apply Decision
		snapshot := m.Snapshot()
		err := m.Store.View(ctx, func(r store.Reader) (err error) {
			apply, err = decide(r)
			return err
		})
		if err == nil {
			err = m.Update(ctx, func(tx store.Tx) error {
				if m.Snapshot() != snapshot {
					return ErrStale // a user's rights may have changed
				}
				if attempt == 0 { // after that, the error itself is wanted
					tx.Write().Later()
				}
				err := apply(tx)
				if errors.Is(err, errUndone) {
					err = cmp.Or(tx.Write().Settle(), err)
				}
				return err
			})
		}
		if !errors.Is(err, ErrStale) && !errors.Is(err, store.ErrAgain) {
			return err
		}
	}
	var err error
	for range attemptsInside {
		err = m.Update(ctx, func(tx store.Tx) error {
			apply, err := decide(tx)
			if err != nil {
				return err
			}
			return apply(tx)
		})
		if !errors.Is(err, ErrStale) {
			break
		}
	}
	return err
}

// Finish ends the unit of every PUT: it stores the answer of a request with an
// idempotency key, and undoes a dry run.
func (m *Maker) Finish(tx store.Tx, req Request, o *Outcome) error {
	if err := m.DeleteSource(tx, req); err != nil {
		return err
	}
	if err := Undone(req); err != nil {
		return err
	}
	return storeAnswer(tx, req, o)
}

// storeAnswer stores the answer to a request with an idempotency key, in the
// unit of the change.
func storeAnswer(tx store.Tx, req Request, o *Outcome) error {
	if req.Key == nil {
		return nil
	}
	if err := tx.Write().Answers().DeleteBefore(req.Now.Add(-keepAnswers), req.By.ID, req.Key.Key, oldAnswers); err != nil {
		return err
	}
	err := tx.Write().Answers().Put(&store.Answer{
		User:    req.By.ID,
		Key:     req.Key.Key,
		URL:     req.Key.URL,
		Request: req.Key.Request,
		Answer:  req.Answer(o),
		Created: req.Now.Add(req.Key.Longer),
	})
	if errs.Is(err, errs.NameTaken) {
		return errReplay
	}
	return err
}

// errReplay says that another request with the same idempotency key was
// faster; its answer is the answer.
var errReplay = errs.New(errs.NameTaken, "Another request with this Idempotency-Key was faster; ask again for its answer.")

// keepAnswers is how long the answer to a request with an idempotency key is
// given again (docs/contract/drive.md#idempotency-keys).
const keepAnswers = 24 * time.Hour

// oldAnswers is how many answers that are older one change deletes at most, so that
// nobody waits for the deletion of a million.
const oldAnswers = 100

// Replay returns the first answer to a request with the key, or nil if there is
// none yet. Errors: errs.IdempotencyMismatch if the first request had another
// URL or body, with the answer to that one.
func (m *Maker) Replay(ctx context.Context, by identity.Principal, key IdempotencyKey) ([]byte, error) {
	var answer *store.Answer
	err := m.Store.View(ctx, func(r store.Reader) (err error) {
		answer, err = r.Answers().Get(by.ID, key.Key)
		return err
	})
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if answer.Created.Before(m.Clock.Now().Add(-keepAnswers)) {
		return nil, nil
	}
	if answer.URL != key.URL || answer.Request != key.Request {
		return answer.Answer, errs.New(errs.IdempotencyMismatch, "This Idempotency-Key was used for another request; use a new key for a new request.")
	}
	return answer.Answer, nil
}

// Absent is the error for a caller who may not know whether a thing exists.
func Absent(what string) error {
	return errs.New(errs.NotFound, "There is no such %s, or you may not see it.", what)
}

// Update runs f in a unit of its own. For a dry run the unit is rolled back,
// and that is not an error.
func (m *Maker) Update(ctx context.Context, f func(store.Tx) error) error {
	if err := m.Store.Update(ctx, f); !errors.Is(err, errUndone) {
		return err
	}
	return nil
}

// NewID returns the id of what a request creates. A dry run only looks up which
// id would be next.
func (m *Maker) NewID(req Request) int64 {
	if req.DryRun {
		return m.Store.PeekID()
	}
	return m.Store.NextID()
}

// CheckRequest judges a change: the condition of its request, 412, and then the
// locks, 423 (docs/contract/drive.md#order-of-checks). Every use case that a
// WebDAV method leads to asks it in the unit of the change.
func (m *Maker) CheckRequest(r store.LockReader, req Request, v Version, s LockScope) error {
	if err := m.CheckCondition(r, req, v, s); err != nil {
		return err
	}
	return m.CheckLocks(r, req, s)
}

// CheckCondition judges the condition of a request, which may be about locks.
func (m *Maker) CheckCondition(r store.LockReader, req Request, v Version, s LockScope) error {
	if req.If == nil {
		return nil
	}
	covers, _, err := s.Covering(r, m.Wall())
	if err != nil {
		return err
	}
	v.Tokens = TokensOf(covers)
	return req.If(v)
}

// CheckLocks returns errs.Locked if the scene is locked for the request. A
// change that was decided outside of its unit calls it again inside: another
// user may have got a lock meanwhile.
func (m *Maker) CheckLocks(r store.LockReader, req Request, s LockScope) error {
	covers, ofFolder, err := s.Covering(r, m.Wall())
	if err != nil {
		return err
	}
	if err := m.CheckTokens(req, covers); err != nil {
		return err
	}
	return m.CheckTokens(req, ofFolder)
}
