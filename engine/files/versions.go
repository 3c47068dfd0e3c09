package files

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/quota"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// What is overwritten or deleted in Documents/ is kept as a version
// (docs/contract/labels-attachments.md#history-of-documents).

// HistoryName is the name under which a folder has its versions.
const HistoryName = ".history"

// Retention says which versions of documents are kept.
type Retention struct {
	Lasts time.Duration // how long, by the drive's clock; 0 or less: none are
	Most  int           // how many of one name
}

const (
	// droppedVersions bounds how many versions that are too old one change drops.
	droppedVersions = 100
	// mostDropped bounds how many of the oldest one change drops for room.
	mostDropped = 4096
)

// keeps reports whether what is at the place becomes a version when it is
// overwritten or deleted: not what is empty, and not the temporary files of editors.
func (e *Files) keeps(r store.Reader, at *Place) (bool, error) {
	if e.retention.Lasts <= 0 || at.temporary() {
		return false, nil
	}
	if !at.Found.Folder {
		return at.Found.Size > 0, nil
	}
	members, err := r.Documents().Page(at.Found.ID, 0, 1)
	return len(members) > 0, err
}

// temporary reports whether the path has a name of temporary files.
func (at *Place) temporary() bool { return slices.ContainsFunc(at.Path[1:], filename.Temporary) }

// keepReplaced keeps what the file at the place is, before its content becomes
// another one.
func (e *Files) keepReplaced(tx store.Tx, req change.Request, at *Place, sum store.Digest) error {
	if at.Found.SHA256 == sum {
		return nil
	}
	return e.keepCopy(tx, req, at)
}

// keepCopy makes a version of the file at the place, which stays.
func (e *Files) keepCopy(tx store.Tx, req change.Request, at *Place) error {
	kept, err := e.keeps(tx, at)
	if err != nil || !kept {
		return err
	}
	v, err := e.newVersion(tx, req, at)
	if err == nil {
		err = tx.Write().Documents().Versions().KeepCopy(v)
	}
	return err
}

// keepMoved keeps the file of a MOVE that gives it the name of a temporary file, as
// editors do with what they replace and delete then.
func (x *transferring) keepMoved() error {
	if x.past != nil || x.from.Found.Folder || x.from.temporary() || !x.to.temporary() {
		return nil
	}
	err := x.keepCopy(x.tx, x.req, x.from)
	if err == nil {
		err = x.bound(x.tx, x.req, x.from)
	}
	if err == nil {
		err = x.makeRoom(x.tx, x.from.Found.AuthorID)
	}
	if errors.Is(err, quota.ErrUsedUp) {
		return nil // a new name needs no room
	}
	return err
}

// newVersion describes what is at the place as it is found in .history/.
func (e *Files) newVersion(r store.Reader, req change.Request, at *Place) (*store.Version, error) {
	v := &store.Version{
		Document: *at.Found, Place: at.versions(), Replaced: req.Now, Replacer: req.By.ID, Owner: at.Found.AuthorID,
	}
	v.Name = at.Path[len(at.Path)-1]
	if v.Folder {
		v.Owner = req.By.ID
	}
	for {
		v.Shown = e.shownName(v, at.Root)
		taken, err := r.Documents().Versions().Taken(v.Place, v.Shown)
		if err != nil || !taken {
			return v, err
		}
		v.Replaced = v.Replaced.Add(time.Second) // two within a second
	}
}

// versions is where versions of what is at the place are kept.
func (at *Place) versions() store.VersionPlace {
	return store.VersionPlace{Context: at.Root.ID, Folder: strings.Join(at.Path[1:len(at.Path)-1], "/")}
}

// longestShown is how many bytes a name keeps in .history/: file systems take 255, with
// time and author.
const longestShown = 160

// shownName is "<time> <name>". What several people write tells the author, too. A long
// name is cut, and has the number of the document, so that it does not meet others.
func (e *Files) shownName(v *store.Version, root *identity.Party) string {
	stem, ext := v.Name, ""
	if i := strings.LastIndexByte(stem, '.'); i > 0 && len(stem)-i <= len(".partial") {
		stem, ext = stem[:i], stem[i:]
	}
	if len(stem) > longestShown {
		stem = filename.Cut(stem, longestShown) + " " + strconv.FormatInt(v.ID, 10)
	}
	if author := e.accounts.Table().Directory().ByID(v.AuthorID); root.Kind == identity.Team && !v.Folder && author != nil {
		stem += "@" + string(author.Name)
	}
	return v.Replaced.UTC().Format(filename.Stamp) + " " + stem + ext
}

// bound drops the versions of the name at the place that are too many or too close,
// and some that are too old.
func (e *Files) bound(tx store.Tx, req change.Request, at *Place) error {
	if e.retention.Lasts <= 0 {
		return nil
	}
	tx.AfterCommit(func() { e.expiry.Stored(nil) })
	dropped, err := tx.Write().Documents().Versions().DropBefore(req.Now.Add(-e.retention.Lasts), droppedVersions)
	if err != nil {
		return err
	}
	all, err := tx.Documents().Versions().Of(at.versions(), at.Path[len(at.Path)-1])
	if err != nil {
		return err
	}
	drop := thinned(all, req.Now, e.retention.Most)
	for _, id := range drop {
		if err := tx.Write().Documents().Versions().Drop(id); err != nil {
			return err
		}
	}
	if dropped+len(drop) > 0 {
		e.contents.RouseAfter(tx)
	}
	return nil
}

// newestVersions is how many of a name stay however close they are.
const newestVersions = 5

// thinned returns the versions of one name, given from the oldest on, that are not
// kept: of what follows close to another one, of what is the same as the next one, and
// beyond the number of them the oldest. What somebody else has overwritten stays.
func thinned(all []store.Version, now time.Time, most int) (drop []int64) {
	var kept []int64
	var last time.Time
	for i := range all {
		v := &all[i]
		if i+1 < len(all) && !v.Folder && !all[i+1].Folder {
			next := &all[i+1]
			tooClose := !last.IsZero() && i < len(all)-newestVersions && v.AuthorID == next.AuthorID &&
				v.Replaced.Sub(last) < between(now.Sub(v.Replaced))
			if tooClose || v.SHA256 == next.SHA256 && v.Properties == next.Properties {
				drop = append(drop, v.ID)
				continue
			}
		}
		kept, last = append(kept, v.ID), v.Replaced
	}
	return append(drop, kept[:max(0, len(kept)-most)]...)
}

// between returns how long there is at least between versions of that age.
func between(age time.Duration) time.Duration {
	const day = 24 * time.Hour
	switch {
	case age < time.Hour:
		return 5 * time.Minute
	case age < day:
		return time.Hour
	}
	return day
}

// makeRoom drops the author's oldest versions until the quota holds what the author
// has stored, in bytes and in documents and folders.
func (e *Files) makeRoom(tx store.Tx, author identity.ID) error {
	return e.giveWay(tx, author, func() error { return e.checkStored(tx, author) })
}

// MakeRoom drops the author's oldest versions until the quota has room for so many bytes
// more. Errors: errs.Full if there is none without them either.
func (e *Files) MakeRoom(tx store.Tx, author identity.ID, more int64) error {
	within, err := tx.Write().Blobs().Within(author, e.quota.Of(author)-more)
	if within || err != nil {
		return err
	}
	return e.giveWay(tx, author, func() error { return e.quota.Check(tx.Blobs(), author, more) })
}

// giveWay drops the author's oldest versions until check does not find the quota used up.
func (e *Files) giveWay(tx store.Tx, author identity.ID, check func() error) error {
	for range mostDropped {
		full := check()
		if !errors.Is(full, quota.ErrUsedUp) {
			return full
		}
		oldest, err := tx.Documents().Versions().Oldest(author)
		if err != nil {
			return err
		}
		if oldest == 0 {
			return full
		}
		e.contents.RouseAfter(tx)
		if err := tx.Write().Documents().Versions().Drop(oldest); err != nil {
			return err
		}
		if _, err := tx.Write().Documents().Purge(mostCopied); err != nil {
			return err
		}
	}
	return check()
}

// Room returns how many bytes the author may store, as quota.Bytes.Room does:
// versions give way.
func (e *Files) Room(r store.Reader, author identity.ID, freed, announced int64) (int64, error) {
	room, err := e.quota.Room(r.Blobs(), author, freed, announced)
	if err == nil && announced >= 0 || err != nil && !errors.Is(err, quota.ErrUsedUp) {
		return room, err
	}
	versions, err := r.Documents().Versions().Bytes(author)
	if err != nil {
		return 0, err
	}
	return e.quota.Room(r.Blobs(), author, freed+versions, announced)
}

// DeleteExpired deletes versions that are too old by the drive's clock, until ctx ends.
func (e *Files) DeleteExpired(ctx context.Context) { e.expiry.Run(ctx, e.log, e.dropVersions) }

// dropVersions drops the versions that are too old, and returns how long the next one
// is not: 0 if there is none.
func (e *Files) dropVersions(ctx context.Context) (time.Duration, error) {
	for {
		var first time.Time
		err := e.Store.View(ctx, func(r store.Reader) (err error) {
			first, err = r.Documents().Versions().First()
			return err
		})
		if err != nil || first.IsZero() {
			return 0, err
		}
		now := e.Clock.Now()
		if wait := first.Add(e.retention.Lasts).Sub(now); wait > 0 {
			return wait, nil
		}
		err = e.Store.Update(ctx, func(tx store.Tx) error {
			e.contents.RouseAfter(tx)
			_, err := tx.Write().Documents().Versions().DropBefore(now.Add(-e.retention.Lasts), purgeAtOnce)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
}

// live returns the version, or nil if it is too old: that is gone for everybody, and
// deleted later.
func (e *Files) live(v *store.Version) *store.Version {
	if v != nil && v.Replaced.After(e.oldest()) {
		return v
	}
	return nil
}

// oldest is the instant at which what was replaced is too old.
func (e *Files) oldest() time.Time { return e.Clock.Now().Add(-max(0, e.retention.Lasts)) }

// noVersions refuses what would make a document or folder in the place of .history/.
func noVersions(path change.DocumentPath) error {
	return errs.New(errs.NotAllowed, "%q has what was overwritten and deleted; choose another name.", path.String())
}
