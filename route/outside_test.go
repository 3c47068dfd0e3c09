package route_test

import (
	"errors"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestOutside reads steps that reach beyond the server, and every fault that
// they can have.
func TestOutside(t *testing.T) {
	t.Parallel()
	const at = "/actions/finish/onFire/0/"
	for _, tt := range []struct{ step, want string }{
		{"http: {url: 'https://example.org'}", ""},
		{"http: {url: 'http://example.org:8080/a/$__PID__;?q=$m;', method: GET, headers: {X-A: '$__TITLE__;', Content-Type: a/b}, into: x, secret: s}", ""},
		{"http: {url: 'https://[::1]/'}", ""},
		{"http: {url: {cel: xattr.url}}", at + "http/url/secret required, " + at + "http/url/cel unknown-field"},
		{"http: {url: {secret: slack}, headers: {Authorization: {secret: api}, X-A: {cel: actor}}}", ""},
		{"http: {url: {secret: 'a b'}}", at + "http/url/secret format"},
		{"http: {url: 'https://example.org/', headers: {X-A: {secret: api, cel: actor}}}", at + "http/headers/X-A range"},
		{"http: {url: 'https://example.org/', headers: {X-A: {}}}", at + "http/headers/X-A range"},
		{"http: {url: 'https://example.org/', value: {secret: api}}", ""}, // a body like any other
		{"mail: {to: {secret: team}, text: {secret: code}}", ""},
		{"mail: {to: [starter, {secret: team}], subject: {secret: code}}", at + "mail/subject/cel required, " + at + "mail/subject/secret unknown-field"},
		{"mail: {to: {}}", at + "mail/to/secret required"},
		{"exec: {command: sort, env: {A: {secret: x}}}", at + "exec/env unknown-field"},
		{"http: {url: 'ftp://example.org/'}", at + "http/url format"},
		{"http: {url: '//example.org/'}", at + "http/url format"},
		{"http: {url: 'https://$m;/'}", at + "http/url format"},
		{"http: {url: 'https://example.org$m;/'}", at + "http/url format"},
		{"http: {url: 'https://user@example.org/'}", at + "http/url format"},
		{"http: {url: 'https://example.org\\@evil.example/'}", at + "http/url format"},
		{"http: {url: 'https://example.org/\\evil'}", at + "http/url format"},
		{"http: {url: 'https:///x'}", at + "http/url format"},
		{"http: {url: 'https://example.org/#x'}", at + "http/url format"},
		{"http: {url: 'https://example.org/a b'}", at + "http/url format"},
		{"http: {url: 'https://exa%mple.org/'}", at + "http/url format"},
		{"http: {url: 'https://example.org/', method: TRACE}", at + "http/method range"},
		{"http: {url: 'https://example.org/', value: 1, from: m}", at + "http/from conflict"},
		{"http: {url: 'https://example.org/', method: GET, value: null}", ""},
		{"http: {url: 'https://example.org/', method: GET, value: 1}", at + "http/value conflict"},
		{"http: {url: 'https://example.org/', method: GET, from: m}", at + "http/from conflict"},
		{
			"http: {url: 'https://example.org/', headers: {Host: x, content-length: '1', Connection: x, Webhook-Id: x, Idempotency-Key: x}}",
			at + "http/headers/Host format, " + at + "http/headers/content-length format, " + at + "http/headers/Connection format, " + at + "http/headers/Webhook-Id format, " + at + "http/headers/Idempotency-Key format",
		},
		{
			"http: {url: 'https://example.org/', headers: {'a b': x, 'ä': x, \"a\\r\\nb\": x, '': x}}",
			at + "http/headers/a b format, " + at + "http/headers/ä format, " + at + "http/headers/a\r\nb format, " + at + "http/headers/ format",
		},
		{"http: {url: 'https://example.org/', headers: {A: \"x\\r\\nB: y\", C: 5, D: {cel: xattr.d}, E: {cel: 'xattr.'}, F: [x], G: }}", at + "http/headers/A format, " + at + "http/headers/E/cel format, " + at + "http/headers/F type"},
		{"http: {url: 'https://example.org/', headers: {A: x, a: y}}", at + "http/headers/a conflict"},
		{"http: {url: 'https://example.org/', into: 'no label', from: '-'}", at + "http/into format, " + at + "http/from format"},
		{"http: {url: 'https://example.org/', value: {cel: 'xattr.'}}", at + "http/value/cel format"},
		{"http: {url: 'https://example.org/', value: {cel: 5}}", ""}, // a value like others
		{"http: {url: 'https://example.org/', value: {a: [1, {cel: 'xattr.a'}, {b: {cel: 'xattr.'}}], cel: {cel: 'nothing'}}}", at + "http/value/a/2/b/cel format, " + at + "http/value/cel/cel format"},
		{"http: {method: GET}", at + "http/url required"},
		{"mail: {to: [starter, stakeholders, 'role:clerk', 'user:ann', 'team:core', everyone, ann, a.b+c@example.org], subject: 'x $m;', text: {cel: actor}}", ""},
		{"mail: {to: []}", at + "mail/to range"},
		{"mail: {subject: x}", at + "mail/to required"},
		{
			"mail: {to: ['role:boss', 'a b', 'Ann <ann@example.org>', 'ann@', '@x', 'a@b@c', 'a..b@c', 'a@-b', \"a@b\\r\\nx\"]}",
			at + "mail/to/0 not-found, " + at + "mail/to/1 format, " + at + "mail/to/2 format, " + at + "mail/to/3 format, " + at + "mail/to/4 format, " +
				at + "mail/to/5 format, " + at + "mail/to/6 format, " + at + "mail/to/7 format, " + at + "mail/to/8 format",
		},
		{"mail: {to: [starter], text: {cel: 'nothing'}}", at + "mail/text/cel format"},
		{"exec: {command: sort, args: ['-n', 1, true, null, {cel: '1 + 1'}], from: m, into: x}", ""},
		{"exec: {command: /bin/sort}", at + "exec/command format"},
		{"exec: {command: sort, args: [[]]}", at + "exec/args/0 type"},
		{"exec: {args: [x]}", at + "exec/command required"},
		{"call: {name: find, value: {a: [1]}, into: x}", ""},
		{"call: {name: 'a b'}", at + "call/name format"},
		{"call: {value: 1}", at + "call/name required"},
	} {
		text := strings.Replace(base, "to: done", "to: done, onFire: [{"+tt.step+"}]", 1)
		_, _, err := route.Parse("test", readYAML(t, text))
		var got []string
		if e, ok := errors.AsType[*errs.Error](err); ok {
			for _, f := range e.Faults {
				got = append(got, f.Pointer+" "+string(f.Code))
				if f.Line == 0 {
					t.Errorf("%s: %s has no place", tt.step, f.Pointer)
				}
			}
		}
		if list := strings.Join(got, ", "); list != tt.want || (err == nil) != (tt.want == "") {
			t.Errorf("%s:\ngot  %s\nwant %s\n%v", tt.step, list, tt.want, err)
		}
	}
}

// What a route names that is outside is told with its place, in the order of
// the document.
func TestReaches(t *testing.T) {
	t.Parallel()
	text := strings.Replace(base, "to: done", "to: done, onFire: [{http: {url: 'https://example.org/$m;', secret: s}}, {mail: {to: [starter, x@example.org]}}, {exec: {command: c}}, {call: {name: f}}]", 1)
	text = strings.Replace(text, "[starter]", "[starter, 'call:g']", 1)
	r, _ := mustParse(t, "test", text)
	var got []string
	for _, reach := range r.Reaches() {
		got = append(got, string(reach.Kind)+" "+reach.Name+" "+reach.Pointer)
		if reach.Line == 0 {
			t.Errorf("%s has no place", reach.Pointer)
		}
	}
	const at = "/actions/finish/onFire/"
	want := []string{
		"callback g /roles/clerk/assign/1", "url https://example.org/$m; " + at + "0/http/url", "secret s " + at + "0/http/secret",
		"address x@example.org " + at + "1/mail/to/1", "command c " + at + "2/exec/command", "callback f " + at + "3/call/name",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Whom a starter may choose no callback says.
func TestNoCallbackPicks(t *testing.T) {
	t.Parallel()
	_, _, err := route.Parse("test", readYAML(t, strings.Replace(base, "[starter]", "[starter], pick: [everyone, 'call:g']", 1)))
	if e, ok := errors.AsType[*errs.Error](err); !ok || len(e.Faults) != 1 || e.Faults[0].Pointer != "/roles/clerk/pick/1" || e.Faults[0].Code != errs.CodeConflict {
		t.Errorf("got %v", err)
	}
}
