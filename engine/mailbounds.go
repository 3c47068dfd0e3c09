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
// that waits has its place from then on. full says that it would wait for too long.
func (b *mailBudget) place(author identity.ID, key string, recipients int, most int64, now time.Time) (at time.Time, full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.authors == nil {
		b.authors, b.placed = map[identity.ID]*spent{}, map[string]time.Time{}
	}
	if until, waited := b.placed[key]; waited && !now.Before(until) {
		delete(b.placed, key)
		return time.Time{}, false
	} else if waited {
		return until, false // its case was retried meanwhile
	}
	of := b.authors[author]
	if of == nil {
		of = &spent{left: float64(most), at: now}
		b.authors[author] = of
	}
	of.refill(most, now)
	if of.left >= 1 {
		of.left -= float64(recipients) // of a mail to many the next ones wait longer
		return time.Time{}, false
	}
	wait := time.Duration((1-of.left)/float64(most)*float64(time.Hour)).Truncate(time.Second) + time.Second
	if wait > longestMailWait {
		return time.Time{}, true
	}
	of.left -= float64(recipients)
	for key, until := range b.placed {
		if now.Sub(until) > longestMailWait {
			delete(b.placed, key) // it was given up
		}
	}
	b.placed[key] = now.Add(wait)
	return now.Add(wait), false
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
	at, full := e.mailed.place(author, row.Key, len(r.Mail.To)+len(r.Mail.ToSecrets), most, now)
	switch {
	case full:
		a.Never, a.Reason = true, fmt.Sprintf("the routes of its author send more than %d mails in an hour, and this one would wait for more than a day; try again later, or ask an administrator to raise the limit (--max-mails-by-author)", most)
	case !at.IsZero():
		a.At, a.Reason = at, fmt.Sprintf("the routes of its author send more than %d mails in an hour (--max-mails-by-author)", most)
	}
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
	told  int64
}

// count returns when the next notice to a user is sent, zero if that is at once. more is how many wait
// for that time already.
func (b *noticeBudget) count(user identity.ID, most int64, now time.Time) (at time.Time, more int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users == nil {
		b.users = map[identity.ID]*noticeHour{}
	}
	h := b.users[user]
	if h == nil || now.Before(h.since) || now.Sub(h.since) >= time.Hour {
		h = &noticeHour{since: now}
		b.users[user] = h
	}
	h.told++
	if h.told <= most {
		return time.Time{}, 0
	}
	return h.since.Add(time.Hour), h.told - most - 1
}
