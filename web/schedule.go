package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/schedule"
	"flowdrive/store"
)

// schedulePages are the pages of schedule entries.
func schedulePages() []page {
	return []page{
		{pattern: "/schedule", query: []string{"route", "context", "q", "failed", "paused", "days", "after"}, draw: drawSchedule},
		{pattern: "/schedule/new", query: entryFieldNames(), draw: drawNewEntry, forms: map[string]form{"store": storeEntry}, fields: storeEntryFields()},
		{pattern: "/schedule/{uuid}/edit", draw: drawEditEntry, forms: map[string]form{"store": storeEntry}, fields: storeEntryFields()},
		{pattern: "/schedule/{uuid}", query: []string{"do", "after"}, draw: drawEntry, forms: entryForms(), fields: entryCommandFields()},
	}
}

// scheduleView is what schedule.html shows.
type scheduleView struct {
	Lede     template.HTML
	Query    string
	Kept     []hidden
	Filters  []chooser
	Toggles  []anchor
	Rows     []entryRow
	Timeline *timelineView
	Next     string
	Empty    string
	Filter   bool
	Examples []anchor
}

// entryRow is a schedule entry in the list.
type entryRow struct {
	ID        string
	Title     string
	Words     string
	Zone      string
	Route     string
	Next      template.HTML
	NextSub   string
	None      string // why there is no next instant
	Spark     template.HTML
	Sub       template.HTML
	Skipped   bool // Sub says why the last instant was skipped
	Error     template.HTML
	State     mark
	MayChange bool
	Paused    bool
	Key       string
	Clone     string
}

const (
	entryFolder = "/dav/Workflow/Schedule"
	// timelineRows is how many entries the timeline has before one asks for all.
	timelineRows = 12
)

func drawSchedule(x *visit) error {
	q, days, err := x.scheduleDrawing().entryQuery()
	if err != nil {
		return err
	}
	found, err := x.Queries.EntryViews(x.r.Context(), x.by, q)
	if err != nil {
		return err
	}
	if len(found.Entries) == 0 {
		if err := knownRoute(x); err != nil {
			return err
		}
	}
	v := &scheduleView{Query: q.Query, Lede: x.scheduleDrawing().ledeOfSchedule(found)}
	for _, e := range found.Entries {
		v.Rows = append(v.Rows, x.scheduleDrawing().entryRow(e))
	}
	if found.Next != 0 {
		v.Next = x.with("after", strconv.FormatInt(found.Next, 10))
		x.w.Header().Add("Link", "<"+v.Next+`>; rel="next"`)
	}
	x.scheduleDrawing().filterEntries(v)
	switch {
	case len(v.Rows) > 0:
		v.Timeline = x.scheduleDrawing().timeline(found.Entries, days)
	case v.Next != "":
		v.Empty = "None among these. Next looks further."
	case v.Filter || q.After != 0:
		v.Empty = "No entry passes the filter."
	default:
		v.Empty, v.Examples = "Nothing is scheduled", exampleEntries()
	}
	return x.draw("schedule.html", head{Title: "Schedule", Nav: "schedule", Path: entryFolder, JSON: entryFolder + "/.contents"}, v)
}

// scheduleDrawing draws the pages of the schedule.
type scheduleDrawing struct{ *visit }

func (x *visit) scheduleDrawing() scheduleDrawing { return scheduleDrawing{x} }

// entryQuery reads the filters of the address.
func (x scheduleDrawing) entryQuery() (q engine.EntryQuery, days int, err error) {
	q = engine.EntryQuery{Route: x.query.Get("route"), Context: x.query.Get("context"), Query: x.query.Get("q"), Limit: pageRows}
	for _, flag := range []struct {
		name string
		to   *bool
	}{{"failed", &q.Failed}, {"paused", &q.Paused}} {
		if text := x.query.Get(flag.name); text != "" {
			if text != "1" {
				return q, 0, errs.New(errs.BadParameter, "%s can be 1, not %q.", flag.name, text)
			}
			*flag.to = true
		}
	}
	switch text := x.query.Get("days"); text {
	case "", "7":
		days = 7
	case "30":
		days = 30
	default:
		return q, 0, errs.New(errs.BadParameter, "days can be 7 or 30, not %q.", text)
	}
	if text := x.query.Get("after"); text != "" {
		if q.After, err = strconv.ParseInt(text, 10, 64); err != nil || q.After <= 0 {
			return q, 0, errs.New(errs.BadParameter, "after is not a place in this list.")
		}
	}
	return q, days, nil
}

// ledeOfSchedule says how things stand.
func (x scheduleDrawing) ledeOfSchedule(p *engine.EntryPage) template.HTML {
	text := plural(p.Count, "entry")
	if p.Count != 1 {
		text = many(p.Count) + " entries"
	}
	if p.Paused > 0 {
		text += fmt.Sprintf(", %d paused", p.Paused)
	}
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed the last time", p.Failed)
	}
	b := template.HTMLEscapeString(text + ".")
	if p.First != nil {
		at := p.First.NextIteration
		b += " Next: <b>" + template.HTMLEscapeString(entryTitle(p.First)) + "</b> " + string(x.Words.Time(at, x.Words.Relative(at))) + "."
	}
	return template.HTML(b) //nolint:gosec // escaped
}

// entryTitle names an entry: by its title, else by the route that it starts.
func entryTitle(e *schedule.Entry) string { return cmp.Or(e.Title, e.Route) }

// entryWords says when an entry happens, without the zone: that is zoneOfEntry.
func (x scheduleDrawing) entryWords(e *schedule.Entry) string {
	if e.Type == schedule.TypeSimple {
		return "Once on " + x.Words.Exact(e.Date)
	}
	return strings.TrimSuffix(e.Description, " ("+e.Timezone+")")
}

func (x scheduleDrawing) entryRow(e *engine.EntryView) entryRow {
	row := entryRow{
		ID: e.UUID, Title: entryTitle(e.Entry), Words: x.entryWords(e.Entry), Zone: x.zoneOfEntry(e.Entry).String(), Route: e.Route, MayChange: e.MayChange, Paused: e.Paused,
		State: entryState(e), Key: x.Key(), Clone: cloneAddress(e.Entry),
	}
	if e.NextIteration.IsZero() || e.Disabled {
		row.None = whyNone(e)
	} else {
		row.Next, row.NextSub = x.Words.Time(e.NextIteration, x.Words.Moment(e.NextIteration)), x.Words.Relative(e.NextIteration)
		if row.NextSub == string(x.Words.date(e.NextIteration)) {
			row.NextSub = ""
		}
	}
	if len(e.Outcomes) > 0 {
		row.Spark = smallSpark().draw(e.Outcomes)
	} else if e.Type == schedule.TypeSimple {
		row.Sub = "once, then it is gone"
	} else {
		row.Sub = "not fired yet"
	}
	skipped := skippedLast(e.Outcomes)
	switch {
	case e.LastError != "":
		row.Error = template.HTML(template.HTMLEscapeString(e.LastError)) //nolint:gosec // escaped
	case e.Paused && e.Note != "":
		row.Sub = template.HTML(template.HTMLEscapeString(e.Note)) //nolint:gosec // escaped
	case e.LastFails:
		row.Error = template.HTML(fmt.Sprintf(`<a href="/cases/%d">case %d</a> has failed`, e.LastCase, e.LastCase)) //nolint:gosec // numbers
	case skipped != "":
		row.Sub, row.Skipped = template.HTML(template.HTMLEscapeString(skipped)), true //nolint:gosec // escaped
	case e.LastCase != 0:
		row.Sub = template.HTML(fmt.Sprintf(`last in <a href="/cases/%d">case %d</a>`, e.LastCase, e.LastCase)) //nolint:gosec // numbers
	}
	return row
}

// skippedLast says why the newest outcome was skipped, "" if it was not, or only because its day
// is left out, which the words of the entry say. Outcomes come newest first.
func skippedLast(outcomes []store.Occurrence) string {
	if len(outcomes) == 0 || outcomes[0].Outcome != engine.OutcomeSkipped {
		return ""
	}
	kind, why, found := strings.Cut(outcomes[0].Reason, ": ")
	switch {
	case kind == "excluded":
		return ""
	case !found:
		return strings.TrimSuffix("skipped: "+kind, ": ")
	}
	return "skipped: " + strings.Replace(why, " of the entry ", " ", 1)
}

// whyNone says why an entry has no next instant.
func whyNone(e *engine.EntryView) string {
	switch {
	case !e.Ended.IsZero() && e.Actor != "":
		return "deleted"
	case !e.Ended.IsZero():
		return "has fired for the last time"
	case e.Paused:
		return "none while paused"
	case e.Disabled:
		return "none while its owner is disabled"
	}
	return "never again"
}

// entryState returns the state of an entry. That it is on is not news, and grey.
func entryState(e *engine.EntryView) mark {
	switch {
	case !e.Ended.IsZero() && e.Actor != "":
		return mark{"off", "cancelled", "Deleted"}
	case !e.Ended.IsZero():
		return mark{"", "done", "Finished"}
	case e.Paused:
		return mark{"hold", "suspended", "Paused"}
	case e.Disabled:
		return mark{"bad", "failed", "Owner disabled"}
	case e.LastFails:
		return mark{"bad", "failed", "On, fails"}
	}
	return mark{"", "active", "On"}
}

// filterEntries makes the filters.
func (x scheduleDrawing) filterEntries(v *scheduleView) {
	v.Filters = []chooser{x.chooser("Route", "route", x.Queries.RouteNames(x.by)), x.chooser("Belongs to", "context", x.Queries.Contexts(x.by))}
	for _, toggle := range [][2]string{{"failed", "Failed lately"}, {"paused", "Paused"}} {
		on := x.query.Get(toggle[0]) == "1"
		to := "1"
		if on {
			to = ""
		}
		v.Toggles = append(v.Toggles, anchor{Label: toggle[1], Href: x.with(toggle[0], to, "after", ""), Current: on})
	}
	for _, name := range []string{"route", "context", "failed", "paused", "days"} {
		if value := x.query.Get(name); value != "" {
			v.Kept = append(v.Kept, hidden{name, value})
			v.Filter = v.Filter || name != "days"
		}
	}
	v.Filter = v.Filter || v.Query != ""
}

// exampleEntries are addresses that fill in the form of a new entry.
func exampleEntries() []anchor {
	fill := func(label string, pairs ...string) anchor {
		q := url.Values{}
		for i := 0; i+1 < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return anchor{Label: label, Href: "/schedule/new?" + q.Encode()}
	}
	return []anchor{
		fill("Every weekday at 09:00", "type", "cron", "weekday", "mon-fri", "hour", "9", "minute", "0"),
		fill("Every six hours", "type", "interval", "hours", "6"),
		fill("On the last day of each month", "type", "cron", "day", "last", "hour", "17", "minute", "30"),
	}
}

// before returns the instant of a page that begins before it, the zero time for the
// first page.
func (x scheduleDrawing) before() (time.Time, error) {
	text := x.query.Get("after")
	if text == "" {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}, errs.New(errs.BadParameter, "after is not a place in this history.")
	}
	return time.UnixMilli(ms).UTC(), nil
}
