package route_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOutsideWarnings: secrets in places that take none, credentials that are written out,
// and an empty list in retry are warned of; what is right is not.
func TestOutsideWarnings(t *testing.T) {
	t.Parallel()
	const (
		at       = "/actions/go/onFire/0/"
		within   = "has {secret: …} within a text, which is sent as it stands: a secret is the whole value, so put all of the text into the secret"
		inBody   = "is sent as it stands: a secret is put in only as url, as the value of a header and as secret, by which the request is signed"
		literal  = "is a credential that everyone reads who reads the route; use {secret: <name>}, whose text an administrator sets"
		inQuery  = "has a credential (token) that everyone reads who reads the route; use {secret: <name>}, whose text an administrator sets as the whole url"
		vainList = "is empty and has no effect: the step is tried again as without on. times: 0 has it never tried again"
	)
	for _, tt := range []struct {
		step string
		want []string
	}{
		{`http: {url: "https://x.org/a", headers: {A: "Bearer {secret: tok}"}}`, []string{at + "http/headers/A: " + within}},
		{`http: {url: "https://x.org/a", headers: {Authorization: 'Bearer {"secret": "tok"}'}}`, []string{at + "http/headers/Authorization: " + within}},
		{`http: {url: "https://x.org/a", value: {a: [{secret: tok}]}}`, []string{at + "http/value/a/0: " + inBody}},
		{`http: {url: "https://x.org/a", value: {a: {secret: tok, b: 1}}}`, nil},
		{`http: {url: "https://x.org/a?x=1&token=abcdef"}`, []string{at + "http/url: " + inQuery}},
		{`http: {url: "https://x.org/a?token=$__XATTR_kind__;&tokens=5&token="}`, nil},
		{`http: {url: "https://x.org/a", headers: {Authorization: "Basic abc", X-Api-Key: abc, Accept: text/html, X-Kind: token}}`, []string{at + "http/headers/Authorization: " + literal, at + "http/headers/X-Api-Key: " + literal}},
		{`http: {url: {secret: at}, headers: {Authorization: {secret: tok}}, secret: sign}`, nil},
		{`mail: {to: ["user:ann"], subject: a, text: "the password is {secret: tok}"}`, []string{at + "mail/text: " + within}},
		{`mail: {to: ["user:ann"], subject: a, text: {secret: tok}}`, nil},
		{`exec: {command: c, args: ["{secret: tok}"], retry: {times: 3, on: []}}`, []string{at + "exec/args/0: " + within, at + "exec/retry/on: " + vainList}},
		{`exec: {command: c, retry: {times: 3, on: [exit]}}`, nil},
		{`call: {name: f, value: {secret: tok}}`, []string{at + "call/value: is sent as it stands: a secret is put in only by http and mail"}},
	} {
		text := "name: x\nxattrs: {kind: {}}\nstates: {open: {type: start}, done: {type: complete}}\n" +
			"actions:\n  begin: {trigger: init}\n  go: {in: [open], allowed: [everyone], to: done, onFire: [{" + tt.step + "}], onError: {to: open}}\n"
		if diff := cmp.Diff(tt.want, warningsOf(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.step, diff)
		}
	}
}
