package engine

import (
	"slices"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Who has a schedule entry is told what somebody else does to it by which it starts no
// more cases, or starts them again (docs/contract/routes.md#what-others-do-to-a-schedule-entry).

// deeds tells people of what somebody does in one unit.
type deeds struct {
	*decider
	tx store.Tx
}

// ownersOf returns those whose schedule entry it is, except the user of that name.
func (e *deeds) ownersOf(stored *store.Entry, but identity.Name) []notice.Person {
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.user(c.table.ByID(stored.AuthorID), machine.ReasonOwner)
	c.context(c.table.ByID(stored.ContextID), machine.ReasonOwner)
	return slices.DeleteFunc(c.people, func(p notice.Person) bool { return p.Name == but })
}

// callName returns what people call a user: by the full name, else by the name to log in
// with.
func (e *base) callName(name identity.Name) string {
	if p := e.accounts.Table().ByName(identity.User, string(name)); p != nil {
		return e.accounts.Table().Called(p)
	}
	return string(name)
}

// tellDeed tells those whose schedule entry it is what somebody has done to it, except
// that user and those who are told anyway.
func (e *deeds) tellDeed(of loadedEntry, d *notice.Deed, now time.Time, told ...notice.Person) error {
	if !e.canNotify() {
		return nil
	}
	people := slices.DeleteFunc(e.ownersOf(of.row, identity.Name(d.Actor)), func(p notice.Person) bool { return isAmong(told, &p) })
	if len(people) == 0 {
		return nil
	}
	d.By = e.callName(identity.Name(d.Actor))
	about, err := noticeEntry(e.tx, of.row, of.entry)
	if err != nil {
		return err
	}
	n := &notice.Notice{Kind: notice.KindAct, Time: now, Entry: about, Deed: d, People: people}
	return e.tell(e.tx, n, e.postLoose(e.tx, now))
}

// tellPause tells those whose schedule entry it is that somebody else has paused or
// resumed it. was is the entry as it was stored before.
func (e *deeds) tellPause(req Request, was, now *store.Entry) error {
	if was.Paused.IsZero() == now.Paused.IsZero() {
		return nil
	}
	entry, err := e.readForm(now)
	if err != nil {
		return err
	}
	d := &notice.Deed{What: notice.DeedPaused, Actor: string(req.By.Name), Said: entry.Note, Next: now.Paused}
	if now.Paused.IsZero() {
		told, err := (&pauses{e.decider, e.tx}).resumed(loadedEntry{now, entry}, req.By.ID, req.Now)
		if err != nil {
			return err
		}
		d = &notice.Deed{What: notice.DeedResumed, Actor: d.Actor, Said: entry.Note, Next: now.Due, Due: !now.Due.IsZero() && !now.Due.After(req.Now)}
		return e.tellDeed(loadedEntry{now, entry}, d, req.Now, told...)
	}
	return e.tellDeed(loadedEntry{now, entry}, d, req.Now)
}

const (
	// mostHeld is of how many schedule entries people are told that a hold is about
	// them: the hold must not take long.
	mostHeld = 10_000
	// mostHeldListed is how many of them one mail lists.
	mostHeldListed = 20
)

// tellHolds tells those whose schedule entries start no more cases by a hold that they
// are held back, or that they are not any more, and services. before and after are all
// holds.
func (e *deeds) tellHolds(req Request, h *store.Hold, before, after []store.Hold) error {
	people := map[notice.DeedKind][]notice.Person{}
	for _, of := range []struct {
		what     notice.DeedKind
		from, to []store.Hold
		said     string
	}{{notice.DeedHeld, before, after, h.Reason}, {notice.DeedReleased, after, before, ""}} {
		owners, err := e.newlyHeld(req.By.Name, of.from, of.to)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			owner.held.Hold, owner.held.About = h.Name, heldInWords(h)
			people[of.what] = append(people[of.what], owner.person)
			n := &notice.Notice{
				Kind: notice.KindAct, Time: req.Now, Links: e.links, People: []notice.Person{owner.person},
				Deed: &notice.Deed{What: of.what, Actor: string(req.By.Name), By: e.callName(req.By.Name), Said: of.said, Held: (*notice.Held)(&owner.held)},
			}
			if !e.channels.Mail {
				continue
			}
			if err := e.mail(e.tx, n, &n.People[0], e.postLoose(e.tx, req.Now)); err != nil {
				return err
			}
		}
	}
	troubles := &holdTroubles{e.decider, e.tx}
	_, told, err := troubles.ofHold(h.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(after, func(other store.Hold) bool { return other.ID == h.ID }) {
		return troubles.ended(req, h, after, told, people[notice.DeedReleased])
	}
	if slices.ContainsFunc(before, func(was store.Hold) bool { return was.ID == h.ID && heldInWords(&was) == heldInWords(h) }) {
		return nil // it has another reason
	}
	n := troubles.notice(h, notice.KindAct, req.Now)
	n.Deed = &notice.Deed{What: notice.DeedHeld, Actor: string(req.By.Name), By: e.callName(req.By.Name), Said: h.Reason}
	if err := e.tell(e.tx, n, e.postLoose(e.tx, req.Now)); err != nil {
		return err
	}
	return troubles.begin(h, people[notice.DeedHeld], req.Now)
}

// heldInWords says in words what a hold is about.
func heldInWords(h *store.Hold) string {
	switch {
	case h.Route != "":
		return "the route " + h.Route
	case h.Group != "":
		return "the group " + h.Group
	}
	return "the whole server"
}

// heldOwner is somebody whose schedule entries a hold is about.
type heldOwner struct {
	person notice.Person
	held   heldEntries
	about  *notice.Notice // what the person is told of, if that is no hold
}

// heldEntries are the schedule entries of one person that start no cases.
type heldEntries notice.Held

// newlyHeld returns who gets mails and has schedule entries in force whose cases the
// holds of to keep from starting, and those of from do not; but not the user of that name.
func (e *deeds) newlyHeld(but identity.Name, from, to []store.Hold) (owners []*heldOwner, err error) {
	looked := 0
	for _, info := range e.rights.Routes() {
		if is, err := e.startsToWait(info, from, to); err != nil {
			return nil, err
		} else if !is {
			continue
		}
		for filter := (store.EntryFilter{RouteID: info.ID, Limit: endBatch}); looked < mostHeld; {
			rows, err := e.tx.Entries().List(filter)
			if err != nil {
				return nil, err
			}
			for i := range rows {
				filter.After = rows[i].Seq
				if owners, err = e.addHeld(owners, &rows[i], but); err != nil {
					return nil, err
				}
			}
			if looked += len(rows); len(rows) < filter.Limit {
				break
			}
		}
	}
	return owners, nil
}

// startsToWait reports whether cases of the route wait for the holds of to and not for
// those of from.
func (e *deeds) startsToWait(info *access.Route, from, to []store.Hold) (bool, error) {
	group := ""
	if slices.ContainsFunc(slices.Concat(from, to), func(h store.Hold) bool { return h.Group != "" }) {
		used, err := e.use(e.tx, info)
		if err != nil {
			return false, err
		}
		group = used.Compiled.Group
	}
	return coveredByHold(to, info.Name, group) && !coveredByHold(from, info.Name, group), nil
}

// addHeld adds a schedule entry that is in force to what each of its owners is told.
func (e *deeds) addHeld(owners []*heldOwner, row *store.Entry, but identity.Name) ([]*heldOwner, error) {
	if !row.Paused.IsZero() || row.Due.IsZero() {
		return owners, nil
	}
	for _, p := range e.ownersOf(row, but) {
		if p.Email == "" {
			continue
		}
		at := slices.IndexFunc(owners, func(o *heldOwner) bool { return o.person.Name == p.Name })
		if at < 0 {
			at, owners = len(owners), append(owners, &heldOwner{person: p})
		}
		entry, err := e.readForm(row)
		if err != nil {
			return nil, err
		}
		about, err := noticeEntry(e.tx, row, entry)
		if err != nil {
			return nil, err
		}
		owners[at].held.add(about, row.Due)
	}
	return owners, nil
}
