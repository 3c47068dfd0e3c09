package davfs

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
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

// all returns the files of the case, each under a name of its own: of several
// attachments with one name the latest has it.
func (n caseFiles) all(ctx context.Context) (out []fileOfCase, err error) {
	taken := map[string]bool{}
	name, err := n.engine.Cases.InputName(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	if name != "" {
		about, err := n.input().stat(ctx)
		if err != nil {
			return nil, err
		}
		about.name, taken[foldName(name)] = name, true
		out = append(out, fileOfCase{about: about})
	}
	attached, err := n.engine.Attachments.Attachments(ctx, n.by, engine.Filter{CaseID: n.id})
	if err != nil {
		return nil, err
	}
	for i := len(attached) - 1; i >= 0; i-- {
		uuid, ok := store.ParseUUID(attached[i].Name)
		if !ok {
			return nil, errs.New(errs.Internal, "The attachment %q has no UUID.", attached[i].Name)
		}
		about := attachmentInfo(plain, &attached[i])
		about.name = freeName(attached[i].Given, taken)
		out = append(out, fileOfCase{about, &attachmentFile{n.scope, plain, n.id, uuid}})
	}
	return out, nil
}

// freeName returns the name, or with a number if it is taken, and takes it.
func freeName(name string, taken map[string]bool) string {
	free, ext := name, path.Ext(name)
	for i := 2; taken[foldName(free)]; i++ {
		free = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), i, ext)
	}
	taken[foldName(free)] = true
	return free
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
	all, err := n.folder.all(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if foldName(all[i].about.name) == foldName(n.name) {
			return &all[i], nil
		}
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
		return errs.New(errs.ReadOnly, "%q is the input of the case and stays as it is; choose another name.", n.name)
	}
	return err
}

func (n caseFileAt) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	before, err := n.find(ctx)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	var version engine.Version
	if before != nil {
		version = before.about.version()
	}
	if req.If != nil {
		if err := req.If(version); err != nil {
			return nil, err
		}
		req.If = nil
	}
	out, err := newAttachment{n.folder.scope, n.folder.id, n.name}.put(ctx, req, in)
	if err != nil || before == nil || req.DryRun {
		return out, err
	}
	out.Created = false
	if before.attachment == nil {
		return out, nil
	}
	// What the caller may not delete stays, under another name.
	err = n.folder.engine.Attachments.DeleteAttachment(ctx, engine.Request{By: req.By, Now: req.Now}, before.attachment.uuid)
	if err != nil && !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.NotAllowed) && !errs.Is(err, errs.InUse) {
		return nil, err
	}
	return out, nil
}

func (n caseFileAt) describe(a *answer, _ *engine.Outcome) {
	a.locate(casePath(n.folder.id, filesName, n.name)...)
}
