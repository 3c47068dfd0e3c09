package engine_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/hook"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestHookRefusals: the administrators of a route are told of requests that its hook
// refuses for what they are, once a day at most and once that it is over, and late.txt
// has them (docs/contract/routes.md#requests-that-a-hook-refuses).
func TestHookRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside, c.Channels = room, engine.Channels{Mail: true}
				c.Secret = func(string) (string, bool) { return "s3cret", true }
			}
		})
		defer stop()
		w.as("admin").mustPutParty(identity.User, "bob", `{"email": "bob@example.org"}`)
		w.as("admin").mustPutRoute("in", "context: everyone\naccess: {admin: [bob], start: [everyone]}\nstates: {open: {type: start}}\nactions: {begin: {trigger: init}}\n")
		put := func(name, document string) string {
			url := w.form(try(w.Hooks.PutHook(t.Context(), w.as("bob").request(nil), "in", name, []byte(document))).must(w, "the hook").Once).get("url")
			return strings.Trim(url[strings.LastIndexByte(url, '/')+1:], `"`)
		}
		token := put("box", `{"verify": {"scheme": "hmac", "secret": "x"}, "maxBytes": 10, "rate": "30/minute"}`)
		send := func(secret, body string) error {
			w.clock.Set(clock.Real{}.Now())
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write([]byte(body))
			_, err := w.Hooks.Receive(t.Context(), hook.Request{
				Token: token, Header: http.Header{"Content-Type": {"text/plain"}, "X-Signature": {hex.EncodeToString(mac.Sum(nil))}},
				Body: strings.NewReader(body), Length: int64(len(body)), Wall: clock.Real{}.Now(),
			})
			return err
		}
		told := func() string {
			await(time.Second)
			room.mu.Lock()
			defer room.mu.Unlock()
			defer func() { room.told = nil }()
			return strings.Join(room.told, "\n")
		}
		const wrong, failed, mended, still = "in/box   a request cannot be verified", "bob@example.org: Failed: the hook box of in: a request cannot be verified: the signature does not match the body and the secret", "bob@example.org: Mended: the hook box of in", "bob@example.org: Still failed: the hook box of in: a request cannot be verified: the signature does not match the body and the secret"
		late := func(what string, want bool) {
			t.Helper()
			for who, sees := range map[string]bool{"bob": want, "admin": want, "sam": false} {
				if page := w.as(who).late(); strings.Contains(page, wrong) != sees {
					t.Errorf("%s: late.txt of %s is to have it: %v\n%s", what, who, sees, page)
				}
			}
		}
		w.kind("a wrong signature", send("other", "a"), errs.NotAllowed)
		same(t, "a wrong signature", told(), failed)
		late("a wrong signature", true)
		for range 12 {
			w.kind("another", send("other", "b"), errs.NotAllowed)
		}
		same(t, "once", told(), "")
		w.kind("a right one", send("s3cret", "c"), "")
		same(t, "over", told(), mended)
		late("over", false)
		w.kind("again", send("other", "d"), errs.NotAllowed)
		late("again", true)
		w.kind("and right again", send("s3cret", "e"), "")
		late("and right again", false)
		w.kind("and wrong", send("other", "f"), errs.NotAllowed)
		same(t, "no more within a day", told(), "")
		await(24 * time.Hour)
		same(t, "a day later", told(), still)
		w.kind("right at last", send("s3cret", "g"), "")
		same(t, "over for good", told(), mended)
		await(24 * time.Hour)
		same(t, "the day after", told(), "")

		w.kind("too large", send("s3cret", "12345678901"), errs.TooLarge)
		same(t, "too large", told(), "bob@example.org: Failed: the hook box of in: The body is larger than 10 bytes, the most that this address takes.")
		w.kind("small", send("s3cret", "h"), "")
		same(t, "small", told(), mended)

		for range 40 {
			if err := send("s3cret", "i"); err != nil && !errs.Is(err, errs.TooMany) {
				t.Fatal(err)
			}
		}
		const rush = "the hook box of in: more requests came than 30/minute, the rate that it takes"
		same(t, "too many", told(), "bob@example.org: Failed: "+rush)
		await(24 * time.Hour)
		same(t, "none since", told(), mended)

		day := w.auditText("2000-01-01")
		if n := strings.Count(day, `"action":"hook-request","target":"in/box","outcome":"refused","detail":"a request cannot be verified`); n != 10 {
			t.Errorf("the audit log has %d requests that were refused in a minute, want 10:\n%s", n, day)
		}
	})
}
