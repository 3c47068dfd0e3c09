package engine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/store"
)

// noteFault records that a hook does not work, or with "" that it works again. The
// administrators of its route are told once, again when a request fails a day later,
// and once when it works again. It never fails the request: the log has why not.
func (e *Hooks) noteFault(ctx context.Context, h *store.Hook, fault string) {
	now := e.Clock.Now()
	err := e.Update(change.Committed(ctx), func(tx store.Tx) error {
		current, err := store.OrNil(tx.Hooks().Get(h.RouteID, h.Name))
		if err != nil || current == nil || current.Fault == fault && (fault == "" || now.Before(current.Told.Add(toldAgainAfter))) {
			return err
		}
		current.Fault, current.Told = fault, now
		if err := tx.Write().Hooks().Put(current); err != nil {
			return err
		}
		if err := e.tellOfFault(tx, current, now); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			if fault == "" {
				e.log.Info().Str("hook", h.Name).Int64("route", h.RouteID).Msg("hook: requests work again")
				return
			}
			e.log.Warn().Str("hook", h.Name).Int64("route", h.RouteID).Str("fault", fault).Msg("hook: requests are refused")
		})
		return nil
	})
	if err != nil {
		e.log.Error().Err(err).Str("hook", h.Name).Str("fault", fault).Msg("hook: could not record why requests are refused")
	}
}

// tellOfFault sends a mail to each administrator of the hook's route.
func (e *Hooks) tellOfFault(tx store.Tx, h *store.Hook, now time.Time) error {
	info := e.routes.Load().byID[h.RouteID]
	if info == nil || !e.channels.Mail {
		return nil
	}
	subject := fmt.Sprintf("Mended: the hook %s of %s", h.Name, info.Name)
	text := "Requests to it work again."
	if h.Fault != "" {
		subject = fmt.Sprintf("Failed: the hook %s of %s", h.Name, info.Name)
		text = "Requests to it are refused: " + h.Fault + "\n\nYou are told of it once a day while requests come, and once when they work again."
	}
	text = fmt.Sprintf("%s\n\n%s\n\nThe hook:  %s\n\nYou get this because you administer the route.\n", subject, text,
		e.links.To(fmt.Sprintf("/dav/Workflow/Routes/%s/Hooks/%s.json", url.PathEscape(info.Name), url.PathEscape(h.Name))))
	post := e.decider.postLoose(tx, now)
	for _, address := range e.adminAddresses(h.RouteID) {
		if err := post(&machine.Request{Mail: &machine.Mail{To: []string{address}, Subject: subject, Text: text}}); err != nil {
			return err
		}
	}
	return nil
}

// adminAddresses returns the e-mail addresses of those who administer a route, or the
// server if the route has nobody left: each once, in order.
func (e *Hooks) adminAddresses(route int64) (addresses []string) {
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.admins(route, false)
	for _, p := range c.people {
		if p.Email != "" {
			addresses = append(addresses, p.Email)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
