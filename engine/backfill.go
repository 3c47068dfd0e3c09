package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/calendar"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/schedule"
	"flowdrive/store"
)

// A backfill creates the cases of instants that were passed by
// (docs/contract/schedule.md#backfill). Its report says what became of each of them. In a dry
// run the same unit is undone at its end, so that it says what would become of them.

// mostBackfilled bounds the instants that a report lists; all are counted.
const mostBackfilled = 1000

// What became of an instant in a backfill, if its occurrence does not say it.
const (
	backfillDone = "done" // it had a case before, and gets no other
	backfillLeft = "left" // the entry has fired as often as its repeat allows
)

// backfillReport says what became of the instants of a backfill.
type backfillReport struct {
	Instants   int64               `json:"instants"`
	Backfilled int64               `json:"backfilled"`
	Done       int64               `json:"done"`
	Skipped    int64               `json:"skipped"`
	Failed     int64               `json:"failed"`
	Left       int64               `json:"left"`
	List       []backfilledInstant `json:"list"`
}

// backfilledInstant is an instant in a report.
type backfilledInstant struct {
	Instant string  `json:"instant"`
	Outcome string  `json:"outcome"`
	Reason  *string `json:"reason"`
	Case    *int64  `json:"case"` // null also in a dry run: its number is not given
}

// add adds an instant of which the occurrence says what became of it.
func (r *backfillReport) add(o *store.Occurrence, dryRun bool) {
	r.Instants++
	switch o.Outcome {
	case OutcomeBackfilled:
		r.Backfilled++
	case OutcomeSkipped:
		r.Skipped++
	case OutcomeFailed:
		r.Failed++
	case backfillDone:
		r.Done++
	case backfillLeft:
		r.Left++
	}
	if len(r.List) == mostBackfilled {
		return
	}
	row := backfilledInstant{Instant: o.Instant.UTC().Format(time.RFC3339), Outcome: o.Outcome}
	if o.Reason != "" {
		row.Reason = &o.Reason
	}
	if o.CaseID != 0 && (!dryRun || o.Outcome == backfillDone) {
		row.Case = &o.CaseID
	}
	r.List = append(r.List, row)
}

// form returns an entry's complete form with the report as its last member.
func (r *backfillReport) form(entry []byte) ([]byte, error) {
	report, err := json.Marshal(r)
	if err != nil {
		return nil, errs.Wrap("write the report of a backfill", err)
	}
	return document.WithMember(entry, "backfill", report), nil
}

// judge answers whether a backfill would be too large.
func (c *commanded) judge(r store.Reader, root document.Value, stored *store.Entry) error {
	entry, trouble, err := c.calendars.ReadEntry(r, stored, c.req.Now)
	if err != nil || c.from.IsZero() {
		return err
	}
	if trouble != nil { // what the entry names cannot be used, not the entry
		root.Get("do").Fail(errs.CodeNotFound, "%s", strings.TrimSuffix(calendar.DetailOf(trouble), "."))
		return nil
	}
	if len(entry.Between(c.from, c.to)) > schedule.MaxBackfill {
		root.Get("to").Fail(errs.CodeRange, "covers more than %d instants; backfill them in parts", schedule.MaxBackfill)
	}
	return nil
}

// backfill creates the cases of instants that were passed by. One that has
// had a case gets no other, so that a backfill can be repeated.
func (c *commanded) backfill(tx store.Tx, stored *store.Entry, entry *schedule.Entry) error {
	c.filled = &backfillReport{List: []backfilledInstant{}}
	for _, instant := range entry.Between(c.from, c.to) {
		had, err := caseAt(tx, stored.UUID, instant)
		if err != nil {
			return err
		}
		if had != 0 {
			c.filled.add(&store.Occurrence{Instant: instant, Outcome: backfillDone, Reason: "has had a case", CaseID: had}, c.req.DryRun)
			continue
		}
		iteration, ok := entry.Backfill()
		if !ok {
			why := fmt.Sprintf("repeat: the entry has fired %d times, as often as it is to", entry.IterationsPerformed)
			c.filled.add(&store.Occurrence{Instant: instant, Outcome: backfillLeft, Reason: why}, c.req.DryRun)
			continue
		}
		f := &firing{loadedEntry: loadedEntry{stored, entry}, step: schedule.Step{Instant: instant, Iteration: iteration}}
		o := f.occurrence(OutcomeBackfilled, c.req.Now)
		again, err := c.fireInstant(tx, f, o)
		if err != nil {
			return err
		}
		if again { // its case was created beside this
			entry.Uncount(&f.step)
			o.Outcome, o.Reason, o.CaseID = backfillDone, "has had a case", 0
		}
		c.filled.add(o, c.req.DryRun)
	}
	return c.moveOn(tx, loadedEntry{stored, entry}, ChangeFired, entry.Backfilled(), c.req.Now)
}

// caseAt returns the case that an instant of an entry has had, 0 for none.
func caseAt(tx store.Tx, entry store.UUID, instant time.Time) (int64, error) {
	found, err := tx.Entries().OccurrencesBefore(entry, instant.Add(time.Millisecond), 1)
	if err != nil || len(found) == 0 || !found[0].Instant.Equal(instant) {
		return 0, err
	}
	return found[0].CaseID, nil
}
