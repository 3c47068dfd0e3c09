package status

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/schedule"
	"flowdrive/store"
)

// How much a file of an entry has.
const (
	MostNext        = 10
	MostOccurrences = 30
)

// Entry is what the file of a schedule entry says: Schedule/<name>.
type Entry struct {
	Zone        Zone
	Name        string // of the file, without extension
	Entry       *schedule.Entry
	Next        []time.Time        // the coming instants
	LeftOut     []time.Time        // the instants that it excludes before the last of Next
	Trouble     string             // why Next cannot be known, "" if it can
	Held        string             // what keeps a case of it from starting, in a sentence; "" for nothing
	PausedSince time.Time          // zero: it is not paused
	Disabled    bool               // its owner is disabled
	Occurrences []store.Occurrence // newest first
	Undone      map[int64]string   // cases of these that have ended, and in which something has failed: what

	Ended   time.Time // zero: it has not
	Actor   string    // who deleted it, "": its last instant has passed
	Expires time.Time // when the file of an ended entry goes
}

// state is what the entry is, in a word.
func (e *Entry) state() string {
	switch {
	case !e.Ended.IsZero() && e.Actor != "":
		return "deleted"
	case !e.Ended.IsZero():
		return "finished"
	case e.Entry.Paused:
		return "paused"
	case e.Disabled:
		return "owner disabled"
	}
	return "in force"
}

// Text returns the file for people.
func (e *Entry) Text() []byte {
	s := e.Entry
	var p page
	p.line("%s", machine.OneLine(cmp.Or(s.Title, e.Name)))
	p.line("A schedule entry of %s. It starts cases of the route %s.", s.Context, s.Route)
	p.line("")
	rows := [][]string{{"When", e.when()}, {"State", e.sentenceOfState()}}
	rows = append(rows, []string{"Fired so far", e.count()})
	if s.Note != "" {
		rows = append(rows, []string{"Note", machine.OneLine(s.Note)})
	}
	if s.LastError != "" {
		rows = append(rows, []string{"Last error", reason(s.LastError)})
	}
	for _, warning := range s.Warnings() {
		rows = append(rows, []string{"Warning", machine.OneLine(warning)})
	}
	p.table(rows, "")
	p.heading("If nobody does anything")
	p.line("  %s", e.Outlook())
	if e.Ended.IsZero() {
		p.heading("What comes next")
		e.writeNext(&p)
		e.writeLeftOut(&p)
	}
	p.heading(fmt.Sprintf("What became of the last instants (at most %d, newest first)", MostOccurrences))
	e.writeOccurrences(&p)
	p.heading("Failures")
	e.writeFailures(&p)
	p.line("")
	switch {
	case !e.Ended.IsZero():
	case e.Name != s.UUID:
		p.line("The entry is /dav/Workflow/Schedule/%s.json, which is listed there under the\nname that its file was given.", s.UUID)
	default:
		p.line("The entry is /dav/Workflow/Schedule/%s.json.", s.UUID)
	}
	p.line("What became of all instants is in\n/dav/Workflow/Schedule/%s/occurrences.json,\nwhich no listing shows.", s.UUID)
	return p.bytes()
}

// when says in words when the entry fires. The date of one that fires once is an instant, which
// is told in the zone of who looks, as all others are.
func (e *Entry) when() string {
	if s := e.Entry; s.Type == schedule.TypeSimple && !s.Date.IsZero() {
		return fmt.Sprintf("Once at %s (%s)", s.Date.In(e.Zone.Location).Format("2006-01-02 15:04"), e.Zone)
	}
	return e.Entry.Description + e.inZone()
}

// inZone says which zone the words about the recurrence mean.
func (e *Entry) inZone() string {
	switch zone := e.Entry.Timezone; e.Entry.Type {
	case schedule.TypeCron, schedule.TypeCrontab:
		if zone != "" {
			return ", times in " + zone
		}
	case schedule.TypeSimple, schedule.TypeInterval:
	}
	return ""
}

func (e *Entry) sentenceOfState() string {
	switch e.state() {
	case "deleted":
		return fmt.Sprintf("deleted by %s at %s", e.Actor, e.Zone.Minute(e.Ended))
	case "finished":
		return "finished at " + e.Zone.Minute(e.Ended) + ": it had its last instant"
	case "paused":
		if !e.PausedSince.IsZero() {
			return "paused; the first instant that it misses is " + e.Zone.Minute(e.PausedSince)
		}
	case "owner disabled":
		return fmt.Sprintf("owner disabled: it starts no cases until %s is enabled or the entry has another context", e.Entry.Context)
	}
	return e.state()
}

func (e *Entry) count() string {
	if n := e.Entry.IterationsRemaining; n >= 0 && e.Ended.IsZero() {
		return fmt.Sprintf("%d, %d to come", e.Entry.IterationsPerformed, n)
	}
	return fmt.Sprint(e.Entry.IterationsPerformed)
}

// Outlook says in a sentence or two what happens if nobody does anything.
func (e *Entry) Outlook() string {
	s := e.Entry
	switch {
	case !e.Ended.IsZero():
		return "Nothing. The entry is gone; this file stays until " + e.Zone.Minute(e.Expires) + "."
	case s.Paused:
		return `Nothing, until somebody resumes the entry by saving {"do": "resume"} to it.`
	case e.Trouble != "":
		return "Its next firing fails, because " + strings.TrimSuffix(reason(e.Trouble), ".") + "."
	case len(e.Next) == 0:
		return "Nothing. No instant is to come."
	}
	first := e.Zone.Minute(e.Next[0])
	then := "and goes on."
	switch n := s.IterationsRemaining; {
	case n == 1 || s.Type == schedule.TypeSimple:
		then = "and is finished then. This file stays for 30 days after that."
	case n > 1:
		then = fmt.Sprintf("and is finished after %d more.", n-1)
	}
	if s.LastError != "" {
		return fmt.Sprintf("It tries again at %s, which fails too unless the cause of the last failure is mended, %s", first, then)
	}
	if len(s.CannotStart) > 0 {
		return fmt.Sprintf("It tries to start a case of the route %s at %s, which fails as long as the entry is as the warning says, %s", s.Route, first, then)
	}
	if e.Held != "" {
		return fmt.Sprintf("It creates a case of the route %s at %s, %s The case does not start then. %s", s.Route, first, then, e.Held)
	}
	return fmt.Sprintf("It starts a case of the route %s at %s, %s", s.Route, first, then)
}

func (e *Entry) writeNext(p *page) {
	rows := make([][]string, len(e.Next))
	for i, at := range e.Next {
		rows[i] = []string{e.Zone.Minute(at), at.In(e.Zone.Location).Weekday().String()}
	}
	none := "Nothing: no instant is to come."
	if e.Entry.Paused {
		none = "Nothing: the entry is paused."
	}
	p.table(rows, none)
	if len(rows) == MostNext {
		p.line("  … and so on.")
	}
}

// writeLeftOut says which instants do not fire, and why: they leave occurrences when the next one
// fires.
func (e *Entry) writeLeftOut(p *page) {
	if len(e.LeftOut) == 0 {
		return
	}
	p.heading("What is left out")
	rows := make([][]string, len(e.LeftOut))
	for i, at := range e.LeftOut {
		rows[i] = []string{e.Zone.Minute(at), at.In(e.Zone.Location).Weekday().String(), machine.OneLine(e.Entry.WhyExcluded(at))}
	}
	p.table(rows, "")
}

// leftOutForm is an instant that an entry excludes, in the JSON form.
type leftOutForm struct {
	Instant string `json:"instant"`
	Reason  string `json:"reason"`
}

func (e *Entry) leftOut() []leftOutForm {
	out := make([]leftOutForm, len(e.LeftOut))
	for i, at := range e.Zone.instants(e.LeftOut) {
		out[i] = leftOutForm{Instant: at, Reason: e.Entry.WhyExcluded(e.LeftOut[i])}
	}
	return out
}

func (e *Entry) writeOccurrences(p *page) {
	rows := make([][]string, 0, len(e.Occurrences))
	for i := range e.Occurrences {
		o := &e.Occurrences[i]
		what := "no case"
		switch {
		case o.State != "":
			what = fmt.Sprintf("case %d, %s", o.CaseID, lifeWords(machine.Life(o.State)))
			if e.Undone[o.CaseID] != "" {
				what += ", but something in it has failed"
			}
		case o.CaseID != 0:
			what = fmt.Sprintf("case %d, deleted since", o.CaseID)
		}
		late := lateBy(lag(o))
		if o.Outcome == "skipped" && strings.HasPrefix(o.Reason, "excluded") {
			late = "" // it was recorded with the next one
		}
		rows = append(rows, []string{e.Zone.Minute(o.Instant), o.Outcome, what, late, reason(o.Reason)})
	}
	p.table(rows, "Nothing has come yet.")
}

// failures returns those of the occurrences that failed, or whose case has failed.
func (e *Entry) failures() (out []*store.Occurrence) {
	for i := range e.Occurrences {
		if o := &e.Occurrences[i]; Failed(o) || e.Undone[o.CaseID] != "" {
			out = append(out, o)
		}
	}
	return out
}

// Failed reports whether an instant has come to nothing: it could not have a case, or its case
// has failed.
func Failed(o *store.Occurrence) bool { return o.Outcome == "failed" || caseFailed(o) }

// caseFailed reports whether an occurrence started a case that has failed.
func caseFailed(o *store.Occurrence) bool { return machine.Life(o.State) == machine.Failed }

func (e *Entry) writeFailures(p *page) {
	failed := e.failures()
	if len(failed) == 0 {
		p.line("  None of these failed.")
		return
	}
	p.line("  %d of these %d failed. The last one, at %s:", len(failed), len(e.Occurrences), e.Zone.Minute(failed[0].Instant))
	if caseFailed(failed[0]) {
		p.line("  its case has failed. /dav/Workflow/Status/cases/%d.txt says why.", failed[0].CaseID)
		return
	}
	if undone := e.Undone[failed[0].CaseID]; undone != "" {
		p.line("  its case has ended, and yet something in it has failed: %s", machine.OneLine(undone))
		p.line("  /dav/Workflow/Status/cases/%d.txt says more.", failed[0].CaseID)
		return
	}
	p.line("  %s", reason(failed[0].Reason))
}

// lag is how long after its instant an occurrence was dealt with.
func lag(o *store.Occurrence) time.Duration { return max(o.FiredAt.Sub(o.Instant), 0) }

// LagSeconds returns how long after its instant an occurrence was dealt with, in seconds
// rounded to milliseconds.
func LagSeconds(o *store.Occurrence) float64 { return math.Round(lag(o).Seconds()*1000) / 1000 }

// lateBy writes a lag in words.
func lateBy(d time.Duration) string {
	switch {
	case d < time.Second:
		return "in time"
	case d < time.Minute:
		return fmt.Sprintf("%d s late", int64(d/time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min late", int64(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h late", int64(d/time.Hour))
	}
	return fmt.Sprintf("%d days late", int64(d/(24*time.Hour)))
}

// entryForm is the file as JSON.
type entryForm struct {
	Name         string           `json:"name"`
	UUID         string           `json:"UUID"`
	Title        string           `json:"title"`
	Route        string           `json:"route"`
	Context      string           `json:"context"`
	State        string           `json:"state"`
	Description  string           `json:"description"`
	Timezone     string           `json:"timezone"`
	Next         []string         `json:"next"`
	Performed    int64            `json:"iterationsPerformed"`
	Remaining    int64            `json:"iterationsRemaining"`
	Note         string           `json:"note"`
	LastError    *string          `json:"lastError"`
	Warnings     []string         `json:"warnings"`
	IfNobodyActs string           `json:"ifNobodyActs"`
	LeftOut      []leftOutForm    `json:"leftOut"`
	Failures     int              `json:"failures"`
	Occurrences  []occurrenceForm `json:"occurrences"`
	Ended        *string          `json:"ended"`
	EndedBy      *string          `json:"endedBy"`
}

type occurrenceForm struct {
	Instant    *string `json:"instant"`
	Outcome    string  `json:"outcome"`
	Reason     *string `json:"reason"`
	LagSeconds float64 `json:"lagSeconds"`
	Case       *int64  `json:"case"`
	Life       *string `json:"state"` // of the case now
	Failed     *string `json:"failed"`
	FiredAt    *string `json:"firedAt"`
}

// JSON returns the file for programs.
func (e *Entry) JSON() []byte {
	s := e.Entry
	f := entryForm{
		Name: e.Name, UUID: s.UUID, Title: s.Title, Route: s.Route, Context: s.Context, State: e.state(), Description: s.Description,
		Timezone: e.Zone.String(), Next: e.Zone.instants(e.Next), LeftOut: e.leftOut(), Performed: s.IterationsPerformed, Remaining: s.IterationsRemaining,
		Note: s.Note, LastError: orNull(s.LastError), Warnings: append([]string{}, s.Warnings()...), IfNobodyActs: e.Outlook(), Failures: len(e.failures()),
		Occurrences: make([]occurrenceForm, len(e.Occurrences)), Ended: e.Zone.instant(e.Ended), EndedBy: orNull(e.Actor),
	}
	for i := range e.Occurrences {
		o := &e.Occurrences[i]
		f.Occurrences[i] = occurrenceForm{
			Instant: e.Zone.instant(o.Instant), Outcome: o.Outcome, Reason: orNull(o.Reason),
			LagSeconds: LagSeconds(o), Life: orNull(o.State), Failed: orNull(e.Undone[o.CaseID]), FiredAt: e.Zone.instant(o.FiredAt),
		}
		if o.CaseID != 0 {
			f.Occurrences[i].Case = &o.CaseID
		}
	}
	return document.Form(f)
}
