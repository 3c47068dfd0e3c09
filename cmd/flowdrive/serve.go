package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"flowdrive/server"
)

func serveCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server; the first start makes the data folder",
		Long: "Runs the server until it is interrupted. The first start makes the data\n" +
			"folder with its database, the user admin, the team core and the example routes.\n" +
			adminPasswordHelp + "\n" +
			"It exits with 0 once it was stopped in order, 78 if a setting cannot be used, 75 if\n" +
			"something was cut off when it was stopped, and 1 if it failed.",
		Args: cobra.NoArgs,
		// The command reads the settings itself, to say everything that is wrong.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.faults(cmd); err != nil {
				return err
			}
			if err := placed(cmd.Flags(), s.certificateErr()); err != nil {
				return err // a mistake in its path founds no installation
			}
			listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", s.addr)
			if err != nil {
				return cannotListen(err)
			}
			if s.database.address != "" {
				return serveNode(cmd, &s, listener)
			}
			a, err := openApp(cmd.Context(), &s, cmd.ErrOrStderr())
			if err != nil {
				return closing(listener, err)
			}
			return serveApp(cmd.Context(), cmd, a, listener, new(bool))
		},
	}
	s.register(cmd.Flags())
	return cmd
}

// cannotListen says why the server cannot listen, and what to do if another program does.
func cannotListen(err error) error {
	advice := ""
	if errors.Is(err, syscall.EADDRINUSE) {
		advice = "; choose another with --addr"
	}
	at := "listen"
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		at, err = "listen on "+op.Addr.String(), op.Err
	}
	return fmt.Errorf("%s: %w%s", at, err, advice)
}

// serveApp serves until ctx ends. It greets unless that was done before.
func serveApp(ctx context.Context, cmd *cobra.Command, a *app, listener net.Listener, greeted *bool) error {
	server.CatchLibraryLog(a.log)
	for _, text := range unknownVariables(cmd.Root(), os.Environ()) {
		a.log.Warn().Msg("settings: " + text)
	}
	if text := readableSecrets(cmd.Flags()); text != "" {
		a.log.Warn().Msg("settings: " + text)
	}
	a.reread = func() (*settings, []string, error) { return reread(cmd) }
	defer a.catchReloads(ctx)()
	defer context.AfterFunc(cmd.Context(), func() { _ = a.supervisor.stopping() })() // systemd sees the end, too
	return a.serve(ctx, func() error {
		if *greeted {
			return nil
		}
		*greeted = true
		if err := releaseStartPages(); err != nil {
			a.log.Debug().Err(err).Msg("memory: the pages of the start stay mapped")
		}
		a.log.Info().Str("version", version()).Stringer("address", listener.Addr()).Str("data", a.settings.data).Msg("server: ready")
		if why := a.engine.Untold(); why != "" && a.sandbox == nil {
			a.log.Warn().Msg("notices: " + why)
		}
		return errors.Join(a.greet(cmd.OutOrStdout(), listener.Addr()), a.supervisor.ready())
	}, a.with(listener)...)
}

// with returns a listener with that for other nodes, if there are others.
func (a *app) with(l net.Listener) []net.Listener {
	if a.peers == nil {
		return []net.Listener{l}
	}
	return []net.Listener{l, a.peers}
}

func closing(c io.Closer, err error) error {
	if closeErr := c.Close(); closeErr != nil {
		return fmt.Errorf("%w (and %w)", err, closeErr)
	}
	return err
}

// greet prints where the pages are, and what to open, mount and curl.
func (a *app) greet(out io.Writer, addr net.Addr) error {
	scheme, dav := "http", "dav"
	if a.settings.secure() {
		scheme, dav = "https", "davs"
	}
	host := reachable(addr)
	pages := fmt.Sprintf("%s://%s/", scheme, host)
	url := pages + "dav/"
	login := "admin" // curl asks for the password
	if a.password != "" {
		login = fmt.Sprintf("admin:'%s'", a.password)
	}
	b := []byte(a.news())
	if a.sandbox != nil {
		b = fmt.Appendf(b, "Sandbox: the clock stands at %s until POST /clock moves it.\n", a.sandbox.Now().Format("2006-01-02T15:04:05Z"))
	}
	b = fmt.Appendf(b, "\n  pages  %s\n  open   %s\n  mount  %s://admin@%s/dav/\n  curl   curl -u %s %sWorkflow/Schedule/.contents\n\n", pages, url, dav, host, login, url)
	_, err := out.Write(b)
	return err
}

// reachable returns the host and port at which a client on this machine finds a listener
// at addr: a listener on all addresses has none that a client could be given.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

// news says what was created, if the data folder is new.
func (a *app) news() string {
	if !a.founded {
		return ""
	}
	made := "the data folder " + a.settings.data
	if a.settings.database.address != "" {
		made = "the tables of the database"
	}
	text := fmt.Sprintf("Made %s with the user admin, the team core and the example routes.\n", made)
	if a.password == "" {
		return text + fmt.Sprintf("The password of admin is the one in %s.\n", a.passwordFrom)
	}
	return text + fmt.Sprintf("The password of admin is %s (it is not shown again).\n", a.password)
}
