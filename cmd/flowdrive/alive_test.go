package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/clock"
)

// TestServerThatWasKilledWasAway: the next start of a server that was killed knows when that
// was there last, also if a command was run on the folder meanwhile, and says so.
func TestServerThatWasKilledWasAway(t *testing.T) {
	t.Parallel()
	for _, between := range []string{"", "a command"} {
		t.Run("with "+between, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			p := startProgram(t, data)
			if a := p.must(t, http.StatusOK, http.MethodGet, "/dav/Admin/Status.json", ""); !strings.Contains(string(a.body), `"away": null`) {
				t.Errorf("the first start: %s", a.body)
			}
			p.kill()
			seen := clock.Real{}.Now().Add(-3 * time.Hour).UTC().Truncate(time.Second)
			if err := os.Chtimes(filepath.Join(data, runningName), seen, seen); err != nil {
				t.Fatal(err)
			}
			if between != "" {
				cmd := childProcess(t, "flowdrive", "user", "enable", "admin", "--data", data)
				cmd.Env = environment()
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			p = startProgram(t, data)
			if a := p.must(t, http.StatusOK, http.MethodGet, "/dav/Admin/Status.json", ""); !strings.Contains(string(a.body), `"from": "`+seen.Format(time.RFC3339)+`"`) || !strings.Contains(string(a.body), `"stopped": false`) {
				t.Errorf("the next start: %s", a.body)
			}
			if said := p.complaints.String(); !strings.Contains(said, "server: was away") {
				t.Errorf("the log says %s", said)
			}
		})
	}
}
