package engine

import (
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// DeputyChanged implements account.Ties: who is to stand in for a user learns of it, and
// that it has ended before its time (docs/contract/routes.md#deputies-and-authors).
func (e *base) DeputyChanged(tx store.Tx, req Request, before, after *store.Party) error {
	d := &deeds{&decider{e}, tx}
	was, is := before.Deputy, after.Deputy
	same := identity.Fold(string(was.User)) == identity.Fold(string(is.User))
	if is.User != "" && is.To.After(req.Now) && (!same || !was.To.Equal(is.To) || !was.From.Equal(is.From) && (is.From.After(req.Now) || was.From.After(req.Now))) {
		if err := d.tellDeputy(req, is.User, d.deputyNotice(req, after, is)); err != nil {
			return err
		}
	}
	if was.User == "" || same || !was.To.After(req.Now) {
		return nil
	}
	n := d.deputyNotice(req, before, was)
	n.Deputy.Ended = true
	return d.tellDeputy(req, was.User, n)
}

func (e *deeds) deputyNotice(req Request, absent *store.Party, d identity.Deputy) *notice.Notice {
	name := e.accounts.Table().Called(absent)
	by := ""
	if req.By.ID != absent.ID {
		by = e.callName(req.By.Name)
	}
	return &notice.Notice{Kind: notice.KindAct, Time: req.Now, Links: e.links, Deputy: &notice.Deputy{For: name, From: d.From, To: d.To, By: by}}
}

// tellDeputy sends the mail, except to the user who has done it.
func (e *deeds) tellDeputy(req Request, name identity.Name, n *notice.Notice) error {
	p := e.accounts.Table().ByName(identity.User, string(name))
	if p == nil || p.ID == req.By.ID {
		return nil
	}
	return e.mailTo(p, n)
}

// mailTo mails a notice to one user who is told nothing by services, if mails get there.
func (e *deeds) mailTo(to *store.Party, n *notice.Notice) error {
	if to.Disabled || to.MailTo() == "" || !e.channels.Mail {
		return nil
	}
	p := &notice.Person{Notice: machine.Notice{Person: string(to.Name)}, Name: to.Name, Email: to.MailTo()}
	return e.mail(e.tx, n, p, e.postLoose(e.tx, n.Time))
}
