// Package pgtest gives tests databases in a throw-away PostgreSQL server, which it makes of
// the machine's binaries: one server for each process of tests, one database for each test.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Environment names the variable that says in which database tests keep what they store:
// "postgres", or SQLite if it is not set.
const Environment = "FLOWDRIVE_TEST_DB"

// Wanted reports whether tests are to run on PostgreSQL.
func Wanted() bool { return os.Getenv(Environment) == "postgres" }

// Pooled reports whether tests are to run as if a pooler were on the way, with nothing that
// lasts longer than a transaction.
func Pooled() bool { return os.Getenv("FLOWDRIVE_TEST_DB_POOLED") != "" }

// server is the one of this process.
type server struct {
	once sync.Once
	err  error
	dir  string
	stop *os.File // closing it ends the server, as the end of this process does
	next atomic.Int64

	mu     sync.Mutex
	orders *os.File       // what psql reads
	said   *bufio.Scanner // what it says
}

//nolint:gochecknoglobals // a server for each process is the point
var shared server

// New returns the address of a new, empty database. It lasts as long as the test. The test
// is skipped with -short, or if the machine has no PostgreSQL, unless tests are to run on it.
func New(tb testing.TB) string {
	tb.Helper()
	return newDatabase(tb, "")
}

// From returns the address of a new database that is a copy of the one of that name. make
// makes that one, which has a new address, when it is asked for the first time.
func From(tb testing.TB, template *Template) string {
	tb.Helper()
	skipShort(tb)
	template.once.Do(func() {
		template.name = "template_" + strconv.FormatInt(shared.next.Add(1), 10)
		if template.err = start(); template.err != nil {
			return
		}
		if template.err = shared.order("CREATE DATABASE " + template.name); template.err == nil {
			template.err = template.Fill(address(template.name))
		}
	})
	refuse(tb, template.err)
	return newDatabase(tb, template.name)
}

// Template is a database that others are copies of.
type Template struct {
	Fill func(address string) error

	once sync.Once
	name string
	err  error
}

func newDatabase(tb testing.TB, template string) string {
	tb.Helper()
	skipShort(tb)
	refuse(tb, start())
	name := "test_" + strconv.FormatInt(shared.next.Add(1), 10)
	create := "CREATE DATABASE " + name
	if template != "" {
		create += " TEMPLATE " + template
	}
	if err := shared.order(create); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := shared.order("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			tb.Logf("drop the database: %v", err)
		}
	})
	return address(name)
}

// skipShort skips a test that starts PostgreSQL, with -short, unless tests are to run on it.
func skipShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() && !Wanted() {
		tb.Skip("-short: it starts PostgreSQL")
	}
}

// ErrMissing says that the machine has no PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is not installed")

func refuse(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case errors.Is(err, ErrMissing) && !Wanted():
		tb.Skip("PostgreSQL is not installed")
	case err != nil:
		tb.Fatal(err)
	}
}

func address(database string) string { return addressIn(shared.dir, database) }

// addressIn returns the address of a database of the server of a folder.
func addressIn(dir, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("flowdrive"), Path: "/" + database, RawQuery: url.Values{"host": {dir}}.Encode()}
	return u.String()
}

// Execute runs statements in the database at an address.
func Execute(tb testing.TB, address, query string) {
	tb.Helper()
	if err := execute(tb.Context(), address, query); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
}

func execute(ctx context.Context, address, query string) error {
	c, err := pgconn.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, query).ReadAll()
	return errors.Join(err, c.Close(ctx))
}

func start() error {
	shared.once.Do(func() { shared.err = shared.start() })
	return shared.err
}

// binary finds a program of PostgreSQL, of the newest version if there are several.
func binary(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		slices.Sort(found)
		return found[len(found)-1], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", ErrMissing
	}
	return path, nil
}

// server waits for the end of its input, which is that of the process that started it.
const script = `"$0" -D "$1/data" -k "$1" >"$1/log" 2>&1 & p=$!; read -r _; kill -QUIT $p; wait $p; rm -rf "$1"`

func (s *server) start() error {
	var err error
	if s.dir, err = os.MkdirTemp(memory(), "flowdrive-pg-"); err != nil {
		return err
	}
	ctx := context.Background()
	// What these tests store may be lost.
	settings := "listen_addresses=''\nfsync=off\nsynchronous_commit=off\nfull_page_writes=off\nmax_connections=300\nshared_buffers=32MB\nautovacuum=off\nmax_wal_size=4GB\n"
	if err := initialize(ctx, s.dir, settings); err != nil {
		return err
	}
	if _, s.stop, err = launch(ctx, s.dir, script); err != nil {
		return err
	}
	if err := await(ctx, s.dir); err != nil {
		return err
	}
	return s.openOrders(ctx)
}

// openOrders starts the psql that order speaks to. It ends when this process does.
func (s *server) openOrders(ctx context.Context) error {
	psql, err := binary("psql")
	if err != nil {
		return err
	}
	read, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	answers, said, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, psql, "-X", "-q", "-A", "-t", "-h", s.dir, "-U", "flowdrive", "postgres")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read, said, said
	s.orders, s.said = orders, bufio.NewScanner(answers)
	return errors.Join(cmd.Start(), read.Close(), said.Close())
}

// order has the server make or remove a database. One psql does that for all tests: each
// session of a server costs it more than most of what a test asks for.
func (s *server) order(statement string) error {
	const done = "-- done"
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := fmt.Fprintf(s.orders, "%s;\n\\echo '%s'\n", statement, done); err != nil {
		return err
	}
	var said []string
	for s.said.Scan() {
		switch line := s.said.Text(); {
		case line == done && said == nil:
			return nil
		case line == done:
			return fmt.Errorf("%s: %s", statement, strings.Join(said, "; "))
		default:
			said = append(said, line)
		}
	}
	return errors.Join(fmt.Errorf("%s: psql has ended", statement), s.said.Err())
}

// initialize makes the files of a server in a folder.
func initialize(ctx context.Context, dir, settings string) error {
	as, err := unprivileged(dir)
	if err != nil {
		return err
	}
	if err := tool(ctx, dir, as, "initdb", "-D", filepath.Join(dir, "data"), "-U", "flowdrive", "-A", "trust",
		"-E", "UTF8", "--locale=C", "-N", "--no-instructions"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "data", "postgresql.auto.conf"), []byte(settings), 0o644)
}

// tool runs a program of PostgreSQL.
func tool(ctx context.Context, dir string, as *syscall.SysProcAttr, name string, args ...string) error {
	path, err := binary(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.SysProcAttr, cmd.Dir = as, dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// launch starts the server of a folder by a script that ends when what is returned is closed.
func launch(ctx context.Context, dir, script string) (*exec.Cmd, *os.File, error) {
	postgres, err := binary("postgres")
	if err != nil {
		return nil, nil, err
	}
	as, err := unprivileged(dir)
	if err != nil {
		return nil, nil, err
	}
	input, stop, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	running := exec.CommandContext(ctx, "/bin/sh", "-c", script, postgres, dir)
	running.SysProcAttr, running.Dir, running.Stdin = as, dir, input
	if err := running.Start(); err != nil {
		return nil, nil, errors.Join(err, input.Close(), stop.Close())
	}
	return running, stop, input.Close()
}

// unprivileged returns as whom the server runs: it refuses to be root.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{Setpgid: true}, nil
	}
	as, err := user.Lookup("postgres")
	if err != nil {
		if as, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(as.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(as.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, int(uid), int(gid))
}

// memory returns a folder in memory, "" if there is none with room: a test makes and removes
// hundreds of files, and a disk takes half of its time for that.
func memory() string {
	const folder, room = "/dev/shm", 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || int64(fs.Bavail)*fs.Bsize < room {
		return ""
	}
	return folder
}

// awaitScript is a program of its own, as time stands still for a test in a bubble of
// testing/synctest that waits for another process.
const awaitScript = `for i in $(seq 1200); do "$0" -q -h "$1" && exit; sleep 0.05; done; cat "$1/log"; exit 1`

// await waits a minute until the server of a folder answers.
func await(ctx context.Context, dir string) error {
	isReady, err := binary("pg_isready")
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "/bin/sh", "-c", awaitScript, isReady, dir).CombinedOutput(); err != nil {
		return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, out)
	}
	return nil
}

// Snapshot returns what a database is at the moment, for others to be copies of it. Nobody
// may use it meanwhile. It lasts as long as the process.
func Snapshot(tb testing.TB, of string) *Template {
	tb.Helper()
	u, err := url.Parse(of)
	if err != nil {
		tb.Fatal(err)
	}
	t := &Template{name: "template_" + strconv.FormatInt(shared.next.Add(1), 10)}
	t.once.Do(func() {})
	if err := shared.order("CREATE DATABASE " + t.name + " TEMPLATE " + strings.TrimPrefix(u.Path, "/")); err != nil {
		tb.Fatal(err)
	}
	return t
}
