//go:build browser

package web

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestBrowserOutput: what a command writes shows on the page of its case while it runs, and
// that it has ended, too, without a reload. A sandbox runs no commands, so this is another server.
func TestBrowserOutput(t *testing.T) {
	t.Run("flow 41 the output of a running command", func(t *testing.T) {
		data, signs := t.TempDir(), t.TempDir()
		config := filepath.Join(data, "flowdrive.yaml")
		// The command writes a line and goes on when it sees a sign.
		script := `echo "first line"; until [ -e "$1/second" ]; do sleep 0.1; done; echo "second line"; until [ -e "$1/end" ]; do sleep 0.1; done`
		text := fmt.Sprintf("commands:\n  slow: {path: /bin/sh, args: [-c, %q, slow], env: {PATH: /usr/bin:/bin}, timeout: PT10M}\n", script)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		server := addressOf(t, launch(t, "server", "--data", filepath.Join(data, "drive"), "--config", config, "--addr", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1/32"), `(http://\S+)/dav/$`)
		g := &rig{wall: time.Now, http: httptest.NewServer(balancer(t, []*url.URL{server}))}
		t.Cleanup(g.http.Close)
		g.hire(t)
		g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/slow.yaml", fmt.Sprintf(`
access: {start: [everyone]}
states: {begun: {type: start}, over: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{exec: {command: slow, args: [%q]}}]}
  end: {in: [begun], allowed: 'user:ann', to: over}
`, signs))
		at := "/cases/" + g.start(t, "ann", `{"route": "slow", "title": "A long run"}`)

		w := g.open(t, 1440)
		w.visit(at)
		w.logIn("ann", password)
		w.until(`document.querySelector("#deliveries .out") && document.querySelector("#deliveries .out").textContent.includes("first line")`)
		w.stop("a command runs")
		eval[bool](w, "window.same = true")
		sign := func(name string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(signs, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.text("#deliveries .out"); got != "first line" {
			t.Errorf("before it goes on the page says %q", got)
		}
		sign("second")
		w.until(`document.querySelector("#deliveries .out").textContent.includes("second line")`)
		sign("end")
		w.until(`!document.querySelector("#deliveries .out") && document.querySelector("#deliveries").textContent.includes("Done")`)
		w.until(`window.same`)
		w.stop("a command has ended")
	})
}
