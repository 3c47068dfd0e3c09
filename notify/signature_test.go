package notify

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"flowdrive/engine/outbox"
)

// TestSignatureIsStandard: the signature of a notice is what the library of Standard
// Webhooks itself takes, for the bytes that were sent and for no others. Ours is also
// the one that the library writes.
func TestSignatureIsStandard(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	theirs, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := standardwebhooks.NewWebhook("whsec_" + strings.Repeat("A", 32))
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range []struct{ secret, given string }{{"default", ""}, {"other", "other"}} {
		var header http.Header
		var body []byte
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			header = r.Header
			if body, err = io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
		}))
		defer s.Close()
		d := Destination{Template: StandardTemplate, URL: s.URL + "/hook", Secret: names.given}
		g := newGateway(t, Config{Hosts: allow(t, at(s)), Destinations: []Destination{d}, Secrets: secretsOf(t, map[string]string{names.secret: secret})})
		delivery := &outbox.Delivery{News: &outbox.Bulletin{Destination: d.ID(), Body: samples()["task"].Body()}}
		if got := deliver(t, g, delivery); got != "nothing" {
			t.Fatal(got)
		}
		if err := theirs.VerifyIgnoringTimestamp(body, header); err != nil { // the clock of the test stands still
			t.Errorf("%s: the library refuses it: %v", names.secret, err)
		}
		if err := theirs.VerifyIgnoringTimestamp(append(body, ' '), header); err == nil {
			t.Errorf("%s: the library takes other bytes", names.secret)
		}
		if err := wrong.VerifyIgnoringTimestamp(body, header); err == nil {
			t.Errorf("%s: the library takes another key", names.secret)
		}
		if want, err := theirs.Sign(delivery.Key, noon(), body); err != nil || header.Get("Webhook-Signature") != want {
			t.Errorf("%s: the signature is %q, theirs %q (%v)", names.secret, header.Get("Webhook-Signature"), want, err)
		}
	}
}
