package main

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"flowdrive/internal/cable"
	"flowdrive/internal/pgtest"
	"flowdrive/internal/s3server"
)

// startNode starts a node of a database, and returns when it listens.
func startNode(t *testing.T, address, name string, flags ...string) *program {
	t.Helper()
	p := &program{
		cmd:  childProcess(t, "flowdrive", append([]string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), name), "--db", address, "--node", name, "--log-level", "warn"}, flags...)...),
		user: "admin", password: adminPassword, dead: make(chan struct{}), complaints: &watched{},
		greeting: &watched{want: regexp.MustCompile(`Listening on (http://\S+)/, one`), found: make(chan string, 1)},
		client:   &http.Client{Timeout: patience, Transport: &http.Transport{DisableCompression: true}},
	}
	p.cmd.Env = keys(s3server.Secret)
	p.cmd.Stdout, p.cmd.Stderr = p.greeting, p.complaints
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ends is up to the test
		close(p.dead)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("what %s complained about:\n%s", name, p.complaints)
		}
	})
	select {
	case p.base = <-p.greeting.found:
	case <-p.dead:
		t.Fatalf("%s has ended: %s", name, p.complaints)
	}
	return p
}

// folder returns the data folder of a node.
func (p *program) folder() string { return p.cmd.Args[slices.Index(p.cmd.Args, "--data")+1] }

// awaitReady waits until the node is the active one.
func (p *program) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, func() string {
		got, err := p.do(t.Context(), "GET", "/readyz", "")
		if err != nil {
			return err.Error()
		}
		if got.status != http.StatusOK {
			return got.String()
		}
		return ""
	})
}

// refused wants a request to be answered with 503. A connection may be closed on the way,
// when a node begins or ends to be the active one.
func (p *program) refused(t *testing.T, method, path, body string) (got *answer) {
	t.Helper()
	eventually(t, func() (amiss string) {
		var err error
		if got, err = p.do(t.Context(), method, path, body); err != nil {
			return err.Error()
		}
		return ""
	})
	if after, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != http.StatusServiceUnavailable || err != nil || after < 1 || after > 30 {
		t.Errorf("%s %s: %s, Retry-After %q", method, path, got, got.header.Get("Retry-After"))
	}
	return got
}

// TestNodesTakeOver: of two nodes one is active, and the other one passes on to it what it
// is asked. If the active one is killed, the other one takes over and has all that was
// acknowledged. One that was stopped and wakes writes nothing: it passes on, too.
func TestNodesTakeOver(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	one := startNode(t, address, "one")
	one.awaitReady(t)
	two := startNode(t, address, "two")
	two.awaitReady(t)
	for p, want := range map[*program]string{one: "The server is ready.\n", two: standsBy + "\n"} {
		var out bytes.Buffer
		if code := run(t.Context(), []string{"healthcheck", "--data", p.folder()}, nil, &out, &out); code != 0 || out.String() != want {
			t.Errorf("healthcheck: exit code %d, %q; want %q", code, out.String(), want)
		}
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"user", "list", "--data", two.folder()}, nil, &out, &out); code == 0 || !strings.Contains(out.String(), "active node") {
		t.Errorf("a command at the folder of a node that stands by: exit code %d, %s", code, &out)
	}

	one.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/a.txt", "acknowledged")
	large := strings.Repeat("content", 100<<10) // in rows of its own
	two.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/large.txt", large)
	one.kill()
	two.awaitReady(t)
	if got := two.must(t, http.StatusOK, "GET", "/dav/Documents/admin/large.txt", ""); string(got.body) != large {
		t.Errorf("after the other one was killed, a large document has %d bytes", len(got.body))
	}
	if got := two.must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != "acknowledged" {
		t.Errorf("after the other one was killed: %q", got.body)
	}

	// The server ends a session that says nothing. Here it is ended at once.
	three := startNode(t, address, "three")
	if err := two.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	pgtest.Execute(t, address, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	three.awaitReady(t)
	three.must(t, http.StatusNoContent, "PUT", "/dav/Documents/admin/a.txt", "newer")
	if err := two.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	two.must(t, http.StatusOK, "GET", "/healthz", "")
	two.awaitReady(t) // it stands by, and passes on
	if got := three.must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != "newer" {
		t.Errorf("after the other one has woken: %q", got.body)
	}
}

// TestDatabaseIsAway: while the database refuses connections, requests are answered with
// 503 and the process lives; when it is back, all goes on.
func TestDatabaseIsAway(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	name := address[strings.LastIndex(address[:strings.Index(address, "?")], "/")+1 : strings.Index(address, "?")]
	elsewhere := strings.Replace(address, "/"+name+"?", "/postgres?", 1)
	p := startNode(t, address, "one")
	p.awaitReady(t)
	p.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/a.txt", "acknowledged")
	pgtest.Execute(t, elsewhere, `ALTER DATABASE `+name+` ALLOW_CONNECTIONS false`)
	pgtest.Execute(t, elsewhere, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '`+name+`'`)
	for range 3 {
		p.refused(t, "PUT", "/dav/Documents/admin/a.txt", "lost")
	}
	p.must(t, http.StatusOK, "GET", "/healthz", "")
	pgtest.Execute(t, elsewhere, `ALTER DATABASE `+name+` ALLOW_CONNECTIONS true`)
	p.awaitReady(t)
	if got := p.must(t, http.StatusOK, "GET", "/dav/Documents/admin/a.txt", ""); string(got.body) != "acknowledged" {
		t.Errorf("after the database was away: %q", got.body)
	}
}

// TestDatabaseRestarts: while the server of the database is stopped, and while it hangs, each node
// answers 503; when it runs again all goes on without a restart.
func TestDatabaseRestarts(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	one := startNode(t, server.Address("flow"), "one")
	one.awaitReady(t)
	two := startNode(t, server.Address("flow"), "two")
	two.awaitReady(t)
	const path = "/dav/Documents/admin/a.txt"
	one.must(t, http.StatusCreated, "PUT", path, "acknowledged")
	var processes []int
	signal := func(s syscall.Signal) {
		for _, pid := range processes {
			if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
		}
	}
	for _, away := range []struct{ begin, end func() }{
		{server.Stop, func() { server.Run(t) }},
		{server.Kill, func() { server.Run(t) }},
		{func() {
			processes = serverProcesses(t, server)
			signal(syscall.SIGSTOP)
		}, func() { signal(syscall.SIGCONT) }},
	} {
		away.begin()
		for _, n := range []*program{one, two} {
			n.refused(t, "PUT", path, "lost")
			n.refused(t, "GET", path, "")
			n.must(t, http.StatusOK, "GET", "/healthz", "")
		}
		away.end()
		for _, n := range []*program{one, two} {
			n.awaitReady(t)
			if got := n.must(t, http.StatusOK, "GET", path, ""); string(got.body) != "acknowledged" {
				t.Errorf("after the database was away: %q", got.body)
			}
		}
	}
}

// serverProcesses returns the processes of a server that answer the database "flow", and the
// one that takes new connections.
func serverProcesses(t *testing.T, server *pgtest.Server) []int {
	t.Helper()
	first, err := server.Process()
	if err != nil {
		t.Fatal(err)
	}
	all := []int{first}
	for _, text := range server.Execute(t, "postgres", `SELECT pid FROM pg_stat_activity WHERE datname = 'flow'`) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// TestCutCommit: if the answer to a COMMIT is lost, nobody is told that nothing was stored, and
// the request is found by its key.
func TestCutCommit(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	way := cable.New(t, server.Dial)
	p := startNode(t, "postgres://flowdrive@"+way.Address+"/flow?sslmode=disable", "one")
	p.awaitReady(t)
	const path, key = "/dav/Workflow/Cases/new.json", "only-once"
	// The server writes of its own accord, too: if that is whose answer was lost, the request
	// was not stored, and says so, or came when the node had lost the database already.
	var got *answer
	var err error
	notStored := func() bool {
		return err == nil && (strings.Contains(string(got.body), "Nothing was stored") || strings.Contains(string(got.body), "The server is stopping"))
	}
	for range 30 {
		p.awaitReady(t)
		way.Swallow(1, "COMMIT\x00")
		if got, err = p.do(t.Context(), http.MethodPut, path, `{"route": "bug"}`, "Idempotency-Key", key); !notStored() {
			break
		}
	}
	switch {
	case err != nil: // it was not told anything
	case got.status != http.StatusServiceUnavailable || !strings.Contains(string(got.body), "Idempotency-Key") || strings.Contains(string(got.body), "Nothing was stored"):
		t.Errorf("a COMMIT without an answer: %s", got)
	}
	if !way.Swallowed() {
		t.Fatal("nothing was committed")
	}
	p.awaitReady(t)
	again := p.must(t, http.StatusCreated, http.MethodPut, path, `{"route": "bug"}`, "Idempotency-Key", key)
	if again.header.Get("Idempotent-Replayed") != "true" {
		t.Error("it was done again")
	}
	if cases := get[[]caseForm](t, p, casesFolder+".contents"); len(cases) != 1 {
		t.Errorf("there are %d cases", len(cases))
	}
}

// TestDatabaseSettings: what is wrong with --db is said before anything begins, with the
// exit code of a wrong setting, and no password is in what is said.
func TestDatabaseSettings(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	missing := strings.Replace(address, "?", "-nothing?", 1)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--db", "postgres://u:secret-word@h/d"}, "has a password in it"},
		{[]string{"--db", "postgres://u@h:port/d"}, "is not a valid address"},
		{[]string{"--db", "postgres://u@h:port/d?password=secret-word"}, "has a password in it"},
		{[]string{"--db", "mysql://u:secret-word@h/d"}, "begins with postgres://"},
		{[]string{"--node", "n"}, "--db is missing"},
		{[]string{"--db", address, "--db-direct", "postgres://u:secret-word@h/d"}, "--db-direct: "},
		{[]string{"--db-direct", address}, "--db is missing"},
		{[]string{"--db", address, "--backup-to", "/tmp"}, "pg_dump"},
		{[]string{"--db", address, "--db-password-file", "/nothing"}, "--db-password-file"},
		{[]string{"--db", missing}, "createdb"},
	} {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir()}, tt.args...), nil, &out, &out)
		if code != exitConfig || !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), "secret-word") {
			t.Errorf("%q: exit code %d\n%s", tt.args, code, &out)
		}
	}
}

// TestThreeNodes: whichever node is asked, the active one answers: what one node has
// acknowledged, each shows. Refusals keep their reason, events come as they happen, and
// each node tells of all.
func TestThreeNodes(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	nodes := []*program{startNode(t, address, "one")}
	nodes[0].awaitReady(t)
	nodes = append(nodes, startNode(t, address, "two"), startNode(t, address, "three"))
	for _, n := range nodes {
		n.awaitReady(t)
	}

	// Events that a node passes on.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, nodes[2].base+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("admin", adminPassword)
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()

	// Reads at once, of what was acknowledged elsewhere.
	for i := range 60 {
		path, text := "/dav/Documents/admin/"+strconv.Itoa(i%7)+".txt", strconv.Itoa(i)
		status := http.StatusCreated
		if i >= 7 {
			status = http.StatusNoContent
		}
		nodes[i%3].must(t, status, "PUT", path, text)
		if got := nodes[(i+1)%3].must(t, http.StatusOK, "GET", path, ""); string(got.body) != text {
			t.Fatalf("%s: %q, want %q", path, got.body, text)
		}
	}
	lines := bufio.NewScanner(stream.Body)
	for told := false; !told && lines.Scan(); {
		told = strings.Contains(lines.Text(), "/dav/Documents/admin/6.txt")
	}
	if lines.Err() != nil {
		t.Error(lines.Err())
	}

	for _, n := range nodes {
		refused, err := n.do(t.Context(), "PUT", "/dav/Workflow/Schedule/x.json", `{"route": "none"}`)
		if err != nil {
			t.Fatal(err)
		}
		if refused.status != http.StatusUnprocessableEntity || refused.line == "422 Unprocessable Entity" {
			t.Errorf("a refusal: %q", refused.line)
		}
		for _, name := range []string{"one", "two", "three"} {
			n.must(t, http.StatusOK, "GET", "/dav/Admin/Nodes/"+name+".json", "")
		}
	}
	got := nodes[1].must(t, http.StatusOK, "GET", "/dav/Admin/Nodes/two.json", "")
	for _, want := range []string{`"name": "two"`, `"leases": 0`, `"pool": 1`, `"clockOffsetMs": `} {
		if !strings.Contains(string(got.body), want) {
			t.Errorf("%s is missing in\n%s", want, got.body)
		}
	}
}
