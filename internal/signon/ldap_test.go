package signon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"

	"flowdrive/internal/errs"
	"flowdrive/internal/signontest"
)

// TestDirectoryAttacked: a directory that takes log-ins without a password for good ones, that
// refers to others, or has locked or moved somebody lets nobody in who should not be.
func TestDirectoryAttacked(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	elsewhere, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = elsewhere.Close() })
	go func() {
		if conn, err := elsewhere.Accept(); err == nil {
			_ = conn.Close()
			asked <- struct{}{}
		}
	}()
	at := signontest.Slapd(t, "allow bind_anon_cred bind_anon_dn", `
dn: uid=out,dc=example,dc=org
objectClass: inetOrgPerson
uid: out
cn: Out
sn: Out
userPassword: right
pwdAccountLockedTime: 000001010000Z

dn: ou=old,dc=example,dc=org
objectClass: organizationalUnit
ou: old

dn: ou=new,dc=example,dc=org
objectClass: organizationalUnit
ou: new

dn: uid=moved,ou=old,dc=example,dc=org
objectClass: inetOrgPerson
uid: moved
cn: Moved
sn: Moved
userPassword: right

dn: uid=twin,ou=old,dc=example,dc=org
objectClass: inetOrgPerson
uid: twin
cn: Twin
sn: Twin
userPassword: right

dn: uid=twin,ou=new,dc=example,dc=org
objectClass: inetOrgPerson
uid: twin
cn: Twin
sn: Twin
userPassword: right

dn: ou=far,dc=example,dc=org
objectClass: referral
objectClass: extensibleObject
ou: far
ref: ldap://`+elsewhere.Addr().String()+`/ou=far,dc=example,dc=org
`)
	l := NewLDAP(LDAPConfig{URL: at, Base: "dc=example,dc=org", BindDN: "cn=searcher,dc=example,dc=org", BindPassword: "look"})
	for what, one := range map[string][2]string{
		"no password where that is a log-in of nobody": {"ann", ""}, "somebody locked": {"out", "right"}, "two of a name": {"twin", "right"},
		"somebody elsewhere": {"far", "right"}, "a filter": {"*)(uid=*", "right"}, "a filter that ends": {"ann))(|(uid=*", "right"}, "a byte 0": {"ann\x00", "right"},
	} {
		if who, err := l.LogIn(t.Context(), one[0], one[1]); !errs.Is(err, errs.LogIn) {
			t.Errorf("%s: %+v, %v", what, who, err)
		}
	}
	if who, err := l.LogIn(t.Context(), "ann", "right"); err != nil || who.Name != "ann" {
		t.Errorf("ann beside them: %+v, %v", who, err)
	}
	select {
	case <-asked:
		t.Error("the directory to which it refers was asked")
	default:
	}
	whole := NewLDAP(LDAPConfig{URL: at, Base: "ou=far,dc=example,dc=org", BindDN: "cn=searcher,dc=example,dc=org", BindPassword: "look"})
	if who, err := whole.LogIn(t.Context(), "ann", "right"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("a base that is elsewhere: %+v, %v", who, err)
	}
	before, err := l.LogIn(t.Context(), "moved", "right")
	if err != nil || before.Origin != "ldap uid=moved,ou=old,dc=example,dc=org" {
		t.Fatalf("before somebody moves: %+v, %v", before, err)
	}
	conn, err := ldap.DialURL(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := errors.Join(conn.Bind("cn=root,dc=example,dc=org", "all"), conn.ModifyDN(ldap.NewModifyDNRequest("uid=moved,ou=old,dc=example,dc=org", "uid=moved", true, "ou=new,dc=example,dc=org"))); err != nil {
		t.Fatal(err)
	}
	if after, err := l.LogIn(t.Context(), "moved", "right"); err != nil || after.Origin != "ldap uid=moved,ou=new,dc=example,dc=org" {
		t.Errorf("who has moved is somebody else, whom an administrator connects: %+v, %v", after, err)
	}
}

// TestDirectoryEncrypted: StartTLS ends at a certificate that is not for the directory's name
// or that nobody has signed, before any password is sent.
func TestDirectoryEncrypted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, goodKey := certificateOf(t, dir, "good", net.IPv4(127, 0, 0, 1))
	wrong, wrongKey := certificateOf(t, dir, "wrong", net.IPv4(192, 0, 2, 1))
	trusted := x509.NewCertPool()
	for _, file := range []string{good, wrong} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		trusted.AppendCertsFromPEM(text)
	}
	for _, test := range []struct {
		name      string
		cert, key string
		tls       *tls.Config
		in        bool
	}{
		{"a good one", good, goodKey, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}, true},
		{"one for another name", wrong, wrongKey, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}, false},
		{"one that nobody has signed", good, goodKey, nil, false},
	} {
		l := NewLDAP(LDAPConfig{
			URL: signontest.Slapd(t, "TLSCertificateFile "+test.cert+"\nTLSCertificateKeyFile "+test.key), StartTLS: true,
			Base: "dc=example,dc=org", BindDN: "cn=searcher,dc=example,dc=org", BindPassword: "look",
		})
		l.tls = test.tls
		who, err := l.LogIn(t.Context(), "ann", "right")
		if test.in && (err != nil || who.Name != "ann") || !test.in && !errs.Is(err, errs.Unavailable) {
			t.Errorf("%s: %+v, %v", test.name, who, err)
		}
	}
}

// certificateOf writes a certificate for an address, signed by itself, and its key.
func certificateOf(t *testing.T, dir, name string, at net.IP) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IPAddresses: []net.IP{at}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// TestLDAP: a real directory says who has a name and a password. No name is more than a
// name, and no password is none.
func TestLDAP(t *testing.T) {
	t.Parallel()
	cfg := LDAPConfig{URL: signontest.Slapd(t), Base: "dc=example,dc=org", BindDN: "cn=searcher,dc=example,dc=org", BindPassword: "look"}
	l := NewLDAP(cfg)
	if err := l.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	who, err := l.LogIn(t.Context(), "Ann", "right")
	if err != nil || who.Origin != "ldap uid=ann,dc=example,dc=org" || who.Name != "ann" || who.FullName != "Ann Lee" || who.Email != "ann.lee@example.com" || !slices.Contains(who.Groups, "accounting") {
		t.Fatalf("ann is %+v, %v", who, err)
	}
	if who, err := l.LogIn(t.Context(), "a*(b", "star"); err != nil || who.Name != "a*(b" || len(who.Groups) > 0 {
		t.Errorf("a name with the signs of filters: %+v, %v", who, err)
	}
	for _, wrong := range [][2]string{{"ann", "wrong"}, {"ann", ""}, {"", "right"}, {"nobody", "right"}, {"*", "right"}, {"a*", "right"}, {"ann)(uid=*", "right"}, {"searcher", "look"}} {
		if who, err := l.LogIn(t.Context(), wrong[0], wrong[1]); !errs.Is(err, errs.LogIn) {
			t.Errorf("%q with %q: %+v, %v", wrong[0], wrong[1], who, err)
		}
	}
	cfg.BindPassword = "changed"
	if _, err := NewLDAP(cfg).LogIn(t.Context(), "ann", "right"); !errs.Is(err, errs.Unavailable) || strings.Contains(err.Error(), "changed") {
		t.Errorf("with a wrong password of the searcher: %v", err)
	}
	if err := NewLDAP(cfg).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "ldap-bind-dn") || strings.Contains(err.Error(), "changed") {
		t.Errorf("a check with it: %v", err)
	}
	for want, change := range map[string]func(c *LDAPConfig){
		"it refuses ldap-bind-dn": func(*LDAPConfig) {},
		"nothing at ldap-base":    func(c *LDAPConfig) { c.BindPassword, c.Base = "look", "ou=nowhere,dc=example,dc=org" },
		"it cannot be reached":    func(c *LDAPConfig) { c.URL = "ldap://127.0.0.1:1" },
	} {
		wrong := cfg
		change(&wrong)
		if err := NewLDAP(wrong).Check(t.Context()); err == nil || !strings.Contains(Why(err), want) {
			t.Errorf("%v is told as %q, want %q", err, Why(err), want)
		}
	}
	cfg.BindPassword, cfg.StartTLS = "look", true
	if _, err := NewLDAP(cfg).LogIn(t.Context(), "ann", "right"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("without the encryption that is asked for: %v", err)
	}
	cfg.URL = "ldap://127.0.0.1:1"
	if _, err := NewLDAP(cfg).LogIn(t.Context(), "ann", "right"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("a directory that is away: %v", err)
	}
}

func TestCheckLDAP(t *testing.T) {
	t.Parallel()
	good := LDAPConfig{URL: "ldaps://ldap.example.org", Base: "dc=example,dc=org"}
	for name, test := range map[string]struct {
		change func(*LDAPConfig)
		want   string
	}{
		"all is well":         {func(*LDAPConfig) {}, ""},
		"StartTLS":            {func(c *LDAPConfig) { c.URL, c.StartTLS = "ldap://ldap.example.org", true }, ""},
		"on this machine":     {func(c *LDAPConfig) { c.URL = "ldap://127.0.0.1:3890" }, ""},
		"in the clear":        {func(c *LDAPConfig) { c.URL = "ldap://ldap.example.org" }, "in the clear"},
		"encrypted twice":     {func(c *LDAPConfig) { c.StartTLS = true }, "leave it out"},
		"no address":          {func(c *LDAPConfig) { c.URL = "ldap.example.org" }, "not a valid address"},
		"no base":             {func(c *LDAPConfig) { c.Base = "" }, "--ldap-base"},
		"a searcher unknown":  {func(c *LDAPConfig) { c.BindDN = "cn=x" }, "--ldap-bind-password-file"},
		"no DN":               {func(c *LDAPConfig) { c.BindDN, c.BindPassword = "x", "hush" }, "--ldap-bind-dn"},
		"of Active Directory": {func(c *LDAPConfig) { c.BindDN, c.BindPassword = `FIRM\flow`, "hush" }, ""},
		"no filter":           {func(c *LDAPConfig) { c.UserFilter = "(uid={name}" }, "not a valid filter"},
		"everybody":           {func(c *LDAPConfig) { c.UserFilter = "(objectClass=person)" }, "finds the same for everybody"},
	} {
		cfg := good
		test.change(&cfg)
		var said []string
		for _, err := range CheckLDAP(cfg) {
			said = append(said, err.Error())
		}
		all := strings.Join(said, "\n")
		if (test.want == "") != (all == "") || !strings.Contains(all, test.want) || strings.Contains(all, "hush") {
			t.Errorf("%s: %q, want %q", name, all, test.want)
		}
	}
}

// TestCheckIssuer: what a provider says is believed, so that it must come encrypted, or
// from this machine.
func TestCheckIssuer(t *testing.T) {
	t.Parallel()
	for issuer, good := range map[string]bool{
		"https://login.example.org/realms/firm": true, "http://localhost:9000/": true, "http://127.0.0.1:9000/": true, "http://[::1]:9000/": true,
		"http://login.example.org/": false, "http://127.example.org/": false, "login.example.org": false, "https://ann@login.example.org/": false, "https://login.example.org/?x": false,
	} {
		if err := CheckIssuer(issuer); (err == nil) != good {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}
