package engine

import (
	"context"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// auditVerified is the setting that has when the whole audit log was verified last.
const auditVerified = "audit verified"

// VerifiedAgainAfter is after how long the whole audit log is verified again.
const VerifiedAgainAfter = 24 * time.Hour

// VerifyAudit looks whether the audit log is as it was written, beside all that is written
// to it, and notes what it finds: the whole log if that was not done for a day or the
// newest part is not as it was written, else the newest part. between is called between two
// parts, so that it takes as little as the caller wants.
func (e *Server) VerifyAudit(ctx context.Context, between func(context.Context) error) error {
	var last string
	fits := false
	var head store.AuditHead
	if err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if last, err = r.Settings().Get(auditVerified); err != nil {
			return err
		}
		if fits, err = audit.FitsNewest(r.Audit()); err != nil {
			return err
		}
		if head, err = r.Audit().Head(); errs.Is(err, errs.NotFound) {
			return nil // that it is not there is what Verify says
		}
		return err
	}); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, last)
	if now := e.Clock.Now(); fits && err == nil && now.Sub(at) < VerifiedAgainAfter && !at.After(now) {
		return nil
	}
	report, err := audit.VerifyUpTo(auditParts{e.Store, ctx, between}, head)
	if err != nil {
		return err
	}
	if err := e.Store.Update(ctx, func(tx store.Tx) error {
		return tx.Write().Settings().Put(auditVerified, e.Clock.Now().UTC().Format(time.RFC3339))
	}); err != nil {
		return err
	}
	return e.Note(ctx, ServerAudit, report.Broken)
}

// auditParts reads the audit log in parts, so that no view of the store is open for long.
type auditParts struct {
	store   store.Store
	ctx     context.Context //nolint:containedctx // of one call
	between func(context.Context) error
}

var _ store.AuditReader = auditParts{}

func (a auditParts) view(read func(store.AuditReader) error) error {
	return a.store.View(a.ctx, func(r store.Reader) error { return read(r.Audit()) })
}

// Days implements store.AuditReader.
func (a auditParts) Days() (all []store.AuditDay, err error) {
	err = a.view(func(r store.AuditReader) (err error) { all, err = r.Days(); return err })
	return all, err
}

// Day implements store.AuditReader.
func (a auditParts) Day(day int64) (d *store.AuditDay, err error) {
	err = a.view(func(r store.AuditReader) (err error) { d, err = r.Day(day); return err })
	return d, err
}

// Text implements store.AuditReader.
func (a auditParts) Text(day, offset int64, lines int) (text []byte, err error) {
	if err := a.between(a.ctx); err != nil {
		return nil, err
	}
	err = a.view(func(r store.AuditReader) (err error) { text, err = r.Text(day, offset, lines); return err })
	return text, err
}

// Lines implements store.AuditReader.
func (a auditParts) Lines(day, from int64, n int) (all []store.AuditLine, err error) {
	if err := a.between(a.ctx); err != nil {
		return nil, err
	}
	err = a.view(func(r store.AuditReader) (err error) { all, err = r.Lines(day, from, n); return err })
	return all, err
}

// Head implements store.AuditReader.
func (a auditParts) Head() (head store.AuditHead, err error) {
	err = a.view(func(r store.AuditReader) (err error) { head, err = r.Head(); return err })
	return head, err
}

// Wrong returns the parts of the server with which something is wrong.
func (e *Server) Wrong(ctx context.Context) (wrong map[ServerPart]bool, err error) {
	wrong = map[ServerPart]bool{}
	err = e.Store.View(ctx, func(r store.Reader) error {
		for _, part := range serverParts() {
			record, err := e.serverRecord(r, part)
			if err != nil {
				return err
			}
			wrong[part] = record != nil
		}
		return nil
	})
	return wrong, err
}
