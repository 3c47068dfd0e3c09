package calendar

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/ical"
)

func noon() time.Time { return time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC) }

func TestDaysAreThoseOfUTC(t *testing.T) {
	t.Parallel()
	east := noon().In(time.FixedZone("", 14*60*60))
	if got, want := dayOf(east), time.Date(2012, 11, 9, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("the day began at %s, want %s", got, want)
	}
	if got, want := endOf(east), time.Date(2012, 12, 9, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("firings are shown until %s, want %s", got, want)
	}
}

// TestCalendarOrder: equal events make equal bytes, whatever order they came in.
func TestCalendarOrder(t *testing.T) {
	t.Parallel()
	a := ical.Event{UID: "a", Start: noon(), Summary: "A"}
	b := ical.Event{UID: "b", Start: noon(), Summary: "B"}
	c := ical.Event{UID: "0", Start: noon().Add(time.Hour), Summary: "C"}
	one, other := written("sam", []ical.Event{c, b, a}), written("sam", []ical.Event{a, c, b})
	if !bytes.Equal(one, other) {
		t.Errorf("%s\ndiffers from\n%s", one, other)
	}
	at := func(summary string) int { return bytes.Index(one, []byte("SUMMARY:"+summary)) }
	if !(0 < at("A") && at("A") < at("B") && at("B") < at("C")) {
		t.Errorf("the order is wrong:\n%s", one)
	}
}

// TestCalendarBound: of too many events those are left out that are farthest
// away.
func TestCalendarBound(t *testing.T) {
	t.Parallel()
	events := make([]ical.Event, mostEvents+1)
	for i := range events {
		events[i] = ical.Event{UID: fmt.Sprint(i), Start: noon().Add(-time.Duration(i) * time.Hour), Summary: fmt.Sprintf("#%d.", i)}
	}
	text := string(written("sam", events))
	if n := strings.Count(text, "BEGIN:VEVENT"); n != mostEvents {
		t.Errorf("%d events, want %d", n, mostEvents)
	}
	if strings.Contains(text, "#0.") || !strings.Contains(text, "#2000.") {
		t.Error("it is not the farthest that was left out")
	}
}

func TestEqualFeedKeepsItsTime(t *testing.T) {
	t.Parallel()
	var c feedCache[int]
	if got := c.Get(1, 1); got != nil {
		t.Errorf("an empty cache has %+v", got)
	}
	first := &feed{Form: []byte("x"), ETag: `"x"`, Modified: noon()}
	if got := c.Put(1, 1, first); got != first || c.Get(1, 1) != first {
		t.Errorf("what was put is %+v", got)
	}
	if c.Get(1, 2) != nil || c.Get(2, 1) != nil {
		t.Error("a calendar serves another version or user")
	}
	if got := c.Put(1, 2, &feed{Form: []byte("x"), ETag: `"x"`, Modified: noon().Add(time.Hour)}); got != first || c.Get(1, 2) != first {
		t.Error("a calendar of equal bytes was modified")
	}
	changed := &feed{Form: []byte("y"), ETag: `"y"`}
	if got := c.Put(1, 3, changed); got != changed || c.size != 1 {
		t.Errorf("a changed calendar is %+v, and %d bytes are kept", got, c.size)
	}
	large := &feed{Form: make([]byte, room), ETag: `"z"`}
	if got := c.Put(2, 3, large); got != large || c.Get(1, 3) != nil || c.Get(2, 3) != large || c.size != room {
		t.Errorf("where there is no more room the others go: %d bytes are kept", c.size)
	}
}
