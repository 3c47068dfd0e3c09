package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"flowdrive/attach"
	"flowdrive/davfs"
	"flowdrive/engine"
	"flowdrive/engine/account"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/jqworker"
	"flowdrive/internal/password"
	"flowdrive/internal/signon"
	"flowdrive/notify"
	"flowdrive/route"
	"flowdrive/server"
	"flowdrive/store"
	"flowdrive/store/contentrows"
	"flowdrive/store/postgres"
	"flowdrive/web"
)

// passwordCosts are those of the hashes of passwords that are stored from now on.
var passwordCosts = server.RecommendedCosts() //nolint:gochecknoglobals // tests set it, nothing else does

// app is everything on one data folder, wired.
type app struct {
	settings *settings
	log      zerolog.Logger
	unlock   func() error
	disk     *disk
	backups  *backups   // nil: none
	heart    *heartbeat // nil: none
	answers  struct{ store, provider, directory *answerWatch }
	figures  *figures
	traces   *traces      // nil: none
	told     *serverWatch // tells administrators what is wrong with the server
	unclean  bool         // the last server on the data folder was not stopped in good order
	seen     time.Time    // when that was there last
	db       database
	lost     func() <-chan struct{} // of a database that can be lost: closed then
	cause    func() error           // why it was
	peers    net.Listener           // for what other nodes pass on; nil: there are none
	way      *server.PeerWay        // to peers
	contents attach.Keeper
	rows     *contentrows.Rows // of contents in the database that nodes share; nil: there is none
	engine   *engine.Engine
	auth     *server.Authenticator
	sandbox  *clock.Sandbox // nil: real time
	clock    engine.Clock
	wall     func() time.Time // real time, also in a sandbox
	zones    *clock.Zones
	gateway  *notify.Gateway

	ldap        *signon.LDAP        // that checks passwords, too; nil: there is none
	provider    *signOn             // at which people log in, too; nil: there is none
	certificate *server.Certificate // from files; nil: there is none
	unusable    string              // why its files cannot be used since they have changed; "" if they can
	acme        *server.ACME        // by which the server gets its certificate; nil: it does not
	level       *logLevel
	supervisor  supervisor
	reread      func() (*settings, []string, error) // the settings as they are now; nil: they cannot be read again
	server      *server.Server
	drive       http.Handler // acts as the principal of the request's context
	operator    http.Handler // the drive for the control socket, as an administrator

	founded      bool
	password     string // of the administrator, if the first start generated one
	passwordFrom string // where it found one, else ""
}

// openApp locks and opens the data folder and wires the parts. Nothing runs
// yet: serve or during must follow.
func openApp(ctx context.Context, s *settings, logTo io.Writer) (_ *app, err error) {
	level, err := s.level()
	if err != nil {
		return nil, err
	}
	if fault := s.adminPasswordFault(); fault != "" && !s.existing {
		return nil, configError{errors.New(fault)} // before anything is made
	}
	a := &app{settings: s, level: newLogLevel(level)}
	a.log = newLogger(logTo, a.level)
	if a.unlock, err = lockFolder(s.data); err != nil {
		return nil, err
	}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.close())
	}
	if err := a.removeStories(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

func (a *app) open(ctx context.Context) error {
	var err error
	if err = a.openDatabase(ctx); err != nil {
		return err
	}
	if err = a.openContents(ctx); err != nil {
		return err
	}
	now, err := a.openClock(ctx)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	if a.traces, err = a.newTraces(ctx); err != nil {
		return err
	}
	observer, err := newObserver(registry, a.traces)
	if err != nil {
		return err
	}
	if a.disk, err = newDisk(a.settings.data, a.log, registry); err != nil {
		return err
	}
	if db, ok := a.db.(*postgres.DB); ok {
		a.disk.database, a.disk.lacks = db.TryRoom, db.LacksRoom
	}
	if a.told == nil {
		a.told = newServerWatch(a.log)
	}
	if a.backups, err = a.newBackups(registry); err != nil {
		return err
	}
	if err := a.measureCertificate(registry); err != nil {
		return err
	}
	outside, channels, err := a.openOutside()
	if err != nil {
		return err
	}
	zones := new(clock.Zones)
	links, err := a.settings.links()
	if err != nil {
		return err
	}
	if a.gateway.Mail != nil && !links.Absolute() && !a.settings.offline {
		a.log.Warn().Msg("mail: the links in mails are paths, which no mail program can follow; give the address of this server with --public-url")
	}
	versionsLast, err := a.settings.versionsLast()
	if err != nil {
		return err
	}
	a.engine = engine.New(engine.Config{
		Zones: zones.Zone, Zone: zones.Zone(a.settings.timezone), Links: links, Letter: a.gateway.Letter,
		Store: a.traces.stored(a.db), Blobs: a.contents, Clock: now, Wall: a.wall, Log: a.log, HashPassword: func(password string) (string, error) { return a.auth.Hash(password) }, JudgePassword: a.judge(), OwnAddress: a.ownAddress(channels.Mail), Sandbox: a.sandbox != nil,
		Limits: engine.Limits{
			Entries: a.settings.maxEntries, Routes: a.settings.maxRoutes, OpenCases: a.settings.maxOpenCases, Files: a.settings.maxFiles, Started: a.settings.maxStarted, FromOne: a.settings.maxFromOne, Mails: a.settings.maxMails, Notices: a.settings.maxNotices, Quota: int64(a.settings.quota),
			VersionsLast: versionsLast, Versions: int(a.settings.maxVersions),
		},
		Observer: observer, OnDamage: func(sum [32]byte, what string) { observer.damaged.Inc(); a.told.damaged(sum, what) }, State: a.serverState(), Nodes: a.nodes(), Filters: jqworker.New(a.settings.filterShare(), workerCommand),
		Player: a.player(), Outside: a.traces.outside(outside), Secret: a.gateway.Secrets.Text, Channels: channels, AnyCallback: a.settings.rehearsal, Address: server.AddressOf, Standing: server.Standing,
		CheckPassword: func(ctx context.Context, user identity.Name, password string) error {
			return a.auth.Confirm(ctx, string(user), password)
		},
	})
	a.told.engine = a.engine
	a.told.note(engine.ServerSettings, "") // it starts with those that there are
	a.disk.tell = func(what string) { a.told.note(engine.ServerDisk, what) }
	if a.heart, err = a.newHeartbeat(); err != nil {
		return err
	}
	a.figures = newFigures(a)
	if err := registry.Register(a.figures); err != nil {
		return err
	}
	a.auth = server.NewAuthenticator(a.engine.Accounts, time.Now, passwordCosts)
	if err := a.openDirectory(); err != nil {
		return err
	}
	a.drive = davfs.New(davfs.Config{
		Engine: davfs.EngineOf(a.engine), Clock: now, Log: a.log, Principal: server.PrincipalOf, WriteError: server.WriteError, Status: server.Status,
		ScriptClients: a.settings.scriptClients, PublicNames: a.settings.publicNames, Weigh: server.Weigh, Links: links, PageOf: web.PageOf,
	})
	a.operator = a.asOperator(a.drive)
	a.clock, a.zones = now, zones
	if err := a.wireServer(registry); err != nil {
		return err
	}
	a.answers.store, a.answers.provider, a.answers.directory = a.watchStore(), a.watchProvider(), a.watchDirectory()
	return nil
}

// openClock opens the sandbox's clock if there is a sandbox. It starts at the
// later of two instants: the one at which it was left, and the one that is
// asked for.
func (a *app) openClock(ctx context.Context) (engine.Clock, error) {
	start, err := a.settings.sandboxStart()
	if err != nil {
		return nil, err
	}
	own := engine.Clock(clock.Real{})
	if db, ok := a.db.(*postgres.DB); ok {
		own = databaseClock{db}
	}
	a.wall = own.Now
	if start.IsZero() && !a.settings.offline {
		return own, nil
	}
	kept, err := engine.SandboxClock(ctx, a.db)
	if err != nil {
		return nil, err
	}
	if kept.IsZero() {
		kept = start
	}
	if kept.IsZero() {
		return own, nil
	}
	a.sandbox = clock.NewSandbox(kept)
	return a.sandbox, nil
}

func (a *app) wireServer(registry *prometheus.Registry) error {
	proxies, err := a.settings.proxies()
	if err != nil {
		return err
	}
	cfg := server.Config{
		Log: a.log, Metrics: registry, Auth: a.auth, Audit: a.engine, Tracer: a.traces.requests(), Now: time.Now, Version: version(),
		Drive: a.disk.guard(a.drive), Ready: a.disk.ready(a.engine.Ready), Parts: a.parts, TrustedProxies: proxies, InsecureHTTP: a.settings.insecureHTTP,
		Memory: a.settings.memory(), Limits: a.settings.limits(), Names: a.settings.names(),
	}
	if a.peers != nil {
		cfg.LastAnswers, cfg.Drain = server.LastAnswers, nodeDrain // clients ask another node at once, which waits for this one
	}
	if a.sandbox != nil {
		cfg.Clock = &server.SandboxClock{Clock: a.sandbox, Engine: a.engine}
	}
	cfg.Events = &server.Events{Href: davfs.EventHref, Listen: func(by identity.Principal, last string) (server.EventStream, error) {
		stream, err := a.engine.Listen(by, last)
		if err != nil {
			return nil, err
		}
		return stream, nil
	}}
	cfg.Hooks = a.engine.Hooks
	cfg.Calendar = func(ctx context.Context, token string) (*server.CalendarFile, error) {
		res, err := a.engine.Calendars.CalendarAt(ctx, token)
		if err != nil {
			return nil, err
		}
		return &server.CalendarFile{Form: res.Form, ETag: res.FormETag, Modified: res.Modified}, nil
	}
	if err := a.openPages(&cfg); err != nil {
		return err
	}
	if err := a.openTLS(&cfg); err != nil {
		return err
	}
	a.server, err = server.New(cfg)
	return err
}

// asOperator serves the drive as an administrator. It also answers whether the
// server is up, and whether it is ready.
func (a *app) asOperator(drive http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/readyz": // it is up, whatever it can do
			w.WriteHeader(http.StatusNoContent)
			return
		case healthPath:
			if err := a.disk.ready(a.engine.Ready)(r.Context()); err != nil {
				server.WriteError(w, r, errs.New(errs.Unavailable, "The server is not ready: %v", err))
				return
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		by := a.engine.Accounts.Principal(a.engine.Accounts.PartyID(string(engine.Admin))).AsOperator(peerOf(r.Context()))
		drive.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), by)))
	})
}

// found fills an empty data folder.
func (a *app) found(ctx context.Context) error {
	var hash string
	empty, err := a.engine.Empty(ctx)
	if err != nil {
		return err
	}
	if empty && a.settings.existing {
		return fmt.Errorf("%s has no users yet: no server was ever started with it; \"flowdrive serve\" or \"flowdrive init\" makes them", a.settings.data)
	}
	if !empty {
		a.notePasswordNotUsed()
	}
	if empty {
		given, err := adminPasswordGiven()
		if err != nil {
			return configError{err}
		}
		password := given.text
		if a.passwordFrom = given.from; password == "" {
			password = store.NewUUID().String()[:20]
			a.password = password
		}
		if fault := adminPasswordFault(); fault != "" && a.sandbox == nil && a.password == "" {
			return configError{errors.New(fault)}
		}
		if hash, err = passwordCosts.Hash(password); err != nil {
			return fmt.Errorf("the administrator's password: %w", err)
		}
		// A hash takes 7 MiB on purpose. The server that is about to start
		// must not keep them.
		debug.FreeOSMemory()
	}
	var examples []route.Example
	if !a.settings.bare {
		examples = route.Examples()
	}
	documents := make([]engine.Example, len(examples))
	for i, e := range examples {
		documents[i] = engine.Example{Name: e.Name, YAML: e.YAML, Source: e.Source}
	}
	a.founded, err = a.engine.Found(ctx, a.clock.Now(), hash, documents)
	return err
}

// judge says which passwords users may have: in a sandbox, in which nothing is real, any.
func (a *app) judge() account.JudgePassword {
	if a.sandbox != nil {
		return nil
	}
	return password.Fault
}

// serve runs everything until ctx ends, and gives up on what does not end then.
func (a *app) serve(ctx context.Context, ready func() error, listeners ...net.Listener) error {
	ended, ending := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended) // a test that fails in ready ends this goroutine
		ended <- a.serveToEnd(ctx, ready, ending, listeners...)
	}()
	err := awaitEnd(ctx, ended, ending)
	if errors.Is(err, errNotEnded) {
		a.log.Error().Msg("server: giving up waiting for what has not ended")
	}
	return err
}

// serveToEnd runs everything until ctx ends: the writer first and longest, so
// that what is in flight can still be written. It closes ending when no more
// requests are served.
func (a *app) serveToEnd(ctx context.Context, ready func() error, ending chan<- struct{}, listeners ...net.Listener) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	group := newGroup()
	stopWriter := group.start(a.db.Run)
	defer func() {
		stopWriter()
		err = errors.Join(err, group.wait())
	}()
	if err := a.prepare(ctx); err != nil {
		return err
	}
	a.comeBack(ctx)
	inner := newGroup()
	stopSweeper := func() {}
	if !a.settings.offline {
		a.forgetUnset()
		parts := []func(context.Context) error{a.live, a.engine.Run, a.disk.run, a.backups.run, a.heart.run, a.answers.store.run, a.answers.provider.run, a.answers.directory.run, a.newClockWatch().run, a.watch, a.told.run, a.verifyAudit, a.followCertificate}
		if a.acme != nil {
			parts = append(parts, a.acme.Run)
		}
		stopSweeper = inner.startAll(parts...)
	}
	stopControl, err := a.startControl(ctx, inner)
	if err != nil {
		stopSweeper()
		return errors.Join(err, inner.wait())
	}
	if ready != nil {
		err = ready()
	}
	if err == nil && len(listeners) > 0 {
		err = a.server.Run(ctx, listeners...)
	}
	close(ending)
	stopControl()
	stopSweeper()
	return errors.Join(err, inner.wait())
}

// prepare does what must be done before requests are served.
func (a *app) prepare(ctx context.Context) error {
	if err := a.found(ctx); err != nil {
		return err
	}
	if err := a.engine.Load(ctx); err != nil {
		return err
	}
	if err := a.warnOfTeams(); err != nil {
		return err
	}
	if a.sandbox == nil || a.settings.offline {
		return nil
	}
	start, err := a.settings.sandboxStart()
	if err != nil {
		return err
	}
	target := func(now time.Time) (time.Time, error) {
		if start.Before(now) {
			return now, nil
		}
		return start, nil
	}
	for {
		done, err := a.engine.Advance(ctx, target, a.sandbox.Set)
		if err != nil || done.Complete {
			return err
		}
	}
}

// during runs f while the control socket is served, without listening on
// the network.
func (a *app) during(ctx context.Context, f func() error) error {
	return a.serve(ctx, f)
}

func (a *app) close() error {
	var err error
	a.traces.close()
	if a.gateway != nil {
		a.gateway.Close()
	}
	if a.rows != nil {
		a.rows.Close()
	}
	if a.peers != nil {
		_ = a.peers.Close() // mostly for the second time
	}
	if a.db != nil {
		err = a.db.Close()
	}
	if err == nil && (a.db != nil || !a.unclean) {
		err = removeIfThere(filepath.Join(a.settings.data, runningName))
	}
	return errors.Join(err, a.unlock())
}

// group runs services, each until it is stopped, and collects how they
// ended.
type group struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	err error
}

func newGroup() *group { return &group{} }

// start runs the service; stop ends it.
func (g *group) start(service func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	g.wg.Go(func() {
		err := service(ctx)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.err = errors.Join(g.err, err)
	})
	return cancel
}

// startAll runs several services; stop ends them.
func (g *group) startAll(services ...func(context.Context) error) (stop func()) {
	var stops []func()
	for _, service := range services {
		stops = append(stops, g.start(service))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func (g *group) wait() error {
	g.wg.Wait()
	return g.err
}

// newLogger writes for people on a terminal, JSON elsewhere.
func newLogger(to io.Writer, level *logLevel) zerolog.Logger {
	if f, ok := to.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		to = zerolog.ConsoleWriter{Out: to, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(to).Sample(level).With().Timestamp().Logger()
}

var (
	_ server.Accounts = (*account.Accounts)(nil)
	_ server.Auditor  = (*engine.Engine)(nil)
)
