package davfs

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTemporaryFileOfASecret: what programs store under a temporary name beside a document
// that may hold a password is never kept with the reasons of a refusal, and is gone in
// minutes; and they may save so (docs/contract/drive.md#side-files).
func TestTemporaryFileOfASecret(t *testing.T) {
	t.Parallel()
	const agent, words = "User-Agent: davfs2/1.6.1 neon/0.32.5", "correct-horse"
	d, now := clockDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Routes/own.yaml", "> @route")
	d.ask(t, "sam PUT /dav/Workflow/Cases/lamp.json", `> {"route": "own"}`)
	ask := func(status int, line string, more ...string) string {
		t.Helper()
		rec := d.ask(t, line, append([]string{agent}, more...)...)
		if rec.Code != status {
			t.Errorf("%s: %d, want %d: %s", line, rec.Code, status, rec.Body)
		}
		return rec.Body.String()
	}
	refused := `> {"password": "` + words + `", "oldPassword": "wrong-` + words + `"}`
	for _, place := range []struct{ user, folder, name, accepted string }{
		{"sam", "/dav/Account/", "me.json", `> {"fullName": "Sam Sample"}`},
		{"eva", "/dav/Admin/Users/", "bob.json", `> {"fullName": "Bob Builder"}`},
		{"eva", "/dav/Admin/Teams/", "ops.json", `> {"members": ["sam"]}`},
		{"sam", "/dav/Account/AppPasswords/", "laptop.json", `> {}`},
		{"sam", "/dav/Account/CalendarLinks/", "phone.json", `> {}`},
		{"sam", "/dav/Workflow/Routes/own/Hooks/", "git.json", `> {"rate": "7/minute"}`},
		{"sam", "/dav/Workflow/Cases/18/Timers/", "review.json", `> {"limit": "P2D"}`},
	} {
		temporary := place.user + " PUT " + place.folder + "sed7kS6JV"
		move := place.user + " MOVE " + place.folder + "sed7kS6JV"
		to := "Destination: " + place.folder + place.name
		ask(http.StatusCreated, temporary, refused)
		ask(http.StatusUnprocessableEntity, move, to)
		if addressOf(strings.Split(strings.Trim(place.folder, "/"), "/")).holdsSecrets() {
			ask(http.StatusOK, place.user+" GET "+place.folder+"sed7kS6JV")
			*now = now.Add(10 * time.Minute)
			ask(http.StatusNotFound, place.user+" GET "+place.folder+"sed7kS6JV")
			for name, text := range rejectedTexts(t, d, place.user, place.folder) {
				if strings.Contains(text, words) || !strings.HasSuffix(name, ".txt") {
					t.Errorf("%sRejected/%s: %s", place.folder, name, text)
				}
			}
		}
		d.ask(t, place.user+" DELETE "+place.folder+"sed7kS6JV", agent)
		// davfs2 may rename before it has sent the text.
		ask(http.StatusCreated, temporary)
		if rec := d.ask(t, move, agent, to); rec.Code >= 300 {
			t.Errorf("%s to %s, empty: %d %s", move, to, rec.Code, rec.Body)
		}
		ask(http.StatusCreated, temporary, place.accepted)
		if rec := d.ask(t, move, agent, to); rec.Code >= 300 {
			t.Errorf("%s to %s: %d %s", move, to, rec.Code, rec.Body)
		}
		ask(http.StatusNotFound, place.user+" GET "+place.folder+"sed7kS6JV")
	}
}

// TestRefusedBesideASecret: a name that nothing there has is refused without the text, and
// so is a temporary file that is moved to another place.
func TestRefusedBesideASecret(t *testing.T) {
	t.Parallel()
	const agent, words = "User-Agent: davfs2/1.6.1 neon/0.32.5", "correct-horse"
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Routes/own.yaml", "> @route")
	d.ask(t, "sam PUT /dav/Account/sed7kS6JV", agent, "> "+words)
	for _, tt := range []struct{ line, to, folder string }{
		{"sam PUT /dav/Account/mine.json", "", "/dav/Account/"},
		{"sam PUT /dav/Account/AppPasswords/laptop.yaml", "", "/dav/Account/AppPasswords/"},
		{"sam PUT /dav/Workflow/Routes/own/Hooks/git.yaml", "", "/dav/Workflow/Routes/own/Hooks/"},
		{"eva PUT /dav/Admin/Users/bob.yaml", "", "/dav/Admin/Users/"},
		{"eva PUT /dav/Admin/bob.json", "", "/dav/Admin/"},
		{"sam MOVE /dav/Account/sed7kS6JV", "Destination: /dav/Workflow/Cases/a.json", "/dav/Workflow/Cases/"},
	} {
		more := []string{agent, "> " + words}
		if tt.to != "" {
			more = []string{agent, tt.to}
		}
		if rec := d.ask(t, tt.line, more...); rec.Code < 400 {
			t.Errorf("%s: %d", tt.line, rec.Code)
		}
		user, _, _ := strings.Cut(tt.line, " ")
		texts := rejectedTexts(t, d, user, tt.folder)
		if len(texts) == 0 {
			t.Errorf("%s: no reasons", tt.line)
		}
		for name, text := range texts {
			if strings.Contains(text, words) || !strings.HasSuffix(name, ".txt") {
				t.Errorf("%s: %s has %s", tt.line, name, text)
			}
		}
	}
}

// rejectedTexts returns what is in Rejected/ of a folder, by its names.
func rejectedTexts(t *testing.T, d *testDrive, user, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var members []struct{ Name string }
	rec := d.ask(t, user+" GET "+folder+"Rejected/", "Accept: application/json", "User-Agent: davfs2/1.6.1")
	if rec.Code == http.StatusNotFound {
		return out
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &members); err != nil {
		t.Fatalf("%s: %d %s", folder, rec.Code, rec.Body)
	}
	for _, m := range members {
		out[m.Name] = d.ask(t, user+" GET "+folder+"Rejected/"+strings.ReplaceAll(m.Name, " ", "%20"), "User-Agent: davfs2/1.6.1").Body.String()
	}
	return out
}
