package schedule_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"flowdrive/schedule"
)

// clockChange is a change of the clocks of a zone, and what comes around it.
type clockChange struct {
	zone    string
	at      time.Time
	forward bool
	rows    []clockRow
}

// clockRow is a line of the table: what an entry of that policy and crontab
// line has, so long before and after the change.
type clockRow struct {
	policy string
	within time.Duration
	spec   string
	want   string
}

// clockChanges reads the table that testdata/clockchanges.py has made.
func clockChanges(tb testing.TB) (changes []clockChange) {
	tb.Helper()
	f, err := os.Open("testdata/clockchanges.txt")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		words := strings.Fields(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			at, err := time.Parse("2006-01-02T15:04Z,", words[1])
			if err != nil {
				tb.Fatalf("%s: %v", line, err)
			}
			local := strings.Split(line, ", from ")[1]
			before, after, _ := strings.Cut(local, " to ")
			changes = append(changes, clockChange{zone: words[0], at: at, forward: before < after})
		default:
			within, err := time.ParseDuration(words[1])
			if err != nil {
				tb.Fatalf("%s: %v", line, err)
			}
			last := &changes[len(changes)-1]
			last.rows = append(last.rows, clockRow{
				policy: words[0], within: within, spec: strings.Join(words[2:7], " "), want: strings.Join(words[7:], " "),
			})
		}
	}
	return changes
}

// document returns an entry of the row: as a crontab line, or in the fields
// of the type cron, which mean the same here.
func (c *clockChange) document(row clockRow, kind string) string {
	members := fmt.Sprintf(`"timezone": %q`, c.zone)
	if c.forward {
		members += fmt.Sprintf(`, "dstGap": %q`, row.policy)
	} else {
		members += fmt.Sprintf(`, "dstOverlap": %q`, row.policy)
	}
	if kind == "crontab" {
		return with(kind, fmt.Sprintf(`%s, "spec": %q`, members, row.spec))
	}
	f := strings.Fields(row.spec)
	return with(kind, fmt.Sprintf(`%s, "minute": %q, "hour": %q, "day": %q, "month": %q`, members, f[0], f[1], f[2], f[3]))
}

// TestClockChanges compares with the instants that Python found minute by
// minute, in zones that change their clocks in different ways.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	changes := clockChanges(t)
	zones := map[string]bool{}
	for _, c := range changes {
		zones[c.zone] = true
		for _, row := range c.rows {
			for _, kind := range []string{"crontab", "cron"} {
				c.compare(t, row, kind)
			}
		}
	}
	if len(zones) < 12 || len(changes) != 2*len(zones) {
		t.Errorf("the table has %d changes of %d zones, want two of each of at least twelve", len(changes), len(zones))
	}
}

// compare walks an entry of the row forwards and backwards through the time
// around the change.
func (c *clockChange) compare(t *testing.T, row clockRow, kind string) {
	t.Helper()
	from, to := c.at.Add(-row.within), c.at.Add(row.within)
	e := entry(t, c.document(row, kind), from.AddDate(-2, 0, 0), nil)
	var forwards []time.Time
	for at := e.Schedule().Next(from.Add(-1)); !at.IsZero() && at.Before(to); at = e.Schedule().Next(at) {
		forwards = append(forwards, at)
	}
	backwards, _ := schedule.Latest(e.Schedule(), from.Add(-1), to.Add(-1), 1000)
	for direction, got := range map[string][]time.Time{"forwards": forwards, "backwards": backwards} {
		if got := dayTimes(got); got != row.want {
			t.Errorf("%s at %s, %s, %s %q, %s\n got %s\nwant %s", c.zone, c.at.Format(time.DateTime), row.policy, kind, row.spec, direction, got, row.want)
		}
	}
}

func dayTimes(instants []time.Time) string {
	if len(instants) == 0 {
		return "never"
	}
	var out []string
	for _, at := range instants {
		out = append(out, at.Format("02T15:04"))
	}
	return strings.Join(out, " ")
}
