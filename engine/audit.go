package engine

import (
	"context"
	"fmt"
	"io"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// RequestRefused notes a request that was refused for want of a right. It
// never blocks.
func (e *base) RequestRefused(by identity.Principal, address, target string, kind errs.Kind, detail string) {
	e.audit.Tried(&audit.Row{
		Time: e.Clock.Now(), Actor: string(by.Name), Address: address, Action: audit.Request,
		Target: target, Outcome: audit.Refused, Detail: string(kind) + ": " + detail,
	})
}

// LogInRefused records a refused log-in, of a user who exists or, with the id
// 0, of an unknown name. The name is not kept: it may be a password typed into
// the wrong field. It never blocks.
func (e *base) LogInRefused(user identity.ID, address, detail string) {
	row := &audit.Row{Time: e.Clock.Now(), Address: address, Action: audit.LogIn, Outcome: audit.Refused, Detail: detail}
	if p := e.directory().ByID(user); p != nil {
		row.Actor, row.Target = string(p.Name), string(p.Name)
	}
	e.audit.Tried(row)
}

// auditLines is how many lines are read at once.
const auditLines = 1000

// The names of the days of the audit log.
const auditDate = "2006-01-02"

// auditForm is what .contents says of a day.
type auditForm struct {
	Date     string `json:"date"`
	Size     int64  `json:"size"`
	Created  string `json:"created"`
	Modified string `json:"modified"`
}

func auditResource(d *store.AuditDay) *Resource {
	name := time.Unix(d.Day*24*60*60, 0).UTC().Format(auditDate)
	etag := fmt.Sprintf(`"audit-%d-%d"`, d.Day, d.Size) // the text only grows
	return &Resource{
		Name: name, Seq: d.Day, Created: d.First, Modified: d.Last, SourceSize: d.Size, SourceETag: etag, FormETag: etag, Own: true,
		Form: document.Form(auditForm{
			Date: name, Size: d.Size,
			Created: d.First.UTC().Format(time.RFC3339), Modified: d.Last.UTC().Format(time.RFC3339),
		}),
	}
}

// AuditDays returns the days of the audit log, for administrators. Name is
// the date, Source is left out.
func (e *base) AuditDays(ctx context.Context, by identity.Principal) ([]Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("folder")
	}
	var out []Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		days, err := r.Audit().Days()
		for i := range days {
			out = append(out, *auditResource(&days[i]))
		}
		return err
	})
	return out, err
}

// AuditDay opens a day of the audit log, for administrators. The text is that
// of this moment and is read a part at a time, without holding a transaction.
func (e *base) AuditDay(ctx context.Context, by identity.Principal, date string) (*Resource, io.ReadSeekCloser, error) {
	day, err := time.Parse(auditDate, date)
	if err != nil || !by.Admin() {
		return nil, nil, change.Absent("day of the audit log")
	}
	var found *store.AuditDay
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		found, err = store.OrNil(r.Audit().Day(store.AuditDayOf(day)))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if found == nil {
		return nil, nil, change.Absent("day of the audit log")
	}
	read := func(from int64) (text []byte, err error) {
		err = e.Store.View(ctx, func(r store.Reader) (err error) {
			text, err = r.Audit().Text(found.Day, from, auditLines)
			return err
		})
		return text, err
	}
	return auditResource(found), audit.NewText(found.Size, read), nil
}
