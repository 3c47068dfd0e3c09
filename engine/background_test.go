package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

// paper is a store that keeps lines of the audit log.
type paper struct {
	Store
	Tx
	lines []string
	fail  error
}

func (p *paper) UpdateAll(_ context.Context, fs []func(Tx) error) []error {
	out := make([]error, len(fs))
	for i, f := range fs {
		if out[i] = p.fail; out[i] == nil {
			out[i] = f(p)
		}
	}
	return out
}

func (p *paper) AppendAudit(_ time.Time, line []byte) error {
	p.lines = append(p.lines, string(line))
	return nil
}

// written returns the actors of the lines, and what was lost.
func (p *paper) written() (out []string) {
	for _, line := range p.lines {
		_, rest, _ := strings.Cut(line, `"actor":`)
		actor, _, _ := strings.Cut(rest, ",")
		if _, detail, lost := strings.Cut(line, `"action":"rows-lost"`); lost {
			_, detail, _ = strings.Cut(detail, `"detail":"`)
			actor, _, _ = strings.Cut(detail, " ")
			actor = "lost " + actor
		}
		out = append(out, strings.Trim(actor, `"`))
	}
	return out
}

func newPaper() (*background, *paper, *time.Time) {
	p := &paper{}
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	b := newBackground(p, zerolog.Nop())
	b.now = func() time.Time { return now }
	return b, p, &now
}

func refusal(actor string) *auditRow {
	return &auditRow{time: time.Unix(1352464496, 0), actor: actor, action: AuditLogIn, outcome: auditRefused}
}

// An attacker is seen, and fills nothing: of alike rows a few a minute are
// written, and then how many there were besides.
func TestAlikeRowsAreBounded(t *testing.T) {
	t.Parallel()
	b, p, now := newPaper()
	for range mostAlikeRows + 5 {
		b.row(refusal("sam"))
	}
	b.row(refusal("ann"))
	*now = now.Add(time.Minute)
	b.row(refusal("sam"))
	b.finish(t.Context())
	want := append(strings.Fields(strings.Repeat("sam ", mostAlikeRows)), "ann", "lost 5", "sam")
	if diff := cmp.Diff(want, p.written()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAllRowsAreBounded(t *testing.T) {
	t.Parallel()
	b, p, now := newPaper()
	for i := range mostRowsAMinute + 7 {
		b.row(refusal(fmt.Sprint(i)))
	}
	b.finish(t.Context())
	if n := len(p.lines); n != mostRowsAMinute+1 || p.written()[0] != "lost 7" {
		t.Errorf("%d lines, the first %s", n, p.written()[0])
	}
	*now = now.Add(-time.Hour) // a clock that is set back holds up nothing
	p.lines = nil
	b.row(refusal("sam"))
	b.finish(t.Context())
	if diff := cmp.Diff([]string{"sam"}, p.written()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Nothing that comes blocks, though nobody writes.
func TestBackgroundNeverBlocks(t *testing.T) {
	t.Parallel()
	b, p, now := newPaper()
	n := 0
	for minute := range 3 {
		*now = now.Add(time.Minute)
		for i := range mostRowsAMinute {
			b.row(refusal(fmt.Sprint(minute, i)))
			n++
		}
	}
	if b.add(func(Tx) error { return nil }) {
		t.Error("there was still room")
	}
	b.finish(t.Context())
	lost := 0
	for _, w := range p.written() {
		var k int
		if _, err := fmt.Sscanf(w, "lost %d", &k); err == nil {
			lost += k
			n++ // the row that says so
		}
	}
	if len(p.lines)+lost != n {
		t.Errorf("%d lines and %d lost of %d", len(p.lines), lost, n)
	}
}

// What is under way when the engine stops is written then, and an error of
// the store ends nothing.
func TestBackgroundIsFlushed(t *testing.T) {
	t.Parallel()
	b, p, _ := newPaper()
	for i := range flushAtOnce + 3 {
		b.row(refusal(fmt.Sprint(i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.run(ctx)
	if len(p.lines) != flushAtOnce+3 {
		t.Errorf("%d lines; want %d", len(p.lines), flushAtOnce+3)
	}
	p.fail = errors.New("the disk is full")
	b.row(refusal("sam"))
	b.run(ctx)
	p.fail = nil
	b.row(refusal("ann"))
	b.run(ctx)
	if got := p.written(); got[len(got)-1] != "ann" {
		t.Errorf("the last line is of %s", got[len(got)-1])
	}
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
		if got := DayOf(at); got != want {
			t.Errorf("DayOf(%s) = %d; want %d", text, got, want)
		}
	}
}

func TestClipped(t *testing.T) {
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
