package davfs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
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
