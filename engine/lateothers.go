package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/access"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/status"
	"flowdrive/internal/errs"
	"flowdrive/schedule"
	"flowdrive/store"
)

// lateAdder adds to a list what is wrong by a trouble, if that is so and the user may know.
type lateAdder func(r store.Reader, row *store.Trouble, late *status.Late) error

// lateElsewhere adds what is wrong and is not found on a case: the cases that take longer
// than usual, schedule entries, hooks and, for administrators, the server and the ways by
// which people are told.
func (l *statusLook) lateElsewhere(r store.Reader, late *status.Late) error {
	type kind struct {
		name string
		add  lateAdder
	}
	kinds := []kind{
		{troubleSlow, l.lateSlow},
		{troubleFiring, l.lateEntry(notFired)},
		{troublePaused, l.lateEntry(pausedWithRoute)},
		{troubleUnfilled, l.lateEntry(notFilled)},
		{troubleDaysOff, l.lateEntry(noDaysOff)},
		{troubleHook, l.lateHook},
	}
	for _, name := range hookRefusals() {
		kinds = append(kinds, kind{name, l.lateRefusals})
	}
	for _, kind := range kinds {
		all, err := r.Troubles().Named(kind.name, mostLateCases)
		if err != nil {
			return err
		}
		for i := range all {
			if err := kind.add(r, &all[i], late); err != nil {
				return err
			}
		}
	}
	if err := l.lateRoutes(r, late); err != nil {
		return err
	}
	if err := l.lateHolds(r, late); err != nil || !l.by.Admin() {
		return err
	}
	if err := l.lateServer(r, late); err != nil {
		return err
	}
	return l.lateWays(r, late)
}

// lateSlow adds a case that takes longer than usual.
func (l *statusLook) lateSlow(r store.Reader, row *store.Trouble, late *status.Late) error {
	told, err := readTrouble(row)
	if err != nil || told.Usual == nil || told.Usual.Waits {
		return err
	}
	of, err := store.OrNil(r.Cases().Get(row.CaseID))
	if err != nil || of == nil {
		return err
	}
	c, err := l.caseOf(r, of.Marking)
	if err != nil {
		return errs.Wrap(fmt.Sprintf("read case %d", of.ID), err)
	}
	if c.Life != machine.Active {
		return nil
	}
	if concerns, err := l.concerns(r, of, c); err != nil || !concerns {
		return err
	}
	text := fmt.Sprintf("It takes longer than usual: the last %d cases of its schedule entry that were completed took %s at most.", told.Usual.Cases, roughly(told.Usual.Longest))
	late.Items = append(late.Items, status.LateItem{Kind: status.LateWarning, Case: c.ID, Title: c.Title, Since: told.Since, Text: text})
	return nil
}

// concerns reports whether what is wrong with a case of a schedule entry concerns the
// user, as people are told of it, and the user sees the case.
func (l *statusLook) concerns(r store.Reader, of *store.Case, c *machine.Case) (bool, error) {
	own := l.by.In(of.StarterID) || l.by.In(of.ContextID) || l.administers(of.RouteID)
	if uuid, scheduled := store.ParseUUID(c.ScheduleUUID); !own && scheduled {
		entry, err := store.OrNil(r.Entries().Get(uuid))
		if err != nil {
			return false, err
		}
		own = entry != nil && entry.AuthorID == l.by.ID
	}
	if !own {
		return false, nil
	}
	return l.rights.SeesCase(r, l.by, of)
}

func (l *statusLook) administers(routeID int64) bool {
	info := l.rights.Route(routeID)
	return info != nil && l.rights.Administers(l.by, info)
}

// entryWords say what is wrong with a schedule entry, "" if it is not wrong any more.
type entryWords func(stored *store.Entry, form *schedule.Entry, told *trouble) string

// lateEntry adds schedule entries with which something is wrong, for those who may know.
func (l *statusLook) lateEntry(words entryWords) lateAdder {
	return func(r store.Reader, row *store.Trouble, late *status.Late) error {
		stored, err := store.OrNil(r.Entries().Get(row.Entry))
		if err != nil || stored == nil {
			return err
		}
		if !access.SeesEntry(l.by, stored.ContextID) && stored.AuthorID != l.by.ID && !l.administers(stored.RouteID) {
			return nil
		}
		told, err := readTrouble(row)
		if err != nil {
			return err
		}
		form, err := l.readForm(stored)
		if err != nil {
			return err
		}
		if row.Name == troubleFiring {
			mended, err := l.noteCause(r, stored, form, told)
			if err != nil {
				return err
			}
			if mended {
				told.Text = causeMended
			}
		}
		text := words(stored, form, told)
		if text == "" {
			return nil
		}
		names, err := l.entryNames(r, []store.Entry{*stored})
		if err != nil {
			return err
		}
		late.Others = append(late.Others, status.Other{
			Kind: status.OtherEntry, Name: names[stored.UUID], Title: form.Title, Path: "/schedule/" + stored.UUID.String(), Since: told.Since, Text: text,
		})
		return nil
	}
}

// notFired says why an entry could not create its case. Nobody is told again of one that
// is paused.
func notFired(stored *store.Entry, _ *schedule.Entry, told *trouble) string {
	if !stored.Paused.IsZero() {
		return ""
	}
	return told.Text
}

// lateHook adds a hook that refuses requests by its own fault.
func (l *statusLook) lateHook(r store.Reader, row *store.Trouble, late *status.Late) error {
	h, err := store.OrNil(r.Routes().Hooks().ByID(row.Hook))
	if err != nil || h == nil || h.Fault == "" || !l.administers(h.RouteID) {
		return err
	}
	told, err := readTrouble(row)
	if err == nil {
		l.addHook(late, h, status.Other{Since: told.Since, Text: h.Fault})
	}
	return err
}

// lateRefusals adds a hook that refuses requests for what they are.
func (l *statusLook) lateRefusals(r store.Reader, row *store.Trouble, late *status.Late) error {
	h, err := store.OrNil(r.Routes().Hooks().ByID(row.Hook))
	if err != nil || h == nil || !l.administers(h.RouteID) {
		return err
	}
	told, err := readTrouble(row)
	if err == nil && !told.Gone {
		l.addHook(late, h, status.Other{Since: told.Since, Text: told.Text})
	}
	return err
}

func (l *statusLook) addHook(late *status.Late, h *store.Hook, o status.Other) {
	route := string(l.rights.Route(h.RouteID).Name)
	o.Kind, o.Name, o.Path = status.OtherHook, route+"/"+h.Name, "/routes/"+route
	late.Others = append(late.Others, o)
}

// lateServer adds what is wrong with the server itself.
func (l *statusLook) lateServer(r store.Reader, late *status.Late) error {
	for _, part := range serverParts() {
		if part == ServerRoutes {
			continue // lateRoutes has each
		}
		record, err := l.serverRecord(r, part)
		if err != nil {
			return err
		}
		if record != nil {
			late.Others = append(late.Others, status.Other{Kind: status.OtherServer, Name: part.subject().Title, Since: record.Since, Text: record.Text})
		}
	}
	return nil
}

// lateWays adds the ways of telling people that fail and are still used.
func (l *statusLook) lateWays(r store.Reader, late *status.Late) error {
	all, err := r.Settings().Under(recordKey(""))
	if err != nil {
		return err
	}
	for id, text := range all {
		record := new(destinationRecord)
		if err := json.Unmarshal([]byte(text), record); err != nil {
			return errs.Wrap("read what is kept of a destination", err)
		}
		isMail := l.channels.Mail && (id == notice.MailServer || strings.HasPrefix(id, notice.Mailbox("")))
		isUsed := isMail || strings.HasPrefix(id, heartbeatWay) || slices.ContainsFunc(l.channels.Destinations, func(d notice.Destination) bool { return d.ID == id })
		if record.Told && isUsed && record.Name != "" {
			late.Others = append(late.Others, status.Other{Kind: status.OtherDestination, Name: record.Name, Since: record.Since, Text: record.Reason + givenUp(record.Lost)})
		}
	}
	return nil
}

// givenUp says how many notices were given up, if any were.
func givenUp(lost int64) string {
	switch lost {
	case 0:
		return ""
	case 1:
		return "; one was given up"
	}
	return fmt.Sprintf("; %d were given up", lost)
}
