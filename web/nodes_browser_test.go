//go:build browser

package web

import (
	"bufio"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/pgtest"
)

// browserRig returns the server that browsers look at: one in this process, or so many nodes
// as FLOWDRIVE_NODES says, which are processes of FLOWDRIVE_BIN on one PostgreSQL database.
// A balancer before them picks one at random for each request.
func browserRig(t *testing.T) *rig {
	t.Helper()
	text := os.Getenv("FLOWDRIVE_NODES")
	if text == "" {
		return newRig(t)
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		t.Fatalf("FLOWDRIVE_NODES is %q: give a number of nodes", text)
	}
	begin := time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC)
	g := &rig{wall: time.Now, clock: clock.NewSandbox(begin)}
	address := pgtest.New(t)
	nodes := make([]*url.URL, count)
	for i := range nodes {
		nodes[i] = startNode(t, "n"+strconv.Itoa(i+1), address, begin)
		awaitReady(t, nodes[i])
	}
	g.http = httptest.NewServer(balancer(t, nodes))
	t.Cleanup(g.http.Close)
	g.hire(t)
	return g
}

// startNode starts a node, and returns its address when it listens.
func startNode(t *testing.T, name, database string, begin time.Time) *url.URL {
	t.Helper()
	return addressOf(t, launch(t, name, "--db", database, "--node", name, "--addr", "127.0.0.1:0",
		"--trusted-proxy", "127.0.0.1/32", "--sandbox", begin.Format(time.RFC3339)), `Listening on (http://[^/]+)/`)
}

// addressOf returns the address at which a server listens, as it says in such a line.
func addressOf(t *testing.T, lines *bufio.Scanner, form string) *url.URL {
	t.Helper()
	says := regexp.MustCompile(form)
	for lines.Scan() {
		if found := says.FindStringSubmatch(lines.Text()); found != nil {
			at, err := url.Parse(found[1])
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
	}
	t.Fatalf("the server does not listen: %v", lines.Err())
	return nil
}

// launch starts the program, and returns what it says. The name is that of its log.
func launch(t *testing.T, name string, args ...string) *bufio.Scanner {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command(os.Getenv("FLOWDRIVE_BIN"), append([]string{"serve", "--log-level", "warn"}, args...)...) //nolint:noctx // it ends when the test has looked at its exit code
	node.Env, node.Stderr = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "FLOWDRIVE_ADMIN_PASSWORD=" + password}, log
	says, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatalf("FLOWDRIVE_BIN does not name the program; make browser does: %v", err)
	}
	lines := bufio.NewScanner(says)
	t.Cleanup(func() {
		_ = node.Process.Signal(syscall.SIGTERM)
		for lines.Scan() { // until it has ended
		}
		if err := node.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		said, err := os.ReadFile(log.Name())
		if t.Failed() || err != nil {
			t.Logf("%s says, %v:\n%s", name, err, said)
		}
	})
	return lines
}

// awaitReady waits until a node answers requests.
func awaitReady(t *testing.T, node *url.URL) {
	t.Helper()
	limit, tick := time.NewTimer(time.Minute), time.NewTicker(50*time.Millisecond)
	defer limit.Stop()
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, node.JoinPath("readyz").String(), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		// A connection is closed when a node becomes the active one.
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("%s is not ready", node)
		}
	}
}

// balancer passes each request on to a node that it picks at random.
func balancer(t *testing.T, nodes []*url.URL) http.Handler {
	t.Helper()
	var way http.Transport
	t.Cleanup(way.CloseIdleConnections)
	return &httputil.ReverseProxy{Transport: &way, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(nodes[rand.IntN(len(nodes))]) //nolint:gosec // any will do
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}}
}
