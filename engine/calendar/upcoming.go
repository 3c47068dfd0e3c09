package calendar

import (
	"context"
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/ical"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// feedVersion is what a calendar is made from.
type feedVersion struct {
	changes uint64 // Store.Changes
	parties any
	day     int64 // when it began
}

// Upcoming returns the calendar of the user: the firings of schedule entries
// and the timers of cases of the user's own contexts, and the deadlines of the
// user's tasks (docs/contract/drive.md#the-calendar). Days are those of UTC.
// The calendar is the same, byte for byte, until something changes or the day
// ends. If there are more events than it may have, those farthest away are left
// out.
func (e *Calendars) Upcoming(ctx context.Context, by identity.Principal) (*change.Resource, error) {
	now := e.maker.Clock.Now()
	version := feedVersion{changes: e.maker.Store.Changes(), parties: e.facts.Parties(), day: dayOf(now).Unix()}
	made := e.feeds.Get(by.ID, version)
	if made == nil {
		events, err := e.upcoming(ctx, by, now)
		if err != nil {
			return nil, err
		}
		form := written(by.Name, events)
		made = e.feeds.Put(by.ID, version, &feed{Form: form, ETag: change.SourceETag(form), Modified: now.UTC().Truncate(time.Second)})
	}
	return &change.Resource{Name: "upcoming", Form: made.Form, FormETag: made.ETag, Modified: made.Modified, Own: true}, nil
}

// CalendarAt returns the calendar of the user who made the secret address with
// the token. Errors: errs.NotFound if the token is unknown or the user is
// disabled.
func (e *Calendars) CalendarAt(ctx context.Context, token string) (*change.Resource, error) {
	by, ok := e.facts.LinkOwner(token)
	if !ok {
		return nil, change.Absent("calendar")
	}
	return e.Upcoming(ctx, by)
}

// upcoming returns the events of the user's calendar.
func (e *Calendars) upcoming(ctx context.Context, by identity.Principal, now time.Time) ([]ical.Event, error) {
	before := endOf(now)
	list := eventList{links: e.links}
	err := e.maker.Store.View(ctx, func(r store.Reader) error {
		entries, err := r.Entries().Upcoming(by.Contexts(), before, mostEvents)
		if err != nil {
			return err
		}
		for i := range entries {
			entry, _, err := e.ReadForView(ctx, r, &entries[i])
			if err != nil {
				return err
			}
			list.firings(entry, before)
		}
		d := deadlines{Calendars: e, r: r, by: by, actor: actorOf(by), list: &list}
		return d.read()
	})
	return list.events, err
}

// deadlines collects the timers of cases that a user's calendar shows.
type deadlines struct {
	*Calendars
	r     store.Reader
	by    identity.Principal
	actor machine.Actor
	list  *eventList
}

// read reads the cases of the user's contexts, and those in which the user has
// tasks. What the user may see as administrator or deputy is not in the
// calendar.
func (d *deadlines) read() error {
	own, err := d.r.Cases().Upcoming(d.by.Contexts(), mostEvents)
	if err != nil {
		return err
	}
	known := make(map[int64]bool, len(own))
	for i := range own {
		known[own[i].ID] = true
		if err := d.add(&own[i], true); err != nil {
			return err
		}
	}
	others, err := d.r.Cases().Tasks().UpcomingTasks(machine.OnOffered|machine.OnAccepted, d.by.Contexts(), mostEvents)
	if err != nil {
		return err
	}
	for i := range others {
		if known[others[i].ID] {
			continue
		}
		if err := d.add(&others[i], false); err != nil {
			return err
		}
	}
	return nil
}

// add appends the timers of the user's tasks. If the case is the user's own, it
// also appends the timers that are not those of a task, and the start of the
// case if that waits for an instant.
func (d *deadlines) add(row *store.Case, own bool) error {
	c, err := d.facts.CaseOf(d.r, row.Marking)
	if err != nil {
		return errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	compiled, err := d.facts.RouteVersion(d.r, c.RouteID, c.RouteVersion)
	if err != nil {
		return err
	}
	mine, err := d.tasks(row, c, compiled)
	if err != nil {
		return err
	}
	d.list.deadlines(c, compiled, mine, own)
	return nil
}

// tasks tells which actions of the case are the user's tasks.
func (d *deadlines) tasks(row *store.Case, c *machine.Case, r *route.Route) (mine func(action string) bool, err error) {
	var names []string
	for _, task := range machine.Tasks(c, r, d.actor) {
		if task.OfDraft || task.Lists&(machine.OnOffered|machine.OnAccepted) == 0 {
			continue
		}
		sees := task.Assigned
		if !sees { // accepted, and the role is lost since
			if sees, err = d.facts.SeesCase(d.r, d.by, row); err != nil {
				return nil, err
			}
		}
		if sees {
			names = append(names, r.Actions[task.Action].Name)
		}
	}
	return func(action string) bool { return slices.Contains(names, action) }, nil
}

// actorOf returns the user as an actor who is nobody's deputy.
func actorOf(by identity.Principal) machine.Actor {
	actor := machine.Actor{Name: string(by.Name)}
	for _, n := range by.ContextNames() {
		actor.Contexts = append(actor.Contexts, string(n))
	}
	return actor
}
