package davfs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"flowdrive/internal/errs"
)

// TestListingOfLargeCases: a listing tells the XATTRs of cases up to a bound, and all cases.
// One PROPFIND of 500 cases with much in their XATTRs took a gigabyte.
func TestListingOfLargeCases(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t, func(c *Config) { c.MaxDocument = 1 << 20 })
	xattrs := map[string]string{}
	for i := range 15 {
		xattrs[fmt.Sprintf("k%d", i)] = strings.Repeat("x", 60_000)
	}
	body, err := json.Marshal(map[string]any{"route": "bug", "title": "large", "xattrDict": xattrs})
	if err != nil {
		t.Fatal(err)
	}
	const cases = 22
	for i := range cases {
		if rec := d.ask(t, fmt.Sprintf("sam PUT /dav/Workflow/Cases/large%d.json", i), "> "+string(body)); rec.Code != 201 {
			t.Fatalf("PUT: %d %s", rec.Code, rec.Body)
		}
	}
	all := d.ask(t, "sam PROPFIND /dav/Workflow/Cases/", "Depth: 1").Body
	if told, size := strings.Count(all.String(), "<D:response>"), all.Len(); told < 2*cases+1 || size > 2*mostXattrs+1<<20 || size < mostXattrs {
		t.Errorf("%d are told in %d bytes", told, size)
	}
	one := d.ask(t, "sam PROPFIND /dav/Workflow/Cases/large21.json", "Depth: 0").Body
	if !strings.Contains(one.String(), "xattr_k14") {
		t.Errorf("the XATTRs of one case are not told: %.400s", one)
	}
	var list []struct{ Title string }
	if err := json.Unmarshal(d.ask(t, "sam GET /dav/Workflow/Cases/.contents").Body.Bytes(), &list); err != nil || len(list) < cases {
		t.Errorf(".contents has %d, %v", len(list), err)
	}
	rec := d.ask(t, "sam GET /dav/Workflow/Cases/.contents?limit=20")
	if rec.Body.Len() > pageBytes+5<<20 || !strings.Contains(rec.Header().Get("Link"), "next") {
		t.Errorf("a page has %d bytes, then %q", rec.Body.Len(), rec.Header().Get("Link"))
	}
}

// TestListingsAreWeighed: what tells of many resources asks for room before anything is
// read, and is refused without it; what is small, or of one resource, asks for little.
func TestListingsAreWeighed(t *testing.T) {
	t.Parallel()
	var most atomic.Int64
	room := int64(1 << 40)
	d := newTestDrive(t, func(c *Config) {
		c.MaxDocument = 1 << 20
		c.Weigh = func(_ context.Context, bytes int64) error {
			most.Store(max(most.Load(), bytes))
			if bytes > room {
				return errs.New(errs.Unavailable, "There is no room.")
			}
			return nil
		}
	})
	body, err := json.Marshal(map[string]any{"route": "bug", "title": "large", "xattrDict": map[string]string{"a": strings.Repeat("x", 60_000)}})
	if err != nil {
		t.Fatal(err)
	}
	const cases = 12
	for i := range cases {
		if rec := d.ask(t, fmt.Sprintf("sam PUT /dav/Workflow/Cases/w%d.json", i), "> "+string(body)); rec.Code != 201 {
			t.Fatalf("PUT: %d %s", rec.Code, rec.Body)
		}
	}
	for _, c := range []struct {
		request, header string
		least           int64
		status          int
	}{
		{"sam GET /dav/Workflow/Cases/.contents", "", streamWeight, 200},
		{"sam GET /dav/Workflow/Cases/.ls", "", streamWeight, 200},
		{"sam GET /dav/Workflow/Cases/.contents?limit=2", "", streamWeight, 200},
		{"sam GET /dav/Workflow/Cases/", "Accept: application/json", streamWeight, 200},
		{"sam GET /dav/Workflow/Cases/", "Accept: text/html", 2 * cases * 60_000, 200},
		{"sam PROPFIND /dav/Workflow/Cases/", "Depth: 1", 2 * cases * 60_000, 207},
		{"sam PROPFIND /dav/Workflow/", "Depth: 1", listedWeight, 207},
	} {
		room = 1 << 40
		most.Store(0)
		if rec := d.ask(t, c.request, c.header); rec.Code != c.status || most.Load() < c.least {
			t.Errorf("%s: %d, %d bytes were weighed, want %d at least", c.request, rec.Code, most.Load(), c.least)
		}
		room = c.least - 1
		if rec := d.ask(t, c.request, c.header); rec.Code != 503 {
			t.Errorf("%s without room: %d", c.request, rec.Code)
		}
	}
	room = 1 << 40
	most.Store(0)
	if rec := d.ask(t, "sam PROPFIND /dav/Workflow/Cases/w1.json", "Depth: 0"); rec.Code != 207 || most.Load() != 0 {
		t.Errorf("one case: %d, %d bytes were weighed", rec.Code, most.Load())
	}
}
