package davfs

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNewSecretOnAMount: a program that mounts the drive shows nobody the answer to a PUT, so
// the file has what is secret for some minutes, in the size that listings tell; for its maker
// alone, and neither for scripts nor after it was made again.
func TestNewSecretOnAMount(t *testing.T) {
	t.Parallel()
	const davfs2 = "User-Agent: davfs2/1.6.1"
	wall := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	d := newTestDrive(t, func(cfg *Config) { cfg.Now = func() time.Time { return wall } })
	for _, tt := range []struct{ path, document, secret string }{
		{"/dav/Account/AppPasswords/laptop.json", "{}", `"secret": "`},
		{"/dav/Account/CalendarLinks/phone.json", "{}", `"url": "`},
		{"/dav/Workflow/Routes/bug/Hooks/shop.json", `{"rate": "1/minute"}`, `"url": "`},
	} {
		read := func(user, agent string) string {
			return d.ask(t, user+" GET "+tt.path, agent).Body.String()
		}
		if rec := d.ask(t, "eva PUT "+tt.path, davfs2, "> "+tt.document); rec.Code != 201 {
			t.Fatalf("%s: %d %s", tt.path, rec.Code, rec.Body)
		}
		shown := read("eva", davfs2)
		if !strings.Contains(shown, tt.secret) {
			t.Errorf("%s: the maker reads %s", tt.path, shown)
		}
		size := d.ask(t, "eva PROPFIND "+tt.path, davfs2, "Depth: 0").Body.String()
		folder := d.ask(t, "eva PROPFIND "+tt.path[:strings.LastIndex(tt.path, "/")+1], davfs2, "Depth: 1").Body.String()
		want := "<D:getcontentlength>" + strconv.Itoa(len(shown)) + "</D:getcontentlength>"
		if !strings.Contains(size, want) || !strings.Contains(folder, want) {
			t.Errorf("%s: want %s in\n%s\n%s", tt.path, want, size, folder)
		}
		etag := d.ask(t, "eva HEAD "+tt.path, davfs2).Header().Get("Etag") // as davfs2 asks for it after its PUT
		wall = wall.Add(newSecretSettles)
		if rec := d.ask(t, "eva GET "+tt.path, davfs2, "If-None-Match: "+etag); rec.Code != 200 || rec.Body.String() != shown {
			t.Errorf("%s: what davfs2 takes for what it has sent stays: %d %s", tt.path, rec.Code, rec.Body)
		}
		if got := read("eva", "User-Agent: curl/8"); strings.Contains(got, tt.secret) {
			t.Errorf("%s: a script reads %s", tt.path, got)
		}
		if got := read("sam", davfs2); strings.Contains(got, tt.secret) {
			t.Errorf("%s: another user reads %s", tt.path, got)
		}
		wall = wall.Add(newSecretLifetime + time.Second)
		if got := read("eva", davfs2); strings.Contains(got, tt.secret) || !strings.Contains(got, "created") {
			t.Errorf("%s: after ten minutes it is %s", tt.path, got)
		}
		d.ask(t, "eva DELETE "+tt.path, davfs2)
		if rec := d.ask(t, "eva PUT "+tt.path, davfs2, "> "+tt.document); rec.Code != 201 {
			t.Fatalf("%s: %d %s", tt.path, rec.Code, rec.Body)
		}
		d.ask(t, "eva DELETE "+tt.path, "User-Agent: curl/8")
		if rec := d.ask(t, "eva PUT "+tt.path, "User-Agent: curl/8", "> "+tt.document); rec.Code != 201 {
			t.Fatalf("%s: %d %s", tt.path, rec.Code, rec.Body)
		}
		if got := read("eva", davfs2); strings.Contains(got, tt.secret) {
			t.Errorf("%s: what a script has made again is shown as the one before: %s", tt.path, got)
		}
	}
}

// TestScopeThatLeadsNowhere: an app password for a folder of the workflow is refused if it would
// open nothing.
func TestScopeThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	d, _ := clockDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Routes/own.yaml", "> @route")
	for i, c := range []struct{ scope, fault string }{
		{"Workflow", ""},
		{"Workflow/Cases", ""},
		{"/dav/Workflow/Worklist/Offered/", ""},
		{"Workflow/Routes/own", ""},
		{"Workflow/cases", `is written "Cases"`},
		{"Workflow/Worklist/offered", `is written "Offered"`},
		{"Workflow/Case", "there is no folder Workflow/Case that you can see"},
		{"Workflow/Routes/lease", "there is no folder Workflow/Routes/lease that you can see"},
		{"Workflow/README.txt", "Workflow/README.txt is not a folder"},
	} {
		rec := d.ask(t, fmt.Sprintf("sam PUT /dav/Account/AppPasswords/p%d.json", i), fmt.Sprintf(`> {"scope": %q}`, c.scope))
		want := http.StatusCreated
		if c.fault != "" {
			want = http.StatusUnprocessableEntity
		}
		if rec.Code != want || !strings.Contains(rec.Body.String(), c.fault) {
			t.Errorf("%s: %d %s", c.scope, rec.Code, rec.Body)
		}
	}
}
