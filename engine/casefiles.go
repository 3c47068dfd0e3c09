package engine

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// CaseFiles is what Cases/<id>/Files/ has: the input of the case if it was a file, and
// what is attached to it, under the names that they were given
// (docs/contract/labels-attachments.md#files-of-a-case).
type CaseFiles struct {
	Input    string     // the name of the input, "" if that was no file
	Attached []Resource // the latest first; Given is the name there

	named []string // what they were named, which several may be alike
}

// CaseFiles returns the files of a case. Errors: errs.NotFound if by may not see the
// case.
func (e *Attachments) CaseFiles(ctx context.Context, by identity.Principal, id int64) (out CaseFiles, err error) {
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		_, out, err = e.caseFiles(r, by, id)
		return err
	})
	return out, err
}

func (e *Attachments) caseFiles(r store.Reader, by identity.Principal, id int64) (row *store.Case, out CaseFiles, err error) {
	if row, err = e.needCase(r, by, id); err != nil {
		return nil, out, err
	}
	c, err := e.caseOf(r, row.Marking)
	if err != nil {
		return nil, out, errs.Wrap("read the marking of a case", err)
	}
	attached, err := e.attachments(r, by, Filter{CaseID: id})
	if err != nil {
		return nil, out, err
	}
	out.Input = filename.Safe(c.InputName)
	taken := map[string]bool{}
	if out.Input != "" {
		taken[foldFileName(out.Input)] = true
	}
	out.named = make([]string, len(attached))
	for i := range attached { // of several with one name the first has it
		out.named[len(attached)-1-i] = attached[i].Given
		attached[i].Given = freeFileName(attached[i].Given, taken)
	}
	slices.Reverse(attached)
	out.Attached = attached
	return row, out, nil
}

// mostFileNames is how many names of files the form of a task has at most.
const mostFileNames = 100

// fileNames returns the names of the files of a case, as caseFiles has them: the first
// mostFileNames.
func (e *base) fileNames(r store.Reader, c *machine.Case) ([]string, error) {
	attached, err := r.Attachments().List(store.AttachmentFilter{CaseID: c.ID, Now: e.Clock.Now()})
	return namesOf(c, attached), err
}

func namesOf(c *machine.Case, attached []store.Attachment) (names []string) {
	taken := map[string]bool{}
	if input := filename.Safe(c.InputName); input != "" {
		names, taken[foldFileName(input)] = append(names, input), true
	}
	first := len(names)
	for i := range attached {
		names = append(names, freeFileName(attached[i].Name, taken))
	}
	slices.Reverse(names[first:]) // as Files/ has them: the latest first
	return names[:min(len(names), mostFileNames)]
}

// IsInput reports whether the name is that of the input.
func (f *CaseFiles) IsInput(name string) bool {
	return f.Input != "" && foldFileName(f.Input) == foldFileName(name)
}

// Named returns the attachment of that name, nil if there is none.
func (f *CaseFiles) Named(name string) *Resource {
	for i := range f.Attached {
		if foldFileName(f.Attached[i].Given) == foldFileName(name) {
			return &f.Attached[i]
		}
	}
	return nil
}

// foldFileName returns the form in which names of files are compared.
func foldFileName(name string) string { return identity.Fold(norm.NFC.String(name)) }

// freeFileName returns the name, or with a number if it is taken, and takes it.
func freeFileName(name string, taken map[string]bool) string {
	free, ext := name, path.Ext(name)
	for i := 2; taken[foldFileName(free)]; i++ {
		free = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), i, ext)
	}
	taken[foldFileName(free)] = true
	return free
}

// InputStays is why nothing can be attached under the name of the input of a case.
func InputStays(name string) error {
	return errs.New(errs.ReadOnly, "%q is the input of the case and stays as it is; choose another name.", name)
}

// replaced returns the attachment of which a new one takes the place and the name, nil
// if there is none.
func (e *Attachments) replaced(r store.Reader, req Request, given NewAttachment) (*Resource, error) {
	_, files, err := e.caseFiles(r, req.By, given.CaseID)
	if err != nil {
		return nil, err
	}
	if files.IsInput(given.Name) {
		return nil, InputStays(given.Name)
	}
	old := files.Named(given.Name)
	if err := e.CheckRequest(r.Locks(), req, attachedVersion(old), attachedScope(old)); err != nil || old == nil {
		return nil, err
	}
	return e.givesWay(r, req, &files, given.Name)
}

// givesWay returns the latest attachment that was named so and that the caller may take the
// place of: none of somebody else's, nor one that a schedule entry names.
func (e *Attachments) givesWay(r store.Reader, req Request, files *CaseFiles, name string) (*Resource, error) {
	for i := range files.Attached {
		f := &files.Attached[i]
		if foldFileName(files.named[i]) != foldFileName(name) && foldFileName(f.Given) != foldFileName(name) {
			continue
		}
		a, err := e.ownCaseFile(r, req, f)
		if err == nil {
			err = unused(r, a.UUID)
		}
		switch errs.KindOf(err) {
		case "":
			return f, nil
		case errs.NotAllowed, errs.InUse:
		default:
			return nil, err
		}
	}
	return nil, nil
}

// attachedVersion returns the version of an attachment, nil for none.
func attachedVersion(a *Resource) Version {
	if a == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: a.SourceETag, Modified: a.Modified}
}

// attachedScope says which locks concern an attachment, nil for none.
func attachedScope(a *Resource) change.LockScope {
	if a == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(a.Lock)
}

// keepNames has the other attachments of one name keep those that they have in Files/: the
// one that takes the place of old is the latest, and the first of a name has it.
func (e *Attachments) keepNames(tx store.Tx, req Request, to *store.Attachment, old *Resource) error {
	_, files, err := e.caseFiles(tx, req.By, to.CaseID)
	if err != nil {
		return err
	}
	for i := range files.Attached {
		f := &files.Attached[i]
		if uuid, ok := store.ParseUUID(f.Name); ok && f.Name != old.Name && f.Given != files.named[i] {
			if err := tx.Write().Attachments().SetName(uuid, f.Given); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveWay deletes an attachment of which another one has taken the place. The locks are on
// the new attachment from now on.
func (e *Attachments) giveWay(tx store.Tx, old *Resource, to *store.Attachment) error {
	if err := tx.Write().Locks().Move(old.Lock, store.AttachmentKey(to.CaseID, to.UUID)); err != nil {
		return err
	}
	uuid, ok := store.ParseUUID(old.Name)
	if !ok {
		return errs.New(errs.Internal, "The attachment %q has no UUID.", old.Name)
	}
	return e.dropAttachment(tx, uuid)
}

// logAttached says in the log of a case, if the attachment is bound to one, that it was
// attached. replaced says that it has taken the place of another one.
func (e *Attachments) logAttached(tx store.Tx, req Request, a *store.Attachment, replaced bool) error {
	if a.CaseID == 0 {
		return nil
	}
	_, files, err := e.caseFiles(tx, req.By, a.CaseID)
	if err != nil {
		return err
	}
	name, done := a.Name, "Attached"
	for i := range files.Attached {
		if files.Attached[i].Name == a.UUID.String() {
			name = files.Attached[i].Given
		}
	}
	if replaced {
		done = "Replaced the file"
	}
	size := fmt.Sprintf("%d bytes", a.Size)
	if a.Size == 1 {
		size = "1 byte"
	}
	return e.logFile(tx, req, a.CaseID, fmt.Sprintf("%s %s, %s", done, name, size))
}

// logFile says in the log of a case what the caller has done with a file of it.
func (e *Attachments) logFile(tx store.Tx, req Request, id int64, text string) error {
	d := &decider{e.base}
	h, err := d.loadCase(tx, req.By, Ref{CaseID: id})
	if err != nil {
		return err
	}
	c, err := d.decideOn(h, machine.NoteFile{Actor: e.rights.Actor(req.By, h.admin), Text: text}, req)
	if err != nil {
		return err
	}
	return d.writeAsked(tx, c)
}

// CaseFileRename says which file of a case gets which name.
type CaseFileRename struct {
	CaseID    int64
	From, To  string
	Overwrite bool // what has the name
}

// RenameCaseFile gives an attachment of a case another name; it stays the same one.
// Errors: errs.NotFound; errs.NotAllowed if the caller may not delete it, or what has the
// name; errs.ReadOnly for the input; errs.Precondition if the name is taken and Overwrite is
// not set; errs.Locked; errs.InUse if a schedule entry names what has the name.
func (e *Attachments) RenameCaseFile(ctx context.Context, req Request, f CaseFileRename) (*Outcome, error) {
	var out *Outcome
	err := e.Update(ctx, func(tx store.Tx) error {
		row, files, err := e.caseFiles(tx, req.By, f.CaseID)
		if err == nil {
			err = notArchived(row)
		}
		if err != nil {
			return err
		}
		for _, name := range [...]string{f.From, f.To} {
			if files.IsInput(name) {
				return InputStays(name)
			}
		}
		found, there := files.Named(f.From), files.Named(f.To)
		if found == nil {
			return change.Absent("file")
		}
		if err := e.CheckRequest(tx.Locks(), req, attachedVersion(found), attachedScope(found)); err != nil {
			return err
		}
		a, err := e.ownCaseFile(tx, req, found)
		if err != nil {
			return err
		}
		if there != nil && there.Name != found.Name {
			if err := e.makeWay(tx, req, there, f.Overwrite); err != nil {
				return err
			}
		} else {
			there = nil
		}
		if err := tx.Write().Locks().DeleteOn(found.Lock); err != nil {
			return err
		}
		if err := tx.Write().Attachments().SetName(a.UUID, f.To); err != nil {
			return err
		}
		if err := e.logFile(tx, req, f.CaseID, fmt.Sprintf("Renamed the file %s to %s", f.From, f.To)); err != nil {
			return err
		}
		out = &Outcome{Created: there == nil, Changed: true, Name: found.Name, ETag: a.ETag(), FormETag: a.ETag(), Modified: a.Created, CaseID: a.CaseID}
		return e.Finish(tx, req, out)
	})
	return out, err
}

// ownCaseFile returns an attachment that the caller may delete, and so rename.
func (e *Attachments) ownCaseFile(r store.Reader, req Request, f *Resource) (*store.Attachment, error) {
	uuid, ok := store.ParseUUID(f.Name)
	if !ok {
		return nil, errs.New(errs.Internal, "The attachment %q has no UUID.", f.Name)
	}
	a, err := e.findAttachment(r, req.By, uuid, req.Now)
	if err == nil && a == nil {
		err = change.Absent("attachment")
	}
	if err == nil {
		err = e.mayDelete(r, req.By, a)
	}
	return a, err
}

// makeWay deletes the attachment whose name another one is to get.
func (e *Attachments) makeWay(tx store.Tx, req Request, f *Resource, overwrite bool) error {
	if !overwrite {
		return errs.New(errs.Precondition, "There is %q already, and Overwrite is F.", f.Given)
	}
	a, err := e.ownCaseFile(tx, req, f)
	if err == nil {
		err = unused(tx, a.UUID)
	}
	if err == nil {
		err = e.CheckLocks(tx.Locks(), req, attachedScope(f))
	}
	if err == nil {
		err = tx.Write().Locks().DeleteOn(f.Lock)
	}
	if err == nil {
		err = e.dropAttachment(tx, a.UUID)
	}
	if err == nil {
		err = e.logFile(tx, req, a.CaseID, "Deleted the file "+f.Given)
	}
	return err
}

// caseFileTarget returns a file of a case, or the place of one. Its input stays as it is.
func (e *Locks) caseFileTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	row, files, err := e.attachments.caseFiles(r, by, t.Ref.CaseID)
	if err != nil {
		return nil, err
	}
	out := &targeted{refused: notArchived(row)}
	if files.IsInput(t.Name) {
		out.refused = InputStays(t.Name)
		return out, nil
	}
	found := files.Named(t.Name)
	out.LockScope, out.version = attachedScope(found), attachedVersion(found)
	return out, nil
}
