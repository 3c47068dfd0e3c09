package main

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/signon"
)

// directoryWatch says in the log why a directory does not check passwords: at the first log-in
// that waits for it in vain, again after an hour, and when it does so again. Those who log in
// are told only that it does not answer.
type directoryWatch struct {
	log zerolog.Logger
	now func() time.Time

	mu        sync.Mutex
	told      time.Time            // zero: it answers
	ambiguous time.Time            // when the log last said that a name is that of more than one person
	moved     map[string]time.Time // when it last said of a name that its person has moved
}

// note notes how a log-in by that name has ended.
func (w *directoryWatch) note(name string, err error) {
	failed, away := errors.AsType[*errs.Error](err)
	away = away && failed.Kind == errs.Unavailable
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if errors.Is(err, signon.ErrAmbiguous) && now.Sub(w.ambiguous) >= tellAgain {
		w.ambiguous = now
		w.log.Warn().Str("user", name).Msg("directory: ldap-user-filter finds more than one person for a name, so that nobody logs in by it; narrow the filter or ldap-base")
	}
	if errors.Is(err, account.ErrMoved) && now.Sub(w.moved[name]) >= tellAgain {
		maps.DeleteFunc(w.moved, func(_ string, told time.Time) bool { return now.Sub(told) >= tellAgain })
		if w.moved == nil {
			w.moved = map[string]time.Time{}
		}
		w.moved[name] = now
		w.log.Warn().Str("user", name).Msg("directory: somebody whom it vouches for cannot log in. They were told: " + failed.Detail)
	}
	switch {
	case !away && !w.told.IsZero():
		w.told = time.Time{}
		w.log.Info().Msg("directory: it checks passwords again")
	case away && (w.told.IsZero() || now.Sub(w.told) >= tellAgain):
		w.told = now
		w.log.Warn().Err(failed.Err).Msg("directory: it does not check passwords, so that only app passwords and other users' passwords let in; look at ldap-url, the network, its certificate, ldap-bind-dn and ldap-base, or ask flowdrive doctor")
	}
}

// warnOfTeams says in the log which teams the settings name that there are not: nobody whom a
// directory has in such a group joins a team.
func (a *app) warnOfTeams() error {
	_, fromProvider, err := a.settings.signOn.oidc(a.settings.publicURL)
	if err != nil {
		return err
	}
	_, fromDirectory, err := a.settings.signOn.directory()
	if err != nil {
		return err
	}
	warnOfTeams(a.log, a.engine.Accounts.Table(), "oidc-teams", fromProvider)
	warnOfTeams(a.log, a.engine.Accounts.Table(), "ldap-teams", fromDirectory)
	return nil
}

func warnOfTeams(log zerolog.Logger, table *account.Table, setting string, teams map[string]string) {
	var absent []string
	for _, team := range teams {
		if p := table.ByName(identity.Team, team); (p == nil || p.Name == identity.Everyone) && !slices.Contains(absent, team) {
			absent = append(absent, team)
		}
	}
	if len(absent) == 0 {
		return
	}
	slices.Sort(absent)
	log.Warn().Strs("teams", absent).Msg("settings: " + setting + " names teams that there are not, or that nobody can join; make them with flowdrive team add, or correct the names")
}
