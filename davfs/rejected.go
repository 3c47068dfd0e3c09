package davfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// reject keeps what a mounting client has sent and what was refused, with the
// reasons: a mounted drive shows no error's text, and some lose the user's.
// What says nothing about the document is not kept
// (docs/contract/drive.md#rejected-content).
func (p *putRequest) reject(ctx context.Context, refusal error) {
	if !p.draftable() || p.in == nil || len(p.in.data) == 0 {
		return
	}
	saysNothing := []errs.Kind{errs.Internal, errs.Unavailable, errs.NotFound, errs.Precondition, errs.Locked, errs.TooMany}
	if slices.Contains(saysNothing, errs.KindOf(refusal)) {
		return
	}
	err := p.engine.Scratch.Reject(ctx, engine.Request{By: p.by, Now: p.wall}, engine.Refusal{
		At: p.at.scratch(), MediaType: p.in.mediaType, Body: p.in.data, Reasons: reasons(p.at, refusal, p.wall),
	})
	if err != nil && !errs.Is(err, errs.Full) {
		p.Log.Warn().Err(err).Msg("drive: could not keep refused content")
	}
}

// ofDocument reports whether a refusal says something about what was sent.
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
	fmt.Fprintf(&b, "%s was not saved on %s.\n", at.String(), now.UTC().Format("2 January 2006 at 15:04:05 UTC"))
	b.WriteString("What is stored there has not changed. The reasons:\n\n")
	if e, ok := errors.AsType[*errs.Error](refusal); ok {
		b.WriteString(e.Detail + "\n")
		for _, f := range e.Faults {
			b.WriteString("- " + f.String() + "\n")
		}
	}
	b.WriteString("\nThe file beside this one has what was sent. Both are deleted after a day.\n")
	return b.String()
}

// rejectedFolder is Rejected/ in a folder of the workflow: there while it
// holds something.
type rejectedFolder struct {
	*scope
	path []string
	held []store.Scratch
}

// rejected returns the folder of what the caller had refused in the folder of
// that path; nil for nothing.
func (s *scope) rejected(ctx context.Context, path []string) (node, error) {
	n := rejectedFolder{scope: s, path: append(path[:len(path):len(path)], rejectedName)}
	held, err := s.engine.Scratch.ScratchIn(ctx, s.by, s.wall, folderPath(n.path))
	if err != nil || len(held) == 0 {
		return nil, err
	}
	n.held = held
	return n, nil
}

func (rejectedFolder) isAside() {}

func (n rejectedFolder) stat(context.Context) (*info, error) {
	about := folderInfo(rejectedName, n.held[0].Modified)
	for i := range n.held {
		about.modified = later(about.modified, n.held[i].Modified)
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
	for i := range n.held {
		if s := &n.held[i]; foldName(s.Place.Name) == foldName(name) {
			return rejectedFile{n.scope, s}, nil
		}
	}
	return nil, absent()
}

//nolint:unparam // folder's method may fail
func (n rejectedFolder) list(context.Context) ([]*info, error) { return scratchInfos(n.held), nil }

func (n rejectedFolder) options() []string { return nil }

// remove deletes what the folder holds, and so the folder.
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
	for i := range n.held {
		file := rejectedFile{n.scope, &n.held[i]}
		if err := file.remove(ctx, req, nil); err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

// rejectedFile is what was refused, or why: to be read, and to be deleted.
type rejectedFile struct {
	*scope
	held *store.Scratch
}

func (n rejectedFile) stat(context.Context) (*info, error) { return scratchInfo(n.held), nil }

func (n rejectedFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	s, err := n.engine.Scratch.OpenScratch(ctx, n.by, n.wall, n.held.Place)
	if err != nil {
		return nil, nil, err
	}
	return scratchInfo(&s.Scratch), s.Body, nil
}

func (n rejectedFile) options() []string { return nil }

func (n rejectedFile) remove(ctx context.Context, req engine.Request, _ query) error {
	req.Now = n.wall
	return n.engine.Scratch.DeleteScratch(ctx, req, n.held.Place)
}
