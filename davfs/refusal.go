package davfs

import (
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/errs"
	"flowdrive/identity"
)

// How long a refusal is remembered, and how many are at most.
const (
	refusalLasts = 10 * time.Second
	mostRefusals = 10_000
)

// refusals remembers the PUTs that were refused of late. Some clients, rclone
// above all, clear up after an upload that failed by a DELETE of its URL,
// which would take away what was stored there before: the first one after a
// refusal is answered and not obeyed (design: the drive, section 4). Like the
// clients' patience it is a matter of real time, and of this process.
type refusals struct {
	now func() time.Time

	mu    sync.Mutex
	last  map[upon]time.Time
	order []refusal // the oldest first; what is not last's any more is spent
}

// upon is what a refusal was about: whose request, and its path.
type upon struct {
	by   identity.ID
	path string
}

type refusal struct {
	upon
	at time.Time
}

func newRefusals(now func() time.Time) *refusals {
	return &refusals{now: now, last: map[upon]time.Time{}}
}

// add remembers a refusal, in the place of the oldest where there are many.
func (s *refusals) add(what upon) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for len(s.order) > 0 && (len(s.order) >= mostRefusals || now.Sub(s.order[0].at) > refusalLasts) {
		oldest := s.order[0]
		if s.last[oldest.upon].Equal(oldest.at) {
			delete(s.last, oldest.upon)
		}
		s.order = s.order[1:]
	}
	s.last[what] = now
	s.order = append(s.order, refusal{what, now})
}

// recent reports whether there was one of late.
func (s *refusals) recent(what upon) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.last[what]
	return known && s.now().Sub(at) <= refusalLasts
}

// spend forgets a refusal.
func (s *refusals) spend(what upon) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, what)
}

// clearsUp reports whether the client is one whose DELETE may be meant for
// what it failed to store: a script means what it says, and davfs2 keeps its
// user's text and asks no DELETE. Documents/ is as any other file server.
func (d *drive) clearsUp(x *exchange) bool {
	agent := x.r.UserAgent()
	return len(x.at.segments) > 0 && x.at.segments[0] == "dav" && !x.at.inDocuments() &&
		!d.scriptClient(agent) && !strings.HasPrefix(agent, "davfs2/")
}

// remember remembers that a PUT failed, until one is accepted. A condition that
// does not hold and a limit that is reached say nothing about what was sent.
func (d *drive) remember(x *exchange, failure error) {
	if !d.clearsUp(x) {
		return
	}
	switch errs.KindOf(failure) {
	case "":
		d.refused.spend(x.upon())
	case errs.LogIn, errs.TooMany, errs.Precondition:
	default:
		d.refused.add(x.upon())
	}
}

// upon returns what the request is about, whatever the case of its letters
// and however they are composed.
func (x *exchange) upon() upon { return upon{x.by.ID, identity.Fold(norm.NFC.String(x.at.path()))} }

// keeps answers a DELETE that follows a refusal as if it were done, if what
// it is about is there; its conditions count all the same.
func (d *drive) keeps(x *exchange, target node) (kept bool, err error) {
	what := x.upon()
	if !d.clearsUp(x) || !d.refused.recent(what) {
		return false, nil
	}
	condition, err := x.condition()
	if err != nil {
		return false, err
	}
	about, err := target.stat(x.r.Context())
	if errs.Is(err, errs.NotFound) {
		d.refused.spend(what)
	}
	if err != nil {
		return false, err
	}
	if condition != nil {
		version, err := x.versionOf(target, about)
		if err != nil {
			return false, err
		}
		if err := condition(version); err != nil {
			return false, err
		}
	}
	d.refused.spend(what)
	return true, nil
}
