package route_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// timed is a route with every kind of timer.
const timed = `
name: test
timeout: P2D
onTimeout: [{warn: late}]
timers: {review: {limit: PT5M, onExpire: [{setTimer: {name: review, limit: PT1M}}, {setTimer: {name: case, limit: null}}]}, bare: }
states: {open: {type: start, timeout: 0, onTimeout: [{log: x}]}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{enableTimer: review}, {disableTimer: bare}, {setTimer: {name: bare, limit: "2004-09-15T21:59:00+01:00"}}]}
  finish: {in: [open], allowed: everyone, to: done, dueIn: P1D, onDue: [{log: due}], offerTimeout: 300, onOfferTimeout: [{log: offer}], timeout: P9D,
    guard: 'timers.review.enabled && !timers["finish.due"].expired && timers["case"].date != null && !timers["state"].expired && !timers["finish.timeout"].expired'}
`

func TestTimers(t *testing.T) {
	t.Parallel()
	r, warnings := mustParse(t, "test", timed)
	if warnings != nil {
		t.Errorf("warnings %v", warnings)
	}
	relative := func(d time.Duration) route.Limit { return route.Limit{Kind: route.RelativeLimit, After: d} }
	finish := &r.Actions[r.Action("finish")]
	for what, pair := range map[string][2]route.Limit{
		"case":    {r.TimerLimit(), relative(48 * time.Hour)},
		"state":   {r.States[0].TimerLimit(), relative(0)},
		"done":    {r.States[1].TimerLimit(), {}},
		"due":     {finish.TimerLimit(route.TimerDue), relative(24 * time.Hour)},
		"offer":   {finish.TimerLimit(route.TimerOffer), relative(5 * time.Minute)},
		"timeout": {finish.TimerLimit(route.TimerTimeout), relative(9 * 24 * time.Hour)},
		"other":   {finish.TimerLimit("other"), {}},
		"review":  {r.Timers[0].DefaultLimit(), relative(5 * time.Minute)},
		"bare":    {r.Timers[1].DefaultLimit(), {}},
		"set":     {r.Timers[0].OnExpire[0].Limit, relative(time.Minute)},
		"removed": {r.Timers[0].OnExpire[1].Limit, {}},
		"instant": {r.Actions[r.Init].OnFire[2].Limit, {Kind: route.AbsoluteLimit, At: time.Date(2004, 9, 15, 20, 59, 0, 0, time.UTC)}},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if len(r.OnTimeout) != 1 || len(r.States[0].OnTimeout) != 1 || len(finish.OnDue) != 1 || len(finish.OnOfferTimeout) != 1 {
		t.Errorf("handlers are missing: %+v", r)
	}
	for name, known := range map[string]bool{
		"case": true, "state": true, "review": true, "finish.due": true, "finish.offer": true, "finish.timeout": true,
		"finish": false, "finish.other": false, "other.due": false, "": false, ".due": false,
	} {
		if got := r.KnowsTimer(name); got != known {
			t.Errorf("KnowsTimer(%q) = %t", name, got)
		}
	}
	if !finish.IsTask() || !finish.IsTimed() || r.Actions[r.Init].IsTask() || r.Actions[r.Init].IsTimed() {
		t.Error("which actions are tasks, and timed, is wrong")
	}
}

// TestTimersOfNothing: 0 means none where something is to be done within it.
func TestTimersOfNothing(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("timeout: P2D", "timeout: 0", "dueIn: P1D", "dueIn: PT0S", "offerTimeout: 300", "offerTimeout: 0", "timeout: P9D", "timeout: 0").Replace(timed)
	r, _ := mustParse(t, "test", text)
	finish := &r.Actions[r.Action("finish")]
	if r.Timeout != nil || finish.DueIn != nil || finish.OfferTimeout != nil || finish.Timeout == nil {
		t.Errorf("got %v %v %v, and of the timed action %v", r.Timeout, finish.DueIn, finish.OfferTimeout, finish.Timeout)
	}
}

func TestTimerFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, new, want string }{
		"unknown enabled":    {"enableTimer: review", "enableTimer: reviw", `/actions/begin/onFire/0/enableTimer: "reviw" is not a timer of this route; did you mean "review"?`},
		"unknown disabled":   {"disableTimer: bare", "disableTimer: bar", `/actions/begin/onFire/1/disableTimer: "bar" is not a timer of this route; did you mean "bare"?`},
		"unknown set":        {"name: bare", "name: bar", `/actions/begin/onFire/2/setTimer/name: "bar" is not a timer of this route; did you mean "bare"?`},
		"case enabled":       {"enableTimer: review", "enableTimer: case", `/actions/begin/onFire/0/enableTimer: "case" is not a timer of this route`},
		"unknown in a guard": {"timers.review.", "timers.reviw.", `/actions/finish/guard: 1:7: "reviw" is not a timer of this route; did you mean "review"?`},
		"reserved case":      {"bare: }", "case: }", `/timers/case: is the name of a timer that every case has; call this one something else`},
		"reserved state":     {"bare: }", "bare: , state: {limit: 5}}", `/timers/state: is the name of a timer that every case has; call this one something else`},
		"negative":           {"limit: PT5M", "limit: -5", `/timers/review/limit: must be a duration in weeks, days, hours, minutes, seconds such as P3D or PT5M, or whole seconds, not -5`},
		"months":             {"limit: PT5M", "limit: P1M", `/timers/review/limit: must be a duration in weeks, days, hours, minutes, seconds such as P3D or PT5M, or whole seconds: years and months have no fixed length`},
		"years of a case":    {"timeout: P2D", "timeout: P1Y", `/timeout: must be a duration in weeks, days, hours, minutes, seconds such as P3D or PT5M, or whole seconds: years and months have no fixed length`},
		"next friday":        {`"2004-09-15T21:59:00+01:00"`, "next friday", `/actions/begin/onFire/2/setTimer/limit: must be ` + route.LimitForm + `, not "next friday"`},
		"set in months":      {`"2004-09-15T21:59:00+01:00"`, "P1M", `/actions/begin/onFire/2/setTimer/limit: must not have years or months, which have no fixed length: give the date instead, or days`},
		"set negative":       {`"2004-09-15T21:59:00+01:00"`, "-1", `/actions/begin/onFire/2/setTimer/limit: must be ` + route.LimitForm + `, not -1`},
		"TM-75":              {"in: [open], allowed: everyone, to: done, ", "in: [open], trigger: auto, to: done, ", `/actions/finish/dueIn: goes with user actions only`},
		"name":               {"bare: }", "-x: }", `/timers/-x: the name of a timer must be a name: a letter or digit, then up to 62 letters, digits, _ or -`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(timed, test.old, test.new, 1)
			_, _, err := route.Parse("test", readYAML(t, text))
			var got []string
			e, ok := errors.AsType[*errs.Error](err)
			if !ok || e.Kind != errs.Invalid {
				t.Fatalf("got %v", err)
			}
			for _, f := range e.Faults {
				got = append(got, f.Pointer+": "+f.Detail)
			}
			if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), test.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), test.want)
			}
		})
	}
}

func TestParseLimit(t *testing.T) {
	t.Parallel()
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string][2]string{ // shown, and its date
		"P3D":                           {"P3D", "2012-11-12T12:00:00Z"},
		" PT90M ":                       {"PT1H30M", "2012-11-09T13:30:00Z"},
		"PT0S":                          {"PT0S", "2012-11-09T12:00:00Z"},
		"P2W":                           {"P14D", "2012-11-23T12:00:00Z"},
		"2004-09-15T21:59:00+01:00":     {"2004-09-15T20:59:00Z", "2004-09-15T20:59:00Z"},
		"9999-12-31T23:59:59.9999Z":     {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
		"PT9223372036.854775807S":       {"P106751DT23H47M16.854775807S", "2305-02-19T11:47:16Z"},
		"2012-11-09T12:00:00.001-00:00": {"2012-11-09T12:00:00Z", "2012-11-09T12:00:00Z"},
		"300":                           {"PT5M", "2012-11-09T12:05:00Z"},
		"2004-09-15":                    {"2004-09-15T00:00:00Z", "2004-09-15T00:00:00Z"},
		"2004-09-15 21:59":              {"2004-09-15T21:59:00Z", "2004-09-15T21:59:00Z"},
	} {
		l, err := route.ParseLimit(text, nil)
		if err != nil || l.String() != want[0] || l.From(now).Format(time.RFC3339) != want[1] {
			t.Errorf("%q: %q, %s, %v; want %s", text, l, l.From(now).Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "P", "P1M", "P1Y", "-P1D", "P-1D", "-300", "20040915", "99999999999", "next friday", "2004-02-30", "21:59Z", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"} {
		if l, err := route.ParseLimit(text, nil); err == nil {
			t.Errorf("%q is read as %v", text, l)
		}
	}
	if l, ok := route.SecondsLimit(300); !ok || l.String() != "PT5M" {
		t.Errorf("300 seconds are %s", l)
	}
	if _, ok := route.SecondsLimit(-1); ok {
		t.Error("negative seconds are a limit")
	}
	if l := (route.Limit{}); !l.From(now).IsZero() || l.String() != "" {
		t.Error("no limit is one")
	}
	if late := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC); !(route.Limit{Kind: route.RelativeLimit, After: 48 * time.Hour}).From(late).IsZero() {
		t.Error("a date beyond what can be written is one")
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, text := range []string{"P3D", "PT0.5S", "2004-09-15T21:59:00+01:00", "next friday", "P1M", "0001-01-01T00:00:00Z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := route.ParseLimit(text, nil)
		if err != nil {
			return
		}
		again, err := route.ParseLimit(l.String(), nil)
		if err != nil || again.Kind != l.Kind || again.After != l.After || again.At.Unix() != l.At.Unix() {
			t.Errorf("%q is %+v, shown as %q and read back as %+v, %v", text, l, l, again, err)
		}
		if l.Kind == route.NoLimit {
			t.Errorf("%q is no limit", text)
		}
	})
}
