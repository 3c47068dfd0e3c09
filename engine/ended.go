package engine

import (
	"time"

	"flowdrive/store"
)

const (
	// endedLasts is how long the name and form of an entry are kept after its end, by
	// the drive's clock.
	endedLasts = 30 * 24 * time.Hour
	// purgedEnded is how many old rows one change deletes at most.
	purgedEnded = 100
)

// entryEnd says how a schedule entry ends.
type entryEnd struct {
	at    time.Time
	actor string // who deletes it, "": its last instant has passed
}

// keepEnded keeps what people want to know of an entry that ends: its name, what it
// did, and who deleted it (docs/contract/drive.md#status).
func keepEnded(tx store.Tx, stored *store.Entry, given *store.GivenName, end entryEnd) error {
	kept := store.EndedEntry{UUID: stored.UUID, ContextID: stored.ContextID, Actor: end.actor, Ended: end.at, Form: stored.Form}
	if given != nil {
		kept.Author, kept.Name = given.Author, given.Name
	}
	if err := tx.Write().Entries().DeleteEndedBefore(end.at.Add(-endedLasts), purgedEnded); err != nil {
		return err
	}
	return tx.Write().Entries().PutEnded(&kept)
}
