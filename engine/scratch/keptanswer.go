package scratch

import (
	"context"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// KeptKind says what a kept answer is an answer to.
type KeptKind string

// The kinds of kept answers. They begin the folders under which these lie in the
// scratch area of their user: no path of the drive begins so.
const (
	KeptRefusal KeptKind = "/refused"  // a PUT that was refused
	KeptEcho    KeptKind = "/accepted" // a PUT that was accepted
)

// kept returns where the scratch area has a kept answer.
func (k KeptKind) kept(at store.ScratchPlace) store.ScratchPlace {
	return store.ScratchPlace{Folder: string(k) + at.Folder, Name: at.Name}
}

// KeptAnswer is what a PUT at a place was answered, for a client that repeats it later,
// perhaps after a restart: it is answered the same.
type KeptAnswer struct {
	Kind   KeptKind
	At     store.ScratchPlace
	Answer []byte
	Until  time.Time // of the machine's clock
}

// KeepAnswer keeps an answer. It replaces what is kept of an earlier PUT at the place.
// Errors: errs.Full if the quota is used up.
func (a *Area) KeepAnswer(ctx context.Context, req change.Request, k KeptAnswer) error {
	row := rejected(req, k.Kind.kept(k.At).Normal(), "application/json", k.Answer)
	row.Expires = k.Until
	err := a.Update(ctx, func(tx store.Tx) error { return a.keep(tx, row) })
	a.expiry.Stored(err)
	return err
}

// FindAnswer returns what is kept of the last PUT at the place, nil if there is nothing.
func (a *Area) FindAnswer(ctx context.Context, by identity.Principal, now time.Time, kind KeptKind, at store.ScratchPlace) ([]byte, error) {
	row, err := a.Get(ctx, by, now, kind.kept(at))
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return row.Content, nil
}

// DropAnswer drops what is kept of a PUT at the place, if anything is.
func (a *Area) DropAnswer(ctx context.Context, by identity.Principal, kind KeptKind, at store.ScratchPlace) error {
	return a.Update(ctx, func(tx store.Tx) error {
		row, err := store.OrNil(tx.Scratch().Get(by.ID, kind.kept(at).Normal()))
		if err != nil || row == nil {
			return err
		}
		return a.remove(tx, row)
	})
}
