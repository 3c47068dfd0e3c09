package engine

import (
	"context"
	"errors"
	"slices"

	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// A user or team that many cases name is renamed before they are written again. Until that is
// done, caseOf reads each case with the new name, so that rights and decisions are those of
// the renamed. Only the stored forms of cases have the earlier name for that long.

// Naming implements account.Ties.
func (e ties) Naming(ctx context.Context, p *store.Party) (ids []int64, since uint64, err error) {
	since = e.Store.Changes()
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		ids, err = r.Cases().Mentioning(quotedName(p))
		return err
	})
	return ids, since, err
}

// caseOf returns the case of a marking, with the names that users and teams have now.
func (e *base) caseOf(r store.Reader, marking []byte) (*machine.Case, error) {
	c, err := machine.ReadMarking(marking)
	if err != nil {
		return nil, err
	}
	t := e.accounts.Table()
	for _, renamed := range t.Renamed() {
		p := t.ByID(renamed.Party)
		if p == nil {
			continue // deleted: nothing names it any more
		}
		compiled, err := e.versions.get(r, c.RouteID, c.RouteVersion)
		if err != nil {
			return nil, err
		}
		c, _ = machine.Replace(c, compiled, string(renamed.Was), string(p.Name), false)
	}
	return c, nil
}

// FollowRename implements account.Ties. What fails is tried again by itself.
func (e ties) FollowRename(ctx context.Context, req change.Request, id identity.ID) {
	if err := e.followParty(ctx, req, id); err != nil && ctx.Err() == nil {
		e.log.Error().Err(err).Int64("party", int64(id)).Msg("users: not all cases have the new name of a user or team; they are read as if they had, and it is tried again")
		e.left.rouse()
	}
}

// followParty has the cases follow that name a user or team by earlier names.
func (e ties) followParty(ctx context.Context, req change.Request, id identity.ID) error {
	for _, renamed := range e.accounts.Table().Renamed() {
		if renamed.Party != id {
			continue
		}
		if err := e.followRename(ctx, req, renamed); err != nil {
			return err
		}
	}
	return nil
}

// followRenames carries on what is left. One that fails does not keep the others from it.
func (e ties) followRenames(ctx context.Context) (err error) {
	var done []identity.ID
	for _, renamed := range e.accounts.Table().Renamed() {
		if !slices.Contains(done, renamed.Party) {
			done = append(done, renamed.Party)
			err = errors.Join(err, e.followParty(ctx, change.Request{Now: e.Clock.Now()}, renamed.Party))
		}
	}
	return err
}

// followRename has the cases that name a user or team by an earlier name follow, some in each
// unit. The last unit looks at those that have changed meanwhile.
func (e ties) followRename(ctx context.Context, req change.Request, renamed account.Renamed) error {
	from := &store.Party{Party: identity.Party{ID: renamed.Party, Name: renamed.Was}}
	inCases := func(tx store.Tx, ids []int64) (changed int, err error) {
		to := e.accounts.Table().ByID(renamed.Party)
		if to == nil {
			return 0, nil
		}
		for _, id := range ids {
			h, err := e.writtenCase(tx, id)
			if err != nil {
				return 0, err
			}
			if h == nil {
				continue
			}
			did, err := (&decider{e.base}).replaceInCase(tx, req, *h, from, to)
			if err != nil {
				return 0, err
			}
			if did {
				changed++
			}
		}
		return changed, nil
	}
	var since uint64
	for range leavePasses {
		ids, began, err := e.Naming(ctx, from)
		if err != nil {
			return err
		}
		since = began
		changed := 0
		for some := range slices.Chunk(ids, leftAtOnce) {
			n := 0
			if err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
				n, err = inCases(tx, some)
				return err
			}); err != nil {
				return err
			}
			changed += n
		}
		if changed < leftFew {
			break
		}
	}
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		ids, all := tx.Write().Cases().Changed(since)
		if all {
			var err error
			if ids, err = tx.Cases().Mentioning(quotedName(from)); err != nil {
				return err
			}
		}
		if _, err := inCases(tx, ids); err != nil {
			return err
		}
		return e.accounts.Followed(tx, renamed)
	})
	return errs.Wrap("have cases follow a new name", err)
}
