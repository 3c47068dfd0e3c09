package remote

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

// EntrySource finds schedule entries on the server that the user is logged in to. It connects if
// it is asked.
type EntrySource struct{ session *session }

// AboutEntry makes a command about a schedule entry that may be on the server.
func (e *Env) AboutEntry(c *cobra.Command, run func(cmd *cobra.Command, args []string, p output.Printer, server EntrySource) error) *cobra.Command {
	e.bare(c, func(_ context.Context, s *session, args []string) error {
		return run(s.cmd, args, s.Printer, EntrySource{s})
	})
	complete := e.completeWith((*session).entryNames)
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, _ := complete(cmd, args, typed)
		return found, cobra.ShellCompDirectiveDefault // and files
	}
	return c
}

// LoggedIn reports whether there is a server to ask.
func (s EntrySource) LoggedIn() bool { return s.connect() == nil }

func (s EntrySource) connect() (err error) {
	if s.session.Client == nil {
		s.session.Client, err = s.session.connect()
	}
	return err
}

// Find returns the entry that a name means, as [client.Client.FindEntry] does.
func (s EntrySource) Find(ctx context.Context, name string) (client.Entry, error) {
	if err := s.connect(); err != nil {
		return client.Entry{}, err
	}
	return s.session.FindEntry(ctx, name)
}

// Now returns the time of the server, or of this machine if it cannot be asked.
func (s EntrySource) Now(ctx context.Context) time.Time {
	if s.connect() != nil {
		return s.session.env.Now()
	}
	return s.session.serverTime(ctx)
}

// ReadFile returns a file of the drive, and of a longer one so many bytes.
func (s EntrySource) ReadFile(ctx context.Context, name string, most int64) (data []byte, err error) {
	if err := s.connect(); err != nil {
		return nil, err
	}
	content, _, err := s.session.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return io.ReadAll(io.LimitReader(content, most))
}
