package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/document"
	"flowdrive/schedule"
	"flowdrive/store"
)

// entryView is what entry.html shows.
type entryView struct {
	ID        string
	Title     string
	Words     string
	Route     string
	Context   Person
	State     mark
	Notes     []note
	MayChange bool
	Paused    bool
	Key       string
	Clone     string
	Ask       *entryAsk

	Said     string // what became of the instants that are shown
	Spark    template.HTML
	History  []occurrenceRow
	Earlier  string
	Next     []instantRow
	NextWhen string
	NextZone string // the zone of the instants, "" if it is that of the page
	NoNext   string
	Rules    []aboutLine
	Xattrs   []aboutLine
	Forecast *forecastView
}

// occurrenceRow is what became of an instant.
type occurrenceRow struct {
	When  template.HTML
	State mark
	Why   string
	Lag   string
	Case  int64
	Now   string // the state of its case now
}

// instantRow is an instant to come.
type instantRow struct {
	Number string // "" for one that is left out
	Day    string
	Clock  string
	UTC    string
	Why    string
	Left   bool
	Marked bool
	Exact  string // for machines
}

// entryAsk is the form of a command.
type entryAsk struct {
	Do, Title, Text, Submit string
	Fields                  []*field
	Show                    string // what the button that only shows something says, "" for none
	Danger                  bool
	Refused                 *refusal
	Curl                    string
	Key                     string
}

const (
	historyRows = 50
	shownNext   = 10
)

func drawEntry(x *visit) error {
	before, err := x.scheduleDrawing().before()
	if err != nil {
		return err
	}
	e, more, err := x.Queries.EntryDetail(x.r.Context(), x.by, x.r.PathValue("uuid"), before, historyRows)
	if err != nil {
		return err
	}
	if e.UUID != x.r.PathValue("uuid") {
		return absent() // another form of the name; each page has one address
	}
	v := &entryView{
		ID: e.UUID, Title: entryTitle(e.Entry), Words: x.scheduleDrawing().entryWords(e.Entry), Route: e.Route, Context: x.Queries.Person(e.Context),
		State: entryState(e), MayChange: e.MayChange, Paused: e.Paused, Key: x.Key(), Clone: cloneAddress(e.Entry),
		Rules: x.scheduleDrawing().rulesOf(e), Said: outcomeWords(e.Outcomes),
	}
	for _, one := range e.XattrDict {
		v.Xattrs = append(v.Xattrs, aboutLine{Key: one.Key, Value: fmt.Sprint(one.Value)})
	}
	x.scheduleDrawing().notesOfEntry(v, e)
	if before.IsZero() && len(e.Outcomes) > 0 {
		v.Spark = largeSpark().draw(e.Outcomes)
	}
	for i := range e.Outcomes {
		v.History = append(v.History, x.scheduleDrawing().occurrenceRow(&e.Outcomes[i], e.Undone[e.Outcomes[i].CaseID]))
	}
	if more {
		v.Earlier = x.with("after", strconv.FormatInt(e.Outcomes[len(e.Outcomes)-1].Instant.UnixMilli(), 10))
		x.w.Header().Add("Link", "<"+v.Earlier+`>; rel="next"`)
	}
	if v.NoNext = whyNone(e); !e.NextIteration.IsZero() && e.Ended.IsZero() && !e.Disabled {
		v.NoNext, v.NextWhen = "", x.Words.Relative(e.NextIteration)
		v.Next = x.scheduleDrawing().instantRows(e.Entry)
		if zone := x.scheduleDrawing().zoneOfEntry(e.Entry).String(); zone != x.Words.Zone() {
			v.NextZone = zone
		}
	}
	v.Forecast = x.foreseeEntry(e)
	x.scheduleDrawing().commandsOfEntry(v, e)
	h := head{Title: v.Title, Nav: "schedule", Path: entryFolder + "/" + e.UUID + ".json", JSON: entryFolder + "/" + e.UUID + ".json"}
	if !e.Ended.IsZero() {
		h.Path, h.JSON = entryFolder+"/"+e.UUID+"/occurrences.json", entryFolder+"/"+e.UUID+"/occurrences.json"
	}
	return x.draw("entry.html", h, v)
}

// notesOfEntry says what is particular about the entry.
func (x scheduleDrawing) notesOfEntry(v *entryView, e *engine.EntryView) {
	add := func(class, icon, title, text string) {
		v.Notes = append(v.Notes, note{Class: class, Icon: icon, Title: title, Text: text})
	}
	switch {
	case !e.Ended.IsZero() && e.Actor != "":
		add("info", "cancelled", "Deleted by "+x.Queries.Person(e.Actor).Shown()+" "+x.Words.Moment(e.Ended)+".", "Its cases and its history stay.")
	case !e.Ended.IsZero():
		add("info", "done", "Has fired for the last time, "+x.Words.Moment(e.Ended)+".", "Its cases and its history stay.")
	case e.Paused && e.Note != "":
		add("hold", "suspended", "Paused:", e.Note)
	case e.Paused:
		add("hold", "suspended", "Paused.", "Nothing fires until it is resumed.")
	case e.Note != "":
		add("info", "info", "Note:", e.Note)
	}
	if e.Disabled && e.Ended.IsZero() {
		add("bad", "failed", "Its owner, "+x.Queries.Person(e.Context).Shown()+", is disabled.", "It starts no cases until the owner is enabled or the entry belongs to another user or team.")
	}
	if e.LastError != "" && e.Ended.IsZero() {
		title := "The last instant failed"
		for i := range e.Outcomes {
			if o := &e.Outcomes[i]; o.Outcome == engine.OutcomeFailed {
				title += ", " + x.Words.Moment(o.Instant)
				break
			}
		}
		add("bad", "failed", title+".", e.LastError)
	} else if e.LastFails {
		add("bad", "failed", fmt.Sprintf("Case %d has failed.", e.LastCase), "It is the last one of the entry. Its page says why.")
	}
	if e.Trouble != "" && e.Trouble != e.LastError {
		add("bad", "failed", "What comes next will fail.", e.Trouble)
	}
	if e.Ended.IsZero() {
		for _, doubt := range e.Doubts() {
			add("warn", "warn", "", doubt)
		}
	}
}

// occurrenceRow says what became of an instant. undone is what has failed in its case, which has
// ended all the same.
func (x scheduleDrawing) occurrenceRow(o *store.Occurrence, undone string) occurrenceRow {
	row := occurrenceRow{When: x.Words.Time(o.Instant, x.Words.Moment(o.Instant)), Why: o.Reason, Lag: lagWords(lagOf(o)), Case: o.CaseID, Now: cmp.Or(o.Status, o.State)}
	switch o.Outcome {
	case engine.OutcomeFired:
		row.State = mark{"good", "done", "fired"}
	case engine.OutcomeLate:
		row.State = mark{"warn", "late", "late by " + lagWords(lagOf(o))}
	case engine.OutcomeFailed:
		row.State, row.Lag = mark{"bad", "failed", "failed"}, ""
	case engine.OutcomeSkipped:
		row.State, row.Lag = mark{"", "offered", "skipped"}, ""
	case engine.OutcomeTriggered:
		row.State, row.Lag = mark{"now", "skipfwd", "by hand"}, ""
	case engine.OutcomeBackfilled:
		row.State = mark{"good", "done", "filled in later"}
	default:
		row.State = mark{"", "offered", o.Outcome}
	}
	switch {
	case outcomeOf(o) != o.Outcome:
		row.State, row.Why = mark{"bad", "failed", "failed"}, strings.TrimPrefix(row.Why+"; its case has failed", "; ")
	case undone != "":
		row.State, row.Why = mark{"bad", "failed", "failed"}, strings.TrimPrefix(row.Why+"; its case has ended, and yet something in it has failed: "+undone, "; ")
	}
	return row
}

// instantRows are the next instants of an entry, by the clocks of its zone.
func (x scheduleDrawing) instantRows(e *schedule.Entry) (out []instantRow) {
	zone := x.zoneOfEntry(e)
	w := words{now: x.now, zone: zone}
	n, year := 0, x.now.In(zone).Year()
	instants := schedule.Explained(e, x.now, shownNext)
	layout := clockOf(instants)
	for _, i := range instants {
		at := i.At.In(zone)
		row := instantRow{Clock: at.Format(layout), UTC: i.At.UTC().Format(layout) + " UTC", Why: i.Why, Left: i.Left, Marked: i.Why != "", Exact: i.At.UTC().Format(time.RFC3339)}
		switch d := w.days(i.At); {
		case d == 0:
			row.Day = "today"
		case d == 1:
			row.Day = "tomorrow"
		case at.Year() != year:
			row.Day = at.Format("Mon 2 Jan 2006")
		default:
			row.Day = at.Format("Mon 2 Jan")
		}
		year = at.Year()
		if !i.Left {
			n++
			row.Number = strconv.Itoa(n)
		}
		out = append(out, row)
	}
	return out
}

// clockOf returns how clocks show the instants: with seconds only if two of them are in the same
// minute, as elsewhere on the page.
func clockOf(instants []schedule.Instant) string {
	for i := 1; i < len(instants); i++ {
		if instants[i].At.Truncate(time.Minute).Equal(instants[i-1].At.Truncate(time.Minute)) {
			return "15:04:05"
		}
	}
	return "15:04"
}

// zoneOfEntry returns the zone in which people think of the entry: its own, and the
// reader's if it has none.
func (x scheduleDrawing) zoneOfEntry(e *schedule.Entry) *time.Location {
	if e.Type == schedule.TypeSimple || e.Type == schedule.TypeInterval {
		return x.Words.zone
	}
	if zone := x.Zone(e.Timezone); zone != nil {
		return zone
	}
	return time.UTC
}

// rulesOf says how the instants are treated.
func (x scheduleDrawing) rulesOf(e *engine.EntryView) []aboutLine {
	rules := []aboutLine{{Key: "Zone", Value: zoneWords(x.zoneOfEntry(e.Entry), x.now)}}
	add := func(key, value string) {
		if value != "" {
			rules = append(rules, aboutLine{Key: key, Value: value})
		}
	}
	if e.Type == schedule.TypeInterval {
		add("Grid", "from "+x.Words.Exact(e.Date))
	}
	add("Missed", map[schedule.Misfire]string{schedule.MisfireOnce: "one case for all", schedule.MisfireSkip: "no case", schedule.MisfireAll: "one case each"}[e.Misfire])
	add("Overlap", map[schedule.Overlap]string{
		schedule.OverlapAllow: "starts all the same", schedule.OverlapSkip: "skips", schedule.OverlapBufferOne: "one waits", schedule.OverlapBufferAll: "waits for its turn",
		schedule.OverlapCancelOther: "cancels the open one",
	}[e.Overlap])
	if e.JitterSeconds > 0 {
		add("Jitter", "up to "+lagWords(time.Duration(e.JitterSeconds)*time.Second))
	}
	if !e.Start.IsZero() {
		add("From", x.Words.Exact(e.Start))
	}
	until := "without end"
	switch {
	case !e.End.IsZero():
		until = "until " + x.Words.Exact(e.End)
	case e.Type == schedule.TypeSimple:
		until = "once"
	case e.Repeat > 0:
		until = plural(int(e.Repeat), "case")
	}
	add("Until", fmt.Sprintf("%s; %d so far", until, e.IterationsPerformed))
	for _, one := range e.Exclude {
		add("Without", cmp.Or(one.Date, one.From+" to "+one.To))
	}
	for _, one := range [][2]string{{"Without the days in", e.ExcludeCalendar}, {"Input", e.Document}} {
		if one[1] != "" {
			rules = append(rules, aboutLine{one[0], strings.TrimPrefix(one[1], "/dav/Documents/"), escapePath(one[1])})
		}
	}
	if e.AttachmentUUID != "" {
		rules = append(rules, aboutLine{"Input", "an attachment", "/attachfs/" + e.AttachmentUUID})
	}
	add("Priority", strconv.Itoa(e.Priority))
	made := x.Words.Exact(e.Created)
	if e.Author != "" {
		made += " by " + x.Queries.Person(e.Author).Shown()
	}
	add("Made", made)
	return rules
}

// escapePath writes a decoded path for a URL.
func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// zoneWords names a zone with its distance from UTC now.
func zoneWords(zone *time.Location, now time.Time) string {
	name, offset := zone.String(), now.In(zone).Format("-07:00")
	if name == "UTC" {
		return name
	}
	return name + ", now " + offset
}

// entryCommand is what can be done with an entry.
type entryCommand struct {
	do, title, submit, text, done, to string
	danger                            bool
	may                               func(e *engine.EntryView) bool
	fields                            func() []*field
	request                           func(w words, uuid string, v url.Values) driveRequest
}

func commandRequest(uuid string, members ...member) driveRequest {
	return driveRequest{Method: http.MethodPut, Path: entryFolder + "/" + url.PathEscape(uuid) + ".json", Body: object(members...)}
}

// entryCommands lists them.
func entryCommands() []entryCommand {
	runs := func(e *engine.EntryView) bool { return !e.Paused }
	always := func(*engine.EntryView) bool { return true }
	plain := func(do string) func(words, string, url.Values) driveRequest {
		return func(_ words, uuid string, _ url.Values) driveRequest { return commandRequest(uuid, text("do", do)) }
	}
	return []entryCommand{
		{
			do: schedule.CommandPause, title: "Pause", submit: "Pause", text: "Nothing fires until somebody resumes it.", done: "The entry is paused.", may: runs,
			fields: func() []*field {
				return []*field{{Name: "note", Label: "Why", Hint: "Shown beside the entry.", Kind: "text"}}
			},
			request: func(_ words, uuid string, v url.Values) driveRequest {
				return commandRequest(uuid, text("do", schedule.CommandPause), text("note", v.Get("note")))
			},
		},
		{
			do: schedule.CommandResume, title: "Resume", submit: "Resume", text: "It goes on. What it missed is due at once, and its rule for what was missed applies: it can start cases now. Save {\"do\": \"resume\", \"missed\": \"skip\"} to its file to start none for that.", done: "The entry goes on.",
			may: func(e *engine.EntryView) bool { return e.Paused }, request: plain(schedule.CommandResume),
		},
		{
			do: schedule.CommandTrigger, title: "Fire now", submit: "Fire now", text: "It starts a case now. The instants to come stay as they are.", done: "It has fired.", may: always,
			request: plain(schedule.CommandTrigger),
		},
		{
			do: schedule.CommandBackfill, title: "Backfill", submit: "Backfill", text: "It starts a case for each instant of a time that has passed. An instant that has had a case gets no other.", done: "The instants are filled in.", may: always,
			fields: func() []*field {
				return []*field{
					{Name: "from", Label: "From", Hint: "A date, or a date and time, such as 2012-11-01 or 2012-11-01 08:00.", Kind: "text", Needed: true},
					{Name: "to", Label: "Up to, not included", Kind: "text", Needed: true},
				}
			},
			request: func(w words, uuid string, v url.Values) driveRequest {
				return commandRequest(uuid, text("do", schedule.CommandBackfill),
					member{"from", document.AppendString(nil, w.sentDate(v.Get("from")))}, member{"to", document.AppendString(nil, w.sentDate(v.Get("to")))})
			},
		},
		{
			do: "delete", title: "Delete", submit: "Delete the entry", done: "The entry is deleted.", to: "/schedule", danger: true, may: always,
			request: func(_ words, uuid string, _ url.Values) driveRequest {
				return driveRequest{Method: http.MethodDelete, Path: entryFolder + "/" + url.PathEscape(uuid) + ".json"}
			},
		},
	}
}

// entryForms are the forms of the page of an entry.
func entryForms() map[string]form {
	out := map[string]form{}
	for _, c := range entryCommands() {
		out[c.do] = func(x *visit, v url.Values) (*act, error) {
			return &act{
				requests: []driveRequest{c.request(x.Words, x.r.PathValue("uuid"), v)},
				to:       cmp.Or(c.to, "/schedule/"+x.r.PathValue("uuid")),
				done:     func([]*driveAnswer) notice { return notice{Text: c.done} },
			}, nil
		}
	}
	return out
}

// commandsOfEntry adds the form that is asked for.
func (x scheduleDrawing) commandsOfEntry(v *entryView, e *engine.EntryView) {
	asked := cmp.Or(x.sentDo(), x.query.Get("do"))
	for _, c := range entryCommands() {
		if c.do != asked || !e.MayChange || !c.may(e) {
			continue
		}
		a := &entryAsk{Do: c.do, Title: c.title, Text: c.text, Submit: c.submit, Danger: c.danger, Key: x.Key()}
		typed := url.Values{}
		if c.fields != nil {
			a.Fields = c.fields()
		}
		x.fill(a.Fields, "a-")
		a.Refused = x.refused.within(a.Fields)
		for _, f := range a.Fields {
			typed.Set(f.Name, f.Value)
		}
		switch c.do {
		case schedule.CommandBackfill:
			a.Show, a.Text = "Show how many", strings.TrimSpace(a.Text+" "+x.backfillWords(e, typed))
		case "delete":
			a.Text = fmt.Sprintf("It has made %s so far. They stay, and so does what became of its instants.", plural(int(e.IterationsPerformed), "case"))
		}
		a.Curl = x.curlLines([]driveRequest{c.request(x.Words, v.ID, typed)})
		v.Ask = a
	}
}

// backfillWords says how many instants a backfill is about, and how many cases the entry
// has left.
func (x scheduleDrawing) backfillWords(e *engine.EntryView, v url.Values) string {
	from, errFrom := schedule.ParseTimeText(x.Words.sentDate(v.Get("from")))
	to, errTo := schedule.ParseTimeText(x.Words.sentDate(v.Get("to")))
	if v.Get("from") == "" || v.Get("to") == "" || errFrom != nil || errTo != nil || !from.Before(to) {
		return ""
	}
	n := len(e.Between(from, to))
	words := "That time has " + plural(n, "instant") + "."
	if n > schedule.MaxBackfill {
		words = fmt.Sprintf("That time has more than %d instants: backfill it in parts.", schedule.MaxBackfill)
	}
	if left := e.IterationsRemaining; left >= 0 && e.Type != schedule.TypeSimple {
		words += fmt.Sprintf(" The entry has %s left.", plural(int(left), "case"))
	}
	return words
}

// cloneAddress is the address of the form of a new entry, filled in with the fields of
// one. Its times have their offset: who opens it may have another zone.
func cloneAddress(e *schedule.Entry) string {
	return "/schedule/new?" + entryValues(e, func(t time.Time) string { return t.UTC().Format(time.RFC3339) }).Encode()
}
