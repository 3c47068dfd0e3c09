package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShortRunMeasuresEveryFigure measures everything once that needs no program of its own, with
// little data. It says nothing about time.
func TestShortRunMeasuresEveryFigure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := Config{Short: true, Dir: dir}
	if testing.Short() {
		cfg.Only = []string{"P1", "P3", "P5", "P6"}
	}
	report, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, cfg, report)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the run left %v behind, %v", left, err)
	}
	var text, document strings.Builder
	if err := errors.Join(report.WriteText(&text), report.WriteJSON(&document)); err != nil {
		t.Fatal(err)
	}
	for _, row := range report.Rows {
		if !strings.Contains(text.String(), row.Work) {
			t.Errorf("the table lacks %q:\n%s", row.Work, text.String())
		}
	}
}

// checkFigures wants every figure in its order, each with what it needs.
func checkFigures(t *testing.T, cfg Config, report *Report) {
	t.Helper()
	var got, want []string
	for _, row := range report.Rows {
		if len(got) == 0 || got[len(got)-1] != row.Figure {
			got = append(got, row.Figure)
		}
		switch row.Verdict {
		case NotJudged:
			// What takes hardly more than doing nothing may measure 0: other tests take CPU meanwhile.
			if row.Work == "" || row.Measured == nil || row.Measured.Value < 0 && row.Measured.Unit != Bytes || row.ToReach == "" {
				t.Errorf("%s is not whole: %+v", row.Figure, row)
			}
		case Skipped:
		case Met, Missed, Failed:
			t.Errorf("%s %q is %q in a short run", row.Figure, row.Work, row.Verdict)
		}
	}
	for _, f := range figures() {
		if len(cfg.Only) == 0 || strings.Contains(strings.Join(cfg.Only, " ")+" ", f.name+" ") {
			want = append(want, f.name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// TestUnknownFigure wants a figure that there is not to be said.
func TestUnknownFigure(t *testing.T) {
	t.Parallel()
	if report, err := Run(t.Context(), Config{Only: []string{"P1", "P99"}}); err == nil || report != nil {
		t.Errorf("got %v, %v, want no report and an error", report, err)
	}
}

// TestFigureThatFailsIsInTheTable wants a figure that fails to be in the table, and to be told.
func TestFigureThatFailsIsInTheTable(t *testing.T) {
	t.Parallel()
	report, err := Run(t.Context(), Config{Short: true, Dir: t.TempDir(), Only: []string{"P9", "P14"}, Program: "/no/such\nprogram"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
	last := report.Rows[len(report.Rows)-1]
	if len(report.Rows) < 2 || report.Rows[0].Figure != "P9" || last.Verdict != Failed || !strings.HasPrefix(last.Note, "P14: ") {
		t.Errorf("rows %+v", report.Rows)
	}
}

// TestCompareReports wants the rows that two runs share beside each other.
func TestCompareReports(t *testing.T) {
	t.Parallel()
	file := func(name string, rows ...Row) string {
		path := filepath.Join(t.TempDir(), name)
		var document strings.Builder
		err := (&Report{Rows: rows}).WriteJSON(&document)
		if err = errors.Join(err, os.WriteFile(path, []byte(document.String()), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rate := func(x float64) *Value { return measured(PerSecond, x) }
	before := file("old", atLeast("much", rate(200), rate(400), 0.5), Row{Figure: "P6", Work: "little", Verdict: Skipped})
	after := file("new", atLeast("much", rate(300), rate(400), 0.5), Row{Figure: "P6", Work: "little", Verdict: Skipped}, atMost("more", rate(1), nil, 2))
	const want = `  work  old    new    new / old  ratio to the limit, old  new   
  much  200/s  300/s  1.5        0.5                      0.75  met
`
	var got strings.Builder
	if err := compare(&got, before, after); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if err := compare(&got, before, before+".missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}

// dump returns the rows that a query yields, each as its columns.
func dump(t *testing.T, data, query string, args ...any) [][]any {
	t.Helper()
	db, err := openRaw(data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]any
	for rows.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// testRun is a run in a folder of the test's.
func testRun(t *testing.T) *run {
	t.Helper()
	cfg := Config{Short: true}
	return &run{Config: cfg, size: cfg.size(), dir: t.TempDir()}
}
