package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// longInOutbox is for how long something may wait to be sent before administrators are
// shown that. They are told of a way that fails an hour after it began to.
const longInOutbox = 5 * time.Minute

// serverFigures adds what the server counts, if it does: the same as /metrics.
func (x adminDrawing) serverFigures(v *adminView) {
	if x.Metrics == nil {
		return
	}
	families, err := x.Metrics.Gather()
	if err != nil {
		x.Log.Error().Err(err).Msg("web: the figures of the server cannot be read")
	}
	for _, f := range families {
		sum, slowest := 0.0, ""
		var parts []labelled
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			if n := m.GetCounter().GetValue(); n > 0 && len(m.GetLabel()) > 0 {
				parts = append(parts, labelled{m.GetLabel()[0].GetValue(), n})
			}
			h := m.GetHistogram()
			for _, b := range h.GetBucket() {
				if slowest == "" && h.GetSampleCount() > 0 && float64(b.GetCumulativeCount()) >= 0.99*float64(h.GetSampleCount()) {
					slowest = fmt.Sprintf("%g s", b.GetUpperBound())
				}
			}
		}
		x.addFigure(v, f.GetName(), sum, slowest)
		if title := countedTitles()[f.GetName()]; title != "" {
			v.Figures = append(v.Figures, figure{title, number(fmt.Sprintf("%.0f", sum)), byLabel(parts), ""})
		}
	}
}

// countedTitles are the titles of the metrics that are shown with how much each of the values of
// their label has.
func countedTitles() map[string]string {
	return map[string]string{
		"flowdrive_cases_ended_total": "Cases ended", "flowdrive_schedule_firings_total": "Instants of the schedule", "flowdrive_actions_performed_total": "Actions performed",
	}
}

// labelled is how much one value of the label of a metric has.
type labelled struct {
	label string
	n     float64
}

// byLabel says how much each value has, the most first: "3 user, 1 timer".
func byLabel(parts []labelled) string {
	slices.SortStableFunc(parts, func(a, b labelled) int {
		return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.label, b.label))
	})
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = number(fmt.Sprintf("%.0f", p.n)) + " " + p.label
	}
	return cmp.Or(strings.Join(out, ", "), "since the server started")
}

// addFigure adds what a metric says: its sum or, of a histogram, the bound below which 99
// of 100 values are.
func (x adminDrawing) addFigure(v *adminView, name string, sum float64, slowest string) {
	bad := func(title, text string) { v.Notes = append(v.Notes, adminNote{"bad", "failed", title, text, ""}) }
	switch name {
	case "flowdrive_cases_created_total":
		v.Figures = append(v.Figures, figure{"Cases created", number(fmt.Sprintf("%.0f", sum)), "since the server started", ""})
	case "flowdrive_schedule_lag_seconds":
		if slowest != "" {
			v.Figures = append(v.Figures, figure{"Lateness of firings", slowest, "99 of 100 are faster", ""})
		}
	case "flowdrive_outbox_pending":
		v.Figures = append(v.Figures, figure{"Still to be sent", number(fmt.Sprintf("%.0f", sum)), "mails, requests and commands", ""})
	case "flowdrive_outbox_oldest_seconds":
		if oldest := time.Duration(sum) * time.Second; oldest >= longInOutbox {
			v.Notes = append(v.Notes, adminNote{"warn", "warn", "Something has waited to be sent for " + strings.TrimSuffix(distance(-oldest), " ago") + ".", "The log of the server says why. It is tried again by itself.", ""})
		}
	case "flowdrive_http_requests_in_flight":
		v.Figures = append(v.Figures, figure{"Requests under way", number(fmt.Sprintf("%.0f", sum)), "this page is one of them", ""})
	case "flowdrive_stored_bytes":
		v.Figures = append(v.Figures, figure{"Stored by all", sizeOf(int64(sum)), "as quotas count it", ""})
	case "flowdrive_disk_free_bytes":
		v.Figures = append(v.Figures, figure{"Room on the disk", sizeOf(int64(sum)), "of the data folder", ""})
	case "flowdrive_disk_full":
		if sum > 0 {
			bad("The disk is full.", "Nothing can be written but deletions until there is room.")
		}
	case "flowdrive_damaged_contents_total":
		if sum > 0 {
			bad("Contents are damaged.", "Some files are not what was stored. The log of the server names them. Restore them from a backup.")
		}
	case "flowdrive_backup_failed":
		if sum > 0 {
			bad("The last backup has failed.", "The log of the server says why.")
		}
	case "flowdrive_backup_last_success_timestamp_seconds":
		at := time.Unix(int64(sum), 0)
		if sum == 0 {
			v.Notes = append(v.Notes, adminNote{"warn", "warn", "There is no backup yet.", "The server makes backups by itself, and none has succeeded so far.", ""})
			return
		}
		v.Figures = append(v.Figures, figure{"Last backup", distance(at.Sub(x.Wall())), at.UTC().Format("2 Jan, 15:04 UTC"), ""})
	}
}
