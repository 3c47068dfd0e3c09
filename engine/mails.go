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

// mail sends a person the mail of a notice, or keeps it for the hour at which the
// person wants it. What is still wrong is kept for a moment, so that all of it that is
// told at the same time goes in one mail.
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
	if wish.At.IsZero() && n.Trouble != nil && n.Trouble.Again && post.hold == nil {
		wish.At, wish.Digest = n.Time, true
		if post.note != nil {
			if err := post.note(&machine.Request{Mail: mail}); err != nil {
				return err
			}
		}
	}
	if wish.At.IsZero() {
		return post.send(&machine.Request{Mail: mail})
	}
	held := &store.HeldMail{UserID: party.ID, Due: wish.At, Digest: wish.Digest, Created: n.Time, Mail: document.Line(mail)}
	if post.hold != nil {
		return post.hold(held, mail)
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
	mails, err := heldMails(party, held, e.zoneOfParty(party.ID))
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
// those for the digest go in one.
func heldMails(party *store.Party, held []store.HeldMail, zone *time.Location) (out []*machine.Mail, err error) {
	var digest, wrong []notice.Digested
	for i := range held {
		mail := new(machine.Mail)
		if err := json.Unmarshal(held[i].Mail, mail); err != nil {
			return nil, errs.Wrap("read a mail that waited", err)
		}
		switch {
		case held[i].Digest && held[i].Due.Equal(held[i].Created): // it waited for others of the same instant
			wrong = append(wrong, notice.Digested{Time: held[i].Created, Mail: mail})
		case held[i].Digest:
			digest = append(digest, notice.Digested{Time: held[i].Created, Mail: mail})
		default:
			out = append(out, mail)
		}
	}
	switch len(wrong) {
	case 0:
	case 1:
		out = append(out, wrong[0].Mail)
	default:
		out = append(out, notice.StillWrong(wrong, &notice.Person{Name: party.Name, Zone: zone}))
	}
	if len(digest) > 0 {
		out = append(out, notice.Digest(digest, &notice.Person{Name: party.Name, Zone: zone}))
	}
	return out, nil
}

// stopMail forgets the mails of a user that cannot be sent.
func stopMail(tx store.Tx, row store.DueRow) error {
	return tx.Write().Outbox().HeldMails().Delete(identity.ID(row.ID), row.Due)
}
