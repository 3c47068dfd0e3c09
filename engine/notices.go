package engine

import (
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// Channels are the ways in which people are notified of events. In addition
// they can look at /events (docs/contract/routes.md#6-notifications).
type Channels struct {
	Mail         bool // the outside has a mail server
	Destinations []notice.Destination
}

// canNotify reports whether there is any way to notify.
func (e *decider) canNotify() bool { return e.channels.Mail || len(e.channels.Destinations) > 0 }

// notifier is the notification of one event.
type notifier struct {
	*decider
	tx             store.Tx
	change         *caseChange // of the event's case
	recipientCases map[int64]*recipientCase
	notices        []*notice.Notice // in the order in which they came up
	earlierMended  []*earlier       // what had failed in earlier cases of the same schedule entry
	posted         int
	at             time.Time // zero: when the case was changed
	by             string    // who has brought it about, "" for those whom the log of the change names
}

// now returns when people are told.
func (t *notifier) now() time.Time {
	if t.at.IsZero() {
		return t.change.after.Modified
	}
	return t.at
}

// recipientCase is a case through which people are told.
type recipientCase struct {
	*machine.Case
	change *caseChange // nil: the event has not changed it
}

// notifyPeople puts into the outbox what people are to be told of a change. It
// is of the change's unit: what was not stored is not told, and what was
// stored is told though the server ends now.
func (e *decider) notifyPeople(tx store.Tx, c *caseChange) error {
	if !e.canNotify() {
		return nil
	}
	t := &notifier{decider: e, tx: tx, change: c, recipientCases: map[int64]*recipientCase{c.row.ID: {c.after, c}}}
	for _, other := range c.others {
		t.recipientCases[other.row.ID] = &recipientCase{other.after, other}
	}
	if c.notices != nil {
		if err := t.find(); err != nil {
			return err
		}
	}
	if err := t.noteTroubles(); err != nil {
		return err
	}
	if err := t.tellStarter(); err != nil {
		return err
	}
	tellTogether(t.notices)
	for _, n := range t.notices {
		if err := t.tell(n); err != nil {
			return err
		}
	}
	for _, e := range t.earlierMended {
		if err := e.notifier.tell(e.notice); err != nil {
			return err
		}
	}
	return nil
}

// tellTogether has who is told of several things that went wrong in an event told of them in
// one mail.
func tellTogether(notices []*notice.Notice) {
	wrong := map[identity.Name][]*notice.Person{}
	for _, n := range notices {
		for i := range n.People {
			if n.Trouble != nil && n.Kind != notice.KindMended {
				wrong[n.People[i].Name] = append(wrong[n.People[i].Name], &n.People[i])
			}
		}
	}
	for _, of := range wrong {
		for _, p := range of {
			p.Together = len(of) > 1
		}
	}
}

// poster puts what people and services are told into the outbox.
type poster struct {
	send func(*machine.Request) error
	// note keeps a mail that is sent with others as a message of its case, in a
	// sandbox. It may be nil.
	note func(*machine.Request) error
	// hold keeps a mail for the hour at which the person wants it; nil: it is stored, and
	// what is still wrong waits for a moment for others. With it there is no transaction.
	hold func(*store.HeldMail, *machine.Mail) error
}

// tell posts what services and people are told by a notice.
func (e *decider) tell(tx store.Tx, n *notice.Notice, post poster) error {
	n.Links, n.Zone = e.links, e.zone
	var told []string // a destination may be there twice, for different notices
	for i := range e.channels.Destinations {
		d := &e.channels.Destinations[i]
		if !d.Wants(n) || n.Better != nil && d.Wants(n.Better) || n.IsNewsOfItself(d) || slices.Contains(told, d.ID) {
			continue
		}
		told = append(told, d.ID)
		if n.Crowd && n.Case != nil && !e.sandbox {
			if err := e.tellCrowd(tx, n, d); err != nil {
				return err
			}
			continue
		}
		if err := post.send(&machine.Request{News: &machine.Bulletin{Destination: d.ID, Body: n.Body(), About: n.About()}}); err != nil {
			return err
		}
	}
	if !e.channels.Mail {
		return nil
	}
	for i := range n.People {
		p := &n.People[i]
		if p.Email == "" || n.Way.IsMailTo(p.Email) {
			continue
		}
		if err := e.mail(tx, n, p, post); err != nil {
			return err
		}
	}
	return nil
}

// taskTitle returns what people call a task.
func (t *notifier) taskTitle(task machine.TaskRef) string {
	if at := t.recipientCases[task.Case]; at != nil && at.change != nil {
		if at.IsDraft() {
			return machine.DraftTitle(at.Case, at.change.route)
		}
		if i := at.change.route.Action(task.Action); i != route.NoAction && at.change.route.Actions[i].Title != "" {
			return at.change.route.Actions[i].Title
		}
	}
	return task.Action
}

// find finds the recipients that the core has named: those who have something
// to do, their deputies, and the others. Each of them is notified once: a deputy of the tasks
// of all for whom they stand in, together with their own.
func (t *notifier) find() error {
	var all []*recipient
	for _, n := range t.change.notices.To {
		if len(n.Tasks) > 0 {
			all = t.recipient(all, n)
		}
	}
	for _, n := range t.change.notices.To {
		if len(n.Tasks) > 0 {
			all = t.deputy(all, n)
		}
	}
	for _, n := range t.change.notices.To {
		if len(n.Tasks) == 0 {
			all = t.recipient(all, n)
		}
	}
	for _, r := range all {
		if err := t.add(r.party, r.Person); err != nil {
			return err
		}
	}
	return nil
}

// recipientCase returns a case of the tree, nil for none.
func (t *notifier) recipientCase(id int64) (*recipientCase, error) {
	if at := t.recipientCases[id]; at != nil {
		return at, nil
	}
	row, err := store.OrNil(t.tx.Cases().Get(id))
	if err != nil || row == nil {
		return nil, err
	}
	c, err := t.caseOf(t.tx, row.Marking)
	if err != nil {
		return nil, err
	}
	t.recipientCases[id] = &recipientCase{Case: c}
	return t.recipientCases[id], nil
}

// post puts a request into the outbox. Nothing leaves a sandbox: there it is
// kept as a message of the case.
func (t *notifier) post(request *machine.Request) error {
	c := t.change
	row := &store.OutboxRow{Key: store.NewUUID().String(), CaseID: c.row.ID, Seq: c.after.LogSeq, Due: t.now(), Created: t.now()}
	if !t.sandbox {
		return t.postRequest(t.tx, row, request)
	}
	if request.Mail != nil {
		if err := t.letters.Keep(t.tx, row.Key, request.Mail, row.Created); err != nil {
			return err
		}
	}
	return t.note(request)
}

// note keeps what a sandbox would send as a message of the case.
func (t *notifier) note(request *machine.Request) error {
	c := t.change
	if !t.sandbox {
		return nil
	}
	row := &store.OutboxRow{Request: document.Line(request)}
	record, err := outbox.Record(row)
	if err != nil {
		return err
	}
	t.posted++
	kept := &contents.Content{MediaType: "application/json", Inline: record}
	m := kept.Message(c.row.ID, mustGUID(c.after.GUID), fmt.Sprintf("Notice-%d-%d", c.row.Revision, t.posted))
	m.Created, m.Modified, m.AuthorID = t.now(), t.now(), c.row.StarterID
	return t.tx.Write().Cases().Messages().Put(m)
}

// merge adds the notices of an earlier decision of the same change, so that
// each recipient is notified once.
func merge(earlier, later *machine.Notices) *machine.Notices {
	if earlier == nil || later == nil {
		if later == nil {
			return earlier
		}
		return later
	}
	out := &machine.Notices{Acts: append(earlier.Acts, later.Acts...), Child: later.Child, News: append(earlier.News, later.News...), To: later.To}
	if later.Child == nil {
		out.Child = earlier.Child
	}
	for _, n := range earlier.To {
		told := false
		for i := range later.To {
			told = told || identity.Fold(later.To[i].Person) == identity.Fold(n.Person)
		}
		if !told {
			out.To = append(out.To, n)
		}
	}
	return out
}

// postLoose returns what puts a request that is about no case into the outbox.
// Nothing leaves a sandbox: there mails are kept to be looked at.
func (e *decider) postLoose(tx store.Tx, now time.Time) poster {
	return poster{send: func(request *machine.Request) error {
		if e.sandbox {
			if request.Mail == nil {
				return nil
			}
			return e.letters.Keep(tx, store.NewUUID().String(), request.Mail, now)
		}
		return e.postRequest(tx, &store.OutboxRow{Key: store.NewUUID().String(), Due: now, Created: now}, request)
	}}
}

// watchers returns the users who watch a route.
func (e *decider) watchers(id int64) []string {
	if info := e.rights.Route(id); info != nil {
		return e.accounts.Table().Watchers(info.Name)
	}
	return nil
}
