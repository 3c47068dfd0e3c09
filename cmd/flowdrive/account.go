package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
			return control(cmd.Context(), &s, func(c *client) error {
				return c.create(cmd.Context(), "/dav/Admin/Users/"+args[0]+".json", user)
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
			return control(cmd.Context(), &s, func(c *client) error {
				return c.change(cmd.Context(), "/dav/Admin/Users/"+args[0]+".json", map[string]any{"password": password})
			})
		},
	}
	disable := &cobra.Command{
		Use: "disable NAME", Short: "Disable a user: no log-in, and nothing runs in its context",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), &s, func(c *client) error {
				return c.change(cmd.Context(), "/dav/Admin/Users/"+args[0]+".json", map[string]any{"disabled": true})
			})
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List users", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return control(cmd.Context(), &s, func(c *client) error { return listUsers(cmd.Context(), c, cmd.OutOrStdout()) })
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
	if err := c.get(ctx, "/dav/Admin/Users/.contents", &users); err != nil {
		return err
	}
	for _, u := range users {
		var notes []string
		for note, set := range map[string]bool{"administrator": u.Admin, "disabled": u.Disabled} {
			if set {
				notes = append(notes, note)
			}
		}
		slices.Sort(notes)
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-6d %-20s %-30s %-30s %s", u.ID, u.Name, u.FullName, u.Email, strings.Join(notes, ", ")), " "))
	}
	return nil
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
				return c.create(cmd.Context(), "/dav/Admin/Teams/"+args[0]+".json", map[string]any{"members": args[1:]})
			})
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List teams with their members", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return control(cmd.Context(), &s, func(c *client) error {
				var teams []team
				if err := c.get(cmd.Context(), "/dav/Admin/Teams/.contents", &teams); err != nil {
					return err
				}
				for _, t := range teams {
					fmt.Fprintf(cmd.OutOrStdout(), "%-6d %-20s %s\n", t.ID, t.Name, strings.Join(t.Members, " "))
				}
				return nil
			})
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

func membership(use, short string, s *settings, edit func(members []string, who string) []string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd.Context(), s, func(c *client) error {
				path := "/dav/Admin/Teams/" + args[0] + ".json"
				var t team
				if err := c.get(cmd.Context(), path, &t); err != nil {
					return err
				}
				for _, who := range args[1:] {
					t.Members = edit(t.Members, who)
				}
				return c.change(cmd.Context(), path, map[string]any{"members": t.Members})
			})
		},
	}
}

// problem is what a refused request answers.
type problem struct {
	Detail string `json:"detail"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Detail  string `json:"detail"`
	} `json:"errors"`
}

func (p problem) err(status string, body []byte) error {
	if json.Unmarshal(body, &p) != nil || p.Detail == "" {
		return fmt.Errorf("the server answered %s", status)
	}
	return fmt.Errorf("%s", p.Detail)
}
