package davfs

import (
	"context"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/webdav"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// LockSystem is the locks of the drive as x/net has them, for one request: its
// methods have no context that would say who asks. FileSystem.Begin makes it.
// Times are the drive's own; the arguments now are not looked at.
type LockSystem struct {
	drive       *drive
	httpRequest *http.Request
	client      *clientRequest
}

var _ webdav.LockSystem = (*LockSystem)(nil)

// temporaryToken is the token of the locks that x/net makes for the time of a
// request that submits none. They are not stored: each change looks at the locks
// in its own transaction.
const temporaryToken = "opaquelocktoken:temporary"

// lockRequest returns the request of a LOCK on a name.
func (s *LockSystem) lockRequest(name string) (*request, error) {
	return requestOf(s.httpRequest.Context(), s.drive, "LOCK", name)
}

// covering returns the locks that cover what is at the name, or what would be.
func (s *LockSystem) covering(name string) ([]store.Lock, error) {
	x, err := s.lockRequest(name)
	if err != nil {
		return nil, err
	}
	target, err := s.drive.lockPlace(x)
	switch errs.KindOf(err) {
	case errs.NotLockable, errs.NotFound:
		return nil, nil
	case "":
	default:
		return nil, err
	}
	locks, err := x.engine.Locks.LocksCovering(s.httpRequest.Context(), x.by, target)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	return locks, err
}

// Confirm checks that the conditions hold for the names, and submits their lock
// tokens with what the file system is then asked to do. A resource that is
// locked needs a token of one of its locks that the caller holds.
func (s *LockSystem) Confirm(_ time.Time, name0, name1 string, conditions ...webdav.Condition) (release func(), err error) {
	by := s.drive.Principal(s.httpRequest.Context())
	var covers []store.Lock
	var submitted []store.UUID
	for _, name := range []string{name0, name1} {
		if name == "" {
			continue
		}
		locks, err := s.covering(name)
		if err != nil {
			return nil, err
		}
		covers = append(covers, locks...)
		free := len(locks) == 0
		for i := range locks {
			names := func(c webdav.Condition) bool { return !c.Not && dav.ParseToken(c.Token) == dav.Token(locks[i].Token) }
			free = free || locks[i].HolderID == by.ID && slices.ContainsFunc(conditions, names)
		}
		if !free {
			return nil, webdav.ErrConfirmationFailed
		}
	}
	for _, c := range conditions {
		holds, err := s.matches(name0, covers, c)
		if err != nil {
			return nil, err
		}
		if holds == c.Not {
			return nil, webdav.ErrConfirmationFailed
		}
		if token := dav.ParseToken(c.Token); token != (dav.Token{}) {
			submitted = append(submitted, store.UUID(token))
		}
	}
	s.client.submit(submitted)
	return func() {}, nil
}

// matches reports whether a condition, without its Not, holds for the name.
func (s *LockSystem) matches(name string, covers []store.Lock, c webdav.Condition) (bool, error) {
	if c.Token != "" {
		token := dav.ParseToken(c.Token)
		return slices.ContainsFunc(covers, func(l store.Lock) bool { return dav.Token(l.Token) == token }), nil
	}
	_, _, about, err := (&FileSystem{s.drive}).look(s.httpRequest.Context(), name)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	header := http.Header{"If-Match": {c.ETag}}
	conditions, err := dav.ReadConditions(header)
	if err != nil {
		return false, nil //nolint:nilerr // what is not an ETag is nothing's
	}
	return conditions.Check(protocolVersion(about.version())) == nil, nil
}

// Create makes a lock, and an empty document if nothing is at the name. For a
// request that is not a LOCK it only checks that nothing is locked. What is
// locked already is webdav.ErrLocked.
func (s *LockSystem) Create(_ time.Time, details webdav.LockDetails) (token string, err error) {
	if s.client.method != "LOCK" {
		locks, err := s.covering(details.Root)
		if err == nil && len(locks) > 0 {
			err = webdav.ErrLocked
		}
		return temporaryToken, err
	}
	x, err := s.lockRequest(details.Root)
	if err != nil {
		return "", err
	}
	target, err := s.drive.lockPlace(x)
	if err != nil {
		return "", err
	}
	l, _, err := x.engine.Locks.Lock(s.httpRequest.Context(), x.engineRequest(s.drive.Clock.Now()), target, engine.NewLock{
		Deep: !details.ZeroDepth, Owner: ownerXML(details.OwnerXML), Lasts: max(details.Duration, 0),
	})
	if errs.Is(err, errs.Locked) {
		return "", webdav.ErrLocked
	}
	if err != nil {
		return "", err
	}
	return dav.Token(l.Token).String(), nil
}

// ownerXML returns what a client says of itself, "" if that is not XML by
// itself: other clients are told it.
func ownerXML(inner string) string {
	body := `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>` +
		inner + `</D:owner></D:lockinfo>`
	info, err := dav.ReadLockInfo([]byte(body))
	if err != nil || info == nil {
		return ""
	}
	return info.Owner
}

// own returns the caller's lock with that token, and what it is on.
func (s *LockSystem) own(token string) (*request, *store.Lock, engine.Target, error) {
	ctx := s.httpRequest.Context()
	l, err := s.drive.Engine.Locks.OwnLock(ctx, s.drive.Principal(ctx), store.UUID(dav.ParseToken(token)))
	if err != nil {
		return nil, nil, engine.Target{}, err
	}
	x, err := s.lockRequest(l.Root)
	if err != nil {
		return nil, nil, engine.Target{}, err
	}
	x.tokens = []store.UUID{l.Token}
	target, err := s.drive.lockPlace(x)
	return x, l, target, err
}

// Refresh makes a lock of the caller last longer. A token of none is
// webdav.ErrNoSuchLock.
func (s *LockSystem) Refresh(_ time.Time, token string, duration time.Duration) (webdav.LockDetails, error) {
	x, _, target, err := s.own(token)
	if err != nil {
		return webdav.LockDetails{}, noSuchLock(err)
	}
	l, err := x.engine.Locks.RefreshLock(s.httpRequest.Context(), x.engineRequest(s.drive.Clock.Now()), target, max(duration, 0))
	if err != nil {
		return webdav.LockDetails{}, noSuchLock(err)
	}
	return webdav.LockDetails{Root: l.Root, Duration: l.Lasts, OwnerXML: l.Owner, ZeroDepth: !l.Deep}, nil
}

// Unlock removes a lock of the caller. A token of none is webdav.ErrNoSuchLock.
func (s *LockSystem) Unlock(_ time.Time, token string) error {
	if token == temporaryToken {
		return nil
	}
	x, l, target, err := s.own(token)
	if err != nil {
		return noSuchLock(err)
	}
	ctx := context.WithoutCancel(s.httpRequest.Context())
	return noSuchLock(x.engine.Locks.Unlock(ctx, x.engineRequest(s.drive.Clock.Now()), target, l.Token))
}

// noSuchLock returns x/net's error for a token that is of no lock.
func noSuchLock(err error) error {
	switch errs.KindOf(err) {
	case errs.NotFound, errs.Precondition, errs.NotAllowed:
		return webdav.ErrNoSuchLock
	default:
		return err
	}
}
