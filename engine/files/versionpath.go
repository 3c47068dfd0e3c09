package files

import (
	"context"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// VersionPath leads to what was overwritten or deleted below a folder.
type VersionPath struct {
	Folder change.DocumentPath // that has .history/
	Below  []string            // a name for each step down from there
}

// whole is the path as one, for messages and for the audit log.
func (p VersionPath) whole() change.DocumentPath {
	return slices.Concat(p.Folder, change.DocumentPath{HistoryName}, p.Below).Normal()
}

// VersionSpot is what a VersionPath leads to: a version, what was in a folder that is
// one, or a folder of versions.
type VersionSpot struct {
	Place   store.VersionPlace // of a folder of versions, and that in which the version is
	Version *store.Version     // nil: a folder of versions
	Found   *store.Document    // the version's document, or what is below it

	root *identity.Party
}

// inner reports whether it is below a folder that is a version.
func (s *VersionSpot) inner() bool { return s.Version != nil && s.Found.ID != s.Version.ID }

// Version returns what the path leads to. Errors: errs.NotFound if by may not see
// the root, or if there is nothing: at most .history/ itself can be empty.
func (e *Files) Version(ctx context.Context, by identity.Principal, path VersionPath) (*VersionSpot, error) {
	var out *VersionSpot
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = e.versionAt(r, by, path)
		return err
	})
	return out, err
}

func (e *Files) versionAt(r store.Reader, by identity.Principal, path VersionPath) (*VersionSpot, error) {
	at, err := e.placeOf(by, path.Folder)
	if err != nil {
		return nil, err
	}
	names := at.Path[1:]
	out := &VersionSpot{root: at.Root, Place: store.VersionPlace{Context: at.Root.ID, Folder: strings.Join(names, "/")}}
	for i, name := range change.DocumentPath(path.Below).Normal() {
		v, err := store.OrNil(r.Documents().Versions().Get(out.Place, name))
		if err != nil {
			return nil, err
		}
		if v = e.live(v); v != nil {
			return out, out.follow(r, v, path.Below[i+1:])
		}
		names = append(slices.Clip(names), name)
		out.Place.Folder = strings.Join(names, "/")
	}
	if len(path.Below) > 0 {
		folders, err := r.Documents().Versions().Folders(out.Place, e.oldest())
		if err == nil && len(folders) == 0 {
			err = change.Absent("document")
		}
		return out, err
	}
	return out, nil
}

// follow follows the names from a version down.
func (s *VersionSpot) follow(r store.Reader, v *store.Version, names []string) error {
	s.Version, s.Found = v, &v.Document
	if len(names) == 0 {
		return nil
	}
	along, err := r.Documents().Versions().Along(v.ID, change.DocumentPath(names).Normal())
	if err == nil && len(along) <= len(names) {
		err = change.Absent("document")
	}
	if err == nil {
		s.Found = &along[len(names)]
	}
	return err
}

// VersionListing is what a folder of versions holds, or a folder that is one.
type VersionListing struct {
	Folders  []string // of versions, in order
	Versions []store.Version
	Members  []store.Document // of a folder that is a version
}

// VersionsBelow lists what is in a folder that Version has found.
func (e *Files) VersionsBelow(ctx context.Context, by identity.Principal, path VersionPath) (*VersionListing, error) {
	var out VersionListing
	err := e.Store.View(ctx, func(r store.Reader) error {
		s, err := e.versionAt(r, by, path)
		if err != nil {
			return err
		}
		if s.Version != nil {
			out.Members, err = r.Documents().Versions().Under(s.Found.ID)
			return err
		}
		if out.Versions, err = r.Documents().Versions().In(s.Place, e.oldest()); err != nil {
			return err
		}
		out.Folders, err = e.foldersBelow(r, s.Place)
		return err
	})
	if err == nil {
		e.auditDocument(ctx, by, path.whole())
	}
	return &out, err
}

// foldersBelow returns the names of the folders of the place in which, or below which,
// there are versions.
func (e *Files) foldersBelow(r store.Reader, at store.VersionPlace) (names []string, err error) {
	all, err := r.Documents().Versions().Folders(at, e.oldest())
	for _, folder := range all {
		rest := folder
		if at.Folder != "" {
			rest = strings.TrimPrefix(strings.TrimPrefix(folder, at.Folder), "/")
		}
		if name, _, _ := strings.Cut(rest, "/"); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// HasVersions reports whether anything was overwritten or deleted in the folder or
// below it that is still kept.
func (e *Files) HasVersions(ctx context.Context, by identity.Principal, folder change.DocumentPath) (some bool, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		s, err := e.versionAt(r, by, VersionPath{Folder: folder})
		if err != nil {
			return err
		}
		folders, err := r.Documents().Versions().Folders(s.Place, e.oldest())
		some = len(folders) > 0
		return err
	})
	return some, err
}

// versionForm is a version in .contents.
type versionForm struct {
	documentForm
	Replaced   string  `json:"replaced"`
	ReplacedBy *string `json:"replacedBy"`
	Original   string  `json:"original"`
}

// VersionPage returns a page of the versions in a folder of them, with their forms, in
// the order in which they were stored.
func (e *Files) VersionPage(ctx context.Context, by identity.Principal, path VersionPath, f change.Filter) ([]change.Resource, error) {
	l, err := e.VersionsBelow(ctx, by, path)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(l.Versions, func(a, b store.Version) int { return int(a.ID - b.ID) })
	var out []change.Resource
	for i := range l.Versions {
		v := &l.Versions[i]
		if v.ID > f.After && strings.Contains(identity.Fold(v.Shown), identity.Fold(f.Query)) && (f.Limit <= 0 || len(out) < f.Limit) {
			out = append(out, e.versionResource(v, path.Folder[0]))
		}
	}
	return out, nil
}

func (e *Files) versionResource(v *store.Version, root string) change.Resource {
	out, form := e.describeDocument(&v.Document)
	form.Name, out.Name = v.Shown, v.Shown
	full := versionForm{documentForm: form, Replaced: v.Replaced.UTC().Format(time.RFC3339)}
	full.Original = (change.DocumentPath{root, v.Place.Folder, v.Name}).String()
	if v.Place.Folder == "" {
		full.Original = (change.DocumentPath{root, v.Name}).String()
	}
	if p := e.accounts.Table().Directory().ByID(v.Replacer); p != nil {
		full.ReplacedBy = new(string(p.Name))
	}
	out.Form = document.Form(full)
	return out
}

// OpenVersion opens the file that the path leads to.
func (e *Files) OpenVersion(ctx context.Context, by identity.Principal, path VersionPath) (*OpenDocument, error) {
	var out *OpenDocument
	err := e.contents.Reading(func() error {
		s, err := e.Version(ctx, by, path)
		if err != nil {
			return err
		}
		if s.Version == nil || s.Found.Folder {
			return change.Absent("document")
		}
		body, err := e.contents.OpenRow(s.Found.InFile, s.Found.SHA256, s.Found.Content)
		out = &OpenDocument{Document: *s.Found, Body: body}
		return err
	})
	if err == nil {
		e.auditDocument(ctx, by, path.whole())
	}
	return out, err
}

// DeleteVersion deletes what the path leads to for good: of a folder of versions all
// that it holds. Errors: errs.NotFound, errs.NotAllowed, errs.Precondition.
func (e *Files) DeleteVersion(ctx context.Context, req change.Request, path VersionPath) error {
	for {
		more := false
		err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
			more, err = e.deleteVersion(tx, req, path)
			return err
		})
		if err != nil || !more {
			return err
		}
		req.If = nil // it was judged
	}
}

func (e *Files) deleteVersion(tx store.Tx, req change.Request, path VersionPath) (more bool, err error) {
	s, err := e.versionAt(tx, req.By, path)
	if err != nil {
		return false, err
	}
	if err := e.Writable(req.By, s.root); err != nil {
		return false, err
	}
	if err := change.CheckVersion(req.If, DocumentVersion(s.Found)); err != nil {
		return false, err
	}
	e.contents.RouseAfter(tx)
	switch {
	case s.Version == nil:
		n, err := tx.Write().Documents().Versions().DropIn(s.Place, purgeAtOnce)
		if err == nil {
			_, err = tx.Write().Documents().Purge(purgeAtOnce)
		}
		return n == purgeAtOnce, err
	case !s.inner():
		err = tx.Write().Documents().Versions().Drop(s.Version.ID)
	case s.Found.Folder:
		err = tx.Write().Documents().DetachFolder(s.Found.ID)
	default:
		return false, tx.Write().Documents().Delete(s.Found.ID)
	}
	if err == nil {
		_, err = tx.Write().Documents().Purge(purgeAtOnce)
	}
	return false, err
}

// RestoreVersion copies what the path leads to into Documents/, with its times and
// properties, or moves it there. What is at the destination becomes a version, too.
// Errors: as those of CopyDocument and MoveDocument.
func (e *Files) RestoreVersion(ctx context.Context, req change.Request, from VersionPath, to change.DocumentPath, t Transfer) (*change.Outcome, error) {
	return e.transferDocument(ctx, &transferring{req: req, move: t.Move, past: &from, Transfer: t}, from.whole(), to)
}

// sourceVersion finds the version that is taken back.
func (x *transferring) sourceVersion() error {
	s, err := x.versionAt(x.tx, x.req.By, *x.past)
	if err != nil {
		return err
	}
	if s.Version == nil {
		return errs.New(errs.NotMovable, "This folder has versions of several files; take them back one by one.")
	}
	x.spot = s
	x.from = &Place{Root: s.root, Path: x.past.whole(), Found: s.Found}
	return nil
}

// takeBack makes the version, or what is below it, a document of the folder again.
func (x *transferring) takeBack(d *store.Document) error {
	if x.spot.inner() {
		return x.tx.Write().Documents().Move(d.ID, d.ParentID, d.Name)
	}
	return x.tx.Write().Documents().Versions().TakeBack(d.ID, d.ParentID, d.Name)
}

// treeOfVersion returns what is below a folder that is a version.
func (x *transferring) treeOfVersion() (tree []store.Document, err error) {
	for queue := []int64{x.from.Found.ID}; len(queue) > 0 && len(tree) < mostCopied; queue = queue[1:] {
		members, err := x.tx.Documents().Versions().Under(queue[0])
		if err != nil {
			return nil, err
		}
		tree = append(tree, members...)
		for i := range members {
			if members[i].Folder {
				queue = append(queue, members[i].ID)
			}
		}
	}
	return tree, nil
}
