package webhook

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signedRequest is a request that another implementation has signed.
type signedRequest struct {
	check  Check
	header map[string]string
	body   string
	at     int64 // Unix seconds of its signature
}

func (r *signedRequest) incoming(body string, now time.Time) *Incoming {
	header := http.Header{}
	for name, value := range r.header {
		header.Set(name, value)
	}
	return &Incoming{Header: header, Body: []byte(body), Now: now}
}

// recorded are requests with signatures that were not made by this program.
func recorded() map[string]*signedRequest {
	return map[string]*signedRequest{
		// GitHub documents these values for trying out an implementation.
		"github": {
			check: Check{Scheme: GitHub, Secret: "It's a Secret to Everybody"}, body: "Hello, World!", at: 1700000000,
			header: map[string]string{"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
		},
		// So does Standard Webhooks.
		"standard-webhooks": {
			check: Check{Scheme: Standard, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, body: `{"test": 2432232314}`, at: 1614265330,
			header: map[string]string{
				"Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp": "1614265330",
				"Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,bm9ldHUjKzFob2VudXRob2VodWUzMjRvdWVvdW9ldQo=",
			},
		},
		// Stripe documents the form, and these headers were made by it with openssl, as
		// docs/hooks.md shows; so was the plain HMAC.
		"stripe": {
			check: Check{Scheme: Stripe, Secret: "whsec_stripe_test"}, body: `{"id": "evt_1"}`, at: 1492774577,
			header: map[string]string{"Stripe-Signature": "t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,v1=5ef0c7a9697ac0db1e8a7a3f4faf0c46334d3c28c454868f154c29f757621922,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39"},
		},
		"hmac": {
			check: Check{Scheme: HMAC, Secret: "whsec_stripe_test", Header: "X-Mac"}, body: `{"id": "evt_1"}`, at: 1492774577,
			header: map[string]string{"X-Mac": "sbeBYnTY1pUfaqmzH78LwnyY+mOv2hHy10Jh8Y8FSsU="},
		},
	}
}

// TestSignaturesOfOthers: signatures that others have made are taken for the bytes that
// they are of, with the secret and at the time at which they were made, and for nothing
// else.
func TestSignaturesOfOthers(t *testing.T) {
	t.Parallel()
	for name, r := range recorded() {
		now := time.Unix(r.at, 0)
		if err := r.check.Verify(r.incoming(r.body, now)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.check.Verify(r.incoming(r.body+" ", now)); err == nil {
			t.Errorf("%s: another body is taken", name)
		}
		wrong := r.check
		wrong.Secret += "x"
		if err := wrong.Verify(r.incoming(r.body, now)); err == nil {
			t.Errorf("%s: another secret is taken", name)
		}
		for _, header := range r.check.headers() {
			for _, place := range []int{0, 1} { // the one that matches first, or the other one
				twice := r.incoming(r.body, now)
				twice.Header[header] = slices.Insert(slices.Clone(twice.Header[header]), place, "x")
				if err := r.check.Verify(twice); err == nil || !strings.Contains(err.Error(), "twice") {
					t.Errorf("%s: %s is there twice: %v", name, header, err)
				}
			}
		}
		timed := r.check.Scheme == Standard || r.check.Scheme == Stripe
		for _, off := range []time.Duration{-Tolerance - time.Second, Tolerance + time.Second} {
			if err := r.check.Verify(r.incoming(r.body, now.Add(off))); (err == nil) == timed {
				t.Errorf("%s: %v off: %v", name, off, err)
			}
		}
		if err := r.check.Verify(&Incoming{Header: http.Header{}, Body: []byte(r.body), Now: now}); err == nil {
			t.Errorf("%s: no signature is taken", name)
		}
	}
}

// TestTheLibrarySignsAndWeVerify: what the library of Standard Webhooks signs is taken,
// with secrets of both forms; what is changed of it afterwards is not.
func TestTheLibrarySignsAndWeVerify(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	body := []byte(`{"type": "invoice.paid", "data": {"id": "ä"}}`)
	prefixed, err := standardwebhooks.NewWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := standardwebhooks.NewWebhookRaw([]byte("a plain secret"))
	if err != nil {
		t.Fatal(err)
	}
	for secret, theirs := range map[string]*standardwebhooks.Webhook{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": prefixed, "a plain secret": plain} {
		signature, err := theirs.Sign("msg_1", now, body)
		if err != nil {
			t.Fatal(err)
		}
		in := func(id, signature string) *Incoming {
			return &Incoming{
				Header: http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)}, "Webhook-Signature": {signature}},
				Body:   body, Now: now,
			}
		}
		check := Check{Scheme: Standard, Secret: secret}
		if err := check.Verify(in("msg_1", signature)); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
		if id := check.ID(in("msg_1", signature)); id != "msg_1" {
			t.Errorf("%s: known by %q", secret, id)
		}
		for what, changed := range map[string]*Incoming{
			"another id": in("msg_2", signature), "another version": in("msg_1", strings.Replace(signature, "v1,", "v2,", 1)), "none": in("msg_1", ""),
		} {
			if err := check.Verify(changed); err == nil {
				t.Errorf("%s: %s is taken", secret, what)
			}
		}
	}
}

// TestAnnounced: what cannot be signed rightly is known before its body is there.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	for name, r := range recorded() {
		now := time.Unix(r.at, 0)
		if err := r.check.Announced(r.incoming("", now)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.check.Announced(&Incoming{Header: http.Header{}, Now: now}); err == nil {
			t.Errorf("%s: without a signature", name)
		}
		timed := r.check.Scheme == Standard || r.check.Scheme == Stripe
		if err := r.check.Announced(r.incoming("", now.Add(time.Hour))); (err != nil) != timed {
			t.Errorf("%s: an hour later: %v", name, err)
		}
	}
	if err := (Check{Scheme: None}).Announced(&Incoming{}); err != nil {
		t.Error(err)
	}
}
