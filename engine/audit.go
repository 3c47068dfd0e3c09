package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/identity"
)

// AuditAction says what a row of the audit log is about.
type AuditAction string

// The actions of the audit log.
const (
	AuditLogIn           AuditAction = "log-in"  // refused
	AuditRequest         AuditAction = "request" // refused for want of a right; the target is method and path
	AuditUserAdd         AuditAction = "user-add"
	AuditUserChange      AuditAction = "user-change" // the detail names the fields
	AuditUserDisable     AuditAction = "user-disable"
	AuditUserEnable      AuditAction = "user-enable"
	AuditUserDelete      AuditAction = "user-delete"
	AuditPassword        AuditAction = "password-change"
	AuditAdmin           AuditAction = "administrator-change" // who is administrator of the server
	AuditDeputy          AuditAction = "deputy-change"
	AuditTeamAdd         AuditAction = "team-add"
	AuditTeamChange      AuditAction = "team-change"
	AuditTeamDelete      AuditAction = "team-delete"
	AuditAppPassword     AuditAction = "app-password-add"
	AuditAppPasswordEnd  AuditAction = "app-password-revoke"
	AuditCalendarLink    AuditAction = "calendar-link-add"
	AuditCalendarLinkEnd AuditAction = "calendar-link-revoke"
	AuditRouteAdd        AuditAction = "route-add"
	AuditRouteChange     AuditAction = "route-change"
	AuditRouteDelete     AuditAction = "route-delete"
	AuditHoldAdd         AuditAction = "hold-add" // the detail says what is held
	AuditHoldChange      AuditAction = "hold-change"
	AuditHoldDelete      AuditAction = "hold-delete"
	AuditCasePurge       AuditAction = "case-purge"
	AuditDocumentRead    AuditAction = "document-read" // another's, by an administrator
	AuditLost            AuditAction = "rows-lost"     // too many at once; the detail says how many
)

// The outcomes of what is in the audit log.
const (
	auditDone    = "done"
	auditRefused = "refused"
)

// AuditDay is what there is of a day of the audit log: a text that only
// grows, a line of JSON a row.
type AuditDay struct {
	Day   int64 // since 1 January 1970
	Size  int64
	First time.Time
	Last  time.Time
}

// DayOf returns the day of an instant, in UTC.
func DayOf(t time.Time) int64 {
	const day = 24 * 60 * 60
	seconds := t.Unix()
	return (seconds - ((seconds%day)+day)%day) / day
}

// AuditReader reads the audit log.
type AuditReader interface {
	AuditDays() ([]AuditDay, error) // ascending
	AuditDay(day int64) (*AuditDay, error)

	// AuditText returns a part of a day's text that begins at the offset, of
	// at most that many lines; nothing at its end.
	AuditText(day, offset int64, lines int) ([]byte, error)
}

// AuditWriter writes the audit log.
type AuditWriter interface {
	AppendAudit(when time.Time, line []byte) error // line ends the line
}

// auditRow is a row of the audit log. Nothing in it is a secret.
type auditRow struct {
	time    time.Time
	actor   string // a user's name, "" for nobody known
	address string // where the request came from, "" for the machine itself
	action  AuditAction
	target  string
	outcome string
	detail  string
	lost    int // of a row about rows that were not written: how many
}

const mostAuditText = 1000 // bytes of a target or detail

// line renders the row: every key always, in this order.
func (r *auditRow) line() []byte {
	b := append(make([]byte, 0, 256), `{"time":"`...)
	b = r.time.UTC().AppendFormat(b, time.RFC3339)
	for _, field := range []struct{ key, value string }{
		{`","actor":`, r.actor},
		{`,"address":`, r.address},
		{`,"action":`, string(r.action)},
		{`,"target":`, clipped(r.target, mostAuditText)},
		{`,"outcome":`, r.outcome},
		{`,"detail":`, clipped(r.detail, mostAuditText)},
	} {
		b = append(b, field.key...)
		if field.value == "" {
			b = append(b, "null"...)
		} else {
			b = document.AppendString(b, field.value)
		}
	}
	return append(b, "}\n"...)
}

// clipped bounds what a client can make the log hold.
func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // within a character
		cut--
	}
	return s[:cut] + "…"
}

// row begins a row about what by did.
func (e *Engine) row(ctx context.Context, by identity.Principal, now time.Time, action AuditAction, target, detail string) *auditRow {
	return &auditRow{
		time: now, actor: string(by.Name), address: e.address(ctx),
		action: action, target: target, outcome: auditDone, detail: detail,
	}
}

// audit writes a row in the transaction of what it is about: the one is
// durable when the other is.
func (e *Engine) audit(ctx context.Context, tx Tx, req Request, action AuditAction, target, detail string) error {
	return tx.AppendAudit(req.Now, e.row(ctx, req.By, req.Now, action, target, detail).line())
}

// auditLook notes that an administrator has looked at what is another's,
// which changes nothing. It never blocks and is written soon; however many
// there are, each has its row.
func (e *Engine) auditLook(ctx context.Context, by identity.Principal, owner identity.ID, action AuditAction, target string) {
	if by.Admin && !by.In(owner) {
		e.background.write(e.row(ctx, by, e.clock.Now(), action, target, ""))
	}
}

// auditRefusal notes what by was refused to do to itself.
func (e *Engine) auditRefusal(ctx context.Context, by identity.Principal, action AuditAction, why string) {
	row := e.row(ctx, by, e.clock.Now(), action, string(by.Name), why)
	row.outcome = auditRefused
	e.background.row(row)
}

// RequestRefused notes a request that was refused for want of a right. It
// never blocks.
func (e *Engine) RequestRefused(by identity.Principal, address, target string, kind errs.Kind, detail string) {
	e.background.row(&auditRow{
		time: e.clock.Now(), actor: string(by.Name), address: address, action: AuditRequest,
		target: target, outcome: auditRefused, detail: string(kind) + ": " + detail,
	})
}

// LogInRefused notes a log-in that was refused, of a user who exists or, with
// the id 0, of a name that is nobody's: that may be a password which somebody
// has typed into the wrong field, so it is not kept. It never blocks.
func (e *Engine) LogInRefused(user identity.ID, address, detail string) {
	row := &auditRow{time: e.clock.Now(), address: address, action: AuditLogIn, outcome: auditRefused, detail: detail}
	if p := e.directory().ByID(user); p != nil {
		row.actor, row.target = string(p.Name), string(p.Name)
	}
	e.background.row(row)
}

// auditParty writes the rows of a change of a user or team, one for each sort
// of thing that was changed.
func (e *Engine) auditParty(ctx context.Context, tx Tx, req Request, old *Party, p *Party) error {
	write := func(action AuditAction, detail string) error {
		return e.audit(ctx, tx, req, action, string(p.Name), detail)
	}
	if p.Kind == identity.Team {
		if old == nil {
			return write(AuditTeamAdd, memberDetail(p))
		}
		return write(AuditTeamChange, memberDetail(p))
	}
	if old == nil {
		if err := write(AuditUserAdd, ""); err != nil {
			return err
		}
		old = &Party{}
	} else if fields := changedFields(old, p); fields != "" {
		if err := write(AuditUserChange, fields); err != nil {
			return err
		}
	}
	for _, change := range []struct {
		made   bool
		action AuditAction
		detail string
	}{
		{old.Password != p.Password, AuditPassword, ""},
		{old.Admin != p.Admin, AuditAdmin, map[bool]string{true: "given", false: "taken away"}[p.Admin]},
		{!old.Disabled && p.Disabled, AuditUserDisable, ""},
		{old.Disabled && !p.Disabled, AuditUserEnable, ""},
		{!sameDeputy(old.Deputy, p.Deputy), AuditDeputy, deputyDetail(p.Deputy)},
	} {
		if change.made {
			if err := write(change.action, change.detail); err != nil {
				return err
			}
		}
	}
	return nil
}

func changedFields(old, p *Party) string {
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

func memberDetail(p *Party) string { return fmt.Sprintf("members %v, admins %v", p.Members, p.Admins) }

func deputyDetail(d identity.Deputy) string {
	if d.User == "" {
		return "nobody"
	}
	return fmt.Sprintf("%s from %s to %s", d.User, d.From.UTC().Format(time.RFC3339), d.To.UTC().Format(time.RFC3339))
}

// The names of the days of the audit log.
const auditDate = "2006-01-02"

// auditForm is what .contents says of a day.
type auditForm struct {
	Date     string `json:"date"`
	Size     int64  `json:"size"`
	Created  string `json:"created"`
	Modified string `json:"modified"`
}

func auditResource(d *AuditDay) *Resource {
	name := time.Unix(d.Day*24*60*60, 0).UTC().Format(auditDate)
	etag := fmt.Sprintf(`"audit-%d-%d"`, d.Day, d.Size) // the text only grows
	return &Resource{
		Name: name, Seq: d.Day, Created: d.First, Modified: d.Last, SourceSize: d.Size, SourceETag: etag, FormETag: etag, Own: true,
		Form: mustJSON(auditForm{
			Date: name, Size: d.Size,
			Created: d.First.UTC().Format(time.RFC3339), Modified: d.Last.UTC().Format(time.RFC3339),
		}),
	}
}

// AuditDays returns the days of the audit log, for administrators. Name is
// the date, Source is left out.
func (e *Engine) AuditDays(ctx context.Context, by identity.Principal) ([]Resource, error) {
	if !by.Admin {
		return nil, absent("folder")
	}
	var out []Resource
	err := e.store.View(ctx, func(r Reader) error {
		days, err := r.AuditDays()
		for i := range days {
			out = append(out, *auditResource(&days[i]))
		}
		return err
	})
	return out, err
}

// AuditDay opens a day of the audit log, for administrators. The text is that
// of this moment and is read a part at a time, without holding a transaction.
func (e *Engine) AuditDay(ctx context.Context, by identity.Principal, date string) (*Resource, io.ReadSeekCloser, error) {
	day, err := time.Parse(auditDate, date)
	if err != nil || !by.Admin {
		return nil, nil, absent("day of the audit log")
	}
	var found *AuditDay
	err = e.store.View(ctx, func(r Reader) (err error) {
		found, err = orNil(r.AuditDay(DayOf(day)))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if found == nil {
		return nil, nil, absent("day of the audit log")
	}
	read := func(from int64) (text []byte, err error) {
		err = e.store.View(ctx, func(r Reader) (err error) {
			text, err = r.AuditText(found.Day, from, auditLines)
			return err
		})
		return text, err
	}
	return auditResource(found), &auditText{read: read, size: found.Size}, nil
}

// auditText is the text of a day as it was when it was opened. It is for the
// length of one request.
type auditText struct {
	read func(from int64) ([]byte, error)
	size int64
	at   int64
	part []byte // of the text, from at
}

const auditLines = 1000 // of a part

// Read implements io.Reader.
func (t *auditText) Read(p []byte) (int, error) {
	if t.at >= t.size {
		return 0, io.EOF
	}
	if len(t.part) == 0 {
		part, err := t.read(t.at)
		if err != nil {
			return 0, err
		}
		if len(part) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		t.part = part[:min(int64(len(part)), t.size-t.at)]
	}
	n := copy(p, t.part)
	t.part, t.at = t.part[n:], t.at+int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (t *auditText) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += t.at
	case io.SeekEnd:
		offset += t.size
	}
	if offset < 0 {
		return 0, errors.New("engine: a negative position in the audit log")
	}
	t.at, t.part = offset, nil
	return offset, nil
}

// Close implements io.Closer.
func (t *auditText) Close() error { return nil }
