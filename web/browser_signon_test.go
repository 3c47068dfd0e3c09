//go:build browser

package web

import (
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"flowdrive/internal/signontest"
)

// TestBrowserSignOn: people log in to the program with a password and the code of a second factor,
// at a real provider of OpenID Connect, and with the password of a real directory.
func TestBrowserSignOn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := &url.URL{Scheme: "http", Host: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	provider := signontest.Provider(t, base.JoinPath("/login/oidc/callback").String())
	dir := t.TempDir()
	config, secret := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "ldap-password")
	for file, text := range map[string]string{secret: "look\n", config: fmt.Sprintf(`addr: %s
public-url: %s
oidc-issuer: %s/
oidc-client-id: %s
oidc-client-secret: %s
oidc-create: true
ldap-url: %s
ldap-base: dc=example,dc=org
ldap-bind-dn: cn=searcher,dc=example,dc=org
ldap-bind-password-file: %s
`, base.Host, base, provider.URL, signontest.ClientID, signontest.ClientSecret, signontest.Slapd(t), secret)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	launch(t, "server", "--config", config, "--data", filepath.Join(dir, "data"))
	awaitReady(t, base)
	g := &rig{http: &httptest.Server{URL: base.String()}}
	in := func(t *testing.T, w *window, who string) {
		t.Helper()
		if at := eval[string](w, "location.pathname"); at != "/tasks" {
			t.Fatalf("the log-in leads to %s: %s", at, w.text("body"))
		}
		w.visit("/account")
		if page := w.text("main"); !strings.Contains(page, who) {
			t.Errorf("the account is not that of %s: %s", who, page)
		}
	}

	t.Run("password and code", func(t *testing.T) {
		w := g.open(t, 1440)
		w.visit("/login")
		w.logIn("admin", password)
		in(t, w, "admin")
		w.visit("/account/totp")
		w.stop("second factor")
		secret := eval[string](w, `document.querySelector("[name=secret]").value`)
		code := func(step time.Duration) string {
			text, err := totp.GenerateCode(secret, time.Now().Add(step))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		// A code is good once: that of the step before is left to set it up.
		w.then(fmt.Sprintf(`document.querySelector("#p").value = %q; document.querySelector("#c").value = %q; document.querySelector("#p").form.requestSubmit()`, password, code(-30*time.Second)))
		if codes := eval[int](w, `document.querySelectorAll("#codes li").length`); codes != 10 {
			t.Fatalf("it is set up with %d recovery codes: %s", codes, w.text("main"))
		}
		again := g.open(t, 1440)
		again.visit("/login")
		again.logIn("admin", password)
		again.stop("code")
		again.then(fmt.Sprintf(`document.querySelector("#c").value = %q; document.querySelector("#c").form.requestSubmit()`, code(0)))
		in(t, again, "admin")
	})
	t.Run("OpenID Connect", func(t *testing.T) {
		w := g.open(t, 1440)
		w.expect("status of 404") // the provider has no icon
		w.visit("/login")
		w.stop("log-in with a provider")
		w.then(`document.querySelector("a[href^='/login/oidc']").click()`)
		if at := eval[string](w, "location.origin"); at != provider.URL {
			t.Fatalf("the browser is at %s, not at the provider", at)
		}
		w.then(`document.querySelector("#username").value = "test-user@127.0.0.1"; document.querySelector("#password").value = "verysecure"; document.querySelector("form").requestSubmit()`)
		in(t, w, "test-user@127.0.0.1")
	})
	t.Run("LDAP", func(t *testing.T) {
		w := g.open(t, 1440)
		w.expect("status of 4") // the answer to the wrong log-in
		w.visit("/login")
		w.logIn("ann", "wrong")
		if said := w.text("#refused"); said == "" {
			t.Errorf("a wrong password says nothing: %s", w.text("main"))
		}
		w.logIn("ann", "right")
		in(t, w, "Ann Lee")
	})
}
