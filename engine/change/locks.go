package change

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Locks (RFC 4918, sections 6 and 7; docs/contract/drive.md#locks). A lock is
// on a resource, under all its names. It keeps other writers of the drive from
// changing the resource; the engine itself takes none. Locks are a matter of
// real time, in a sandbox too: they protect the work of a person.

// MaxLock is how long a lock lasts unless it is refreshed.
const MaxLock = time.Hour

// DefaultLocks bounds how many locks a user may have.
const DefaultLocks = 1000

// LockScope says which locks concern a change: those on a resource, and those on
// the folders that it lies in, the nearest first.
type LockScope struct {
	Self    store.LockKey // "" if nothing is there
	Folders []store.LockKey
	Joins   bool // the change makes, moves or deletes it: a member of the folder comes or goes
}

// Covering returns the locks that cover the scene: those on the resource, and
// the deep ones on the folders that it is in. If a member comes or goes,
// ofFolder has the locks that are on the folder alone (RFC 4918, section 7.4).
func (s *LockScope) Covering(r store.LockReader, now time.Time) (covers, ofFolder []store.Lock, err error) {
	keys := s.Folders
	if s.Self != "" {
		keys = append([]store.LockKey{s.Self}, keys...)
	}
	if len(keys) == 0 {
		return nil, nil, nil
	}
	all, err := r.On(keys, now)
	for _, l := range all {
		switch {
		case l.On == s.Self || l.Deep:
			covers = append(covers, l)
		case s.Joins && len(s.Folders) > 0 && l.On == s.Folders[0]:
			ofFolder = append(ofFolder, l)
		}
	}
	return covers, ofFolder, err
}

// ScopeOf is the scene of a resource that lies in no folder that can be locked.
func ScopeOf(key store.LockKey) LockScope { return LockScope{Self: key} }

// Locked returns the errs.Locked of something that a lock covers: whose it is, until when
// and since when, as the caller reads times. Everyone may know the names of users, and
// only who may write something is kept out by a lock on it.
func (m *Maker) Locked(by identity.Principal, l *store.Lock) error {
	who, do := "another user", "ask who is working on it"
	switch name := m.NameOf(l.HolderID); {
	case l.HolderID == by.ID:
		who, do = "yourself", "close it there"
	case name != "":
		who, do = name, "ask "+name
	}
	program := ""
	if says := ownerText(l.Owner); says != "" {
		program = fmt.Sprintf(" with a program that calls itself %q", says)
	}
	zone := m.ZoneOf(by.ID)
	return &errs.Error{
		Kind: errs.Locked,
		Detail: fmt.Sprintf("%q is locked until %s by %s%s, who has taken or renewed the lock at %s; wait, or %s.",
			l.Root, clock.Minute(l.Expires, zone), who, program, clock.Minute(l.Expires.Add(-l.Lasts), zone), do),
		Extra: map[string]any{"href": (&url.URL{Path: l.Root}).EscapedPath()}, // RFC 4918, section 16
	}
}

// markup matches a tag of XML.
var markup = regexp.MustCompile(`<[^>]*>`)

// ownerText returns what the holder of a lock says of itself, as a line of bounded length.
func ownerText(owner string) string {
	const most = 60
	text := []rune(machine.OneLine(html.UnescapeString(markup.ReplaceAllString(owner, " "))))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// CheckTokens returns errs.Locked if there are locks in covers and the request submits the
// token of none. The token of any one shared lock is enough.
func (m *Maker) CheckTokens(req Request, covers []store.Lock) error {
	if len(covers) == 0 || slices.ContainsFunc(covers, req.HasToken) {
		return nil
	}
	return m.Locked(req.By, &covers[0])
}

// TokensOf returns the tokens of the locks.
func TokensOf(locks []store.Lock) []store.UUID {
	out := make([]store.UUID, len(locks))
	for i := range locks {
		out[i] = locks[i].Token
	}
	return out
}
