package engine

import (
	"cmp"
	"context"
	"fmt"

	"flowdrive/engine/audit"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// looks writes into the audit log what administrators of the server read of others.
type looks struct{ *base }

// message notes that by has read a message of the case, if nothing but
// administering the server lets by see that case. The case itself has no row:
// administrators of the server answer for all cases
// (docs/contract/drive.md#what-the-audit-log-has).
func (l looks) message(ctx context.Context, r store.Reader, by identity.Principal, row *store.Case, m *store.Message) error {
	if !by.Admin() {
		return nil
	}
	sees, err := l.rights.SeesCase(r, by.AsMember(), row)
	if err == nil && !sees {
		l.audit.Did(ctx, by, audit.MessageRead, fmt.Sprintf("Cases/%d/%s", row.ID, cmp.Or(m.Label, m.UUID.String())))
	}
	return err
}

// attachment notes that by has read the content of an attachment, if nothing but
// administering the server lets by see it.
func (l looks) attachment(ctx context.Context, by identity.Principal, a *store.Attachment) error {
	if !by.Admin() {
		return nil
	}
	return l.Store.View(ctx, func(r store.Reader) error {
		sees, err := l.rights.SeesAttachment(r, by.AsMember(), a)
		if err == nil && !sees {
			l.audit.Did(ctx, by, audit.AttachmentRead, "attachfs/"+a.UUID.String())
		}
		return err
	})
}
