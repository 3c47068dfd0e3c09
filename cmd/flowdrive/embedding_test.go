package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/webdav"

	"flowdrive/davfs"
	"flowdrive/server"
)

// overNet returns x/net's handler over the drive, for an administrator.
func (s *inProcess) overNet() http.Handler {
	fs := davfs.NewFileSystem(davfs.Config{
		Engine: davfs.EngineOf(s.engine), Clock: s.sandbox, Log: s.log, Principal: server.PrincipalOf, WriteError: server.WriteError, Status: server.Status,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by := s.engine.Accounts.Principal(s.engine.Accounts.PartyID("admin"))
		r, locks := fs.Begin(r.WithContext(server.WithPrincipal(r.Context(), by)))
		(&webdav.Handler{FileSystem: fs, LockSystem: locks}).ServeHTTP(w, r)
	})
}

// TestScheduleOverNet: the scheduler is used through x/net's handler as one
// would with curl: an entry is sent, listed, read in its complete form, fires,
// and is deleted.
func TestScheduleOverNet(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		handler := s.overNet()
		ask := func(method, path, body string, want int) *httptest.ResponseRecorder {
			t.Helper()
			r := httptest.NewRequest(method, path, strings.NewReader(body)).WithContext(s.Context())
			r.Header.Set("User-Agent", "curl/8.5")
			r.Header.Set("Depth", "1")
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, r); w.Code != want {
				t.Fatalf("%s %s: got %d %s, want %d", method, path, w.Code, w.Body, want)
			}
			return w
		}
		const folder = "/dav/Workflow/Schedule/"
		ask("PUT", folder+"request.json", `{"route": "collector", "priority": 300, "repeat": 1, "type": "interval", "minutes": 2}`, 201)
		ask("PUT", folder+"refused.json", `{"route": "collector", "type": "interval"}`, 405)
		if got := ask("GET", folder+"request.json", "", 200).Body.String(); !strings.Contains(got, `"repeat": 1`) {
			t.Errorf("what was sent: %s", got)
		}
		if got := ask("PROPFIND", folder, "", 207).Body.String(); !strings.Contains(got, folder+"request.json") || strings.Contains(got, "refused.json") {
			t.Errorf("the folder: %s", got)
		}
		var all []struct {
			UUID      string `json:"UUID"`
			Performed int    `json:"iterationsPerformed"`
			Remaining int    `json:"iterationsRemaining"`
			Next      string `json:"nextIteration"`
		}
		contents := func() {
			t.Helper()
			all = nil
			if err := json.Unmarshal(ask("GET", folder+".contents", "", 200).Body.Bytes(), &all); err != nil {
				t.Fatal(err)
			}
		}
		contents()
		if len(all) != 1 || all[0].Performed != 0 || all[0].Remaining != 1 || all[0].Next != "2012-11-09T12:36:56" {
			t.Fatalf("the complete form: %+v", all)
		}
		identity := folder + strings.ReplaceAll(strings.Trim(all[0].UUID, "{}"), "-", "") + ".json"
		ask("GET", identity, "", 200)
		ask("PUT", folder+"nightly.json", `{"route": "collector", "type": "cron", "weekday": "3,5", "hour": "23", "minute": "0",
			"xattrDict": {"start": "$__MONTHSTART__;", "end": "$__TODAY__;"}}`, 201)
		contents()
		if len(all) != 2 || all[1].Next != "2012-11-10T23:00:00" || all[1].Remaining != -1 {
			t.Fatalf("the complete forms: %+v", all)
		}
		s.must(http.MethodPost, "/clock", `{"advance": "PT3M"}`, "Content-Type", "application/json")
		if contents(); len(all) != 1 {
			t.Errorf("after its last iteration the entry is still there: %+v", all)
		}
		if got := ask("GET", "/dav/Workflow/Cases/.contents", "", 200).Body.String(); !strings.Contains(got, `"priority": 300`) {
			t.Errorf("the case: %s", got)
		}
		ask("DELETE", folder+"nightly.json", "", 204)
		ask("DELETE", folder+"nightly.json", "", 404)
	})
}

// litmus runs the suites on a folder, and returns what failed of each.
func litmus(t *testing.T, program, url string) map[string][]string {
	t.Helper()
	failed := map[string][]string{}
	for _, suite := range []string{"basic", "copymove", "props", "locks", "http"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, program, "-k", url, "admin", "any")
		cmd.Dir, cmd.Env = t.TempDir(), append(cmd.Environ(), "TESTS="+suite)
		out, err := cmd.CombinedOutput()
		cancel()
		text := strings.ReplaceAll(string(out), "\r", "\n")
		if !strings.Contains(text, "<- summary for `"+suite+"':") {
			t.Fatalf("litmus, %s: %v\n%s", suite, err, text)
		}
		for _, found := range regexp.MustCompile(`(?m)^ *\d+\. (\w+)\.+ FAIL`).FindAllStringSubmatch(text, -1) {
			failed[suite] = append(failed[suite], found[1])
		}
	}
	return failed
}

// TestLitmusOverNet: over the drive, nothing fails with x/net's handler that does
// not fail with it over x/net's own file system and locks.
func TestLitmusOverNet(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("litmus")
	if err != nil {
		t.Skip("there is no litmus here (make deps installs it)")
	}
	theirs := httptest.NewServer(&webdav.Handler{FileSystem: webdav.NewMemFS(), LockSystem: webdav.NewMemLS()})
	defer theirs.Close()
	known := litmus(t, program, theirs.URL+"/")
	withServer(t, func(s *inProcess) {
		ours := httptest.NewServer(s.overNet())
		defer ours.Close()
		failed := litmus(t, program, ours.URL+"/dav/Documents/admin/")
		for _, suite := range slices.Sorted(maps.Keys(failed)) {
			for _, test := range failed[suite] {
				if !slices.Contains(known[suite], test) {
					t.Errorf("%s: %s fails, and not over x/net's own file system", suite, test)
				}
			}
		}
		t.Logf("over x/net's own: %v; over the drive: %v", known, failed)
	})
}
