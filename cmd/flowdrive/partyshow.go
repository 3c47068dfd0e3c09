package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/identity"
	"flowdrive/internal/plaintext"
)

// showing makes a command that shows a user or team.
func showing(short string, s *settings, folder string, show func(context.Context, *client, output.Printer, string) error) *cobra.Command {
	return output.Formats(&cobra.Command{
		Use: "show NAME", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(s, folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := output.NewPrinter(cmd, os.Getenv)
			if err != nil {
				return usageError{err}
			}
			return control(cmd.Context(), s, func(c *client) error { return show(cmd.Context(), c, p, args[0]) })
		},
	})
}

// document reads the complete form of a user or team.
func (c *client) document(ctx context.Context, folder, name string, into any) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.get(ctx, address(folder, name), &raw)
	if refused(err, http.StatusNotFound) {
		return nil, newRefusal(http.StatusNotFound, fmt.Sprintf("there is no %s %q", partyIn(folder), name))
	}
	if err != nil {
		return nil, err
	}
	return raw, json.Unmarshal(raw, into)
}

// userDetails is what is shown of a user's complete form.
type userDetails struct {
	user
	Deputy *struct {
		User     string
		From, To time.Time
	}
	SecondFactor bool
	Origin       string
	Created      time.Time
}

// usage is what is shown of what a user holds.
type usage struct {
	User                                            string
	Bytes, Quota, Files, OpenCases, Entries, Routes int64
	AppPasswords                                    []appPassword
	CalendarLinks, Sessions                         int
	LastSeen                                        *time.Time
}

type appPassword struct {
	Label    string
	Created  time.Time
	LastUsed *time.Time
	Scope    string
	Expires  *time.Time
}

// usageOf returns what the user holds, as it is and read.
func (c *client) usageOf(ctx context.Context, name string) (json.RawMessage, *usage, error) {
	var all struct{ Users []json.RawMessage }
	if err := c.get(ctx, "/dav/Admin/Usage.json", &all); err != nil {
		return nil, nil, err
	}
	for _, raw := range all.Users {
		var u usage
		if err := json.Unmarshal(raw, &u); err != nil {
			return nil, nil, err
		}
		if identity.Fold(u.User) == identity.Fold(name) {
			return raw, &u, nil
		}
	}
	return nil, nil, newRefusal(http.StatusNotFound, fmt.Sprintf("there is no user %q any more", name))
}

// teamsWith returns the teams that a user or team is in: those that name it, then, with
// the team by which it is, those that name these.
func teamsWith(teams []team, name string) (names, shown []string) {
	names = []string{name}
	for i := 0; i < len(names); i++ {
		for _, t := range teams {
			in := slices.ContainsFunc(t.Members, func(m string) bool { return identity.Fold(m) == identity.Fold(names[i]) })
			if !in || slices.Contains(names, t.Name) {
				continue
			}
			names = append(names, t.Name)
			by := ""
			if i > 0 {
				by = " (by " + names[i] + ")"
			}
			shown = append(shown, t.Name+by)
		}
	}
	return names[1:], shown
}

// administered returns the teams that name somebody among their administrators.
func administered(teams []team, who []string) (names []string) {
	for _, t := range teams {
		if slices.ContainsFunc(t.Admins, func(admin string) bool { return slices.Contains(who, admin) }) {
			names = append(names, t.Name)
		}
	}
	return names
}

func showUser(ctx context.Context, c *client, p output.Printer, name string) error {
	var u userDetails
	raw, err := c.document(ctx, usersFolder, name, &u)
	if err != nil {
		return err
	}
	rawUsage, holds, err := c.usageOf(ctx, u.Name)
	if err != nil {
		return err
	}
	_, teams, err := documents[team](ctx, c, teamsFolder)
	if err != nil {
		return err
	}
	in, shown := teamsWith(teams, u.Name)
	admins := administered(teams, append(in, u.Name))
	if p.Format != "" {
		whole, err := json.Marshal(map[string]any{"user": raw, "teams": orEmptyList(in), "administers": orEmptyList(admins), "usage": rawUsage})
		if err != nil {
			return err
		}
		return p.Show(nil, []output.Item{{JSON: whole, Name: u.Name}})
	}
	if err := writePairs(p, linesOfUser(&u, holds, strings.Join(shown, ", "), strings.Join(admins, ", "))); err != nil || len(holds.AppPasswords) == 0 {
		return err
	}
	return showAppPasswords(p, holds.AppPasswords)
}

// linesOfUser returns what is known of a user, in pairs.
func linesOfUser(u *userDetails, holds *usage, teams, administers string) [][2]string {
	lines := [][2]string{{"user", fmt.Sprintf("%s (id %d)", u.Name, u.ID)}, {"name", u.FullName}, {"e-mail", u.Email}}
	if u.Admin {
		lines = append(lines, [2]string{"rights", "administrator of the server"})
	}
	if u.Disabled {
		lines = append(lines, [2]string{"log-in", "disabled"})
	}
	if u.Origin != "" {
		lines = append(lines, [2]string{"vouched by", u.Origin})
	}
	if d := u.Deputy; d != nil {
		lines = append(lines, [2]string{"deputy", fmt.Sprintf("%s, from %s to %s", d.User, minuteText(&d.From), minuteText(&d.To))})
	}
	return append(lines, [][2]string{
		{"teams", teams},
		{"administers", administers},
		{"second factor", map[bool]string{true: "yes", false: "no"}[u.SecondFactor]},
		{"last seen", lastSeen(holds.LastSeen)},
		{"sessions", fmt.Sprint(holds.Sessions)},
		{"calendar links", fmt.Sprint(holds.CalendarLinks)},
		{"stored", fmt.Sprintf("%s of %s", plaintext.Size(holds.Bytes), plaintext.Size(holds.Quota))},
		{"has", strings.Join([]string{
			english.Plural(int(holds.Files), "file", ""), english.Plural(int(holds.OpenCases), "open case", ""),
			english.Plural(int(holds.Entries), "schedule entry", ""), english.Plural(int(holds.Routes), "route", ""),
		}, ", ")},
		{"made", minuteText(&u.Created)},
		{"app passwords", fmt.Sprint(len(holds.AppPasswords))},
	}...)
}

func showAppPasswords(p output.Printer, list []appPassword) error {
	items := make([]output.Item, len(list))
	for i, a := range list {
		expires := "never"
		if a.Expires != nil {
			expires = minuteText(a.Expires)
		}
		items[i] = output.Item{Cells: []string{a.Label, minuteText(&a.Created), usedText(a.LastUsed), a.Scope, expires}}
	}
	if err := p.Line(""); err != nil {
		return err
	}
	return p.Table([]string{"app password", "made", "last used", "scope", "expires"}, items)
}

func showTeam(ctx context.Context, c *client, p output.Printer, name string) error {
	var t team
	raw, err := c.document(ctx, teamsFolder, name, &t)
	if err != nil {
		return err
	}
	_, teams, err := documents[team](ctx, c, teamsFolder)
	if err != nil {
		return err
	}
	in, shown := teamsWith(teams, t.Name)
	if p.Format != "" {
		whole, err := json.Marshal(map[string]any{"team": raw, "teams": orEmptyList(in), "users": usersIn(teams, t)})
		if err != nil {
			return err
		}
		return p.Show(nil, []output.Item{{JSON: whole, Name: t.Name}})
	}
	return writePairs(p, [][2]string{
		{"team", fmt.Sprintf("%s (id %d)", t.Name, t.ID)},
		{"members", strings.Join(t.Members, ", ")},
		{"administrators", strings.Join(t.Admins, ", ")},
		{"teams", strings.Join(shown, ", ")},
		{"users", strings.Join(usersIn(teams, t), ", ")},
	})
}

// usersIn returns the users who are in a team, also by teams that are in it, by name.
func usersIn(teams []team, t team) []string {
	users, seen := []string{}, []string{t.Name}
	for i := 0; i < len(seen); i++ {
		for _, of := range teams {
			if of.Name != seen[i] {
				continue
			}
			for _, m := range of.Members {
				isTeam := slices.ContainsFunc(teams, func(other team) bool { return other.Name == m })
				switch {
				case isTeam && !slices.Contains(seen, m):
					seen = append(seen, m)
				case !isTeam && !slices.Contains(users, m):
					users = append(users, m)
				}
			}
		}
	}
	slices.Sort(users)
	return users
}

func orEmptyList(list []string) []string { return append([]string{}, list...) }

// writePairs writes what is known of something, a line each.
func writePairs(p output.Printer, lines [][2]string) error {
	for _, l := range lines {
		value := output.Clean(l[1])
		if value == "" {
			value = "-"
		}
		if err := p.Line("%-15s %s", l[0], value); err != nil {
			return err
		}
	}
	return nil
}

// lastSeen returns when somebody was let in. What is kept of log-ins has those to the drive by
// password not.
func lastSeen(t *time.Time) string {
	if t == nil {
		return "never, unless on the drive by password, of which nothing is kept"
	}
	return minuteText(t)
}

// usedText returns when something was last used.
func usedText(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return minuteText(t)
}

// minuteText returns an instant for people.
func minuteText(t *time.Time) string {
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
