package davfs

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"flowdrive/engine"
	"flowdrive/errs"
)

// An empty PUT of what has mounted the drive means nothing yet: Windows and
// the Finder make a file before they fill it. It becomes a draft, or leaves
// in force what is stored (design: the drive, section 4).

// draftable reports whether the PUT means nothing where it is empty.
func (p *putting) draftable() bool { return p.mounted() && !p.dryRun && !p.aside() }

// draft answers an empty PUT, unless the name names only what exists and does
// not: that is the engine's to say.
func (p *putting) draft(ctx context.Context) (answered bool, err error) {
	existing := p.rules.action || p.rules.existing
	created, err := p.exchange.makeDraft(ctx, p.at, p.target, p.condition, existing, time.Time{})
	if existing && errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a := &answer{Status: http.StatusNoContent}
	if created {
		a.Status = http.StatusCreated
		a.add("ETag", (&engine.Scratch{SHA256: sha256.Sum256(nil)}).ETag())
	}
	a.locate(p.at.segments...)
	a.send(p.w)
	return true, nil
}

// makeDraft makes a draft at the address of a node, until the time or, where
// that is zero, for a day. It reports that none was created where something is
// shown to the caller there: that stays. existing says that the name names
// only what exists.
func (x *exchange) makeDraft(ctx context.Context, a address, n node, c engine.Condition, existing bool, until time.Time) (created bool, err error) {
	var version engine.Version
	about, err := n.stat(ctx)
	switch {
	case err == nil:
		version = about.version()
	case !errs.Is(err, errs.NotFound) || existing:
		return false, err
	}
	if c != nil {
		if err := c(version); err != nil {
			return false, err
		}
	}
	if version.Exists && !x.memory.hidden.has(spotOf(x.by.ID, a)) {
		return false, nil
	}
	parent, err := x.walk(ctx, address{segments: a.segments[:len(a.segments)-1]})
	if err == nil {
		_, err = parent.stat(ctx)
	}
	if err != nil {
		return false, err
	}
	req := x.request(x.wall)
	return x.engine.MakeDraft(ctx, req, a.scratch(), until)
}

// endDraft deletes the caller's draft at the address, which has become
// something.
func (x *exchange) endDraft(ctx context.Context, a address) error {
	draft, err := x.findDraft(ctx, a)
	if err != nil || draft == nil {
		return err
	}
	return x.engine.EndDraft(ctx, x.by, a.scratch(), false)
}
