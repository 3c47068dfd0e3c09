package outbox

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// TestAttemptsAreBounded: a lane has room for a few attempts, all lanes
// together for some more, and the end of an attempt says if something waited.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	var a Attempts
	if room := a.Room("mail"); room != 0 {
		t.Errorf("room for %d before anything may begin", room)
	}
	drain := a.Open()
	ended := make(chan struct{})
	start := func(lane string, n int) {
		row := &store.OutboxRow{Key: fmt.Sprint(lane, n), Lane: lane}
		a.Start(row, func(context.Context) { <-ended; a.End(row) })
	}
	for n := range mostInLane {
		if room := a.Room("mail"); room != mostInLane-n {
			t.Errorf("room for %d beside %d", room, n)
		}
		start("mail", n)
		start("mail", n) // under way already
	}
	if !a.Running("mail0") || a.Running("mail9") || a.Room("exec:x") != mostInLane {
		t.Error("a full lane is not on its own")
	}
	for lane := 1; lane < mostAtOnce/mostInLane; lane++ {
		for n := range mostInLane {
			start(fmt.Sprint("http:", lane), n)
		}
	}
	if room := a.Room("http:x"); room > 0 {
		t.Errorf("room for %d more than may be under way", room)
	}
	if room := a.Room("exec:x"); room != mostInLane {
		t.Errorf("room for %d commands beside what else is under way", room)
	}
	row := &store.OutboxRow{Key: "mail0", Lane: "mail"}
	if !a.End(row) || a.End(&store.OutboxRow{Key: "mail1", Lane: "mail"}) {
		t.Error("the end of an attempt does not say once that something waits")
	}
	if room := a.Room("http:x"); room != 2 {
		t.Errorf("room for %d after two attempts have ended", room)
	}
	close(ended)
	drain()
	a.Start(row, func(context.Context) { t.Error("an attempt began while the server stops") })
	if room := a.Room("mail"); room != 0 {
		t.Errorf("room for %d while the server stops", room)
	}
}

// TestPauseAfter: pauses double up to an hour, a fifth more or less, and are
// the same each time they are computed.
func TestPauseAfter(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int64]time.Duration{
		1: 5 * time.Second, 2: 10 * time.Second, 5: 80 * time.Second, 11: time.Hour, 33: time.Hour, 1000: time.Hour,
	} {
		for _, key := range []string{"a", "b", "c"} {
			got := PauseAfter(key, attempts)
			if got < want*4/5 || got > want*6/5 || got != PauseAfter(key, attempts) {
				t.Errorf("%s after %d attempts, want about %s", got, attempts, want)
			}
		}
	}
}

func TestLaneOf(t *testing.T) {
	t.Parallel()
	for want, request := range map[string]machine.Request{
		"mail":             {Mail: &Mail{}},
		"http:example.org": {HTTP: &HTTPCall{URL: "https://Example.ORG/x"}},
		"http:":            {HTTP: &HTTPCall{URL: "://"}},
		"exec:x":           {Exec: &Command{Name: "x"}},
		"call:y":           {Call: &Callback{Name: "y"}},
		"notify:z":         {News: &Bulletin{Destination: "z"}},
	} {
		if got := LaneOf(&request); got != want {
			t.Errorf("the lane is %q, want %q", got, want)
		}
	}
}

func TestCleanType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"text/plain; charset=utf-8": "text/plain; charset=utf-8",
		"":                          mediatype.Unknown,
		"text":                      mediatype.Unknown,
		"/plain":                    mediatype.Unknown,
		"text/":                     mediatype.Unknown,
		"text/pl\nain":              mediatype.Unknown,
		"text/plä":                  mediatype.Unknown,
	} {
		if got := CleanType(text); got != want {
			t.Errorf("CleanType(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestDrain: what is under way when the server stops is waited for, and then
// canceled and counted.
func TestDrain(t *testing.T) {
	t.Parallel()
	for takes, want := range map[time.Duration]int{longestDrain - 1: 0, time.Hour: 2} {
		synctest.Test(t, func(t *testing.T) {
			var a Attempts
			drain := a.Open()
			for _, key := range []string{"a", "b"} {
				row := &store.OutboxRow{Key: key, Lane: map[string]string{"a": "mail", "b": "exec:sort"}[key], CaseID: 7}
				a.Start(row, func(ctx context.Context) {
					defer a.End(row)
					select {
					case <-ctx.Done():
					case <-time.After(takes):
					}
				})
			}
			begun := time.Now()
			cut := drain()
			if n := cut.Deliveries; n != want || n > 0 && (cut.Commands != 1 || !slices.Equal(cut.Cases, []int64{7})) || time.Since(begun) != min(takes, longestDrain) {
				t.Errorf("of attempts that take %v %d were canceled after %v; want %d", takes, cut, time.Since(begun), want)
			}
		})
	}
}
