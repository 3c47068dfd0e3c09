package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"flowdrive/errs"
	"flowdrive/identity"
)

// Contents that are files: how they come, are shared, and go.
//
// A content is a file named by its SHA-256, and any number of rows refer to
// it: messages, attachments, documents. The store counts the references by
// triggers, inside the transactions that write those rows. A content that
// nothing refers to is collected: its file is removed, then its row. What
// makes that safe is that nothing can begin to refer to a content unseen:
//
//   - Whoever brings a content in (Spooled) does so within storing, which
//     pins it. The collector leaves pinned contents alone, and who wants to
//     pin one that is just being removed waits until it is gone, and gives
//     it its name anew.
//   - Whoever refers to a content that another row refers to does so in a
//     unit in which that row still is: it reads the row through the Tx, or
//     checks it again there (content.holds).
//   - Whoever reads does so within reading, which looks again where a
//     content went between finding and opening it.
//
// The order of the steps makes it safe against crashes: row, file,
// reference; and backwards reference, file, row. So a reference always has
// its file, and a file its row: what a crash leaves is a row without
// references, and the collector looks for those at every start.
//
// To keep contents of another table this way: three triggers like those of
// messages (schema/sql/0002_attachments.sql), storing around the change that
// writes a row, unreferred in every unit that may drop one, and a line in the
// store's consistency test. Bytes that count against a quota are counted by
// the same triggers in stored_bytes (quota.go).

// BlobReader reads what is known of contents that are files.
type BlobReader interface {
	// UnusedBlobs returns contents that nothing refers to, in order, after
	// the given one, at most limit.
	UnusedBlobs(after Digest, limit int) ([]Digest, error)
	BlobRefs(d Digest) (n int64, known bool, err error)
	StoredBytes(author identity.ID) (int64, error)
}

// BlobWriter notes and forgets contents that are files.
type BlobWriter interface {
	// NoteBlob makes a content known to which nothing refers yet, unless it
	// is known already.
	NoteBlob(d Digest) error

	// ForgetBlob forgets a content; errs.InUse where anything refers to it.
	ForgetBlob(d Digest) error
}

// collector removes contents that nothing refers to.
type collector struct {
	mu       sync.Mutex
	pins     map[Digest]int           // that somebody is about to refer to
	passed   map[Digest]bool          // pinned ones that the collector wanted
	removing map[Digest]chan struct{} // closed when it is done
	wake     chan struct{}
}

func newCollector() *collector {
	return &collector{
		pins: map[Digest]int{}, passed: map[Digest]bool{}, removing: map[Digest]chan struct{}{}, wake: make(chan struct{}, 1),
	}
}

// rouse says that there may be something to collect.
func (c *collector) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// pin keeps a content from being removed until unpin is called as often. It
// waits for a removal that has begun.
func (c *collector) pin(ctx context.Context, d Digest) error {
	for {
		c.mu.Lock()
		gone, removing := c.removing[d]
		if !removing {
			c.pins[d]++
		}
		c.mu.Unlock()
		if !removing {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unpin takes a pin away. unused says that what it was for has failed.
func (c *collector) unpin(d Digest, unused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pins[d]--; c.pins[d] > 0 {
		c.passed[d] = c.passed[d] || unused
		return
	}
	if unused || c.passed[d] {
		c.rouse()
	}
	delete(c.pins, d)
	delete(c.passed, d)
}

// claim returns those of the contents that nobody has pinned; until release
// is called nobody can.
func (c *collector) claim(list []Digest) (claimed []Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range list {
		_, removing := c.removing[d]
		switch {
		case c.pins[d] > 0:
			c.passed[d] = true
		case !removing:
			c.removing[d] = make(chan struct{})
			claimed = append(claimed, d)
		}
	}
	return claimed
}

func (c *collector) release(claimed []Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range claimed {
		close(c.removing[d])
		delete(c.removing, d)
	}
}

// storing gives a spooled content its name and runs f, which refers to it in
// units of its own. Until f has returned the content is not collected; where
// f fails and nothing else refers to it, it is.
func (e *Engine) storing(ctx context.Context, s Spooled, f func() error) error {
	if _, dryRun := s.(*weighed); dryRun {
		return f()
	}
	sum := Digest(s.Sum())
	if err := e.collector.pin(ctx, sum); err != nil {
		s.Discard()
		return err
	}
	unused := true // also where f panics
	defer func() { e.collector.unpin(sum, unused) }()
	if err := e.noteBlob(ctx, sum); err != nil {
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

// storingContent is storing for a content that may as well be held in
// memory.
func (e *Engine) storingContent(ctx context.Context, c *content, f func() error) error {
	if c.spooled == nil {
		return f()
	}
	return e.storing(ctx, c.spooled, f)
}

// noteBlob makes sure that a pinned content has its row before it has a file.
func (e *Engine) noteBlob(ctx context.Context, sum Digest) error {
	var known bool
	err := e.store.View(ctx, func(r Reader) (err error) {
		_, known, err = r.BlobRefs(sum)
		return err
	})
	if err != nil || known {
		return err
	}
	return e.store.Update(ctx, func(tx Tx) error { return tx.NoteBlob(sum) })
}

// unreferred is called in every unit that may drop a reference to a content.
func (e *Engine) unreferred(tx Tx) { tx.AfterCommit(e.collector.rouse) }

// reading runs f, which finds a row and opens the content that it refers to
// by openBlob. Where the content had gone by then, the row was replaced or
// deleted in between: f is run again.
func (e *Engine) reading(f func() error) (err error) {
	for range attempts {
		if err = f(); !errors.Is(err, errGone) {
			return err
		}
	}
	return err
}

// errGone says that a content was not there.
var errGone = errs.New(errs.Internal, "A content that is referred to is not there.")

// openBlob opens a content that is a file; see reading.
func (e *Engine) openBlob(d Digest) (io.ReadSeekCloser, error) {
	body, err := e.blobs.Open(d)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Wrap(fmt.Sprintf("open the content %x", d), errGone)
	}
	return body, err
}

// collectWhenRoused collects until ctx ends, each time it is roused.
func (e *Engine) collectWhenRoused(ctx context.Context) {
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.collector.wake:
		case <-retry.C:
		}
		err := e.purge(ctx)
		if err == nil {
			err = e.collect(ctx)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Error().Err(err).Msg("contents that nothing refers to could not be removed; it is tried again")
			retry.Reset(collectAgain)
		}
	}
}

const (
	// collectAtOnce is how many contents are removed between two looks: who
	// wants to store one of them again waits for that long.
	collectAtOnce = 16
	// collectAgain is the wait after contents could not be removed.
	collectAgain = time.Minute
)

// collect removes every content that nothing refers to and nobody is about
// to refer to.
func (e *Engine) collect(ctx context.Context) error {
	var after Digest
	for {
		var list []Digest
		err := e.store.View(ctx, func(r Reader) (err error) {
			list, err = r.UnusedBlobs(after, collectAtOnce)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1]
		if err := e.remove(ctx, e.collector.claim(list)); err != nil {
			return err
		}
	}
}

// remove removes claimed contents. It looks at them again: what was pinned
// when they were listed may be referred to by now.
func (e *Engine) remove(ctx context.Context, claimed []Digest) error {
	defer e.collector.release(claimed)
	var unused []Digest
	err := e.store.View(ctx, func(r Reader) error {
		for _, d := range claimed {
			n, known, err := r.BlobRefs(d)
			if err != nil {
				return err
			}
			if known && n == 0 {
				unused = append(unused, d)
			}
		}
		return nil
	})
	if err != nil || len(unused) == 0 {
		return err
	}
	for _, d := range unused {
		if err := e.blobs.Remove(d); err != nil {
			return err
		}
	}
	return e.store.Update(ctx, func(tx Tx) error {
		for _, d := range unused {
			if err := tx.ForgetBlob(d); err != nil {
				return err
			}
		}
		return nil
	})
}
