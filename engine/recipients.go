package engine

import (
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// recipient is a user who is told of an event.
type recipient struct {
	notice.Person
	party *store.Party
}

// recipientOf returns the one of that user, nil for none.
func recipientOf(all []*recipient, p *store.Party) *recipient {
	if at := slices.IndexFunc(all, func(r *recipient) bool { return r.party.ID == p.ID }); at >= 0 {
		return all[at]
	}
	return nil
}

// recipient adds a user whom the core has named, if they are not told already.
func (t *notifier) recipient(all []*recipient, n machine.Notice) []*recipient {
	p := t.accounts.Table().ByName(identity.User, n.Person)
	if p == nil || p.Disabled || recipientOf(all, p) != nil {
		return all
	}
	n.Tasks = slices.Clone(n.Tasks)
	return append(all, &recipient{notice.Person{Notice: n, Name: p.Name, Email: p.MailTo()}, p})
}

// deputy adds who stands in for a user who is told of tasks, or tells them of these with
// what they are told of already.
func (t *notifier) deputy(all []*recipient, n machine.Notice) []*recipient {
	parties := t.accounts.Table()
	absent := parties.ByName(identity.User, n.Person)
	if absent == nil || absent.Disabled || !absent.Deputy.Active(t.change.after.Modified) {
		return all
	}
	p := parties.ByName(identity.User, string(absent.Deputy.User))
	if p == nil || p.Disabled {
		return all
	}
	r := recipientOf(all, p)
	lent := slices.DeleteFunc(slices.Clone(n.Tasks), func(task machine.TaskRef) bool {
		return r != nil && slices.Contains(r.Tasks, task) || !t.lends(absent, p, n.Why, task)
	})
	if len(lent) == 0 {
		return all
	}
	if r == nil {
		n.Case, n.Tasks = lent[0].Case, nil
		r = &recipient{notice.Person{Notice: n, Name: p.Name, Email: p.MailTo()}, p}
		all = append(all, r)
	}
	if r.Lent == nil {
		r.Lent = map[machine.TaskRef]string{}
	}
	if n.Why == machine.ReasonTask {
		r.Why = n.Why // the stronger reason
	}
	r.Behalf = append(r.Behalf, string(absent.Name))
	for _, task := range lent {
		r.Lent[task], r.Notice.Tasks = string(absent.Name), append(r.Notice.Tasks, task)
	}
	return all
}

// lends reports whether a deputy is told of a task of an absent user: they may do it on that
// user's behalf, and have not brought it about themselves just now.
func (t *notifier) lends(absent, deputy *store.Party, why machine.Reason, task machine.TaskRef) bool {
	if why == machine.ReasonTask && task.Case == t.change.row.ID && t.change.notices.Gave(t.change.after, string(deputy.Name)) {
		return false
	}
	at := t.recipientCases[task.Case]
	return at != nil && at.change != nil &&
		machine.LentTo(t.rights.Deputy(t.accounts.Principal(deputy.ID), t.accounts.Principal(absent.ID)), at.Case, at.change.route, task.Action)
}

// add adds a person. Nobody is told of a case that they may not see
// (docs/contract/routes.md#6-notifications).
func (t *notifier) add(who *store.Party, p notice.Person) error {
	by := t.accounts.Principal(who.ID)
	at, err := t.recipientCase(p.Notice.Case)
	if err != nil || at == nil {
		return err
	}
	p.At = at.Case
	if p.Sees, err = t.sees(by, t.change.row.ID); err != nil {
		return err
	}
	if len(p.Tasks) > 0 {
		n := t.notice(kindOfTasks(&p), t.change.after)
		n.People = append(n.People, p)
		return nil
	}
	news, err := t.newsFor(by, &p)
	if err != nil || news == nil {
		return err
	}
	if at, err = t.recipientCase(news.Case); err != nil || at == nil {
		return err
	}
	kind := notice.KindAct
	if news.Ended && !t.isChildsAct(news) {
		kind = notice.KindOutcome
		if at.change != nil && at.change.route.OnlyFailed && at.Case.Shown() != machine.Failed && !slices.Contains(who.Watch, at.change.route.Name) {
			return nil
		}
	}
	n := t.notice(kind, at.Case)
	n.Word, p.At = news.Word, at.Case
	if t.isChildsAct(news) {
		n.Child = t.change.notices.Child
	}
	n.People = append(n.People, p)
	return nil
}

// kindOfTasks returns the kind of notice by which somebody is told of tasks.
func kindOfTasks(p *notice.Person) notice.Kind {
	if p.Why == machine.ReasonReminder {
		return notice.KindReminder
	}
	return notice.KindTask
}

// isChildsAct reports whether the news are of the event's case, and that is a
// child: what happened there is one step of its parent.
func (t *notifier) isChildsAct(news *machine.News) bool {
	return news.Case == t.change.row.ID && t.change.notices.Child != nil
}

// newsFor returns the one thing that a person is told of an event: the end of the
// uppermost case of which they are told, else what was done in the event's case,
// else what that led to in a case above it. nil: nothing.
func (t *notifier) newsFor(by identity.Principal, p *notice.Person) (*machine.News, error) {
	all := t.change.notices.News
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].Ended || t.isChildsAct(&all[i]) || !slices.Contains(p.Cases, all[i].Case) {
			continue
		}
		if sees, err := t.sees(by, all[i].Case); sees || err != nil {
			return &all[i], err
		}
	}
	if p.Own {
		return nil, nil
	}
	for i := range all {
		of := &all[i]
		if of.Case != t.change.row.ID && !slices.Contains(p.Cases, of.Case) {
			continue
		}
		if sees, err := t.sees(by, of.Case); sees || err != nil {
			return of, err
		}
	}
	return nil, nil
}

// sees reports whether by may see a case of the tree.
func (t *notifier) sees(by identity.Principal, id int64) (bool, error) {
	if at := t.recipientCases[id]; at != nil && at.change != nil {
		return t.rights.SeesCase(t.tx, by, &at.change.row)
	}
	row, err := store.OrNil(t.tx.Cases().Get(id))
	if err != nil || row == nil {
		return false, err
	}
	return t.rights.SeesCase(t.tx, by, row)
}

// notice returns the notice of that kind about that case.
func (t *notifier) notice(kind notice.Kind, about *machine.Case) *notice.Notice {
	for _, n := range t.notices {
		if n.Kind == kind && n.Case.ID == about.ID {
			return n
		}
	}
	n := &notice.Notice{
		Kind: kind, Time: t.change.after.Modified, Case: about, Acts: t.change.notices.Acts, ActsCase: t.change.row.ID, Title: t.taskTitle, Name: t.userName,
	}
	t.notices = append(t.notices, n)
	return n
}

// userName returns what people call a user.
func (t *notifier) userName(name string) string { return t.callName(identity.Name(name)) }
