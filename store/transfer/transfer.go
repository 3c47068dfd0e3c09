// Package transfer copies everything that a store keeps into another one that is empty, of
// the same kind or not: SQLite and PostgreSQL. Which tables and columns there are it
// reads in the databases, so that none is forgotten. A copy that was cut goes on with
// the next one.
package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"flowdrive/attach"
	"flowdrive/internal/errs"
)

// Config says what is copied and where to.
type Config struct {
	From, To *Database

	// Where contents lie, and are to lie.
	Source attach.Place
	Target attach.Keeper

	// Progress is called often.
	Progress func(what What, done, all int64)
}

// What is what is being copied: bytes of contents, or rows of a table.
type What struct {
	Name  string
	Bytes bool
}

// Result is what was copied.
type Result struct {
	Tables, Contents int
	Rows, Bytes      int64
	Digest           string   // of all rows, the same for the same rows in any store
	Missing          []string // contents that are damaged or gone where they are copied from
}

// Copy copies contents, then the tables, compares both with their source, and makes the
// target a store that can be used. Until then no server takes it for one. The source is
// only read. Errors say what is wrong in words for people.
func Copy(ctx context.Context, c Config) (*Result, error) {
	tables, err := sameTables(c.From, c.To)
	if err != nil {
		return nil, err
	}
	r := &Result{Tables: len(tables)}
	if err := c.copyContents(ctx, r); err != nil {
		return nil, fmt.Errorf("copy the contents: %w", err)
	}
	if tables, err = c.To.inOrder(ctx, tables); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := c.copyTable(ctx, t); err != nil {
			return nil, fmt.Errorf("copy the table %s: %w", t.name, err)
		}
	}
	whole := sha256.New()
	for _, t := range slices.SortedFunc(slices.Values(tables), func(a, b table) int { return strings.Compare(a.name, b.name) }) {
		sum, err := c.compare(ctx, t, r)
		if err != nil {
			return nil, err
		}
		_, _ = fmt.Fprintf(whole, "%s %x\n", t.name, sum) // a hash never fails
	}
	r.Digest = hex.EncodeToString(whole.Sum(nil))
	if err := c.compareContents(ctx, r); err != nil {
		return nil, err
	}
	return r, c.To.finish(ctx)
}

// sameTables returns the tables that both have. Tables or columns that only one has are an
// error: what is in them would be lost, or made up.
func sameTables(from, to *Database) ([]table, error) {
	var wrong []string
	for _, pair := range [][2]*Database{{from, to}, {to, from}} {
		for _, t := range pair[0].tables {
			if !slices.ContainsFunc(pair[1].tables, t.equal) {
				wrong = append(wrong, fmt.Sprintf("%s (%s)", t.name, strings.Join(t.columns, ", ")))
			}
		}
	}
	if wrong != nil {
		return nil, fmt.Errorf("the databases have not the same tables: %s; use the program that made both", strings.Join(wrong, "; "))
	}
	return from.tables, nil
}

// copyTable copies a table in one transaction, unless that was done before.
func (c *Config) copyTable(ctx context.Context, t table) error {
	done, err := c.To.isDone(ctx, t)
	if err != nil || done {
		return err
	}
	all, err := c.From.count(ctx, t)
	if err != nil {
		return err
	}
	rows, err := c.From.read(ctx, t)
	if err != nil {
		return err
	}
	n := int64(0)
	err = c.To.write(ctx, t, func() ([]any, error) {
		values, err := rows.next()
		if values != nil {
			n++
			c.Progress(What{Name: t.name}, n, all)
		}
		return values, err
	})
	return errors.Join(err, rows.Close())
}

// compare compares a table with that of the source, and returns its digest.
func (c *Config) compare(ctx context.Context, t table, r *Result) (sum [32]byte, err error) {
	var from, to [32]byte
	var n, copied int64
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		if from, n, err = c.From.digest(ctx, t); err != nil {
			return fmt.Errorf("read the table %s: %w", t.name, err)
		}
		return nil
	})
	both.Go(func() (err error) {
		if to, copied, err = c.To.digest(ctx, t); err != nil {
			return fmt.Errorf("read the copied table %s: %w", t.name, err)
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		return sum, err
	}
	if n != copied || from != to {
		return sum, fmt.Errorf("the table %s has %d rows with the digest %x, and its copy %d with %x: the source was changed since the copy began, or a disk is damaged; remove what was copied, and begin anew", t.name, n, from, copied, to)
	}
	r.Rows += n
	return to, nil
}

// copyContents copies the contents that the target does not have.
func (c *Config) copyContents(ctx context.Context, r *Result) error {
	sums, err := c.From.contents(ctx)
	if err != nil {
		return err
	}
	var all int64
	for _, sum := range sums {
		size, err := c.Source.Size(sum)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
		all += size
	}
	var mu sync.Mutex
	err = atOnce(ctx, sums, func(ctx context.Context, sum [32]byte) error {
		size, why, err := c.copyContent(ctx, sum)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if why != "" {
			r.Missing = append(r.Missing, fmt.Sprintf("%x: %s", sum, why))
			return nil
		}
		r.Contents++
		r.Bytes += size
		c.Progress(What{"contents", true}, r.Bytes, all)
		return nil
	})
	slices.Sort(r.Missing)
	return err
}

// contentsAtOnce is how many contents are copied or compared at the same time: each waits for the
// disk of the target, and several wait together.
const contentsAtOnce = 4

// atOnce calls f for several contents at a time, until one fails.
func atOnce(ctx context.Context, sums [][32]byte, f func(context.Context, [32]byte) error) error {
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(contentsAtOnce)
	for _, sum := range sums {
		group.Go(func() error {
			if err := going.Err(); err != nil {
				return err
			}
			return f(going, sum)
		})
	}
	return group.Wait()
}

// copyContent copies one content unless it is there. It returns what is wrong with the
// one that is copied.
func (c *Config) copyContent(ctx context.Context, sum [32]byte) (size int64, why string, err error) {
	if size, err = c.Source.Size(sum); errs.Is(err, errs.NotFound) {
		return 0, "it is not there", nil
	} else if err != nil {
		return 0, "", err
	}
	if has, err := c.Target.Size(sum); err == nil && has == size {
		return size, "", nil
	}
	in, err := c.Source.Open(sum)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = in.Close() }() // it was only read
	s, err := c.Target.Spool(&reading{ctx.Err, in}, math.MaxInt64)
	if err != nil {
		return 0, "", err
	}
	if got := s.Sum(); got != sum {
		s.Discard()
		return 0, fmt.Sprintf("its bytes have the SHA-256 %x", got), nil
	}
	if err := s.Keep(); err != nil {
		s.Discard()
		return 0, "", err
	}
	return size, "", nil
}

// compareContents reads the contents that were copied.
func (c *Config) compareContents(ctx context.Context, r *Result) error {
	sums, err := c.From.contents(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var done int64
	return atOnce(ctx, sums, func(ctx context.Context, sum [32]byte) error {
		if slices.ContainsFunc(r.Missing, func(text string) bool { return strings.HasPrefix(text, hex.EncodeToString(sum[:])) }) {
			return nil
		}
		n, got, err := sumOf(ctx, c.Target, sum)
		if err != nil {
			return fmt.Errorf("read the copied content %x: %w", sum, err)
		}
		if got != sum {
			if err := c.Target.Remove(sum); err != nil {
				return err
			}
			return fmt.Errorf("the copied content %x has the SHA-256 %x; it was removed, and the same command copies it again", sum, got)
		}
		mu.Lock()
		defer mu.Unlock()
		done += n
		c.Progress(What{"contents, comparing", true}, done, r.Bytes)
		return nil
	})
}

func sumOf(ctx context.Context, place attach.Place, sum [32]byte) (n int64, got [32]byte, err error) {
	body, err := place.Open(sum)
	if err != nil {
		return 0, got, err
	}
	defer func() { _ = body.Close() }() // it was only read
	h := sha256.New()
	n, err = io.Copy(h, &reading{ctx.Err, body})
	h.Sum(got[:0])
	return n, got, err
}

// reading reads until it is to stop.
type reading struct {
	stop func() error
	r    io.Reader
}

// Read implements io.Reader.
func (r *reading) Read(p []byte) (int, error) {
	if err := r.stop(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
