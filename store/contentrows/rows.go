// Package contentrows keeps contents in a PostgreSQL database, in rows of at most 256 KiB: for
// nodes that have no folder and no bucket in common.
package contentrows

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"flowdrive/attach"
	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
)

var _ attach.Home = (*Rows)(nil)

const (
	partSize    = 256 << 10
	connections = 4
	walkAtOnce  = 1000

	// within is how long a statement may take, and a content to be stored.
	within      = 5 * time.Second
	storeWithin = 10 * time.Minute
)

// The tables are not those of the store: nothing refers to them, and they are not among the
// rows that are compared and copied. Contents are
// mostly compressed already. The lock has a number of its own ("FDRC").
const (
	createTable = `CREATE TABLE IF NOT EXISTS content_parts (
		sha256 bytea NOT NULL CHECK (length(sha256) = 32),
		number int NOT NULL CHECK (number >= 0),
		data   bytea NOT NULL CHECK (length(data) <= 262144),
		PRIMARY KEY (sha256, number)
	)`
	storePlain     = `ALTER TABLE content_parts ALTER COLUMN data SET STORAGE EXTERNAL`
	createLocation = `CREATE TABLE IF NOT EXISTS content_location (
		one int PRIMARY KEY CHECK (one = 1),
		at  text NOT NULL CHECK (at <> ''),
		id  text NOT NULL CHECK (id <> '')
	)`
	hasTables      = `SELECT to_regclass('content_parts') IS NOT NULL AND to_regclass('content_location') IS NOT NULL`
	getLocation    = `SELECT at, id FROM content_location`
	putLocation    = `INSERT INTO content_location (one, at, id) VALUES (1, $1, $2) ON CONFLICT (one) DO UPDATE SET at = excluded.at, id = excluded.id`
	deleteLocation = `DELETE FROM content_location`
	putPart        = `INSERT INTO content_parts (sha256, number, data) VALUES ($1, $2, $3) ON CONFLICT (sha256, number) DO UPDATE SET data = excluded.data`
	getPart        = `SELECT data FROM content_parts WHERE sha256 = $1 AND number = $2`
	getSize        = `SELECT sum(length(data)) FROM content_parts WHERE sha256 = $1`
	deleteAll      = `DELETE FROM content_parts WHERE sha256 = $1`
	listSome       = `SELECT sha256 FROM content_parts WHERE number = 0 AND sha256 > $1 ORDER BY sha256 LIMIT $2`
	lockShared     = `SELECT pg_advisory_lock_shared(1178882627, hashtext(current_schema()))`
	unlockShared   = `SELECT pg_advisory_unlock_shared(1178882627, hashtext(current_schema()))`
	tryLock        = `SELECT pg_try_advisory_xact_lock(1178882627, hashtext(current_schema()))`
)

// Rows is a place of contents. It may be used from any goroutine.
type Rows struct {
	pool  *pgxpool.Pool
	guard string
	local *attach.Folder
	full  func()
}

// Open opens the contents in a database, and makes their tables if there are none. It fails
// if the database does not answer. guard is a statement that ends each transaction that
// writes, and fails if this node may not write any more; "" for none. In the
// local folder wait contents that are on their way. full is called if the disk of the database is
// found to be full; nil for nothing.
func Open(ctx context.Context, to *pgconn.Config, guard string, local *attach.Folder, full func()) (*Rows, error) {
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Config = *to.Copy()
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // behind a pooler nothing is prepared
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failure("open the contents", err)
	}
	r := &Rows{pool: pool, guard: guard, local: local, full: full}
	if err := r.prepare(ctx); err != nil {
		pool.Close()
		return nil, failure("open the contents", err)
	}
	return r, nil
}

func (r *Rows) prepare(ctx context.Context) error {
	var has bool
	if err := r.pool.QueryRow(ctx, hasTables).Scan(&has); err != nil || has {
		return err
	}
	for _, statement := range []string{createTable, storePlain, createLocation} {
		if _, err := r.pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Location implements attach.Home.
func (r *Rows) Location() (l attach.Location, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	err = r.pool.QueryRow(ctx, getLocation).Scan(&l.At, &l.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return attach.Location{}, nil
	}
	return l, failure("look where the contents lie", err)
}

// SetLocation implements attach.Home.
func (r *Rows) SetLocation(l attach.Location) error {
	return r.write("note where the contents lie", within, func(ctx context.Context, tx pgx.Tx) (err error) {
		if l == (attach.Location{}) {
			_, err = tx.Exec(ctx, deleteLocation)
			return err
		}
		_, err = tx.Exec(ctx, putLocation, l.At, l.ID)
		return err
	})
}

// Close closes the connections. Nothing may be in use any more.
func (r *Rows) Close() { r.pool.Close() }

// Spool reads r to its end, at most limit bytes, into a local file. More bytes are
// errs.TooLarge, an error of r is returned as it is; either way nothing stays behind.
func (r *Rows) Spool(from io.Reader, limit int64) (contents.Spooled, error) {
	t, err := r.local.Temporary(from, limit)
	if err != nil {
		return nil, err
	}
	return &spooled{t, r}, nil
}

// spooled is a content that is not in the database yet.
type spooled struct {
	*attach.Temporary
	rows *Rows
}

// Keep stores the content, in one transaction. What there is of it is replaced by the same.
func (s *spooled) Keep() error {
	defer s.Discard()
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return errs.Wrap("read a content that is to be stored", err)
	}
	return s.rows.write("store a content", storeWithin, func(ctx context.Context, tx pgx.Tx) error {
		sum, part := s.Sum(), make([]byte, partSize)
		for number := 0; ; number++ {
			n, err := io.ReadFull(s.File, part)
			whole := err == nil
			if !whole && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			if n > 0 || number == 0 {
				if _, err := tx.Exec(ctx, putPart, sum[:], int32(number), part[:n]); err != nil {
					return err
				}
			}
			if !whole {
				return nil
			}
		}
	})
}

// write runs a transaction, with the guard at its end: that keeps others from writing only
// for a moment.
func (r *Rows) write(op string, within time.Duration, do func(context.Context, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	err := failure(op, pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		if err := do(ctx, tx); err != nil || r.guard == "" {
			return err
		}
		_, err := tx.Exec(ctx, r.guard)
		return err
	}))
	if r.full != nil && errs.Is(err, errs.Full) {
		r.full()
	}
	return err
}

// Remove removes a content. One that is not there is removed.
func (r *Rows) Remove(sum [32]byte) error {
	return r.write("remove a content", within, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, deleteAll, sum[:])
		return err
	})
}

// Unpinned runs f while nobody can pin the contents, and reports whether it did.
func (r *Rows) Unpinned(f func() error) (ran bool, err error) {
	const op = "look whether the contents are pinned"
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return false, failure(op, err)
	}
	defer func() { err = errors.Join(err, failure(op, tx.Rollback(context.WithoutCancel(ctx)))) }() // frees the lock
	if err := tx.QueryRow(ctx, tryLock).Scan(&ran); err != nil || !ran {
		return false, failure(op, err)
	}
	return true, f()
}

// Pin implements attach.Place.
func (r *Rows) Pin() (release func() error, err error) {
	const op = "pin the contents"
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	c, err := r.pool.Acquire(ctx)
	if err != nil {
		return nil, failure(op, err)
	}
	own := c.Hijack() // its end frees the lock, however it ends
	if _, err := own.Exec(ctx, lockShared); err != nil {
		return nil, failure(op, errors.Join(err, own.Close(ctx)))
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		_, err := own.Exec(ctx, unlockShared) // the server may notice the end of the connection later
		return failure("unpin the contents", errors.Join(err, own.Close(ctx)))
	}, nil
}

// Size implements attach.Place.
func (r *Rows) Size(sum [32]byte) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var size *int64
	if err := r.pool.QueryRow(ctx, getSize, sum[:]).Scan(&size); err != nil {
		return 0, failure("look at a content", err)
	}
	if size == nil {
		return 0, missing()
	}
	return *size, nil
}

// Walk implements attach.Place.
func (r *Rows) Walk(ctx context.Context, f func(attach.Found) error) error {
	after := []byte{}
	for {
		found, err := r.some(ctx, after)
		if err != nil || len(found) == 0 {
			return failure("list contents", err)
		}
		for _, sum := range found {
			if err := f(attach.Found{Name: r.Name([32]byte(sum)), Sum: [32]byte(sum), Own: true}); err != nil {
				return err
			}
		}
		after = found[len(found)-1]
	}
}

func (r *Rows) some(ctx context.Context, after []byte) ([][]byte, error) {
	found, err := r.pool.Query(ctx, listSome, after, walkAtOnce)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowTo[[]byte])
}

// Delete implements attach.Place.
func (r *Rows) Delete(found attach.Found) error { return r.Remove(found.Sum) }

// Name implements attach.Place: as the file of the content would be called.
func (*Rows) Name(sum [32]byte) string { return "content_parts/" + attach.Name(sum) }

// Open opens a content for reading. One that is not there is errs.NotFound.
func (r *Rows) Open(sum [32]byte) (io.ReadSeekCloser, error) {
	size, err := r.Size(sum)
	if err != nil {
		return nil, err
	}
	return &content{rows: r, sum: sum, size: size, number: -1}, nil
}

// content is a content that is read. It has one part in memory.
type content struct {
	rows   *Rows
	sum    [32]byte
	size   int64
	at     int64 // where the next read begins
	number int64 // of the part in memory, -1 for none
	part   []byte
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if number := c.at / partSize; number != c.number {
		if err := c.load(number); err != nil {
			return 0, err
		}
	}
	offset := c.at % partSize
	if offset >= int64(len(c.part)) {
		return 0, unavailable("read a content", io.ErrUnexpectedEOF)
	}
	n := copy(p, c.part[offset:])
	c.at += int64(n)
	return n, nil
}

func (c *content) load(number int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	err := c.rows.pool.QueryRow(ctx, getPart, c.sum[:], int32(number)).Scan(&c.part) //nolint:gosec // a content has no 2^31 parts
	if errors.Is(err, pgx.ErrNoRows) {
		return missing()
	}
	if err == nil {
		c.number = number
	}
	return failure("read a content", err)
}

// Seek implements io.Seeker. It reads nothing.
func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return c.at, errors.New("seek: before the beginning")
	}
	c.at = offset
	return offset, nil
}

// Close implements io.Closer. Nothing is held while nothing is read.
func (*content) Close() error { return nil }

func missing() error { return errs.New(errs.NotFound, "There is no such content.") }

// failure translates an error of the database.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "53100" { // disk_full
		return &errs.Error{Kind: errs.Full, Detail: "The database's disk is full. Nothing was stored; try again once there is room.", Err: errs.Wrap(op, err)}
	}
	return unavailable(op, err)
}

func unavailable(op string, err error) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: "The database with the contents does not answer as it should. Nothing was stored; try again.", Err: errs.Wrap(op, err)}
}
