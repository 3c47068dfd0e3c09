package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// WriteParty writes the rows of a change of a user or team by somebody, one
// for each sort of thing that was changed. old is nil for a new user or team.
// The time of the rows is that at which p was modified.
func (l *Log) WriteParty(ctx context.Context, tx store.Tx, by identity.Principal, old, p *store.Party) error {
	write := func(action Action, detail string) error {
		return l.Write(ctx, tx, NewRow(by, p.Modified, action, string(p.Name), detail))
	}
	if p.Kind == identity.Team {
		if old == nil {
			return write(TeamAdd, memberDetail(p))
		}
		return write(TeamChange, memberDetail(p))
	}
	if old == nil {
		if err := write(UserAdd, ""); err != nil {
			return err
		}
		old = &store.Party{}
	} else if fields := changedFields(old, p); fields != "" {
		if err := write(UserChange, fields); err != nil {
			return err
		}
	}
	for _, change := range []struct {
		made   bool
		action Action
		detail string
	}{
		{old.Password != p.Password, Password, ""},
		{old.Admin != p.Admin, Admin, map[bool]string{true: "given", false: "taken away"}[p.Admin]},
		{!old.Disabled && p.Disabled, UserDisable, ""},
		{old.Disabled && !p.Disabled, UserEnable, ""},
		{old.Factor != "" && p.Factor == "", SecondFactor, "reset"},
		{!old.Deputy.Equal(p.Deputy), Deputy, deputyDetail(p.Deputy)},
	} {
		if change.made {
			if err := write(change.action, change.detail); err != nil {
				return err
			}
		}
	}
	return nil
}

// changedFields names the fields of a user that have changed and have no row of their own.
func changedFields(old, p *store.Party) string {
	var names []string
	for _, field := range []struct {
		name    string
		changed bool
	}{{"fullName", old.FullName != p.FullName}, {"email", old.Email != p.Email}, {"emailPending", old.Pending.Address != p.Pending.Address}, {"origin", old.Origin != p.Origin}} {
		if field.changed {
			names = append(names, field.name)
		}
	}
	return strings.Join(names, ", ")
}

// memberDetail says who is in a team, and who administers it.
func memberDetail(p *store.Party) string {
	return partiesDetail("members", p.Members) + "; " + partiesDetail("administrators", p.Admins)
}

func partiesDetail[T ~string](what string, names []T) string {
	if len(names) == 0 {
		return "no " + what
	}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return what + " " + english.WordSeries(words, "and")
}

func deputyDetail(d identity.Deputy) string {
	if d.User == "" {
		return "nobody"
	}
	return fmt.Sprintf("%s from %s to %s", d.User, d.From.UTC().Format(time.RFC3339), d.To.UTC().Format(time.RFC3339))
}
