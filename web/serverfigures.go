package web

import (
	"fmt"
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
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			h := m.GetHistogram()
			for _, b := range h.GetBucket() {
				if slowest == "" && h.GetSampleCount() > 0 && float64(b.GetCumulativeCount()) >= 0.99*float64(h.GetSampleCount()) {
					slowest = fmt.Sprintf("%g s", b.GetUpperBound())
				}
			}
		}
		x.addFigure(v, f.GetName(), sum, slowest)
	}
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
