// Package contents keeps contents that are files: how they come, are shared,
// and go.
//
// A content is a file named by its SHA-256, and any number of rows refer to it:
// messages, attachments, documents. The store counts the references by
// triggers, inside the transactions that write those rows. A content without
// references is collected: its file is removed, then its row. This is safe
// because no reference to a content can begin unseen:
//
//   - A caller that brings a content in (Spooled) does so within Storing, which
//     pins it. The collector leaves pinned contents alone. If the content is just
//     being removed, the caller waits until it is gone and gives it its name again.
//   - A caller that refers to a content that another row refers to does so in a
//     unit in which that row exists: it reads the row there, or checks it again.
//   - A caller that reads does so within Reading, which looks again if a content
//     went between finding and opening it.
//
// The order of the steps makes it safe against crashes: row, file, reference;
// in reverse reference, file, row. So a reference always has its file, and a
// file its row. A crash can leave a row without references, and the collector
// looks for those at every start.
//
// To keep contents of another table this way, there must be three triggers like
// those of messages (schema/sql), Storing around the change that writes a row,
// RouseAfter in every unit that may drop one, and a line in the store's
// consistency test. Bytes that count against a quota are
// counted by the same triggers in stored_bytes (package quota).
package contents

import (
	"context"
	"errors"
	"fmt"
	"io"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Files keeps contents too large for the database, by their SHA-256.
type Files interface {
	// Spool reads r to its end, at most limit bytes, into a file that is
	// durable but has no name yet. More bytes are errs.TooLarge; an error of
	// r is returned as it is; either way nothing stays behind.
	Spool(r io.Reader, limit int64) (Spooled, error)

	// Open opens a content. One that is not there is errs.NotFound.
	Open(sum [32]byte) (io.ReadSeekCloser, error)

	// Remove removes a content durably. One that is not there is removed.
	Remove(sum [32]byte) error

	// Unpinned runs f while nobody can pin the contents as a whole, and
	// reports whether it did: it does not while a backup has pinned them.
	Unpinned(f func() error) (ran bool, err error)
}

// rows is what is stored of contents: a row each, which counts what refers to
// it.
type rows interface {
	Known(ctx context.Context, sum [32]byte) (bool, error)
	// Note makes a content known to which nothing refers yet, unless it is
	// known already.
	Note(ctx context.Context, sum [32]byte) error

	// Unused returns contents without references, in order, after the given
	// one, at most limit. StillUnused returns those of a list that have none.
	Unused(ctx context.Context, after [32]byte, limit int) ([][32]byte, error)
	StillUnused(ctx context.Context, list [][32]byte) ([][32]byte, error)

	// Forget deletes the rows of all the contents. If anything refers to one of
	// them, it deletes none and returns errs.InUse.
	Forget(ctx context.Context, list [][32]byte) error
}

// Spooled is a content that was read and not kept yet: one of Keep and
// Discard must follow.
type Spooled interface {
	Sum() [32]byte
	Size() int64 // in bytes
	Keep() error // gives it its name, durably; the same content may be kept twice
	Discard()
}

// Keeper keeps contents. It is safe for concurrent use.
type Keeper struct {
	// OnDamage is told of each content that was read and is not what its name says,
	// or is not there. It is set before the keeper is used, or nil.
	OnDamage func(sum [32]byte, what string)

	files Files
	rows  rows
	pins  pins
}

// NewKeeper returns a keeper of the contents that are in the files, and to
// which rows of the store refer.
func NewKeeper(files Files, db store.Store) *Keeper { return newKeeper(files, storeRows{db}) }

func newKeeper(files Files, rows rows) *Keeper {
	return &Keeper{files: files, rows: rows, pins: newPins()}
}

// Rouse says that there may be something to collect.
func (k *Keeper) Rouse() { k.pins.rouse() }

// RouseAfter is called in every unit that may drop a reference to a content.
func (k *Keeper) RouseAfter(tx store.Tx) { tx.AfterCommit(k.Rouse) }

// Roused receives if there may be something to collect.
func (k *Keeper) Roused() <-chan struct{} { return k.pins.wake }

// Storing gives a spooled content its name and runs f, which refers to it in
// its own units. The content is not collected until f has returned. If f fails
// and nothing else refers to the content, it is collected then. Storing returns
// f's error.
func (k *Keeper) Storing(ctx context.Context, s Spooled, f func() error) error {
	if _, dryRun := s.(*weighed); dryRun {
		return f()
	}
	sum := s.Sum()
	if err := k.pins.pin(ctx, sum); err != nil {
		s.Discard()
		return err
	}
	unused := true // also if f panics
	defer func() { k.pins.unpin(sum, unused) }()
	if err := k.note(ctx, sum); err != nil {
		s.Discard()
		return err
	}
	if err := s.Keep(); err != nil {
		s.Discard()
		return err
	}
	err := f()
	unused = err != nil
	return err
}

// note makes sure that a pinned content has its row before it has a file.
func (k *Keeper) note(ctx context.Context, sum [32]byte) error {
	known, err := k.rows.Known(ctx, sum)
	if err != nil || known {
		return err
	}
	return k.rows.Note(ctx, sum)
}

// attempts is how often a reader looks for a content that goes away.
const attempts = 4

// Reading runs f, which finds a row and opens its content by Open. If the
// content has gone by then, the row was replaced or deleted in between, and f
// is run again.
func (k *Keeper) Reading(f func() error) (err error) {
	for range attempts {
		if err = f(); !errors.Is(err, ErrGone) {
			return err
		}
	}
	if k.OnDamage != nil {
		k.OnDamage([32]byte{}, err.Error())
	}
	return err
}

// ErrGone says that a content was not there.
var ErrGone = errs.New(errs.Internal, "A content that is referred to is not there.")

// Open opens a content; see Reading. What is read of it from its beginning to its end
// is compared with its name: if it differs, the error is ErrDamaged.
func (k *Keeper) Open(sum [32]byte) (io.ReadSeekCloser, error) {
	body, err := k.files.Open(sum)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Wrap(fmt.Sprintf("open the content %x", sum), ErrGone)
	}
	if err != nil {
		return nil, err
	}
	return k.verify(sum, body)
}

// collectAtOnce is how many contents are removed at a time. A caller that wants
// to store one of them again waits that long.
const collectAtOnce = 16

// Collect removes every content that has no references and is not pinned. It
// returns ErrPinned if a backup has pinned all contents.
func (k *Keeper) Collect(ctx context.Context) error {
	var after [32]byte
	for {
		list, err := k.rows.Unused(ctx, after, collectAtOnce)
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1]
		if err := k.remove(ctx, k.pins.claim(list)); err != nil {
			return err
		}
	}
}

// remove removes claimed contents. It looks at them again: what was pinned
// when they were listed may be referred to by now.
func (k *Keeper) remove(ctx context.Context, claimed [][32]byte) error {
	defer k.pins.release(claimed)
	unused, err := k.rows.StillUnused(ctx, claimed)
	if err != nil || len(unused) == 0 {
		return err
	}
	// What is unused by now stays so, as it is claimed. So a snapshot that is
	// taken after a pin does not refer to what is removed before it.
	ran, err := k.files.Unpinned(func() error {
		for _, sum := range unused {
			if err := k.files.Remove(sum); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !ran {
		return ErrPinned
	}
	return k.rows.Forget(ctx, unused)
}

// ErrPinned says that a backup is being made, and nothing is collected meanwhile.
var ErrPinned = errors.New("the contents are pinned")
