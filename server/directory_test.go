package server

import (
	"context"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// people is a directory in memory.
type people struct {
	asked int
	err   error
	says  map[string]identity.ID // by name and password
}

func (p *people) LogIn(_ context.Context, name, password string) (identity.ID, error) {
	p.asked++
	if p.err != nil {
		return 0, p.err
	}
	if id := p.says[name+" "+password]; id != 0 {
		return id, nil
	}
	return 0, errNotLoggedIn()
}

func (p *people) Vouches(id identity.ID) bool { return id == 0 || id == 6 }

// TestDirectory: who has no password here is asked of the directory, once in five minutes.
// A directory that is away throws out nobody for thirty, and lets in nobody new.
func TestDirectory(t *testing.T) {
	t.Parallel()
	g := newGuard()
	d := &people{says: map[string]identity.ID{"none right": 6, "Tess right": 6, "sam right": 6}}
	g.SetDirectory(d)
	try := func(what, name, password string, kind errs.Kind, id identity.ID, asked int) {
		t.Helper()
		before := d.asked
		p, err := g.Authenticate(basic(name, password), home)
		if errs.KindOf(err) != kind || p.ID != id || d.asked-before != asked {
			t.Errorf("%s: user %d, %v, asked %d times; want %d, %q, %d", what, p.ID, err, d.asked-before, id, kind, asked)
		}
	}
	try("the first time", "none", "right", "", 6, 1)
	try("again", "none", "right", "", 6, 0)
	try("under the name there", "Tess", "right", "", 6, 1)
	try("a wrong password", "none", "wrong", errs.LogIn, 0, 1)
	try("who has a password here", "sam", "secret", "", 3, 0)
	try("who has one, with that of the directory", "sam", "right", errs.LogIn, 0, 0)
	try("a disabled user", "bob", "secret", errs.LogIn, 0, 0)
	holds := g.Watch(basic("none", "right"))
	g.clock.advance(answerFresh)
	try("after five minutes", "none", "right", "", 6, 1)

	d.err = errs.New(errs.Unavailable, "away")
	g.clock.advance(answerFresh)
	try("while it is away", "none", "right", "", 6, 1)
	try("somebody new", "Tess2", "right", errs.Unavailable, 0, 1)
	g.clock.advance(answerLasts - answerFresh - time.Second)
	if !holds() {
		t.Error("a request ends while the answer lasts")
	}
	g.clock.advance(time.Second)
	try("for too long", "none", "right", errs.Unavailable, 0, 1)

	d.err = nil
	try("again there", "none", "right", "", 6, 1)
	d.says = nil
	g.clock.advance(answerFresh)
	try("a password that was changed", "none", "right", errs.LogIn, 0, 1)
	d.err = errs.New(errs.Unavailable, "away")
	try("the same while it is away", "none", "right", errs.Unavailable, 0, 1)
	d.err, d.says = nil, map[string]identity.ID{"none right": 6}
	try("as before", "none", "right", "", 6, 1)
	g.accounts.set("none", func(u *account) { u.disabled = true })
	try("disabled here", "none", "right", errs.LogIn, 0, 0)
}
