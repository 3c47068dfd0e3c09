package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine"
)

// TestClockWatch: administrators are told once that the clock has gone back, and once that
// it is as late again. A correction by some seconds is not told of.
func TestClockWatch(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	var now time.Time
	var noted []string
	var log strings.Builder
	var passed time.Duration
	w := &clockWatch{now: func() time.Time { return now }, passed: func() time.Duration { return passed }, log: zerolog.New(&log), note: func(part engine.ServerPart, text string) { noted = append(noted, string(part)+": "+text) }}
	const back = "clock: it went back from 2026-03-02T09:00:00Z to 2026-03-02T08:01:00Z; schedule entries that fired in between fire again after that"
	for _, step := range []struct {
		at   time.Duration
		want []string
	}{
		{0, []string{"clock: "}},
		{time.Hour, nil},
		{time.Hour - 50*time.Second, nil},
		{time.Minute, []string{back}},
		{2 * time.Minute, nil},
		{time.Hour - time.Second, nil},
		{time.Hour, []string{"clock: "}},
		{2 * time.Hour, nil},
	} {
		now, noted = start.Add(step.at), nil
		if w.look(); !slices.Equal(noted, step.want) {
			t.Errorf("at %v administrators are told %q; want %q", step.at, noted, step.want)
		}
		passed += 10 * time.Second
	}
	// The clock has jumped ahead by an hour in the second look and in the last one, and by a
	// minute in between.
	if n := strings.Count(log.String(), "jumped ahead"); n != 2 {
		t.Errorf("it is said %d times that it has jumped ahead: %s", n, &log)
	}
	log.Reset()
	now = now.Add(24*time.Hour + 10*time.Second)
	w.look()
	if !strings.Contains(log.String(), `"from":"2026-03-02T10:00:10Z","to":"2026-03-03T10:00:10Z"`) {
		t.Errorf("ahead by a day: %s", &log)
	}
}
