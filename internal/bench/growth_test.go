package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStocksGrowToTheNumberAskedFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		cfg  Config
		want []int
	}{
		{"a run", Config{}, []int{1_000, 100_000, 1_000_000}},
		{"ten times as many", Config{Cases: 10_000_000}, []int{1_000, 100_000, 1_000_000, 10_000_000}},
		{"fewer", Config{Cases: 100_000}, []int{1_000, 100_000}},
		{"between", Config{Cases: 100_001}, []int{1_000, 100_000, 100_001}},
		{"more than the largest", Config{Cases: 20_000_000}, []int{1_000, 100_000, 1_000_000, 10_000_000, 20_000_000}},
		{"short", Config{Short: true}, []int{200, 2_000}},
		{"short, but with more", Config{Short: true, Cases: 5_000}, []int{200, 5_000}},
		{"too few", Config{Cases: 1_000}, []int{1_000}},
	} {
		if diff := cmp.Diff(tt.want, tt.cfg.stocks()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestTooFewCases wants a number with which nothing can be compared to be
// said, before anything is measured.
func TestTooFewCases(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1_000, 1, -5} {
		if report, err := Run(t.Context(), Config{Cases: n, Only: []string{"P12"}, Dir: t.TempDir()}); err == nil || report != nil {
			t.Errorf("%d cases: got %v, %v, want no report and an error", n, report, err)
		}
	}
}

// TestOverStocks wants a round on each folder before the next on the first, and
// a row for each but that with the fewest cases.
func TestOverStocks(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	r.rounds = 3
	var order []int
	var offices []*office
	var sides []side
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		o := &office{n: n}
		took := map[int]time.Duration{1_000: 10 * time.Second, 100_000: 15 * time.Second, 1_000_000: 16 * time.Second}[n]
		offices = append(offices, o)
		sides = append(sides, o.side(func(context.Context, time.Duration) (sample, error) {
			order = append(order, n)
			return sample{done: 10, elapsed: took, cpu: took / 2}, nil
		}))
	}
	got, err := r.overStocks(t.Context(), "work", offices, sides)
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Repeat([]int{1_000, 100_000, 1_000_000}, 1+r.rounds); !slices.Equal(order, want) {
		t.Errorf("the rounds were on %v, want %v", order, want)
	}
	value := func(x float64) *Value { return measured(Seconds, x, x, x) }
	want := []Row{
		{
			Work: "work: 100,000 cases over 1,000", Measured: value(1.5), Limit: value(1), Ratio: 1.5,
			ToReach: "≤ 1.5 ×", Verdict: Met, Note: "time each at 32 callers; CPU 750 ms over 500 ms",
		},
		{
			Work: "work: 1,000,000 cases over 1,000", Measured: value(1.6), Limit: value(1), Ratio: 1.6,
			ToReach: "≤ 1.5 ×", Verdict: Missed, Note: "time each at 32 callers; CPU 800 ms over 500 ms",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestNothingIsLeftInTheLogAfterARest wants nothing left in the log of a store after a rest.
func TestNothingIsLeftInTheLogAfterARest(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	h, err := openHouse(t.Context(), r.dir, houseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.startAndFinish(t.Context()); err != nil {
		t.Error(err)
	}
	left := func() int64 {
		row := dump(t, r.dir, `PRAGMA wal_checkpoint(NOOP)`)[0]
		logged, isLogged := row[1].(int64)
		done, isDone := row[2].(int64)
		if !isLogged || !isDone {
			t.Fatalf("the log is %v", row)
		}
		return logged - done
	}
	if left() == 0 {
		t.Error("a case was written, and nothing is in the log")
	}
	if err := restOf(r.dir)(t.Context()); err != nil {
		t.Error(err)
	}
	if n := left(); n != 0 {
		t.Errorf("%d pages are left in the log", n)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
}
