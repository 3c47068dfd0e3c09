package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/identity"
)

// had is what a user or team has that is to be deleted.
type had struct {
	teams []string // it is a member of, or leads
	holds *usage   // nil for a team
}

// hasNow returns what a user or team has, if it is to be told of because another one gets it:
// who is to be told of it sees what rights and duties that one has from now on.
func (c *client) hasNow(ctx context.Context, folder, name string, query url.Values) (*had, error) {
	if !query.Has("handOver") {
		return nil, nil
	}
	h := &had{}
	_, teams, err := documents[team](ctx, c, teamsFolder)
	if err != nil {
		return nil, err
	}
	same := func(one string) bool { return identity.Fold(one) == identity.Fold(name) }
	for _, t := range teams {
		if slices.ContainsFunc(t.Members, same) || slices.ContainsFunc(t.Admins, same) {
			h.teams = append(h.teams, t.Name)
		}
	}
	if folder == usersFolder {
		_, h.holds, err = c.usageOf(ctx, name)
	}
	return h, err
}

// tell says what another one has now.
func (h *had) tell(cmd *cobra.Command, name string, query url.Values) error {
	if h == nil {
		return nil
	}
	var parts []string
	if len(h.teams) > 0 {
		parts = append(parts, english.PluralWord(len(h.teams), "a place in the team ", "places in the teams ")+english.WordSeries(h.teams, "and"))
	}
	if u := h.holds; u != nil {
		for _, one := range []struct {
			n             int64
			word, several string
		}{{u.Files, "file", "files"}, {u.OpenCases, "open case", "open cases"}, {u.Entries, "schedule entry", "schedule entries"}, {u.Routes, "route", "routes"}} {
			if one.n > 0 {
				parts = append(parts, english.Plural(int(one.n), one.word, one.several))
			}
		}
	}
	says := ""
	if len(parts) > 0 {
		says = ": " + strings.Join(parts, ", ")
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", output.Clean(fmt.Sprintf("%s has now what %s had%s.", query.Get("handOver"), name, says)))
	return err
}
