package davfs

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestBrake deletes cases as a client does that empties a folder: three open ones are
// canceled, and what is left stays until the deleting has stopped for a minute.
func TestBrake(t *testing.T) {
	t.Parallel()
	const dav = "davfs2/1.6.1 neon/0.32.5"
	d, now := clockDrive(t)
	start := func(user string) string {
		rec := d.ask(t, user+" PUT /dav/Workflow/Cases/new.json", `> {"route": "bug"}`)
		if rec.Code != 201 {
			t.Fatal(rec.Code, rec.Body)
		}
		return rec.Header().Get("Location")
	}
	remove := func(user, agent, at string, want int) {
		t.Helper()
		rec := d.ask(t, user+" DELETE "+at, "User-Agent: "+agent)
		if rec.Code != want {
			t.Errorf("%s DELETE %s: %d %s, want %d", user, at, rec.Code, rec.Body, want)
		}
		if want == 403 && (!strings.Contains(rec.Body.String(), "not-deletable") || !strings.Contains(rec.Body.String(), `canceled`)) {
			t.Errorf("the refusal does not say how to: %s", rec.Body)
		}
	}
	cases := make([]string, 9)
	for i := range cases {
		cases[i] = start("sam")
	}
	for _, at := range cases[:3] {
		remove("sam", dav, at, 204)
	}
	remove("sam", dav, cases[3], 403)
	remove("sam", "rclone/v1.60.1", cases[3], 403)
	remove("sam", dav, cases[0], 204)                      // it has ended, and is archived
	remove("sam", dav, "/dav/Workflow/Cases/99.json", 404) // which is no case
	remove("sam", "curl/8.5.0", cases[3], 204)             // a script means it
	remove("ann", dav, start("ann"), 204)                  // another user
	remove("sam", dav, "/dav/Workflow/Cases/none.json", 404)
	*now = now.Add(brakeWindow)
	remove("sam", dav, cases[4], 403)
	*now = now.Add(brakeWindow + time.Second)
	remove("sam", dav, cases[4], 204)
	for _, at := range cases[5:] {
		if rec := d.ask(t, "sam GET "+at); !strings.Contains(rec.Body.String(), `"state": "active"`) {
			t.Errorf("%s is not active: %s", at, rec.Body)
		}
	}
}

// TestBrakeHoldsForMany deletes at the same time, as rclone does.
func TestBrakeHoldsForMany(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	b := newBrake(func() time.Time { return now })
	var admitted atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if b.admit(7) {
				admitted.Add(1)
			}
		})
	}
	wg.Wait()
	if got := admitted.Load(); got != maxDeletions {
		t.Error(fmt.Sprint("admitted ", got))
	}
}
