package engine

import (
	"encoding/json"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// waitingMail is a mail as it is kept.
type waitingMail struct {
	machine.Mail
	Surplus bool        `json:"surplus,omitempty"` // it is more than its recipient gets in an hour
	Case    int64       `json:"case,omitempty"`    // that it is about, 0 for none
	Crowd   notice.Kind `json:"crowd,omitempty"`   // it goes in one with the others of that kind and event

	Together bool `json:"together,omitempty"` // it goes in one with the others of its case and event
}

// eventOfCase is an event of a case.
type eventOfCase struct {
	id int64
	at time.Time
}

// mail sends a person the mail of a notice, or keeps it for the hour at which the
// person wants it. What is still wrong, and what goes wrong together, is kept for a moment, so
// that all of it that is told at the same time goes in one mail.
func (e *decider) mail(tx store.Tx, n *notice.Notice, p *notice.Person, post poster) error {
	party := e.accounts.Table().ByName(identity.User, string(p.Name))
	if party == nil {
		return nil
	}
	p.Zone = e.zoneOfParty(party.ID)
	wish := notice.WishFor(party.Mail, n.Kind, n.Time, p.Zone)
	if wish.Never {
		return nil
	}
	mail := n.Mail(p)
	kept := waitingMail{Mail: *mail, Together: p.Together}
	if n.Case != nil {
		kept.Case = n.Case.ID
	}
	if n.Crowd {
		kept.Crowd = n.Kind
	}
	if wish.At.IsZero() && (n.Crowd || n.Trouble != nil && (n.Trouble.Again || p.Together)) && post.hold == nil {
		wish.At, wish.Digest = n.Time, true
		if post.note != nil {
			if err := post.note(&machine.Request{Mail: mail}); err != nil {
				return err
			}
		}
	}
	if wish.At.IsZero() && post.hold == nil {
		var before int64
		wish.At, before = e.noticed.count(tx, party.ID, e.limits.Notices, n.Time)
		kept.Surplus = !wish.At.IsZero()
		switch {
		case before > mostHeldInHour:
			return nil // the mail has said that there are more
		case before == mostHeldInHour:
			mail = notice.NotListed(p, e.links)
			kept.Mail = *mail
		}
	}
	if wish.At.IsZero() {
		return post.send(&machine.Request{Mail: mail})
	}
	if kept.Surplus && post.note != nil {
		if err := post.note(&machine.Request{Mail: mail}); err != nil {
			return err
		}
	}
	held := &store.HeldMail{UserID: party.ID, Due: wish.At, Digest: wish.Digest || kept.Surplus, Created: n.Time, Mail: document.Line(kept)}
	if post.hold != nil {
		return post.hold(held, mail)
	}
	if n.Crowd { // it is sent when all of them are there, which are stored in several units
		tx.AfterCommit(func() { e.sweeper.crowd.Store(true) })
		return tx.Write().Outbox().HeldMails().Insert(held)
	}
	return e.sweeper.hold(tx, held)
}

// hold keeps a mail until it is due.
func (s *sweeper) hold(tx store.Tx, mail *store.HeldMail) error {
	tx.AfterCommit(func() { s.note(mail.Due) })
	return tx.Write().Outbox().HeldMails().Insert(mail)
}

// fireMail sends a user the mails that have waited for this hour.
func (e *Engine) fireMail(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	user := identity.ID(item.ID)
	held, err := tx.Outbox().HeldMails().Due(user, b.now)
	if err != nil || len(held) == 0 {
		return time.Time{}, false, err
	}
	if err := tx.Write().Outbox().HeldMails().Delete(user, b.now); err != nil {
		return time.Time{}, false, err
	}
	party := e.accounts.Table().ByID(user)
	if party == nil || party.Disabled || party.MailTo() == "" {
		return time.Time{}, false, nil
	}
	mails, err := heldMails(party, held, e.zoneOfParty(party.ID), e.limits.Notices)
	if err != nil {
		return time.Time{}, false, err
	}
	post := e.decider.postLoose(tx, b.now)
	for _, mail := range mails {
		mail.To = []string{party.MailTo()}
		if err := post.send(&machine.Request{Mail: mail}); err != nil {
			return time.Time{}, false, err
		}
	}
	return time.Time{}, false, nil
}

// heldMails returns what a user is sent: the mails as they were written, except that
// those for the digest go in one, and so do those that are more than the user gets in an
// hour, and those of one event that concerns many cases.
func heldMails(party *store.Party, held []store.HeldMail, zone *time.Location, most int64) (out []*machine.Mail, err error) {
	var digest, wrong, more []notice.Digested
	var events []eventOfCase // in which several things went wrong
	byEvent := map[eventOfCase][]notice.Digested{}
	crowds := map[notice.Kind][]notice.Digested{}
	for i := range held {
		kept := new(waitingMail)
		if err := json.Unmarshal(held[i].Mail, kept); err != nil {
			return nil, errs.Wrap("read a mail that waited", err)
		}
		mail := &kept.Mail
		one := notice.Digested{Time: held[i].Created, Mail: mail, Case: kept.Case}
		atOnce := held[i].Due.Equal(held[i].Created)
		switch {
		case kept.Crowd != "" && (atOnce || !held[i].Digest):
			crowds[kept.Crowd] = append(crowds[kept.Crowd], one)
		case kept.Together && (atOnce || !held[i].Digest):
			event := eventOfCase{kept.Case, held[i].Created.UTC()}
			if byEvent[event] == nil {
				events = append(events, event)
			}
			byEvent[event] = append(byEvent[event], one)
		case held[i].Digest && atOnce: // it waited for others of the same instant
			wrong = append(wrong, one)
		case kept.Surplus || !held[i].Digest && int64(len(out)) >= most:
			more = append(more, one)
		case held[i].Digest:
			digest = append(digest, one)
		default:
			out = append(out, mail)
		}
	}
	person := &notice.Person{Name: party.Name, Zone: zone}
	for _, kind := range notice.Kinds() {
		if of := crowds[kind]; len(of) > 0 {
			out = append(out, notice.Crowd(kind, of, person))
		}
	}
	for _, event := range events {
		out = append(out, notice.Wrong(byEvent[event], person))
	}
	switch len(wrong) {
	case 0:
	case 1:
		out = append(out, wrong[0].Mail)
	default:
		out = append(out, notice.StillWrong(wrong, person))
	}
	if len(digest) > 0 {
		out = append(out, notice.Digest(digest, person))
	}
	if len(more) > 0 {
		out = append(out, notice.TooMany(more, person, most))
	}
	return out, nil
}

// stopMail forgets the mails of a user that cannot be sent.
func stopMail(tx store.Tx, row store.DueRow) error {
	return tx.Write().Outbox().HeldMails().Delete(identity.ID(row.ID), row.Due)
}
