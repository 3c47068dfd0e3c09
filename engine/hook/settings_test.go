package hook

import (
	"errors"
	"net/http"
	"slices"
	"testing"

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
			_, err := Read([]byte(body), "pay")
			if of, is := errors.AsType[*errs.Error](err); !is || !slices.ContainsFunc(of.Faults, func(f errs.Fault) bool { return f.Pointer == pointer && f.Code == errs.CodeRange }) {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
	for _, body := range []string{
		`{"headers": ["X-Event"], "xattrs": {"a": {"header": "X-Kind"}}}`,
		`{"verify": {"scheme": "hmac", "secret": "pay", "header": "Authorization"}}`,
	} {
		if _, err := Read([]byte(body), "pay"); err != nil {
			t.Errorf("%s: %v", body, err)
		}
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
