package davfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// reject keeps the refused body of a mounting client, with the reasons: a mounted
// drive does not show the text of errors, and some clients lose the user's text.
// If the refusal says nothing about the document it is not kept
// (docs/contract/drive.md#rejected-content).
func (p *putRequest) reject(ctx context.Context, refusal error) {
	conflict := errs.Is(refusal, errs.Precondition) || errs.Is(refusal, errs.Locked)
	conflict = conflict && p.transferBy == "" // of which the source is still there
	if !p.draftable() || p.in == nil || p.rules.content || !conflict && !ofDocument(refusal) {
		return
	}
	if !p.in.read && p.read() != nil || len(p.in.data) == 0 {
		return
	}
	text := reasons(p.at, refusal, p.wall)
	if conflict {
		text += p.storedText(ctx)
	}
	if p.stays {
		text += "If your program sends the same text again, it is refused again. To try once more, delete the file, or change the text.\n"
	}
	err := p.engine.Scratch.Reject(ctx, engine.Request{By: p.by, Now: p.wall}, files.Refusal{
		At: p.at.scratch(), MediaType: p.in.mediaType, Body: p.in.data, Reasons: text,
	})
	if err != nil && !errs.Is(err, errs.Full) {
		p.Log.Warn().Err(err).Msg("drive: could not keep refused content")
	}
}

// storedText quotes the version that is stored instead of what was sent, for who has to
// bring both together.
func (p *putRequest) storedText(ctx context.Context) string {
	stored, ok := p.target.(reader)
	if !ok {
		return ""
	}
	about, content, err := stored.open(ctx)
	if errs.Is(err, errs.NotFound) {
		return "\nThere is nothing at this address now.\n"
	}
	if err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not read what is stored instead of refused content")
		return ""
	}
	defer func() { _ = content.Close() }() // what was only read is whole
	text, err := io.ReadAll(io.LimitReader(content, p.limit()))
	if err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not read what is stored instead of refused content")
		return ""
	}
	return fmt.Sprintf("\nStored there now, since %s:\n\n%s\n", about.modified.UTC().Format(timeInNotes), text)
}

// ofDocument reports whether a refusal says something about the request body.
func ofDocument(refusal error) bool {
	switch errs.KindOf(refusal) {
	case errs.Internal, errs.Unavailable, errs.NotFound, errs.Precondition, errs.Locked, errs.TooMany:
		return false
	default:
		return true
	}
}

// reasons says in plain language why a document was refused.
func reasons(at address, refusal error, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was not saved on %s.\n", at.String(), now.UTC().Format(timeInNotes))
	b.WriteString("What is stored there has not changed. The reasons:\n\n")
	if e, ok := errors.AsType[*errs.Error](refusal); ok {
		if len(e.Faults) == 0 {
			b.WriteString("- " + e.Detail + "\n")
		}
		for _, f := range e.Faults {
			b.WriteString("- " + f.String() + "\n")
		}
	}
	b.WriteString("\nThe file beside this one has what was sent. Both are deleted after a day.\n")
	return b.String()
}

// timeInNotes is how times stand in notes.
const timeInNotes = "2 January 2006 at 15:04:05 UTC"

// rejectedFolder is Rejected/ in a folder of the workflow: it exists while it
// holds something.
type rejectedFolder struct {
	*scope
	files []store.Scratch
}

// rejected returns the folder of the caller's refused content in the folder of
// that path; nil if there is none.
func (s *scope) rejected(ctx context.Context, path []string) (node, error) {
	folder := folderPath(append(path[:len(path):len(path)], rejectedName))
	files, err := s.engine.Scratch.ScratchIn(ctx, s.by, s.wall, folder)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return rejectedFolder{s, files}, nil
}

func (rejectedFolder) isSideFile() {}

func (n rejectedFolder) stat(context.Context) (*info, error) {
	about := folderInfo(rejectedName, n.files[0].Modified)
	for i := range n.files {
		about.modified = later(about.modified, n.files[i].Modified)
	}
	return about, nil
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (n rejectedFolder) child(_ context.Context, name string) (node, error) {
	for i := range n.files {
		if s := &n.files[i]; foldName(s.Place.Name) == foldName(name) {
			return rejectedFile{storedScratch{n.scope, s}}, nil
		}
	}
	return nil, absent()
}

//nolint:unparam // folder's method may fail
func (n rejectedFolder) list(context.Context) ([]*info, error) { return scratchInfos(n.files), nil }

func (n rejectedFolder) options() []string { return nil }

// remove deletes the files of the folder, and so the folder.
func (n rejectedFolder) remove(ctx context.Context, req engine.Request, _ query) error {
	if req.If != nil {
		about, err := n.stat(ctx)
		if err != nil {
			return err
		}
		if err := req.If(about.version()); err != nil {
			return err
		}
		req.If = nil
	}
	for i := range n.files {
		if err := (storedScratch{n.scope, &n.files[i]}).remove(ctx, req, nil); err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

// rejectedFile is refused content, or the reasons: to be read, and to be deleted.
type rejectedFile struct{ storedScratch }
