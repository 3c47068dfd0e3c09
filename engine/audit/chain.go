package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Each line has a number and the SHA-256 of the line before, in the order in which they
// were written, over all days. The database remembers the last one
// (docs/contract/storage.md#9-the-chain-of-the-audit-log).

// chained returns a line with its place behind head, and the head that it is then.
func chained(line []byte, head store.AuditHead) ([]byte, store.AuditHead) {
	line = bytes.TrimSuffix(line, []byte("}\n"))
	line = append(line, `,"number":`...)
	line = strconv.AppendInt(line, head.Number+1, 10)
	line = append(line, `,"previous":`...)
	if head.Number == 0 {
		line = append(line, "null"...)
	} else {
		line = strconv.AppendQuote(line, hex.EncodeToString(head.SHA256[:]))
	}
	line = append(line, '}')
	head.Number, head.SHA256 = head.Number+1, sha256.Sum256(line)
	return append(line, '\n'), head
}

// Report says what Verify has found.
type Report struct {
	Lines      int64 // of the chain that are as they were written
	Unnumbered int64 // older ones
	Head       store.AuditHead
	Broken     string // what is wrong with the first line that is not as it was written, "" for nothing
}

// Verify reads the whole audit log and looks whether each line is as it was written.
// known are SHA-256 of lines, by their numbers, that somebody has written down elsewhere.
// The error is that of reading.
func Verify(r store.AuditReader, known map[int64][32]byte) (Report, error) {
	return verify(r, &verifier{known: known, ahead: map[int64]place{}, most: math.MaxInt64})
}

// VerifyUpTo is Verify beside a server that writes: lines behind head, which was read
// before, are passed over.
func VerifyUpTo(r store.AuditReader, head store.AuditHead) (Report, error) {
	return verify(upTo{r, head}, &verifier{ahead: map[int64]place{}, most: head.Number})
}

// upTo reads a log that had that head.
type upTo struct {
	store.AuditReader
	head store.AuditHead
}

// Head implements store.AuditReader.
func (r upTo) Head() (store.AuditHead, error) { return r.head, nil }

func verify(r store.AuditReader, v *verifier) (Report, error) {
	days, err := r.Days()
	if err != nil {
		return Report{}, err
	}
	for i := range days {
		if err := v.day(r, days[i].Day); err != nil {
			return Report{}, err
		}
	}
	head, err := r.Head()
	if errs.Is(err, errs.NotFound) {
		v.breaks("the database does not remember the end of the audit log")
	} else if err != nil {
		return Report{}, err
	}
	if v.broken == "" {
		v.end(head)
	}
	return Report{Lines: v.last.number, Unnumbered: v.unnumbered, Head: head, Broken: v.broken}, nil
}

// place is a line, without its text.
type place struct {
	number   int64
	sha256   [32]byte
	previous string
	day      int64
	offset   int64
}

func (p *place) String() string {
	return fmt.Sprintf("line %d (Admin/Audit/%s.jsonl, byte %d)", p.number, time.Unix(p.day*24*60*60, 0).UTC().Format(time.DateOnly), p.offset)
}

// mostAhead bounds how many lines may be waiting for one that was written before them
// and is of a later day. More say that it is gone.
const mostAhead = 100_000

// verifier goes through the lines in the order of their numbers.
type verifier struct {
	known      map[int64][32]byte
	most       int64           // lines with greater numbers are passed over
	last       place           // the last line of the chain so far
	doubted    *place          // the line before last, if last does not fit to it
	ahead      map[int64]place // lines that come later in the chain
	unnumbered int64
	unread     string // the first line that cannot be read
	highest    int64  // the greatest number of the lines of the day so far
	moved      *place // of the lines that are not where they were written, that with the least number
	broken     string
}

func (v *verifier) breaks(format string, args ...any) {
	if v.broken == "" {
		v.broken = fmt.Sprintf(format, args...)
	}
}

func (v *verifier) day(r store.AuditReader, day int64) error {
	const lines = 1000
	v.highest = 0
	for from := int64(0); v.broken == ""; {
		read, err := r.Lines(day, from, lines)
		if err != nil || len(read) == 0 {
			return err
		}
		for _, l := range read {
			v.line(l.Text, place{day: day, offset: l.Start})
			from = l.Start + 1
		}
	}
	return nil
}

// line takes the next line of a day.
func (v *verifier) line(line []byte, at place) {
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	var l struct {
		Number   int64
		Previous string
		Time     time.Time
	}
	if err := json.Unmarshal(text, &l); err != nil || !whole || l.Number < 0 {
		if v.unread == "" {
			v.unread = fmt.Sprintf("what is in its place (byte %d of its day) is not a line of the log", at.offset)
		}
		return
	}
	if l.Number == 0 {
		v.unnumbered++
		return
	}
	if l.Number > v.most {
		return // written since
	}
	at.number, at.previous, at.sha256 = l.Number, l.Previous, sha256.Sum256(text)
	if _, twice := v.ahead[at.number]; twice || at.number <= v.last.number {
		v.breaks("%s is there twice", &at)
		return
	}
	v.ahead[at.number] = at
	// Each line is written as the last one of the day that its time is in.
	if at.number < v.highest || store.AuditDayOf(l.Time) != at.day {
		if v.moved == nil || at.number < v.moved.number {
			v.moved = &at
		}
	}
	v.highest = max(v.highest, at.number)
	for v.broken == "" {
		next, found := v.ahead[v.last.number+1]
		if !found {
			break
		}
		delete(v.ahead, next.number)
		v.accept(next)
	}
	if len(v.ahead) > mostAhead {
		v.gone()
	}
}

// accept takes the line behind the last one.
func (v *verifier) accept(p place) {
	fits := p.previous == hex.EncodeToString(v.last.sha256[:]) || p.number == 1 && p.previous == ""
	switch {
	case v.doubted != nil && fits: // then the line before that was changed
		v.breaks("%s is not as it was written", v.doubted)
	case v.doubted != nil:
		v.breaks("%s is not as it was written", &v.last)
	case !fits && p.number == 1:
		v.breaks("%s is not as it was written", &p)
	}
	if sum, given := v.known[p.number]; given && sum != p.sha256 {
		v.breaks("%s is not the one with the SHA-256 %x", &p, sum)
	}
	if v.broken != "" {
		return
	}
	if !fits {
		before := v.last
		v.doubted = &before
	}
	v.last = p
}

// gone says that the line behind the last one is not there.
func (v *verifier) gone() {
	if v.unread != "" {
		v.breaks("line %d is not as it was written: %s", v.last.number+1, v.unread)
		return
	}
	v.breaks("line %d is not there", v.last.number+1)
}

// end compares the end of the chain with what the database remembers.
func (v *verifier) end(head store.AuditHead) {
	last := v.last
	switch {
	case v.doubted != nil && last.sha256 == head.SHA256:
		v.breaks("%s is not as it was written", v.doubted)
	case v.doubted != nil:
		v.breaks("%s is not as it was written", &last)
	case last.number < head.Number && len(v.ahead) > 0:
		v.gone()
	case last.number < head.Number:
		v.gone()
		v.broken += fmt.Sprintf(", nor any after it: the database remembers %d lines", head.Number)
	case last.number > head.Number || len(v.ahead) > 0:
		v.breaks("line %d was not written by the server: the database remembers %d lines", head.Number+1, head.Number)
	case last.number > 0 && last.sha256 != head.SHA256:
		v.breaks("%s is not as it was written", &last)
	case v.moved != nil:
		v.breaks("%s is not where it was written: lines have changed places", v.moved)
	case v.unread != "":
		v.breaks("there is a line that the server has not written: %s", v.unread)
	case v.unnumbered != head.Unnumbered:
		v.breaks("%d older lines have no numbers; there were %d", v.unnumbered, head.Unnumbered)
	}
	for _, number := range slices.Sorted(maps.Keys(v.known)) {
		if number > last.number {
			v.breaks("line %d with the SHA-256 %x is not there: the log ends with line %d", number, v.known[number], last.number)
		}
	}
}
