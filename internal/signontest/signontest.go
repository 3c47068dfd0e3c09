// Package signontest runs what people log in at, for tests: a directory that speaks LDAP, and a
// provider of OpenID Connect.
package signontest

import (
	"context"
	"log/slog" //nolint:depguard // the provider takes no other logger
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

// ClientID and ClientSecret are those by which a server is known to the provider.
const (
	ClientID     = "flowdrive"
	ClientSecret = "the secret"
)

// Provider runs a provider of OpenID Connect that sends people back to that address. It knows
// "test-user@127.0.0.1" by the password "verysecure". Tests that run one do not run in parallel:
// it has its clients in one place.
func Provider(t *testing.T, callback string) *httptest.Server {
	t.Helper()
	storage.RegisterClients(storage.WebClient(ClientID, ClientSecret, callback))
	var handler http.Handler
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(p.Close)
	handler = exampleop.SetupServer(p.URL+"/", storage.NewStorage(storage.NewUserStore(p.URL)), slog.New(slog.DiscardHandler), false)
	return p
}

// people are whom the directory knows, each with a password: ann has "right".
const people = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: cn=searcher,dc=example,dc=org
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: searcher
userPassword: look

dn: uid=ann,dc=example,dc=org
objectClass: inetOrgPerson
uid: ann
cn: Ann Lee
sn: Lee
mail: ann.lee@example.com
userPassword: right

dn: uid=a*(b,dc=example,dc=org
objectClass: inetOrgPerson
uid: a*(b
cn: Star
sn: Star
userPassword: star

dn: cn=policy,dc=example,dc=org
objectClass: device
objectClass: pwdPolicy
cn: policy
pwdAttribute: userPassword
pwdLockout: TRUE

dn: cn=accounting,dc=example,dc=org
objectClass: groupOfNames
cn: accounting
member: uid=ann,dc=example,dc=org
`

// Slapd runs the directory of Debian with those people and more, and returns its address.
// more are lines of its settings before its database, then entries.
func Slapd(t *testing.T, more ...string) string {
	t.Helper()
	program, err := exec.LookPath("/usr/sbin/slapd")
	if err != nil {
		t.Skip("there is no slapd on this machine; install the package slapd to try a real directory")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "slapd.conf")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	more = append(more, "", "")
	write(config, `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload ppolicy
`+more[0]+`
database mdb
suffix dc=example,dc=org
directory `+dir+`
access to attrs=userPassword by anonymous auth
access to * by dn.exact="cn=searcher,dc=example,dc=org" read
rootdn cn=root,dc=example,dc=org
rootpw all
overlay ppolicy
ppolicy_default cn=policy,dc=example,dc=org
`)
	write(filepath.Join(dir, "people.ldif"), people+more[1])
	if out, err := exec.CommandContext(t.Context(), program, "-T", "add", "-f", config, "-l", filepath.Join(dir, "people.ldif")).CombinedOutput(); err != nil {
		t.Fatalf("fill the directory: %v %s", err, out)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "ldap://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	server := exec.CommandContext(ctx, program, "-d", "0", "-h", at, "-f", config)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = server.Wait() // it was killed
	})
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(at, "ldap://"))
		if err == nil {
			_ = conn.Close()
			return at
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-again.C:
		}
	}
}
