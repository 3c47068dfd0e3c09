package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// shelf is an audit log that can be tampered with: the lines of each day, and the head.
type shelf struct {
	days map[int64][]string
	head store.AuditHead
	lost bool // the head
}

func (s *shelf) Days() (all []store.AuditDay, err error) {
	for day, lines := range s.days {
		all = append(all, store.AuditDay{Day: day, Size: int64(len(strings.Join(lines, "")))})
	}
	slices.SortFunc(all, func(a, b store.AuditDay) int { return int(a.Day - b.Day) })
	return all, nil
}

func (s *shelf) Day(int64) (*store.AuditDay, error) { return nil, nil }

func (s *shelf) Text(day, offset int64, _ int) ([]byte, error) {
	return []byte(strings.Join(s.days[day], "")[offset:]), nil
}

func (s *shelf) Head() (store.AuditHead, error) {
	if s.lost {
		return store.AuditHead{}, errs.New(errs.NotFound, "It is not there.")
	}
	return s.head, nil
}

func (s *shelf) Lines(day, from int64, n int) (all []store.AuditLine, err error) {
	start := int64(0)
	for _, line := range s.days[day] {
		if start >= from && len(all) < n && line != "" {
			all = append(all, store.AuditLine{Start: start, Text: []byte(line)})
		}
		start += int64(len(line))
		if line == "" {
			start += gap
		}
	}
	return all, nil
}

// gap is how long a line was that was taken out: where the others begin stays.
const gap = 100

// write appends a line to a day.
func (s *shelf) write(day int64, actor string) {
	row := &Row{Time: time.Unix(day*24*60*60, 0), Actor: actor, Action: UserAdd, Outcome: Done}
	var line []byte
	line, s.head = chained(row.Line(), s.head)
	s.days[day] = append(s.days[day], string(line))
}

// newShelf returns a log of three days: two lines without numbers, then nine with, of
// which the seventh is of the first day, although the day after had begun.
func newShelf() *shelf {
	s := &shelf{days: map[int64][]string{}}
	for _, actor := range []string{"old", "older"} {
		row := &Row{Actor: actor, Action: UserAdd, Outcome: Done}
		s.days[1] = append(s.days[1], string(row.Line()))
		s.head.Unnumbered++
	}
	for i, day := range []int64{1, 1, 1, 2, 2, 2, 1, 2, 3} {
		s.write(day, fmt.Sprintf("u%d", i+1))
	}
	return s
}

// TestChainFindsTheFirstBrokenLine: whatever is changed, put in or taken out, the first
// line of which that is so is named.
func TestChainFindsTheFirstBrokenLine(t *testing.T) {
	t.Parallel()
	edit := func(day int64, i int, old, changed string) func(*shelf) {
		return func(s *shelf) { s.days[day][i] = strings.Replace(s.days[day][i], old, changed, 1) }
	}
	remove := func(day int64, i int) func(*shelf) {
		return func(s *shelf) { s.days[day] = slices.Delete(s.days[day], i, i+1) }
	}
	for _, test := range []struct {
		name   string
		change func(*shelf)
		want   string // a part of what is told, "" for nothing
	}{
		{"nothing", func(*shelf) {}, ""},
		{"more lines", func(s *shelf) { s.write(4, "later"); s.write(1, "late") }, ""},
		{"no lines at all", func(s *shelf) { *s = shelf{} }, ""},
		{"the text of a line", edit(1, 3, "u2", "x2"), "line 2 (Admin/Audit/1970-01-02.jsonl, byte"},
		{"the first line", edit(1, 2, "u1", "x1"), "line 1 "},
		{"the last line", edit(3, 0, "u9", "x9"), "line 9 "},
		{"the last but one", edit(2, 3, "u8", "x8"), "line 8 "},
		{"a line of a day before", edit(1, 5, "u7", "x7"), "line 7 "},
		{"what a line says of the one before", edit(2, 1, `"previous":"`, `"previous":"0`), "line 5 "},
		{"that the first has none before", edit(1, 2, `"previous":null`, `"previous":"00"`), "line 1 "},
		{"two lines", func(s *shelf) { edit(2, 0, "u4", "x4")(s); edit(3, 0, "u9", "x9")(s) }, "line 4 "},
		{"a number", edit(2, 0, `"number":4`, `"number":44`), "line 4 is not there"},
		{"a number to one that is there", edit(2, 0, `"number":4`, `"number":3`), "line 3 "},
		{"a line that is none", edit(2, 0, `{`, `[`), "line 4 is not as it was written: what is in its place"},
		{"a line without its end", edit(3, 0, "}\n", "}"), "line 9 is not as it was written"},
		{"a line is taken out", remove(2, 1), "line 5 is not there"},
		{"a line is taken out, and the others stay where they are", func(s *shelf) { s.days[2][1] = "" }, "line 5 is not there"},
		{"the first is taken out", remove(1, 2), "line 1 is not there"},
		{"the first is taken out, and the others stay where they are", func(s *shelf) {
			*s = shelf{days: map[int64][]string{}}
			s.write(1, "u1")
			s.write(1, "u2")
			s.days[1][0] = ""
		}, "line 1 is not there"},
		{"the end is cut", remove(3, 0), "line 9 is not there, nor any after it: the database remembers 9 lines"},
		{"a day is taken out", func(s *shelf) { delete(s.days, 2) }, "line 4 is not there"},
		{"everything is taken out", func(s *shelf) { s.days = nil }, "line 1 is not there"},
		{"a line is there twice", func(s *shelf) { s.days[2] = append(s.days[2], s.days[2][0]) }, "line 4 "},
		{"a line is put in", func(s *shelf) { was := s.head; s.write(3, "x"); s.head = was }, "line 10 was not written by the server"},
		{"a line without a number is put in", func(s *shelf) { s.days[3] = append(s.days[3], s.days[1][0]) }, "3 older lines have no numbers; there were 2"},
		{"an old line is taken out", remove(1, 0), "1 older lines have no numbers; there were 2"},
		{"something that is no line is put in", func(s *shelf) { s.days[3] = append(s.days[3], "x\n") }, "there is a line that the server has not written"},
		{"two lines change places", func(s *shelf) { s.days[2][0], s.days[2][1] = s.days[2][1], s.days[2][0] }, "line 4 (Admin/Audit/1970-01-03.jsonl, byte"},
		{"two lines of different days change places", func(s *shelf) { s.days[1][2], s.days[2][3] = s.days[2][3], s.days[1][2] }, "line 1 "},
		{"the last line of a day and the first of the next change places", func(s *shelf) { s.days[2][3], s.days[3][0] = s.days[3][0], s.days[2][3] }, "line 8 "},
		{"the end is forgotten", func(s *shelf) { s.lost = true }, "the database does not remember the end"},
		{"a new chain", func(s *shelf) { *s = *newShelf(); s.head.SHA256[0]++ }, "line 9 "},
	} {
		s := newShelf()
		test.change(s)
		report, err := Verify(s, nil)
		if err != nil || report.Broken == "" && test.want != "" || !strings.Contains(report.Broken, test.want) || test.want == "" && report.Broken != "" {
			t.Errorf("%s: %q, %v; want %q", test.name, report.Broken, err, test.want)
		}
	}
}

// TestChainIsComparedWithWhatIsKnown: a chain that somebody has made anew is found by a
// line of the old one.
func TestChainIsComparedWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := newShelf()
	known := map[int64][32]byte{s.head.Number: s.head.SHA256}
	s.write(5, "later")
	if report, err := Verify(s, known); err != nil || report.Broken != "" || report.Lines != 10 || report.Unnumbered != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	forged := &shelf{days: map[int64][]string{}}
	for i := range 9 {
		forged.write(1, fmt.Sprintf("x%d", i))
	}
	if report, err := Verify(forged, known); err != nil || !strings.HasPrefix(report.Broken, "line 9 (Admin/Audit/1970-01-02.jsonl") {
		t.Errorf("%+v, %v", report, err)
	}
	if report, err := Verify(&shelf{}, known); err != nil || !strings.HasSuffix(report.Broken, "is not there: the log ends with line 0") {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestNewestLines: the newest lines are looked at by themselves, and a log to which lines
// are added meanwhile is verified as far as it went.
func TestNewestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*shelf)
		want   bool
	}{
		{"nothing", func(*shelf) {}, true},
		{"no lines at all", func(s *shelf) { *s = shelf{} }, true},
		{"the last line", func(s *shelf) { s.days[3][0] = strings.Replace(s.days[3][0], "u9", "x9", 1) }, false},
		{"the last is taken out", func(s *shelf) { delete(s.days, 3) }, false},
		{"no head", func(s *shelf) { s.lost = true }, false},
		{"a line before the last", func(s *shelf) {
			s.write(3, "u10")
			s.days[3][0] = strings.Replace(s.days[3][0], "u9", "x9", 1)
		}, false},
	} {
		s := newShelf()
		test.change(s)
		if got, err := FitsNewest(s); err != nil || got != test.want {
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
	}
	s := newShelf()
	head := s.head
	s.write(3, "later")
	if report, err := VerifyUpTo(s, head); err != nil || report.Broken != "" || report.Lines != 9 {
		t.Errorf("with a later line: %+v, %v", report, err)
	}
	s.days[2][0] = strings.Replace(s.days[2][0], "u4", "x4", 1)
	if report, err := VerifyUpTo(s, head); err != nil || !strings.HasPrefix(report.Broken, "line 4 ") {
		t.Errorf("with a later line and a broken one: %+v, %v", report, err)
	}
}
