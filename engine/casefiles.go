package engine

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// InputName returns the name of the file that is the input of a case, "" if it was
// none. Errors: errs.NotFound if by may not see the case.
func (e *Cases) InputName(ctx context.Context, by identity.Principal, id int64) (name string, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		row, _, err := e.findCase(r, by, Ref{CaseID: id})
		if err != nil {
			return err
		}
		if row == nil {
			return change.Absent("case")
		}
		c, err := machine.ReadMarking(row.Marking)
		if err != nil {
			return errs.Wrap("read the marking of a case", err)
		}
		name = filename.Safe(c.InputName)
		return nil
	})
	return name, err
}
