package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/cmd/flowdrive/remote"
	"flowdrive/internal/identity"
)

// partyIn says what is in a folder of users or of teams.
func partyIn(folder string) string {
	if folder == teamsFolder {
		return "team"
	}
	return "user"
}

func setCommand(s *settings) *cobra.Command {
	var fullName, email string
	var admin, resetFactor bool
	var quota quotaFlag
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Change the full name, the mail address, the rights or the quota of a user, or reset the second factor",
		Long: "Changes what is given of a user and leaves the rest as it is. --admin=false takes the rights of\n" +
			"an administrator away. --quota says how much the user may store in place of what the settings say;\n" +
			"what is stored already stays. \"default\" takes it away.\n\n" +
			"--reset-second-factor is for a user who has lost the device with the codes and the recovery codes:\n" +
			"the user logs in with the password alone then, and sets a second factor up again on the page Account.\n" +
			"An administrator can do it on the page of the user, too. The audit log has it.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(s, usersFolder),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		changes := map[string]any{}
		for flag, member := range map[string]struct {
			key   string
			value any
		}{"full-name": {"fullName", fullName}, "email": {"email", email}, "admin": {"admin", admin}} {
			if cmd.Flags().Changed(flag) {
				changes[member.key] = member.value
			}
		}
		if resetFactor {
			changes["secondFactor"] = false
		}
		if cmd.Flags().Changed("quota") {
			changes["quota"] = quota.member()
		}
		if len(changes) == 0 {
			return usageError{errors.New("give what to change: --full-name, --email, --admin, --quota or --reset-second-factor")}
		}
		return control(cmd.Context(), s, func(c *client) error {
			return c.change(cmd, usersFolder, args[0], changes)
		})
	}
	cmd.Flags().StringVar(&fullName, "full-name", "", "the user's name for people")
	cmd.Flags().StringVar(&email, "email", "", "the user's e-mail address")
	cmd.Flags().BoolVar(&admin, "admin", false, "make the user an administrator, or no longer one")
	cmd.Flags().Var(&quota, "quota", "how much the user may store, for example 500MiB; default: as much as the settings say")
	cmd.Flags().BoolVar(&resetFactor, "reset-second-factor", false, "let the user log in without a code, until another second factor is set up")
	return cmd
}

// quotaFlag is the flag --quota of a user: a size, or "default".
type quotaFlag struct{ byteSize }

// Set reads the flag's text.
func (q *quotaFlag) Set(text string) error {
	if text == "default" {
		q.byteSize = 0
		return nil
	}
	if err := q.byteSize.Set(text); err != nil {
		return fmt.Errorf("%w, or default", err)
	}
	return nil
}

// member returns the member of the user's document.
func (q *quotaFlag) member() any {
	if q.byteSize == 0 {
		return nil
	}
	return int64(q.byteSize)
}

func renameCommand(s *settings, folder string) *cobra.Command {
	party := partyIn(folder)
	return &cobra.Command{
		Use: "rename NAME NEW", Short: "Give a " + party + " another name; all that it has stays with it",
		Args: cobra.ExactArgs(2), ValidArgsFunction: completeNames(s, folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), s, func(c *client) error {
				header := http.Header{"Destination": {"http://flowdrive" + address(folder, args[1])}, "Overwrite": {"F"}, "Accept": {"application/json"}}
				_, err := c.do(cmd.Context(), "MOVE", address(folder, args[0]), header, nil)
				switch {
				case refused(err, http.StatusNotFound):
					return newRefusal(http.StatusNotFound, fmt.Sprintf("there is no %s %q", party, args[0]))
				case refused(err, http.StatusPreconditionFailed), refused(err, http.StatusConflict):
					return c.taken(cmd.Context(), folder, args[1])
				case err != nil || folder != usersFolder:
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s logs in as %[2]s from now on, programs with app passwords too. The folder is Documents/%[2]s/.\n", args[0], args[1])
				return err
			})
		},
	}
}

func removeCommand(s *settings, folder string) *cobra.Command {
	party := partyIn(folder)
	cmd := &cobra.Command{
		Use: "rm NAME", Short: "Delete a " + party + "; what it has goes to another one, or keeps it from being deleted",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(s, folder),
	}
	handOver := handOverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query, err := handOver()
		if err != nil {
			return err
		}
		return control(cmd.Context(), s, func(c *client) error {
			return c.remove(cmd, folder, args[0], query)
		})
	}
	return cmd
}

// handOverFlag gives a command --hand-over, and returns what reads it into a query.
func handOverFlag(cmd *cobra.Command) func() (url.Values, error) {
	var to string
	cmd.Flags().StringVar(&to, "hand-over", "", "the user or team to whom everything goes that is left")
	return func() (url.Values, error) {
		query := url.Values{}
		switch {
		case to != "":
			query.Set("handOver", to)
		case cmd.Flags().Changed("hand-over"):
			return nil, usageError{remote.ErrNoSuccessor}
		}
		return query, nil
	}
}

// remove deletes a user or team.
func (c *client) remove(cmd *cobra.Command, folder, name string, query url.Values) error {
	at := address(folder, name)
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	has, err := c.hasNow(cmd.Context(), folder, name, query)
	if err != nil {
		return err
	}
	_, err = c.do(cmd.Context(), http.MethodDelete, at, nil, nil)
	if refused(err, http.StatusNotFound) {
		return newRefusal(http.StatusNotFound, fmt.Sprintf("there is no %s %q", partyIn(folder), name))
	}
	if err != nil {
		return err
	}
	return has.tell(cmd, name, query)
}

func eraseCommand(s *settings) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "erase NAME", Short: "Delete a user, and the name from everything but what people have written",
		Long: "Deletes a user and gives what the user has to another one. What is left, such as the\n" +
			"logs of cases, has erased-<id> in place of the name. What people have written, the\n" +
			"audit log and backups keep it: docs/operate/erasing.md says what else to do. There is no\n" +
			"way back without a backup, so NAME must be as it is written, and on a terminal it is\n" +
			"asked for once more.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(s, usersFolder),
	}
	handOver := handOverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query, err := handOver()
		if err != nil {
			return err
		}
		query.Set("erase", "")
		name := args[0]
		if !yes {
			if err := confirmed(cmd, "There is no way back without a backup. The name of the user to be erased, again: ", name); err != nil {
				return err
			}
		}
		return control(cmd.Context(), s, func(c *client) error {
			if err := c.isWritten(cmd, name); err != nil {
				return err
			}
			if err := c.remove(cmd, usersFolder, name, query); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "The user %s is erased.\n", name)
			return err
		})
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// isWritten refuses the name of a user that is written in another way: the drive reads
// A.SMITH as a.smith, which is too much for what cannot be taken back.
func (c *client) isWritten(cmd *cobra.Command, name string) error {
	_, users, err := documents[user](cmd.Context(), c, usersFolder)
	if err != nil {
		return err
	}
	for _, u := range users {
		if u.Name != name && identity.Fold(u.Name) == identity.Fold(name) {
			return newRefusal(http.StatusNotFound, fmt.Sprintf("there is no user %q; to erase %q, write the name so", name, u.Name))
		}
	}
	return nil
}

// confirmed asks on a terminal for a word, and fails if another one is given. Elsewhere nobody is
// asked.
func confirmed(cmd *cobra.Command, question, word string) error {
	f, ok := cmd.InOrStdin().(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return nil
	}
	if _, err := fmt.Fprint(cmd.ErrOrStderr(), question); err != nil {
		return err
	}
	line, err := output.Await(cmd.Context(), f, func() (string, error) {
		return bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(line) != word {
		return usageError{errors.New("that is another name; nothing was changed")}
	}
	return nil
}
