package davfs

import (
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// scratchAt returns the index of what by has at the place, -1 for nothing.
func (f *fake) scratchAt(by identity.Principal, at store.ScratchPlace) int {
	return slices.IndexFunc(f.scratch, func(s *store.Scratch) bool {
		return s.Author == by.ID && same(s.Place.Folder, at.Folder) && same(s.Place.Name, at.Name)
	})
}

func (f *fake) Scratch(_ context.Context, by identity.Principal, _ time.Time, at store.ScratchPlace) (*store.Scratch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls["scratch"]++
	i := f.scratchAt(by, at)
	if i < 0 {
		return nil, notThere()
	}
	s := *f.scratch[i]
	return &s, nil
}

func (f *fake) OpenScratch(ctx context.Context, by identity.Principal, now time.Time, at store.ScratchPlace) (*engine.OpenScratch, error) {
	s, err := f.Scratch(ctx, by, now, at)
	if err != nil {
		return nil, err
	}
	return &engine.OpenScratch{Scratch: *s, Body: contentOf(s.Content)}, nil
}

func (f *fake) ScratchIn(_ context.Context, by identity.Principal, _ time.Time, folders ...string) ([]store.Scratch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []store.Scratch
	for _, s := range f.scratch {
		if s.Author == by.ID && slices.ContainsFunc(folders, func(in string) bool { return same(in, s.Place.Folder) }) {
			out = append(out, *s)
		}
	}
	slices.SortFunc(out, func(a, b store.Scratch) int { return strings.Compare(a.Place.Name, b.Place.Name) })
	return out, nil
}

// putScratch stores what is new at a place in the present state.
func (f *fake) putScratch(req engine.Request, at store.ScratchPlace, kind store.ScratchKind, mediaType string, body []byte) (*engine.Outcome, error) {
	i := f.scratchAt(req.By, at)
	v := engine.Version{}
	if i >= 0 {
		v = engine.Version{Exists: true, ETag: f.scratch[i].ETag(), Modified: f.scratch[i].Modified}
	}
	if req.If != nil {
		if err := req.If(v); err != nil {
			return nil, err
		}
	}
	s := &store.Scratch{
		Author: req.By.ID, Place: at, Kind: kind, MediaType: mediaType, Size: int64(len(body)), SHA256: sha256.Sum256(body),
		Content: body, Created: req.Now, Modified: req.Now,
	}
	out := &engine.Outcome{Created: i < 0, Changed: true, Name: at.Folder + "/" + at.Name, ETag: s.ETag(), Modified: s.Modified}
	switch {
	case req.DryRun:
	case i < 0:
		f.scratch = append(f.scratch, s)
	default:
		f.scratch[i] = s
	}
	return f.keep(req, out), nil
}

func (f *fake) PutScratch(_ context.Context, req engine.Request, at store.ScratchPlace, up engine.Upload) (*engine.Outcome, error) {
	body, err := io.ReadAll(up.Body)
	if err != nil {
		return nil, errs.Wrap("read the body", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.free(req); err != nil {
		return nil, err
	}
	if up.MediaType == "" {
		up.MediaType = mediatype.Of(at.Name)
	}
	return f.putScratch(req, at, store.SideFile, up.MediaType, body)
}

func (f *fake) MakeScratchFolder(_ context.Context, req engine.Request, at store.ScratchPlace) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.putScratch(req, at, store.ScratchFolder, "", nil)
}

func (f *fake) DeleteScratch(_ context.Context, req engine.Request, at store.ScratchPlace) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.scratchAt(req.By, at)
	if i < 0 {
		return notThere()
	}
	if req.If != nil {
		if err := req.If(engine.Version{Exists: true, ETag: f.scratch[i].ETag()}); err != nil {
			return err
		}
	}
	path := at.Folder + "/" + at.Name
	f.scratch = slices.DeleteFunc(f.scratch, func(s *store.Scratch) bool {
		in := s.Place.Folder
		return s == f.scratch[i] || s.Author == req.By.ID && (in == path || strings.HasPrefix(in, path+"/"))
	})
	return nil
}

func (f *fake) MoveScratch(_ context.Context, req engine.Request, from, to store.ScratchPlace, overwrite bool) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.scratchAt(req.By, from)
	if i < 0 {
		return nil, notThere()
	}
	moved := f.scratch[i]
	out := &engine.Outcome{Created: true, Changed: true, Name: to.Folder + "/" + to.Name, ETag: moved.ETag()}
	if j := f.scratchAt(req.By, to); j >= 0 && !overwrite {
		return nil, errs.New(errs.Precondition, "It is there.")
	} else if j >= 0 {
		out.Created = false
		f.scratch = slices.Delete(f.scratch, j, j+1)
	}
	moved.Place = to
	return out, nil
}

func (f *fake) MakeDraft(_ context.Context, req engine.Request, at store.ScratchPlace) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scratchAt(req.By, at) >= 0 {
		return false, nil
	}
	_, err := f.putScratch(req, at, store.Draft, mediatype.Of(at.Name), nil)
	return err == nil, err
}

func (f *fake) EndDraft(_ context.Context, by identity.Principal, at store.ScratchPlace, _ *engine.Target) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scratch = slices.DeleteFunc(f.scratch, func(s *store.Scratch) bool {
		return s.Author == by.ID && same(s.Place.Folder, at.Folder) && same(s.Place.Name, at.Name) &&
			s.Kind == store.Draft
	})
	return nil
}

func (f *fake) Reject(_ context.Context, req engine.Request, r engine.Refusal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := store.ScratchPlace{Folder: r.At.Folder + "/Rejected", Name: req.Now.UTC().Format("20060102T150405Z") + " " + r.At.Name}
	if _, err := f.putScratch(req, at, store.Rejected, r.MediaType, r.Body); err != nil {
		return err
	}
	at.Name += ".txt"
	_, err := f.putScratch(req, at, store.Rejected, "text/plain; charset=utf-8", []byte(r.Reasons))
	return err
}

func (f *fake) MayTakeScratch(_ context.Context, req engine.Request, at store.ScratchPlace) (*engine.Taken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.scratchAt(req.By, at)
	if i < 0 {
		return nil, notThere()
	}
	if req.If != nil {
		if err := req.If(engine.Version{Exists: true, ETag: f.scratch[i].ETag()}); err != nil {
			return nil, err
		}
	}
	return &engine.Taken{Scratch: &at, ID: f.scratch[i].ID, Content: f.scratch[i].SHA256}, nil
}

// The fake keeps no history.

func (f *fake) History(context.Context, identity.Principal, store.Folder) ([]engine.Resource, error) {
	return nil, nil
}

func (f *fake) Past(context.Context, identity.Principal, store.Folder, int64) (*engine.Resource, error) {
	return nil, notThere()
}
