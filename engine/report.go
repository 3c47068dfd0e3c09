package engine

import (
	"context"
	"encoding/json"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// mostReported is how many cases a report is made of: the newest, and as many of the
// archive.
const mostReported = 1000

// Report is what became of the cases of a route that somebody sees.
type Report struct {
	Route *route.Route // its current version
	Cases []ReportCase // the newest first, then those of the archive
	Cut   bool         // there are older ones
}

// ReportCase is a case of a report.
type ReportCase struct {
	ID           int64
	Title        string
	Starter      string
	Life         machine.Life
	Status       string
	Begun, Ended time.Time      // Ended is zero of an open case
	Visits       []Visit        // the states in which it was, in order
	Waits        []machine.Wait // what an open case waits for
}

// Visit is the stay of a case in a state.
type Visit struct {
	State         string
	Entered, Left time.Time // Left is zero if the case is in it still
}

// Report returns what became of the cases of the route that by sees. Errors:
// errs.NotFound if by may not see the route.
func (e *Cases) Report(ctx context.Context, by identity.Principal, name string) (*Report, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	used, err := e.used(ctx, info)
	if err != nil {
		return nil, err
	}
	out := &Report{Route: used.Compiled}
	for _, archived := range []bool{false, true} {
		page, err := e.NewestCases(ctx, by, NewestQuery{Route: info.Name, Archived: archived, Limit: mostReported, Each: func(v *CaseView) error {
			out.Cases = append(out.Cases, reportOf(v)) // XATTRs, which may be large, are not held
			return nil
		}})
		if err != nil {
			return nil, err
		}
		out.Cut = out.Cut || page.Next != 0
	}
	err = e.Store.View(ctx, func(r store.Reader) error {
		for i := range out.Cases {
			c := &out.Cases[i]
			log, err := r.Cases().Log(c.ID)
			if errs.Is(err, errs.NotFound) {
				continue // it was deleted meanwhile
			}
			if err != nil {
				return err
			}
			if c.Visits, err = visitsOf(log, c.Ended); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func reportOf(v *CaseView) ReportCase {
	c := v.Case
	out := ReportCase{ID: c.ID, Title: c.Title, Starter: c.Starter, Life: c.Shown(), Status: c.Status, Begun: c.Started, Ended: c.Ended}
	if out.Ended.IsZero() && c.Life == machine.Completed {
		out.Ended = c.Completed
	}
	if c.Life == machine.Active {
		out.Waits = machine.Waits(c, v.Route)
	}
	return out
}

// visitsOf reads from a log in which states the case was. The end of the case ends the
// last visit.
func visitsOf(log []byte, ended time.Time) (out []Visit, err error) {
	var entries []struct {
		Time time.Time       `json:"time"`
		Kind machine.LogKind `json:"kind"`
		To   *string         `json:"to"`
	}
	if err := json.Unmarshal(log, &entries); err != nil {
		return nil, errs.Wrap("read the log of a case", err)
	}
	for _, entry := range entries {
		if entry.To == nil || entry.Kind != machine.LogAction && entry.Kind != machine.LogState {
			continue
		}
		if n := len(out); n > 0 && out[n-1].State == *entry.To {
			continue
		} else if n > 0 {
			out[n-1].Left = entry.Time
		}
		out = append(out, Visit{State: *entry.To, Entered: entry.Time})
	}
	if n := len(out); n > 0 && !ended.IsZero() {
		out[n-1].Left = ended
	}
	return out, nil
}
