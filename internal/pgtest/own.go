package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a PostgreSQL server of one test alone, which may kill it. It keeps what was
// acknowledged, but for a loss of power.
type Server struct {
	Port int // on 127.0.0.1, for those who do not reach it by its socket

	dir   string
	stop  *os.File      // closing it ends the server, as the end of this process does; nil: it does not run
	ended chan struct{} // closed when it has
}

// ownScript is like script, but leaves the files there.
const ownScript = `exec 3<&0; "$0" -D "$1/data" -k "$1" >>"$1/log" 2>&1 3<&- & p=$!; { read -r _ <&3; kill -QUIT $p; } & w=$!; wait $p; kill $w`

// Start makes and starts a server with a database "flow". Settings are lines of
// postgresql.conf beside those that it needs. The test is skipped with -short, or if the machine
// has no PostgreSQL, unless tests are to run on it.
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	skipShort(tb)
	s, err := Launch(context.WithoutCancel(tb.Context()), append([]string{"fsync=off", "full_page_writes=off", "shared_buffers=32MB"}, settings...)...)
	refuse(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	s.Execute(tb, "postgres", "CREATE DATABASE flow")
	return s
}

// Launch makes and starts a server for a program that is not a test. It waits for the disk
// unless a setting says otherwise. The caller closes it. It returns ErrMissing if the
// machine has no PostgreSQL.
func Launch(ctx context.Context, settings ...string) (*Server, error) {
	s, err := newServer(ctx)
	if err != nil {
		return nil, err
	}
	lines := fmt.Sprintf("listen_addresses='127.0.0.1'\nport=%d\nmax_connections=100\n%s\n", s.Port, strings.Join(settings, "\n"))
	if err = initialize(ctx, s.dir, lines); err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newServer returns a server without files.
func newServer(ctx context.Context) (*Server, error) {
	dir, err := os.MkdirTemp("", "flowdrive-pg-")
	if err != nil {
		return nil, err
	}
	port, err := unusedPort(ctx)
	return &Server{dir: dir, Port: port}, err
}

// Close kills the server if it runs, and removes its files.
func (s *Server) Close() error {
	s.Kill()
	return os.RemoveAll(s.dir)
}

// Dir is the folder of the server; data/ in it has its files.
func (s *Server) Dir() string { return s.dir }

// Address returns the address of a database, by the socket of the server.
func (s *Server) Address(database string) string {
	u, err := url.Parse(addressIn(s.dir, database))
	if err != nil {
		return "" // it was made a moment ago
	}
	q := u.Query()
	q.Set("port", strconv.Itoa(s.Port))
	u.RawQuery = q.Encode()
	return u.String()
}

// Dial connects to the server.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(s.dir, ".s.PGSQL."+strconv.Itoa(s.Port)))
}

// Execute runs statements in a database of the server, and returns the first column of what
// they yield.
func (s *Server) Execute(tb testing.TB, database, query string) []string {
	tb.Helper()
	values, err := s.Query(tb.Context(), database, query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return values
}

// Query does the same without a test.
func (s *Server) Query(ctx context.Context, database, query string) (values []string, err error) {
	c, err := pgconn.Connect(ctx, s.Address(database))
	if err != nil {
		return nil, err
	}
	results, err := c.Exec(ctx, query).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			values = append(values, string(row[0]))
		}
	}
	return values, errors.Join(err, c.Close(ctx))
}

// Run starts the server, and returns when it answers. One that was killed may have to wait
// until what it has left behind is gone.
func (s *Server) Run(tb testing.TB) {
	tb.Helper()
	if err := s.run(context.WithoutCancel(tb.Context())); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		running, stop, err := launch(context.WithoutCancel(ctx), s.dir, ownScript)
		if err != nil {
			return err
		}
		ended := make(chan struct{})
		s.stop, s.ended = stop, ended
		go func() {
			_ = running.Wait() // how it ends is up to the test
			close(ended)
		}()
		if s.answers(ctx) {
			return nil
		}
		s.Kill()
		if ctx.Err() != nil {
			log, err := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", errors.Join(ctx.Err(), err), log)
		}
	}
}

// answers waits until the server answers, or has ended.
func (s *Server) answers(ctx context.Context) bool {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := s.Query(ctx, "postgres", "SELECT 1"); err == nil {
			return true
		}
		select {
		case <-s.ended:
			return false
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

// Signal sends a signal to the server, if it runs: SIGINT stops it, SIGKILL kills it.
func (s *Server) Signal(signal syscall.Signal) error {
	pid, err := s.Process()
	if err != nil {
		return err
	}
	return syscall.Kill(pid, signal)
}

// Process returns the id of the process that the server's others are children of.
func (s *Server) Process() (int, error) {
	file, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(file), "\n")
	return strconv.Atoi(first)
}

// Kill kills the server if it runs, and waits until it is gone.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Stop stops the server, as an operator does who does not wait for clients.
func (s *Server) Stop() { s.end(syscall.SIGINT) }

func (s *Server) end(signal syscall.Signal) {
	if s.stop == nil {
		return
	}
	if s.Signal(signal) != nil { // it is gone, or has not got so far
		_ = s.stop.Close()
	}
	<-s.ended
	_ = s.stop.Close() // nobody reads it any more
	s.stop = nil
}

// Replica makes and starts a replica of the server, which what is committed from now on
// waits for.
func (s *Server) Replica(tb testing.TB) *Server {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	r, err := newServer(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.Close() })
	as, err := unprivileged(r.dir)
	if err != nil {
		tb.Fatal(err)
	}
	data := filepath.Join(r.dir, "data")
	if err := tool(ctx, r.dir, as, "pg_basebackup", "-h", s.dir, "-p", strconv.Itoa(s.Port), "-U", "flowdrive", "-D", data, "-R", "-X", "stream", "-c", "fast"); err != nil {
		tb.Fatal(err)
	}
	conf, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := fmt.Fprintf(conf, "port=%d\n", r.Port); err != nil {
		tb.Fatal(err)
	}
	if err := conf.Close(); err != nil {
		tb.Fatal(err)
	}
	r.Run(tb)
	s.Execute(tb, "postgres", `ALTER SYSTEM SET synchronous_standby_names = '*'`)
	s.Execute(tb, "postgres", `SELECT pg_reload_conf()`)
	for len(s.Execute(tb, "postgres", `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)) == 0 {
		if tb.Context().Err() != nil {
			tb.Fatal("the replica does not follow")
		}
	}
	return r
}

// Promote makes a replica a server of its own.
func (s *Server) Promote(tb testing.TB) {
	tb.Helper()
	s.Execute(tb, "postgres", `SELECT pg_promote()`)
}

// Encrypt has the server want TLS with a certificate, and the password, of those who do not
// come by its socket.
func (s *Server) Encrypt(tb testing.TB, cert, key []byte) {
	tb.Helper()
	data := filepath.Join(s.dir, "data")
	as, err := unprivileged(s.dir)
	if err != nil {
		tb.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"server.crt": cert, "server.key": key,
		"pg_hba.conf": []byte("local all all trust\nlocal replication all trust\nhostssl all all all scram-sha-256\n"),
	} {
		path := filepath.Join(data, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			tb.Fatal(err)
		}
		if as.Credential != nil {
			if err := os.Chown(path, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	s.Execute(tb, "postgres", `ALTER SYSTEM SET ssl = on`)
	s.Stop()
	s.Run(tb)
}
