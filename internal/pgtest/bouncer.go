package pgtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Bouncer starts a PgBouncer before the server, of a mode such as "transaction", with at most
// three connections to it. It returns the address of the database "flow" by it. The test is
// skipped if the machine has none, unless tests are to run on PostgreSQL.
func (s *Server) Bouncer(tb testing.TB, mode string) string {
	tb.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(program); err != nil {
		if Wanted() {
			tb.Fatal(err)
		}
		tb.Skip("PgBouncer is not installed")
	}
	dir, err := os.MkdirTemp("", "flowdrive-pgbouncer-") //nolint:usetesting // the user of the server must reach it
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(tb)
	conf := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
flow = host=%s port=%d user=flowdrive
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 3
`, s.dir, s.Port, port, mode)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	as, err := unprivileged(dir)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	running := exec.CommandContext(ctx, program, "-q", conf)
	running.SysProcAttr, running.Dir = as, dir
	if err := running.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cancel()
		_ = running.Wait() // it was killed
	})
	u := url.URL{Scheme: "postgres", User: url.User("flowdrive"), Host: fmt.Sprintf("127.0.0.1:%d", port), Path: "/flow", RawQuery: "sslmode=disable"}
	patient, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	for {
		c, err := pgconn.Connect(patient, u.String())
		if err == nil {
			_ = c.Close(patient) // it was only tried
			return u.String()
		}
		if patient.Err() != nil {
			tb.Fatalf("PgBouncer does not answer: %v", err)
		}
	}
}

// freePort returns a port of this machine on which nobody listens.
func freePort(tb testing.TB) int {
	tb.Helper()
	port, err := unusedPort(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

func unusedPort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close() //nolint:errcheck // it is TCP
}
