package engine

import (
	"cmp"
	"context"
	"fmt"

	"flowdrive/engine/audit"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// lookedAtMessage notes that by has read a message of the case, if nothing but
// administering the server lets by see that case. The case itself has no row:
// administrators of the server answer for all cases
// (docs/contract/drive.md#what-the-audit-log-has).
func (e *base) lookedAtMessage(ctx context.Context, r store.Reader, by identity.Principal, row *store.Case, m *store.Message) error {
	if !by.Admin() {
		return nil
	}
	sees, err := e.rights.SeesCase(r, by.AsMember(), row)
	if err == nil && !sees {
		e.audit.Did(ctx, by, audit.MessageRead, fmt.Sprintf("Cases/%d/%s", row.ID, cmp.Or(m.Label, m.UUID.String())))
	}
	return err
}

// lookedAtAttachment notes that by has read the content of an attachment, if nothing but
// administering the server lets by see it.
func (e *base) lookedAtAttachment(ctx context.Context, by identity.Principal, a *store.Attachment) error {
	if !by.Admin() {
		return nil
	}
	return e.Store.View(ctx, func(r store.Reader) error {
		sees, err := e.rights.SeesAttachment(r, by.AsMember(), a)
		if err == nil && !sees {
			e.audit.Did(ctx, by, audit.AttachmentRead, "attachfs/"+a.UUID.String())
		}
		return err
	})
}
