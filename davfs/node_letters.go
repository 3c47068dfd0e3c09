package davfs

import (
	"context"
	"io"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
)

const typeMail = "message/rfc822"

// lettersFolder is Admin/Outbox/ of a sandbox: the mails that it would have sent, for
// administrators to read.
type lettersFolder struct{ *scope }

func (n lettersFolder) home() []string { return []string{"dav", "Admin", "Outbox"} }

func (n lettersFolder) stat(context.Context) (*info, error) {
	return folderInfo("Outbox", n.since), nil
}

func (n lettersFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	return letterFile{n.scope, norm.NFC.String(name)}, nil
}

func (n lettersFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n lettersFolder) filters() []string { return nil }

// page cuts the page out of all, which are bounded.
func (n lettersFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Letters.Letters(ctx, n.by)
	return cutPage(all, f), err
}

func (n lettersFolder) listed(r *engine.Resource) *info { return sourceInfo(r.Name, typeMail, r) }

// letterFile is Outbox/<time> <to>.eml, which can be read and deleted.
type letterFile struct {
	*scope
	name string
}

func (n letterFile) stat(ctx context.Context) (*info, error) {
	about, _, err := n.open(ctx)
	return about, err
}

func (n letterFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.engine.Letters.Letter(ctx, n.by, n.name)
	if err != nil {
		return nil, nil, err
	}
	return lettersFolder{n.scope}.listed(r), contentOf(r.Source), nil
}

func (n letterFile) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.engine.Letters.DeleteLetter(ctx, req, n.name)
}

func (n letterFile) options() []string { return nil }
