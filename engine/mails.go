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
// person wants it.
func (e *decider) mail(tx store.Tx, n *notice.Notice, p *notice.Person, post func(*machine.Request) error) error {
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
	if wish.At.IsZero() {
		return post(&machine.Request{Mail: mail})
	}
	tx.AfterCommit(func() { e.sweeper.note(wish.At) })
	return tx.Write().HeldMails().Insert(&store.HeldMail{UserID: party.ID, Due: wish.At, Digest: wish.Digest, Created: n.Time, Mail: document.Line(mail)})
}

// fireMail sends a user the mails that have waited for this hour.
func (e *Engine) fireMail(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	user := identity.ID(item.ID)
	held, err := tx.HeldMails().Due(user, b.now)
	if err != nil || len(held) == 0 {
		return time.Time{}, false, err
	}
	if err := tx.Write().HeldMails().Delete(user, b.now); err != nil {
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
		if err := post(&machine.Request{Mail: mail}); err != nil {
			return time.Time{}, false, err
		}
	}
	return time.Time{}, false, nil
}

// heldMails returns what a user is sent: the mails as they were written, except that
// those for the digest go in one.
func heldMails(party *store.Party, held []store.HeldMail, zone *time.Location) (out []*machine.Mail, err error) {
	var digest []notice.Digested
	for i := range held {
		mail := new(machine.Mail)
		if err := json.Unmarshal(held[i].Mail, mail); err != nil {
			return nil, errs.Wrap("read a mail that waited", err)
		}
		if held[i].Digest {
			digest = append(digest, notice.Digested{Time: held[i].Created, Mail: mail})
		} else {
			out = append(out, mail)
		}
	}
	if len(digest) > 0 {
		out = append(out, notice.Digest(digest, &notice.Person{Name: party.Name, Zone: zone}))
	}
	return out, nil
}

// stopMail forgets the mails of a user that cannot be sent.
func stopMail(tx store.Tx, row store.DueRow) error {
	return tx.Write().HeldMails().Delete(identity.ID(row.ID), row.Due)
}
