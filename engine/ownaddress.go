package engine

import (
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/store"
)

// ties is what accounts need of the rest: what all share, and mails to who has no address yet.
type ties struct{ *base }

// MailCode implements account.Ties.
func (e ties) MailCode(tx store.Tx, p *store.Party, code string, now time.Time) error {
	to := &notice.Person{Name: p.Name, Email: p.Pending.Address, Zone: e.zoneOfParty(p.ID)}
	d := &decider{e.base}
	return d.postLoose(tx, now).send(&machine.Request{Mail: notice.AddressCode(to, code, e.links)})
}
