package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/url"
	"os"

	"flowdrive/internal/errs"
)

// Log is what is found in a write-ahead log before SQLite reads it
// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
type Log struct {
	Pages     int  // of whole transactions
	LostPages int  // behind them, of the same log, that SQLite will not use
	Whole     bool // the header can be read, or the log is empty
}

// Lost reports whether more of the log cannot be used than a process that is killed
// leaves: a transaction that was being written.
func (l Log) Lost() bool { return !l.Whole || l.LostPages > 0 }

const (
	logHeader   = 32
	frameHeader = 24
)

// ReadLog reads the log file at path, as SQLite would, and looks at what comes behind
// the last whole transaction: pages of this log up to the last one that has the end of a
// transaction were acknowledged, and are lost. SQLite itself ends a log at the first
// page that is damaged, and says nothing. It returns fs.ErrNotExist if there is no
// log.
func ReadLog(path string) (Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return Log{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, logHeader)
	if _, err := io.ReadFull(f, head); err != nil {
		return Log{Whole: errors.Is(err, io.EOF)}, nil // what is shorter than its header is damaged
	}
	order, ok := logOrder(head)
	if !ok {
		return Log{}, nil
	}
	r := &logReader{f: f, order: order, salt: head[16:24], sum: logSum{}.add(order, head[:24])}
	size := binary.BigEndian.Uint32(head[8:12])
	if !r.sum.is(head[24:32]) || size < 512 || size > 65536 {
		return Log{}, nil
	}
	r.frame = make([]byte, frameHeader+size)
	return r.read()
}

// logOrder returns the byte order of the sums of a log.
func logOrder(head []byte) (binary.ByteOrder, bool) {
	switch binary.BigEndian.Uint32(head[0:4]) {
	case 0x377f0682:
		return binary.LittleEndian, true
	case 0x377f0683:
		return binary.BigEndian, true
	}
	return nil, false
}

type logReader struct {
	f     io.Reader
	order binary.ByteOrder
	salt  []byte
	sum   logSum
	frame []byte
}

func (r *logReader) read() (Log, error) {
	l := Log{Whole: true}
	all, broken := 0, false // pages so far, and whether one was damaged
	for {
		if _, err := io.ReadFull(r.f, r.frame); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return l, nil
			}
			return l, errs.Wrap("read the log", err)
		}
		all++
		if !bytes.Equal(r.frame[8:16], r.salt) { // damaged, or what an earlier round of the log has left
			broken = true
			continue
		}
		r.sum = r.sum.add(r.order, r.frame[:8]).add(r.order, r.frame[frameHeader:])
		broken = broken || !r.sum.is(r.frame[16:24])
		if binary.BigEndian.Uint32(r.frame[4:8]) == 0 {
			continue // the transaction goes on
		}
		if broken {
			l.LostPages = all - l.Pages
		} else {
			l.Pages = all
		}
	}
}

// logSum is the running sum of a log.
type logSum [2]uint32

func (s logSum) add(order binary.ByteOrder, data []byte) logSum {
	for i := 0; i+8 <= len(data); i += 8 {
		s[0] += order.Uint32(data[i:]) + s[1]
		s[1] += order.Uint32(data[i+4:]) + s[0]
	}
	return s
}

func (s logSum) is(stored []byte) bool {
	return s[0] == binary.BigEndian.Uint32(stored) && s[1] == binary.BigEndian.Uint32(stored[4:])
}

const quickCheck = `PRAGMA quick_check(1)`

// QuickCheck looks through the structure of the database file at path, with its log,
// and returns the first thing that is wrong, "" for nothing.
func QuickCheck(path string) (found string, err error) {
	db := &DB{}
	// A change that was cut off is undone by who may write.
	if db.readPool, err = openPool(dsn(path, 4<<10, url.Values{"mode": {"rw"}}), 1); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, failure("close the database", db.readPool.Close())) }()
	if err := db.readPool.QueryRowContext(context.Background(), quickCheck).Scan(&found); err != nil {
		return "", failure("look through the database", err)
	}
	if found == "ok" {
		return "", nil
	}
	return found, nil
}
