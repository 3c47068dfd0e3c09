package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/identity"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Add, change and list users"}
	var s settings
	s.registerData(cmd.PersistentFlags())

	var fullName, email string
	var admin bool
	add := &cobra.Command{
		Use: "add NAME", Short: "Add a user; the password is asked for, or read from standard input",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := readPassword(cmd)
			if err != nil {
				return err
			}
			user := map[string]any{"password": password, "fullName": fullName, "email": email, "admin": admin}
			return control(cmd.Context(), &s, func(c *client) error {
				return c.create(cmd.Context(), usersFolder, args[0], user)
			})
		},
	}
	add.Flags().StringVar(&fullName, "full-name", "", "the user's name for people")
	add.Flags().StringVar(&email, "email", "", "the user's e-mail address")
	add.Flags().BoolVar(&admin, "admin", false, "make the user an administrator")

	var revoke bool
	passwd := &cobra.Command{
		Use: "passwd NAME", Short: "Set a user's password, which is asked for, or read from standard input",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(&s, usersFolder),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := readPassword(cmd)
			if err != nil {
				return err
			}
			return control(cmd.Context(), &s, func(c *client) error {
				return c.change(cmd, usersFolder, args[0], map[string]any{"password": password, "revoke": revoke})
			})
		},
	}
	passwd.Flags().BoolVar(&revoke, "revoke", false, "end the user's app passwords and calendar links, too")
	disable := &cobra.Command{
		Use: "disable NAME", Short: "Disable a user: no log-in, and no entry or hook of it starts cases; open cases go on",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(&s, usersFolder),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), &s, func(c *client) error {
				return c.change(cmd, usersFolder, args[0], map[string]any{"disabled": true})
			})
		},
	}
	enable := &cobra.Command{
		Use: "enable NAME", Short: "Let a disabled user log in again",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(&s, usersFolder),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), &s, func(c *client) error {
				return c.change(cmd, usersFolder, args[0], map[string]any{"disabled": false})
			})
		},
	}
	list := listing("List users", &s, listUsers)
	show := showing("Show what a user is in, holds and logs in by", &s, usersFolder, showUser)
	cmd.AddCommand(add, setCommand(&s), passwd, disable, enable, renameCommand(&s, usersFolder), removeCommand(&s, usersFolder), eraseCommand(&s), list, show)
	return cmd
}

// readPassword asks for a password twice on a terminal, without showing it; else it reads
// the first line of the standard input.
func readPassword(cmd *cobra.Command) (string, error) {
	if f, ok := cmd.InOrStdin().(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return askPassword(cmd.Context(), f, cmd.ErrOrStderr())
	}
	line, err := output.Await(cmd.Context(), cmd.InOrStdin(), func() (string, error) {
		return bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 4096)).ReadString('\n')
	})
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", usageError{fmt.Errorf("give the password on standard input, as in: printf %%s \"$PASSWORD\" | %s NAME", cmd.CommandPath())}
	}
	return password, nil
}

// askPassword asks for a password, and for the same again.
func askPassword(ctx context.Context, terminal *os.File, out io.Writer) (string, error) {
	var given [2]string
	for i, question := range []string{"Password: ", "The same again: "} {
		if _, err := io.WriteString(out, question); err != nil {
			return "", err
		}
		text, err := output.Await(ctx, terminal, func() (string, error) {
			text, err := term.ReadPassword(int(terminal.Fd()))
			return string(text), err
		})
		if _, e := io.WriteString(out, "\n"); err == nil {
			err = e
		}
		if err != nil {
			return "", err
		}
		given[i] = text
	}
	switch {
	case given[0] == "":
		return "", usageError{errors.New("no password was given")}
	case given[0] != given[1]:
		return "", usageError{errors.New("the two are not the same; nothing was changed")}
	}
	return given[0], nil
}

// listing makes a command that lists what an administrator's folder holds.
func listing(short string, s *settings, list func(context.Context, *client, output.Printer) error) *cobra.Command {
	return output.Formats(&cobra.Command{
		Use: "list", Short: short, Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := output.NewPrinter(cmd, os.Getenv)
			if err != nil {
				return usageError{err}
			}
			return control(cmd.Context(), s, func(c *client) error { return list(cmd.Context(), c, p) })
		},
	})
}

// completeNames completes the first argument with the names in the first folder, the others
// with those in the other folders. Without a server there are none: to open the data folder is
// too much for a key.
func completeNames(s *settings, first string, others ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		folders := others
		if len(args) == 0 {
			folders = []string{first}
		}
		var words []string
		for _, folder := range folders {
			_, found, err := documents[user](cmd.Context(), newClient(s.data), folder)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, u := range found {
				words = append(words, u.Name+"\t"+u.FullName)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// documents returns the documents of a folder, each as it is and as a T.
func documents[T any](ctx context.Context, c *client, folder string) (raw []json.RawMessage, read []T, err error) {
	if err := c.get(ctx, folder+".contents", &raw); err != nil {
		return nil, nil, err
	}
	read = make([]T, len(raw))
	for i, document := range raw {
		if err := json.Unmarshal(document, &read[i]); err != nil {
			return nil, nil, err
		}
	}
	return raw, read, nil
}

// user is what is listed of a user's complete form.
type user struct {
	Name     string `json:"name"`
	ID       int64  `json:"id"`
	FullName string `json:"fullName"`
	Email    string `json:"email"`
	Admin    bool   `json:"admin"`
	Disabled bool   `json:"disabled"`
}

func listUsers(ctx context.Context, c *client, p output.Printer) error {
	raw, users, err := documents[user](ctx, c, usersFolder)
	if err != nil {
		return err
	}
	items := make([]output.Item, len(users))
	for i, u := range users {
		var notes []string
		if u.Admin {
			notes = append(notes, "administrator")
		}
		if u.Disabled {
			notes = append(notes, "disabled")
		}
		cells := []string{strconv.FormatInt(u.ID, 10), u.Name, u.FullName, u.Email, strings.Join(notes, ", ")}
		items[i] = output.Item{JSON: raw[i], Name: u.Name, Cells: cells}
	}
	return p.Show([]string{"id", "user", "name", "e-mail", "notes"}, items)
}

// team is a team's complete form.
type team struct {
	Name    string   `json:"name"`
	ID      int64    `json:"id,omitempty"`
	Members []string `json:"members"`
	Admins  []string `json:"admins"`
}

func teamCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "team", Short: "Add, change and list teams"}
	var s settings
	s.registerData(cmd.PersistentFlags())
	add := &cobra.Command{
		Use: "add NAME [MEMBER...]", Short: "Add a team", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), &s, func(c *client) error {
				return c.create(cmd.Context(), teamsFolder, args[0], map[string]any{"members": args[1:]})
			})
		},
	}
	list := listing("List teams with their members", &s, listTeams)
	show := showing("Show who is in a team, and what it is in", &s, teamsFolder, showTeam)
	join := membership("join TEAM USER...", "Put users or teams into a team", &s, func(t *team, who string) error {
		if !slices.Contains(t.Members, who) {
			t.Members = append(t.Members, who)
		}
		return nil
	})
	leave := membership("leave TEAM USER...", "Take users or teams out of a team", &s, func(t *team, who string) error {
		at := slices.IndexFunc(t.Members, func(m string) bool { return identity.Fold(m) == identity.Fold(who) })
		if at < 0 {
			return newRefusal(http.StatusNotFound, fmt.Sprintf("%q is not in the team %q; nothing was changed", who, t.Name))
		}
		t.Members = slices.Delete(t.Members, at, at+1)
		return nil
	})
	cmd.AddCommand(add, list, show, join, leave, renameCommand(&s, teamsFolder), removeCommand(&s, teamsFolder))
	return cmd
}

func listTeams(ctx context.Context, c *client, p output.Printer) error {
	raw, teams, err := documents[team](ctx, c, teamsFolder)
	if err != nil {
		return err
	}
	items := make([]output.Item, len(teams))
	for i, t := range teams {
		cells := []string{strconv.FormatInt(t.ID, 10), t.Name, strings.Join(t.Members, " ")}
		items[i] = output.Item{JSON: raw[i], Name: t.Name, Cells: cells}
	}
	return p.Show([]string{"id", "team", "members"}, items)
}

func membership(use, short string, s *settings, edit func(t *team, who string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(2), ValidArgsFunction: completeNames(s, teamsFolder, usersFolder, teamsFolder),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), s, func(c *client) error {
				var t team
				err := c.get(cmd.Context(), address(teamsFolder, args[0]), &t)
				if refused(err, http.StatusNotFound) {
					return newRefusal(http.StatusNotFound, fmt.Sprintf("there is no team %q", args[0]))
				}
				if err != nil {
					return err
				}
				for _, who := range args[1:] {
					if err := edit(&t, who); err != nil {
						return err
					}
				}
				return c.change(cmd, teamsFolder, args[0], map[string]any{"members": t.Members})
			})
		},
	}
}
