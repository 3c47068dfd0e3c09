package web

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// reportWeeks is how many weeks a report shows: this one and those before it.
const reportWeeks = 12

// reportView is what report.html shows.
type reportView struct {
	Name, Title string
	Lede        string
	Tabs        []tab
	Weeks       []reportWeek
	Bars        template.HTML // "" if nothing happened in these weeks
	BarsNarrow  template.HTML // of half the weeks, which a phone has room for
	States      []reportState
	Open        int
	Overdue     int
	Share       string
	Loads       []reportLoad
	CSV         string // address of the cases behind a figure, to which its name is added
	Cut         bool
}

// reportWeek is what was begun and ended in a week.
type reportWeek struct {
	Name         string // as ISO 8601 has it
	First        time.Time
	Begun, Ended int
}

// reportState is how long cases were in a state.
type reportState struct {
	State                 mark
	Visits                int
	Median, Most, Longest string
	Bars                  template.HTML
}

// reportLoad is how much waits for somebody.
type reportLoad struct {
	Who         string
	Cases, Late int
	Bar         template.HTML
}

func drawReport(x *visit) error {
	stored, err := x.Queries.Route(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return err
	}
	r, err := x.Queries.Report(x.r.Context(), x.by, stored.Name)
	if err != nil {
		return err
	}
	v := &reportView{
		Name: r.Route.Name, Title: cmp.Or(r.Route.Title, r.Route.Name), Cut: r.Cut, Tabs: tabsOfRoute(r.Route, "report"),
		CSV: pageOfRoute(r.Route.Name) + "/report.csv?figure=",
	}
	v.Weeks = x.reportDrawing().reportWeeks(r)
	if slices.ContainsFunc(v.Weeks, func(w reportWeek) bool { return w.Begun+w.Ended > 0 }) {
		v.Bars, v.BarsNarrow = barsOfWeeks(v.Weeks), barsOfWeeks(v.Weeks[reportWeeks/2:])
	}
	v.States = x.reportDrawing().reportStates(r)
	v.Loads = x.reportDrawing().reportLoads(r)
	for i := range r.Cases {
		if c := &r.Cases[i]; c.Ended.IsZero() && !c.Begun.IsZero() {
			v.Open++
			if x.reportDrawing().isLate(c) {
				v.Overdue++
			}
		}
	}
	v.Share = "None is open."
	if v.Open > 0 {
		v.Share = fmt.Sprintf("%d of %s (%d %%)", v.Overdue, plural(v.Open, "open case"), v.Overdue*100/v.Open)
	}
	v.Lede = plural(len(r.Cases), "case") + " that you may see."
	return x.draw("report.html", head{Title: "Report: " + v.Title, Nav: "routes", Path: fileOfRoute(stored)}, v)
}

// reportDrawing draws the report of a route.
type reportDrawing struct{ *visit }

func (x *visit) reportDrawing() reportDrawing { return reportDrawing{x} }

// weekOf returns the ISO week of an instant in the zone of the reader, "" of none.
func (x reportDrawing) weekOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	year, week := t.In(x.Words.zone).ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, week)
}

// reportWeeks counts by week, the oldest first.
func (x reportDrawing) reportWeeks(r *engine.Report) []reportWeek {
	year, month, day := x.now.In(x.Words.zone).Date()
	sinceMonday := (int(x.now.In(x.Words.zone).Weekday()) + 6) % 7
	out := make([]reportWeek, reportWeeks)
	at := map[string]*reportWeek{}
	for i := range out {
		monday := time.Date(year, month, day-sinceMonday-7*(reportWeeks-1-i), 12, 0, 0, 0, x.Words.zone)
		out[i] = reportWeek{Name: x.weekOf(monday), First: monday}
		at[out[i].Name] = &out[i]
	}
	for i := range r.Cases {
		if w := at[x.weekOf(r.Cases[i].Begun)]; w != nil {
			w.Begun++
		}
		if w := at[x.weekOf(r.Cases[i].Ended)]; w != nil {
			w.Ended++
		}
	}
	return out
}

// barsOfWeeks draws what was begun and ended, two bars a week with their numbers.
func barsOfWeeks(weeks []reportWeek) template.HTML {
	const top, height, slot, bar = 12.0, 120.0, 50.0, 18.0
	most := 1
	for i := range weeks {
		most = max(most, weeks[i].Begun, weeks[i].Ended)
	}
	var b strings.Builder
	var said []string
	for i := range weeks {
		w, left := &weeks[i], float64(i)*slot+6
		for n, one := range []struct {
			class string
			count int
		}{{"begun", w.Begun}, {"ended", w.Ended}} {
			if one.count == 0 {
				continue
			}
			h := float64(one.count) / float64(most) * (height - 4)
			at := left + float64(n)*(bar+2)
			fmt.Fprintf(&b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"><title>%s: %d %s</title></rect>`,
				one.class, num(at), num(top+height-h), num(bar), num(h), w.Name, one.count, one.class)
			fmt.Fprintf(&b, `<text class="n" x="%s" y="%s" text-anchor="middle">%d</text>`, num(at+bar/2), num(top+height-h-3), one.count)
		}
		if w.Begun > 0 || w.Ended > 0 {
			said = append(said, fmt.Sprintf("%s: %d begun, %d ended", w.Name, w.Begun, w.Ended))
		}
		fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="middle">%s</text>`, num(left+bar+1), num(top+height+14), w.Name[len(w.Name)-3:])
	}
	text := cmp.Or(strings.Join(said, "; "), "none")
	width := float64(len(weeks)) * slot
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %s %s" role="img" aria-label="Begun and ended by week: %s"><path class="base" d="M0 %sh%s"/>%s</svg>`, //nolint:gosec // numbers, and names of weeks
		num(width), num(top+height+18), text, num(top+height+.5), num(width), b.String()))
}

// stays are the bounds of the distribution of times, with their names.
func stays() []stay {
	const day = 24 * time.Hour
	return []stay{
		{time.Minute, "a minute", "1 min"},
		{time.Hour, "an hour", "1 h"},
		{8 * time.Hour, "8 hours", "8 h"},
		{day, "a day", "1 d"},
		{3 * day, "3 days", "3 d"},
		{7 * day, "a week", "7 d"},
		{30 * day, "30 days", "30 d"},
		{0, "longer", "more"},
	}
}

// stay is a bound of it, with its name in a sentence and below its bar.
type stay struct {
	most        time.Duration
	name, short string
}

// reportStates says how long cases were in each state that they have left, in the order
// of the route.
func (x reportDrawing) reportStates(r *engine.Report) (out []reportState) {
	times := map[string][]time.Duration{}
	for i := range r.Cases {
		for _, v := range staysOf(r, &r.Cases[i]) {
			times[v.State] = append(times[v.State], max(0, v.Left.Sub(v.Entered)))
		}
	}
	for i := range r.Route.States {
		s := &r.Route.States[i]
		all := times[s.Name]
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		rank := func(of int) string { return span(all[(len(all)-1)*of/100]) }
		out = append(out, reportState{State: markOfState(s), Visits: len(all), Median: rank(50), Most: rank(90), Longest: rank(100), Bars: barsOfStays(all)})
	}
	return out
}

// staysOf returns the stays of a case that a report counts: those that are over, in states
// that the route has and in which cases do not end.
func staysOf(r *engine.Report, c *engine.ReportCase) []engine.Visit {
	return slices.DeleteFunc(slices.Clone(c.Visits), func(v engine.Visit) bool {
		at := r.Route.State(v.State)
		return v.Left.IsZero() || at == route.NoState || r.Route.States[at].Complete
	})
}

// barsOfStays draws how many stays were how long, each number above its bar.
func barsOfStays(sorted []time.Duration) template.HTML {
	const slot, bar, top, height = 30.0, 22.0, 12.0, 26.0
	bounds := stays()
	counts := make([]int, len(bounds))
	for _, d := range sorted {
		at := slices.IndexFunc(bounds[:len(bounds)-1], func(s stay) bool { return d <= s.most })
		if at < 0 {
			at = len(bounds) - 1
		}
		counts[at]++
	}
	var words []string
	var b strings.Builder
	most := slices.Max(counts)
	for i, n := range counts {
		left := float64(i) * slot
		fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="middle">%s</text>`, num(left+slot/2), num(top+height+12), bounds[i].short)
		if n == 0 {
			continue
		}
		h := float64(n) / float64(most) * (height - 2)
		fmt.Fprintf(&b, `<rect class="stay" x="%s" y="%s" width="%s" height="%s"/><text class="n" x="%s" y="%s" text-anchor="middle">%d</text>`,
			num(left+(slot-bar)/2), num(top+height-h), num(bar), num(h), num(left+slot/2), num(top+height-h-3), n)
		if i < len(bounds)-1 {
			words = append(words, fmt.Sprintf("up to %s: %d", bounds[i].name, n))
		} else {
			words = append(words, fmt.Sprintf("longer: %d", n))
		}
	}
	width := float64(len(bounds)) * slot
	text := strings.Join(words, "; ")
	return template.HTML(fmt.Sprintf(`<svg class="stays" viewBox="0 0 %s %s" role="img" aria-label="%s"><title>%s</title>%s<path class="base" d="M0 %sh%s"/></svg>`, //nolint:gosec // numbers, and constants
		num(width), num(top+height+16), text, text, b.String(), num(top+height+.5), num(width)))
}

// span writes how long something took, in its largest unit, with one more digit if that
// tells something.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= unit.of {
			return num(float64(d)/float64(unit.of)) + " " + unit.name
		}
	}
	return strconv.Itoa(int(d/time.Second)) + " s"
}

// isLate reports whether something is overdue in the case.
func (x reportDrawing) isLate(c *engine.ReportCase) bool {
	return slices.ContainsFunc(c.Waits, func(w machine.Wait) bool { return late(&w, x.now) })
}

func late(w *machine.Wait, now time.Time) bool { return !w.Due.IsZero() && !w.Due.After(now) }

// loaded returns whom a task waits for: who has accepted it, else to whom it is assigned.
func loaded(w *machine.Wait) []string {
	if w.Delivery || w.Optional || w.State != machine.Offered && w.State != machine.Accepted {
		return nil
	}
	if w.By != "" {
		return []string{w.By}
	}
	return w.Assigned
}

// mostLoads is how many people and teams a report lists.
const mostLoads = 20

// reportLoads says how much waits for whom, the most first.
func (x reportDrawing) reportLoads(r *engine.Report) []reportLoad {
	var out []reportLoad
	for i := range r.Cases {
		isLate := map[string]bool{} // by whom the case waits for
		for n := range r.Cases[i].Waits {
			w := &r.Cases[i].Waits[n]
			for _, who := range loaded(w) {
				isLate[who] = isLate[who] || late(w, x.now)
			}
		}
		for _, who := range sortedKeys(isLate) {
			at := slices.IndexFunc(out, func(l reportLoad) bool { return l.Who == who })
			if at < 0 {
				at = len(out)
				out = append(out, reportLoad{Who: who})
			}
			out[at].Cases++
			if isLate[who] {
				out[at].Late++
			}
		}
	}
	slices.SortFunc(out, func(a, b reportLoad) int { return cmp.Or(b.Cases-a.Cases, strings.Compare(a.Who, b.Who)) })
	out = out[:min(len(out), mostLoads)]
	for i := range out {
		width := float64(out[i].Cases) / float64(out[0].Cases) * 100
		out[i].Bar = template.HTML(fmt.Sprintf(`<svg class="bar quota" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="val" width="%s" height="8"/></svg>`, num(width))) //nolint:gosec // a number
		out[i].Who = x.caseDrawing().partyText(out[i].Who)
	}
	return out
}

// figures are the figures of a report, with the rows behind each: of a case, those in
// the week, or all if that is "".
func figures() map[string]struct {
	columns []string
	rows    func(x *visit, r *engine.Report, c *engine.ReportCase, week string) [][]string
} {
	type figure = struct {
		columns []string
		rows    func(x *visit, r *engine.Report, c *engine.ReportCase, week string) [][]string
	}
	within := func(x *visit, week string, t time.Time) bool {
		return !t.IsZero() && (week == "" || x.reportDrawing().weekOf(t) == week)
	}
	instant := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	ofCase := func(c *engine.ReportCase) []string {
		return []string{c.Title, c.Status, string(c.Life), c.Starter, instant(c.Begun), instant(c.Ended)}
	}
	columns := []string{"title", "status", "state", "starter", "begun", "ended"}
	return map[string]figure{
		"begun": {columns, func(x *visit, _ *engine.Report, c *engine.ReportCase, week string) [][]string {
			if !within(x, week, c.Begun) {
				return nil
			}
			return [][]string{ofCase(c)}
		}},
		"ended": {columns, func(x *visit, _ *engine.Report, c *engine.ReportCase, week string) [][]string {
			if !within(x, week, c.Ended) {
				return nil
			}
			return [][]string{ofCase(c)}
		}},
		"time": {[]string{"title", "in", "entered", "left", "seconds"}, func(x *visit, r *engine.Report, c *engine.ReportCase, week string) (out [][]string) {
			for _, v := range staysOf(r, c) {
				if within(x, week, v.Left) {
					seconds := strconv.FormatInt(int64(v.Left.Sub(v.Entered)/time.Second), 10)
					out = append(out, []string{c.Title, v.State, instant(v.Entered), instant(v.Left), seconds})
				}
			}
			return out
		}},
		"overdue": {[]string{"title", "task", "due", "waits for"}, func(x *visit, _ *engine.Report, c *engine.ReportCase, week string) (out [][]string) {
			for i := range c.Waits {
				if w := &c.Waits[i]; late(w, x.now) && within(x, week, w.Due) {
					out = append(out, []string{c.Title, w.Title, instant(w.Due), strings.Join(w.Who, " ")})
				}
			}
			return out
		}},
		"load": {[]string{"title", "who", "task", "since", "due"}, func(x *visit, _ *engine.Report, c *engine.ReportCase, week string) (out [][]string) {
			for i := range c.Waits {
				w := &c.Waits[i]
				for _, who := range loaded(w) {
					if week == "" || within(x, week, w.Due) {
						out = append(out, []string{c.Title, who, w.Title, instant(w.Since), instant(w.Due)})
					}
				}
			}
			return out
		}},
	}
}

// drawReportCSV answers with the cases behind a figure.
func drawReportCSV(x *visit) error {
	name, week := x.query.Get("figure"), x.query.Get("week")
	all := figures()
	f, known := all[name]
	if !known {
		return errs.New(errs.BadParameter, "figure can be %s, not %q.", strings.Join(sortedKeys(all), ", "), name)
	}
	if x.query.Has("week") && !isWeek(week) {
		return errs.New(errs.BadParameter, "week is not a week such as %s.", x.reportDrawing().weekOf(x.now))
	}
	r, err := x.Queries.Report(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return err
	}
	var body bytes.Buffer
	w := csv.NewWriter(&body)
	rows := [][]string{append([]string{"case"}, f.columns...)}
	for i := range r.Cases {
		for _, row := range f.rows(x, r, &r.Cases[i], week) {
			for n := range row {
				row[n] = cell(row[n])
			}
			rows = append(rows, append([]string{strconv.FormatInt(r.Cases[i].ID, 10)}, row...))
		}
	}
	if err := w.WriteAll(rows); err != nil {
		return errs.Wrap("write a report", err)
	}
	x.headers("private, no-cache")
	h := x.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	if x.r.Method == http.MethodHead {
		return nil
	}
	_, err = x.w.Write(body.Bytes())
	return err
}

// isWeek reports whether the text is an ISO week.
func isWeek(text string) bool {
	var year, week int
	n, err := fmt.Sscanf(text, "%4d-W%2d", &year, &week)
	return err == nil && n == 2 && year > 0 && 1 <= week && week <= 53 && text == fmt.Sprintf("%04d-W%02d", year, week)
}

// cell returns a text that a program for tables does not take for a formula: nor with
// blanks before it, or the wide signs that some take as the others.
func cell(text string) string {
	if strings.IndexAny(strings.TrimLeft(text, " \u00a0\u3000\ufeff"), "=+-@\t\r\n＝＋－＠") == 0 {
		return "'" + text
	}
	return text
}
