// Package remote has the commands that speak to a server over HTTP, as a user of it. They
// are a layer over package client: what they add is arguments, tables, prompts and exit
// codes.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

// Exit codes beside 0 for success, 1 for a failure and 2 for wrong use.
const (
	exitDenied      = 3
	exitCanceled    = 4
	exitFailed      = 5
	exitNotAllowed  = 6
	exitNotFound    = 7
	exitConflict    = 8
	exitUnreachable = 9
)

// Env is what the commands need of the machine.
type Env struct {
	Getenv   func(string) string
	Version  string
	Now      func() time.Time
	Zone     func() string                    // the machine's time zone, or empty
	Profiles func() (client.Profiles, error)  // where log-ins are kept
	Usage    func(error) error                // makes an error one of wrong use
	Files    func(string) (*os.File, error)   // opens a file of the machine
	Write    func(string, []byte, bool) error // writes a file of the machine; false: only a new one
}

// Machine returns the Env of this machine.
func Machine(version string, now func() time.Time, usage func(error) error) *Env {
	return &Env{
		Getenv: os.Getenv, Version: version, Now: now, Zone: machineZone, Profiles: client.UserProfiles, Usage: usage,
		Files: os.Open, Write: writeFile,
	}
}

func writeFile(name string, data []byte, overwrite bool) (err error) {
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !overwrite {
		mode = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(name, mode, 0o644) //nolint:gosec // a document of the user, with the modes that files have
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// codedError is an error with an exit code of its own.
type codedError struct {
	error

	code int
}

func (e codedError) Unwrap() error { return e.error }

// ExitCode returns the exit code of an error of a command of this package.
func ExitCode(err error) (code int, ok bool) {
	if coded, ok := errors.AsType[codedError](err); ok {
		return coded.code, true
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		return exitUnreachable, true
	}
	p, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return 0, false
	}
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return exitNotAllowed, true
	case http.StatusNotFound, http.StatusGone:
		return exitNotFound, true
	case http.StatusConflict, http.StatusPreconditionFailed, http.StatusLocked:
		return exitConflict, true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return exitUnreachable, true
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		if p.MissingReference() {
			return exitNotFound, true
		}
	}
	return 1, true
}

// ofFlags gives the faults of a document the names of the flags and arguments that its fields
// were made of, by field: nobody has seen the document or its lines.
func ofFlags(err error, flags map[string]string) error {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return err
	}
	code, _ := ExitCode(err) // by the fields
	for i, f := range p.Faults {
		placed := f.String()
		top, below, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
		if flag := flags[top]; flag == "--set" && below != "" {
			p.Faults[i].Pointer = flag + " " + field(f.Pointer)
		} else if flag != "" {
			p.Faults[i].Pointer = flag
		}
		p.Faults[i].Line, p.Faults[i].Column = 0, 0
		p.Detail = strings.ReplaceAll(p.Detail, placed, p.Faults[i].String())
	}
	return codedError{err, code}
}

// Commands returns the commands that stand for themselves.
func (e *Env) Commands() []*cobra.Command {
	all := []*cobra.Command{
		e.login(), e.logout(), e.ls(), e.cat(), e.put(), e.cp(), e.mv(), e.rm(), e.mountHelp(),
		e.tasks(), e.do(), e.start(), e.cases(), e.show(), e.log(), e.message("input"), e.message("output"), e.timer(), e.watch(), e.status(),
	}
	return append(append(all, e.taskCommands()...), e.caseCommands()...)
}

// session is one run of a command.
type session struct {
	*client.Client
	output.Printer

	env *Env
	cmd *cobra.Command
	in  *bufferedInput
	err io.Writer
	now time.Time // the server's, as soon as somebody has asked

	zone      *time.Location // the user's own, or nil
	zoneAsked bool
	shownIn   *time.Location // the zone of times in tables, as soon as one was shown
}

// action is what a command does.
type action func(ctx context.Context, s *session, args []string) error

// command makes a command of the server's user. Its flags come from the command line alone:
// the settings of the server are no business of a client.
func (e *Env) command(c *cobra.Command, run action) *cobra.Command {
	return e.bare(c, func(ctx context.Context, s *session, args []string) error {
		var err error
		if s.Client, err = s.connect(); err != nil {
			return err
		}
		return run(ctx, s, args)
	})
}

// bare makes a command that does not log in by itself.
func (e *Env) bare(c *cobra.Command, run action) *cobra.Command {
	c.Flags().String("profile", "", "which log-in to use, if you have several (FLOWDRIVE_PROFILE)")
	if err := c.RegisterFlagCompletionFunc("profile", e.completeProfile); err != nil {
		panic(err) // the flag is there, and this is its only completion
	}
	c.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	c.Annotations = map[string]string{Annotation: ""}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s := &session{env: e, cmd: cmd, in: &bufferedInput{from: cmd.InOrStdin()}, err: cmd.ErrOrStderr()}
		var err error
		if s.Printer, err = output.NewPrinter(cmd, e.Getenv); err != nil {
			return e.Usage(err)
		}
		return run(cmd.Context(), s, args)
	}
	return c
}

// Annotation marks the commands of this package: their flags are not settings.
const Annotation = "flowdrive/remote"

func (s *session) profileName() string {
	name, _ := s.cmd.Flags().GetString("profile")
	if name == "" {
		name = s.env.Getenv("FLOWDRIVE_PROFILE")
	}
	if name == "" {
		return client.DefaultProfile
	}
	return name
}

// connect returns a client for the profile, or for what the environment says.
func (s *session) connect() (*client.Client, error) {
	profiles, err := s.env.Profiles()
	if err != nil {
		return nil, err
	}
	p, err := profiles.Load(s.profileName())
	missing := errors.Is(err, client.ErrNoProfile)
	if err != nil && !missing {
		return nil, err
	}
	s.override(&p)
	if p.URL == "" {
		return nil, codedError{fmt.Errorf("you are not logged in (%s): flowdrive login https://flow.example.org, or set FLOWDRIVE_URL, FLOWDRIVE_USER and FLOWDRIVE_PASSWORD", s.profileName()), exitNotAllowed}
	}
	return s.clientOf(p)
}

// Server returns the address of the server that the command would speak to, without a slash
// at its end; "" if one is not logged in anywhere.
func (e *Env) Server(cmd *cobra.Command) (string, error) {
	profiles, err := e.Profiles()
	if err != nil {
		return "", err
	}
	s := &session{env: e, cmd: cmd}
	p, err := profiles.Load(s.profileName())
	if err != nil && !errors.Is(err, client.ErrNoProfile) {
		return "", err
	}
	s.override(&p)
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" {
		return "", nil //nolint:nilerr // a command that speaks to the server says it
	}
	u.User = nil // it may have the password
	return strings.TrimSuffix(u.String(), "/"), nil
}

func (s *session) clientOf(p client.Profile) (*client.Client, error) {
	c, err := client.New(p, client.Options{Version: s.env.Version, Progress: s.progress()})
	if err != nil {
		return nil, s.env.Usage(err)
	}
	return c, nil
}

// override puts what the environment says in the place of what the profile has. The
// password of a profile goes to no other server and for no other user.
func (s *session) override(p *client.Profile) {
	address, user := s.env.Getenv("FLOWDRIVE_URL"), s.env.Getenv("FLOWDRIVE_USER")
	if address != "" && !sameServer(address, p.URL) {
		*p = client.Profile{}
	}
	if address != "" {
		p.URL = address
	}
	if user != "" && user != p.User {
		p.User, p.Password = user, ""
	}
	if password := s.env.Getenv("FLOWDRIVE_PASSWORD"); password != "" {
		p.Password = password
	}
	if authority := s.env.Getenv("FLOWDRIVE_CACERT"); authority != "" {
		p.Authority = authority
	}
}

func sameServer(a, b string) bool {
	u, err := url.Parse(a)
	v, other := url.Parse(b)
	return err == nil && other == nil && u.Scheme == v.Scheme && u.Host == v.Host
}

// say writes a line for people to the standard error.
func (s *session) say(format string, args ...any) error {
	_, err := fmt.Fprintf(s.err, format+"\n", args...)
	return err
}
