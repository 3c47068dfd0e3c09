package web

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
)

// TestReport: a report tells what became of the cases that its reader sees, and each
// figure has its cases as CSV.
func TestReport(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	rows := func(of *browser, query string) string {
		got := of.get(t, "/routes/expense/report.csv?"+query)
		if got.status != 200 || got.header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Fatalf("%s: got %d %s %s", query, got.status, got.header.Get("Content-Type"), got.body)
		}
		all, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return fmt.Sprint(all)
	}
	if got, want := rows(b, "figure=begun&week=2012-W45"), "[[case title status state starter begun ended] [17 Two monitors for the lab claimed active bob 2012-11-09T12:34:56Z ]]"; got != want {
		t.Errorf("begun: got %s, want %s", got, want)
	}
	if got, want := rows(b, "figure=begun&week=2012-W46"), "[[case title status state starter begun ended]]"; got != want {
		t.Errorf("begun a week later: got %s, want %s", got, want)
	}
	if got, want := rows(b, "figure=load"), "[[case title who task since due] [17 Two monitors for the lab bob Correct the amount 2012-11-09T12:34:56Z ] [17 Two monitors for the lab core Approve 2012-11-09T12:34:56Z 2012-11-12T12:34:56Z] [17 Two monitors for the lab core Refuse 2012-11-09T12:34:56Z ]]"; got != want {
		t.Errorf("load: got %s, want %s", got, want)
	}
	if got, want := rows(g.browse(t, "sam"), "figure=begun"), "[[case title status state starter begun ended]]"; got != want {
		t.Errorf("begun, of who sees no case: got %s, want %s", got, want)
	}

	if none := g.browse(t, "sam").get(t, "/routes/expense/report").body; !strings.Contains(none, "No case has begun or ended in the last 12 weeks.") || strings.Contains(none, `class="weeks`) {
		t.Errorf("of who sees no case: %s", none)
	}

	g.advance(t, "2012-11-14T08:00:00Z")
	if got, want := rows(b, "figure=overdue"), "[[case title task due waits for] [17 Two monitors for the lab Approve 2012-11-12T12:34:56Z core]]"; got != want {
		t.Errorf("overdue: got %s, want %s", got, want)
	}
	g.must(t, "ann", 204, "PUT", "/dav/Workflow/Cases/17/Actions/refuse.json", `{"resolution": "private"}`)
	if got, want := rows(b, "figure=time&week=2012-W46"), "[[case title in entered left seconds] [17 Two monitors for the lab claimed 2012-11-09T12:34:56Z 2012-11-14T08:00:00Z 415504]]"; got != want { // as the page has it: not the state in which it ended
		t.Errorf("time: got %s, want %s", got, want)
	}
	page := b.get(t, "/routes/expense/report")
	for _, part := range []string{
		"4.8 d", "up to a week: 1", "2012-W45: 1 begun", "2012-W46: 1 ended", "expense.yaml</",
		`aria-label="Begun and ended by week: 2012-W45: 1 begun, 0 ended; 2012-W46: 0 begun, 1 ended"`, `text-anchor="middle">1</text>`, `text-anchor="middle">7 d</text>`, "None is open.", "Nothing waits for anybody.",
	} {
		if !strings.Contains(page.body, part) {
			t.Errorf("the report has no %q: %s", part, page.body)
		}
	}
}

// TestCells: a title is never a formula.
func TestCells(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "", "Toner": "Toner", "=1+1": "'=1+1", "@x": "'@x", "-2": "'-2", "+2": "'+2", "a=b": "a=b", " =1": "' =1", "\n=1": "'\n=1", "＝1": "'＝1", "　＠x": "'　＠x", " a": " a", "é=": "é="} {
		if got := cell(given); got != want {
			t.Errorf("cell(%q) is %q, want %q", given, got, want)
		}
	}
}
