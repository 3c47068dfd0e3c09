package davfs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// twoStepRoute is a route in which a case is resolved, and closed then.
const twoStepRoute = `{roles: {clerk: {assign: [starter]}}, states: {open: {type: start}, done: {}, shut: {type: complete}}, actions: {report: {trigger: init}, ` +
	`resolve: {type: resolve, in: [open], role: clerk, to: done}, close: {in: [done], role: clerk, to: shut}}}`

// refusedDrive is a drive with a case of that route, and a clock that the test moves.
type refusedDrive struct {
	*testDrive
	now  *time.Time
	at   string // of the case's folder
	with func(*Config)
}

func newRefusedDrive(t *testing.T) *refusedDrive {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	with := func(c *Config) { c.Now = func() time.Time { return now } }
	d := &refusedDrive{testDrive: newTestDrive(t, with), now: &now, with: with}
	d.want(t, 201, "curl/8", "PUT /dav/Workflow/Routes/two.yaml", twoStepRoute)
	rec := d.want(t, 201, "curl/8", "PUT /dav/Workflow/Cases/new.json", `{"route": "two"}`)
	d.at = strings.TrimSuffix(rec, ".json")
	return d
}

// want makes a request of sam's and returns the Location, or the body if there is none.
func (d *refusedDrive) want(t *testing.T, status int, agent, request, body string) string {
	t.Helper()
	lines := []string{"sam " + request, "User-Agent: " + agent}
	if body != "" {
		lines = append(lines, "> "+body)
	}
	rec := d.ask(t, lines[0], lines[1:]...)
	if rec.Code != status {
		t.Fatalf("%s %s: got %d %s, want %d", request, body, rec.Code, rec.Body, status)
	}
	if at := rec.Header().Get("Location"); at != "" {
		return at
	}
	return rec.Body.String()
}

// rejections counts what lies in Rejected/ of the actions.
func (d *refusedDrive) rejections(t *testing.T) int {
	t.Helper()
	rec := d.ask(t, "sam PROPFIND "+d.at+"/Actions/Rejected/", "User-Agent: rclone/v1.60.1", "Depth: 1")
	return max(0, strings.Count(rec.Body.String(), "<D:response>")-1)
}

// TestRefusedCommandStaysRefused repeats a command as rclone does after another has made
// it possible: it is answered as before and does nothing, also after a restart, and
// leaves nothing more in Rejected/.
func TestRefusedCommandStaysRefused(t *testing.T) {
	t.Parallel()
	const rclone, body = "rclone/v1.60.1", `{"comment": "too early"}`
	d := newRefusedDrive(t)
	shut := "PUT " + d.at + "/Actions/close.json"
	first := d.want(t, 409, rclone, shut, body)
	if got := d.rejections(t); got != 2 {
		t.Fatalf("Rejected/ has %d files", got)
	}
	d.want(t, 204, "curl/8", "PUT "+d.at+"/Actions/resolve.json", "{}")
	for range 3 {
		*d.now = d.now.Add(5 * time.Minute)
		d.want(t, 404, rclone, "DELETE "+d.at+"/Actions/nothing.json", "")
		if again := d.want(t, 409, rclone, shut, body); again != first {
			t.Errorf("the answer is another:\n%s\n%s", again, first)
		}
		d.ask(t, "sam DELETE "+d.at+"/Actions/close.json", "User-Agent: "+rclone) // rclone clears up
	}
	d.close(t)
	d.serve(t, d.with)
	*d.now = d.now.Add(20 * time.Hour)
	if again := d.want(t, 409, rclone, shut, body); again != first {
		t.Errorf("after a restart the answer is another:\n%s\n%s", again, first)
	}
	*d.now = d.now.Add(20 * time.Hour) // it lasts as long as it is repeated
	d.want(t, 409, rclone, shut, body)
	if log := d.want(t, 200, "curl/8", "GET "+d.at+"/log.txt", ""); strings.Contains(log, "too early") {
		t.Errorf("it was performed:\n%s", log)
	}
	if got := d.rejections(t); got != 0 { // those of the first day have expired
		t.Errorf("Rejected/ has %d files", got)
	}
	d.want(t, 204, rclone, shut, `{"comment": "now"}`)
}

// TestRefusedCommandEnds says what ends the memory of a refusal: other bytes, and a
// deletion that clears nothing up; what other clients send is looked at again.
func TestRefusedCommandEnds(t *testing.T) {
	t.Parallel()
	const rclone, body = "rclone/v1.60.1", `{"comment": "too early"}`
	for name, end := range map[string]func(*refusedDrive){
		"other bytes that are refused": func(d *refusedDrive) {
			d.want(t, 422, rclone, "PUT "+d.at+"/Actions/close.json", `{"commment": "too early"}`)
		},
		"deleted": func(d *refusedDrive) {
			*d.now = d.now.Add(refusalLifetime + time.Second)
			d.ask(t, "sam DELETE "+d.at+"/Actions/close.json", "User-Agent: "+rclone)
		},
		"a day without repetition": func(d *refusedDrive) { *d.now = d.now.Add(keptRefusal + time.Second) },
	} {
		d := newRefusedDrive(t)
		shut := "PUT " + d.at + "/Actions/close.json"
		d.want(t, 409, rclone, shut, body)
		d.want(t, 204, "curl/8", "PUT "+d.at+"/Actions/resolve.json", "{}")
		end(d)
		if rec := d.ask(t, "sam "+shut, "User-Agent: "+rclone, "> "+body); rec.Code != 204 {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
	for _, agent := range []string{"curl/8", "gvfs/1.50.3", "davfs2/1.6.1"} {
		d := newRefusedDrive(t)
		shut := "PUT " + d.at + "/Actions/close.json"
		d.want(t, 409, rclone, shut, body)
		d.want(t, 204, "curl/8", "PUT "+d.at+"/Actions/resolve.json", "{}")
		d.want(t, 204, agent, shut, body)
	}
}

// TestLockedDocumentStaysRefused: what a lock refused in Documents/ does not overwrite,
// when rclone sends it again, what has been saved meanwhile, nor does the DELETE with
// which rclone clears up take that away (clients.md, defect 4).
func TestLockedDocumentStaysRefused(t *testing.T) {
	t.Parallel()
	const rclone, at, mine = "rclone/v1.60.1", "/dav/Documents/ops/plan.txt", "by sam"
	for _, test := range []struct {
		name, agent, holder, send string
		again                     int
		stored                    string
	}{
		{"the holder has saved", rclone, "by ann", mine, 423, "by ann"},
		{"the holder has saved nothing", rclone, "", mine, 204, mine},
		{"other bytes", rclone, "by ann", "both", 204, "both"},
		{"a client that does not repeat", "gvfs/1.50.3", "by ann", mine, 204, mine},
	} {
		d := newRefusedDrive(t)
		d.want(t, 201, "curl/8", "PUT "+at, "before")
		lock := d.ask(t, "ann LOCK "+at, `> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`)
		if lock.Code != 200 {
			t.Fatal(lock.Code, lock.Body)
		}
		token := lock.Header().Get("Lock-Token")
		d.want(t, 423, test.agent, "PUT "+at, mine)
		if test.holder != "" {
			if rec := d.ask(t, "ann PUT "+at, "If: ("+token+")", "> "+test.holder); rec.Code != 204 {
				t.Fatal(rec.Code, rec.Body)
			}
		}
		if rec := d.ask(t, "ann UNLOCK "+at, "Lock-Token: "+token); rec.Code != 204 {
			t.Fatal(rec.Code, rec.Body)
		}
		if test.agent == rclone {
			d.ask(t, "sam DELETE "+at, "User-Agent: "+rclone)
		}
		*d.now = d.now.Add(5 * time.Minute)
		d.want(t, test.again, test.agent, "PUT "+at, test.send)
		if test.again == 423 {
			d.ask(t, "sam DELETE "+at, "User-Agent: "+rclone)
		}
		if got := d.want(t, 200, "curl/8", "GET "+at, ""); got != test.stored {
			t.Errorf("%s: %q is stored", test.name, got)
		}
	}
}

// TestRefusedDocumentIsReadAgain sends a schedule entry again after what was missing is
// there. It is no command: it means the same at any time. What a lock refused stays
// refused, for whose the lock was has saved another version.
func TestRefusedDocumentIsReadAgain(t *testing.T) {
	t.Parallel()
	const rclone, entry = "rclone/v1.60.1", `{"route": "later", "type": "cron", "hour": 22}`
	d := newRefusedDrive(t)
	d.want(t, 422, rclone, "PUT /dav/Workflow/Schedule/a.json", entry)
	d.want(t, 422, rclone, "PUT /dav/Workflow/Schedule/a.json", entry)
	rec := d.ask(t, "sam PROPFIND /dav/Workflow/Schedule/Rejected/", "User-Agent: "+rclone, "Depth: 1")
	if got := strings.Count(rec.Body.String(), "<D:response>"); got != 3 {
		t.Errorf("the same was rejected more than once:\n%s", rec.Body)
	}
	d.want(t, 201, "curl/8", "PUT /dav/Workflow/Routes/later.yaml", twoStepRoute)
	d.want(t, 201, rclone, "PUT /dav/Workflow/Schedule/a.json", entry)

	d.want(t, 204, rclone, "PUT /dav/Workflow/Schedule/a.json", `{"route": "bug", "type": "cron", "hour": 21, "context": "ops"}`)
	lock := d.ask(t, "ann LOCK /dav/Workflow/Schedule/a@sam.json", `> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`)
	if lock.Code != 200 {
		t.Fatal(lock.Code, lock.Body)
	}
	mine := `{"route": "bug", "type": "cron", "hour": 20, "context": "ops"}`
	d.want(t, 423, rclone, "PUT /dav/Workflow/Schedule/a.json", mine)
	token := lock.Header().Get("Lock-Token")
	if rec := d.ask(t, "ann PUT /dav/Workflow/Schedule/a@sam.json", "If: ("+token+")", `> {"route": "bug", "type": "cron", "hour": 19, "context": "ops"}`); rec.Code != 204 {
		t.Fatal(rec.Code, rec.Body)
	}
	if rec := d.ask(t, "ann UNLOCK /dav/Workflow/Schedule/a@sam.json", "Lock-Token: "+token); rec.Code != 204 {
		t.Fatal(rec.Code, rec.Body)
	}
	d.want(t, 423, rclone, "PUT /dav/Workflow/Schedule/a.json", mine)
	if got := d.want(t, 200, "curl/8", "GET /dav/Workflow/Schedule/a.json", ""); !strings.Contains(got, `"hour": 19`) {
		t.Error(fmt.Sprint("what ann has saved is overwritten: ", got))
	}
}
