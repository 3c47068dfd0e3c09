package schedule_test

import (
	"fmt"
	"testing"
	"time"
)

// TestExcludedDays: a day that is excluded is what clocks in the zone call by
// its date, where they skip its midnight, or show it twice, or skip the day.
func TestExcludedDays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		zone, exclude string
		before, after string // the last instant before, and the first one after what is excluded
	}{
		{"UTC", `"2024-03-10"`, "2024-03-09T23:30:00", "2024-03-11T00:30:00"},
		{"Europe/Berlin", `"2024-03-31"`, "2024-03-30T22:30:00", "2024-03-31T22:30:00"},
		{"America/Havana", `"2024-03-10"`, "2024-03-10T04:30:00", "2024-03-11T04:30:00"},
		{"America/Havana", `"2024-03-09"`, "2024-03-09T04:30:00", "2024-03-10T05:30:00"},
		{"America/Havana", `"2024-11-03"`, "2024-11-03T03:30:00", "2024-11-04T05:30:00"},
		{"America/Sao_Paulo", `{"from": "2018-11-04", "to": "2018-11-05"}`, "2018-11-04T02:30:00", "2018-11-05T02:30:00"},
		{"America/Sao_Paulo", `"2019-02-16"`, "2019-02-16T01:30:00", "2019-02-17T03:30:00"},
		{"Africa/Cairo", `"2024-04-26"`, "2024-04-25T21:30:00", "2024-04-26T21:30:00"},
		{"Pacific/Apia", `"2011-12-29"`, "2011-12-29T09:30:00", "2011-12-30T10:30:00"},
		{"Pacific/Apia", `"2011-12-31"`, "2011-12-30T09:30:00", "2011-12-31T10:30:00"},
		{"America/New_York", `{"from": "2024-03-09", "to": "2024-03-10T12:00:00"}`, "2024-03-09T04:30:00", "2024-03-10T12:30:00"},
		{"America/New_York", `{"from": "1999-03-09", "to": "2024-03-11"}`, "1999-03-09T04:30:00", "2024-03-11T04:30:00"},
	} {
		doc := with("cron", fmt.Sprintf(`"minute": 30, "timezone": %q, "exclude": [%s]`, test.zone, test.exclude))
		e := entry(t, doc, at(test.before).Add(-time.Hour), nil)
		if got := e.Schedule().Next(at(test.before).Add(-1)); got != at(test.before) {
			t.Errorf("%s without %s: %s is not there, but %s", test.zone, test.exclude, test.before, got)
		}
		if got := e.Schedule().Next(at(test.before)); got != at(test.after) {
			t.Errorf("%s without %s: got %s next, want %s", test.zone, test.exclude, got, test.after)
		}
	}
	// There was no 30 December in Apia, so that there is nothing to exclude.
	e := entry(t, with("cron", `"minute": 30, "timezone": "Pacific/Apia", "exclude": ["2011-12-30"]`), at("2011-12-25T00:00:00"), nil)
	from := at("2011-12-28T00:00:00")
	for i := range 5 * 24 {
		from = from.Add(time.Duration(min(i, 1)) * time.Hour)
		if got, want := e.Schedule().Next(from), from.Add(30*time.Minute); got != want {
			t.Fatalf("after %s: got %s, want %s", from, got, want)
		}
	}
}
