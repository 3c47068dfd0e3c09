package account

import (
	"context"
	"encoding/json"
	"slices"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// keyRenamed is the setting that has the names which cases do not follow yet.
const keyRenamed = "renamed parties"

// mostRenamed is in how many cases a name is replaced in the unit that renames a user or
// team. More would keep others from writing: they follow after it, some at a time.
const mostRenamed = 500

// Renamed is a name that a user or team had, and by which cases may still name it. Until they
// have followed nobody else gets the name.
type Renamed struct {
	Was   identity.Name `json:"was"`
	Party identity.ID   `json:"party"`
}

// Renamed returns the names that cases do not follow yet, the earliest first.
func (t *Table) Renamed() []Renamed { return t.renamed }

// wasName returns an error if cases may still mean another user or team by the name.
func (t *Table) wasName(name string, own identity.ID) error {
	for _, r := range t.renamed {
		if p := t.byID[r.Party]; p != nil && r.Party != own && identity.Fold(string(r.Was)) == identity.Fold(name) {
			return errs.New(errs.NameTaken, "%q was the name of the %s %q, and cases still have it: the server is replacing it there. Try again in some minutes.", r.Was, p.Kind, p.Name)
		}
	}
	return nil
}

// renaming reports whether cases still have an earlier name of the user or team.
func (t *Table) renaming(id identity.ID) bool {
	return slices.ContainsFunc(t.renamed, func(r Renamed) bool { return r.Party == id })
}

func readRenamed(r store.SettingReader) (all []Renamed, err error) {
	text, err := r.Get(keyRenamed)
	if err != nil || text == "" {
		return nil, err
	}
	return all, errs.Wrap("read the earlier names of users and teams", json.Unmarshal([]byte(text), &all))
}

func writeRenamed(tx store.Tx, all []Renamed) error {
	if len(all) == 0 {
		return tx.Write().Settings().Put(keyRenamed, "")
	}
	text, err := json.Marshal(all)
	if err != nil {
		return errs.Wrap("note the earlier names of users and teams", err)
	}
	return tx.Write().Settings().Put(keyRenamed, string(text))
}

// noteRenamed notes that cases are to follow from one name to the other. They need not follow
// a name that the user or team has again.
func noteRenamed(tx store.Tx, t *Table, from, to *store.Party, follow bool) error {
	all := slices.DeleteFunc(slices.Clone(t.renamed), func(r Renamed) bool {
		return r.Party == to.ID && identity.Fold(string(r.Was)) == identity.Fold(string(to.Name))
	})
	if follow {
		all = append(all, Renamed{from.Name, from.ID})
	}
	if len(all) == 0 && len(t.renamed) == 0 {
		return nil
	}
	return writeRenamed(tx, all)
}

// Followed notes that no case has the earlier name any more.
func (e *Accounts) Followed(tx store.Tx, done Renamed) error {
	all, err := readRenamed(tx.Settings())
	if err != nil {
		return err
	}
	if err := writeRenamed(tx, slices.DeleteFunc(all, func(r Renamed) bool { return r == done })); err != nil {
		return err
	}
	return e.Refresh(tx)
}

// naming is a user or team, and the cases that may name it, as they were found outside the
// writer.
type naming struct {
	party *store.Party
	ids   []int64
	since uint64 // what has changed later may name it, too
}

// naming looks for cases that name the user or team; nil if nobody has the name.
func (e *Accounts) naming(ctx context.Context, kind identity.Kind, name string) (*naming, error) {
	p := e.Table().ByName(kind, name)
	if p == nil {
		return nil, nil
	}
	ids, since, err := e.ties.Naming(ctx, p)
	return &naming{p, ids, since}, err
}

// now returns the cases that may name the user or team, nil if that is not known. many
// reports whether there are too many for one unit.
func (n *naming) now(tx store.Tx, p *store.Party) (ids []int64, many bool) {
	if n == nil || n.party.ID != p.ID || n.party.Name != p.Name {
		return nil, false
	}
	changed, all := tx.Write().Cases().Changed(n.since)
	ids = append(append([]int64{}, n.ids...), changed...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids, all || len(ids) > mostRenamed
}
