package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"flowdrive/route"
)

// signatureOf signs a text with a key in base64.
func signatureOf(t *testing.T, key, text string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(text))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// TestSign is the example of Standard Webhooks.
func TestSign(t *testing.T) {
	t.Parallel()
	s, err := ParseSecrets(map[string]string{"it": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	key, err := s.signingKey("it")
	if err != nil {
		t.Fatal(err)
	}
	sign(h, key, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got, want := h.Get("Webhook-Signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"tiny-secret":            "default: has only 11 bytes and can be guessed; what signs needs at least 16",
		"":                       "default: is empty",
		"whsec_tiny-secret!":     "default: what follows whsec_ must be base64",
		"whsec_dGlueS1zZWNyZXQ=": "default: has only 11 bytes and can be guessed; what signs needs at least 16",
	} {
		if _, err := ParseSecrets(map[string]string{"default": text, "short": "tiny"}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	g := newGateway(t, Config{Hosts: allow(t, "example.org")})
	var err error
	if g.Secrets, err = ParseSecrets(map[string]string{
		"billing": "sixteen bytes it", "short": "tiny-secret", "slack": "https://example.org/services/T0/B0", "elsewhere": "https://other.example/T0/B0",
		"named": "https://me:hunter2@example.org/", "team": "ann@example.org, bob@example.org", "my_team": "x@example.org",
	}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		use        route.ReachKind
		name, want string
	}{
		{route.ReachSecret, "billing", ""},
		{route.ReachSecret, "biling", `did you mean "billing"?`},
		{route.ReachSecret, "short", `the secret "short" has only 11 bytes`},
		{route.ReachSecretText, "short", ""},
		{route.ReachSecretURL, "slack", ""},
		{route.ReachSecretURL, "short", "is not an address"},
		{route.ReachSecretURL, "elsewhere", "setting allow-host"},
		{route.ReachSecretURL, "named", "header Authorization"},
		{route.ReachSecretMail, "team", ""},
		{route.ReachSecretMail, "slack", "is not an e-mail address"},
		{route.ReachSecretMail, "My-Team", ""},
	} {
		got := g.RefusesSecret(nil, test.use, test.name)
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s %s: got %q, want %q", test.use, test.name, got, test.want)
		}
		if strings.Contains(got, "T0/B0") || strings.Contains(got, "hunter2") || strings.Contains(got, "tiny-secret") {
			t.Errorf("%s %s tells the secret: %q", test.use, test.name, got)
		}
	}
}
