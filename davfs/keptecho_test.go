package davfs

import (
	"strings"
	"testing"
	"time"
)

// TestEchoOutlivesRestart repeats PUTs that start cases, and one that performs, after the
// server was started again: they are answered as before and do nothing.
func TestEchoOutlivesRestart(t *testing.T) {
	t.Parallel()
	const rclone = "rclone/v1.60.1"
	d := newRefusedDrive(t)
	cases := func() int {
		return strings.Count(d.want(t, 200, "curl/8", "GET /dav/Workflow/Cases/.ls", ""), `"name"`)
	}
	restart := func() {
		d.close(t)
		d.serve(t, d.with)
	}
	puts := map[string]string{
		"PUT /dav/Workflow/Routes/bug/r.txt":    "It burns.",
		"PUT /dav/Workflow/Cases/new.json":      `{"route": "bug", "title": "Fire"}`,
		"PUT " + d.at + "/Actions/resolve.json": `{"comment": "put out"}`,
		"PUT /dav/Workflow/Schedule/new.json":   `{"route": "bug", "type": "cron", "hour": 22}`,
	}
	first := map[string]string{}
	for request, body := range puts {
		first[request] = d.put(t, rclone, request, body)
	}
	before := cases()
	restart()
	for request, body := range puts {
		if got := d.put(t, rclone, request, body); got != first[request] {
			t.Errorf("%s is answered %s, want %s", request, got, first[request])
		}
	}
	if got := cases(); got != before {
		t.Errorf("there are %d cases, want %d", got, before)
	}
	if log := d.want(t, 200, "curl/8", "GET "+d.at+"/log.txt", ""); strings.Count(log, "put out") != 1 {
		t.Errorf("performed again:\n%s", log)
	}
	// What was deleted meanwhile is meant when it comes again, and so are other bytes,
	// and the same after a minute.
	restart()
	d.want(t, 204, rclone, "DELETE /dav/Workflow/Routes/bug/r.txt", "")
	d.want(t, 201, rclone, "PUT /dav/Workflow/Routes/bug/r.txt", "It burns.")
	restart()
	d.want(t, 201, rclone, "PUT /dav/Workflow/Routes/bug/r.txt", "It burns more.")
	restart()
	*d.now = d.now.Add(echoLifetime + time.Second)
	d.want(t, 201, rclone, "PUT /dav/Workflow/Routes/bug/r.txt", "It burns more.")
	if got := cases(); got != before+3 {
		t.Errorf("there are %d cases, want %d", got, before+3)
	}
}

// put makes a request of sam's and returns what a client compares of its answer.
func (d *refusedDrive) put(t *testing.T, agent, request, body string) string {
	t.Helper()
	rec := d.ask(t, "sam "+request, "User-Agent: "+agent, "> "+body)
	if rec.Code/100 != 2 {
		t.Fatalf("%s: %d %s", request, rec.Code, rec.Body)
	}
	return strings.Join([]string{rec.Result().Status, rec.Header().Get("Location"), rec.Header().Get("ETag")}, " ")
}
