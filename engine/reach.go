package engine

import (
	"slices"
	"time"

	"flowdrive/engine/account"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Why no administrator of the server is told of what fails.
const (
	untoldNoWay  = "No administrator is told outside of the drive of what fails: there is no mail server (setting smtp), and no service is told of failures (setting notify)."
	untoldNobody = "No administrator is told outside of the drive of what fails: none has an e-mail address and wants such mails (email, notify and mail in Account/me.json), and no service is told of failures (setting notify)."
)

// mailed reports whether a user, or nil, gets mails of that kind if there is a mail server.
func mailed(p *store.Party, kind notice.Kind) bool {
	return p != nil && !p.Disabled && p.MailTo() != "" && !notice.WishFor(p.Mail, kind, time.Time{}, time.UTC).Never
}

// reaches reports whether a user, or nil, is told of what fails. Without a mail server
// nobody is told by name: services are told of everybody whom it concerns.
func (c *Channels) reaches(p *store.Party) bool {
	return p != nil && !p.Disabled && (!c.Mail || mailed(p, notice.KindFailure))
}

// untold returns why no administrator of the server is told outside of the drive of what
// fails, in a sentence; "" if one is, or a service.
func (c *Channels) untold(table *account.Table) string {
	of := &notice.Notice{Kind: notice.KindFailure}
	if slices.ContainsFunc(c.Destinations, func(d notice.Destination) bool { return d.Wants(of) }) {
		return ""
	}
	if !c.Mail {
		return untoldNoWay
	}
	if mailsAdministrator(table) {
		return ""
	}
	return untoldNobody
}

// Untold returns why no administrator of the server is told outside of the drive of what fails, in
// a sentence; "" if one is, or a service.
func (e *Engine) Untold() string { return e.channels.untold(e.accounts.Table()) }

// mailsAdministrator reports whether an administrator of the server gets mails of what
// fails.
func mailsAdministrator(table *account.Table) bool {
	return slices.ContainsFunc(table.Directory().Parties(), func(p *identity.Party) bool {
		admin := table.ByID(p.ID)
		return admin.Administers() && mailed(admin, notice.KindFailure)
	})
}
