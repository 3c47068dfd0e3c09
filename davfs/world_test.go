package davfs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/attach"
	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/server"
	"flowdrive/store/storetest"
)

// testDrive is a drive over a real engine and a real database, in a folder of
// its own. The users sam and ann are in the team ops, bob is not, eva
// administers the server. There is one route, bug, which is everybody's; routeOf
// says what it is. The first id that is given is 17.
type testDrive struct {
	*engine.Engine
	place   storetest.Place
	db      *storetest.DB
	store   *watchedStore
	clock   *clock.Sandbox
	handler http.Handler
	limits  engine.Limits
	dir     string       // where it is stored
	stop    func() error // ends what open began
}

const (
	firstID = 17 // that a new drive gives
)

// start is the instant at which drives are opened.
func start() time.Time { return time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC) }

// routeOf returns the document of a route whose cases these parties may start
// beside its author: the starter resolves a case, which has a timer, and an
// output once it is done. It is YAML as well as JSON.
func routeOf(start ...string) string {
	access := ""
	if len(start) > 0 {
		access = fmt.Sprintf(`"access": {"start": ["%s"]},`+"\n", strings.Join(start, `", "`))
	}
	return "{" + access + `"roles": {"clerk": {"assign": ["starter"]}},
"timers": {"review": {}},
"states": {"open": {"type": "start"}, "done": {"type": "complete"}},
"actions": {"report": {"trigger": "init"},
"resolve": {"type": "resolve", "in": ["open"], "role": "clerk", "to": "done", "onFire": [{"message": {"label": "OutputMessage", "value": "done"}}]}}}`
}

// password is everybody's.
const password = "secret"

// newTestDrive opens a drive with these changes of its configuration.
func newTestDrive(tb testing.TB, changes ...func(*Config)) *testDrive {
	tb.Helper()
	dir := tb.TempDir()
	return driveOn(tb, dir, filledStore(tb).Place(tb, dir), changes...)
}

// driveOn opens a drive on what is stored in the folder.
func driveOn(tb testing.TB, dir string, place storetest.Place, changes ...func(*Config)) *testDrive {
	tb.Helper()
	d := &testDrive{dir: dir, place: place, clock: clock.NewSandbox(start())}
	d.serve(tb, changes...)
	tb.Cleanup(func() { d.close(tb) })
	return d
}

// serve opens the drive on what is stored in its folder.
func (d *testDrive) serve(tb testing.TB, changes ...func(*Config)) {
	tb.Helper()
	d.open(tb)
	if err := d.Load(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	cfg := Config{
		Engine: EngineOf(d.Engine), Clock: d.clock, Now: d.clock.Now, Log: zerolog.Nop(), Principal: server.PrincipalOf, WriteError: writeProblem, Status: server.Status,
		MaxDocument: 400, MaxRoute: 800, MaxContent: 1200,
		ScriptClients: []string{"acme-robot/"},
	}
	for _, change := range changes {
		change(&cfg)
	}
	d.handler = New(cfg)
}

// clone returns a drive on a copy of all that is stored. Both are opened again.
func (d *testDrive) clone(tb testing.TB) *testDrive {
	tb.Helper()
	d.close(tb)
	dir := filepath.Join(tb.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(d.dir)); err != nil {
		tb.Fatal(err)
	}
	place := d.place.Keep(tb).Place(tb, dir)
	d.serve(tb)
	return driveOn(tb, dir, place)
}

// open opens database and engine.
func (d *testDrive) open(tb testing.TB) {
	tb.Helper()
	db, err := d.place.Open(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	blobs, err := attach.Open(filepath.Join(d.dir, "contents"))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	d.db, d.store = db, &watchedStore{Store: db, base: db.Changes()}
	d.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-ended, db.Close())
	})
	d.Engine = engine.New(engine.Config{
		Store: d.store, Blobs: blobs, Clock: d.clock, Wall: d.clock.Now, Log: zerolog.Nop(), Sandbox: true, Standing: server.Standing, Limits: d.limits,
		Zones: func(name string) *time.Location {
			zone, err := time.LoadLocation(name)
			if err != nil {
				return nil
			}
			return zone
		},
		HashPassword: func(password string) (string, error) { return "hash of " + password, nil },
		CheckPassword: func(_ context.Context, _ identity.Name, given string) error {
			if given != password {
				return errs.New(errs.LogIn, "The password is wrong.")
			}
			return nil
		},
	})
}

// close ends what open began, once.
func (d *testDrive) close(tb testing.TB) {
	tb.Helper()
	if err := d.stop(); err != nil {
		tb.Errorf("close the database: %v", err)
	}
}

// filled is the store that drives begin with. It is made once, for
// migrating and filling one takes longer than most tests.
var filled struct {
	sync.Mutex
	made bool
	kept storetest.Kept
}

// filledStore returns what is in filled.
func filledStore(tb testing.TB) storetest.Kept {
	tb.Helper()
	filled.Lock()
	defer filled.Unlock()
	if !filled.made {
		filled.kept, filled.made = fill(tb), true
	}
	return filled.kept
}

// fill makes the people and the route of all drives.
func fill(tb testing.TB) storetest.Kept {
	tb.Helper()
	dir := tb.TempDir()
	d := &testDrive{dir: dir, place: storetest.NewPlace(tb, dir), clock: clock.NewSandbox(start())}
	d.open(tb)
	if _, err := d.Found(tb.Context(), d.clock.Now(), "", nil); err != nil {
		tb.Fatal(err)
	}
	if err := d.Load(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	admin := engine.Request{By: d.principal(string(engine.Admin)), Now: d.clock.Now()}
	for _, p := range []struct {
		kind      identity.Kind
		name, doc string
	}{
		{identity.User, "sam", `{}`},
		{identity.User, "ann", `{}`},
		{identity.User, "bob", `{}`},
		{identity.User, "eva", `{"admin": true}`},
		{identity.Team, "ops", `{"members": ["sam", "ann"]}`},
	} {
		if _, err := d.Accounts.PutParty(tb.Context(), admin, p.kind, p.name, []byte(p.doc)); err != nil {
			tb.Fatal(err)
		}
	}
	if _, err := d.Routes.PutRoute(tb.Context(), admin, "bug", false, []byte(routeOf("everyone"))); err != nil {
		tb.Fatal(err)
	}
	for d.db.PeekID() < firstID {
		d.db.NextID()
	}
	d.close(tb)
	return d.place.Keep(tb)
}

// principal returns the user's, with the contexts of each moment; of a user
// who does not exist, one that sees nothing.
func (d *testDrive) principal(user string) identity.Principal {
	return d.Accounts.Principal(d.Accounts.PartyID(user))
}
