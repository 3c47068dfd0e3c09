package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hookRoute calls a service when a case starts, and waits for its answer.
const hookRoute = `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, heard: {type: complete}}
actions:
  begin: {trigger: init, sideEffects: [{http: {url: "SERVICE/hook", value: {case: "$__PID__;"}, into: Answer}}]}
  hear: {trigger: message, message: Answer, in: [open], to: heard}
`

// TestKilledWhileDelivering kills the server a hundred times just after it has
// acknowledged cases that call a service. Every call arrives at least once, by
// the same key however often, and its answer is used exactly once.
func TestKilledWhileDelivering(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	s := startService(t, func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, body)
	})
	folder := t.TempDir()
	config := filepath.Join(folder, "flowdrive.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "allow-host: %q\n", strings.TrimPrefix(s.URL, "http://")), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *program {
		return startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--log-level", "error", "--config", config))
	}
	p := start()
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Workflow/Routes/hook.yaml", strings.ReplaceAll(hookRoute, "SERVICE", s.URL))
	var cases []string
	const each = 3
	rounds(40, 30*time.Second, func(int) {
		for range each {
			cases = append(cases, p.must(t, http.StatusCreated, http.MethodPut, casesFolder+"new.json", `{"route": "hook"}`).header.Get("Location"))
		}
		killAt(p, time.Now().Add(time.Duration(random.IntN(4000))*time.Microsecond))
		p = start()
	})
	calls := p.heardOnce(t, s, cases)
	t.Logf("%d cases, %d calls", len(cases), calls)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// heardOnce wants each case to have called the service, by one key however often, and to have
// used the answer once. It returns how many calls there were.
func (p *program) heardOnce(t *testing.T, s *service, cases []string) int {
	t.Helper()
	for _, at := range cases {
		eventually(t, func() string {
			if c := get[struct{ State string }](t, p, at); c.State != "completed" {
				return fmt.Sprintf("%s is %s", at, c.State)
			}
			return ""
		})
		heard := 0
		for _, e := range get[[]logEntry](t, p, strings.TrimSuffix(at, ".json")+"/log.json") {
			if e.Action == "hear" {
				heard++
			}
		}
		if heard != 1 {
			t.Errorf("%s used the answer %d times", at, heard)
		}
	}
	keys := map[string]string{} // by case
	calls := s.seen()
	for _, call := range calls {
		var of struct{ Case string }
		if err := json.Unmarshal([]byte(call.body), &of); err != nil {
			t.Fatal(err)
		}
		key := call.header.Get("Idempotency-Key")
		if known, again := keys[of.Case]; key == "" || again && known != key {
			t.Errorf("case %s was called for with the keys %q and %q", of.Case, known, key)
		}
		keys[of.Case] = key
	}
	if len(keys) != len(cases) {
		t.Errorf("%d cases called, not %d", len(keys), len(cases))
	}
	return len(calls)
}
