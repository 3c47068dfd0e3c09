package schedule_test

import (
	"testing"
	"time"

	"flowdrive/internal/document"
	"flowdrive/schedule"
)

// BenchmarkNext measures the step to the following instant, beginning in
// March 2096, whence the next 29 February is eight years away.
func BenchmarkNext(b *testing.B) {
	for _, bench := range []struct {
		name string
		s    schedule.Schedule
	}{
		{"interval", schedule.Interval(friday, 2*time.Minute)},
		{"minutely", mustCron(b, schedule.CronFields{})},
		{"five_minutes", mustCron(b, schedule.CronFields{Minute: "*/5"})},
		{"weekdays", mustCron(b, schedule.CronFields{Weekday: "mon-fri", Hour: "9", Minute: "0"})},
		{"yearly", mustCron(b, schedule.CronFields{Month: "1", Day: "1", Hour: "0", Minute: "0"})},
		{"last_friday", mustCron(b, schedule.CronFields{Day: "last fri", Hour: "0", Minute: "0"})},
		{"crontab", mustCrontab(b, "30 5 13 * 5")},
		{"29_february", mustCron(b, schedule.CronFields{Month: "2", Day: "29", Hour: "0", Minute: "0"})},
		{"monday_29_february", mustCron(b, schedule.CronFields{Month: "2", Day: "29", Weekday: "mon", Hour: "0", Minute: "0"})},
		{"day_13_friday", mustCron(b, schedule.CronFields{Day: "13", Weekday: "4", Hour: "0", Minute: "0"})},
		{"iso_week_53", mustCron(b, schedule.CronFields{Week: "53", Weekday: "fri", Hour: "3", Minute: "0"})},
		{"year_list", mustCron(b, schedule.CronFields{Year: "1970-9999/100,9999", Month: "12", Day: "31", Hour: "23", Minute: "59"})},
		{"never", mustCron(b, schedule.CronFields{Month: "2", Day: "30"})},
	} {
		b.Run(bench.name, func(b *testing.B) {
			start := at("2096-03-01T12:34:56")
			b.ReportAllocs()
			for t := start; b.Loop(); {
				if t = bench.s.Next(t); t.IsZero() {
					t = start
				}
			}
		})
	}
}

const benchDoc = `{"type": "cron", "routeId": 70470079, "route": "register-collector", "contextId": 15211340, "context": "adam",
	"weekday": "3,6", "hour": "23", "minute": "0", "xattrDict": {"start": "$__MONTHSTART__;", "end": "$__TODAY__;"}}`

func BenchmarkRead(b *testing.B) {
	n := mustParse(b, []byte(benchDoc))
	b.ReportAllocs()
	for b.Loop() {
		var faults document.Faults
		schedule.Read(document.Root(n, &faults), friday, nil, zoneNamed)
	}
}

func BenchmarkForm(b *testing.B) {
	e := entry(b, benchDoc, friday, nil)
	b.ReportAllocs()
	for b.Loop() {
		e.Form()
	}
}

func BenchmarkReadForm(b *testing.B) {
	form := entry(b, benchDoc, friday, nil).Form()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schedule.ReadForm(form, zoneNamed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	e := entry(b, benchDoc, friday, nil)
	first := e.NextIteration
	b.ReportAllocs()
	for b.Loop() {
		if e.Step(e.NextIteration).Ended {
			e.NextIteration = first
		}
	}
}
