package davfs

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// filesName is the folder of a case that has its files.
const filesName = "Files"

// caseFiles is Cases/<id>/Files/: the input of the case if it was a file, and what is
// attached to the case, under the names that they were given
// (docs/contract/labels-attachments.md#files-of-a-case).
type caseFiles struct {
	*scope
	id int64
}

func (n caseFiles) stat(ctx context.Context) (*info, error) {
	about, err := caseFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo(filesName, about.modified), nil
}

//nolint:unparam // folder's method may fail
func (n caseFiles) child(_ context.Context, name string) (node, error) {
	return caseFileAt{n, norm.NFC.String(name)}, nil
}

func (n caseFiles) list(ctx context.Context) ([]*info, error) {
	all, err := n.all(ctx)
	out := make([]*info, len(all))
	for i := range all {
		out[i] = all[i].about
	}
	return out, err
}

// fileOfCase is one of the files of a case: an attachment or the input.
type fileOfCase struct {
	about      *info
	attachment *attachmentFile // nil: the input
}

// all returns the files of the case, each under a name of its own.
func (n caseFiles) all(ctx context.Context) (out []fileOfCase, err error) {
	files, err := n.engine.Attachments.CaseFiles(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	if files.Input != "" {
		f, err := n.inputFile(ctx, files.Input)
		if err != nil {
			return nil, err
		}
		out = append(out, *f)
	}
	for i := range files.Attached {
		f, err := n.attached(&files.Attached[i])
		if err != nil {
			return nil, err
		}
		out = append(out, *f)
	}
	return out, nil
}

func (n caseFiles) inputFile(ctx context.Context, name string) (*fileOfCase, error) {
	about, err := n.input().stat(ctx)
	if err != nil {
		return nil, err
	}
	about.name = name
	return &fileOfCase{about: about}, nil
}

func (n caseFiles) attached(a *engine.Resource) (*fileOfCase, error) {
	uuid, ok := store.ParseUUID(a.Name)
	if !ok {
		return nil, errs.New(errs.Internal, "The attachment %q has no UUID.", a.Name)
	}
	about := attachmentInfo(plain, a)
	about.name, about.lockKey = a.Given, a.Lock
	return &fileOfCase{about, &attachmentFile{n.scope, plain, n.id, uuid}}, nil
}

func (n caseFiles) input() messageFile {
	return messageFile{scope: n.scope, id: n.id, name: "input", label: engine.OwnInput}
}

// caseFileAt is Files/<name>: a file of the case, or the place of one. A PUT
// attaches, and takes the place of what the caller had attached under the name.
type caseFileAt struct {
	folder caseFiles
	name   string
}

func (n caseFileAt) find(ctx context.Context) (*fileOfCase, error) {
	files, err := n.folder.engine.Attachments.CaseFiles(ctx, n.folder.by, n.folder.id)
	if err != nil {
		return nil, err
	}
	if files.IsInput(n.name) {
		return n.folder.inputFile(ctx, files.Input)
	}
	if a := files.Named(n.name); a != nil {
		return n.folder.attached(a)
	}
	return nil, absent()
}

func (n caseFileAt) stat(ctx context.Context) (*info, error) {
	f, err := n.find(ctx)
	if err != nil {
		return nil, err
	}
	return f.about, nil
}

func (n caseFileAt) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	f, err := n.find(ctx)
	if err != nil {
		return nil, nil, err
	}
	var content io.ReadSeekCloser
	if f.attachment == nil {
		_, content, err = n.folder.input().open(ctx)
	} else {
		_, content, err = f.attachment.open(ctx)
	}
	return f.about, content, err
}

func (n caseFileAt) options() []string { return nil }

func (n caseFileAt) remove(ctx context.Context, req engine.Request, q query) error {
	f, err := n.find(ctx)
	if err != nil {
		return err
	}
	if f.attachment == nil {
		return errs.New(errs.NotDeletable, "%q is the input of the case, which stays with it.", n.name)
	}
	return f.attachment.remove(ctx, req, q)
}

// moveTo renames an attachment. The files of a case stay with it.
func (n caseFileAt) moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error) {
	place, ok := to.(caseFileAt)
	if !ok || place.folder.id != n.folder.id {
		return nil, errs.New(errs.NotMovable, "The files of a case stay with it; copy %q instead. If it is to go from the case, delete it then.", n.name)
	}
	if err := legalName(place.name); err != nil {
		return nil, err
	}
	out, err := n.folder.engine.Attachments.RenameCaseFile(ctx, req, engine.CaseFileRename{CaseID: n.folder.id, From: n.name, To: place.name, Overwrite: t.overwrite})
	if err != nil {
		return nil, err
	}
	return t.renamed(out, casePath(n.folder.id, filesName, place.name)...), nil
}

func (n caseFileAt) putRules() putRules {
	return newAttachment{n.folder.scope, n.folder.id, n.name}.putRules()
}

// guard refuses to attach under the name of the input, which stays what it is.
func (n caseFileAt) guard(ctx context.Context) error {
	if _, err := n.folder.stat(ctx); err != nil {
		return err
	}
	f, err := n.find(ctx)
	switch {
	case errs.Is(err, errs.NotFound):
		return nil
	case err == nil && f.attachment == nil:
		return engine.InputStays(n.name)
	}
	return err
}

func (n caseFileAt) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return newAttachment{n.folder.scope, n.folder.id, n.name}.attach(ctx, req, in, true)
}

// noteOtherName leaves a note about a file that somebody else has attached a file under the
// name of: that keeps the name.
func (p *putRequest) noteOtherName(ctx context.Context, o *engine.Outcome) {
	file, is := p.target.(caseFileAt)
	if !is || !p.mounted() || p.dryRun {
		return
	}
	files, err := p.engine.Attachments.CaseFiles(ctx, p.by, file.folder.id)
	if err != nil {
		p.couldNotRead(ctx, err, "drive: could not find the name of a file of a case")
		return
	}
	for i := range files.Attached {
		given := files.Attached[i].Given
		if files.Attached[i].Name != o.Name || foldName(given) == foldName(file.name) {
			continue
		}
		text := fmt.Sprintf("%s was saved on %s, but as %s, since there is a file of that name already. It is somebody else's, or a schedule entry needs it as it is.\n\n", p.at.String(), p.when(p.wall), given)
		text += "Your mount may show your text under both names for a minute. Save it again under either name to change it.\n\nThis note is deleted after a day.\n"
		p.keepRefusal(p.request, scratch.Refusal{Name: fmt.Sprintf("%s is %s.txt", file.name, given), Reasons: text}, p.at)
	}
}

func (n caseFileAt) describe(a *answer, o *engine.Outcome) {
	a.locate(casePath(n.folder.id, filesName, n.name)...)
	a.add(attachmentHeader, o.Name)
}

func (n caseFileAt) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnCaseFile, Ref: engine.Ref{CaseID: n.folder.id}, Name: n.name}
}

func (n caseFiles) lockArea() store.LockKey  { return store.LocksOnFilesOf(n.id) }
func (n caseFileAt) lockArea() store.LockKey { return store.LocksOnFilesOf(n.folder.id) }
