package scratch

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
func (a *Area) MakeDraft(ctx context.Context, req change.Request, at store.ScratchPlace) (created bool, err error) {
	err = a.Update(ctx, func(tx store.Tx) (err error) {
		created, err = a.makeDraft(tx, req, at, time.Time{})
		return err
	})
	a.expiry.Stored(err)
	return created, err
}

// makeDraft makes a draft that lives until the end of a lock, or for a day if
// until is zero.
func (a *Area) makeDraft(tx store.Tx, req change.Request, at store.ScratchPlace, until time.Time) (created bool, err error) {
	found, err := Live(tx, req.By.ID, at, req.Now)
	if err != nil {
		return false, err
	}
	if found != nil && found.Kind != store.Draft {
		return false, errs.New(errs.NameTaken, "%q is a temporary file; delete it first.", at.Name)
	}
	draft := empty(req, at, store.Draft, req.Now.Add(lasts))
	if draft.Locked = !until.IsZero(); draft.Locked {
		draft.Expires = until
	}
	if found != nil {
		draft.Created = found.Created
	}
	return found == nil, a.keep(tx, draft)
}

// Refusal is something that was refused.
type Refusal struct {
	Name      string             // of the file with the reasons, which replaces one of that name; "": of the time and At
	At        store.ScratchPlace // the folder above its Rejected/, and the name that it was to have
	Path      string             // where it was to be, with which the reasons begin
	MediaType string
	Body      []byte // what was sent; empty if nothing of it is kept
	Reasons   string // in plain language
}

// Reject keeps refused content with its reasons for its author, for a day: as
// "<time> <name>" and "<time> <name>.txt" in the folder Rejected. A refusal with a Name
// has its reasons alone, under that name. Errors: errs.Full
// if the quota is used up.
func (a *Area) Reject(ctx context.Context, req change.Request, r Refusal) error {
	err := a.Update(ctx, func(tx store.Tx) error {
		reasons := func(at store.ScratchPlace) error {
			return a.keep(tx, rejected(req, at, "text/plain; charset=utf-8", []byte(r.Reasons)))
		}
		if r.Name != "" {
			return reasons(RejectedAt(store.ScratchPlace{Folder: r.At.Folder, Name: r.Name}))
		}
		at, err := a.rejectedPlace(tx, req, r)
		if err != nil {
			return err
		}
		if len(r.Body) > 0 {
			if err := a.keep(tx, rejected(req, at, r.MediaType, r.Body)); err != nil {
				return err
			}
		}
		at.Name += ".txt"
		return reasons(at)
	})
	a.expiry.Stored(err)
	return err
}

// RejectedAt returns the place of that name in the folder Rejected of the place's
// folder.
func RejectedAt(at store.ScratchPlace) store.ScratchPlace {
	return store.ScratchPlace{Folder: at.Folder + rejectedFolder, Name: at.Name}.Normal()
}

// rejectedPlace returns where refused content is kept: the place of the same content
// if it was refused before at the same address, as to a client that tries again. Several
// folders share a Rejected/, so that the name alone does not tell the address.
func (a *Area) rejectedPlace(r store.Reader, req change.Request, refused Refusal) (store.ScratchPlace, error) {
	at := store.ScratchPlace{Folder: refused.At.Folder + rejectedFolder}
	there, err := r.Scratch().In(req.By.ID, at.Folder)
	if err != nil {
		return at, err
	}
	at.Name = filename.Stamped(req.Now, refused.At.Name)
	at = at.Normal()
	name := at.Name[len(filename.Stamp):]
	taken := map[string]bool{}
	for i := range there {
		s := &there[i]
		taken[s.Place.Name] = true
		again := len(s.Place.Name) > len(filename.Stamp) && s.Place.Name[len(filename.Stamp):] == name
		if again && s.SHA256 == store.DigestOf(refused.Body) && s.Expires.After(req.Now) {
			is, err := isAbout(r, s, refused.Path)
			if err != nil {
				return at, err
			}
			if is {
				return s.Place, nil
			}
		}
	}
	for when := req.Now; taken[at.Name] || taken[at.Name+".txt"]; { // two within a second
		when = when.Add(time.Second)
		at.Name = when.UTC().Format(filename.Stamp) + name
	}
	return at, nil
}

// isAbout reports whether refused content was to be at the address: the reasons beside it
// say so. What has none there any more is not about anything else.
func isAbout(r store.Reader, content *store.Scratch, address string) (bool, error) {
	at := content.Place
	at.Name += ".txt"
	reasons, err := store.OrNil(r.Scratch().Get(content.Author, at))
	return err == nil && (reasons == nil || strings.HasPrefix(string(reasons.Content), address+" ")), err
}

func rejected(req change.Request, at store.ScratchPlace, mediaType string, body []byte) *store.Scratch {
	s := empty(req, at, store.Rejected, req.Now.Add(lasts))
	s.MediaType, s.Size, s.SHA256, s.Content = mediaType, int64(len(body)), store.DigestOf(body), body
	return s
}
