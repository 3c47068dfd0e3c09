package web

import (
	"fmt"
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

// foreseenInstants is how many instants of an entry are foreseen.
const foreseenInstants = 3

// foreseeEntry returns what an entry does that has not ended.
func (x *visit) foreseeEntry(e *engine.EntryView) *forecastView {
	if !e.Ended.IsZero() {
		return nil
	}
	says := status.Entry{Zone: status.Zone{Location: x.Words.zone}, Entry: e.Entry, Next: schedule.Preview(e.Entry, e.NextIteration, foreseenInstants), Trouble: e.Trouble}
	f := &forecastView{}
	switch {
	case e.Paused:
		f.Outlook = "Nothing, until it is resumed."
		return f
	case e.Disabled:
		f.Outlook = "Nothing, as long as its owner is disabled."
		return f
	case e.Trouble != "", len(says.Next) == 0:
		f.Outlook = says.Outlook()
		return f
	}
	text := "Starts a case of " + e.Route
	for _, at := range says.Next {
		f.Steps = append(f.Steps, foreseenStep{When: x.Words.Time(at, x.Words.Moment(at)), Text: text})
	}
	f.Outlook = outlookOfEntry(e.Entry, len(says.Next))
	return f
}

// outlookOfEntry says how an entry goes on after the instants that a page lists.
func outlookOfEntry(e *schedule.Entry, listed int) string {
	left := e.IterationsRemaining - int64(listed)
	switch {
	case e.LastError != "":
		return "They fail, too, unless the cause of the last failure is mended."
	case len(e.CannotStart) > 0:
		return "They fail as long as the entry is as the warning says."
	case listed < foreseenInstants, e.Type == schedule.TypeSimple, left == 0:
		return "Then it has fired for the last time."
	case left > 0:
		return fmt.Sprintf("And so on, %s more.", plural(int(left), "time"))
	}
	return "And so on."
}
