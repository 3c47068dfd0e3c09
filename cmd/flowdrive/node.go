package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/internal/errs"
	"flowdrive/server"
	"flowdrive/store"
	"flowdrive/store/postgres"
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
	password     secretFlag
	passwordFile string
	node         string
}

func (s *databaseSettings) register(flags *pflag.FlagSet) {
	flags.StringVar(&s.address, "db", "", "URL of a PostgreSQL database, such as postgres://flowdrive@db1,db2/flow (default: SQLite in the data folder)")
	flags.Var(&s.password, "db-password", "password for --db (configuration file or environment)")
	flags.StringVar(&s.passwordFile, "db-password-file", "", "file with the password for --db (default: PGPASSWORD or .pgpass)")
	flags.StringVar(&s.node, "node", "", "name of this node among those of --db (default: the name of the machine)")
}

// fault says what is wrong with the settings.
func (s *databaseSettings) fault() error {
	if s.address == "" {
		if s.password.text != "" || s.passwordFile != "" || s.node != "" {
			return usageError{errors.New("--db is missing; without it --db-password, --db-password-file and --node have no effect")}
		}
		return nil
	}
	if postgres.IsAddress(s.address) && postgres.HasPassword(s.address) {
		return usageError{fmt.Errorf("--db: %s has a password in it, which others could read; give it by --db-password-file, FLOWDRIVE_DB_PASSWORD, PGPASSWORD or .pgpass", postgres.Redacted(s.address))}
	}
	if err := postgres.CheckAddress(s.address); err != nil {
		return usageError{fmt.Errorf("--db: %w", err)}
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
		return "", usageError{errors.New("--db-password-file: give the password by it or by --db-password, not by both")}
	}
	password, err := readSecretFile(s.passwordFile)
	if err != nil {
		return "", usageError{fmt.Errorf("--db-password-file: %w", err)}
	}
	return password, nil
}

// openPostgres opens the database of --db, as the active node.
func (a *app) openPostgres(ctx context.Context) error {
	s := a.settings.database
	password, err := s.secret()
	if err != nil {
		return err
	}
	if s.node == "" {
		if s.node, err = os.Hostname(); err != nil {
			return fmt.Errorf("find the name of the machine: %w", err)
		}
	}
	db, err := postgres.Open(ctx, postgres.Options{Address: s.address, Password: password, Node: s.node, Answer: answerWithin, Now: time.Now})
	if err != nil {
		return err
	}
	a.db, a.lost = db, db.Lost
	return nil
}

const (
	// answerWithin is within which a database must answer: then a client is told that it
	// does not.
	answerWithin = 4 * time.Second
	// lookAgain is how long a node waits until it looks again whether it can be active.
	lookAgain = time.Second
	// refuseWithin is how long requests may take that are refused.
	refuseWithin = time.Second
)

// nodeServer serves as one of several nodes on a database: as the active one, or standing
// by.
type nodeServer struct {
	cmd      *cobra.Command
	settings *settings
	log      zerolog.Logger
	listener *sharedListener
	why      atomic.Pointer[string] // what keeps it from being active, for /readyz
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
	n.because("The node is starting.")
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

// because notes what keeps the node from being active, and logs it if it is new.
func (n *nodeServer) because(why string) {
	if was := n.why.Swap(&why); was == nil || *was != why {
		n.log.Info().Str("why", why).Msg("node: standing by")
	}
}

// standBy answers requests with 503 until the node can be the active one, which it returns
// opened, nil if ctx ended before.
func (n *nodeServer) standBy(ctx context.Context) (*app, error) {
	serving, err := n.refuseRequests()
	if err != nil {
		return nil, err
	}
	defer serving()
	if err := (supervisor{}).ready(); err != nil {
		return nil, err
	}
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		a, err := openApp(ctx, n.settings, n.cmd.ErrOrStderr())
		switch {
		case err == nil:
			return a, nil
		case ctx.Err() != nil:
			return nil, nil
		case errors.Is(err, postgres.ErrStandby):
			n.because("Another node is active; this one stands by.")
		case postgres.IsRefusal(err):
			return nil, configError{err}
		case errs.Is(err, errs.Unavailable):
			n.log.Debug().Err(err).Msg("node: the database")
			n.because("The database does not answer.")
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

// refuseRequests serves, on the listener, that this node is not active, until what it
// returns is called.
func (n *nodeServer) refuseRequests() (stop func(), err error) {
	l, err := n.listener.turn()
	if err != nil {
		return nil, err
	}
	hs := &http.Server{Handler: http.HandlerFunc(n.refuse), ReadHeaderTimeout: 10 * time.Second}
	serve := hs.Serve
	if n.settings.tlsCert != "" {
		certificate, err := server.LoadCertificate(n.settings.tlsCert, n.settings.tlsKey)
		if err != nil {
			return nil, err
		}
		hs.TLSConfig = certificate.TLSConfig()
		serve = func(l net.Listener) error { return hs.ServeTLS(l, "", "") }
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serve(l) // it was closed
	}()
	return func() {
		patient, cancel := context.WithTimeout(context.Background(), refuseWithin)
		defer cancel()
		if hs.Shutdown(patient) != nil {
			_ = hs.Close() // what is left are requests that never end
		}
		<-ended
	}, nil
}

// refuse answers one request: it is here, and not ready.
func (n *nodeServer) refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close") // the next one may be for the active node
	if r.URL.Path == "/healthz" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
		return
	}
	server.WriteError(w, r, &errs.Error{
		Kind: errs.Unavailable, Detail: *n.why.Load() + " Nothing was stored; try again in a moment.",
		Extra: map[string]any{server.ExtraRetryAfter: 1},
	})
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
			a.log.Warn().Msg("node: the database is lost; standing by")
			end()
		case <-active.Done():
		}
	}()
	away := "The database does not answer."
	n.why.Store(&away)
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
		n.because("The database does not answer.")
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
