package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"flowdrive/engine/account"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/internal/signon"
)

// signOnSettings are the flags of serve that say where people log in beside this server.
type signOnSettings struct {
	issuer      string
	client      string
	secret      secretFlag
	secretFile  string
	create      bool
	nameClaim   string
	groupsClaim string
	teams       mapFlag

	ldap         signon.LDAPConfig
	ldapPassword string // the file with it
	ldapTeams    mapFlag
}

func (s *signOnSettings) register(flags *pflag.FlagSet) {
	flags.StringVar(&s.issuer, "oidc-issuer", "", "provider of OpenID Connect at which people may log in, such as https://login.example.org/realms/firm;\nneeds --oidc-client-id and --public-url")
	flags.StringVar(&s.client, "oidc-client-id", "", "what that provider calls this server")
	flags.Var(&s.secret, "oidc-client-secret", "secret that the provider has given this server (configuration file or environment)")
	flags.StringVar(&s.secretFile, "oidc-client-secret-file", "", "file with the secret that the provider has given this server")
	flags.BoolVar(&s.create, "oidc-create", false, "make a user at the first log-in of somebody who has none")
	flags.StringVar(&s.nameClaim, "oidc-name-claim", "preferred_username", "claim with the name of a new user")
	flags.StringVar(&s.groupsClaim, "oidc-groups-claim", "groups", "claim with the groups that --oidc-teams names")
	flags.StringVar(&s.ldap.URL, "ldap-url", "", "directory that checks passwords: ldaps://ldap.example.org, or ldap:// with --ldap-starttls; needs --ldap-base")
	flags.BoolVar(&s.ldap.StartTLS, "ldap-starttls", false, "encrypt the connection to the directory after its beginning")
	flags.StringVar(&s.ldap.BindDN, "ldap-bind-dn", "", "as whom people are searched in the directory (default: nobody)")
	flags.StringVar(&s.ldapPassword, "ldap-bind-password-file", "", "file with the password of --ldap-bind-dn")
	flags.StringVar(&s.ldap.Base, "ldap-base", "", "where people and groups are in the directory, such as dc=example,dc=org")
	flags.StringVar(&s.ldap.UserFilter, "ldap-user-filter", signon.DefaultUserFilter, "filter that finds who has a name")
	flags.StringVar(&s.ldap.GroupFilter, "ldap-group-filter", signon.DefaultGroupFilter, "filter that finds the groups of who has a DN")
	flags.Var(&s.ldapTeams, "ldap-teams", "teams by group, its cn or its DN: at each log-in a user joins and leaves these teams as the directory says\n(configuration file)")
	flags.Var(&s.teams, "oidc-teams", "teams by group: at each log-in a user joins and leaves these teams as the provider says\n(configuration file)")
}

// readTeams reads a map of groups to teams.
func readTeams(m *mapFlag, flag string) (map[string]string, error) {
	teams, err := readMap(m, flag, func(v document.Value) string {
		text, _ := v.Str()
		return text
	})
	wrong := []error{err}
	for _, group := range slices.Sorted(maps.Keys(teams)) {
		if team := teams[group]; !identity.LegalParty(identity.Team, team) || identity.Name(team) == identity.Everyone {
			wrong = append(wrong, configError{fmt.Errorf("--%s: %q, the team of %q, is not a valid name for a team: %s", flag, team, group, identity.NameForm(identity.Team))})
		}
	}
	return teams, errors.Join(wrong...)
}

// directory returns how the directory is reached, nil for none, and the teams by group. The
// error has everything that is wrong.
func (s *signOnSettings) directory() (*signon.LDAPConfig, map[string]string, error) {
	teams, err := readTeams(&s.ldapTeams, "ldap-teams")
	if s.ldap.URL == "" {
		if err == nil && (s.ldap.Base != "" || s.ldap.BindDN != "" || len(teams) > 0) {
			err = configError{errors.New("--ldap-base, --ldap-bind-dn and --ldap-teams do nothing without --ldap-url")}
		}
		return nil, nil, err
	}
	wrong := []error{err}
	cfg := s.ldap
	if s.ldapPassword != "" {
		if cfg.BindPassword, err = readSecretFile(s.ldapPassword); err != nil {
			wrong = append(wrong, configError{fmt.Errorf("--ldap-bind-password-file: %w", err)})
			cfg.BindDN = ""
		}
	}
	for _, err := range signon.CheckLDAP(cfg) {
		wrong = append(wrong, configError{err})
	}
	return &cfg, teams, errors.Join(wrong...)
}

// directory lets passwords be checked by LDAP.
type directory struct {
	*signon.LDAP
	accounts *account.Accounts
	teams    map[string]string // by group
	watch    *directoryWatch
}

// openDirectory has the log-ins ask the directory, if there is one.
func (a *app) openDirectory() error {
	cfg, teams, err := a.settings.signOn.directory()
	if cfg == nil || err != nil {
		return err
	}
	a.ldap = signon.NewLDAP(*cfg)
	a.auth.SetDirectory(&directory{LDAP: a.ldap, accounts: a.engine.Accounts, teams: teams, watch: &directoryWatch{log: a.log, now: time.Now}})
	return nil
}

// LogIn implements server.Directory.
func (d *directory) LogIn(ctx context.Context, name, password string) (identity.ID, error) {
	who, err := d.LDAP.LogIn(ctx, name, password)
	d.watch.note(name, err)
	if err != nil {
		return 0, err
	}
	return d.accounts.LogInVouched(ctx, vouched(who, true, d.teams))
}

// Vouches implements server.Directory.
func (d *directory) Vouches(id identity.ID) bool {
	return id == 0 || strings.HasPrefix(d.accounts.VouchedBy(id), "ldap ")
}

// oidc returns how the provider is reached, nil for none, and the teams by group. The error
// has everything that is wrong.
func (s *signOnSettings) oidc(publicURL string) (*signon.OIDCConfig, map[string]string, error) {
	teams, err := readTeams(&s.teams, "oidc-teams")
	wrong := []error{err}
	fault := func(format string, args ...any) { wrong = append(wrong, configError{fmt.Errorf(format, args...)}) }
	secret := s.secret.text
	if s.secretFile != "" {
		if secret != "" {
			fault("--oidc-client-secret and --oidc-client-secret-file: give one of them")
		}
		if secret, err = readSecretFile(s.secretFile); err != nil {
			fault("--oidc-client-secret-file: %w", err)
		}
	}
	if s.issuer == "" {
		if s.client != "" || secret != "" || s.create || len(teams) > 0 {
			fault("--oidc-client-id, --oidc-client-secret, --oidc-create and --oidc-teams do nothing without --oidc-issuer")
		}
		return nil, nil, errors.Join(wrong...)
	}
	if err := signon.CheckIssuer(s.issuer); err != nil {
		fault("--oidc-issuer: %w", err)
	}
	if s.client == "" {
		fault("--oidc-issuer needs --oidc-client-id: register this server at the provider, which says what it is called there")
	}
	if publicURL == "" {
		fault("--oidc-issuer needs --public-url: the provider sends people back to it")
	}
	return &signon.OIDCConfig{
		Issuer: s.issuer, ClientID: s.client, Secret: secret, Callback: strings.TrimRight(publicURL, "/") + "/login/oidc/callback",
		NameClaim: s.nameClaim, GroupsClaim: s.groupsClaim,
	}, teams, errors.Join(wrong...)
}

// signOn lets the pages log in by a provider.
type signOn struct {
	*signon.OIDC
	accounts *account.Accounts
	create   bool
	teams    map[string]string // by group
	back     string            // where people are after a log-out
}

// openSignOn returns the provider, nil for none. It is not asked yet.
func (a *app) openSignOn() (*signOn, error) {
	cfg, teams, err := a.settings.signOn.oidc(a.settings.publicURL)
	if cfg == nil || err != nil {
		return nil, err
	}
	return &signOn{
		OIDC: signon.NewOIDC(*cfg), accounts: a.engine.Accounts, create: a.settings.signOn.create, teams: teams,
		back: strings.TrimSuffix(cfg.Callback, "/oidc/callback"),
	}, nil
}

// Finish implements web.SignOn.
func (s *signOn) Finish(ctx context.Context, code, nonce, verifier string) (identity.Principal, error) {
	who, err := s.OIDC.Finish(ctx, code, nonce, verifier)
	if err != nil {
		return identity.Principal{}, err
	}
	id, err := s.accounts.LogInVouched(ctx, vouched(who, s.create, s.teams))
	if err != nil {
		return identity.Principal{}, err
	}
	return s.accounts.Principal(id), nil
}

// vouched says of a person what the settings make of it.
func vouched(who *signon.Person, create bool, teams map[string]string) account.Vouched {
	in := map[string]bool{}
	for group, team := range teams {
		in[team] = in[team] || slices.ContainsFunc(who.Groups, func(g string) bool { return account.SameGroup(g, group) })
	}
	return account.Vouched{Origin: who.Origin, Name: who.Name, FullName: who.FullName, Email: who.Email, Create: create, Teams: in}
}

// End implements web.SignOn: only who has logged in at the provider logs out there.
func (s *signOn) End(ctx context.Context, by identity.Principal) string {
	if !strings.HasPrefix(s.accounts.VouchedBy(by.ID), "oidc ") {
		return ""
	}
	return s.OIDC.End(ctx, s.back)
}
