package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/notice"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// The names of what is wrong with the requests that come to a hook. Who knows its
// address can bring about each of them.
const (
	troubleSignature = "signature" // they are not signed as the hook wants; over when one is
	troubleUnusable  = "unusable"  // nothing can be done with them; over when one gets through
	troubleRate      = "rate"      // there are too many; over when there were none for a day
)

func hookRefusals() []string { return []string{troubleSignature, troubleUnusable, troubleRate} }

// rateRecalled is for how long after people were told of too many requests further ones
// are not taken for more than the same rush.
const rateRecalled = 2 * time.Hour

// noteRefusal notes that a request to a hook was refused for what it is. The
// administrators of its route are told once, and no more than that and its end within a
// day, however often it ends and comes again: outsiders must not be able to send mails
// (docs/contract/routes.md#requests-that-a-hook-refuses). It never fails the request.
func (e *Hooks) noteRefusal(ctx context.Context, at *addressed, name, why string) {
	info := e.rights.Route(at.hook.RouteID)
	if info == nil {
		return
	}
	e.log.Info().Str("route", string(info.Name)).Str("hook", at.hook.Name).Str("reason", why).Msg("hook: a request was refused")
	e.audit.Tried(&audit.Row{
		Time: e.Clock.Now(), Address: e.audit.AddressOf(ctx), Action: audit.HookRequest, Target: string(info.Name) + "/" + at.hook.Name,
		Outcome: audit.Refused, Detail: why,
	})
	now := e.Clock.Now()
	row, told, err := refusalIn(at.wrong, name)
	if err == nil && (row == nil || told.changes(row, name, now)) {
		err = e.Update(change.Committed(ctx), func(tx store.Tx) error { return e.addRefusal(tx, at.hook.ID, name, why, now) })
	}
	if err != nil {
		e.log.Error().Err(err).Str("route", string(info.Name)).Str("hook", at.hook.Name).Msg("hook: could not record that a request was refused")
	}
}

// refusalIn returns the row of that name and what it says, nil for none.
func refusalIn(rows []store.Trouble, name string) (*store.Trouble, *trouble, error) {
	i := slices.IndexFunc(rows, func(row store.Trouble) bool { return row.Name == name })
	if i < 0 {
		return nil, nil, nil
	}
	told, err := readTrouble(&rows[i])
	return &rows[i], told, err
}

// changes reports whether one more refusal changes what is known of them.
func (t *trouble) changes(row *store.Trouble, name string, now time.Time) bool {
	if name == troubleRate {
		return !t.Seen && now.After(row.Due.Add(rateRecalled-toldAgainAfter))
	}
	return t.Gone
}

// addRefusal stores that requests are refused, and tells people if that is new.
func (e *Hooks) addRefusal(tx store.Tx, id int64, name, why string, now time.Time) error {
	h, err := store.OrNil(tx.Routes().Hooks().ByID(id))
	if err != nil || h == nil {
		return err
	}
	rows, err := tx.Troubles().OfHook(h.ID)
	if err != nil {
		return err
	}
	row, told, err := refusalIn(rows, name)
	if err != nil {
		return err
	}
	if row != nil {
		if !told.changes(row, name, now) {
			return nil
		}
		if told.Seen = true; told.Gone {
			told.Gone, told.Quiet, told.Text = false, true, why
		}
		row.Data = document.Line(told)
		return tx.Write().Troubles().Update(row)
	}
	told = &trouble{What: notice.WhatFailed, Text: why, Since: now}
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.admins(h.RouteID, false)
	told.addTold(c.table, c.people)
	if _, err := e.decider.addTrouble(tx, &store.Trouble{Hook: h.ID, Name: name, Due: againAt(now), Data: document.Line(told)}); err != nil {
		return err
	}
	return e.tellOfRefusal(tx, h, told, refusalNews{notice.KindFailure, c.people, now})
}

// refusalNews is who is told what of the requests that a hook refuses.
type refusalNews struct {
	kind   notice.Kind
	people []notice.Person
	now    time.Time
}

func (e *Hooks) tellOfRefusal(tx store.Tx, h *store.Hook, told *trouble, news refusalNews) error {
	n := e.faultNotice(h, news.kind, news.now)
	if n == nil {
		return nil
	}
	n.Hook.Sender = true
	n.People, n.Trouble.Text, n.Trouble.Since = news.people, told.Text, told.Since
	n.Trouble.Again = news.kind == notice.KindFailure && told.Since.Before(news.now)
	return e.decider.tell(tx, n, e.decider.postLoose(tx, news.now))
}

// noteTaken notes that a request was not refused for what has that name, and tells those
// who were told of it. It never fails the request.
func (e *Hooks) noteTaken(ctx context.Context, at *addressed, name string) {
	row, told, err := refusalIn(at.wrong, name)
	if err == nil && row != nil && !told.Gone {
		now := e.Clock.Now()
		err = e.Update(change.Committed(ctx), func(tx store.Tx) error {
			h, err := store.OrNil(tx.Routes().Hooks().ByID(at.hook.ID))
			if err != nil || h == nil {
				return err
			}
			rows, err := tx.Troubles().OfHook(h.ID)
			if err != nil {
				return err
			}
			row, told, err := refusalIn(rows, name)
			if err != nil || row == nil || told.Gone {
				return err
			}
			told.Gone = true // the row stays until people would be told again
			row.Data = document.Line(told)
			if err := tx.Write().Troubles().Update(row); err != nil || told.Quiet {
				return err
			}
			return e.tellOfRefusal(tx, h, told, refusalNews{notice.KindMended, e.decider.toldPeople(told), now})
		})
	}
	if err != nil {
		e.log.Error().Err(err).Str("hook", at.hook.Name).Msg("hook: could not record that requests are not refused any more")
	}
}

// refusedAgain tells people again that requests are refused, or forgets it if it is over.
func (e *Hooks) refusedAgain(tx store.Tx, row *store.Trouble, told *trouble, now time.Time) error {
	h, err := store.OrNil(tx.Routes().Hooks().ByID(row.Hook))
	if err != nil {
		return err
	}
	over := row.Name == troubleRate && !told.Seen
	if h == nil || told.Gone || over {
		if err := tx.Write().Troubles().Delete(row.ID); err != nil || h == nil || told.Gone {
			return err
		}
		return e.tellOfRefusal(tx, h, told, refusalNews{notice.KindMended, e.decider.toldPeople(told), now})
	}
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.admins(h.RouteID, false)
	told.addTold(c.table, c.people)
	told.Seen, told.Quiet = false, false
	row.Data = document.Line(told)
	if err := tx.Write().Troubles().Update(row); err != nil {
		return err
	}
	return e.tellOfRefusal(tx, h, told, refusalNews{notice.KindFailure, c.people, now})
}

// isRequests reports whether an error is about the request, and not about the server, the
// hook or its author.
func isRequests(err error) bool {
	told, ok := errors.AsType[*errs.Error](err)
	if !ok || errors.Is(err, ErrNoHook) || quota.Unserved(err) {
		return false
	}
	return !slices.Contains([]errs.Kind{errs.Internal, errs.NotAllowed, errs.Unavailable}, told.Kind)
}
