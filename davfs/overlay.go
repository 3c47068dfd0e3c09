package davfs

import (
	"context"
	"io"
	"slices"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// sideFileNode is a node of a scratch area: it has no overlay.
type sideFileNode interface{ isSideFile() }

// ofSideFile reports whether the PUT is of a side file.
func (p *putRequest) ofSideFile() bool {
	_, is := p.target.(sideFileNode)
	return is
}

// hasOverlay reports whether the caller may be shown something else than the
// stored version at the address: only where documents are PUT.
func hasOverlay(a address, n node) bool {
	_, isWriter := n.(writer)
	_, isSideFile := n.(sideFileNode)
	return isWriter && !isSideFile && a.overlaid()
}

// overlay is what the caller is shown at an address instead of the stored
// version.
type overlay struct {
	hidden bool
	echo   *echo
	draft  *store.Scratch
	locks  []store.Lock // on the draft
}

// overlayAt looks up the overlay of a node.
func (x *request) overlayAt(ctx context.Context, a address, n node) (o overlay, err error) {
	if !hasOverlay(a, n) {
		return o, nil
	}
	o.hidden, o.echo = x.isHidden(a), x.findEcho(a)
	if o.draft, err = x.findDraft(ctx, a); o.draft != nil {
		o.locks, err = x.engine.Locks.LocksCovering(ctx, x.by, engine.Target{Kind: engine.OnScratch, Scratch: a.scratch(), URL: a.String()})
	}
	return o, err
}

// isHidden reports whether the caller has moved the resource at the address out
// of the way.
func (x *request) isHidden(a address) bool { return x.overlays.hidden.has(userPathOf(x.by.ID, a)) }

// findDraft returns the caller's draft at the address, nil if there is none.
func (x *request) findDraft(ctx context.Context, a address) (*store.Scratch, error) {
	found, err := x.engine.Scratch.Get(ctx, x.by, x.wall, a.scratch())
	if errs.Is(err, errs.NotFound) || err == nil && found.Kind != store.Draft {
		return nil, nil
	}
	return found, err
}

// scratch returns the address as the scratch area knows it.
func (a address) scratch() store.ScratchPlace {
	last := len(a.Segments) - 1
	return store.ScratchPlace{Folder: folderPath(a.Segments[:last]), Name: a.Segments[last]}
}

// statOverlay describes what the caller is shown at the address: an echo, the
// stored version, or a draft.
func (x *request) statOverlay(ctx context.Context, a address, n node) (*info, error) {
	if !hasOverlay(a, n) {
		return n.stat(ctx)
	}
	about, err := x.statStored(ctx, a, n)
	if e := x.findEcho(a); e != nil && e.covers(err) {
		return e.describe(a.Name(), about), nil
	}
	if draft, err := x.draftInstead(ctx, a, err); draft != nil || err != nil {
		return draft, err
	}
	return about, nil
}

// draftInstead describes the caller's draft at an address if the stored version
// was not found; any other error it returns as it is. It returns nil if there was
// no error.
func (x *request) draftInstead(ctx context.Context, a address, missing error) (*info, error) {
	if !errs.Is(missing, errs.NotFound) {
		return nil, missing
	}
	draft, err := x.findDraft(ctx, a)
	if err != nil {
		return nil, err
	}
	if draft == nil {
		return nil, missing
	}
	return scratchInfo(draft), nil
}

// statStored describes the stored version, unless it is hidden from the caller.
func (x *request) statStored(ctx context.Context, a address, n node) (*info, error) {
	if x.isHidden(a) {
		return nil, absent()
	}
	return n.stat(ctx)
}

// covers reports whether the echo is shown if the stored version is found with
// the error.
func (e *echo) covers(err error) bool {
	return err == nil && !e.kept || errs.Is(err, errs.NotFound) && !e.contentOnly
}

// open opens what statOverlay describes.
func (x *request) open(ctx context.Context, n reader) (*info, io.ReadSeekCloser, error) {
	if !hasOverlay(x.at, n) {
		return n.open(ctx)
	}
	if e := x.findEcho(x.at); e != nil {
		about, err := x.statStored(ctx, x.at, n)
		if e.covers(err) {
			content, err := e.open(ctx, x)
			return e.describe(x.at.Name(), about), content, err
		}
	}
	var about *info
	var content io.ReadSeekCloser
	err := absent()
	if !x.isHidden(x.at) {
		about, content, err = n.open(ctx)
	}
	if draft, err := x.draftInstead(ctx, x.at, err); draft != nil || err != nil {
		return draft, contentOf(nil), err
	}
	return about, content, nil
}

// clientCondition adapts a condition to the version that the caller was shown,
// because it refers to that; nil if there is nothing to check. If the stored
// version has changed since an echo, the stored version counts. The locks on a
// draft apply to what replaces it, and a lock that the caller has taken at the
// address covers it as long as the lock lasts, whatever the PUT under it became.
func (x *request) clientCondition(ctx context.Context, a address, n node, c engine.Condition) (engine.Condition, error) {
	if !hasOverlay(a, n) || c == nil && x.script {
		return c, nil
	}
	own, err := x.ownTokens(ctx, a)
	if err != nil {
		return nil, err
	}
	o, err := x.overlayAt(ctx, a, n)
	if err != nil || len(own) == 0 && !o.hidden && o.echo == nil && len(o.locks) == 0 && (o.draft == nil || c == nil) {
		return c, err
	}
	return func(v engine.Version) error {
		if c != nil {
			v.Tokens = append(slices.Clip(v.Tokens), own...)
			if err := o.check(c, v); err != nil {
				return err
			}
		}
		if v.Exists && !o.hidden || len(o.locks) == 0 || slices.ContainsFunc(o.locks, x.submits) {
			return nil
		}
		return x.engine.Locks.Locked(x.by, &o.locks[0])
	}, nil
}

// maxOwnTokens bounds how many of the submitted tokens are looked up. A client
// submits one or two.
const maxOwnTokens = 16

// ownTokens returns those of the submitted tokens that are of locks which the caller
// has taken at the address.
func (x *request) ownTokens(ctx context.Context, a address) ([]store.UUID, error) {
	var own []store.UUID
	for _, token := range x.tokens[:min(len(x.tokens), maxOwnTokens)] {
		l, err := x.engine.Locks.OwnLock(ctx, x.by, token)
		switch {
		case errs.Is(err, errs.NotFound):
		case err != nil:
			return nil, err
		case foldName(l.Root) == foldName(a.String()):
			own = append(own, token)
		}
	}
	return own, nil
}

// submits reports whether the request submits the token of a lock of its
// caller.
func (x *request) submits(l store.Lock) bool { return slices.Contains(x.tokens, l.Token) }

// check asks the condition about what is shown instead of a version.
func (o *overlay) check(c engine.Condition, v engine.Version) error {
	if v.Exists && !o.hidden {
		if o.echo != nil && !o.echo.kept && v.ETag == o.echo.storedETag {
			seen := v
			if seen.ETag = o.echo.about.etag; c(seen) == nil {
				return nil
			}
		}
		return c(v)
	}
	tokens := v.Tokens
	switch {
	case o.echo != nil:
		v = o.echo.about.version()
	case o.draft != nil:
		v = engine.Version{Exists: true, ETag: o.draft.ETag(), Modified: o.draft.Modified}
	case o.hidden:
		v = engine.Version{}
	}
	v.Tokens = slices.Clip(tokens)
	for i := range o.locks {
		v.Tokens = append(v.Tokens, o.locks[i].Token)
	}
	return c(v)
}

// withEchoes returns members without hidden ones, with echoes in their places.
func (s *shown) withEchoes(members []*info) []*info {
	out := make([]*info, 0, len(members))
	for _, m := range members {
		name := foldName(m.name)
		if _, is := s.hidden[name]; is {
			continue
		}
		if e := s.echoes[name]; e != nil {
			if delete(s.echoes, name); !e.kept {
				m = e.describe(m.name, m)
			}
			if foldName(e.about.name) != name { // the user's spelling of the same name
				spelled := *m
				spelled.name = e.about.name
				m = &spelled
			}
		}
		out = append(out, m)
	}
	return out
}

// echoesAlone returns the echoes of what is not stored.
func (s *shown) echoesAlone() []*info {
	alone := make([]*info, 0, len(s.echoes))
	for _, e := range s.echoes {
		if e.performed {
			continue // what is done is no longer on the list; its client finds it by its name
		}
		alone = append(alone, e.describe(e.about.name, nil))
	}
	slices.SortFunc(alone, byName)
	return alone
}

// noteDrafts notes which drafts are of what is among the members.
func (s *shown) noteDrafts(members []*info) {
	if len(s.drafts) == 0 {
		return
	}
	for _, m := range members {
		name := foldName(m.name)
		if _, is := s.drafts[name]; is {
			s.drafts[name] = true
		}
	}
}

// withSideFiles adds what the caller keeps in the scratch area of a folder: side
// files, drafts of what is not there, and Rejected/ while it holds something.
func (s *shown) withSideFiles(members []*info) []*info {
	var rejected *info
	for i := range s.own {
		own := &s.own[i]
		switch {
		case foldName(own.Place.Folder) != s.folded && rejected == nil:
			rejected = folderInfo(rejectedName, own.Modified)
			members = append(members, rejected)
		case foldName(own.Place.Folder) != s.folded:
			rejected.modified = later(rejected.modified, own.Modified)
		case own.Kind != store.Draft || !s.drafts[foldName(own.Place.Name)]:
			members = append(members, scratchInfo(own))
		}
	}
	return members
}
