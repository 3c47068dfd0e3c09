package main

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuantitiesAreWrittenInTheirUnit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value float64
		unit  Unit
		want  string
	}{
		{31_415.9, PerSecond, "31,416/s"},
		{1_234_567.5, PerSecond, "1,234,568/s"},
		{345, PerSecond, "345/s"},
		{12.34, PerSecond, "12.3/s"},
		{0.5, Times, "0.5 ×"},
		{4, Times, "4 ×"},
		{2, Seconds, "2 s"},
		{0.15, Seconds, "150 ms"},
		{110e-6, Seconds, "110 µs"},
		{98e-9, Seconds, "98 ns"},
		{0, Seconds, "0 s"},
		{0.00025, Times, "0.0003 ×"},
		{0.002, Times, "0.002 ×"},
		{0.006, Times, "0.01 ×"},
		{40 << 20, Bytes, "40 MiB"},
		{250, Bytes, "250 B"},
		{0.25, Bytes, "0.25 B"},
		{-2048, Bytes, "-2 KiB"},
		{-12_345, PerSecond, "-12,345/s"},
	} {
		if got := quantity(tt.value, tt.unit); got != tt.want {
			t.Errorf("quantity(%v, %q) = %q, want %q", tt.value, tt.unit, got, tt.want)
		}
	}
}

func TestVerdictFollowsFromMeasureAndLimit(t *testing.T) {
	t.Parallel()
	rate := func(x float64) *Value { return measured(PerSecond, x) }
	for _, tt := range []struct {
		name string
		row  Row
		want Row
	}{
		{"reached", atLeast("w", rate(50), rate(100), 0.5), Row{Work: "w", Measured: rate(50), Limit: rate(100), Ratio: 0.5, ToReach: "≥ 0.5 ×", Verdict: Met}},
		{"missed", atLeast("w", rate(49), rate(100), 0.5), Row{Work: "w", Measured: rate(49), Limit: rate(100), Ratio: 0.49, ToReach: "≥ 0.5 ×", Verdict: Missed}},
		{"fewer times", atMostTimes("w", rate(4), rate(1), 4), Row{Work: "w", Measured: rate(4), Limit: rate(1), Ratio: 4, ToReach: "≤ 4 ×", Verdict: Met}},
		{"too many times", atMostTimes("w", rate(5), rate(1), 4), Row{Work: "w", Measured: rate(5), Limit: rate(1), Ratio: 5, ToReach: "≤ 4 ×", Verdict: Missed}},
		{"at most", atMost("w", measured(Seconds, 0.1), nil, 0.15), Row{Work: "w", Measured: measured(Seconds, 0.1), ToReach: "≤ 150 ms", Verdict: Met}},
		{"more", atMost("w", measured(Seconds, 0.2), measured(Seconds, 0.4), 0.15), Row{
			Work: "w", Measured: measured(Seconds, 0.2), Limit: measured(Seconds, 0.4), Ratio: 0.5, ToReach: "≤ 150 ms", Verdict: Missed,
		}},
	} {
		if diff := cmp.Diff(tt.want, tt.row); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestWriteText(t *testing.T) {
	t.Parallel()
	r := &Report{
		Time: time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC), Go: "go1.26", System: "linux/amd64", CPUs: 2, Rounds: 5,
		Rows: []Row{
			{Figure: "P1", Work: "much", Measured: measured(PerSecond, 12_000), Limit: measured(PerSecond, 20_000), Ratio: 0.6, ToReach: "≥ 0.5 ×", Verdict: Met, Note: "as seen"},
			{Figure: "P1", Work: "… and more", Measured: measured(PerSecond, 12_000), Limit: quoted(PerSecond, 345, "facts"), Ratio: 34.8, ToReach: "≥ 20 ×", Verdict: Met},
			{Figure: "P6", Work: "little", Verdict: Skipped},
		},
	}
	const want = `2026-11-20T11:00:00Z, 2 CPUs, linux/amd64, go1.26, medians of 5 rounds

    work        measured  limit         ratio  to reach  
P1  much        12,000/s  20,000/s      0.6    ≥ 0.5 ×   met
    … and more  12,000/s  345/s quoted  34.8   ≥ 20 ×    met
P6  little                                               skipped

P1   much: as seen
`
	var got strings.Builder
	if err := r.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
	ascending := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 6, 0.99: 10, 1: 10} {
		if got := quantile(ascending, share); got != want {
			t.Errorf("quantile(%v) = %v, want %v", share, got, want)
		}
	}
}

func TestLoadCountsCallsAndStopsAtAFailure(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s, err := load(t.Context(), 4, 10*time.Millisecond, func(context.Context, int) error {
		calls.Add(1)
		return nil
	})
	if err != nil || int64(s.done) != calls.Load() || s.done < 4 || s.elapsed <= 0 || len(s.each) != s.done {
		t.Errorf("%d calls were counted as %+v, %v", calls.Load(), s.done, err)
	}
	failure := errors.New("enough")
	_, err = load(t.Context(), 4, time.Hour, func(ctx context.Context, caller int) error {
		if caller == 2 {
			return failure
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, failure) {
		t.Errorf("error %v, want the first one, %v", err, failure)
	}
}

func TestLateAt(t *testing.T) {
	t.Parallel()
	second := time.Date(2026, 11, 20, 11, 0, 7, 0, time.UTC)
	for _, tt := range []struct {
		name      string
		now       time.Time
		lag, want time.Duration
	}{
		{"at once", second.Add(400 * time.Microsecond), 0, 400 * time.Microsecond},
		{"later than it began", second.Add(9 * time.Millisecond), 2 * time.Millisecond, 9 * time.Millisecond},
		{"over a second", second.Add(1009 * time.Millisecond), 1002 * time.Millisecond, 1009 * time.Millisecond},
		{"a second has begun meanwhile", second.Add(1001 * time.Millisecond), 999 * time.Millisecond, 1001 * time.Millisecond},
	} {
		if got := lateAt(tt.now, tt.lag); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAnswerIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, wrong string
		want              int
	}{
		{"a body", "HTTP/1.1 200 OK\r\nX: y\r\ncontent-length:  5\r\n\r\nhello", "", 200},
		{"no body", "HTTP/1.1 204 No Content\r\n\r\n", "", 204},
		{"another status", "HTTP/1.1 409 Conflict\r\nContent-Length: 3\r\n\r\nwhy", "status 409, not 204: why", 204},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", 200},
		{"no answer", "", "EOF", 200},
		{"no status", "hello\n", `no status line: "hello\n"`, 200},
		{"cut short", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "EOF", 200},
	} {
		text := tt.text
		if tt.wrong != "EOF" {
			text += "HTTP" // the next answer
		}
		c := &connection{in: bufio.NewReaderSize(strings.NewReader(text), 1024)}
		err := c.answer(tt.want)
		if got := errText(err); got != tt.wrong {
			t.Errorf("%s: error %q, want %q", tt.name, got, tt.wrong)
		}
		if rest, _ := c.in.Peek(4); err == nil && string(rest) != "HTTP" {
			t.Errorf("%s: the next answer begins with %q", tt.name, rest)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
