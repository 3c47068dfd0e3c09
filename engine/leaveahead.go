package engine

import (
	"context"
	"slices"

	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	// How many cases, and texts, are written in one unit. Others write in between.
	leftAtOnce = 50
	// What is looked for again after so few have changed is not worth it: ReplaceParty
	// looks at what has changed since.
	leftFew     = 500
	leavePasses = 4
)

// LeaveAhead implements account.Ties. What is to be changed is found outside the writer. Each
// case is as ReplaceParty and EraseParty would leave it, so that it does not matter when the
// rest is done.
func (e ties) LeaveAhead(ctx context.Context, req change.Request, of account.Leaving) (since uint64, err error) {
	req.If = nil
	l := &removing{Leaving: of, base: e.base, req: req}
	if of.Has != nil {
		l.who = e.toErase(of.Had, of.Has)
		if err := e.forgetDone(ctx, of.Had.ID); err != nil {
			return 0, err
		}
	}
	for range leavePasses {
		since = e.Store.Changes()
		changed, err := l.some(ctx)
		if err != nil || changed < leftFew {
			return since, err
		}
	}
	return since, nil
}

// forgetDone deletes what is kept of what the user has done.
func (e ties) forgetDone(ctx context.Context, id identity.ID) error {
	for {
		var n int64
		err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
			n, err = tx.Write().Parties().ForgetDone(id, leftAtOnce)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// removing takes a user or team out of cases and texts.
type removing struct {
	account.Leaving
	*base
	req change.Request
	who *erased // nil: the name stays
}

// words are the texts in which the name may stand.
func (l *removing) words() []string {
	if l.who == nil {
		return []string{quotedName(l.Had)}
	}
	return l.who.words()
}

// some changes what there is of the user or team now, and returns how much that was.
func (l *removing) some(ctx context.Context) (changed int, err error) {
	var ids []int64
	var texts []store.Wording
	err = l.Store.View(ctx, func(r store.Reader) error {
		for _, word := range l.words() {
			some, err := r.Cases().Mentioning(word)
			if err != nil {
				return err
			}
			ids = append(ids, some...)
		}
		started, err := r.Parties().Started(l.Had.ID)
		if err != nil {
			return err
		}
		ids = append(ids, started...)
		if l.who != nil {
			texts, err = r.Parties().Worded(l.words(), nil)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), leftAtOnce) {
		n := 0
		err := l.Store.Update(ctx, func(tx store.Tx) (err error) {
			n, err = l.inCases(tx, some)
			return err
		})
		if err != nil {
			return 0, err
		}
		changed += n
	}
	for some := range slices.Chunk(texts, leftAtOnce) {
		if err := l.Store.Update(ctx, func(tx store.Tx) error { return tx.Write().Parties().Reword(some, l.who.inJSON) }); err != nil {
			return 0, err
		}
	}
	return changed, nil
}

// inCases changes some cases in one unit, and returns how many there were to change.
func (l *removing) inCases(tx store.Tx, ids []int64) (changed int, err error) {
	var started []int64
	for _, id := range ids {
		h, err := l.writtenCase(tx, id)
		if err != nil {
			return 0, err
		}
		if h == nil {
			continue
		}
		if h.row.StarterID == l.Had.ID {
			started = append(started, id)
		}
		var did bool
		if l.who != nil {
			did, err = l.erase(tx, *h)
		} else {
			did, err = (&decider{l.base}).replaceInCase(tx, l.req, *h, l.Had, l.Successor)
		}
		if err != nil {
			return 0, err
		}
		if did {
			changed++
		}
	}
	if l.Successor == nil || len(started) == 0 {
		return changed, nil
	}
	return changed, tx.Write().Parties().HandOverCases(l.Had.ID, l.Successor.ID, started)
}

// erase gives the place of the user in a case to the successor, and takes the name out
// of it. It reports whether that has changed anything.
func (l *removing) erase(tx store.Tx, h loadedCase) (changed bool, err error) {
	who, d, compiled := l.who, &decider{l.base}, h.route.Compiled
	after, renamed := machine.Replace(h.core, compiled, who.name, who.pseudonym, false)
	after, forgotten := machine.Forget(after, who.name, who.pseudonym, who.inText)
	handedOver := false
	if l.Successor != nil {
		after, handedOver = machine.Replace(after, compiled, who.pseudonym, string(l.Successor.Name), true)
	}
	c := &caseChange{before: h.core.Shown(), was: h.core, after: after, base: h.row.Revision}
	switch {
	case handedOver:
		if identity.ID(after.ContextID) == l.Had.ID {
			after.ContextID = int64(l.Successor.ID)
		}
		return true, writeHandedOver(d, tx, h, c, handing{l.req, who.pseudonym + " to " + string(l.Successor.Name)})
	case renamed || forgotten:
		after.Revision++
		return true, rewriteCase(d, tx, c, h)
	}
	return false, nil
}
