package engine

import (
	"context"
	"slices"

	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// mostForNewcomer is of how many cases somebody is told at most who can log in again or has
// joined a team. Their worklist has all of them.
const mostForNewcomer = 500

// newcomers tells users of the tasks that wait for them since they can log in again, or are
// members of a team (docs/contract/routes.md#6-notifications).
type newcomers struct {
	*decider
	req   change.Request
	staff account.Staff
	all   []newcomer
}

// newcomer is such a user, and the parties as which they have got tasks.
type newcomer struct {
	user    string
	parties []string
}

// tell tells each of them of all tasks in one mail.
func (t *newcomers) tell(ctx context.Context) error {
	parties := t.find()
	if len(parties) == 0 || !t.canNotify() {
		return nil
	}
	var ids []int64
	err := t.Store.View(ctx, func(r store.Reader) error {
		rows, err := r.Cases().Tasks().WithTasks(store.TaskFilter{Lists: machine.OnOffered, Parties: parties, Limit: mostForNewcomer})
		for i := range rows {
			ids = append(ids, rows[i].ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(ids, maxRestaffed) {
		err := t.Store.Update(ctx, func(tx store.Tx) error {
			for _, id := range some {
				if err := t.tellOf(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// find finds who has come, and returns the parties as which they have.
func (t *newcomers) find() (parties []identity.ID) {
	d := t.directory()
	names := func(ids []identity.ID) (out []string) {
		for _, id := range ids {
			if p := d.ByID(id); p != nil && p.Name != identity.Everyone {
				out = append(out, string(p.Name))
			}
		}
		return out
	}
	for _, come := range t.staff.Come {
		for _, user := range t.persons(string(come)) {
			of := d.ByName(identity.Name(user))
			if of == nil || of.ID == t.req.By.ID {
				continue // who joins by their own doing looks at their worklist
			}
			through := t.withTeams(t.staff.Changed)
			if !slices.Contains(t.staff.Changed, of.ID) {
				through = slices.DeleteFunc(through, func(team identity.ID) bool { return t.wasIn(of, team) })
			}
			t.all = append(t.all, newcomer{user, names(through)})
			parties = append(parties, through...)
		}
	}
	parties = slices.DeleteFunc(parties, func(id identity.ID) bool { return id == d.EveryoneID() })
	slices.Sort(parties)
	return slices.Compact(parties)
}

// wasIn reports whether a user is in a team by another one than that which they have joined.
func (t *newcomers) wasIn(user *identity.Party, team identity.ID) bool {
	for _, p := range t.directory().Parties() {
		if p.Kind == identity.Team && !slices.Contains(t.staff.Changed, p.ID) && slices.Contains(p.Members, user.Name) && slices.Contains(t.withTeams([]identity.ID{p.ID}), team) {
			return true
		}
	}
	return false
}

// tellOf tells them of what waits for them in a case.
func (t *newcomers) tellOf(tx store.Tx, id int64) error {
	row, err := store.OrNil(tx.Cases().Get(id))
	if err != nil || row == nil || row.Archived != 0 {
		return err
	}
	h, err := t.loadRow(tx, identity.Principal{}, row, nil)
	if err != nil {
		return err
	}
	c := &caseChange{row: *h.row, after: h.core, was: h.core, route: h.route.Compiled}
	// What is told at the same instant of the case is kept under another name.
	const apart = 10_000_000_000
	by := &notifier{
		decider: t.decider, tx: tx, change: c, posted: int(int64(t.staff.Changed[0])*apart + t.req.Now.Unix()), at: t.req.Now,
		recipientCases: map[int64]*recipientCase{id: {h.core, c}},
	}
	n := &notice.Notice{Kind: notice.KindTask, Time: t.req.Now, Case: h.core, Title: by.taskTitle, Name: by.userName, Crowd: true}
	for _, one := range t.all {
		tasks := machine.OfferedAs(h.core, h.route.Compiled, one.user, one.parties)
		p := t.accounts.Table().ByName(identity.User, one.user)
		if len(tasks) == 0 || p == nil {
			continue
		}
		if sees, err := by.sees(t.accounts.Principal(p.ID), id); err != nil {
			return err
		} else if sees {
			n.People = append(n.People, notice.Person{
				Notice: machine.Notice{Person: one.user, Why: machine.ReasonTask, Case: id, Tasks: tasks},
				Name:   p.Name, Email: p.MailTo(), At: h.core, Sees: true,
			})
		}
	}
	if len(n.People) == 0 {
		return nil
	}
	return by.tell(n)
}
