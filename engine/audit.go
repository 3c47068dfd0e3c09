package engine

import (
	"context"
	"fmt"
	"io"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// row begins a row about what by did.
func (e *base) row(ctx context.Context, by identity.Principal, now time.Time, action audit.Action, target, detail string) *audit.Row {
	return &audit.Row{
		Time: now, Actor: string(by.Name), Address: e.address(ctx),
		Action: action, Target: target, Outcome: audit.Done, Detail: detail,
	}
}

// audit writes a row in the transaction of what it is about: the one is
// durable when the other is.
func (e *base) audit(ctx context.Context, tx store.Tx, req Request, action audit.Action, target, detail string) error {
	return tx.Write().Audit().Append(req.Now, e.row(ctx, req.By, req.Now, action, target, detail).Line())
}

// auditLook notes that an administrator has looked at what is another's,
// which changes nothing. It never blocks and is written soon; however many
// there are, each has its row.
func (e *base) auditLook(ctx context.Context, by identity.Principal, owner identity.ID, action audit.Action, target string) {
	if by.Admin() && !by.In(owner) {
		e.background.write(e.row(ctx, by, e.clock.Now(), action, target, ""))
	}
}

// auditRefusal notes what by was refused to do to itself.
func (e *base) auditRefusal(ctx context.Context, by identity.Principal, action audit.Action, why string) {
	row := e.row(ctx, by, e.clock.Now(), action, string(by.Name), why)
	row.Outcome = audit.Refused
	e.background.row(row)
}

// RequestRefused notes a request that was refused for want of a right. It
// never blocks.
func (e *base) RequestRefused(by identity.Principal, address, target string, kind errs.Kind, detail string) {
	e.background.row(&audit.Row{
		Time: e.clock.Now(), Actor: string(by.Name), Address: address, Action: audit.Request,
		Target: target, Outcome: audit.Refused, Detail: string(kind) + ": " + detail,
	})
}

// LogInRefused notes a log-in that was refused, of a user who exists or, with
// the id 0, of a name that is nobody's: that may be a password which somebody
// has typed into the wrong field, so it is not kept. It never blocks.
func (e *base) LogInRefused(user identity.ID, address, detail string) {
	row := &audit.Row{Time: e.clock.Now(), Address: address, Action: audit.LogIn, Outcome: audit.Refused, Detail: detail}
	if p := e.directory().ByID(user); p != nil {
		row.Actor, row.Target = string(p.Name), string(p.Name)
	}
	e.background.row(row)
}

// auditParty writes the rows of a change of a user or team, one for each sort
// of thing that was changed.
func (e *base) auditParty(ctx context.Context, tx store.Tx, req Request, old *store.Party, p *store.Party) error {
	write := func(action audit.Action, detail string) error {
		return e.audit(ctx, tx, req, action, string(p.Name), detail)
	}
	if p.Kind == identity.Team {
		if old == nil {
			return write(audit.TeamAdd, memberDetail(p))
		}
		return write(audit.TeamChange, memberDetail(p))
	}
	if old == nil {
		if err := write(audit.UserAdd, ""); err != nil {
			return err
		}
		old = &store.Party{}
	} else if fields := changedFields(old, p); fields != "" {
		if err := write(audit.UserChange, fields); err != nil {
			return err
		}
	}
	for _, change := range []struct {
		made   bool
		action audit.Action
		detail string
	}{
		{old.Password != p.Password, audit.Password, ""},
		{old.Admin != p.Admin, audit.Admin, map[bool]string{true: "given", false: "taken away"}[p.Admin]},
		{!old.Disabled && p.Disabled, audit.UserDisable, ""},
		{old.Disabled && !p.Disabled, audit.UserEnable, ""},
		{!old.Deputy.Equal(p.Deputy), audit.Deputy, deputyDetail(p.Deputy)},
	} {
		if change.made {
			if err := write(change.action, change.detail); err != nil {
				return err
			}
		}
	}
	return nil
}

func changedFields(old, p *store.Party) string {
	switch name, email := old.FullName != p.FullName, old.Email != p.Email; {
	case name && email:
		return "fullName, email"
	case name:
		return "fullName"
	case email:
		return "email"
	}
	return ""
}

func memberDetail(p *store.Party) string {
	return fmt.Sprintf("members %v, admins %v", p.Members, p.Admins)
}

func deputyDetail(d identity.Deputy) string {
	if d.User == "" {
		return "nobody"
	}
	return fmt.Sprintf("%s from %s to %s", d.User, d.From.UTC().Format(time.RFC3339), d.To.UTC().Format(time.RFC3339))
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
		Form: document.Line(auditForm{
			Date: name, Size: d.Size,
			Created: d.First.UTC().Format(time.RFC3339), Modified: d.Last.UTC().Format(time.RFC3339),
		}),
	}
}

// AuditDays returns the days of the audit log, for administrators. Name is
// the date, Source is left out.
func (e *base) AuditDays(ctx context.Context, by identity.Principal) ([]Resource, error) {
	if !by.Admin() {
		return nil, absent("folder")
	}
	var out []Resource
	err := e.store.View(ctx, func(r store.Reader) error {
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
		return nil, nil, absent("day of the audit log")
	}
	var found *store.AuditDay
	err = e.store.View(ctx, func(r store.Reader) (err error) {
		found, err = orNil(r.Audit().Day(store.AuditDayOf(day)))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if found == nil {
		return nil, nil, absent("day of the audit log")
	}
	read := func(from int64) (text []byte, err error) {
		err = e.store.View(ctx, func(r store.Reader) (err error) {
			text, err = r.Audit().Text(found.Day, from, auditLines)
			return err
		})
		return text, err
	}
	return auditResource(found), audit.NewText(found.Size, read), nil
}
