package davfs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// clockDrive is a drive whose real clock the test moves.
func clockDrive(t *testing.T) (*testDrive, *time.Time) {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return newTestDrive(t, func(c *Config) { c.Now = func() time.Time { return now } }), &now
}

// TestRefusalDestroysNothing plays a line each: what is asked of a drive that
// holds an entry, and the status. "+5" lets so many seconds pass.
func TestRefusalDestroysNothing(t *testing.T) {
	t.Parallel()
	const (
		at    = "/dav/Workflow/Schedule/a.json"
		good  = ` > {"route": "bug", "type": "cron", "hour": 22}`
		fault = " > {\"type\": 1}"
	)
	for name, script := range map[string]string{
		"rclone": `rclone/v1.60.1
			sam PUT @ ! 422
			sam DELETE @ 204
			sam GET @ 200
			sam DELETE @ 204
			sam GET @ 404`,
		"each refusal": `rclone/v1.60.1
			sam PUT @ ! 422
			sam PUT @ ! 422
			sam DELETE @ 204
			sam PUT @ ! 422
			sam DELETE @ 204
			sam GET @ 200
			sam DELETE @ 204
			sam GET @ 404`,
		"spelled otherwise": `rclone/v1.60.1
			sam PUT @ ! 422
			sam DELETE /dav/Workflow/schedule/A.JSON 204
			sam GET @ 200`,
		"ten seconds": `Microsoft-WebDAV-MiniRedir/10.0
			sam PUT @ ! 422
			+10
			sam DELETE @ 204
			sam GET @ 200`,
		"eleven seconds": `Microsoft-WebDAV-MiniRedir/10.0
			sam PUT @ ! 422
			+11
			sam DELETE @ 204
			sam GET @ 404`,
		"a PUT that was accepted": `rclone/v1.60.1
			sam PUT @ ! 422
			sam PUT @ = 204
			sam DELETE @ 204
			sam GET @ 404`,
		"somebody else": `rclone/v1.60.1
			ann PUT /dav/Workflow/Schedule/a@sam.json ! 404
			sam DELETE @ 204
			sam GET @ 404`,
		"another URL": `rclone/v1.60.1
			sam PUT /dav/Workflow/Schedule/b.json ! 422
			sam DELETE @ 204
			sam GET @ 404`,
		"nothing there": `rclone/v1.60.1
			sam PUT /dav/Workflow/Schedule/b.json ! 422
			sam DELETE /dav/Workflow/Schedule/b.json 404
			sam PUT /dav/Workflow/Schedule/b.json = 201
			sam DELETE /dav/Workflow/Schedule/b.json 204
			sam GET /dav/Workflow/Schedule/b.json 404`,
		"a condition": `rclone/v1.60.1
			sam PUT @ ! 422
			sam DELETE? @ 412
			sam DELETE @ 204
			sam GET @ 200`,
		"a condition of the PUT": `rclone/v1.60.1
			sam PUT? @ = 412
			sam DELETE @ 204
			sam GET @ 404`,
		"davfs2": `davfs2/1.6.1 neon/0.32.5
			sam PUT @ ! 422
			sam DELETE @ 204
			sam GET @ 404`,
		"cadaver": `cadaver/0.24 neon/0.32.5
			sam PUT @ ! 422
			sam DELETE @ 204
			sam GET @ 404`,
		"KDE": `Mozilla/5.0 (X11; Linux x86_64) KIO/5.103 kioworker/5.103.0
			sam PUT @ ! 422
			sam DELETE @ 204
			sam GET @ 404`,
		"deleted by gvfs before it is saved": `gvfs/1.50.3
			sam DELETE @ 204
			sam PUT @ ! 422
			sam GET @ 200`,
		"a script": `curl/8.5.0
			sam PUT @ ! 422
			sam DELETE @ 204
			sam GET @ 404`,
		"an empty file": `rclone/v1.60.1
			sam PUT @ 204
			sam DELETE @ 204
			sam GET @ 200
			sam DELETE @ 204
			sam GET @ 404`,
		"deleted before it is saved": `rclone/v1.60.1
			sam DELETE @ 204
			sam PUT @ ! 422
			sam GET @ 200
			sam DELETE @ 204
			sam GET @ 200`,
		"deleted long before": `rclone/v1.60.1
			sam DELETE @ 204
			+11
			sam PUT @ ! 422
			sam GET @ 404`,
		"deleted before a condition": `rclone/v1.60.1
			sam DELETE @ 204
			sam PUT? @ = 412
			sam GET @ 404`,
		"deleted by a script": `curl/8.5.0
			sam DELETE @ 204
			sam PUT @ ! 422
			sam GET @ 404`,
		"Documents": `rclone/v1.60.1
			sam PUT /dav/Documents/sam/a.txt = 201
			sam PUT% /dav/Documents/sam/a.txt ! 400
			sam DELETE /dav/Documents/sam/a.txt 204
			sam GET /dav/Documents/sam/a.txt 404`,
		"Admin": `rclone/v1.60.1
			eva PUT /dav/Admin/Users/kim.json {} 201
			eva PUT% /dav/Admin/Users/kim.json = 400
			eva DELETE /dav/Admin/Users/kim.json 204
			eva GET /dav/Admin/Users/kim.json 200`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, now := clockDrive(t)
			if rec := d.ask(t, "sam PUT "+at, strings.TrimPrefix(good, " ")); rec.Code != 201 {
				t.Fatal(rec.Code, rec.Body)
			}
			agent, steps, _ := strings.Cut(script, "\n")
			for step := range strings.Lines(steps) {
				words := strings.Fields(strings.ReplaceAll(step, "@ ", at+" "))
				var seconds int
				if n, _ := fmt.Sscanf(words[0], "+%d", &seconds); n == 1 {
					*now = now.Add(time.Duration(seconds) * time.Second)
					continue
				}
				lines := []string{words[0] + " " + strings.TrimRight(words[1], "?%") + " " + words[2], "User-Agent: " + agent}
				switch words[1][len(words[1])-1] {
				case '?':
					lines = append(lines, `If-Match: "other"`)
				case '%':
					lines = append(lines, "Content-Range: bytes 0-1/2")
				}
				switch words[3] {
				case "=":
					lines = append(lines, good[1:])
				case "{}":
					lines = append(lines, "> {}")
				case "!":
					lines = append(lines, fault[1:])
				}
				rec := d.do(t, lines, "")
				if got := fmt.Sprint(rec.Code); got != words[len(words)-1] {
					t.Fatalf("%s: got %s %s", strings.TrimSpace(step), got, rec.Body)
				}
			}
		})
	}
}
