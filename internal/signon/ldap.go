package signon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"flowdrive/internal/errs"
)

// LDAPConfig is how a directory is reached. URL and Base are required.
type LDAPConfig struct {
	URL          string // ldaps://host, or ldap://host
	StartTLS     bool
	BindDN       string // as whom people are searched, "" for nobody
	BindPassword string
	Base         string // below which people and groups are
	UserFilter   string // with {name}; "" is DefaultUserFilter
	GroupFilter  string // with {dn} and {name}; "" is DefaultGroupFilter
}

// The filters by which people and their groups are found, in OpenLDAP and in Active
// Directory.
const (
	DefaultUserFilter  = "(|(uid={name})(sAMAccountName={name})(userPrincipalName={name}))"
	DefaultGroupFilter = "(|(member={dn})(uniqueMember={dn})(memberUid={name}))"
)

// LDAP is a directory that checks passwords.
type LDAP struct {
	cfg LDAPConfig
	tls *tls.Config // nil: as usual
}

// NewLDAP returns the directory. Nothing is asked yet.
func NewLDAP(cfg LDAPConfig) *LDAP {
	if cfg.UserFilter == "" {
		cfg.UserFilter = DefaultUserFilter
	}
	if cfg.GroupFilter == "" {
		cfg.GroupFilter = DefaultGroupFilter
	}
	return &LDAP{cfg: cfg}
}

// CheckLDAP returns everything that is wrong with how a directory is to be reached, each
// with the name of its setting.
func CheckLDAP(cfg LDAPConfig) (wrong []error) {
	fault := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "ldap" && u.Scheme != "ldaps" || u.User != nil || strings.Trim(u.Path, "/") != "":
		fault("--ldap-url: %q is not a valid address of a directory, such as ldaps://ldap.example.org", cfg.URL)
	case u.Scheme == "ldaps" && cfg.StartTLS:
		fault("--ldap-starttls: ldaps:// is encrypted from the beginning; leave it out, or write ldap://")
	case u.Scheme == "ldap" && !cfg.StartTLS && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		fault("--ldap-url: passwords would cross the network in the clear; write ldaps://, or give --ldap-starttls")
	}
	if cfg.Base == "" {
		fault("--ldap-url needs --ldap-base: where people and groups are in the directory, such as dc=example,dc=org")
	} else if _, err := ldap.ParseDN(cfg.Base); err != nil {
		fault("--ldap-base: %q is not a valid DN, such as dc=example,dc=org", cfg.Base)
	}
	if _, err := ldap.ParseDN(cfg.BindDN); err != nil && !strings.ContainsAny(cfg.BindDN, `@\`) { // Active Directory takes both
		fault("--ldap-bind-dn: %q is not a valid DN, such as cn=flowdrive,dc=example,dc=org", cfg.BindDN)
	}
	if cfg.BindDN != "" && cfg.BindPassword == "" {
		fault("--ldap-bind-dn needs --ldap-bind-password-file: without a password a directory takes it for nobody")
	}
	for _, filter := range [][3]string{{"ldap-user-filter", cfg.UserFilter, "{name}"}, {"ldap-group-filter", cfg.GroupFilter, "{dn}"}} {
		if filter[1] == "" {
			continue
		}
		if _, err := ldap.CompileFilter(fill(filter[1], "x", "x")); err != nil {
			fault("--%s: %q is not a valid filter, such as (uid={name})", filter[0], filter[1])
		} else if !strings.Contains(filter[1], filter[2]) && !strings.Contains(filter[1], "{name}") {
			fault("--%s: %q finds the same for everybody; write %s where it belongs", filter[0], filter[1], filter[2])
		}
	}
	return wrong
}

// fill puts a name and a DN into a filter, so that they are nothing but text in it.
func fill(filter, name, dn string) string {
	return strings.NewReplacer("{name}", ldap.EscapeFilter(name), "{dn}", ldap.EscapeFilter(dn)).Replace(filter)
}

// open connects and binds as the one who searches.
func (l *LDAP) open(ctx context.Context) (*ldap.Conn, error) {
	within, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	until, _ := within.Deadline()
	options := []ldap.DialOpt{ldap.DialWithDialer(&net.Dialer{Deadline: until})}
	if l.tls != nil {
		options = append(options, ldap.DialWithTLSConfig(l.tls))
	}
	conn, err := ldap.DialURL(l.cfg.URL, options...)
	if err != nil {
		return nil, err
	}
	conn.SetTimeout(answersWithin)
	if l.cfg.StartTLS {
		u, err := url.Parse(l.cfg.URL)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		with := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
		if l.tls != nil {
			with = l.tls
		}
		if err := conn.StartTLS(with); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	if err := l.asSearcher(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (l *LDAP) asSearcher(conn *ldap.Conn) error {
	if l.cfg.BindDN == "" {
		return conn.UnauthenticatedBind("")
	}
	return conn.Bind(l.cfg.BindDN, l.cfg.BindPassword)
}

// Check connects and looks whether there is anything at the base, for those who run the
// server.
func (l *LDAP) Check(ctx context.Context) (err error) {
	conn, err := l.open(ctx)
	if err != nil {
		return fmt.Errorf("the directory %s: %w; look at ldap-url, at the network, at its certificate, and at ldap-bind-dn", l.cfg.URL, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = conn.Search(ldap.NewSearchRequest(l.cfg.Base, ldap.ScopeBaseObject, ldap.NeverDerefAliases, 1, 10, false, "(objectClass=*)", []string{"1.1"}, nil))
	if err != nil {
		return fmt.Errorf("nothing can be read at %q: %w; look at ldap-base, and at what ldap-bind-dn may read", l.cfg.Base, err)
	}
	return nil
}

// ErrAmbiguous is in the error of a log-in if the filter finds more than one person.
var ErrAmbiguous = errors.New("ldap-user-filter finds more than one person for the name")

// LogIn returns who the directory says has that name and password. Errors: errs.LogIn if
// nobody has; errs.Unavailable if the directory does not answer as it should. An empty
// password is nobody's: a directory would take it for a log-in of nobody, and say yes.
func (l *LDAP) LogIn(ctx context.Context, name, password string) (who *Person, err error) {
	wrong := errs.New(errs.LogIn, "The user name or the password is wrong.")
	if name == "" || password == "" {
		return nil, wrong
	}
	away := func(err error) error {
		return &errs.Error{Kind: errs.Unavailable, Detail: "The directory that checks your password does not answer. Try again in a moment; app passwords work.", Err: err}
	}
	conn, err := l.open(ctx)
	if err != nil {
		return nil, away(err)
	}
	defer func() {
		if closing := conn.Close(); closing != nil && err == nil {
			who, err = nil, away(closing)
		}
	}()
	attributes := []string{"uid", "sAMAccountName", "displayName", "cn", "mail"}
	found, err := conn.Search(ldap.NewSearchRequest(l.cfg.Base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 2, 10, false, fill(l.cfg.UserFilter, name, ""), attributes, nil))
	if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) {
		return nil, away(err)
	}
	if err != nil || len(found.Entries) > 1 {
		return nil, &errs.Error{Kind: errs.LogIn, Detail: wrong.Error(), Err: ErrAmbiguous} // it is not known who is meant
	}
	if len(found.Entries) == 0 {
		return nil, wrong
	}
	entry := found.Entries[0]
	if err := conn.Bind(entry.DN, password); err != nil {
		if ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultUnwillingToPerform, ldap.LDAPResultConstraintViolation) {
			return nil, wrong
		}
		return nil, away(err)
	}
	who = &Person{Origin: "ldap " + strings.ToLower(entry.DN), Name: name, Email: entry.GetAttributeValue("mail")}
	for _, called := range []string{entry.GetAttributeValue("uid"), entry.GetAttributeValue("sAMAccountName")} {
		if called != "" {
			who.Name = called
			break
		}
	}
	for _, full := range []string{entry.GetAttributeValue("displayName"), entry.GetAttributeValue("cn")} {
		if full != "" {
			who.FullName = full
			break
		}
	}
	if err := l.asSearcher(conn); err != nil {
		return nil, away(err)
	}
	groups, err := conn.Search(ldap.NewSearchRequest(l.cfg.Base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, mostGroups, 10, false, fill(l.cfg.GroupFilter, who.Name, entry.DN), []string{"cn"}, nil))
	if err != nil {
		return nil, away(err)
	}
	for _, group := range groups.Entries {
		who.Groups = append(append(who.Groups, group.DN), group.GetAttributeValues("cn")...)
	}
	return who, nil
}
