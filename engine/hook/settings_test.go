package hook

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// TestSecretHeaders: no place of a hook whose value people see may name a header that holds
// a secret (docs/contract/drive.md#hooks).
func TestSecretHeaders(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Authorization", "authorization", "Proxy-Authorization", "Cookie"} {
		for pointer, body := range map[string]string{
			"/headers/0":           `{"headers": ["` + name + `"]}`,
			"/xattrs/a/header":     `{"xattrs": {"a": {"header": "` + name + `"}}}`,
			"/deliver/case/header": `{"deliver": {"label": "Answer", "case": {"header": "` + name + `"}}}`,
		} {
			_, err := read(t, body, New())
			if of, is := errors.AsType[*errs.Error](err); !is || !slices.ContainsFunc(of.Faults, func(f errs.Fault) bool { return f.Pointer == pointer && f.Code == errs.CodeRange }) {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
	for _, body := range []string{
		`{"headers": ["X-Event"], "xattrs": {"a": {"header": "X-Kind"}}}`,
		`{"verify": {"scheme": "hmac", "secret": "pay", "header": "Authorization"}}`,
	} {
		if _, err := read(t, body, New()); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func read(t *testing.T, body string, old Settings) (Settings, error) {
	t.Helper()
	node, err := document.ParseJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return Read(node, "pay", old)
}

// TestWhatIsAbsentStays: who changes one field of a hook does not take the verification off its
// address (docs/contract/drive.md#replace-or-change).
func TestWhatIsAbsentStays(t *testing.T) {
	t.Parallel()
	was, err := read(t, `{"verify": {"scheme": "github", "secret": "gh"}, "headers": ["X-Event"], "rate": "5/minute", "maxBytes": 1000, "deliver": {"label": "Answer", "case": {"query": "case"}}}`, New())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ body, changes string }{
		{`{}`, ""},
		{`{"rate": "100/minute"}`, "rate"},
		{`{"verify": null}`, "verify github gh → none"},
		{`{"verify": {"scheme": "hmac", "secret": "k"}, "headers": null, "rate": null, "maxBytes": null, "deliver": null}`, "verify github gh → hmac k, headers, rate, maxBytes, deliver"},
	} {
		now, err := read(t, test.body, was)
		if err != nil {
			t.Errorf("%s: %v", test.body, err)
		}
		if got := now.Changes(&was); got != test.changes {
			t.Errorf("%s changes %q, want %q", test.body, got, test.changes)
		}
	}
	_, err = read(t, `{"xattrs": {"a": {"query": "a"}}}`, was)
	if of, is := errors.AsType[*errs.Error](err); !is || len(of.Faults) != 1 || of.Faults[0].Pointer != "/xattrs" {
		t.Errorf("xattrs beside the deliver that stays: %v", err)
	}
}

// TestSecretHeadersOfStoredHooks: a hook that was stored when it could name such a header
// does not yield its value.
func TestSecretHeadersOfStoredHooks(t *testing.T) {
	t.Parallel()
	r := &Received{Settings: Settings{
		Headers: []string{"Cookie", "X-Event"},
		Xattrs:  XattrMap{{Key: "a", Named: Named{Header: "authorization"}}},
		Deliver: &Deliver{Case: Named{Header: "Proxy-Authorization"}},
	}}
	r.In = &Request{Header: http.Header{"Authorization": {"Bearer s"}, "Proxy-Authorization": {"7"}, "Cookie": {"s"}, "X-Event": {"paid"}}}
	if dict := r.Xattrs(); len(dict) != 1 || dict[0].Key != "x-event" {
		t.Errorf("XATTRs %v", dict)
	}
	if name := r.CaseName(); name != "" {
		t.Errorf("the case is %q", name)
	}
}
