package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
	"flowdrive/store"
)

// logLine is one line of what happened.
type logLine struct {
	Class, Icon string
	Who         string
	What        string
	Minor       bool
	From, To    string
	Resolution  string
	Comment     string
	When        template.HTML
}

// logRows is how many lines of the log a page has.
const logRows = 50

// logRoom has the request hold what the page of a case makes of its log: as it is read, and
// its entries.
func (x *visit) logRoom(bytes int64) error { return x.Weigh(x.r.Context(), 2*bytes) }

// logOf adds the newest lines of the log.
func (x caseDrawing) logOf(v *caseView, d *engine.CaseDetail) error {
	decisions := x.query.Get("log") == "decisions"
	entries := slices.Clone(d.Log)
	isDecision := func(e machine.LogEntry) bool { return e.Kind == machine.LogAction || e.Kind == machine.LogLife }
	n := 0
	for i := range entries {
		if isDecision(entries[i]) {
			n++
		}
	}
	v.LogTabs = []tab{
		{Label: "All", Href: x.with("log", "", "after", ""), Count: many(len(entries)), Current: !decisions},
		{Label: "Decisions", Href: x.with("log", "decisions", "after", ""), Count: many(n), Current: decisions},
	}
	if decisions {
		entries = slices.DeleteFunc(entries, func(e machine.LogEntry) bool { return !isDecision(e) })
	}
	if after := x.query.Get("after"); after != "" {
		seq, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return errs.New(errs.BadParameter, "after is not a number of an entry of the log.")
		}
		entries = slices.DeleteFunc(entries, func(e machine.LogEntry) bool { return e.Seq >= seq })
	}
	slices.Reverse(entries)
	entries = foldAttempts(entries)
	if len(entries) > logRows {
		entries = entries[:logRows]
		v.Earlier = x.with("after", strconv.FormatInt(entries[logRows-1].Seq, 10))
	}
	for i := range entries {
		v.Log = append(v.Log, x.logLine(&entries[i], d))
	}
	return nil
}

// logLine returns an entry of the log as a line.
func (x caseDrawing) logLine(e *machine.LogEntry, d *engine.CaseDetail) logLine {
	r := d.Route
	l := logLine{What: shorten(x.logWords(e, d), mostShown), Icon: "info", When: x.Words.Time(e.Time, x.Words.Short(e.Time)), Comment: shorten(deref(e.Comment), mostShown), Resolution: deref(e.Resolution)}
	if actor := deref(e.Actor); actor != "" && actor != "timer" {
		l.Who = x.Queries.Person(actor).Shown()
		if behalf := deref(e.OnBehalfOf); behalf != "" {
			l.Who += " for " + x.Queries.Person(behalf).Shown()
		}
		l.What = lowerFirst(l.What)
	}
	switch e.Kind {
	case machine.LogAction:
		l.Class, l.Icon = "do", "check"
		if e.Trigger != nil && route.Trigger(*e.Trigger) == route.TriggerInit {
			l.Icon = "file"
		}
		if l.Who == "" {
			l.Class, l.Icon = "", "auto"
		}
	case machine.LogWarning, machine.LogError:
		l.Class, l.Icon = "warn", "warn"
	case machine.LogRemark:
		l.Icon = "msg"
	case machine.LogTimer:
		l.Icon = "clock"
	case machine.LogTask:
		l.Icon = "tasks"
	case machine.LogMessage:
		l.Icon = "file"
	case machine.LogLife, machine.LogState, machine.LogRoles, machine.LogChild:
		l.Icon = "arrow"
	}
	l.Minor = l.Class == ""
	if e.Kind == machine.LogAction || e.Kind == machine.LogState {
		l.From, l.To = stateTitle(r, deref(e.From)), stateTitle(r, deref(e.To))
	}
	if l.From == l.To {
		l.From, l.To = "", ""
	}
	return l
}

func deref[T ~string](s *T) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

// messageView is a message of the case.
type messageView struct {
	Label, Href, Type, Size string
	When                    template.HTML
}

// messagesOf lists the messages: output and exception first, then by creation.
func (x caseDrawing) messagesOf(v *caseView, d *engine.CaseDetail) {
	// The input of a case that was started without one has nothing to look at.
	list := slices.DeleteFunc(slices.Clone(d.Messages), func(m store.Message) bool { return m.Label == "InputMessage" && m.Size == 0 })
	slices.SortStableFunc(list, func(a, b store.Message) int { return cmp.Compare(messageRank(a.Label), messageRank(b.Label)) })
	const most = 20
	for i := range list {
		if i == most {
			break
		}
		m := &list[i]
		v.Messages = append(v.Messages, messageView{
			Label: messageTitle(m), Href: pageOfMessage(v.ID, m.UUID), Type: m.MediaType, Size: sizeOf(m.Size),
			When: x.Words.Time(m.Modified, x.Words.Short(m.Modified)),
		})
	}
}

func messageRank(label string) int {
	switch label {
	case "OutputMessage":
		return 0
	case "ExceptionMessage":
		return 1
	}
	return 2
}

// timerView is a timer of the case.
type timerView struct {
	Name, Title, Why string
	When             template.HTML
	Width            int // of the bar, in hundredths
	Class            string
	State            string
	Set              string // address of the form that sets another date, "": the reader may not
}

// timerForm is what a page reads of the form of a timer.
type timerForm struct {
	Kind    string     `json:"kind"`
	State   string     `json:"state"`
	Expires *time.Time `json:"expirationDate"`
	Action  string     `json:"action"`
}

// timersOf adds the timers that have a date, or may get one.
func (x caseDrawing) timersOf(v *caseView, d *engine.CaseDetail) {
	if d.Case.Life.Ended() {
		return
	}
	for _, name := range machine.Timers(d.Case, d.Route) {
		var f timerForm
		if json.Unmarshal(machine.TimerForm(d.Case, d.Route, name), &f) != nil {
			continue
		}
		t := timerView{Name: name, State: f.State}
		t.Title, t.Why = timerWords(d.Route, name, f)
		if d.MaySetTimer(name) {
			t.Set = x.with("do", "timer", "timer", name, "open", "")
		}
		if f.Expires != nil && f.State != "off" {
			x.fillTimer(&t, *f.Expires, machine.TimerSince(d.Case, d.Route, name))
		}
		if t.When != "" || t.Set != "" {
			v.Timers = append(v.Timers, t)
		}
	}
}

// fillTimer draws how much of its time a timer has used.
func (x caseDrawing) fillTimer(t *timerView, expires, since time.Time) {
	t.When = x.Words.Time(expires, x.Words.Moment(expires))
	whole, used := expires.Sub(since), x.now.Sub(since)
	if whole > 0 {
		t.Width = int(min(max(used*100/whole, 2), 100))
	}
	switch {
	case !expires.After(x.now):
		t.Class, t.Width = "bad", 100
		t.When = x.Words.Time(expires, x.Words.Over(expires))
	case x.Words.days(expires) <= 1 || t.Width >= 75:
		t.Class = "warn"
	}
}

// timerWords says what a timer is of, and what it does.
func timerWords(r *route.Route, name string, f timerForm) (title, why string) {
	title = actionTitle(r, f.Action)
	switch machine.TimerKind(f.Kind) {
	case machine.CaseTimer:
		return "The case", "is to be completed"
	case machine.StateTimer:
		return "The state", "is to be left"
	case machine.DueTimer:
		return title, "is due"
	case machine.OfferTimer:
		return title, "is to be accepted"
	case machine.TimeoutTimer:
		return title, "performs itself"
	case machine.UserTimer:
	}
	return name, ""
}

// timerSays says what happens on the date of a timer.
func timerSays(d *engine.CaseDetail, name string) string {
	var f timerForm
	if json.Unmarshal(machine.TimerForm(d.Case, d.Route, name), &f) != nil {
		return name
	}
	title, why := timerWords(d.Route, name, f)
	return strings.TrimSpace(title + " " + why)
}

// mostShown is how many characters of a text a page of a case shows. An XATTR may have
// thousands, and what is whole is a link away.
const mostShown = 1000

// fieldView is an XATTR of the case.
type fieldView struct {
	Title, Value string
	Cut          bool // there is more of it
	Locked       bool // only actions change it
}

// newFieldView returns an XATTR as a page shows it.
func newFieldView(title string, value label.Value, locked bool) fieldView {
	whole := valueText(value)
	shown := shorten(whole, mostShown)
	return fieldView{title, shown, shown != whole, locked}
}

// xattrsOf adds the declared XATTRs in order, then the others by name.
func (x caseDrawing) xattrsOf(v *caseView, d *engine.CaseDetail) {
	for i := range d.Route.Xattrs {
		declared := &d.Route.Xattrs[i]
		if value, set := d.Case.Xattrs.Get(declared.Key); set {
			v.Fields = append(v.Fields, newFieldView(cmp.Or(declared.Title, declared.Key), value, declared.Edit != nil && len(declared.Edit) == 0))
		}
	}
	for _, one := range d.Case.Xattrs {
		if d.Route.Xattr(one.Key) == nil {
			v.Fields = append(v.Fields, newFieldView(one.Key, one.Value, false))
		}
	}
}

// roleView is a role with who plays it.
type roleView struct {
	Title   string
	Players []Person
}

// peopleOf adds the roles in order, and the stakeholders.
func (x caseDrawing) peopleOf(v *caseView, d *engine.CaseDetail) {
	add := func(title string, parties []string) {
		r := roleView{Title: title}
		for _, party := range parties {
			if p := x.partyText(party); p != "" {
				person := x.Queries.Person(party)
				if party != person.Name || party == machine.PartyAdmins || party == machine.PartyStakeholders {
					person = Person{Name: p, Team: true, Phrase: party == machine.PartyAdmins || party == machine.PartyStakeholders}
				}
				r.Players = append(r.Players, person)
			}
		}
		if len(r.Players) > 0 {
			v.People = append(v.People, r)
		}
	}
	for i := range d.Route.Roles {
		role := &d.Route.Roles[i]
		add(cmp.Or(role.Title, role.Name), d.Case.RoleParties(role.Name))
	}
	add("Stakeholders", d.Case.Stakeholders)
}

// aboutOf adds the rest.
func (x caseDrawing) aboutOf(v *caseView, d *engine.CaseDetail) {
	c := d.Case
	version := fmt.Sprintf("%s, version %d", c.RouteName, c.RouteVersion)
	if d.Newest > c.RouteVersion {
		version += fmt.Sprintf("; %d is in force", d.Newest)
	}
	v.About = []aboutLine{{"Route", version, x.Link(pageOfRoute(c.RouteName), routeFolder+"/"+url.PathEscape(c.RouteName)+".json")}, {"Priority", strconv.Itoa(c.Priority), ""}, {"Belongs to", c.Context, ""}}
	if c.Parent != 0 {
		v.About = append(v.About, aboutLine{"Part of", fmt.Sprintf("case %d", c.Parent), fmt.Sprintf("/cases/%d", c.Parent)})
	}
	if c.ScheduleUUID != "" {
		v.About = append(v.About, aboutLine{"Schedule", "for " + x.Words.Exact(c.ScheduledFor), x.Link("/schedule/"+c.ScheduleUUID, "/dav/Workflow/Schedule/"+c.ScheduleUUID+".json")})
	}
	if keep := d.Route.Retention; keep != nil {
		what := "Archive"
		if d.Route.Then == route.ThenDelete {
			what = "is deleted"
		}
		v.About = append(v.About, aboutLine{"Ends up in", fmt.Sprintf("%s, %s after its end", what, durationText(keep.String())), ""})
	}
	v.About = append(v.About, aboutLine{"Changed", fmt.Sprintf("%s, version %d", x.Words.Moment(c.Modified), c.Version), ""})
	for _, l := range c.Relations {
		v.About = append(v.About, aboutLine{l.Name, fmt.Sprintf("case %d", l.Case), fmt.Sprintf("/cases/%d", l.Case)})
	}
}

// durationText returns an ISO 8601 duration of days as people say it; others as they are.
func durationText(iso string) string {
	if n, days := strings.CutSuffix(strings.TrimPrefix(iso, "P"), "D"); days {
		if count, err := strconv.Atoi(n); err == nil {
			return plural(count, "day")
		}
	}
	return iso
}
