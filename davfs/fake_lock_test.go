package davfs

import (
	"context"
	"slices"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The fake keeps locks by the path that was locked. It makes nothing where
// nothing is there.

func (f *fake) covering(path string) (out []store.Lock) {
	for _, l := range f.locks {
		if l.Root == path || l.Deep && strings.HasPrefix(path, l.Root+"/") {
			out = append(out, l)
		}
	}
	return out
}

func (f *fake) Lock(_ context.Context, req engine.Request, t engine.Target, want engine.NewLock) (*store.Lock, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	covers := f.covering(t.URL)
	if err := f.judgeLocked(req, covers); err != nil {
		return nil, false, err
	}
	for _, l := range covers {
		if !l.Shared || !want.Shared {
			return nil, false, errs.New(errs.Locked, "Somebody has locked it.")
		}
	}
	f.last++
	l := store.Lock{HolderID: req.By.ID, Shared: want.Shared, Deep: want.Deep, Owner: want.Owner, Root: t.URL, Lasts: want.Lasts}
	if l.Lasts == 0 || l.Lasts > time.Hour {
		l.Lasts = time.Hour
	}
	l.Token[0], l.Token[15] = 0xa0, byte(f.last)
	l.Expires = f.now.Add(l.Lasts)
	f.locks = append(f.locks, l)
	return &l, false, nil
}

func (f *fake) judgeLocked(req engine.Request, covers []store.Lock) error {
	if req.If == nil {
		return nil
	}
	v := engine.Version{Exists: true}
	for i := range covers {
		v.Tokens = append(v.Tokens, covers[i].Token)
	}
	return req.If(v)
}

func (f *fake) RefreshLock(_ context.Context, req engine.Request, t engine.Target, lifetime time.Duration) (*store.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.covering(t.URL) {
		if slices.Contains(req.Tokens, l.Token) {
			l.Lasts, l.Expires = lifetime, f.now.Add(lifetime)
			return &l, nil
		}
	}
	return nil, errs.New(errs.Precondition, "No such lock.")
}

func (f *fake) Unlock(_ context.Context, req engine.Request, t engine.Target, token store.UUID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.covering(t.URL) {
		if l.Token == token && l.HolderID != req.By.ID {
			return errs.New(errs.NotAllowed, "It is not yours.")
		}
		if l.Token == token {
			f.locks = slices.DeleteFunc(f.locks, func(o store.Lock) bool { return o.Token == token })
			return nil
		}
	}
	return errs.New(errs.InUse, "No such lock.")
}

func (f *fake) BreakLocks(_ context.Context, req engine.Request, t engine.Target) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !req.By.Admin() {
		return errs.New(errs.NotAllowed, "They are not yours.")
	}
	for _, l := range f.covering(t.URL) {
		f.locks = slices.DeleteFunc(f.locks, func(o store.Lock) bool { return o.Token == l.Token })
	}
	return nil
}

func (f *fake) LocksCovering(_ context.Context, _ identity.Principal, t engine.Target) ([]store.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.covering(t.URL), nil
}

func (f *fake) OwnLock(_ context.Context, by identity.Principal, token store.UUID) (*store.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.locks {
		if l := f.locks[i]; l.Token == token && l.HolderID == by.ID {
			return &l, nil
		}
	}
	return nil, absent()
}

func (f *fake) LocksBelow(context.Context, store.LockKey) ([]store.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.locks), nil
}
