package engine

import (
	"context"
	"strings"
	"time"

	"flowdrive/errs"
	"flowdrive/identity"
)

// Drafts and rejected content: what whoever mounts the drive keeps in the
// place of a document that is not there yet, or was refused (design: the
// drive, section 4).

// rejectedFolder is where rejected content lies in its folder.
const rejectedFolder = "/Rejected"

// MakeDraft makes a draft at the place, for a day or until the lock ends that
// makes it: nothing is validated, scheduled, started or performed. A draft
// that is there stays, of which it reports that none was created; what makes
// it without a lock keeps it beyond the lock of another.
func (e *Engine) MakeDraft(ctx context.Context, req Request, at ScratchPlace, until time.Time) (created bool, err error) {
	err = e.update(ctx, func(tx Tx) error {
		found, err := liveScratch(tx, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found != nil && found.Kind != Draft {
			return errs.New(errs.NameTaken, "%q is a temporary file; delete it first.", at.Name)
		}
		if found != nil && !found.Locked && !until.IsZero() {
			return nil
		}
		draft := emptyScratch(req, at, Draft, req.Now.Add(scratchLasts))
		if draft.Locked = !until.IsZero(); draft.Locked {
			draft.Expires = until
		}
		if created = found == nil; !created {
			draft.Created = found.Created
		}
		return e.keepScratch(tx, draft)
	})
	e.expiry.note(err)
	return created, err
}

// EndDraft deletes the draft at the place, if there is one; after a lock ends
// only one that the lock made.
func (e *Engine) EndDraft(ctx context.Context, by identity.Principal, at ScratchPlace, unlocked bool) error {
	return e.update(ctx, func(tx Tx) error {
		found, err := orNil(tx.Scratch(by.ID, at.normal()))
		if err != nil || found == nil || found.Kind != Draft || unlocked && !found.Locked {
			return err
		}
		return tx.DeleteScratch(by.ID, found.Place)
	})
}

// Refusal is a document that was refused.
type Refusal struct {
	At        ScratchPlace // where it was PUT
	MediaType string
	Body      []byte
	Reasons   string // in plain language
}

// Reject keeps refused content with its reasons for its author, for a day: as
// "<time> <name>" and "<time> <name>.txt" in the folder Rejected.
func (e *Engine) Reject(ctx context.Context, req Request, r Refusal) error {
	err := e.update(ctx, func(tx Tx) error {
		at := ScratchPlace{Folder: r.At.Folder + rejectedFolder}
		for when := req.Now; ; when = when.Add(time.Second) { // two within a second
			at.Name = generatedName(when, r.At.Name)
			there, err := orNil(tx.Scratch(req.By.ID, at.normal()))
			if err != nil {
				return err
			}
			if there == nil || there.SHA256 == digestOf(r.Body) {
				break
			}
		}
		content := rejected(req, at, r.MediaType, r.Body)
		if err := e.keepScratch(tx, content); err != nil {
			return err
		}
		at.Name += ".txt"
		return e.keepScratch(tx, rejected(req, at, "text/plain; charset=utf-8", []byte(r.Reasons)))
	})
	e.expiry.note(err)
	return err
}

func rejected(req Request, at ScratchPlace, mediaType string, body []byte) *Scratch {
	s := emptyScratch(req, at, Rejected, req.Now.Add(scratchLasts))
	s.MediaType, s.Size, s.SHA256, s.Content = mediaType, int64(len(body)), digestOf(body), body
	return s
}

// mostGenerated is how many bytes of a name a generated one keeps.
const mostGenerated = 80

// generatedName returns "<time> <name>" (design: the drive, section 3, Legal
// names).
func generatedName(when time.Time, name string) string {
	name = strings.Map(func(r rune) rune {
		if unwritable(r) || strings.ContainsRune(`\/:*?"<>|@`, r) {
			return '_'
		}
		return r
	}, name)
	if len(name) > mostGenerated {
		stem, ext := name, ""
		if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= len(".partial") {
			stem, ext = name[:i], name[i:]
		}
		stem = strings.ToValidUTF8(stem[:min(len(stem), mostGenerated-len(ext))], "")
		name = stem + ext
	}
	return when.UTC().Format(timeInName) + " " + name
}

// timeInName is how times stand in names.
const timeInName = "20060102T150405Z"
