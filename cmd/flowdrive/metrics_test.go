package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"flowdrive/internal/document"
)

// listedMetrics returns the rows of docs/reference/metrics.md: the type and the labels of each
// metric.
func listedMetrics(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]string)
	for _, row := range regexp.MustCompile("(?m)^\\| `(flowdrive_[a-z_]+)` \\| ([a-z]+) \\| ([^|]*)\\| ([^|]+)\\| ([^|]+)\\|$").FindAllStringSubmatch(string(page), -1) {
		labels := strings.FieldsFunc(row[3], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		slices.Sort(labels)
		listed[row[1]] = row[2] + " " + strings.Join(labels, " ")
	}
	return listed
}

// TestMetricsBeforeTheFirstEvent wants what alerts look at to be there with 0: the rate of a
// counter that appears with its first event misses that.
func TestMetricsBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	if _, err := newObserver(registry, nil); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if m.GetCounter() != nil {
					got[family.GetName()+" "+l.GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
	}
	want := map[string]float64{}
	for name, values := range map[string][]string{
		"flowdrive_schedule_firings_total": {"fired", "late", "skipped", "failed", "triggered", "backfilled"},
		"flowdrive_cases_ended_total":      {"completed", "closed", "canceled", "failed"},
		"flowdrive_failures_total":         {"exit", "timeout", "signal", "status", "network", "fault"},
	} {
		for _, value := range values {
			want[name+" "+value] = 0
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters with labels (-want +got):\n%s", diff)
	}
}

// TestMetricsAreListed compares what the server tells with docs/reference/metrics.md.
func TestMetricsAreListed(t *testing.T) {
	t.Parallel()
	settings := &settings{data: t.TempDir(), sandbox: "2012-11-09T12:34:56Z", logLevel: "error", timezone: "UTC"}
	settings.backup = backupSettings{to: t.TempDir(), at: "0 3 * * *"}
	withSettings(t, settings, map[string]string{"sam": "a password of sam"}, func(s *inProcess) {
		s.must(http.MethodPut, "/dav/Admin/Users/sam.json", `{"password": "a password of sam"}`)
		s.furnish()
		s.must(http.MethodPut, "/dav/Workflow/Cases/copied.json", `{"route": "copy"}`)
		told := make(map[string]map[string]bool)
		kinds := make(map[string]string)
		for line := range strings.Lines(s.must(http.MethodGet, "/metrics", "").Body.String()) {
			if rest, ok := strings.CutPrefix(line, "# TYPE flowdrive_"); ok {
				name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
				kinds["flowdrive_"+name], told["flowdrive_"+name] = kind, make(map[string]bool)
				continue
			}
			sample := regexp.MustCompile(`^(flowdrive_[a-z_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? [^ ]+\n$`).FindStringSubmatch(line)
			if sample == nil {
				continue
			}
			for _, label := range regexp.MustCompile(`([a-z]+)="`).FindAllStringSubmatch(sample[2], -1) {
				if label[1] != "le" {
					told[sample[1]][label[1]] = true
				}
			}
		}
		got := make(map[string]string)
		for name, labels := range told {
			got[name] = kinds[name] + " " + strings.Join(slices.Sorted(maps.Keys(labels)), " ")
		}
		if diff := cmp.Diff(listedMetrics(t), got); diff != "" {
			t.Errorf("docs/reference/metrics.md and /metrics differ (-page +server):\n%s", diff)
		}
	})
}

// TestFigures looks at what monitoring is told of what there is.
func TestFigures(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Cases/one.json", `{"route": "bug", "title": "One"}`)
		s.must("PUT", "/dav/Workflow/Cases/two.json", `{"route": "bug", "title": "Two"}`)
		s.must("PUT", "/dav/Workflow/Cases/two.json", `{"state": "suspended"}`)
		if w := s.as("nobody", "GET", "/dav/", ""); w.Code != http.StatusUnauthorized {
			t.Fatalf("a wrong log-in: %d", w.Code)
		}
		text := s.must("GET", "/metrics", "").Body.String()
		for _, want := range []string{
			`flowdrive_cases{state="active"} 1`, `flowdrive_cases{state="suspended"} 1`, `flowdrive_cases{state="queued"} 0`,
			`flowdrive_cases_with_tasks{list="escalated"} 0`, `flowdrive_outbox_pending 0`, `flowdrive_outbox_oldest_seconds 0`,
			`flowdrive_schedule_late_entries 0`, `flowdrive_sweeper_behind_seconds 0`,
			`flowdrive_logins_refused_total{reason="wrong"} 1`, `flowdrive_logins_refused_total{reason="throttled"} 0`,
		} {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("%s is not among the metrics", want)
			}
		}
		for _, want := range []string{`flowdrive_database_bytes{file="database"} `, "flowdrive_stored_bytes "} {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("%s is not among the metrics", want)
			}
		}
	})
}

// TestOverdueIsCountedApart: a case of which a date has passed is overdue; one that is
// only warned of is not.
func TestOverdueIsCountedApart(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/dated.yaml", `
access: {start: [everyone], read: [everyone]}
timeout: P3D
roles: {reviewer: {assign: ["user:sam"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  review: {in: [open], role: reviewer, to: done, dueIn: P1D}
`)
		s.must("PUT", "/dav/Workflow/Routes/warned.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {reviewer: {assign: ["user:sam"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{warn: Look at it}]}
  review: {in: [open], role: reviewer, to: done}
`)
		s.must("PUT", "/dav/Workflow/Cases/one.json", `{"route": "warned"}`)
		location := s.must("PUT", "/dav/Workflow/Cases/two.json", `{"route": "dated"}`).Header().Get("Location")
		counts := func(warned, overdue int64) {
			t.Helper()
			f, _, err := s.engine.Figures(t.Context())
			if err != nil || f.Warned != warned || f.Overdue != overdue {
				t.Errorf("%v: %d warned, %d overdue; want %d, %d", err, f.Warned, f.Overdue, warned, overdue)
			}
		}
		counts(1, 0)
		s.must("POST", "/clock", `{"advance": "P4D"}`, "Content-Type", "application/json")
		counts(2, 1) // once, although the task and the case are late
		text := s.must("GET", "/metrics", "").Body.String()
		for _, want := range []string{`flowdrive_cases_with_tasks{list="warnings"} 2`, `flowdrive_cases_with_tasks{list="overdue"} 1`} {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("%s is not among the metrics", want)
			}
		}
		if w := s.as("sam", "PUT", strings.TrimSuffix(location, ".json")+"/Actions/review.json", `{"do": "perform"}`); w.Code >= 300 {
			t.Fatalf("review: %d %s", w.Code, w.Body)
		}
		counts(1, 0)
	})
}

// TestMonitoringKnowsTheMetrics: the rules and the dashboard ask for metrics that there
// are.
func TestMonitoringKnowsTheMetrics(t *testing.T) {
	t.Parallel()
	listed := listedMetrics(t)
	rules, err := os.ReadFile("../../contrib/prometheus/flowdrive.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := document.ParseYAML(rules); err != nil {
		t.Error(err)
	}
	board, err := os.ReadFile("../../contrib/grafana/flowdrive.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(board) {
		t.Error("the dashboard is not JSON")
	}
	for name, text := range map[string]string{"rules": string(rules), "dashboard": string(board)} {
		asked := regexp.MustCompile(`\bflowdrive_[a-z_]+`).FindAllString(text, -1)
		if len(asked) < 10 {
			t.Errorf("%s ask for %d metrics", name, len(asked))
		}
		for _, metric := range asked {
			base := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(metric, "")
			if listed[metric] == "" && listed[base] == "" {
				t.Errorf("%s ask for %s, which there is not", name, metric)
			}
		}
	}
}
