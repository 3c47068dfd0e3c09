package web

import (
	"html/template"

	"flowdrive/engine"
	"flowdrive/engine/status"
	"flowdrive/schedule"
)

// forecastView is what happens if nobody does anything.
type forecastView struct {
	Steps   []foreseenStep
	Outlook string
}

// foreseenStep is something that happens by itself.
type foreseenStep struct {
	When template.HTML
	Text string
	To   string
}

// foreseeCase adds what happens to a case that has not ended, by the engine's own
// decisions on a clock of their own. Nothing is stored.
func (x *visit) foreseeCase(v *caseView, d *engine.CaseDetail) error {
	if d.Case.Life.Ended() || d.Archived != 0 {
		return nil
	}
	found, err := x.Queries.Forecast(x.r.Context(), x.by, v.ID)
	if err != nil {
		return err
	}
	says := status.Case{Zone: status.Zone{Location: x.Words.zone}, Case: d.Case, Route: d.Route, Forecast: found}
	v.Forecast = &forecastView{Outlook: says.Outlook()}
	for i := range found.Steps {
		s := found.Steps[i]
		to := s.To
		if s.To = ""; to != "" {
			to = stateTitle(d.Route, to)
		}
		v.Forecast.Steps = append(v.Forecast.Steps, foreseenStep{When: x.Words.Time(s.At, x.Words.Moment(s.At)), Text: says.Foreseen(&s), To: to})
	}
	return nil
}

// foreseeEntry returns what an entry does that has not ended.
func (x *visit) foreseeEntry(e *engine.EntryView) *forecastView {
	const steps = 3
	if !e.Ended.IsZero() {
		return nil
	}
	next := schedule.Preview(e.Entry, e.NextIteration, steps)
	says := status.Entry{Zone: status.Zone{Location: x.Words.zone}, Entry: e.Entry, Next: next, Trouble: e.Trouble}
	f := &forecastView{Outlook: says.Outlook()}
	for _, at := range next {
		f.Steps = append(f.Steps, foreseenStep{When: x.Words.Time(at, x.Words.Moment(at)), Text: "Starts a case of " + e.Route})
	}
	return f
}
