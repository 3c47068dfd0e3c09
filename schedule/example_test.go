package schedule_test

import (
	"fmt"
	"time"

	"flowdrive/internal/document"
	"flowdrive/schedule"
)

func ExampleParseCron() {
	s, canonical, faults := schedule.ParseCron(schedule.CronFields{Day: "2nd TUE, last", Hour: "06", Minute: "30"})
	if len(faults) > 0 {
		fmt.Println(faults)
		return
	}
	fmt.Println(canonical.Day)
	for t := time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC); t.Year() == 2012; {
		t = s.Next(t)
		fmt.Println(t.Format("Mon 2006-01-02 15:04"))
	}
	// Output:
	// 2nd tue,last
	// Tue 2012-11-13 06:30
	// Fri 2012-11-30 06:30
	// Tue 2012-12-11 06:30
	// Mon 2012-12-31 06:30
	// Tue 2013-01-08 06:30
}

// An entry fires late after an outage, once for all that was missed.
func ExampleEntry_Step() {
	n, err := document.ParseJSON([]byte(`{"type": "interval", "routeId": 12, "hours": 1, "date": "2012-11-09T13:00"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var faults document.Faults
	e := schedule.Read(document.Root(n, &faults), time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC), nil, zoneNamed)
	if faults.Err() != nil {
		fmt.Println(faults.Err())
		return
	}
	fmt.Println(e.Description)
	now := time.Date(2012, 11, 9, 17, 0, 10, 0, time.UTC)
	for due, ok := e.Due(); ok && !due.After(now); due, ok = e.Due() {
		step := e.Step(now)
		fmt.Println(step.Iteration, step.Instant.Format("15:04"), "late:", step.Late, "skipped:", len(step.Skipped))
	}
	// Output:
	// Every hour
	// 1 16:00 late: true skipped: 3
	// 2 17:00 late: false skipped: 0
}
