package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
)

// calendars serves one calendar, at the address "right".
func calendars(c *Config) {
	c.Calendar = func(_ context.Context, token string) (*CalendarFile, error) {
		switch token {
		case "right":
			return &CalendarFile{Form: []byte("BEGIN:VCALENDAR\r\n"), ETag: `"e"`, Modified: time.Unix(1, 0)}, nil
		case "full":
			return nil, errs.New(errs.Unavailable, "Not now.")
		}
		return nil, errs.New(errs.NotFound, "Nobody's.")
	}
}

// bare makes a request without credentials.
func bare(method, target, from string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	r.RemoteAddr = from + ":1234"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func TestCalendar(t *testing.T) {
	t.Parallel()
	x := newRig(t, calendars)
	for _, test := range []struct {
		method, target string
		header         []string
		status         int
	}{
		{"GET", "/calendar/right.ics", nil, 200},
		{"HEAD", "/calendar/right.ics", nil, 200},
		{"GET", "/calendar/right.ics", []string{"If-None-Match", `"e"`}, 304},
		{"GET", "/calendar/right.ics", []string{"If-None-Match", `"f"`}, 200},
		{"GET", "/calendar/right.ics", []string{"If-Match", `"f"`}, 412},
		{"GET", "/calendar/right.ics", []string{"Range", "bytes=0-4"}, 206},
		{"GET", "/calendar/right.ics", []string{"Authorization", basic("sam", "wrong")}, 200},
		{"GET", "/calendar/right.ics", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"PUT", "/calendar/right.ics", nil, 405},
		{"PROPFIND", "/calendar/right.ics", nil, 405},
		{"GET", "/calendar/right.ics?x=1", nil, 400},
		{"GET", "/calendar/full.ics", nil, 503},
		{"GET", "/calendar/right", nil, 404},
		{"GET", "/calendar/", nil, 404},
		{"GET", "/calendar", nil, 404},
		{"GET", "/calendar/wrong.ics", nil, 404},
		{"PUT", "/calendar/wrong.ics", nil, 404},
	} {
		resp := x.do(bare(test.method, test.target, "192.0.2.7", test.header...))
		if resp.Code != test.status {
			t.Errorf("%s %s %q: %d; want %d", test.method, test.target, test.header, resp.Code, test.status)
		}
		if resp.Code != http.StatusOK {
			continue
		}
		for name, want := range map[string]string{
			"Content-Type": "text/calendar; charset=utf-8", "Etag": `"e"`, "Cache-Control": "private, no-cache",
			"Last-Modified": "Thu, 01 Jan 1970 00:00:01 GMT", "X-Content-Type-Options": "nosniff",
		} {
			if got := resp.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q; want %q", test.method, test.target, name, got, want)
			}
		}
	}
	if code := newRig(t, nil).do(bare("GET", "/calendar/right.ics", "192.0.2.7")).Code; code != http.StatusNotFound {
		t.Errorf("without calendars: %d", code)
	}
}

// TestCalendarThrottle: who tries addresses must wait as who tries passwords
// does; who has the right one need not.
func TestCalendarThrottle(t *testing.T) {
	t.Parallel()
	book := &auditor{}
	x := newRig(t, func(c *Config) {
		calendars(c)
		c.Audit = book
	})
	get := func(token, from string, want int) *httptest.ResponseRecorder {
		t.Helper()
		resp := x.do(bare("GET", "/calendar/"+token+".ics", from))
		if resp.Code != want {
			t.Errorf("%s from %s: %d; want %d", token, from, resp.Code, want)
		}
		return resp
	}
	for i := range freeFailures {
		get("wrong"+strconv.Itoa(i), "192.0.2.7", 404)
	}
	if after := get("wrong", "192.0.2.7", 429).Header().Get("Retry-After"); after != "1" {
		t.Errorf("Retry-After: %q", after)
	}
	get("another", "192.0.2.7", 429)
	get("right", "192.0.2.7", 200)
	get("wrong", "192.0.2.8", 404)
	x.guard.clock.advance(time.Second)
	if after := get("wrong", "192.0.2.7", 429).Header().Get("Retry-After"); after != "2" {
		t.Errorf("Retry-After: %q", after)
	}
	if _, kind := x.guard.logIn("sam", "secret", home); kind != "" {
		t.Errorf("a log-in from elsewhere: %q", kind)
	}
	if rows := strings.Join(book.rows, "\n"); strings.Count(rows, "no such calendar address") != freeFailures+4 || strings.Contains(rows, "wrong") {
		t.Errorf("the audit log:\n%s", rows)
	}
}
