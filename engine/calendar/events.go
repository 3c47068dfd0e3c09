package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/ical"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
	"flowdrive/route"
	"flowdrive/schedule"
)

// mostEvents is how many events a calendar has at most.
const mostEvents = 2000

const (
	days    = 30 // whose firings it shows, the present one included
	refresh = 30 * time.Minute
	day     = 24 * time.Hour
)

// dayOf returns the day of an instant, which begins at midnight UTC.
func dayOf(now time.Time) time.Time { return now.UTC().Truncate(day) }

// endOf returns the end of the days whose firings a calendar shows.
func endOf(now time.Time) time.Time { return dayOf(now).AddDate(0, 0, days) }

// written returns the calendar of a user. Of more events than it may have
// those are left out that are farthest away.
func written(of identity.Name, events []ical.Event) []byte {
	slices.SortFunc(events, func(a, b ical.Event) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.UID, b.UID))
	})
	c := ical.Calendar{Name: "Flowdrive: " + string(of), Refresh: refresh, Events: slices.Clip(events[:min(len(events), mostEvents)])}
	return c.Append(nil)
}

// eventList collects the events of a calendar.
type eventList struct {
	links  link.Base
	events []ical.Event
}

// add adds an event that is about what the link leads to. The link is the event's
// URL if it is absolute, as a URL must be, and stands in its description in any
// case.
func (l *eventList) add(e ical.Event, to string) {
	e.Description += "\n" + to
	if l.links.Absolute() {
		e.URL = to
	}
	l.events = append(l.events, e)
}

// firings adds the instants of an entry.
func (l *eventList) firings(entry *schedule.Entry, before time.Time) {
	title := cmp.Or(entry.Title, entry.Route)
	about := fmt.Sprintf("%s: starts a case of the route %s.", entry.Description, entry.Route)
	times, days := entry.Agenda(before)
	form := "20060102T150405Z"
	if days {
		form = "20060102"
	}
	for _, at := range times {
		l.add(ical.Event{
			UID: entry.UUID + "-" + at.Format(form) + "@flowdrive", Stamp: entry.Modified, Start: at, AllDay: days,
			Summary: title, Description: about, Category: "Schedule",
		}, l.links.Entry(entry.UUID))
	}
}

// deadlines adds the timers of a case's actions that are the user's tasks. If the
// case is the user's own, it also adds the timers that are not those of a task,
// and the start of the case if that waits for an instant.
func (l *eventList) deadlines(c *machine.Case, r *route.Route, mine func(action string) bool, own bool) {
	title := cmp.Or(c.Title, fmt.Sprintf("case %d", c.ID))
	if c.Life == machine.Queued && !c.IsDraft() && own {
		l.add(ical.Event{
			UID: c.GUID + ".start@flowdrive", Stamp: c.Modified, Start: c.NextDue(), Summary: "Starts: " + title, Category: "Schedule",
			Description: fmt.Sprintf("Case %d of the route %s waits until then to start.", c.ID, c.RouteName),
		}, l.links.Case(c.ID))
	}
	for _, due := range machine.Deadlines(c, r, mine, own) {
		l.add(ical.Event{
			UID: c.GUID + "-" + due.Timer + "@flowdrive", Stamp: c.Modified, Start: due.At,
			Summary: wordsOf(due) + ": " + title, Category: categoryOf(due.Kind),
			Description: fmt.Sprintf("Case %d of the route %s.", c.ID, c.RouteName),
		}, l.links.Timers(c.ID))
	}
}

// wordsOf says what a deadline is of.
func wordsOf(d machine.Deadline) string {
	switch d.Kind {
	case machine.DueTimer:
		return "Due: " + d.Action
	case machine.OfferTimer:
		return "To be accepted: " + d.Action
	case machine.TimeoutTimer:
		return "Performed by itself: " + d.Action
	case machine.StateTimer:
		return "Time limit of the state"
	case machine.UserTimer:
		return "Timer " + d.Timer
	case machine.CaseTimer:
	}
	return "Time limit of the case"
}

func categoryOf(kind machine.TimerKind) string {
	if kind == machine.DueTimer || kind == machine.OfferTimer {
		return "Task"
	}
	return "Timer"
}
