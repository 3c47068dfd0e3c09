package engine

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Forecast returns what happens to a case if nobody does anything: by itself, on a
// clock of its own; nothing is stored. Errors: errs.NotFound if by may not see the
// case.
func (e *Cases) Forecast(ctx context.Context, by identity.Principal, id int64) (out machine.Forecast, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		row, _, err := e.findCase(r, by, Ref{CaseID: id})
		if err != nil {
			return err
		}
		if row == nil {
			return change.Absent("case")
		}
		h, err := e.decider.loadRow(r, by, row, nil)
		if err != nil {
			return err
		}
		out, err = e.decider.forecast(h)
		return err
	})
	return out, err
}

// longestForeseen is how many bytes a message has at most that a forecast reads.
const longestForeseen = 64 << 10

// forecast returns what happens to a case by itself.
func (e *decider) forecast(h *loadedCase) (machine.Forecast, error) {
	in := machine.Input{Route: h.route.Compiled, Case: h.core}
	l := &lookup{reader: h.from, find: h.find}
	return machine.Foresee(in, func(facts *machine.Facts, need machine.Need) error {
		if need.Message != "" && need.Case == 0 {
			m, err := h.find(need.Message)
			if err != nil {
				return err
			}
			if m != nil && m.Size > longestForeseen {
				return machine.ErrUnforeseen
			}
		}
		in.Facts = *facts
		err := e.fact(&in, l, need)
		*facts = in.Facts
		return err
	})
}
