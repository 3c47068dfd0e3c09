package scratch

import (
	"context"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// noteSuffix is the end of the name of a note in Rejected/.
const noteSuffix = ".txt"

// NoteIdle leaves a note in the folder Rejected about a side file that does nothing,
// although its user may think so: "<time> <name>.txt". The note goes with the side file.
// Errors: errs.Full if the quota is used up.
func (a *Area) NoteIdle(ctx context.Context, req change.Request, at store.ScratchPlace, text string) error {
	err := a.Update(ctx, func(tx store.Tx) error {
		if err := dropNotes(tx, req.By.ID, at); err != nil {
			return err
		}
		note := store.ScratchPlace{Folder: at.Folder + rejectedFolder, Name: filename.Stamped(req.Now, at.Name) + noteSuffix}
		return a.keep(tx, rejected(req, note, "text/plain; charset=utf-8", []byte(text)))
	})
	a.expiry.Stored(err)
	return err
}

// dropNotes deletes the notes about a side file that is no longer at the place.
func dropNotes(tx store.Tx, author identity.ID, at store.ScratchPlace) error {
	rows, err := tx.Scratch().In(author, at.Folder+rejectedFolder)
	if err != nil {
		return err
	}
	name := filename.Stamped(time.Time{}, at.Normal().Name)[len(filename.Stamp):] + noteSuffix
	for i := range rows {
		if place := rows[i].Place; strings.HasSuffix(place.Name, name) && len(place.Name) == len(filename.Stamp)+len(name) {
			if err := tx.Write().Scratch().Delete(author, place); err != nil {
				return err
			}
		}
	}
	return nil
}
