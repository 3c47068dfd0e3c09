package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"
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
	sign(h, s.named("it"), "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got, want := h.Get("Webhook-Signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseSecrets(t *testing.T) {
	t.Parallel()
	_, err := ParseSecrets(map[string]string{
		"good": "sixteen bytes it", "short": "tiny-secret", "empty": "", "wrong": "whsec_tiny-secret!", "weak": "whsec_dGlueS1zZWNyZXQ=",
	})
	if err == nil {
		t.Fatal("got no error")
	}
	want := "empty: has only 0 bytes and can be guessed; it needs at least 16\nshort: has only 11 bytes and can be guessed; it needs at least 16\n" +
		"weak: has only 11 bytes and can be guessed; it needs at least 16\nwrong: what follows whsec_ must be base64"
	if err.Error() != want {
		t.Errorf("got %s", err)
	}
	g := newGateway(t, Config{})
	if g.Secrets, err = ParseSecrets(map[string]string{"billing": "sixteen bytes it"}); err != nil {
		t.Fatal(err)
	}
	if got := g.RefusesSecret("billing"); got != "" {
		t.Errorf("got %s", got)
	}
	if got := g.RefusesSecret("biling"); !strings.Contains(got, `did you mean "billing"?`) {
		t.Errorf("got %s", got)
	}
}
