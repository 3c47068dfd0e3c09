package machine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// Limits of a forecast. The expressions of all its events together may cost as much
// as a sixth of those of one event, because a listing may need many forecasts.
const (
	maxForeseenEvents = 20
	maxForeseenSteps  = 40
	maxForecastCost   = MaxCost / 6
)

// ErrUnforeseen says that a fact takes too long to find for a forecast.
var ErrUnforeseen = errors.New("machine: this cannot be foreseen")

// Foreseen is something that happens to a case by itself.
type Foreseen struct {
	At     time.Time
	Kind   LogKind
	Action string // the title of the action that it is about, "" for none
	Timer  string // of an expiry: the name of the timer
	Text   string // what the log would say
	To     string // the status that it leads to, "" if that stays
}

// Outlook says why a forecast ends.
type Outlook string

// Why a forecast ends.
const (
	OutlookEnded   Outlook = "ended"   // the case has come to its end
	OutlookWaits   Outlook = "waits"   // nothing more happens by itself
	OutlookQueued  Outlook = "queued"  // it waits for its turn to start
	OutlookOutside Outlook = "outside" // what comes then depends on an answer from outside the drive
	OutlookOthers  Outlook = "others"  // it depends on other cases
	OutlookMore    Outlook = "more"    // it goes on, farther than a forecast looks
	OutlookUnknown Outlook = "unknown" // the engine could not do what is due, or it takes too long to find out
)

// Forecast is what happens to a case if nobody does anything.
type Forecast struct {
	Steps []Foreseen // in order of time
	Then  Outlook
	Case  *Case // as it is then
}

// Foresee returns what happens to the case of the input if nobody does anything, by
// deciding on one event after another, each at the instant at which it is due.
// Nothing is stored. Reminders are left out. The Event and Now of the input do not count. find adds the fact
// that is needed to the facts, or returns an error. It is asked for facts about other
// cases of the tree and about parties, not for those that take long to find.
//
// A forecast takes it that mails are sent, and is bounded. It ends early if what comes then depends on answers from
// outside or on other cases, such as children that are to be created.
func Foresee(in Input, find func(*Facts, Need) error) (Forecast, error) {
	f := forecaster{in: in, find: find}
	f.out.Case = in.Case
	f.in.Tell, f.in.foresees = false, true
	f.in.Facts.Messages = maps.Clone(f.in.Facts.Messages)
	for range maxForeseenEvents {
		event, at, end := nextEvent(f.out.Case)
		if end == "" {
			f.in.Event, f.in.Now = event, at
			var err error
			if end, err = f.step(); err != nil {
				return Forecast{}, err
			}
		}
		if end != "" {
			f.out.Then = end
			return f.out, nil
		}
	}
	f.out.Then = OutlookMore
	return f.out, nil
}

// nextEvent returns the event that comes next to a case by itself, and when. If there is
// none it says why.
func nextEvent(c *Case) (event Event, at time.Time, end Outlook) {
	switch {
	case c.Life.Ended() && (c.Life != Completed || c.NextDue().IsZero()):
		return nil, at, OutlookEnded
	case c.IsDraft():
		return Due{}, c.Draft.Ends, ""
	case c.Life == Queued && c.NextDue().IsZero():
		return nil, at, OutlookQueued
	case c.Life == Queued:
		return Start{}, c.NextDue(), ""
	case c.Sending():
		if o := c.mailUnderway(); o != nil {
			return Delivered{Seq: o.Seq, Step: o.Step}, o.At, ""
		}
		return nil, at, OutlookOutside
	case c.NextDue().IsZero() && slices.ContainsFunc(c.Enabled, func(e Enabled) bool { return e.Children != nil }):
		return nil, at, OutlookOthers
	case c.NextDue().IsZero():
		return nil, at, OutlookWaits
	}
	return Due{}, c.NextDue(), ""
}

// mailUnderway returns a mail that is to be sent, nil for none. Nothing depends on an answer
// to it, so that a forecast goes on as if it were sent; not so one that has failed before.
func (c *Case) mailUnderway() *Outgoing {
	i := slices.IndexFunc(c.Outbox, func(o Outgoing) bool {
		return o.Verb == route.StepMail && !o.Failed && o.Attempts == 0 && o.Delay == nil
	})
	if i < 0 {
		return nil
	}
	return &c.Outbox[i]
}

// forecaster makes a forecast.
type forecaster struct {
	in   Input
	find func(*Facts, Need) error
	cost uint64
	out  Forecast
}

// step decides on the next event. end says why no other follows, "" if one may.
func (f *forecaster) step() (end Outlook, err error) {
	const rounds = 100
	f.in.Case = f.out.Case
	for range rounds {
		d, err := run(f.in)
		switch {
		case d != nil && len(d.needs) > 0:
			if end, err := f.lookUp(d.needs); end != "" || err != nil {
				return end, err
			}
			continue
		case errs.Is(err, errs.Internal):
			return "", err
		case err != nil:
			return OutlookUnknown, nil //nolint:nilerr // what the route would do cannot be known; that is the forecast
		}
		if f.cost += d.values.Cost; f.cost >= maxForecastCost {
			return OutlookUnknown, nil
		}
		return f.take(d), nil
	}
	return OutlookUnknown, nil
}

// lookUp finds facts, unless one of them tells that the forecast ends.
func (f *forecaster) lookUp(needs []Need) (end Outlook, err error) {
	for _, need := range needs {
		switch {
		case need.Filter != Filter{}, need.Call != Call{}:
			return OutlookOutside, nil
		case need.New > 0, need.ChildIDs.Case != 0, need.Children.Case != 0, need.Plan.Case != 0:
			return OutlookOthers, nil
		}
		if err := f.find(&f.in.Facts, need); errors.Is(err, ErrUnforeseen) {
			return OutlookUnknown, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", nil
}

// take takes an event that was decided into the forecast.
func (f *forecaster) take(d *caseDecision) (end Outlook) {
	before, out := f.out.Case, d.result()
	if out.Case.Revision == before.Revision && out.Case.NextDue().Equal(before.NextDue()) {
		return OutlookWaits // such as below an ancestor that is suspended
	}
	f.out.Case = out.Case
	for i := range out.Log {
		f.add(&out.Log[i], d.route)
	}
	for _, m := range out.Messages {
		if f.in.Facts.Messages == nil {
			f.in.Facts.Messages = map[string][]byte{}
		}
		f.in.Facts.Messages[m.Label] = m.Content
	}
	switch {
	case len(f.out.Steps) >= maxForeseenSteps:
		return OutlookMore
	case len(out.Others) > 0 && !out.Case.Life.Ended():
		return OutlookOthers
	}
	return ""
}

// add adds what an entry of the log would say.
func (f *forecaster) add(e *LogEntry, r *route.Route) {
	if len(f.out.Steps) >= maxForeseenSteps || e.Kind == LogRoles || e.Kind == LogMessage {
		return
	}
	s := Foreseen{At: e.Time, Kind: e.Kind, Text: e.Text}
	if e.Action != nil {
		if s.Action = *e.Action; r.Action(s.Action) != unknown {
			a := &r.Actions[r.Action(s.Action)]
			s.Action = cmp.Or(a.Title, a.Name)
		}
	}
	if e.To != nil && e.Kind != LogLife {
		s.To = *e.To
	}
	if e.Kind == LogTimer {
		s.Timer, _, _ = strings.Cut(strings.TrimPrefix(e.Text, expiredPrefix), " ")
	}
	f.out.Steps = append(f.out.Steps, s)
}
