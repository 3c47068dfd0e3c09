package web

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/status"
	"flowdrive/store"
)

// sparkline is how the outcomes of an entry are drawn: one mark an instant, the oldest on
// the left.
type sparkline struct {
	class                string
	slot, bar            float64 // how far apart the marks are, and how wide
	height, low          float64 // of the whole, and of an instant that was on time
	leastLate, mostLate  float64
	capWidth, capHeight  float64
	dot                  float64
	labelled, proportion bool
}

// The sparkline of a row, and that of an entry's own page.
func smallSpark() sparkline {
	return sparkline{class: "spark", slot: 5, bar: 4, height: 28, low: 10, leastLate: 14, mostLate: 24, capWidth: 5, capHeight: 2, dot: 2, labelled: true, proportion: true}
}

func largeSpark() sparkline {
	return sparkline{class: "spark big", slot: 21, bar: 16, height: 62, low: 16, leastLate: 24, mostLate: 50, capWidth: 18, capHeight: 4, dot: 4}
}

// draw returns the SVG of outcomes that come newest first.
func (s sparkline) draw(outcomes []store.Occurrence) template.HTML {
	const slots = engine.ShownOutcomes
	words := template.HTMLEscapeString(outcomeWords(outcomes))
	var b strings.Builder
	width := s.slot * slots
	fmt.Fprintf(&b, `<svg class="%s" viewBox="0 0 %s %s"`, s.class, num(width), num(s.height))
	if !s.proportion {
		b.WriteString(` preserveAspectRatio="none"`)
	}
	fmt.Fprintf(&b, ` role="img" aria-label="%s">`, words)
	if s.labelled {
		fmt.Fprintf(&b, `<title>%s</title>`, words)
	}
	fmt.Fprintf(&b, `<path class="base" d="M0 %sh%s"/>`, num(s.height-.5), num(width))
	for i := range min(len(outcomes), slots) {
		s.mark(&b, &outcomes[min(len(outcomes), slots)-1-i], float64(i)*s.slot)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers, and words that are escaped
}

// mark draws an outcome. Its shape says what its colour says.
func (s sparkline) mark(b *strings.Builder, o *store.Occurrence, x float64) {
	ground := s.height - 1
	rect := func(class string, x, y, w, h float64) {
		fmt.Fprintf(b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(x), num(y), num(w), num(h))
	}
	switch outcomeOf(o) {
	case engine.OutcomeFailed:
		top := s.capHeight + 1
		fmt.Fprintf(b, `<path class="fail" d="M%s %sh%sv%sh-%szM%s 0h%sv%sh-%sz"/>`, num(x), num(top), num(s.bar), num(ground-top), num(s.bar),
			num(x-(s.capWidth-s.bar)/2), num(s.capWidth), num(s.capHeight), num(s.capWidth))
	case engine.OutcomeSkipped:
		rect("skip", x+.5, ground-s.low+.5, s.bar-1, s.low-1)
	case engine.OutcomeTriggered:
		rect("trig", x, ground-s.low, s.bar, s.low)
		fmt.Fprintf(b, `<circle class="trig" cx="%s" cy="%s" r="%s"/>`, num(x+s.bar/2), num(ground-s.low-2*s.dot), num(s.dot))
	case engine.OutcomeBackfilled:
		rect("ok", x, ground-s.low, s.bar, s.low*.4)
		rect("ok", x, ground-s.low*.4, s.bar, s.low*.4)
	case engine.OutcomeLate:
		h := s.lateHeight(lagOf(o))
		rect("late", x, ground-h, s.bar, h)
	default:
		rect("ok", x, ground-s.low, s.bar, s.low)
	}
}

// lateHeight grows with the logarithm of the lag, from a minute to a day.
func (s sparkline) lateHeight(lag time.Duration) float64 {
	share := math.Log(max(lag.Seconds(), 60)/60) / math.Log(24*60)
	return s.leastLate + (s.mostLate-s.leastLate)*min(share, 1)
}

// num writes a number for an attribute of an SVG.
func num(n float64) string { return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) }

// outcomeOf returns what became of an instant. That its case has failed counts more than that it
// has one.
func outcomeOf(o *store.Occurrence) string {
	if status.Failed(o) {
		return engine.OutcomeFailed
	}
	return o.Outcome
}

func lagOf(o *store.Occurrence) time.Duration { return max(o.FiredAt.Sub(o.Instant), 0) }

// lagWords writes a lag in one unit.
func lagWords(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// outcomeWords says what became of instants: "27 fired, 1 late by 6 min, 1 failed, 1
// skipped: overlap".
func outcomeWords(outcomes []store.Occurrence) string {
	counts := map[string]int{}
	var worst time.Duration
	why, same := "", true
	for i := range outcomes {
		o := &outcomes[i]
		counts[outcomeOf(o)]++
		if outcomeOf(o) == engine.OutcomeLate {
			worst = max(worst, lagOf(o))
		}
		if o.Outcome == engine.OutcomeSkipped {
			reason, _, _ := strings.Cut(o.Reason, ":")
			same = same && (why == "" || why == reason)
			why = reason
		}
	}
	var out []string
	for _, one := range [][2]string{
		{engine.OutcomeFired, "fired"},
		{engine.OutcomeLate, "late by " + lagWords(worst)},
		{engine.OutcomeFailed, "failed"},
		{engine.OutcomeSkipped, "skipped"},
		{engine.OutcomeTriggered, "by hand"},
		{engine.OutcomeBackfilled, "filled in later"},
	} {
		n := counts[one[0]]
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n, one[1])
		if one[0] == engine.OutcomeLate && n > 1 {
			text = fmt.Sprintf("%d late, by %s at most", n, lagWords(worst))
		}
		if one[0] == engine.OutcomeSkipped && same && why != "" {
			text += ": " + why
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
