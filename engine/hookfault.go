package engine

import (
	"context"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/hook"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// troubleHook is the name of what is wrong with a hook.
const troubleHook = "refused"

// Why a hook does not work. What its author may not do is only known when a request
// comes.
const (
	authorLeft   = "its author has left, or is disabled; another administrator of the route can store it again"
	authorMayNot = "its author may not do what it is for: "
)

// noteFault records that a hook does not work, or with "" that it works again. The
// administrators of its route are told as of anything that is wrong
// (docs/contract/routes.md#what-is-wrong). It never fails the request: the log has why
// not.
func (e *Hooks) noteFault(ctx context.Context, h *store.Hook, fault string) {
	if h.Fault == fault {
		return
	}
	now := e.Clock.Now()
	err := e.Update(change.Committed(ctx), func(tx store.Tx) error {
		current, err := store.OrNil(tx.Routes().Hooks().Get(h.RouteID, h.Name))
		if err != nil || current == nil || current.ID != h.ID || current.Fault == fault {
			return err
		}
		return e.setFault(tx, current, fault, now)
	})
	if err != nil {
		e.log.Error().Err(err).Str("hook", h.Name).Str("fault", fault).Msg("hook: could not record why requests are refused")
	}
}

// setFault stores why a hook does not work, "" if it does, and tells people.
func (e *Hooks) setFault(tx store.Tx, h *store.Hook, fault string, now time.Time) error {
	h.Fault = fault
	if err := tx.Write().Routes().Hooks().Put(h); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		if fault == "" {
			e.log.Info().Str("hook", h.Name).Int64("route", h.RouteID).Msg("hook: requests work again")
			return
		}
		e.log.Warn().Str("hook", h.Name).Int64("route", h.RouteID).Str("fault", fault).Msg("hook: requests are refused")
	})
	if fault == "" {
		return e.endFault(tx, h, hookEnd{at: now})
	}
	n := e.faultNotice(h, notice.KindFailure, now)
	if n == nil {
		return nil
	}
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.admins(h.RouteID, false)
	kept := trouble{What: notice.WhatFailed, Text: fault, Since: now}
	kept.addTold(c.table, c.people)
	row := &store.Trouble{Hook: h.ID, Name: troubleHook, Due: againAt(now), Data: document.Line(&kept)}
	if known, err := e.decider.addTrouble(tx, row); err != nil || known {
		return err // it fails in another way now, which the file says
	}
	n.People, n.Trouble.Text, n.Trouble.Since = c.people, fault, now
	return e.decider.tell(tx, n, e.decider.postLoose(tx, now))
}

// faultNotice returns the notice of what is wrong with a hook, without the people who
// are told; nil if its route is gone.
func (e *Hooks) faultNotice(h *store.Hook, kind notice.Kind, now time.Time) *notice.Notice {
	info := e.rights.Route(h.RouteID)
	if info == nil {
		return nil
	}
	return &notice.Notice{
		Kind: kind, Time: now, Hook: &notice.Hook{ID: h.ID, Name: h.Name, Route: info.Name},
		Trouble: &notice.Trouble{What: notice.WhatFailed},
	}
}

// hookEnd says how what was wrong with a hook is over: who brought that about, 0 for
// nobody, and whether by deleting the hook.
type hookEnd struct {
	at      time.Time
	by      identity.ID
	deleted bool
}

// endFault forgets what is wrong with a hook and tells those who were told of it, but
// not whose doing that is.
func (e *Hooks) endFault(tx store.Tx, h *store.Hook, end hookEnd) error {
	rows, err := tx.Troubles().OfHook(h.ID)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Name != troubleHook && !end.deleted {
			continue // a request shows whether that is over
		}
		told, err := readTrouble(&rows[i])
		if err != nil {
			return err
		}
		if err := tx.Write().Troubles().Delete(rows[i].ID); err != nil {
			return err
		}
		n := e.faultNotice(h, notice.KindMended, end.at)
		if n == nil || told.Gone || told.Quiet {
			continue
		}
		n.Trouble.Text, n.Trouble.Since = told.Text, told.Since
		if end.deleted {
			n.Trouble.Over = notice.EndDeleted
		}
		if n.People = e.decider.toldButNot(told, end.by, n.Trouble); !end.deleted {
			n.People = e.decider.toldPeople(told) // to store it again does not show that it works
		}
		if err := e.decider.tell(tx, n, e.decider.postLoose(tx, end.at)); err != nil {
			return err
		}
	}
	return nil
}

// tellAgain tells people again that a hook does not work, unless what kept it from
// working has been mended elsewhere.
func (e *Hooks) tellAgain(tx store.Tx, row *store.Trouble, told *trouble, now time.Time) error {
	if row.Name != troubleHook {
		return e.refusedAgain(tx, row, told, now)
	}
	h, err := store.OrNil(tx.Routes().Hooks().ByID(row.Hook))
	if err != nil {
		return err
	}
	if h == nil || h.Fault == "" {
		return tx.Write().Troubles().Delete(row.ID)
	}
	s, err := hook.SettingsOf(h)
	if err != nil {
		return err
	}
	_, noSecret := e.secrets.Of(s.Verify)
	_, noAuthor := e.author(h)
	switch {
	case noSecret != "":
		told.Text = noSecret
	case noAuthor != nil:
		told.Text = authorLeft
	case !strings.HasPrefix(h.Fault, authorMayNot):
		return e.setFault(tx, h, "", now)
	}
	n := e.faultNotice(h, notice.KindFailure, now)
	if n == nil {
		return tx.Write().Troubles().Delete(row.ID)
	}
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.admins(h.RouteID, false)
	told.addTold(c.table, c.people)
	row.Data = document.Line(told)
	if err := tx.Write().Troubles().Update(row); err != nil {
		return err
	}
	n.People, n.Trouble.Text, n.Trouble.Since, n.Trouble.Again = c.people, told.Text, told.Since, true
	return e.decider.tell(tx, n, e.decider.postLoose(tx, now))
}
