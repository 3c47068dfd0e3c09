package davfs

import (
	"context"
	"slices"

	"flowdrive/engine"
	"flowdrive/store"
)

// A folder may have hundreds of thousands of members. A listing reads them in parts, and
// holds none of a part that it has told of.

// parts returns the members of a folder, the next ones with each call, and whether there may
// be more.
type parts func(ctx context.Context) (members []*info, more bool, err error)

// parted is a folder whose members are read in parts.
type parted interface {
	folder
	parts() parts
}

// How many resources a part has, and how many bytes of their forms it holds before it ends.
const (
	partMembers = 2000
	partForms   = 1 << 20
)

// pageOf returns the resources that a filter selects, in order.
type pageOf = func(ctx context.Context, f engine.Filter) ([]engine.Resource, error)

// partsOf reads the resources that the filter selects. tell describes one, and says how many
// bytes of it are held with that.
func partsOf(page pageOf, f engine.Filter, tell func(r *engine.Resource) (members []*info, held int, err error)) parts {
	f.Limit = partMembers
	return func(ctx context.Context) (out []*info, more bool, err error) {
		var failed error
		read, left := 0, partForms
		err = eachOf(ctx, page, f, func(r *engine.Resource) (enough bool) {
			members, held, fault := tell(r)
			failed = fault
			out = append(out, members...)
			read, left, f.After = read+1, left-held, r.Seq
			return failed != nil || left <= 0
		})
		if err == nil {
			err = failed
		}
		return out, read >= f.Limit || left <= 0, err
	}
}

// listedParts describes the members of a collection that a mounted folder shows.
func listedParts(c collection) parts {
	return partsOf(c.page, engine.Filter{OwnOnly: true}, func(r *engine.Resource) ([]*info, int, error) {
		return []*info{c.listed(r)}, 0, nil
	})
}

// listAll describes them all.
func listAll(ctx context.Context, c collection) ([]*info, error) { return allOf(ctx, listedParts(c)) }

// allOf returns the members of all parts.
func allOf(ctx context.Context, read parts) (all []*info, err error) {
	for more := true; more && err == nil; {
		var members []*info
		members, more, err = read(ctx)
		all = append(all, members...)
	}
	return all, err
}

// shown tells, in parts, what a listing of a folder shows to the caller: its resources,
// without those that are hidden, and what the caller keeps beside them.
type shown struct {
	*request
	dir  folder
	read parts

	more  bool // there is a part that was not read
	begun bool
	bare  bool // nothing is beside its resources

	own    []store.Scratch
	folded string // the path of the folder
	hidden map[string]struct{}
	echoes map[string]*echo // those that were not told of
	drafts map[string]bool  // by folded name, whether something is stored there
}

// shownIn returns the reader of a folder.
func (x *request) shownIn(dir folder) *shown {
	s := &shown{request: x, dir: dir, more: true}
	if p, ok := dir.(parted); ok {
		s.read = p.parts()
	} else {
		s.read = func(ctx context.Context) ([]*info, bool, error) {
			members, err := dir.list(ctx)
			return members, false, err
		}
	}
	return s
}

// next describes the members of the next part. What the caller keeps beside the resources is
// in the last one.
func (s *shown) next(ctx context.Context) (members []*info, err error) {
	if members, s.more, err = s.read(ctx); err != nil {
		return nil, err
	}
	if !s.begun {
		s.begun = true
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.hidden)+len(s.echoes) > 0 {
		members = s.withEchoes(members)
	}
	if s.more {
		s.noteDrafts(members)
		return members, nil
	}
	return s.end(ctx, members)
}

// all describes the members of all parts.
func (s *shown) all(ctx context.Context) ([]*info, error) {
	return allOf(ctx, func(ctx context.Context) ([]*info, bool, error) {
		members, err := s.next(ctx)
		return members, s.more, err
	})
}

// begin finds out what the caller has in the folder beside its resources.
func (s *shown) begin(ctx context.Context) (err error) {
	if _, isSideFile := s.dir.(sideFileNode); isSideFile {
		s.bare = true
		return nil
	}
	if !scratchArea(s.at.Segments) && !s.at.attached() {
		return nil
	}
	here := folderPath(s.at.Segments)
	if s.own, err = s.engine.Scratch.In(ctx, s.by, s.wall, here, folderPath(append(slices.Clip(s.at.Segments), rejectedName))); err != nil {
		return err
	}
	s.folded = foldName(here)
	s.hidden = s.overlays.hidden.in(s.by.ID, s.folded)
	if _, tasks := s.dir.(worklistFolder); !tasks && !s.script && s.at.overlaid() { // a task that is done is done
		s.echoes = s.overlays.echoes.in(s.by.ID, s.folded)
	}
	for i := range s.own {
		if s.own[i].Kind == store.Draft {
			if s.drafts == nil {
				s.drafts = map[string]bool{}
			}
			s.drafts[foldName(s.own[i].Place.Name)] = false
		}
	}
	return nil
}

// end adds to the last members what comes after all resources.
func (s *shown) end(ctx context.Context, members []*info) ([]*info, error) {
	if s.bare {
		return members, nil
	}
	if !scratchArea(s.at.Segments) && !s.at.attached() {
		return s.withVersions(ctx, s.dir, members)
	}
	members = append(members, s.echoesAlone()...)
	s.noteDrafts(members)
	return s.withHistory(ctx, s.dir, s.withSideFiles(members))
}
