package engine

import (
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/status"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// troubleSuspended is that a case is suspended, and nothing resumes it by itself. That it
// was suspended is told as what somebody did. People are told of the trouble a day later:
// somebody may have forgotten it by then
// (docs/contract/routes.md#cases-that-stay-suspended).
const troubleSuspended = "suspended"

// isLeftSuspended reports whether a case stays suspended until somebody resumes it. One
// that is suspended with an ancestor resumes with that.
func isLeftSuspended(c *machine.Case) bool {
	return c != nil && c.Life == machine.Suspended && c.SuspendedSelf && c.SuspendedUntil.IsZero()
}

// suspension returns the trouble that the change has suspended the case, nil if it has not.
func (c *caseChange) suspension() []named {
	if !isLeftSuspended(c.after) || isLeftSuspended(c.was) {
		return nil
	}
	text := "a step of its route has suspended it"
	for _, entry := range slices.Backward(c.log) {
		if entry.Kind != machine.LogLife || entry.Actor == nil {
			continue
		}
		if text = *entry.Actor + " has suspended it"; entry.Comment != nil {
			text += ": " + machine.OneLine(*entry.Comment)
		}
		break
	}
	return []named{{troubleSuspended, trouble{What: notice.WhatSuspended, Text: text}}}
}

// isQuiet reports whether people are told of it when they would be told again, and not at
// once.
func (t *trouble) isQuiet() bool { return t.What == notice.WhatSuspended }

// lateSuspended adds a case that stays suspended until somebody resumes it.
func (l *statusLook) lateSuspended(r store.Reader, id int64, late *status.Late) error {
	row, err := store.OrNil(r.Cases().Get(id))
	if err != nil || row == nil {
		return err
	}
	c, err := l.caseOf(r, row.Marking)
	if err != nil {
		return errs.Wrap("read a suspended case", err)
	}
	if !isLeftSuspended(c) {
		return nil
	}
	if concerns, err := l.concerns(r, row, c); err != nil || !concerns {
		return err
	}
	item := status.LateItem{Kind: status.LateWarning, Case: c.ID, Title: c.Title, Since: c.Modified, Text: "It is suspended, and nothing resumes it by itself."}
	if l.by.In(row.StarterID) || l.administers(row.RouteID) {
		item.May = status.LateMayResume
	}
	rows, err := r.Troubles().OfCase(id)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Name != troubleSuspended {
			continue
		}
		told, err := readTrouble(&rows[i])
		if err != nil {
			return err
		}
		item.Since, item.Text = told.Since, "It stays suspended until it is resumed: "+told.Text+"."
	}
	late.Items = append(late.Items, item)
	return nil
}
