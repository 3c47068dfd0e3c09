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
	erasedAtOnce = 50
	// What is looked for again after so few have changed is not worth it: ReplaceParty
	// looks at what has changed since.
	erasedFew    = 500
	erasedPasses = 4
)

// EraseAhead implements account.Ties. What is to be changed is found outside the writer. Each
// case is as ReplaceParty and EraseParty would leave it, so that it does not matter when the
// rest is done.
func (e *base) EraseAhead(ctx context.Context, req change.Request, a account.Erasure) (since uint64, err error) {
	who := e.toErase(a.Had, a.Has)
	req.If = nil
	if err := e.forgetDone(ctx, a.Had.ID); err != nil {
		return 0, err
	}
	for range erasedPasses {
		since = e.Store.Changes()
		changed, err := e.eraseSome(ctx, req, a, who)
		if err != nil || changed < erasedFew {
			return since, err
		}
	}
	return since, nil
}

// forgetDone deletes what is kept of what the user has done.
func (e *base) forgetDone(ctx context.Context, id identity.ID) error {
	for {
		var n int64
		err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
			n, err = tx.Write().Parties().ForgetDone(id, erasedAtOnce)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// eraseSome erases what there is of the person now, and returns how much that was.
func (e *base) eraseSome(ctx context.Context, req change.Request, a account.Erasure, who *erased) (changed int, err error) {
	var ids []int64
	var texts []store.Wording
	err = e.Store.View(ctx, func(r store.Reader) error {
		for _, word := range who.words() {
			some, err := r.Cases().Mentioning(word)
			if err != nil {
				return err
			}
			ids = append(ids, some...)
		}
		started, err := r.Parties().Started(a.Had.ID)
		if err != nil {
			return err
		}
		ids = append(ids, started...)
		texts, err = r.Parties().Worded(who.words(), nil)
		return err
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), erasedAtOnce) {
		n := 0
		err := e.Store.Update(ctx, func(tx store.Tx) error {
			n = 0
			var started []int64
			for _, id := range some {
				h, err := e.writtenCase(tx, id)
				if err != nil {
					return err
				}
				if h == nil {
					continue
				}
				if h.row.StarterID == a.Had.ID {
					started = append(started, id)
				}
				did, err := eraseCase(&decider{e}, tx, req, erasing{a, who, *h})
				if err != nil {
					return err
				}
				if did {
					n++
				}
			}
			if a.Successor == nil || len(started) == 0 {
				return nil
			}
			return tx.Write().Parties().HandOverCases(a.Had.ID, a.Successor.ID, started)
		})
		if err != nil {
			return 0, err
		}
		changed += n
	}
	for some := range slices.Chunk(texts, erasedAtOnce) {
		if err := e.Store.Update(ctx, func(tx store.Tx) error { return tx.Write().Parties().Reword(some, who.inJSON) }); err != nil {
			return 0, err
		}
	}
	return changed, nil
}

// erasing is a case from which somebody is to be erased.
type erasing struct {
	account.Erasure
	who *erased
	is  loadedCase
}

// eraseCase gives the place of the person in a case to the successor, and takes the name out
// of it. It reports whether that has changed anything.
func eraseCase(e *decider, tx store.Tx, req change.Request, in erasing) (changed bool, err error) {
	a, who, h := in.Erasure, in.who, in.is
	compiled := h.route.Compiled
	after, renamed := machine.Replace(h.core, compiled, who.name, who.pseudonym, false)
	after, forgotten := machine.Forget(after, who.name, who.pseudonym, who.inText)
	handedOver := false
	if a.Successor != nil {
		after, handedOver = machine.Replace(after, compiled, who.pseudonym, string(a.Successor.Name), true)
	}
	c := &caseChange{before: h.core.Shown(), was: h.core, after: after, base: h.row.Revision}
	switch {
	case handedOver:
		if identity.ID(after.ContextID) == a.Had.ID {
			after.ContextID = int64(a.Successor.ID)
		}
		return true, writeHandedOver(e, tx, h, c, handing{req, who.pseudonym + " to " + string(a.Successor.Name)})
	case renamed || forgotten:
		after.Revision++
		return true, rewriteCase(e, tx, c, h)
	}
	return false, nil
}
