package davfs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// scopeThere refuses an app password for a folder of the workflow that is not there, or is
// spelled otherwise: such a password would open nothing. What else is wrong with the document,
// and with folders of documents, the accounts say.
func (n secretFile) scopeThere(ctx context.Context, body []byte) error {
	var given struct {
		Scope string `json:"scope"`
	}
	if n.secrets.kind != store.AppPassword || json.Unmarshal(body, &given) != nil {
		return nil //nolint:nilerr // what is not JSON is refused with its place by the accounts
	}
	scope, ok := identity.ParseScope(given.Scope)
	if below, is := strings.CutPrefix(string(scope), "/dav/Workflow/"); !ok || !is || below == "" {
		return nil
	}
	segments := strings.Split(strings.Trim(string(scope), "/"), "/")
	for i := 3; i <= len(segments); i++ {
		path := strings.Join(segments[1:i], "/")
		at, err := n.secrets.walk(ctx, addressOf(segments[:i]))
		var about *info
		if err == nil {
			about, err = at.stat(ctx)
		}
		switch {
		case errs.Is(err, errs.NotFound):
			return scopeFault(errs.CodeNotFound, fmt.Sprintf("there is no folder %s that you can see", path))
		case err != nil:
			return err
		case !about.dir:
			return scopeFault(errs.CodeFormat, path+" is not a folder")
		case about.name != segments[i-1] && same(about.name, segments[i-1]):
			return scopeFault(errs.CodeFormat, fmt.Sprintf("the folder %s is written %q, and a scope is compared letter by letter", path, about.name))
		}
	}
	return nil
}

func scopeFault(code errs.Code, detail string) error {
	return errs.InvalidDocument([]errs.Fault{{Pointer: "/scope", Code: code, Detail: detail}})
}
