package files

import (
	"context"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/store"
)

// Drafts and rejected content: what a user who mounts the drive has at the
// place of a document that does not exist yet, or was refused
// (docs/contract/drive.md#4-desktop-clients).

// rejectedFolder is the name of the folder for rejected content.
const rejectedFolder = "/Rejected"

// MakeDraft makes a draft at the place, for a day: nothing is validated,
// scheduled, started or performed. A draft that is there stays, beyond the end
// of a lock that has made it, and of it none is created. Errors: errs.NameTaken
// if a side file has the name; errs.Full.
func (e *Files) MakeDraft(ctx context.Context, req change.Request, at store.ScratchPlace) (created bool, err error) {
	err = e.Update(ctx, func(tx store.Tx) (err error) {
		created, err = e.makeDraft(tx, req, at, time.Time{})
		return err
	})
	e.expiry.note(err)
	return created, err
}

// makeDraft makes a draft that lives until the end of a lock, or for a day if
// until is zero.
func (e *Files) makeDraft(tx store.Tx, req change.Request, at store.ScratchPlace, until time.Time) (created bool, err error) {
	found, err := LiveScratch(tx, req.By.ID, at, req.Now)
	if err != nil {
		return false, err
	}
	if found != nil && found.Kind != store.Draft {
		return false, errs.New(errs.NameTaken, "%q is a temporary file; delete it first.", at.Name)
	}
	draft := emptyScratch(req, at, store.Draft, req.Now.Add(scratchLasts))
	if draft.Locked = !until.IsZero(); draft.Locked {
		draft.Expires = until
	}
	if found != nil {
		draft.Created = found.Created
	}
	return found == nil, e.keepScratch(tx, draft)
}

// Refusal is something that was refused.
type Refusal struct {
	Name      string             // of the file with the reasons, which replaces one of that name; "": of the time and At
	At        store.ScratchPlace // where it was to be
	MediaType string
	Body      []byte // what was sent; empty if nothing of it is kept
	Reasons   string // in plain language
}

// Reject keeps refused content with its reasons for its author, for a day: as
// "<time> <name>" and "<time> <name>.txt" in the folder Rejected. A refusal with a Name
// has its reasons alone, under that name. Errors: errs.Full
// if the quota is used up.
func (e *Files) Reject(ctx context.Context, req change.Request, r Refusal) error {
	err := e.Update(ctx, func(tx store.Tx) error {
		reasons := func(at store.ScratchPlace) error {
			return e.keepScratch(tx, rejected(req, at, "text/plain; charset=utf-8", []byte(r.Reasons)))
		}
		if r.Name != "" {
			return reasons(RejectedAt(store.ScratchPlace{Folder: r.At.Folder, Name: r.Name}))
		}
		at, err := e.rejectedPlace(tx, req, r)
		if err != nil {
			return err
		}
		if len(r.Body) > 0 {
			if err := e.keepScratch(tx, rejected(req, at, r.MediaType, r.Body)); err != nil {
				return err
			}
		}
		at.Name += ".txt"
		return reasons(at)
	})
	e.expiry.note(err)
	return err
}

// RejectedAt returns the place of that name in the folder Rejected of the place's
// folder.
func RejectedAt(at store.ScratchPlace) store.ScratchPlace {
	return store.ScratchPlace{Folder: at.Folder + rejectedFolder, Name: at.Name}.Normal()
}

// rejectedPlace returns where refused content is kept: the place of the same content
// under the same name if it was refused before, as a client that tries again does.
func (e *Files) rejectedPlace(r store.Reader, req change.Request, refused Refusal) (store.ScratchPlace, error) {
	at := store.ScratchPlace{Folder: refused.At.Folder + rejectedFolder}
	there, err := r.Scratch().In(req.By.ID, at.Folder)
	if err != nil {
		return at, err
	}
	at.Name = GeneratedName(req.Now, refused.At.Name)
	at = at.Normal()
	name := at.Name[len(timeInName):]
	taken := map[string]bool{}
	for i := range there {
		s := &there[i]
		taken[s.Place.Name] = true
		again := len(s.Place.Name) > len(timeInName) && s.Place.Name[len(timeInName):] == name
		if again && s.SHA256 == store.DigestOf(refused.Body) && s.Expires.After(req.Now) {
			return s.Place, nil
		}
	}
	for when := req.Now; taken[at.Name] || taken[at.Name+".txt"]; { // two within a second
		when = when.Add(time.Second)
		at.Name = when.UTC().Format(timeInName) + name
	}
	return at, nil
}

func rejected(req change.Request, at store.ScratchPlace, mediaType string, body []byte) *store.Scratch {
	s := emptyScratch(req, at, store.Rejected, req.Now.Add(scratchLasts))
	s.MediaType, s.Size, s.SHA256, s.Content = mediaType, int64(len(body)), store.DigestOf(body), body
	return s
}

// GeneratedName returns "<time> <name>" (docs/contract/drive.md#legal-names). A
// name that is cut keeps its extension.
func GeneratedName(when time.Time, name string) string {
	stem, ext := name, ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= len(".partial") {
		stem, ext = name[:i], filename.Safe(name[i:])
	}
	return filename.Titled(when.UTC().Format(timeInName), stem, ext)
}

// timeInName is how times stand in names.
const timeInName = "20060102T150405Z"
