package engine

import (
	"fmt"
	"strings"
	"time"

	"flowdrive/document"
	"flowdrive/engine/core"
	"flowdrive/identity"
)

// Channels are the ways in which people are told of events besides /events,
// where they look for themselves (design: routes, section 6).
type Channels struct {
	Mail    bool   // the outside has a mail server
	Webhook string // URL of a service that is told of every event that people are; "" for none
	Secret  string // name of the secret that signs what it is told, "" for none
}

// tells reports whether anybody can be told of anything.
func (e *Engine) tells() bool { return e.channels.Mail || e.channels.Webhook != "" }

// telling is what is told of one event.
type telling struct {
	*Engine
	tx     Tx
	change *caseChange // of the event's case
	seats  map[int64]*seat
	people []person
	posted int
}

// person is somebody who is told.
type person struct {
	*Party
	core.Notice
	behalf string // whose deputy this is, "" for nobody's
	sees   bool   // the event's case
}

// seat is a case through which people are told.
type seat struct {
	*core.Case
	change *caseChange // nil: the event has not changed it
}

// tellPeople puts into the outbox what people are to be told of a change. It
// is of the change's unit: what was not stored is not told, and what was
// stored is told though the server ends now.
func (e *Engine) tellPeople(tx Tx, c *caseChange) error {
	if c.notices == nil {
		return nil
	}
	t := &telling{Engine: e, tx: tx, change: c, seats: map[int64]*seat{c.row.ID: {c.after, c}}}
	for _, other := range c.others {
		t.seats[other.row.ID] = &seat{other.after, other}
	}
	if err := t.find(); err != nil || len(t.people) == 0 {
		return err
	}
	if e.channels.Webhook != "" {
		if err := t.post(&core.Request{HTTP: t.hook()}); err != nil {
			return err
		}
	}
	if !e.channels.Mail {
		return nil
	}
	for i := range t.people {
		p := &t.people[i]
		if p.Email == "" || p.Quiet {
			continue
		}
		if err := t.post(&core.Request{Mail: t.mail(p)}); err != nil {
			return err
		}
	}
	return nil
}

// find finds the people whom the core has named: those who have something to
// do, the deputies of these, and the others. Nobody is told twice.
func (t *telling) find() error {
	parties, told := t.parties.Load(), map[identity.ID]bool{}
	add := func(name, behalf string, n core.Notice) error {
		p := parties.byName(identity.User, name)
		if p == nil || p.Disabled || told[p.ID] {
			return nil
		}
		told[p.ID] = true
		return t.add(person{Party: p, Notice: n, behalf: behalf})
	}
	named := func(n core.Notice) error { return add(n.Person, "", n) }
	deputy := func(n core.Notice) error {
		p := parties.byName(identity.User, n.Person)
		if p == nil || p.Disabled || !p.Deputy.Active(t.change.after.Modified) {
			return nil
		}
		return add(string(p.Deputy.User), string(p.Name), n)
	}
	for _, round := range []struct {
		tasks bool
		add   func(core.Notice) error
	}{{true, named}, {true, deputy}, {false, named}} {
		for _, n := range t.change.notices.To {
			if round.tasks != (len(n.Tasks) > 0) {
				continue
			}
			if err := round.add(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a person. Who watches a route is told of the cases that are for
// them to see.
func (t *telling) add(p person) (err error) {
	by := t.Principal(p.ID)
	at, err := t.seat(p.Notice.Case)
	if err != nil || at == nil {
		return err
	}
	if p.sees, err = t.seesCase(t.tx, by, &t.change.row); err != nil {
		return err
	}
	if sees := p.sees; p.Why == core.ReasonWatcher {
		if at.ID != t.change.row.ID {
			row, err := t.tx.Case(at.ID)
			if err != nil {
				return err
			}
			if sees, err = t.seesCase(t.tx, by, row); err != nil {
				return err
			}
		}
		if !sees {
			return nil
		}
	}
	t.people = append(t.people, p)
	return nil
}

// seat returns a case of the tree, nil for none.
func (t *telling) seat(id int64) (*seat, error) {
	if at := t.seats[id]; at != nil {
		return at, nil
	}
	row, err := orNil(t.tx.Case(id))
	if err != nil || row == nil {
		return nil, err
	}
	c, err := core.ReadMarking(row.Marking)
	if err != nil {
		return nil, err
	}
	t.seats[id] = &seat{Case: c}
	return t.seats[id], nil
}

// post puts a request into the outbox. Nothing leaves a sandbox: there it is
// kept as a message of the case.
func (t *telling) post(request *core.Request) error {
	c := t.change
	row := &OutboxRow{Key: NewUUID().String(), CaseID: c.row.ID, Seq: c.after.LogSeq, Due: c.after.Modified, Created: c.after.Modified}
	if !t.sandbox {
		return t.postRequest(t.tx, row, request)
	}
	row.Request = document.Line(request)
	record, err := recordOf(row)
	if err != nil {
		return err
	}
	t.posted++
	kept := &content{mediaType: "application/json", inline: record}
	m := kept.message(c.row.ID, mustGUID(c.after.GUID), fmt.Sprintf("Notice-%d-%d", c.row.Revision, t.posted))
	m.Created, m.Modified, m.AuthorID = c.after.Modified, c.after.Modified, c.row.StarterID
	return t.tx.PutMessage(m)
}

// merge adds the notices of an earlier decision of the same change: nobody is
// told twice.
func merge(earlier, later *core.Notices) *core.Notices {
	if earlier == nil || later == nil {
		if later == nil {
			return earlier
		}
		return later
	}
	out := &core.Notices{Acts: append(earlier.Acts, later.Acts...), To: later.To}
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

// tellAdministrators tells all administrators that an entry fails to fire:
// once, until it has fired again (design: schedule entries, section 3).
func (e *Engine) tellAdministrators(tx Tx, stored *Entry, title, reason string, instant, now time.Time) error {
	if !e.tells() || e.sandbox {
		return nil
	}
	href := "/dav/Workflow/Schedule/" + stored.UUID.String() + ".json"
	post := func(request *core.Request) error {
		return e.postRequest(tx, &OutboxRow{Key: NewUUID().String(), Due: now, Created: now}, request)
	}
	if e.channels.Webhook != "" {
		body := document.Line(failedHook{Kind: "schedule-failed", UUID: stored.UUID.String(), Title: title, Href: href, Instant: instant.UTC().Format(time.RFC3339), Reason: reason})
		if err := post(&core.Request{HTTP: e.hookCall(body)}); err != nil {
			return err
		}
	}
	if !e.channels.Mail {
		return nil
	}
	t := e.parties.Load()
	for _, p := range t.directory.Parties() {
		admin := t.byID[p.ID]
		if !administers(admin) || admin.Email == "" || admin.Quiet {
			continue
		}
		var text strings.Builder
		fmt.Fprintf(&text, "The schedule entry %q should have started a case at %s, and could not:\n\n  %s\n\n", title, instant.UTC().Format(time.RFC3339), reason)
		fmt.Fprintf(&text, "The entry:   %s\nIts history: %s\n\n", href, strings.TrimSuffix(href, ".json")+"/occurrences.json")
		text.WriteString("It goes on with its next instant. There is no further mail about it until it has fired again.\n")
		mail := &core.Mail{To: []string{admin.Email}, Subject: subjectLine("Not started: " + title), Text: text.String(), Thread: stored.UUID.String()}
		if err := post(&core.Request{Mail: mail}); err != nil {
			return err
		}
	}
	return nil
}
