package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// A server that is down tells nobody. It leaves a sign of life, and tells at its next start
// for how long it was away (docs/contract/routes.md#when-the-server-was-away).

// settingAlive is the setting with the last sign of life of the server.
const settingAlive = "alive"

const (
	// AliveEvery is how often a sign of life is stored.
	AliveEvery = time.Minute
	// toldAway is for how long the server must have been away for people to be told.
	toldAway = 5 * time.Minute
	// mostMissed is how many due rows are counted, and mostMissedOf how many instants of one
	// schedule entry: the server must not take long to start.
	mostMissed   = 10_000
	mostMissedOf = 1000
)

// signOfLife is when the server was there last.
type signOfLife struct {
	At      time.Time `json:"at"`
	Stopped bool      `json:"stopped,omitempty"` // it was stopped in good order
	Since   bool      `json:"since,omitempty"`   // it has been there since then: what it left elsewhere says until when
	Away    *absence  `json:"away,omitempty"`    // the last of which people were told
}

// absence is a time in which there was no server.
type absence struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Stopped bool      `json:"stopped"` // in good order
}

// has reports whether people were told of an instant by what they were told of the absence.
func (a *absence) has(instant time.Time) bool {
	return a != nil && instant.After(a.From) && !instant.After(a.To)
}

// Alive stores that the server is there or, with stopped, that it ends in good order.
func (e *Server) Alive(ctx context.Context, stopped bool) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		return putAlive(tx, &signOfLife{At: e.Clock.Now(), Stopped: stopped, Away: e.away.Load()})
	})
}

// Ended stores when the last server was there last, which was not stopped in good order.
func (e *Server) Ended(ctx context.Context, seen time.Time) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		sign, err := readAlive(tx)
		if err != nil || sign == nil || !sign.Since {
			return err
		}
		return putAlive(tx, &signOfLife{At: seen, Away: sign.Away})
	})
}

func putAlive(tx store.Tx, sign *signOfLife) error {
	return tx.Write().Settings().Put(settingAlive, string(document.Line(sign)))
}

func readAlive(r store.Reader) (*signOfLife, error) {
	text, err := r.Settings().Get(settingAlive)
	if err != nil || text == "" {
		return nil, err
	}
	sign := new(signOfLife)
	return sign, errs.Wrap("read the last sign of life", json.Unmarshal([]byte(text), sign))
}

// Return says that the server is there again. If it was away for more than some minutes
// administrators are told, and those whose schedule entries had instants in that time: each
// once. It is called before anything that is due is done. seen is a later sign of life of a
// server that was not stopped in good order than those that are stored; zero: there is none.
func (e *Engine) Return(ctx context.Context, seen time.Time) error {
	var away *absence
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		now := e.Clock.Now()
		sign, err := readAlive(tx)
		if err != nil {
			return err
		}
		if sign == nil {
			return putAlive(tx, &signOfLife{At: now, Since: true})
		}
		if sign.Since && !seen.IsZero() {
			sign.At, sign.Since = seen, false
		}
		// Of a copy that was made while the server ran nobody knows since when it is there.
		if away = sign.Away; !sign.Since && now.Sub(sign.At) > toldAway {
			away = &absence{From: sign.At, To: now, Stopped: sign.Stopped}
			if err := (&returning{e, tx, away}).tell(); err != nil {
				return err
			}
		}
		return putAlive(tx, &signOfLife{At: now, Since: true, Away: away})
	})
	if err == nil {
		e.away.Store(away)
	}
	return err
}

// returning tells people of an absence, within a unit.
type returning struct {
	*Engine
	tx   store.Tx
	away *absence
}

func (r *returning) tell() error {
	n, err := r.notice()
	if err != nil {
		return err
	}
	a := n.Away
	r.tx.AfterCommit(func() {
		r.log.Warn().Time("from", a.From).Time("to", a.To).Bool("stopped", a.Stopped).Int("entries", a.Entries).Int("late", a.Late).Int("skipped", a.Skipped).Int("cases", a.Cases).
			Msg("server: was away; what came due in that time is done now, or skipped as the schedule entries say")
	})
	if !r.decider.canNotify() {
		return nil
	}
	return r.decider.tell(r.tx, n, r.decider.postLoose(r.tx, n.Time))
}

// notice returns what people are told: it counts what came due in the time and lists to
// everybody their own schedule entries.
func (r *returning) notice() (*notice.Notice, error) {
	c := &concerned{decider: r.decider, table: r.accounts.Table()}
	c.admins(0, true)
	a := &notice.Away{From: r.away.From, To: r.away.To, Stopped: r.away.Stopped, Own: map[identity.Name]*notice.Missed{}}
	rows, _, err := r.tx.Queue().Due(r.away.To, mostMissed)
	if err != nil {
		return nil, err
	}
	a.More = len(rows) == mostMissed
	for i := range rows {
		switch rows[i].Kind {
		case store.DueEntry:
			if err := r.entry(a, c, rows[i].UUID); err != nil {
				return nil, err
			}
		case store.DueCase:
			if r.away.To.Sub(rows[i].Due) > AliveEvery {
				a.Cases++
			}
		case store.DueAttachment, store.DueRetirement, store.DuePurge, store.DueTrouble, store.DueMail, store.DueSecret:
		}
	}
	kind := notice.KindOverdue
	if a.Stopped && a.Entries == 0 && a.Cases == 0 {
		kind = notice.KindAct // nothing is late
	}
	return &notice.Notice{Kind: kind, Time: r.away.To, Away: a, People: c.people}, nil
}

// entry counts what becomes of the instants of a schedule entry.
func (r *returning) entry(a *notice.Away, c *concerned, uuid store.UUID) error {
	stored, err := store.OrNil(r.tx.Entries().Get(uuid))
	if err != nil || stored == nil {
		return err
	}
	// What cannot be read of its calendar is told when it fires.
	entry, _, err := r.Schedules.calendars.ReadEntry(r.tx, stored, r.away.To)
	if err != nil {
		return err
	}
	m := notice.MissedEntry{UUID: stored.UUID.String(), Title: cmp.Or(entry.Title, entry.Route)}
	for n := 0; n < mostMissedOf; n++ {
		step := entry.Step(r.away.To)
		if step.Nothing() {
			break
		}
		m.Skipped += len(step.Skipped)
		if step.Late {
			m.Late++
		}
		for _, at := range append(step.Skipped, step.Instant) {
			if m.First.IsZero() && !at.IsZero() && (step.Late || len(step.Skipped) > 0) {
				m.First = at
			}
		}
		if step.Ended {
			break
		}
	}
	if m.Late+m.Skipped == 0 {
		return nil
	}
	a.Entries, a.Late, a.Skipped = a.Entries+1, a.Late+m.Late, a.Skipped+m.Skipped
	for _, p := range (&deeds{r.decider, r.tx}).ownersOf(stored, "") {
		c.user(c.table.ByName(identity.User, string(p.Name)), p.Why)
		if a.Own[p.Name] == nil {
			a.Own[p.Name] = new(notice.Missed)
		}
		a.Own[p.Name].Add(m)
	}
	return nil
}
