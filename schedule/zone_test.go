package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func zonesOfTests(tb testing.TB) Zones {
	tb.Helper()
	return func(name string) *time.Location {
		zone, err := time.LoadLocation(name)
		if err != nil || name == "" || name == "Local" {
			return nil
		}
		return zone
	}
}

// bruteForce returns the instants of a calendar in a zone in [from, to) by
// looking at every minute there is.
func bruteForce(c *calendar, zone *time.Location, p *Policies, from, to time.Time) (out []time.Time) {
	matches := func(wall time.Time) bool { return c.Next(wall.Add(-time.Second)).Equal(wall) }
	wallOf := func(at time.Time) time.Time {
		l := at.In(zone)
		return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
	}
	const margin = 26 * time.Hour
	times := map[time.Time][]time.Time{}
	for at := from.Add(-margin); at.Before(to.Add(margin)); at = at.Add(time.Minute) {
		times[wallOf(at)] = append(times[wallOf(at)], at)
	}
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		wall, before := wallOf(at), wallOf(at.Add(-time.Minute))
		hit := false
		for skipped := before.Add(time.Minute); skipped.Before(wall); skipped = skipped.Add(time.Minute) {
			hit = hit || p.DSTGap == DSTGapShift && !c.hourly && matches(skipped)
		}
		if matches(wall) {
			same := times[wall]
			switch {
			case c.hourly || p.DSTOverlap == DSTOverlapBoth || len(same) == 1:
				hit = true
			case p.DSTOverlap == DSTOverlapFirst:
				hit = hit || at.Equal(same[0])
			default:
				hit = hit || at.Equal(same[len(same)-1])
			}
		}
		if hit {
			out = append(out, at)
		}
	}
	return out
}

// transitions of the zones around which recurrences are compared.
func transitions(zone *time.Location, from, to time.Time) (out []time.Time) {
	for at := from; at.Before(to); {
		_, end := at.In(zone).ZoneBounds()
		if end.IsZero() || end.After(to) {
			return out
		}
		out = append(out, end.UTC())
		at = end
	}
	return out
}

func drawCalendar(r *rand.Rand) (CronFields, *calendar) {
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	f := CronFields{
		Year: "*", Month: "*", Day: pick("*", "*", "*", "last", "1-31/2"), Week: "*", Weekday: pick("*", "*", "6", "sun,mon"),
		Hour:   pick("*", "*/2", "0-23", "1", "2", "3", "0", "23", "1-3", "1,2", "*/3,2", fmt.Sprint(r.IntN(24))),
		Minute: pick("0", "30", "59", "*/20", "*", fmt.Sprint(r.IntN(60))),
	}
	var fault *problem
	c := parseFields(&f, func(_ int, p *problem) { fault = p })
	if fault != nil {
		panic(fault.detail)
	}
	return f, c
}

// TestZones compares with the brute force around changes of the clocks, in
// zones that do it in different ways: by an hour, by half an hour, at
// midnight, by a whole day, never.
func TestZones(t *testing.T) {
	t.Parallel()
	draws := 40
	if testing.Short() {
		draws = 10
	}
	zones := zonesOfTests(t)
	for _, name := range []string{
		"Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Australia/Sydney", "Pacific/Apia",
		"Africa/Casablanca", "Asia/Kolkata", "Asia/Tehran", "America/St_Johns", "Pacific/Chatham", "Europe/Dublin",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			zone := zones(name)
			changes := transitions(zone, time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC))
			changes = append(changes, time.Date(2012, 6, 15, 12, 0, 0, 0, time.UTC))
			for range draws {
				fields, c := drawCalendar(r)
				p := defaultPolicies()
				p.DSTGap = []DSTGap{DSTGapShift, DSTGapSkip}[r.IntN(2)]
				p.DSTOverlap = []DSTOverlap{DSTOverlapFirst, DSTOverlapLast, DSTOverlapBoth}[r.IntN(3)]
				change := changes[r.IntN(len(changes))]
				from, to := change.Add(-30*time.Hour), change.Add(30*time.Hour)
				want := bruteForce(c, zone, &p, from, to)
				z := inZone(c, zone, &p)
				var got []time.Time
				for at := z.Next(from.Add(-time.Second)); !at.IsZero() && at.Before(to); at = z.Next(at) {
					got = append(got, at)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%+v %s %s at %s\n got %v\nwant %v", fields, p.DSTGap, p.DSTOverlap, change, got, want)
				}
				back, _ := Latest(z, from.Add(-time.Second), to.Add(-time.Second), len(want)+1)
				if fmt.Sprint(back) != fmt.Sprint(want) && len(want) > 0 {
					t.Fatalf("%+v %s %s at %s, backwards\n got %v\nwant %v", fields, p.DSTGap, p.DSTOverlap, change, back, want)
				}
			}
		})
	}
}

// TestZonesByRule: a zone whose changes come from a rule comes through the
// last days of leap years, forwards and backwards, and knows when the rule
// came into force.
func TestZonesByRule(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Sydney", "Australia/Lord_Howe"} {
		zone := zonesOfTests(t)(name)
		c, _, fault := parseCrontab("0 12 * * *")
		if fault != nil {
			t.Fatal(fault.detail)
		}
		p := defaultPolicies()
		z := inZone(c, zone, &p)
		at := time.Date(2040, 12, 29, 12, 0, 0, 0, zone)
		for day := 30; day < 34; day++ {
			want := time.Date(2040, 12, day, 12, 0, 0, 0, zone)
			if got := z.Next(at); !got.Equal(want) {
				t.Fatalf("%s: after %s comes %s, want %s", name, at, got, want)
			}
			if got := z.latest(want.Add(-1)); !got.Equal(at) {
				t.Fatalf("%s: before %s was %s, want %s", name, want, got, at)
			}
			at = want
		}
		day := Exclusion{Date: "2040-12-31"}.spans(zone)
		midnight := time.Date(2040, 12, 31, 0, 0, 0, 0, zone)
		if len(day) == 0 || !day[0].From.Equal(midnight) || !day[len(day)-1].To.Equal(midnight.AddDate(0, 0, 1)) {
			t.Errorf("%s: the last day of the year is %v", name, day)
		}
	}
}
