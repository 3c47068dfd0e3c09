package contentrows_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"flowdrive/attach"
	"flowdrive/internal/errs"
	"flowdrive/internal/pgtest"
	"flowdrive/internal/placetest"
	"flowdrive/store/contentrows"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// way is a way to a database that can be cut.
type way struct {
	to   *pgconn.Config
	away atomic.Bool
}

// conn is a connection over it.
type conn struct {
	net.Conn
	way *way
}

// Read implements net.Conn.
func (c conn) Read(p []byte) (int, error) {
	if c.way.away.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c conn) Write(p []byte) (int, error) {
	if c.way.away.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

func newWay(t *testing.T) *way {
	t.Helper()
	to, err := pgconn.ParseConfig(pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &way{to: to}
	dial := to.DialFunc
	to.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if w.away.Load() {
			return nil, net.ErrClosed
		}
		c, err := dial(ctx, network, address)
		return conn{c, w}, err
	}
	return w
}

func open(t *testing.T, to *pgconn.Config, guard, folder string) *contentrows.Rows {
	t.Helper()
	local, err := attach.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	r, err := contentrows.Open(t.Context(), to, guard, local, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestPlace(t *testing.T) {
	t.Parallel()
	placetest.Run(t, func(t *testing.T) placetest.Subject {
		t.Helper()
		w, folder := newWay(t), t.TempDir()
		return placetest.Subject{
			Open: func(t *testing.T) attach.Keeper { t.Helper(); return open(t, w.to, "", folder) },
			Left: func(t *testing.T) int {
				t.Helper()
				left, err := os.ReadDir(filepath.Join(folder, "spool"))
				if err != nil {
					t.Fatal(err)
				}
				return len(left)
			},
			Away: func(_ *testing.T, f func()) {
				w.away.Store(true)
				defer w.away.Store(false)
				f()
			},
		}
	})
}

// TestLocation: where contents lie is remembered, replaced and forgotten.
func TestLocation(t *testing.T) {
	t.Parallel()
	w, folder := newWay(t), t.TempDir()
	r := open(t, w.to, "", folder)
	local, err := attach.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range []attach.Home{r, local} {
		for _, want := range []attach.Location{{}, {At: "s3://a", ID: "1"}, {At: "s3://b", ID: "1"}, {}} {
			if err := home.SetLocation(want); err != nil {
				t.Fatal(err)
			}
			if got, err := home.Location(); got != want || err != nil {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
		}
	}
}

// TestGuard: a node that may not write any more stores and removes nothing.
func TestGuard(t *testing.T) {
	t.Parallel()
	w, folder := newWay(t), t.TempDir()
	may, over := open(t, w.to, "SELECT 1", folder), open(t, w.to, "SELECT 1 / 0", folder)
	sum := placetest.Keep(t, may, "kept")
	c := placetest.Spool(t, over, "too late")
	if err := c.Keep(); !errs.Is(err, errs.Unavailable) {
		t.Errorf("keep: %v", err)
	}
	if err := over.Remove(sum); !errs.Is(err, errs.Unavailable) {
		t.Errorf("remove: %v", err)
	}
	if _, err := may.Size(c.Sum()); !errs.Is(err, errs.NotFound) {
		t.Errorf("what was kept too late: %v", err)
	}
	if size, err := may.Size(sum); size != 4 || err != nil {
		t.Errorf("what was removed too late: %d, %v", size, err)
	}
}
