package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/status"
	"flowdrive/schedule"
)

// timelineView is the coming days of entries.
type timelineView struct {
	Zone   string
	Days   []anchor // 7 or 30
	First  template.HTML
	Rest   template.HTML // the rows after the first ones, "" for none
	Others string        // "18 more entries"
	List   []dayLine     // for narrow windows
}

// dayLine is a line of the coming days as a list.
type dayLine struct {
	When template.HTML
	Text string
}

const (
	dayBand     = 12      // instants of a day that are drawn one by one
	mostOfADay  = 1500    // that are counted
	mostOfAll   = 100_000 // instants that are looked at for a page
	mostPerRow  = 10      // instants left out that are drawn
	listedLines = 20

	tlWidth, tlNames, tlTop, tlRow = 1126.0, 150.0, 28.0, 30.0
	tlEnd                          = tlWidth - 10
)

// timeline draws the coming days.
type timelineOf struct {
	x      *visit
	days   int
	start  time.Time   // of today
	starts []time.Time // of the days, and of the day after them
	budget int
}

func (x scheduleDrawing) timeline(entries []*engine.EntryView, days int) *timelineView {
	t := &timelineOf{x: x.visit, days: days, budget: mostOfAll}
	year, month, day := x.now.In(x.Words.zone).Date()
	for i := range days + 1 {
		t.starts = append(t.starts, time.Date(year, month, day+i, 0, 0, 0, 0, x.Words.zone))
	}
	t.start = t.starts[0]
	v := &timelineView{Zone: x.Words.Zone()}
	for _, n := range []string{"7", "30"} {
		v.Days = append(v.Days, anchor{Label: n + " days", Href: x.with("days", n) + "#timeline-h", Current: n == fmt.Sprint(days)})
	}
	first := entries[:min(len(entries), timelineRows)]
	v.First = t.draw(first, "a")
	if rest := entries[len(first):]; len(rest) > 0 {
		v.Rest, v.Others = t.draw(rest, "b"), plural(len(rest), "more row")
	}
	v.List = t.list(entries)
	return v
}

// at returns where an instant of the days is, from left to right.
func (t *timelineOf) at(instant time.Time) float64 {
	i := t.dayOf(instant)
	share := float64(instant.Sub(t.starts[i])) / float64(t.starts[i+1].Sub(t.starts[i]))
	return tlNames + (float64(i)+share)*t.wide()
}

func (t *timelineOf) wide() float64 { return (tlEnd - tlNames) / float64(t.days) }

func (t *timelineOf) dayOf(instant time.Time) int {
	i, _ := slices.BinarySearchFunc(t.starts[1:t.days], instant, func(start, at time.Time) int {
		if start.After(at) {
			return 1
		}
		return -1
	})
	return i
}

func (t *timelineOf) end() time.Time { return t.starts[t.days] }

// draw returns the SVG of some rows.
func (t *timelineOf) draw(entries []*engine.EntryView, id string) template.HTML {
	var b strings.Builder
	bottom := tlTop + tlRow*float64(len(entries))
	fmt.Fprintf(&b, `<svg class="tl" viewBox="0 0 %s %s" role="img" aria-labelledby="tl-%s tld-%s"><title id="tl-%s">The coming %d days</title><desc id="tld-%s">The next instant of each entry is in the table above.</desc>`,
		num(tlWidth), num(bottom+18), id, id, id, t.days, id)
	if id == "a" { // the style sheet names it
		b.WriteString(`<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="grid" d="M0 0v6"/></pattern></defs>`)
	}
	t.grid(&b, bottom)
	for i, e := range entries {
		y := tlTop + tlRow*float64(i)
		fmt.Fprintf(&b, `<path class="row" d="M0 %sH%s"/><text class="name" x="4" y="%s">%s</text>`, num(y+tlRow), num(tlWidth), num(y+19), template.HTMLEscapeString(shorten(entryTitle(e.Entry), 22)))
		t.row(&b, e, y)
	}
	now := num(t.at(t.x.now))
	fmt.Fprintf(&b, `<path class="now" d="M%s %sV%s"/><text class="nowt" x="%s" y="%s">now</text></svg>`, now, num(tlTop-2), num(bottom+2), num(t.at(t.x.now)+5), num(bottom+14))
	return template.HTML(b.String()) //nolint:gosec // numbers, and texts that are escaped
}

// grid draws the days, with weekends shaded.
func (t *timelineOf) grid(b *strings.Builder, bottom float64) {
	wide := t.wide()
	for i := range t.days {
		left, day := tlNames+float64(i)*wide, t.starts[i]
		if d := day.Weekday(); d == time.Saturday || d == time.Sunday {
			fmt.Fprintf(b, `<rect class="we" x="%s" y="%s" width="%s" height="%s"/>`, num(left), num(tlTop), num(wide), num(bottom-tlTop))
		}
	}
	for i := range t.days + 1 {
		fmt.Fprintf(b, `<path class="grid" d="M%s %sV%s"/>`, num(tlNames+float64(i)*wide), num(tlTop), num(bottom))
	}
	for i := range t.days {
		day := t.starts[i]
		name, indent := day.Format("Mon 2"), 8.0
		if t.days > 7 {
			switch name, indent = day.Format("2"), 6; {
			case i == 0 || day.Day() == 1 && i < t.days-1:
				name = day.Format("2 Jan")
			case i == 1 || day.Day() == 2:
				name = "" // the name of a month reaches as far as here
			}
		}
		change, why := "", ""
		switch length := t.starts[i+1].Sub(day); {
		case length < 24*time.Hour:
			change, why = " ▸", "<title>Clocks go forward on this day</title>"
		case length > 24*time.Hour:
			change, why = " ◂", "<title>Clocks go back on this day</title>"
		}
		fmt.Fprintf(b, `<text class="day" x="%s" y="20">%s%s%s</text>`, num(tlNames+float64(i)*wide+indent), why, name, change)
	}
}

// row draws the instants of an entry.
func (t *timelineOf) row(b *strings.Builder, e *engine.EntryView, y float64) {
	if e.Paused {
		note := "paused"
		if e.Note != "" {
			note += ": " + e.Note
		}
		fmt.Fprintf(b, `<rect class="pause" x="%s" y="%s" width="%s" height="18"/><text class="bandt pz" x="%s" y="%s">%s</text>`,
			num(tlNames+2), num(y+6), num(tlEnd-tlNames-4), num(t.at(t.x.now)+8), num(y+19), template.HTMLEscapeString(shorten(note, 60)))
		return
	}
	t.past(b, e, y)
	for _, at := range e.Excluded(t.x.now, t.end(), mostPerRow) {
		t.dot(b, at, y, "done", "left out: ")
	}
	all := t.coming(e)
	if len(all) == 0 && !e.NextIteration.IsZero() {
		fmt.Fprintf(b, `<text x="%s" y="%s" text-anchor="end">%s →</text>`, num(tlEnd-8), num(y+19), t.x.Words.Exact(e.NextIteration))
	}
	for day, some := range t.byDay(all) {
		if len(some) > dayBand || t.days > 7 && len(some) > 1 || t.crowded(some) {
			t.band(b, day, some, y)
			continue
		}
		for _, at := range some {
			t.dot(b, at, y, "dot", "")
		}
	}
}

// crowded reports whether the dots of a day would run into each other.
func (t *timelineOf) crowded(some []time.Time) bool {
	const apart = 11.0
	for i := 1; i < len(some); i++ {
		if t.at(some[i])-t.at(some[i-1]) < apart {
			return true
		}
	}
	return false
}

// coming returns the instants of an entry in the days, as far as they are looked at.
func (t *timelineOf) coming(e *engine.EntryView) (out []time.Time) {
	s, left := e.Schedule(), e.IterationsRemaining
	if s == nil {
		return nil
	}
	for at := e.NextIteration; !at.IsZero() && at.Before(t.end()) && left != 0 && t.budget > 0; left-- {
		t.budget--
		out = append(out, at)
		next := s.Next(at)
		if n := len(out); n >= mostOfADay && !next.IsZero() && t.dayOf(next) == t.dayOf(out[n-mostOfADay]) {
			next = s.Next(t.starts[t.dayOf(next)+1].Add(-1)) // enough of this day
		}
		at = next
	}
	return out
}

// byDay sorts instants into the days.
func (t *timelineOf) byDay(all []time.Time) [][]time.Time {
	out := make([][]time.Time, t.days)
	for _, at := range all {
		if at.Before(t.start) {
			at = t.start
		}
		out[t.dayOf(at)] = append(out[t.dayOf(at)], at)
	}
	return out
}

// past draws what has been done today, dimmed.
func (t *timelineOf) past(b *strings.Builder, e *engine.EntryView, y float64) {
	var done []time.Time
	what := map[time.Time]string{}
	for i := range e.Outcomes {
		if o := &e.Outcomes[i]; !o.Instant.Before(t.start) && o.Instant.Before(t.end()) && o.CaseID != 0 {
			done, what[o.Instant] = append(done, o.Instant), "done: "
			if status.Failed(o) {
				what[o.Instant] = "failed: "
			}
		}
	}
	if len(done) > dayBand || t.days > 7 && len(done) > 1 {
		left, right := tlNames+3, t.at(t.x.now)-5
		if right > left {
			fmt.Fprintf(b, `<rect class="band past" x="%s" y="%s" width="%s" height="18" rx="5"/>`, num(left), num(y+6), num(right-left))
		}
		return
	}
	for _, at := range done {
		t.dot(b, at, y, "dot past", what[at])
	}
}

// dot draws an instant.
func (t *timelineOf) dot(b *strings.Builder, at time.Time, y float64, class, what string) {
	fmt.Fprintf(b, `<circle class="%s" cx="%s" cy="%s" r="%s"><title>%s%s</title></circle>`, class, num(t.at(at)), num(y+tlRow/2), num(4.5), what, t.x.Words.Exact(at))
}

// band draws the instants of a day that are too many for dots.
func (t *timelineOf) band(b *strings.Builder, day int, some []time.Time, y float64) {
	left, right := tlNames+float64(day)*t.wide()+3, tlNames+float64(day+1)*t.wide()-3
	words := fmt.Sprintf("%d times", len(some))
	if len(some) >= mostOfADay {
		words = fmt.Sprintf("over %d times", mostOfADay-1)
	}
	if day == 0 {
		if now := t.at(t.x.now) + 5; right-now > 60 || t.days > 7 {
			left, words = min(now, right-8), fmt.Sprintf("%d more", len(some))
		}
	}
	title := words
	if t.days > 7 {
		words = fmt.Sprint(len(some))
	}
	fmt.Fprintf(b, `<rect class="band" x="%s" y="%s" width="%s" height="18" rx="5"><title>%s</title></rect>`, num(left), num(y+6), num(right-left), title)
	if right-left > 7*float64(len(words)) || t.days > 7 && right-left > 14 {
		fmt.Fprintf(b, `<text class="bandt" x="%s" y="%s" text-anchor="middle">%s</text>`, num((left+right)/2), num(y+19), words)
	}
}

// list returns the coming instants as lines: an entry that comes more than once a day
// has one line.
func (t *timelineOf) list(entries []*engine.EntryView) (out []dayLine) {
	type line struct {
		at   time.Time
		text string
	}
	var lines []line
	for _, e := range entries {
		if e.Paused || e.NextIteration.IsZero() || !e.NextIteration.Before(t.end()) {
			continue
		}
		some := schedule.Preview(e.Entry, e.NextIteration, listedLines)
		if len(some) > 1 && some[1].Sub(some[0]) < 23*time.Hour {
			words := t.x.scheduleDrawing().entryWords(e.Entry)
			lines = append(lines, line{some[0], entryTitle(e.Entry) + ", then " + strings.ToLower(words[:1]) + words[1:]})
			continue
		}
		for _, at := range some {
			if at.Before(t.end()) {
				lines = append(lines, line{at, entryTitle(e.Entry)})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	for _, l := range lines[:min(len(lines), listedLines)] {
		at := l.at.In(t.x.Words.zone)
		text := at.Format("15:04")
		switch n := t.x.Words.days(l.at); {
		case n > 6:
			text = at.Format("2 Jan")
		case n > 0:
			text = at.Format("Mon 15:04")
		}
		out = append(out, dayLine{t.x.Words.Time(l.at, text), l.text})
	}
	return out
}

// shorten cuts a text after so many characters.
func shorten(text string, most int) string {
	n, last := 0, 0 // last is where the last character begins that stays
	for i := range text {
		if n++; n == most {
			last = i
		}
		if n > most {
			return strings.TrimSpace(text[:last]) + "…"
		}
	}
	return text
}
