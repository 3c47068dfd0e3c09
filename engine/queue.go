package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"flowdrive/engine/quota"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The manager starts queued cases by priority, higher first. Of cases with
// equal priority it takes one of each route in turn, and of each route by id
// (docs/contract/engine.md#queue). Everything that it decides by is in the
// database.
//
// A case belongs to the group named by its own version of the route. Storing a
// new version does not regroup running cases; migrating them does.
//
// Starts are limited: a batch of cases, each in a unit of its own. Between
// batches the sweeper fires what has become due, and requests are served.

// blockedCases are queued cases that a defect keeps from starting. They are
// not tried again by this process.
type blockedCases struct {
	mu  sync.Mutex
	ids map[int64]bool
}

func (s *blockedCases) add(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep(&s.ids, id, true)
}

func (s *blockedCases) has(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}

// startBlocked reports whether a hold, or another case of the group that is busy,
// keeps a case of that route and group from starting; but are the ids of the
// cases of the same change.
func startBlocked(r store.Reader, route, group string, but ...int64) (bool, error) {
	holds, err := r.Queue().Holds()
	if err != nil || coveredByHold(holds, route, group) {
		return true, err
	}
	if group == "" {
		return false, nil
	}
	return r.Queue().GroupBusy(group, but)
}

// sayWhyQueued adds to a refusal what the queued case waits for. The reason of
// a hold is shown to all, its name to administrators.
func (e *decider) sayWhyQueued(h *loadedCase, by identity.Principal, refusal error) error {
	refused, is := errors.AsType[*errs.Error](refusal)
	if !is {
		return refusal
	}
	why, err := e.whyQueued(h.from, h.row, by)
	if err != nil {
		return err
	}
	with := *refused
	with.Detail += " " + why
	return &with
}

// whyQueued says in a sentence what a queued case waits for.
func (e *decider) whyQueued(r store.Reader, row *store.Case, by identity.Principal) (string, error) {
	switch {
	case row.Waits:
		return "It waits for earlier cases of its schedule entry to end.", nil
	case !row.Due.IsZero():
		return "It waits for its startAt, " + row.Due.UTC().Format(time.RFC3339) + ".", nil
	}
	holds, err := r.Queue().Holds()
	if err != nil {
		return "", err
	}
	if why := heldBack(holds, e.rights.RouteName(row.RouteID), row.Group, by); why != "" {
		return why, nil
	}
	if row.Group == "" {
		return "It starts when its turn comes.", nil
	}
	busy, err := r.Queue().GroupBusy(row.Group, []int64{row.ID})
	if busy {
		return fmt.Sprintf("Another case of its group, %q, is at work; it starts when its turn comes.", row.Group), err
	}
	return "It starts when its turn comes.", err
}

// heldBack says in a sentence which hold keeps a case of that route and group queued, ""
// for none. Its name is for administrators.
func heldBack(holds []store.Hold, route, group string, by identity.Principal) string {
	at := slices.IndexFunc(holds, func(h store.Hold) bool { return holdCovers(&h, route, group) })
	if at < 0 {
		return ""
	}
	why := "An administrator holds it back"
	if by.Admin() {
		why = "Admin/Holds/" + holds[at].Name + ".json holds it back"
	}
	if reason := holds[at].Reason; reason != "" {
		why += ": " + strings.TrimSuffix(reason, ".")
	}
	return why + "."
}

// groupWaits reports whether another queued case of the group could be started.
// A case that is created meanwhile does not overtake it.
func (e *decider) groupWaits(r store.Reader, group string, but int64) (bool, error) {
	if group == "" {
		return false, nil
	}
	q, err := e.newQueue(r)
	if err != nil {
		return false, err
	}
	q.lines = slices.DeleteFunc(q.lines, func(l *fairQueue) bool { return l.first.Group != group })
	c, from, err := q.next()
	if from != nil && c.ID == but {
		_, from, err = q.next()
	}
	return from != nil, err
}

// startsNow reports whether a case may be started when it is created: nothing
// blocks its start, and it overtakes no queued case that could start. Creating
// a case never waits for starting it, but a case that a person starts should
// have started when the answer comes (docs/contract/engine.md#queue).
func (e *decider) startsNow(r store.Reader, b startable, now time.Time) (bool, error) {
	if b.startAt.After(now) {
		return false, nil
	}
	if b.group != "" && e.sweeper.next.Reached(now) {
		return false, nil // what is due may be of the group; the manager fires it first
	}
	if held, err := startBlocked(r, b.route, b.group); held || err != nil {
		return false, err
	}
	if !e.sweeper.queued.Load() {
		return true, nil
	}
	q, err := e.newQueue(r)
	if err != nil {
		return false, err
	}
	first, from, err := q.next()
	return from == nil || first.Priority < b.priority, err
}

// startable is what decides on whether a case is started at once.
type startable struct {
	route    string
	group    string
	priority int
	startAt  time.Time
}

func (b *newCase) startable() startable {
	return startable{b.info.Name, b.info.Compiled.Group, b.priority, b.startAt}
}

// starts reports whether the change starts its case.
func (c *caseChange) starts() bool {
	return !c.after.Started.IsZero() && (c.was == nil || c.was.Started.IsZero())
}

// checkStillStarts returns change.ErrStale if the start of a case of the change
// has been blocked since the change was decided.
func checkStillStarts(tx store.Tx, c *caseChange) error {
	var but []int64
	for _, each := range append([]*caseChange{c}, c.others...) {
		if !each.starts() {
			continue
		}
		if but == nil {
			but = append(but, c.row.ID)
			for _, other := range c.others {
				but = append(but, other.row.ID)
			}
		}
		if held, err := startBlocked(tx, each.after.RouteName, each.row.Group, but...); err != nil {
			return err
		} else if held {
			return change.ErrStale
		}
	}
	return nil
}

// startQueue starts a batch of the queued cases and returns how many it tried
// to start. One that a defect keeps from starting stays queued and is not
// tried again by this process.
func (e *Engine) startQueue(ctx context.Context, now time.Time) (tried int, err error) {
	if !e.sweeper.queued.Swap(false) {
		return 0, nil
	}
	tried, more, err := e.startSome(ctx, now)
	if more || err != nil {
		e.sweeper.queued.Store(true)
	}
	return tried, err
}

// choose returns the cases to be started next, with the lane that each is in.
func (e *Engine) choose(ctx context.Context) (ids []int64, lanes []store.Lane, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		q, err := e.decider.newQueue(r)
		if err != nil {
			return err
		}
		q.startWith(e.sweeper.turn)
		for len(ids) < batch {
			c, from, err := q.next()
			if from == nil || err != nil {
				return err
			}
			ids, lanes = append(ids, c.ID), append(lanes, from.first)
		}
		return nil
	})
	if len(lanes) > 0 {
		e.sweeper.turn = lanes[len(lanes)-1]
	}
	return ids, lanes, err
}

// startSome starts a batch of queued cases. It returns how many it tried to
// start, and whether there may be more. Of a group it chooses several: each
// starts if the one before has come to rest by then, the others stay queued.
func (e *Engine) startSome(ctx context.Context, now time.Time) (tried int, more bool, err error) {
	ids, lanes, err := e.choose(ctx)
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	more = len(ids) == batch
	busy := map[string]bool{} // groups with a case that could not start, or that has more to do
	var spent spending
	start := func(i int) func(store.Tx) error {
		id, group := ids[i], lanes[i].Group
		return func(tx store.Tx) error {
			if busy[group] || !spent.allows(0) {
				more = true // it may be at rest by then
				return nil
			}
			rests, err := e.startQueued(tx, id, now, spent.by(0))
			if group != "" {
				busy[group] = err != nil || !rests
			}
			return err
		}
	}
	units := make([]func(store.Tx) error, len(ids))
	for i := range units {
		units[i] = func(tx store.Tx) error {
			tx.Write().Later() // what does not come out is started again
			return start(i)(tx)
		}
	}
	aside := 0
	for i, err := range store.InPartsAhead(ctx, e.Store, store.Ahead{Cases: ids}, units) {
		again := func() error {
			delete(busy, lanes[i].Group)
			spent = spending{} // a unit of its own
			return e.Store.Update(ctx, start(i))
		}
		if errors.Is(err, store.ErrAgain) {
			err = again()
		}
		w := work{key: keyOfQueued(ids[i]), group: lanes[i].Group}
		first := err
		if e.putAside(ctx, err, w, func() error { return e.startAside(ctx, ids[i], now, first) }) {
			aside++
			continue
		}
		err = e.runPrefetched(ctx, err, again)
		switch {
		case err == nil:
		case ctx.Err() != nil || quota.Unserved(err):
			return i, true, err
		default:
			e.stick(ids[i], err)
		}
	}
	return len(ids), more && aside < len(ids), nil // what is aside says itself when it is done
}

// startQueued starts one queued case, unless something holds it up. It
// reports whether the case has come to rest, so that another of its group may
// start.
func (e *Engine) startQueued(tx store.Tx, id int64, now time.Time, spent *uint64) (rests bool, err error) {
	row, err := store.OrNil(tx.Cases().Get(id))
	if err != nil || row == nil || row.State != string(machine.Queued) || !row.Due.IsZero() {
		return true, err
	}
	if held, err := startBlocked(tx, e.rights.RouteName(row.RouteID), row.Group, id); held || err != nil {
		return false, err
	}
	c, err := e.decider.advanceCase(tx, row, machine.Start{}, now, spent)
	if err != nil {
		return false, err
	}
	return !c.row.Busy, nil
}
