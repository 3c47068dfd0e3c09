package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Add, change and list users"}
	var s settings
	s.registerData(cmd.PersistentFlags())

	var fullName, email string
	var admin bool
	add := &cobra.Command{
		Use: "add NAME", Short: "Add a user; the password is read from standard input",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := readPassword(cmd.InOrStdin())
			if err != nil {
				return err
			}
			user := map[string]any{"password": password, "fullName": fullName, "email": email, "admin": admin}
			return control(cmd.Context(), &s, cmd.ErrOrStderr(), func(c *client) error {
				return c.create(cmd.Context(), usersFolder, args[0], user)
			})
		},
	}
	add.Flags().StringVar(&fullName, "full-name", "", "the user's name for people")
	add.Flags().StringVar(&email, "email", "", "the user's e-mail address")
	add.Flags().BoolVar(&admin, "admin", false, "make the user an administrator")

	passwd := &cobra.Command{
		Use: "passwd NAME", Short: "Set a user's password, read from standard input",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := readPassword(cmd.InOrStdin())
			if err != nil {
				return err
			}
			return control(cmd.Context(), &s, cmd.ErrOrStderr(), func(c *client) error {
				return c.change(cmd.Context(), usersFolder, args[0], map[string]any{"password": password})
			})
		},
	}
	disable := &cobra.Command{
		Use: "disable NAME", Short: "Disable a user: no log-in, and nothing runs in its context",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), &s, cmd.ErrOrStderr(), func(c *client) error {
				return c.change(cmd.Context(), usersFolder, args[0], map[string]any{"disabled": true})
			})
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List users", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return control(cmd.Context(), &s, cmd.ErrOrStderr(), func(c *client) error { return listUsers(cmd.Context(), c, cmd.OutOrStdout()) })
		},
	}
	cmd.AddCommand(add, passwd, disable, list)
	return cmd
}

// readPassword reads the first line.
func readPassword(stdin io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(stdin, 4096)).ReadString('\n')
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		if err != nil && err != io.EOF {
			return "", err
		}
		return "", usageError{fmt.Errorf("give the password on standard input, as in: printf %%s \"$PASSWORD\" | flowdrive user add NAME")}
	}
	return password, nil
}

func listUsers(ctx context.Context, c *client, out io.Writer) error {
	var users []struct {
		Name     string `json:"name"`
		ID       int64  `json:"id"`
		FullName string `json:"fullName"`
		Email    string `json:"email"`
		Admin    bool   `json:"admin"`
		Disabled bool   `json:"disabled"`
	}
	if err := c.get(ctx, usersFolder+".contents", &users); err != nil {
		return err
	}
	var table strings.Builder
	for _, u := range users {
		var notes []string
		for note, set := range map[string]bool{"administrator": u.Admin, "disabled": u.Disabled} {
			if set {
				notes = append(notes, note)
			}
		}
		slices.Sort(notes)
		row := fmt.Sprintf("%-6d %-20s %-30s %-30s %s", u.ID, u.Name, u.FullName, u.Email, strings.Join(notes, ", "))
		table.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	_, err := io.WriteString(out, table.String())
	return err
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
			return control(cmd.Context(), &s, cmd.ErrOrStderr(), func(c *client) error {
				return c.create(cmd.Context(), teamsFolder, args[0], map[string]any{"members": args[1:]})
			})
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List teams with their members", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return control(cmd.Context(), &s, cmd.ErrOrStderr(), func(c *client) error { return listTeams(cmd.Context(), c, cmd.OutOrStdout()) })
		},
	}
	join := membership("join TEAM USER...", "Put users or teams into a team", &s, func(members []string, who string) []string {
		if slices.Contains(members, who) {
			return members
		}
		return append(members, who)
	})
	leave := membership("leave TEAM USER...", "Take users or teams out of a team", &s, func(members []string, who string) []string {
		return slices.DeleteFunc(members, func(m string) bool { return m == who })
	})
	cmd.AddCommand(add, list, join, leave)
	return cmd
}

func listTeams(ctx context.Context, c *client, out io.Writer) error {
	var teams []team
	if err := c.get(ctx, teamsFolder+".contents", &teams); err != nil {
		return err
	}
	var table strings.Builder
	for _, t := range teams {
		row := fmt.Sprintf("%-6d %-20s %s", t.ID, t.Name, strings.Join(t.Members, " "))
		table.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	_, err := io.WriteString(out, table.String())
	return err
}

func membership(use, short string, s *settings, edit func(members []string, who string) []string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), s, cmd.ErrOrStderr(), func(c *client) error {
				var t team
				err := c.get(cmd.Context(), address(teamsFolder, args[0]), &t)
				if refused(err, http.StatusNotFound) {
					return fmt.Errorf("there is no team %q", args[0])
				}
				if err != nil {
					return err
				}
				for _, who := range args[1:] {
					t.Members = edit(t.Members, who)
				}
				return c.change(cmd.Context(), teamsFolder, args[0], map[string]any{"members": t.Members})
			})
		},
	}
}
