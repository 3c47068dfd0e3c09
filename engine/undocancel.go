package engine

import (
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// To delete the file of a case on a mounted drive cancels it, and it is in no listing of
// Cases/ any more. People do so by mistake. So who has canceled a case may reopen it for a
// while, and finds it in Done/ and in Status/cases/ (docs/contract/drive.md#undo-a-cancel).

// UndoCancel is how long who has canceled a case may reopen it.
const UndoCancel = 15 * time.Minute

// cancelDone is the name in Done/ of what a person does who cancels a case.
const cancelDone = "cancel"

// mayUndoCancel reports whether the caller has canceled the case, so lately that the caller
// may reopen it.
func mayUndoCancel(req Request, c *machine.Case) bool {
	m := c.Moved
	return c.Life == machine.Canceled && m != nil && identity.Fold(m.By) == identity.Fold(string(req.By.Name)) && req.Now.Before(m.At.Add(UndoCancel))
}

// doneAction returns the name in Done/ of what a person did in a case, "" for what is not
// listed there, and how it can be undone.
func doneAction(id int64, entry *machine.LogEntry) (name, undo string) {
	switch {
	case entry.Trigger == nil || *entry.Trigger != machine.ByUser || entry.Actor == nil:
		return "", ""
	case entry.Kind == machine.LogAction && entry.Action != nil:
		return *entry.Action, ""
	case entry.Kind == machine.LogLife && entry.To != nil && *entry.To == string(machine.Canceled):
		until := entry.Time.Add(UndoCancel).UTC().Format(time.RFC3339)
		return cancelDone, fmt.Sprintf(`Until %s: save {"state": "active"} as Cases/%d.json.`, until, id)
	}
	return "", ""
}

// canceledLately returns the cases that the user has canceled in the last days and that are
// canceled still, in order of their ids: as long as Done/ has them.
func (e *Status) canceledLately(r store.Reader, by identity.Principal) ([]*store.Case, error) {
	rows, err := r.Cases().Done(by.ID, e.Clock.Now().Add(-doneLasts), mostDone)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for i := range rows {
		if rows[i].Action == cancelDone {
			ids = append(ids, rows[i].CaseID)
		}
	}
	slices.Sort(ids)
	var out []*store.Case
	for _, id := range slices.Compact(ids) {
		row, _, err := e.findCase(r, by, Ref{CaseID: id})
		if err != nil {
			return nil, err
		}
		if row != nil && row.State == string(machine.Canceled) {
			out = append(out, row)
		}
	}
	return out, nil
}
