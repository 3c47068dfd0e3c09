package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/server"
	"flowdrive/store"
	"flowdrive/store/postgres"
	"flowdrive/store/sqlite"
)

// database is what the program needs of a store beside what the engine does.
type database interface {
	store.Store
	Run(ctx context.Context) error
	Close() error
}

// databaseSettings are those of a PostgreSQL database.
type databaseSettings struct {
	address      string
	direct       string
	password     secretFlag
	passwordFile string
	node         string
	nodeAddr     string
	started      time.Time // when this node was
	retries      int64     // how often the database did not answer
	waiting      *postgres.Waiting
}

func (s *databaseSettings) register(flags *pflag.FlagSet) {
	flags.StringVar(&s.address, "db", "", "URL of a PostgreSQL database, such as postgres://flowdrive@db1,db2/flow (default: SQLite in the data folder)")
	flags.StringVar(&s.direct, "db-direct", "", "URL of the same database past PgBouncer, for what needs a session, such as the lock of the active node\n(default: --db; needed if --db has default_query_exec_mode=exec)")
	flags.Var(&s.password, "db-password", "password for --db (configuration file or environment)")
	flags.StringVar(&s.passwordFile, "db-password-file", "", "file with the password for --db (default: PGPASSWORD or .pgpass)")
	flags.StringVar(&s.node, "node", "", "name of this node among those of --db (default: the name of the machine, and the port)")
	flags.StringVar(&s.nodeAddr, "node-addr", "", "host and port on which the other nodes of --db reach this one (default: any port of the host\nof --addr, or of the address by which this node reaches the database)")
}

// registerRead registers the flags of commands that read a database.
func (s *databaseSettings) registerRead(flags *pflag.FlagSet) {
	flags.StringVar(&s.address, "db", "", "URL of a PostgreSQL database (default: the data folder)")
	flags.Var(&s.password, "db-password", "password for --db (configuration file or environment)")
	flags.StringVar(&s.passwordFile, "db-password-file", "", "file with the password for --db (default: PGPASSWORD or .pgpass)")
}

// fault says what is wrong with the settings.
func (s *databaseSettings) fault() error {
	if s.address == "" {
		if s.password.text != "" || s.passwordFile != "" || s.node != "" || s.nodeAddr != "" || s.direct != "" {
			return configError{errors.New("--db is missing; without it --db-direct, --db-password, --db-password-file, --node and --node-addr have no effect")}
		}
		return nil
	}
	if host, _, err := net.SplitHostPort(s.nodeAddr); s.nodeAddr != "" && (err != nil || host == "") {
		return configError{fmt.Errorf("--node-addr: %q is not a host and a port by which other machines reach this one, such as 10.0.0.1:8081", s.nodeAddr)}
	}
	if s.node != filename.Safe(s.node) {
		return configError{fmt.Errorf("--node: %q is not a valid name: it names a file in Admin/Nodes/", s.node)}
	}
	for _, given := range []struct{ flag, address string }{{"--db", s.address}, {"--db-direct", s.direct}} {
		if given.address == "" {
			continue
		}
		if postgres.IsAddress(given.address) && postgres.HasPassword(given.address) {
			return configError{fmt.Errorf("%s: %s has a password in it, which others could read; give it by --db-password-file, FLOWDRIVE_DB_PASSWORD, PGPASSWORD or .pgpass", given.flag, postgres.Redacted(given.address))}
		}
		if err := postgres.CheckAddress(given.address); err != nil {
			return configError{fmt.Errorf("%s: %w", given.flag, err)}
		}
	}
	_, err := s.secret()
	return err
}

// secret returns the password, "" if it is found elsewhere.
func (s *databaseSettings) secret() (string, error) {
	if s.passwordFile == "" {
		return s.password.text, nil
	}
	if s.password.text != "" {
		return "", configError{errors.New("--db-password-file: give the password by it or by --db-password, not by both")}
	}
	password, err := readSecretFile(s.passwordFile)
	if err != nil {
		return "", configError{fmt.Errorf("--db-password-file: %w", err)}
	}
	return password, nil
}

// openPostgres opens the database of --db, as the active node.
func (a *app) openPostgres(ctx context.Context) error {
	s := &a.settings.database
	password, err := s.secret()
	if err != nil {
		return err
	}
	name, err := a.settings.nodeName()
	if err != nil {
		return err
	}
	o := postgres.Options{Address: s.address, Direct: s.direct, Password: password, Node: name, Answer: answerWithin, Now: time.Now, Version: version(), Started: s.started, Retries: s.retries, Waiting: s.waiting}
	if !a.settings.offline {
		o.Offer = func(local net.Addr) (*postgres.Leader, error) { return a.offer(ctx, local) }
	}
	db, err := postgres.Open(ctx, o)
	if err != nil {
		return err
	}
	a.db, a.lost, a.cause = db, db.Lost, db.Cause
	return nil
}

// offer listens for what other nodes pass on, and returns how they reach it. local is the
// address by which this node reaches the database.
func (a *app) offer(ctx context.Context, local net.Addr) (*postgres.Leader, error) {
	host, port := "127.0.0.1", "0" // if the database is on this machine
	if tcp, ok := local.(*net.TCPAddr); ok {
		host = tcp.IP.String()
	}
	if own, _, err := net.SplitHostPort(a.settings.addr); err == nil && own != "" {
		if ip := net.ParseIP(own); ip == nil || !ip.IsUnspecified() {
			host = own
		}
	}
	if a.settings.database.nodeAddr != "" {
		var err error
		if host, port, err = net.SplitHostPort(a.settings.database.nodeAddr); err != nil {
			return nil, configError{fmt.Errorf("--node-addr: %w", err)}
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, configError{fmt.Errorf("listen for other nodes; --node-addr says where: %w", err)}
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, closing(l, err)
	}
	way, err := server.NewPeerWay(net.JoinHostPort(host, port))
	if err != nil {
		return nil, closing(l, err)
	}
	if a.peers, err = server.ListenToPeers(l, way); err != nil {
		return nil, err
	}
	a.way = way
	return (*postgres.Leader)(way), nil
}

// databaseClock is the clock of the database that nodes share, whatever those of their
// machines show.
type databaseClock struct{ db *postgres.DB }

// Now returns the present instant, as clock.Real does.
func (c databaseClock) Now() time.Time { return clock.Trim(time.Now().Add(-c.db.Ahead())) }

// nodes returns what tells of the nodes of the database: of PostgreSQL what each has said,
// of SQLite the only one.
func (a *app) nodes() func(context.Context) ([]engine.NodeState, error) {
	if db, ok := a.db.(*postgres.DB); ok {
		return func(ctx context.Context) (states []engine.NodeState, err error) {
			nodes, err := db.Nodes(ctx)
			for _, n := range nodes {
				states = append(states, engine.NodeState{
					Name: n.Name, Version: n.Version, Schema: n.Schema, Started: n.Started, LastSeen: n.LastSeen,
					Offset: n.Offset.Milliseconds(), Leases: n.Leases, Pool: n.Pool, Retries: n.Retries,
				})
			}
			return states, err
		}
	}
	started, connections := time.Now(), 0
	if db, ok := a.db.(*sqlite.DB); ok {
		connections = db.Connections()
	}
	return func(context.Context) ([]engine.NodeState, error) {
		name, err := a.settings.nodeName()
		if err != nil {
			return nil, err
		}
		newest, err := sqlite.NewestSchema()
		return []engine.NodeState{{Name: name, Version: version(), Schema: newest, Started: started, LastSeen: time.Now(), Leases: 1, Pool: int64(connections)}}, err
	}
}

// nodeName returns the name of this node: the given one, else that of the machine with
// the port that it listens on.
func (s *settings) nodeName() (string, error) {
	if s.database.node != "" {
		return s.database.node, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the name of the machine: %w", err)
	}
	if _, port, err := net.SplitHostPort(s.addr); err == nil {
		host += "-" + port
	}
	return host, nil
}

const (
	// answerWithin is within which a database must answer: then a client is told that it
	// does not.
	answerWithin = 4 * time.Second
	// lookAgain is how long a node waits until it looks again whether it can be active.
	lookAgain = 2 * time.Second
	// nodeDrain is how long requests in flight may go on when the active node stops: no other one
	// is active meanwhile.
	nodeDrain = 5 * time.Second
	// tellAgain is after how long a node that still cannot be active logs why.
	tellAgain = time.Hour
)

// Why a node that stands by does not pass a request on.
const (
	databaseAway = "The database does not answer."
	contentsAway = "The store of contents does not answer." // no node can begin to keep contents in it
	databaseRead = "The database takes no changes: it is a replica of another one, or was set to be read-only."
	unreached    = "The active node cannot be reached."
)

// nodeServer serves as one of several nodes on a database: as the active one, or standing
// by.
type nodeServer struct {
	cmd      *cobra.Command
	settings *settings
	log      zerolog.Logger
	listener *sharedListener
	why      atomic.Pointer[string] // what keeps it from being active, for /readyz
	told     map[string]time.Time   // when each reason was logged, since it was last the active one
	passing  sync.WaitGroup         // of what still passes on requests
	lostAt   time.Time              // when it ceased to be the active one
	away     time.Time              // since when the database does not answer; zero: it does
	greeted  bool
}

// serveNode serves until ctx ends. What ends this node's time as the active one, such as a
// database that does not answer, ends nothing else: it stands by, and begins anew.
func serveNode(cmd *cobra.Command, s *settings, listener net.Listener) error {
	level, err := s.level()
	if err != nil {
		return closing(listener, err)
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return closing(listener, fmt.Errorf("listen: %T is not a listener on TCP", listener))
	}
	n := &nodeServer{cmd: cmd, settings: s, log: newLogger(cmd.ErrOrStderr(), newLogLevel(level)), listener: &sharedListener{TCPListener: tcp}}
	server.CatchLibraryLog(n.log)
	n.because("The node is starting.", n.log.Info(), "node: starting")
	n.settings.database.started, n.settings.database.waiting = time.Now(), &postgres.Waiting{}
	defer func() { _ = n.settings.database.waiting.Close() }() // the server ends it otherwise
	if !cmd.Flags().Changed("data") {                          // nothing that must stay is in it
		if s.data, err = os.MkdirTemp("", "flowdrive-node-"); err != nil {
			return closing(listener, fmt.Errorf("make a folder for what is on its way: %w", err))
		}
		defer func() { _ = os.RemoveAll(s.data) }() // the system clears it away if this cannot
	}
	scheme := "http"
	if s.tlsCert != "" {
		scheme = "https"
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Listening on %s://%s/, one of the nodes of its database.\n", scheme, listener.Addr()); err != nil {
		return closing(listener, err)
	}
	return closing(listener, n.serve(cmd.Context()))
}

func (n *nodeServer) serve(ctx context.Context) error {
	defer n.passing.Wait()
	for ctx.Err() == nil {
		a, err := n.standBy(ctx)
		if a == nil || err != nil {
			return err
		}
		if err := n.beActive(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// because notes what keeps the node from being active, and logs the event if that is new.
// A node that waits tries every other moment, and finds others that try, too: each reason is
// new again after an hour, or when it has been the active one.
func (n *nodeServer) because(why string, event *zerolog.Event, message string) {
	n.why.Store(&why)
	now := time.Now()
	if was, told := n.told[message]; told && now.Sub(was) < tellAgain {
		event.Discard()
		return
	}
	if n.told == nil {
		n.told = map[string]time.Time{}
	}
	n.told[message] = now
	event.Msg(message)
}

// tellAway logs that the database does not answer, at the begin of each time it is away.
func (n *nodeServer) tellAway(err error) {
	const message = "node: the database does not answer; waiting for it"
	if n.away.IsZero() {
		if n.away = time.Now(); !n.lostAt.IsZero() {
			n.away = n.lostAt // it has been away since then
		}
		delete(n.told, message)
	}
	n.settings.database.retries++
	// The error tells a name or a port that is wrong from a server that is down.
	n.because(databaseAway, n.log.Warn().Err(err), message)
}

// tellBack logs that the database answers again if it did not.
func (n *nodeServer) tellBack() {
	if !n.away.IsZero() {
		n.log.Info().Stringer("after", time.Since(n.away).Round(time.Second/10)).Msg("node: the database answers again")
	}
	n.away, n.lostAt = time.Time{}, time.Time{}
}

// standBy passes requests on to the active node until this one can be that, which it
// returns opened, nil if ctx ended before.
func (n *nodeServer) standBy(ctx context.Context) (*app, error) {
	passing, stop, err := n.passRequests(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	stopControl, err := n.serveControl(ctx)
	if err != nil {
		return nil, err
	}
	defer stopControl()
	if err := (supervisor{}).ready(); err != nil {
		return nil, err
	}
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		a, err := openApp(ctx, n.settings, n.cmd.ErrOrStderr())
		switch {
		case err == nil:
			n.tellBack()
			passing.Follow(a.way) // what waits is served by this node
			return a, nil
		case ctx.Err() != nil:
			return nil, nil
		case errors.Is(err, postgres.ErrStandby):
			n.tellBack()
			n.because(unreached, n.log.Info(), "node: standing by, another node is active")
			passing.Follow((*server.PeerWay)(postgres.LeaderOf(err)))
		case postgres.IsRefusal(err):
			return nil, configError{err}
		case isUnclaimed(err):
			n.tellBack()
			n.because(contentsAway, n.log.Warn().Err(err), "node: the store of contents does not answer; waiting for it")
		case postgres.IsFull(err):
			n.tellBack()
			n.because(databaseFull, n.log.Error().Err(err), "node: the disk of the database is full; waiting for room")
		case postgres.IsReadOnly(err):
			n.tellBack()
			n.because(databaseRead, n.log.Error().Err(err), "node: the database takes no changes; promote it, give the address of the one that does, or set default_transaction_read_only to off; waiting for it")
		case errs.Is(err, errs.Unavailable):
			n.tellAway(err)
		default:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-ticker.C:
		}
	}
}

// passRequests serves, on the listener, what the active node answers, until stop is called.
// The listener is free then; requests that are under way go on.
func (n *nodeServer) passRequests(ctx context.Context) (passing *server.Standby, stop func(), err error) {
	l, err := n.listener.turn()
	if err != nil {
		return nil, nil, err
	}
	proxies, err := n.settings.proxies()
	if err != nil {
		return nil, nil, closing(l, err)
	}
	cfg := server.StandbyConfig{
		InsecureHTTP: n.settings.insecureHTTP, TrustedProxies: proxies, Limits: n.settings.limits(), Log: n.log,
		Why: func() string { return *n.why.Load() },
	}
	if n.settings.tlsCert != "" {
		certificate, err := server.LoadCertificate(n.settings.tlsCert, n.settings.tlsKey)
		if err != nil {
			return nil, nil, closing(l, err)
		}
		cfg.TLS = certificate.TLSConfig()
	}
	passing = server.NewStandby(cfg)
	serving, end := context.WithCancel(ctx)
	n.passing.Go(func() {
		if err := passing.Run(serving, l); err != nil {
			n.log.Warn().Err(err).Msg("node: passing requests on")
		}
	})
	return passing, func() {
		end()
		<-passing.Released()
	}, nil
}

// beActive serves as the active node until ctx ends or the database is lost, which is no
// error.
func (n *nodeServer) beActive(ctx context.Context, a *app) error {
	listener, err := n.listener.turn()
	if err != nil {
		return errors.Join(err, a.close())
	}
	active, end := context.WithCancel(ctx)
	defer end()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-a.lost():
			n.lostAt = time.Now()
			a.log.Warn().Err(a.cause()).Msg("node: the database is lost; standing by")
			end()
		case <-active.Done():
		}
	}()
	n.why.Store(new(databaseAway))
	n.told = nil
	a.log.Info().Str("node", a.settings.database.node).Msg("node: active")
	err = serveApp(active, n.cmd, a, listener, &n.greeted)
	end()
	<-watched
	select {
	case <-a.lost():
		if err != nil {
			a.log.Debug().Err(err).Msg("node: what ended with the database")
		}
		return nil
	default:
	}
	if errs.Is(err, errs.Unavailable) {
		n.log.Warn().Err(err).Msg("node: the database does not answer; standing by")
		return nil
	}
	return err
}

// sharedListener is a listener that several servers use, one after the other: what one
// closes is only its turn.
type sharedListener struct{ *net.TCPListener }

// turn returns a listener for the next server.
func (s *sharedListener) turn() (net.Listener, error) {
	if err := s.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return &listenerTurn{TCPListener: s.TCPListener}, nil
}

type listenerTurn struct {
	*net.TCPListener
	over atomic.Bool
}

// Accept implements net.Listener.
func (t *listenerTurn) Accept() (net.Conn, error) {
	if t.over.Load() {
		return nil, net.ErrClosed
	}
	c, err := t.TCPListener.Accept()
	if err != nil && t.over.Load() {
		return nil, net.ErrClosed
	}
	return c, err
}

// Close ends the turn: an Accept that waits returns.
func (t *listenerTurn) Close() error {
	if t.over.Swap(true) {
		return nil
	}
	return t.SetDeadline(time.Unix(1, 0))
}
