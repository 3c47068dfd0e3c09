package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// adminPassword is the administrator's in the data folders of these tests.
const adminPassword = "an-administrator-for-a-moment"

// program is a running server.
type program struct {
	cmd        *exec.Cmd
	base       string // http://127.0.0.1:port
	user       string // who makes requests
	password   string
	greeting   *watched
	complaints *watched
	dead       chan struct{}
	client     *http.Client
}

// childProcess returns a process that has not begun. Those of servers take most of the time of all
// tests: with -short, a test that needs one is skipped.
func childProcess(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	skipShort(t)
	return exec.Command(name, args...)
}

// skipShort skips a test that starts processes, with -short.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts processes")
	}
}

// startProgram starts a server over the data folder.
func startProgram(t *testing.T, data string) *program {
	t.Helper()
	return startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", data, "--log-level", "warn"))
}

// startServe starts the server of a command line.
func startServe(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	cmd.Env = append(environment(cmd.Env...), "FLOWDRIVE_ADMIN_PASSWORD="+adminPassword)
	p, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() && p.complaints.String() != "" {
			t.Logf("what the server complained about:\n%s", p.complaints)
		}
	})
	return p
}

// environment returns that of the tests without settings, which would become those of
// servers, and with what else is given. Secrets are what a test sets for its server.
func environment(more ...string) []string {
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, environmentPrefix) && !strings.HasPrefix(variable, secretVariable)
	})
	return append(own, more...)
}

// launch starts a server and waits until it says where it listens, which it
// does when it is ready.
func launch(cmd *exec.Cmd) (*program, error) {
	p := &program{
		cmd: cmd, user: "admin", password: adminPassword, dead: make(chan struct{}), complaints: &watched{},
		greeting: &watched{want: regexp.MustCompile(`(https?://\S+)/dav/\n`), found: make(chan string, 1)},
		client:   &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}},
	}
	cmd.Stdout, cmd.Stderr = p.greeting, p.complaints
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(p.dead)
	}()
	select {
	case p.base = <-p.greeting.found:
		return p, nil
	case <-p.dead:
		return nil, fmt.Errorf("the server ended: %v\n%s", cmd.ProcessState, p.complaints)
	case <-time.After(patience):
		p.kill()
		return nil, fmt.Errorf("the server is not ready after %v; it said %q", patience, p.greeting)
	}
}

// kill ends the server as a power cut would, as far as a process can tell,
// and waits until it is gone. Its children and files get no notice.
func (p *program) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.dead
	p.client.CloseIdleConnections()
}

// stop ends the server as an operator does.
func (p *program) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.dead:
	case <-time.After(patience):
		p.kill()
		return errors.New("the server does not stop")
	}
	p.client.CloseIdleConnections()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the server stopped with %d:\n%s", code, p.complaints)
	}
	return nil
}

// watched is an output in which something is awaited.
type watched struct {
	mu    sync.Mutex
	seen  bytes.Buffer
	want  *regexp.Regexp // nil: nothing is awaited
	found chan string    // the first group of the first match
}

// Write implements io.Writer.
func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Write(b)
	if w.want == nil {
		return len(b), nil
	}
	if match := w.want.FindSubmatch(w.seen.Bytes()); match != nil {
		w.found <- string(match[1])
		w.want = nil
	}
	return len(b), nil
}

// String returns what was written.
func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.String()
}

// answer is what a server answered.
type answer struct {
	status int
	header http.Header
	body   []byte
	line   string // the status line
}

func (a *answer) String() string {
	return fmt.Sprintf("%d %s", a.status, strings.Join(strings.Fields(string(a.body)), " "))
}

// as returns the server as another user sees it.
func (p *program) as(user, password string) *program {
	other := *p
	other.user, other.password = user, password
	return &other
}

// do makes a request as the user. headers are names and values in
// turn.
func (p *program) do(ctx context.Context, method, path, body string, headers ...string) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // a request that the server's death cut short is not repeated behind our back
	req.SetBasicAuth(p.user, p.password)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode, header: resp.Header, line: resp.Status}
	a.body, err = io.ReadAll(resp.Body)
	return a, err
}

// must makes a request that has to be answered with the status.
func (p *program) must(t *testing.T, status int, method, path, body string, headers ...string) *answer {
	t.Helper()
	a, err := p.do(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	if a.status != status {
		t.Fatalf("%s %s: got %v, want %d", method, path, a, status)
	}
	return a
}

// get reads a JSON document.
func get[T any](t *testing.T, p *program, path string) (document T) {
	t.Helper()
	a := p.must(t, http.StatusOK, http.MethodGet, path, "")
	if err := json.Unmarshal(a.body, &document); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, a.body)
	}
	return document
}

// patience is how long a test waits for what a process does. It is far more than that takes:
// a machine may do much else meanwhile, and what never happens is found all the same.
const patience = 2 * time.Minute

// eventually polls until f reports nothing that is amiss.
func eventually(t *testing.T, f func() (amiss string)) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		amiss := f()
		if amiss == "" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("still so after %v: %s", patience, amiss)
		}
	}
}

// connections is how many clients speak to the server at once.
const connections = 32

// request is one that must be performed exactly once, whatever dies
// meanwhile.
type request struct {
	path, body, key string
	answer          *answer // of the attempt that was acknowledged
}

// perform makes the requests over all connections. What is answered well is
// acknowledged; what is not answered is left as it is, for the server may
// die. acknowledged is called after each acknowledgement, with their number.
func (p *program) perform(t *testing.T, requests []*request, acknowledged func(n int)) {
	t.Helper()
	queue := make(chan *request, len(requests))
	for _, r := range requests {
		queue <- r
	}
	close(queue)
	var mu sync.Mutex
	n := 0
	var group sync.WaitGroup
	for range connections {
		group.Go(func() {
			for r := range queue {
				a, err := p.do(t.Context(), http.MethodPut, r.path, r.body, "Idempotency-Key", r.key)
				if err != nil {
					return
				}
				if a.status == http.StatusServiceUnavailable {
					return // it is stopping
				}
				if a.status >= http.StatusMultipleChoices {
					t.Errorf("PUT %s %s: %v", r.path, r.body, a)
					return
				}
				mu.Lock()
				r.answer = a
				n++
				acknowledged(n)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// faults are what a check found. It shows the first ones and how many there
// are: where one request is lost, many are.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f faults) report(t *testing.T) {
	t.Helper()
	if len(f) > 0 {
		t.Fatalf("%d faults, of which the first are\n%s", len(f), strings.Join(f[:min(len(f), 10)], "\n"))
	}
}

// performUntil makes the requests and ends the server at a random moment on
// the way. It reports how many were acknowledged.
func (p *program) performUntil(t *testing.T, end os.Signal, random *rand.Rand, requests []*request) (acknowledged int) {
	t.Helper()
	last := random.IntN(len(requests))
	delay := time.Duration(random.IntN(3000)) * time.Microsecond
	signal := func() { _ = p.cmd.Process.Signal(end) } // it cannot have ended before
	if last == 0 {
		time.AfterFunc(delay, signal)
	}
	p.perform(t, requests, func(n int) {
		acknowledged = n
		if n == last {
			time.AfterFunc(delay, signal)
		}
	})
	select {
	case <-p.dead:
	case <-time.After(patience):
		t.Fatalf("the server does not end upon %v", end)
	}
	return acknowledged
}

// repeat makes every request again, under its old key, and checks the answers
// of those that had one already: they must be the same.
func (p *program) repeat(t *testing.T, requests []*request, headers ...string) {
	t.Helper()
	before := make([]*answer, len(requests))
	for i, r := range requests {
		before[i], r.answer = r.answer, nil
	}
	p.perform(t, requests, func(int) {})
	var amiss faults
	for i, r := range requests {
		switch {
		case r.answer == nil:
			amiss.add("PUT %s %s: not answered by a server that nobody killed", r.path, r.body)
		case before[i] != nil:
			if r.answer.header.Get("Idempotent-Replayed") != "true" {
				amiss.add("PUT %s %s: performed again, although it had been acknowledged", r.path, r.body)
			}
			for _, h := range headers {
				if got, want := r.answer.header.Get(h), before[i].header.Get(h); got != want {
					amiss.add("PUT %s %s: the repeated answer has %s %q, the first had %q", r.path, r.body, h, got, want)
				}
			}
		}
	}
	amiss.report(t)
}

// newRandom returns a source whose seed a failure shows. FLOWDRIVE_TEST_SEED
// sets it.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	var seed uint64
	if _, err := fmt.Sscan(cmp.Or(os.Getenv("FLOWDRIVE_TEST_SEED"), fmt.Sprint(rand.Uint64())), &seed); err != nil {
		t.Fatal(errors.Join(errors.New("FLOWDRIVE_TEST_SEED"), err))
	}
	t.Logf("FLOWDRIVE_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// complained returns what the program has complained about, without what each server says
// at its start that can tell nobody of failures.
func (p *program) complained() string {
	lines := slices.DeleteFunc(strings.SplitAfter(p.complaints.String(), "\n"), func(line string) bool {
		return strings.Contains(line, "No administrator is told outside of the drive")
	})
	return strings.Join(lines, "")
}
