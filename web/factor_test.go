package web

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// TestSecondFactor: it is set up with a code, asked for at log-in, good once, replaced by a
// recovery code, and reset by an administrator. Basic log-in takes app passwords only.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	now := time.Now()
	g.wall = func() time.Time { return now }
	ann := g.browse(t, "ann")
	page := ann.get(t, "/account/totp")
	secret := regexp.MustCompile(`name="secret" value="([A-Z2-7]{32})"`).FindStringSubmatch(page.body)
	if secret == nil || !strings.Contains(page.body, "<svg") || page.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the page has no secret, or may be kept: %s", page.body)
	}
	code := func(step int) string {
		text, err := totp.GenerateCode(secret[1], now.Add(time.Duration(step)*30*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	wrong := func(what string, a *answer, status int, text string) {
		t.Helper()
		if a.status != status || !strings.Contains(a.body, text) {
			t.Errorf("%s: %d, want %d and %q in %s", what, a.status, status, text, a.body)
		}
	}
	wrong("a wrong password", ann.post(t, "/account/totp", "do", "set", "secret", secret[1], "password", "wrong", "code", code(0)), 422, "wrong")
	wrong("a wrong code", ann.post(t, "/account/totp", "do", "set", "secret", secret[1], "password", password, "code", "12345"), 422, "is not the code")
	wrong("a secret of one's own", ann.post(t, "/account/totp", "do", "set", "secret", "A", "password", password, "code", code(0)), 422, "secret")
	made := ann.post(t, "/account/totp", "do", "set", "secret", secret[1], "password", password, "code", code(-1))
	codes := regexp.MustCompile(`<li>([a-z2-7-]{19})</li>`).FindAllStringSubmatch(made.body, -1)
	if made.status != 200 || len(codes) != 10 {
		t.Fatalf("set up: %d, %d recovery codes: %s", made.status, len(codes), made.body)
	}
	if again := ann.post(t, "/account/totp", "do", "set", "secret", secret[1], "password", password, "code", code(1)); again.status != http.StatusForbidden {
		t.Errorf("a second one: %d", again.status)
	}

	g.must(t, "ann", 401, "GET", "/dav/", "")
	form := g.must(t, "admin", 200, "GET", "/dav/Admin/Users/ann.json", "").body
	if !strings.Contains(form, `"secondFactor": true`) || strings.Contains(form, secret[1]) {
		t.Errorf("the form of the user: %s", form)
	}
	// half begins a log-in and returns what its second form sends.
	half := func() (*browser, string) {
		b := g.browse(t, "")
		a := b.post(t, "/login", "name", "ann", "password", password)
		token := regexp.MustCompile(`name="half" value="([a-z2-7]+)"`).FindStringSubmatch(a.body)
		if a.status != 200 || token == nil || a.header.Get("Set-Cookie") != "" {
			t.Fatalf("log-in with the password alone: %d %s", a.status, a.body)
		}
		return b, token[1]
	}
	// A log-in that has begun does not outlive the password with which it did.
	b, token := half()
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Users/ann.json", `{"password": "another long password"}`)
	wrong("the password before", b.post(t, "/login", "half", token, "code", strings.ToUpper(codes[4][1])), 401, "begin again")
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Users/ann.json", `{"password": "`+password+`"}`)
	b, token = half()
	wrong("a code that set it up", b.post(t, "/login", "half", token, "code", code(-1)), 401, "used before. Wait for the next one; recovery codes are good once. If each code is wrong, compare the clock of your device with that of this server, which shows "+now.UTC().Format("15:04:05 UTC"))
	if a := b.post(t, "/login", "half", token, "code", code(0), "name", "ann"); a.status != http.StatusSeeOther || a.header.Get("Set-Cookie") == "" {
		t.Fatalf("the code: %d %s", a.status, a.body)
	}
	wrong("the same log-in", g.browse(t, "").post(t, "/login", "half", token, "code", code(1)), 401, "begin with your password")
	b, token = half()
	wrong("the same code", b.post(t, "/login", "half", token, "code", code(0)), 401, "used before")
	if a := b.post(t, "/login", "half", token, "code", strings.ToUpper(codes[3][1])); a.status != http.StatusSeeOther {
		t.Errorf("a recovery code: %d %s", a.status, a.body)
	}
	b, token = half()
	wrong("the same recovery code", b.post(t, "/login", "half", token, "code", codes[3][1]), 401, "good once")
	for range 3 {
		b.post(t, "/login", "half", token, "code", "000000")
	}
	wrong("too many", b.post(t, "/login", "half", token, "code", "000000"), 429, "Too many")

	g.must(t, "admin", 422, "PUT", "/dav/Admin/Users/bob.json", `{"secondFactor": true}`)
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Users/ann.json", `{"fullName": "Ann"}`)
	g.must(t, "ann", 401, "GET", "/dav/", "")
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Users/ann.json", `{"secondFactor": false}`)
	g.must(t, "ann", 200, "GET", "/dav/", "")
	if log := g.must(t, "admin", 200, "GET", "/dav/Admin/Audit/2012-11-09.jsonl", "").body; !strings.Contains(log, `"second-factor-change"`) || !strings.Contains(log, `"reset"`) || strings.Contains(log, secret[1]) {
		t.Errorf("the audit log: %s", log)
	}
}
