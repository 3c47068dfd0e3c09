package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/store"
)

// newGate returns a gate and its clock.
func newGate() (*Gate, *time.Time) {
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	return NewGate(func() time.Time { return now }), &now
}

func refusal(actor string) *Row {
	return &Row{Time: time.Unix(1352464496, 0), Actor: actor, Action: LogIn, Outcome: Refused}
}

// told returns whom rows are about, and what was missed.
func told(rows ...*Row) (out []string) {
	for _, r := range rows {
		if r.Action == Lost {
			out = append(out, r.Detail)
		} else {
			out = append(out, r.Actor)
		}
	}
	return out
}

func wantTold(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An attacker is seen, and fills nothing: of alike rows a few a minute are
// written, and then how many there were besides.
func TestAlikeRowsAreBounded(t *testing.T) {
	t.Parallel()
	g, now := newGate()
	var got []string
	for range mostAlike + 5 {
		got = append(got, told(g.Admit(refusal("sam"))...)...)
	}
	got = append(got, told(g.Admit(refusal("ann"))...)...)
	*now = now.Add(time.Minute)
	got = append(got, told(g.Admit(refusal("sam"))...)...)
	want := append(strings.Fields(strings.Repeat("sam ", mostAlike)), "ann", "5 rows were not written: too many came at once", "sam")
	wantTold(t, got, want...)
	if r := g.Missed(); r != nil {
		t.Errorf("what was spoken of is spoken of again: %s", r.Line())
	}
}

func TestAllRowsAreBounded(t *testing.T) {
	t.Parallel()
	g, now := newGate()
	n := 0
	for i := range mostAMinute + 7 {
		n += len(g.Admit(refusal(fmt.Sprint(i))))
	}
	if n != mostAMinute {
		t.Errorf("%d rows in a minute, want %d", n, mostAMinute)
	}
	wantTold(t, told(g.Missed()), "7 rows were not written: too many came at once")
	*now = now.Add(-time.Hour) // a clock that is set back holds up nothing
	wantTold(t, told(g.Admit(refusal("sam"))...), "sam")
}

// TestRowsThatWereNotWrittenAreCounted: what could not be written is counted, and a row about others that
// were not written stands for all of these.
func TestRowsThatWereNotWrittenAreCounted(t *testing.T) {
	t.Parallel()
	g, _ := newGate()
	g.Miss(refusal("sam"))
	g.Miss(refusal("ann"))
	first := g.Missed()
	g.Miss(first)
	g.Miss(refusal("eve"))
	wantTold(t, told(g.Missed()), "3 rows were not written: too many came at once")
}

func TestDayOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1970-01-01T00:00:00Z": 0, "1970-01-01T23:59:59Z": 0, "1970-01-02T00:00:00Z": 1,
		"1969-12-31T23:59:59Z": -1, "1969-12-31T00:00:00Z": -1, "2012-11-09T23:30:00-02:00": 15654,
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := store.AuditDayOf(at); got != want {
			t.Errorf("DayOf(%s) = %d; want %d", text, got, want)
		}
	}
}

func TestLongTextsAreClipped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aää", 4, "aä…"}, {"ää", 1, "…"},
	} {
		if got := clipped(test.text, test.most); got != test.want {
			t.Errorf("clipped(%q, %d) = %q; want %q", test.text, test.most, got, test.want)
		}
	}
}

// TestTextStaysAsItWasOpened: a text is what it was when it was opened, wherever parts of it end.
func TestTextStaysAsItWasOpened(t *testing.T) {
	t.Parallel()
	const grown = "one\ntwo\nthree\nfour\n"
	text := NewText(14, func(from int64) ([]byte, error) {
		part, _, _ := strings.Cut(grown[from:], "\n")
		return []byte(part + "\n"), nil
	})
	if err := iotest.TestReader(text, []byte("one\ntwo\nthree\n")); err != nil {
		t.Error(err)
	}
	if _, err := text.Seek(-1, io.SeekStart); err == nil {
		t.Error("a position before the beginning")
	}
	short := NewText(14, func(int64) ([]byte, error) { return nil, nil })
	if _, err := io.ReadAll(short); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a text that has gone: %v", err)
	}
}

// FuzzRow: whatever is in a row, it is a line of JSON that says it.
func FuzzRow(f *testing.F) {
	f.Add("sam", "192.0.2.1", "PUT /dav/a%20b", "No.")
	f.Add("", "", "a\nb\u2028", "\xff\"}\n{")
	f.Fuzz(func(t *testing.T, actor, address, target, detail string) {
		row := Row{Actor: actor, Address: address, Action: Request, Target: target, Outcome: Refused, Detail: detail}
		line := row.Line()
		if bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' || len(line) > 7*(len(actor)+len(address)+2*mostText)+300 {
			t.Fatalf("%q", line)
		}
		var back map[string]any
		if err := json.Unmarshal(line, &back); err != nil || len(back) != 7 {
			t.Fatalf("%q: %v", line, err)
		}
	})
}
