package davfs

import (
	"context"
	"crypto/sha256"
	"net/http"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// An empty PUT of a mounting client means nothing yet: Windows and the Finder make
// a file before they fill it. It becomes a draft, or leaves the stored version in
// force (docs/contract/drive.md#draft-files).

// draftable reports whether the PUT means nothing if it is empty.
func (p *putRequest) draftable() bool { return p.overlaid() && !p.dryRun && !p.ofSideFile() }

// draft answers an empty PUT. It returns nil if the name can only name what exists
// and nothing does: the engine says so.
func (p *putRequest) draft(ctx context.Context) (*answer, error) {
	existing := p.rules.action || p.rules.existing
	created, err := p.makeDraft(ctx, existing)
	if existing && errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a := &answer{Status: http.StatusNoContent}
	p.differs = !created
	if !created {
		p.noteEmptied()
	}
	if created {
		a.Status = http.StatusCreated
		a.add("ETag", (&store.Scratch{SHA256: sha256.Sum256(nil)}).ETag())
	}
	a.locate(p.at.Segments...)
	return a, nil
}

// makeDraft makes a draft at the address of the PUT. created is false if the caller
// is shown something there, which stays. existing says that the name can only name
// what exists.
func (p *putRequest) makeDraft(ctx context.Context, existing bool) (created bool, err error) {
	about, err := p.target.stat(ctx)
	if err != nil && (!errs.Is(err, errs.NotFound) || existing) {
		return false, err
	}
	if p.condition != nil {
		version, err := p.versionOf(p.target, about)
		if err != nil {
			return false, err
		}
		if err := p.condition(version); err != nil {
			return false, err
		}
	}
	if about != nil && !p.isHidden(p.at) {
		return false, nil
	}
	if err := p.inFolder(ctx); err != nil {
		return false, err
	}
	return p.engine.Scratch.MakeDraft(ctx, engine.Request{By: p.by, Now: p.wall}, p.at.scratch())
}

// inFolder answers that the folder of the request's address is not there.
func (x *request) inFolder(ctx context.Context) error {
	parent, err := x.walk(ctx, x.at.parent())
	if err == nil {
		_, err = parent.stat(ctx)
	}
	return err
}

// draftTarget returns what a LOCK of a mounting client makes if the caller is shown
// nothing at the address: a draft, if there can be one.
func (x *request) draftTarget(ctx context.Context, n node) (t engine.Target, can bool, err error) {
	target, ok := n.(writer)
	if !ok || x.script || !hasOverlay(x.at, n) {
		return t, false, nil
	}
	// A further PUT to the name of a dropped file starts another case: what is to be
	// written is not what is there.
	if _, dropped := n.(dropFile); !dropped {
		if _, err := x.statStored(ctx, x.at, n); !errs.Is(err, errs.NotFound) {
			return t, false, err
		}
	}
	rules := target.putRules()
	switch {
	case rules.illegal != nil:
		return t, false, rules.illegal
	case rules.action || rules.existing:
		return t, false, nil
	}
	return engine.Target{Kind: engine.OnScratch, Scratch: x.at.scratch(), Draft: true, URL: x.at.String()}, true, x.inFolder(ctx)
}

// endDraft deletes the caller's draft at the request's address, which has
// become what the node is.
func (x *request) endDraft(ctx context.Context, n node) error {
	draft, err := x.findDraft(ctx, x.at)
	if err != nil || draft == nil {
		return err
	}
	var became *engine.Target
	if target, ok := n.(lockable); ok {
		became = new(x.lockTarget(target))
	}
	return x.engine.Locks.EndDraft(ctx, x.by, x.at.scratch(), became)
}
