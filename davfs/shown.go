package davfs

import (
	"context"
	"io"
	"slices"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// aside is what lies in a scratch area: nothing is shown in its place.
type aside interface{ isAside() }

// aside reports whether the PUT is of a side file.
func (p *putRequest) aside() bool {
	_, is := p.target.(aside)
	return is
}

// shaded reports whether the caller may be shown something else than what is
// stored at the address: only where documents are PUT.
func shaded(a address, n node) bool {
	_, isWriter := n.(writer)
	_, isAside := n.(aside)
	return isWriter && !isAside && a.inWorkflow()
}

// shade is what the caller is shown at an address in the place of what is
// stored there.
type shade struct {
	hidden bool
	echo   *echo
	draft  *store.Scratch
	locks  []store.Lock // on the draft
}

// shade looks up what is shown in the place of a node.
func (x *request) shade(ctx context.Context, a address, n node) (s shade, err error) {
	if !shaded(a, n) {
		return s, nil
	}
	s.hidden = x.memory.hidden.has(spotOf(x.by.ID, a))
	s.echo = x.findEcho(a)
	if s.draft, err = x.findDraft(ctx, a); s.draft != nil {
		s.locks, err = x.engine.Locks.LocksCovering(ctx, x.by, engine.Target{Kind: engine.OnScratch, Scratch: a.scratch(), URL: a.String()})
	}
	return s, err
}

// findDraft returns the caller's draft at the address, nil for none.
func (x *request) findDraft(ctx context.Context, a address) (*store.Scratch, error) {
	found, err := x.engine.Scratch.Scratch(ctx, x.by, x.wall, a.scratch())
	switch {
	case errs.Is(err, errs.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case found.Kind != store.Draft:
		return nil, nil
	}
	return found, nil
}

// scratch returns the address as the scratch area knows it.
func (a address) scratch() store.ScratchPlace {
	last := len(a.Segments) - 1
	return store.ScratchPlace{Folder: folderPath(a.Segments[:last]), Name: a.Segments[last]}
}

// shown describes what the caller is shown at the address: an echo, what is
// stored, or a draft.
func (x *request) shown(ctx context.Context, a address, n node) (*info, error) {
	if !shaded(a, n) {
		return n.stat(ctx)
	}
	about, err := x.unhidden(ctx, a, n)
	if e := x.findEcho(a); e != nil && e.covers(err) {
		return e.describe(a.Name(), about), nil
	}
	if errs.Is(err, errs.NotFound) {
		draft, failure := x.findDraft(ctx, a)
		if failure != nil {
			return nil, failure
		}
		if draft != nil {
			return scratchInfo(draft), nil
		}
	}
	return about, err
}

// unhidden describes what is stored, unless it is hidden from the caller.
func (x *request) unhidden(ctx context.Context, a address, n node) (*info, error) {
	if x.memory.hidden.has(spotOf(x.by.ID, a)) {
		return nil, absent()
	}
	return n.stat(ctx)
}

// covers reports whether the echo is shown where what is stored is found with
// the error.
func (e *echo) covers(err error) bool {
	return err == nil && !e.kept || errs.Is(err, errs.NotFound) && !e.bare
}

// open opens what shown describes.
func (x *request) open(ctx context.Context, n reader) (*info, io.ReadSeekCloser, error) {
	if !shaded(x.at, n) {
		return n.open(ctx)
	}
	if e := x.findEcho(x.at); e != nil {
		about, err := x.unhidden(ctx, x.at, n)
		if e.covers(err) {
			content, err := e.open(ctx, x)
			return e.describe(x.at.Name(), about), content, err
		}
	}
	var about *info
	var content io.ReadSeekCloser
	err := absent()
	if !x.memory.hidden.has(spotOf(x.by.ID, x.at)) {
		about, content, err = n.open(ctx)
	}
	if errs.Is(err, errs.NotFound) {
		if draft, failure := x.findDraft(ctx, x.at); failure != nil {
			return nil, nil, failure
		} else if draft != nil {
			return scratchInfo(draft), contentOf(nil), nil
		}
	}
	return about, content, err
}

// asShown makes a condition on what is stored one on what the caller was
// shown, nil where it is the same. What has changed behind an echo since then
// is judged as it is; and the locks on a draft are on what comes in its place.
func (x *request) asShown(ctx context.Context, a address, n node, c engine.Condition) (engine.Condition, error) {
	if !shaded(a, n) || c == nil && x.script {
		return c, nil
	}
	s, err := x.shade(ctx, a, n)
	if err != nil || !s.hidden && s.echo == nil && len(s.locks) == 0 && (s.draft == nil || c == nil) {
		return c, err
	}
	return func(v engine.Version) error {
		if c != nil {
			if err := s.judge(c, v); err != nil {
				return err
			}
		}
		if v.Exists && !s.hidden || len(s.locks) == 0 || slices.ContainsFunc(s.locks, x.holds) {
			return nil
		}
		return errs.New(errs.Locked, "%q is locked until %s; wait, or ask who is working on it.", a.String(), s.locks[0].Expires.UTC().Format(time.RFC3339))
	}, nil
}

// holds reports whether the request submits the token of a lock of its
// caller.
func (x *request) holds(l store.Lock) bool { return slices.Contains(x.tokens, l.Token) }

// judge asks the condition about what is shown in the place of a version.
func (s *shade) judge(c engine.Condition, v engine.Version) error {
	if s.hidden {
		v = engine.Version{}
	}
	if v.Exists {
		seen := v
		if s.echo != nil && !s.echo.kept && v.ETag == s.echo.behind {
			seen.ETag = s.echo.about.etag
			if c(seen) == nil {
				return nil
			}
		}
		return c(v)
	}
	switch {
	case s.echo != nil:
		v = s.echo.about.version()
	case s.draft != nil:
		v = engine.Version{Exists: true, ETag: s.draft.ETag(), Modified: s.draft.Modified}
	}
	for i := range s.locks {
		v.Tokens = append(v.Tokens, s.locks[i].Token)
	}
	return c(v)
}

// members describes what a listing of the folder shows to the caller: its
// resources, without those that are hidden, and what the caller keeps beside
// them.
func (x *request) members(ctx context.Context, dir folder) ([]*info, error) {
	members, err := dir.list(ctx)
	_, isAside := dir.(aside)
	if err != nil || isAside || !scratchArea(x.at.Segments) {
		return members, err
	}
	here, rejected := folderPath(x.at.Segments), folderPath(append(slices.Clip(x.at.Segments), rejectedName))
	own, err := x.engine.Scratch.ScratchIn(ctx, x.by, x.wall, here, rejected)
	if err != nil {
		return nil, err
	}
	folded := foldName(here)
	hidden := x.memory.hidden.in(x.by.ID, folded)
	var echoes map[string]*echo
	if !x.script && x.at.inWorkflow() {
		echoes = x.memory.echoes.in(x.by.ID, folded)
	}
	if len(own)+len(hidden)+len(echoes) == 0 {
		return members, nil
	}
	shown := shownMembers(members, hidden, echoes)
	return append(shown, besides(shown, own, folded)...), nil
}

// shownMembers returns the members without hidden ones, and with echoes in
// their places or behind them.
func shownMembers(members []*info, hidden map[string]struct{}, echoes map[string]*echo) []*info {
	out := make([]*info, 0, len(members)+len(echoes))
	for _, m := range members {
		name := foldName(m.name)
		if _, is := hidden[name]; is {
			continue
		}
		if e := echoes[name]; e != nil {
			if delete(echoes, name); !e.kept {
				m = e.describe(m.name, m)
			}
		}
		out = append(out, m)
	}
	alone := make([]*info, 0, len(echoes))
	for _, e := range echoes {
		alone = append(alone, e.describe(e.about.name, nil))
	}
	slices.SortFunc(alone, byName)
	return append(out, alone...)
}

// besides describes the caller's scratch in a folder: side files, drafts of
// what is not there, and the folder of what was refused while it holds any.
func besides(members []*info, own []store.Scratch, folder string) []*info {
	taken := map[string]bool{}
	if slices.ContainsFunc(own, func(s store.Scratch) bool { return s.Kind == store.Draft }) {
		for _, m := range members {
			taken[foldName(m.name)] = true
		}
	}
	var out []*info
	var rejected *info
	for i := range own {
		s := &own[i]
		switch {
		case foldName(s.Place.Folder) != folder && rejected == nil:
			rejected = folderInfo(rejectedName, s.Modified)
			out = append(out, rejected)
		case foldName(s.Place.Folder) != folder:
			rejected.modified = later(rejected.modified, s.Modified)
		case s.Kind != store.Draft || !taken[foldName(s.Place.Name)]:
			out = append(out, scratchInfo(s))
		}
	}
	return out
}
