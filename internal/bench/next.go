package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"flowdrive/schedule"
)

// recurrence is one whose next instant is asked for.
type recurrence struct {
	name   string
	fields schedule.CronFields
	spec   string // the same for robfig/cron, "" if it cannot express it
	rare   bool   // its instants are years apart
}

func recurrences() []recurrence {
	return []recurrence{
		{name: "every five minutes", fields: schedule.CronFields{Minute: "*/5"}, spec: "*/5 * * * *"},
		{name: "9:00 on weekdays", fields: schedule.CronFields{Minute: "0", Hour: "9", Weekday: "mon-fri"}, spec: "0 9 * * 1-5"},
		{name: "2:30 daily", fields: schedule.CronFields{Minute: "30", Hour: "2"}, spec: "30 2 * * *"},
		{name: "1 January", fields: schedule.CronFields{Minute: "0", Hour: "0", Day: "1", Month: "1"}, spec: "0 0 1 1 *"},
		{name: "29 February", fields: schedule.CronFields{Minute: "0", Hour: "0", Day: "29", Month: "2"}, spec: "0 0 29 2 *", rare: true},
		{name: "Friday of week 53", fields: schedule.CronFields{Minute: "0", Hour: "3", Week: "53", Weekday: "fri"}, rare: true},
	}
}

// measureNext is P9: how long it takes to find the next instant.
func measureNext(ctx context.Context, r *run) ([]Row, error) {
	worst := map[bool]*Value{}
	notes := map[bool][]string{}
	compared := map[bool]*Value{}
	for _, rec := range recurrences() {
		ours, _, faults := schedule.ParseCron(rec.fields)
		if len(faults) > 0 {
			return nil, fmt.Errorf("%s: %s", rec.name, faults[0])
		}
		if err := onward(ours, r.adds); err != nil {
			return nil, fmt.Errorf("%s: %w", rec.name, err)
		}
		sides := []side{{rec.name, steps(ours), nil}}
		if rec.spec != "" {
			theirs, err := cron.ParseStandard("TZ=UTC " + rec.spec)
			if err != nil {
				return nil, err
			}
			sides = append(sides, side{"robfig", steps(theirs), nil})
		}
		got, err := r.alternate(ctx, sides...)
		if err != nil {
			return nil, err
		}
		value := measured(Seconds, each(got[0], sample.cost)...)
		notes[rec.rare] = append(notes[rec.rare], rec.name+" "+quantity(value.Value, Seconds))
		if worst[rec.rare] == nil || worst[rec.rare].Value < value.Value {
			worst[rec.rare] = value
		}
		if len(got) > 1 {
			other := measured(Seconds, each(got[1], sample.cost)...)
			if compared[rec.rare] == nil || compared[rec.rare].Value < other.Value {
				compared[rec.rare] = other
			}
		}
	}
	note := "the slowest of: %s; none was ever at or before its argument; the limit is the slowest of robfig/cron"
	return []Row{
		atMost("the next instant, typical", worst[false], compared[false], 1e-6).noted(note, strings.Join(notes[false], ", ")),
		atMost("… 29 February, week 53", worst[true], compared[true], 10e-6).noted(note+", which knows no weeks", strings.Join(notes[true], ", ")),
	}, nil
}

// stepsFrom is the instant at which all begin.
func stepsFrom() time.Time { return time.Date(2026, 1, 1, 12, 34, 56, 0, time.UTC) }

// steps goes from instant to instant. What ends begins again.
func steps(s cron.Schedule) round {
	return func(ctx context.Context, d time.Duration) (sample, error) {
		at, n := stepsFrom(), 0
		begin := time.Now()
		for end := begin.Add(d / 20); time.Now().Before(end) && ctx.Err() == nil; {
			for range 100 {
				if at = s.Next(at); at.IsZero() {
					at = stepsFrom()
				}
			}
			n += 100
		}
		return sample{done: n, elapsed: time.Since(begin)}, nil
	}
}

// onward checks that an instant is always after the one that was asked about.
func onward(s schedule.Schedule, n int) error {
	at := stepsFrom()
	for range n {
		next := s.Next(at)
		if next.IsZero() {
			return nil
		}
		if !next.After(at) {
			return fmt.Errorf("the next instant after %s is %s", at, next)
		}
		at = next
	}
	return nil
}
