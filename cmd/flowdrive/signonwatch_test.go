package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/signon"
	"flowdrive/store"
)

// TestDirectoryIsAway: the log says why a directory does not check passwords, once an hour, and
// when it does again.
func TestDirectoryIsAway(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	w := &directoryWatch{log: zerolog.New(&out), now: func() time.Time { return now }}
	lines := func() string {
		defer out.Reset()
		return out.String()
	}
	away := &errs.Error{Kind: errs.Unavailable, Detail: "It does not answer.", Err: errors.New("connection refused")}
	w.note("lee", nil)
	w.note("lee", errs.New(errs.LogIn, "wrong"))
	if got := lines(); got != "" {
		t.Errorf("if it answers: %s", got)
	}
	w.note("lee", away)
	if got := lines(); !strings.Contains(got, "connection refused") || !strings.Contains(got, "ldap-bind-dn") {
		t.Errorf("if it is away: %s", got)
	}
	now = now.Add(59 * time.Minute)
	w.note("lee", away)
	if got := lines(); got != "" {
		t.Errorf("within the hour: %s", got)
	}
	now = now.Add(time.Minute)
	w.note("lee", away)
	if got := lines(); !strings.Contains(got, "connection refused") {
		t.Errorf("after an hour: %s", got)
	}
	w.note("lee", errs.New(errs.LogIn, "wrong"))
	if got := lines(); !strings.Contains(got, "again") {
		t.Errorf("if it is back: %s", got)
	}
	w.note("lee", nil)
	if got := lines(); got != "" {
		t.Errorf("after that: %s", got)
	}
	two := &errs.Error{Kind: errs.LogIn, Err: signon.ErrAmbiguous}
	w.note("lee", two)
	if got := lines(); !strings.Contains(got, `"user":"lee"`) || !strings.Contains(got, "more than one person") {
		t.Errorf("of a name that two have: %s", got)
	}
	w.note("lee", two)
	if got := lines(); got != "" {
		t.Errorf("within the hour: %s", got)
	}
	moved := &errs.Error{Kind: errs.LogIn, Detail: "The origin is another.", Err: account.ErrMoved}
	for _, name := range []string{"lee", "ann"} {
		w.note(name, moved)
		if got := lines(); !strings.Contains(got, `"user":"`+name+`"`) || !strings.Contains(got, moved.Detail) {
			t.Errorf("of %s, who has moved: %s", name, got)
		}
		w.note(name, moved)
		if got := lines(); got != "" {
			t.Errorf("of %s within the hour: %s", name, got)
		}
	}
	now = now.Add(time.Hour)
	w.note("ann", moved)
	if got := lines(); got == "" || len(w.moved) != 1 {
		t.Errorf("after an hour: %s, and it remembers %v", got, w.moved)
	}
}

// TestTeamsThatAreNot: the log names the teams of the settings that there are not.
func TestTeamsThatAreNot(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	table := account.NewTable([]store.Party{{Party: identity.Party{ID: 1, Name: "staff", Kind: identity.Team}}, {Party: identity.Party{ID: 2, Name: "ann", Kind: identity.User}}}, nil)
	warnOfTeams(zerolog.New(&out), table, "ldap-teams", map[string]string{"a": "Staff"})
	if out.Len() > 0 {
		t.Errorf("of one that there is: %s", out.String())
	}
	warnOfTeams(zerolog.New(&out), table, "ldap-teams", map[string]string{"a": "staff", "b": "nobody", "c": "ann", "d": "nobody"})
	if got := out.String(); !strings.Contains(got, `"teams":["ann","nobody"]`) || !strings.Contains(got, "ldap-teams") {
		t.Errorf("of two that there are not: %s", got)
	}
}
