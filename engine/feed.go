package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"flowdrive/engine/account"
	"flowdrive/engine/core"
	"flowdrive/errs"
	"flowdrive/ical"
	"flowdrive/identity"
	"flowdrive/route"
	"flowdrive/schedule"
)

// The bounds of the calendar of what is to come.
const (
	feedDays     = 30 // whose firings it shows, the present one included
	mostUpcoming = 2000
	feedRefresh  = 30 * time.Minute
	feedDay      = 24 * time.Hour
)

// Upcoming returns the calendar of what is to come for the user: the firings
// of schedule entries and the timers of cases of its own contexts, and the
// deadlines of its tasks (design: the drive, section 1). Days are those of
// UTC: it stays as it is, to the byte, until something changes or the day ends.
// Of more events than it may have those are left out that are farthest away.
func (e *Engine) Upcoming(ctx context.Context, by identity.Principal) (*Resource, error) {
	now := e.clock.Now()
	version := feedVersion{changes: e.store.Changes(), parties: e.parties.Load(), day: now.UTC().Truncate(feedDay).Unix()}
	if res := e.feeds.get(by.ID, version); res != nil {
		return res, nil
	}
	events, err := e.upcoming(ctx, by, now)
	if err != nil {
		return nil, err
	}
	c := ical.Calendar{Name: "Flowdrive: " + string(by.Name), Refresh: feedRefresh, Events: events}
	form := c.Append(nil)
	return e.feeds.put(by.ID, version, &Resource{
		Name: "upcoming", Form: form, FormETag: sourceETag(form), Modified: now.UTC().Truncate(time.Second), Own: true,
	}), nil
}

// upcoming returns the events of the user's calendar in their order.
func (e *Engine) upcoming(ctx context.Context, by identity.Principal, now time.Time) ([]ical.Event, error) {
	before := now.UTC().Truncate(feedDay).AddDate(0, 0, feedDays)
	var events []ical.Event
	err := e.store.View(ctx, func(r Reader) error {
		entries, err := r.UpcomingEntries(by.Contexts(), before, mostUpcoming)
		if err != nil {
			return err
		}
		for i := range entries {
			entry, err := e.readForFeed(ctx, r, &entries[i])
			if err != nil {
				return err
			}
			events = appendFirings(events, entry, before)
		}
		d := deadlines{Engine: e, r: r, by: by, actor: core.Actor{Name: string(by.Name), Contexts: contextNames(by)}}
		if err := d.read(); err != nil {
			return err
		}
		events = append(events, d.events...)
		return nil
	})
	slices.SortFunc(events, func(a, b ical.Event) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.UID, b.UID))
	})
	return slices.Clip(events[:min(len(events), mostUpcoming)]), err
}

// appendFirings appends the instants of an entry.
func appendFirings(events []ical.Event, entry *schedule.Entry, before time.Time) []ical.Event {
	title := cmp.Or(entry.Title, entry.Route)
	about := fmt.Sprintf("%s: starts a case of the route %s.\n/dav/Workflow/Schedule/%s.json", entry.Description, entry.Route, entry.UUID)
	times, days := entry.Agenda(before)
	form := timeInName
	if days {
		form = "20060102"
	}
	for _, at := range times {
		events = append(events, ical.Event{
			UID: entry.UUID + "-" + at.Format(form) + "@flowdrive", Stamp: entry.Modified, Start: at, AllDay: days,
			Summary: title, Description: about, Category: "Schedule",
		})
	}
	return events
}

// deadlines collects the timers of cases that a user's calendar shows.
type deadlines struct {
	*Engine
	r      Reader
	by     identity.Principal
	actor  core.Actor
	events []ical.Event
}

// read reads the cases of the user's contexts, and those in which it has
// tasks. What it may do as administrator or deputy is no concern of its
// calendar.
func (d *deadlines) read() error {
	own, err := d.r.UpcomingCases(d.by.Contexts(), mostUpcoming)
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
	others, err := d.r.UpcomingTasks(core.OnOffered|core.OnAccepted, d.by.Contexts(), mostUpcoming)
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

// add appends the timers of a case: those of the user's tasks, and, of a case
// that is its own, those that are nobody's task, and its start where it waits
// for an instant.
func (d *deadlines) add(row *Case, own bool) error {
	c, err := core.ReadMarking(row.Marking)
	if err != nil {
		return errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	compiled, err := d.versions.get(d.r, c.RouteID, c.RouteVersion)
	if err != nil {
		return err
	}
	mine, err := d.tasks(row, c, compiled)
	if err != nil {
		return err
	}
	title := cmp.Or(c.Title, fmt.Sprintf("case %d", c.ID))
	if c.Life == core.Queued && own {
		d.events = append(d.events, ical.Event{
			UID: c.GUID + ".start@flowdrive", Stamp: c.Modified, Start: c.NextDue(), Summary: "Starts: " + title, Category: "Schedule",
			Description: fmt.Sprintf("Case %d of the route %s waits until then to start.\n/dav/Workflow/Cases/%d.json", c.ID, c.RouteName, c.ID),
		})
	}
	for _, due := range core.Deadlines(c, compiled, mine, own) {
		d.events = append(d.events, ical.Event{
			UID: c.GUID + "-" + due.Timer + "@flowdrive", Stamp: c.Modified, Start: due.At,
			Summary: wordsOf(due) + ": " + title, Category: categoryOf(due.Kind),
			Description: fmt.Sprintf("Case %d of the route %s.\n/dav/Workflow/Cases/%d/Timers/%s.json", c.ID, c.RouteName, c.ID, due.Timer),
		})
	}
	return nil
}

// tasks tells which actions of the case are the user's tasks.
func (d *deadlines) tasks(row *Case, c *core.Case, r *route.Route) (mine func(action string) bool, err error) {
	var names []string
	for _, task := range core.Tasks(c, r, d.actor) {
		if task.Lists&(core.OnOffered|core.OnAccepted) == 0 {
			continue
		}
		sees := task.Assigned
		if !sees { // accepted, and the role is lost since
			if sees, err = d.seesCase(d.r, d.by, row); err != nil {
				return nil, err
			}
		}
		if sees {
			names = append(names, r.Actions[task.Action].Name)
		}
	}
	return func(action string) bool { return slices.Contains(names, action) }, nil
}

// wordsOf says what a deadline is of.
func wordsOf(d core.Deadline) string {
	switch d.Kind {
	case core.DueTimer:
		return "Due: " + d.Action
	case core.OfferTimer:
		return "To be accepted: " + d.Action
	case core.TimeoutTimer:
		return "Performed by itself: " + d.Action
	case core.StateTimer:
		return "Time limit of the state"
	case core.UserTimer:
		return "Timer " + d.Timer
	case core.CaseTimer:
	}
	return "Time limit of the case"
}

func categoryOf(kind core.TimerKind) string {
	if kind == core.DueTimer || kind == core.OfferTimer {
		return "Task"
	}
	return "Timer"
}

// feedVersion is what a calendar was rendered from: it stays as it is for as
// long as that does.
type feedVersion struct {
	changes uint64 // Store.Changes
	parties *account.Table
	day     int64 // when it began
}

// feedCache keeps the calendars that were rendered, as many as there is room
// for.
type feedCache struct {
	mu    sync.Mutex
	feeds map[identity.ID]feed
	size  int
}

type feed struct {
	version feedVersion
	res     *Resource
}

const feedRoom = 16 << 20 // bytes

// get returns the calendar that was rendered from that, nil for none.
func (c *feedCache) get(user identity.ID, version feedVersion) *Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.feeds[user]; ok && f.version == version {
		return f.res
	}
	return nil
}

// put keeps a calendar and returns it; one of equal bytes has not been
// modified since.
func (c *feedCache) put(user identity.ID, version feedVersion, res *Resource) *Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.feeds[user]; ok {
		c.size -= len(before.res.Form)
		if before.res.FormETag == res.FormETag {
			res = before.res
		}
	}
	if c.size += len(res.Form); c.feeds == nil || c.size > feedRoom {
		c.feeds, c.size = map[identity.ID]feed{}, len(res.Form)
	}
	c.feeds[user] = feed{version: version, res: res}
	return res
}
