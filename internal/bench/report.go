package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Verdict says whether a figure is reached.
type Verdict string

// The verdicts.
const (
	Met       Verdict = "met"
	Missed    Verdict = "missed"
	NotJudged Verdict = "not judged" // a short run says nothing about time
	Skipped   Verdict = "skipped"    // the run was not given what it needs
	Failed    Verdict = "failed"
)

// Unit is what a value counts.
type Unit string

// The units of values.
const (
	PerSecond Unit = "/s"
	Seconds   Unit = "s"
	Bytes     Unit = "B"
	Times     Unit = "×"

	Statements Unit = "statements"
	Percent    Unit = "%"
)

// Value is something measured: the median of its rounds.
type Value struct {
	Value  float64   `json:"value"`
	Unit   Unit      `json:"unit"`
	Rounds []float64 `json:"rounds,omitempty"`
	Quoted string    `json:"quoted,omitempty"` // its source, if it was not measured in this run
}

func measured(unit Unit, rounds ...float64) *Value {
	v := &Value{Value: median(rounds), Unit: unit}
	if len(rounds) > 1 {
		v.Rounds = rounds
	}
	return v
}

func quoted(unit Unit, value float64, of string) *Value {
	return &Value{Value: value, Unit: unit, Quoted: of}
}

// Row is one figure. Limit is what it is compared with, or nil.
type Row struct {
	Figure   string  `json:"figure"`
	Work     string  `json:"work"`
	Measured *Value  `json:"measured,omitempty"`
	Limit    *Value  `json:"limit,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"` // of Measured to Limit
	ToReach  string  `json:"toReach,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Note     string  `json:"note,omitempty"`
}

// atLeast compares the ratio of figure to limit with the least ratio that is
// allowed.
func atLeast(work string, got, limit *Value, ratio float64) Row {
	return ratioRow(work, got, limit, bound{"≥ ", ratio})
}

// atMostTimes compares it with the greatest ratio that is allowed: less is
// better.
func atMostTimes(work string, got, limit *Value, ratio float64) Row {
	return ratioRow(work, got, limit, bound{"≤ ", ratio})
}

// bound is what a ratio has to reach: "≥ " or "≤ " some number.
type bound struct {
	relation string
	ratio    float64
}

func (b bound) reached(ratio float64) bool {
	if b.relation == "≥ " {
		return ratio >= b.ratio
	}
	return ratio <= b.ratio
}

func ratioRow(work string, got, limit *Value, b bound) Row {
	row := Row{Work: work, Measured: got, Limit: limit, ToReach: b.relation + plain(b.ratio) + " " + string(Times), Verdict: Missed}
	if limit.Value > 0 {
		row.Ratio = got.Value / limit.Value
	}
	if b.reached(row.Ratio) {
		row.Verdict = Met
	}
	return row
}

// atMost judges what was measured by a figure of its own unit. limit is for
// comparison only and may be nil.
func atMost(work string, got, limit *Value, most float64) Row {
	row := Row{Work: work, Measured: got, Limit: limit, ToReach: "≤ " + quantity(most, got.Unit), Verdict: Missed}
	if limit != nil && limit.Value > 0 {
		row.Ratio = got.Value / limit.Value
	}
	if got.Value <= most {
		row.Verdict = Met
	}
	return row
}

// noted returns the row with a note.
func (r Row) noted(format string, args ...any) Row {
	r.Note = fmt.Sprintf(format, args...)
	return r
}

// Report is the outcome of a run.
type Report struct {
	Time   time.Time `json:"time"`
	Go     string    `json:"go"`
	System string    `json:"system"`
	CPUs   int       `json:"cpus"`
	Short  bool      `json:"short"`
	Rounds int       `json:"rounds"`
	Rows   []Row     `json:"rows"`
}

func newReport(r *run) *Report {
	return &Report{
		Time: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.NumCPU(), Short: r.Short, Rounds: r.rounds,
	}
}

// WriteJSON writes the report with the values of all rounds.
func (r *Report) WriteJSON(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// WriteText writes the report as a table for people, a line each figure, and
// the notes below it.
func (r *Report) WriteText(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d CPUs, %s, %s, ", r.Time.Format(time.RFC3339), r.CPUs, r.System, r.Go)
	if r.Short {
		b.WriteString("a short run: nothing is judged\n\n")
	} else {
		fmt.Fprintf(&b, "medians of %d rounds\n\n", r.Rounds)
	}
	var rows strings.Builder
	fmt.Fprintln(&rows, "\twork\tmeasured\tlimit\tratio\tto reach\t")
	var notes []string
	last := ""
	for _, row := range r.Rows {
		figure := row.Figure
		if figure == last {
			figure = ""
		}
		last = row.Figure
		fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", figure, row.Work, row.Measured.text(), row.Limit.text(), ratioText(row.Ratio), row.ToReach, row.Verdict)
		if row.Note != "" {
			notes = append(notes, fmt.Sprintf("%-4s %s: %s", row.Figure, row.Work, row.Note))
		}
	}
	if err := writeTable(&b, rows.String()); err != nil {
		return err
	}
	if len(notes) > 0 {
		b.WriteString("\n" + strings.Join(notes, "\n") + "\n")
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func (v *Value) text() string {
	switch {
	case v == nil:
		return ""
	case v.Quoted != "":
		return quantity(v.Value, v.Unit) + " quoted"
	}
	return quantity(v.Value, v.Unit)
}

// scale is a multiple of a unit.
type scale struct {
	from float64
	name string
}

// scales are the scales of a unit, the largest first.
func scales(unit Unit) []scale {
	switch unit {
	case Seconds:
		return []scale{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}
	case Bytes:
		return []scale{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
	case PerSecond, Times, Statements, Percent:
	}
	return nil
}

// quantity writes a value with the multiple of its unit that is easy to read.
func quantity(value float64, unit Unit) string {
	for _, s := range scales(unit) {
		if math.Abs(value) >= s.from {
			return plain(value/s.from) + " " + s.name
		}
	}
	if unit == PerSecond {
		return plain(value) + string(unit)
	}
	return plain(value) + " " + string(unit)
}

// plain writes a number with three digits, more only before the point and
// fewer behind it.
func plain(x float64) string {
	switch a := math.Abs(x); {
	case 0 < a && a < 0.005:
		return strconv.FormatFloat(x, 'f', int(math.Ceil(-math.Log10(a))), 64)
	case a >= 1000:
		return thousands(int64(math.Round(x)))
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	default:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
	}
}

func thousands(n int64) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// writeTable writes rows, whose cells end with tabs, in columns.
func writeTable(to io.Writer, rows string) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(table, rows); err != nil {
		return err
	}
	return table.Flush()
}
