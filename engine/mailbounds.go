package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// How many mails are sent in an hour (docs/contract/routes.md#how-many-mails). The counts are
// in memory: after a restart they begin at nothing.

// longestMailWait is for how long a mail of a step waits at most for others of its author.
const longestMailWait = 24 * time.Hour

// mailBudget bounds the mails of steps by the author of the route. The zero value is ready.
// It is safe for concurrent use.
type mailBudget struct {
	mu      sync.Mutex
	authors map[identity.ID]*spent
	placed  map[string]time.Time // the keys of deliveries that wait, and until when
}

// place returns when a mail of the author to so many recipients is sent, zero if that is at once. One
// that waits has its place from then on. full says that it would wait for too long. back takes back
// what was said, if it could not be stored.
func (b *mailBudget) place(author identity.ID, key string, recipients int, most int64, now time.Time) (at time.Time, full bool, back func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.authors == nil {
		b.authors, b.placed = map[identity.ID]*spent{}, map[string]time.Time{}
	}
	if until, waited := b.placed[key]; waited && !now.Before(until) {
		delete(b.placed, key)
		return time.Time{}, false, func() { b.keep(key, until) }
	} else if waited {
		return until, false, func() {} // its case was retried meanwhile
	}
	of := b.authors[author]
	if of == nil {
		of = &spent{left: float64(most), at: now}
		b.authors[author] = of
	}
	of.refill(most, now)
	if of.left >= 1 {
		of.left -= float64(recipients) // of a mail to many the next ones wait longer
		return time.Time{}, false, func() { b.giveBack(of, recipients, key) }
	}
	wait := time.Duration((1-of.left)/float64(most)*float64(time.Hour)).Truncate(time.Second) + time.Second
	if wait > longestMailWait {
		return time.Time{}, true, func() {}
	}
	of.left -= float64(recipients)
	for key, until := range b.placed {
		if now.Sub(until) > longestMailWait {
			delete(b.placed, key) // it was given up
		}
	}
	b.placed[key] = now.Add(wait)
	return now.Add(wait), false, func() { b.giveBack(of, recipients, key) }
}

// keep gives a mail the place back that it had.
func (b *mailBudget) keep(key string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.placed[key] = until
}

// giveBack gives back what a mail to so many has taken.
func (b *mailBudget) giveBack(of *spent, recipients int, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.placed, key)
	of.left += float64(recipients)
}

// mailBounds bounds the mails of steps.
type mailBounds struct{ *base }

// admit says when a mail of a step is sent. Administrators of the server are not bounded:
// they say what the bound is.
func (e mailBounds) admit(ctx context.Context, row *store.OutboxRow, now time.Time) (a outbox.Admission, err error) {
	var r machine.Request
	if err := json.Unmarshal(row.Request, &r); err != nil || r.Mail == nil {
		return a, nil // of a request that cannot be read the attempt says so
	}
	var of *store.Case
	err = e.Store.View(ctx, func(r store.Reader) error {
		of, err = store.OrNil(r.Cases().Get(row.CaseID))
		return err
	})
	if err != nil || of == nil {
		return a, errs.Wrap("find whose mail it is", err)
	}
	author := -identity.ID(of.RouteID) // of a route that nobody has any more
	if info := e.rights.Route(of.RouteID); info != nil && info.By != 0 {
		if author = info.By; e.directory().Active(author) && e.directory().Principal(author).Admin() {
			return a, nil
		}
	}
	most := e.limits.Mails
	at, full, back := e.mailed.place(author, row.Key, len(r.Mail.To)+len(r.Mail.ToSecrets), most, now)
	switch {
	case full:
		a.Never, a.Reason = true, fmt.Sprintf("the routes of its author send more than %d mails in an hour, and this one would wait for more than a day; try again later, or ask an administrator to raise the limit (--max-mails-by-author)", most)
	case !at.IsZero():
		a.At, a.Reason = at, fmt.Sprintf("the routes of its author send more than %d mails in an hour (--max-mails-by-author)", most)
	}
	a.Back = back
	return a, nil
}

// mostHeldInHour is how many notices wait for a user in an hour. Of more they are told that
// there are more.
const mostHeldInHour = 1000

// noticeBudget bounds the mails of notices by recipient. The zero value is ready. It is safe
// for concurrent use.
type noticeBudget struct {
	mu    sync.Mutex
	users map[identity.ID]*noticeHour
}

// noticeHour is an hour in which a user is told things.
type noticeHour struct {
	since time.Time
	sent  int64
	held  int64 // what waits for the end of it
}

// count returns when the next notice to a user is sent, zero if that is at once. more is how many wait
// for that time already. What is undone with the unit that tx is of does not count.
func (b *noticeBudget) count(tx store.Tx, user identity.ID, most int64, now time.Time) (at time.Time, more int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users == nil {
		b.users = map[identity.ID]*noticeHour{}
	}
	h := b.users[user]
	if h == nil || now.Sub(h.since).Abs() >= time.Hour { // units are decided earlier than they run, not in order
		h = &noticeHour{since: now}
		b.users[user] = h
	}
	counted := &h.sent
	if h.sent >= most {
		counted, at, more = &h.held, h.since.Add(time.Hour), h.held
	}
	*counted++
	tx.IfUndone(func() { b.giveBack(user, h, counted) })
	return at, more
}

// giveBack takes one off what was counted. The hour begins with the first notice that counts.
func (b *noticeBudget) giveBack(user identity.ID, h *noticeHour, counted *int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*counted--
	if h.sent+h.held == 0 && b.users[user] == h {
		delete(b.users, user)
	}
}
