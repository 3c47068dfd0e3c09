package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

func (e *Env) login() *cobra.Command {
	var user, authority string
	c := &cobra.Command{
		Use: "login URL", Short: "Log in to a server; the other commands then speak to it",
		Long: "Asks for user and password, has the server make an app password, and keeps that in the\n" +
			"configuration folder of the user of this machine, in a file that only that user can read.\n" +
			"The password itself is kept nowhere.\n\n" +
			"Without a terminal it takes FLOWDRIVE_USER and FLOWDRIVE_PASSWORD, else two lines of the\n" +
			"standard input. FLOWDRIVE_URL, FLOWDRIVE_USER and FLOWDRIVE_PASSWORD beat what is kept.",
		Example: "  flowdrive login https://flow.example.org",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&user, "user", "", "the user (default: asks)")
	c.Flags().StringVar(&authority, "cacert", "", "a file with the authority of the server's certificate, in PEM")
	return e.bare(c, func(ctx context.Context, s *session, args []string) error {
		p := client.Profile{URL: args[0], Authority: authority}
		anonymous, err := s.clientOf(p)
		if err != nil {
			return err
		}
		if _, err := anonymous.About(ctx); err != nil {
			return err
		}
		p.URL = anonymous.URL()
		if p.User, p.Password, err = s.credentials(user); err != nil {
			return err
		}
		with, err := s.clientOf(p)
		if err != nil {
			return err
		}
		return s.keep(ctx, with, p)
	})
}

// credentials asks for user and password, or takes them from where they are without a
// terminal.
func (s *session) credentials(user string) (name, password string, err error) {
	name, password = user, ""
	if !s.in.terminal() {
		if name == "" {
			name = s.env.Getenv("FLOWDRIVE_USER")
		}
		password = s.env.Getenv("FLOWDRIVE_PASSWORD")
	}
	if name == "" {
		if name, err = s.ask("User"); err != nil || name == "" {
			return "", "", s.missing("who logs in? Give FLOWDRIVE_USER and FLOWDRIVE_PASSWORD, or two lines", err)
		}
	}
	if password == "" {
		if _, err = fmt.Fprintf(s.err, "Password of %s: ", output.Clean(name)); err != nil {
			return "", "", err
		}
		password, err = s.read(s.in.secret)
		if err := s.say(""); err != nil {
			return "", "", err
		}
		if err != nil || password == "" {
			return "", "", s.missing("there is no password: give FLOWDRIVE_PASSWORD, or a second line", err)
		}
	}
	return name, password, nil
}

// missing says which answer is missing. err says why it could not be read, if that is not said by it.
func (s *session) missing(what string, err error) error {
	if errors.Is(err, errNoAnswer) {
		err = nil
	}
	return s.env.Usage(errors.Join(errors.New(what), err))
}

// keep has the server make an app password, and stores it.
func (s *session) keep(ctx context.Context, with *client.Client, p client.Profile) error {
	profiles, err := s.env.Profiles()
	if err != nil {
		return err
	}
	before, err := profiles.Load(s.profileName())
	if err != nil && !errors.Is(err, client.ErrNoProfile) {
		return err
	}
	label := secretLabel()
	secret, err := with.NewSecret(ctx, label)
	for n := 2; client.IsSlug(err, "name-taken") && n <= 100; n++ {
		p.Secret = fmt.Sprintf("%s %d", label, n)
		secret, err = with.NewSecret(ctx, p.Secret)
	}
	if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Status == 401 {
		return codedError{fmt.Errorf("%q cannot log in: %s", p.User, cmp.Or(problem.Detail, "The server does not know this user and password.")), exitNotAllowed}
	}
	if err != nil {
		return err
	}
	if p.Secret == "" {
		p.Secret = label
	}
	p.Password = secret
	if err := profiles.Save(s.profileName(), p); err != nil {
		return err
	}
	// The app password that this one replaces is of no use to anyone. If it is gone, this one has
	// its name.
	if before.Secret != "" && before.Secret != p.Secret && before.User == p.User && before.URL == p.URL {
		if err := with.DeleteSecret(ctx, before.Secret); err != nil && !client.IsSlug(err, "not-found") {
			return err
		}
	}
	return s.say("Logged in to %s as %s.", p.URL, p.User)
}

// secretLabel names the app password, so that its owner knows which machine has it.
func secretLabel() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "a machine"
	}
	return "command line on " + strings.Map(func(r rune) rune {
		if strings.ContainsRune(`\/:*?"<>|@.`, r) {
			return '-'
		}
		return r
	}, host)
}

func (e *Env) logout() *cobra.Command {
	c := &cobra.Command{
		Use: "logout", Short: "Forget a log-in, and make its app password void",
		Long: "Makes the app password of the log-in void on the server, and forgets the log-in on this machine.\n" +
			"If the server cannot be asked, the log-in is forgotten all the same; the command then says which\n" +
			"app password is left, and fails.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	return e.bare(c, func(ctx context.Context, s *session, _ []string) error {
		profiles, err := s.env.Profiles()
		if err != nil {
			return err
		}
		p, err := profiles.Load(s.profileName())
		if errors.Is(err, client.ErrNoProfile) {
			return codedError{errors.New("you are not logged in"), exitNotFound}
		}
		if err != nil {
			return err
		}
		if err := profiles.Delete(s.profileName()); err != nil {
			return err
		}
		if err := s.revoke(ctx, p); err != nil {
			return err
		}
		return s.say("Logged out of %s.", p.URL)
	})
}

// revoke makes the app password of a log-in void, by that app password: it may end itself. One
// that the server does not take any more is void already.
func (s *session) revoke(ctx context.Context, p client.Profile) error {
	with, err := s.clientOf(p)
	if err != nil {
		return err
	}
	err = with.DeleteSecret(ctx, p.Secret)
	if client.IsSlug(err, "not-found") || client.IsSlug(err, "log-in") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the log-in is forgotten here, but the server still takes its app password %q; delete it on the page Account: %w", p.Secret, err)
	}
	return nil
}
