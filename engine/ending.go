package engine

import (
	"time"

	"flowdrive/engine/account"
	"flowdrive/engine/notice"
	"flowdrive/store"
)

// fireEnding tells a user that an app password ends soon
// (docs/contract/routes.md#app-passwords-that-end).
func (e *Engine) fireEnding(tx store.Tx, b *dueBatch, item *dueItem) (time.Time, bool, error) {
	s, err := store.OrNil(tx.Parties().AppPassword(item.ID))
	if err != nil || s == nil || s.TellAt.IsZero() || s.TellAt.After(b.now) {
		return time.Time{}, false, err
	}
	next := account.TellAt(s.Expires, b.now) // the server was down: once for all of it
	if err := tx.Write().Parties().TellOfAppPassword(s.ID, next); err != nil {
		return time.Time{}, false, err
	}
	owner := e.accounts.Table().ByID(s.UserID)
	if !s.Expires.After(b.now) || owner == nil {
		return next, false, nil
	}
	n := &notice.Notice{
		Kind: notice.KindReminder, Time: b.now, Links: e.links,
		Password: &notice.Password{ID: s.ID, Label: s.Label, Ends: s.Expires, Used: s.LastUsed},
	}
	return next, false, (&deeds{e.decider, tx}).mailTo(owner, n)
}

// stopEnding has a user not told any more that an app password ends.
func stopEnding(tx store.Tx, row store.DueRow) error {
	return tx.Write().Parties().TellOfAppPassword(row.ID, time.Time{})
}
