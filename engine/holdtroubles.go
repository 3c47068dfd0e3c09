package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/status"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// troubleHeld is that a hold keeps cases from starting: it may have been forgotten. Who
// has entries that it is about is told at once; who starts a case that it is about is told
// then; they and the administrators of the server are told again daily, and once that it is
// over (docs/contract/routes.md#cases-that-are-held-back).
const troubleHeld = "held"

// holdTroubles tells people within a unit of cases that are held back.
type holdTroubles struct {
	*decider
	tx store.Tx
}

// ofHold returns the row of a hold and what it says, nil for none.
func (e *holdTroubles) ofHold(id int64) (*store.Trouble, *trouble, error) {
	rows, err := e.tx.Troubles().OfHold(id)
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	told, err := readTrouble(&rows[0])
	return &rows[0], told, err
}

// begin notes that somebody has made a hold or has changed what it is about, and that
// people were told so.
func (e *holdTroubles) begin(h *store.Hold, people []notice.Person, now time.Time) error {
	row, told, err := e.ofHold(h.ID)
	if err != nil {
		return err
	}
	if row == nil {
		told = &trouble{What: notice.WhatHeld, Since: now}
		row = &store.Trouble{Hold: h.ID, Name: troubleHeld, Due: againAt(now)}
	}
	told.addTold(e.accounts.Table(), people)
	row.Data = document.Line(told)
	if row.ID != 0 {
		return e.tx.Write().Troubles().Update(row)
	}
	_, err = e.addTrouble(e.tx, row)
	return err
}

// notice returns a notice about a hold, without the people who are told.
func (e *holdTroubles) notice(h *store.Hold, kind notice.Kind, now time.Time) *notice.Notice {
	return &notice.Notice{
		Kind: kind, Time: now, Links: e.links,
		Hold: &notice.Hold{Name: h.Name, About: heldInWords(h), Route: h.Route, By: e.callName(identity.Name(h.Author)), Said: h.Reason},
	}
}

// ended tells services that a hold has ended, and those who know of it and were not told
// by what was done. after are the holds that there are since.
func (e *holdTroubles) ended(req Request, h *store.Hold, after []store.Hold, told *trouble, released []notice.Person) error {
	if told == nil {
		told = &trouble{What: notice.WhatHeld, Since: h.Created}
	}
	n := e.notice(h, notice.KindMended, req.Now)
	n.Trouble = told.notice(n.Kind, req.Now).Trouble
	n.People = slices.DeleteFunc(e.toldButNot(told, req.By.ID, n.Trouble), func(p notice.Person) bool { return isAmong(released, &p) })
	for i := range after {
		if after[i].Engine || after[i].Route == h.Route && after[i].Group == h.Group && !h.Engine {
			return e.begin(&after[i], e.toldPeople(told), req.Now) // nothing starts by that, and they are told when it does
		}
	}
	return e.tell(e.tx, n, e.postLoose(e.tx, req.Now))
}

// tellStarter tells who has started a case that a hold keeps it from starting, unless they
// know of the hold.
func (t *notifier) tellStarter() error {
	c := t.change
	isNew := c.was == nil || c.was.IsDraft()
	if !isNew || c.after.Life != machine.Queued || c.after.IsDraft() || c.row.Waits || !c.row.Due.IsZero() {
		return nil
	}
	holds, err := t.tx.Queue().Holds()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(holds, func(h store.Hold) bool { return holdCovers(&h, c.after.RouteName, c.row.Group) })
	if at < 0 {
		return nil
	}
	h := &holds[at]
	e := &holdTroubles{t.decider, t.tx}
	_, told, err := e.ofHold(h.ID)
	if err != nil {
		return err
	}
	people := &concerned{decider: t.decider, table: t.accounts.Table()}
	people.context(people.table.ByID(c.row.StarterID), machine.ReasonStarter)
	knows := func(p notice.Person) bool {
		return string(p.Name) == h.Author || told != nil && slices.Contains(told.Told, t.accounts.PartyID(string(p.Name)))
	}
	if people.people = slices.DeleteFunc(people.people, knows); len(people.people) == 0 {
		return nil
	}
	if err := e.begin(h, people.people, c.after.Modified); err != nil {
		return err
	}
	why := heldBack(holds, c.after.RouteName, c.row.Group, identity.Principal{})
	n := t.about(&trouble{What: notice.WhatHeld, Text: strings.TrimSuffix(why, "."), Since: c.after.Modified}, notice.WhatHeld.Kind(), c.after.Modified)
	n.People, err = t.seeing(people.people)
	t.notices = append(t.notices, n)
	return err
}

// mostWaiting is how many cases that a hold keeps from starting are counted.
const mostWaiting = 1000

// waiting counts the cases that a hold keeps from starting, by their starters; more says
// that there are others.
func (e *holdTroubles) waiting(h *store.Hold) (byStarter map[identity.ID]int, all int, more bool, err error) {
	lanes, err := e.tx.Queue().Lanes()
	if err != nil {
		return nil, 0, false, err
	}
	byStarter = map[identity.ID]int{}
	for _, lane := range lanes {
		if !holdCovers(h, e.rights.RouteName(lane.RouteID), lane.Group) {
			continue
		}
		queued, err := e.tx.Queue().QueuedCases(lane, mostWaiting-all+1)
		if err != nil {
			return nil, 0, false, err
		}
		for i := range queued {
			if all == mostWaiting {
				return byStarter, all, true, nil
			}
			row, err := e.tx.Cases().Get(queued[i].ID)
			if err != nil {
				return nil, 0, false, err
			}
			byStarter[row.StarterID]++
			all++
		}
	}
	return byStarter, all, false, nil
}

// again tells people again of a hold that is still there.
func (e *holdTroubles) again(row *store.Trouble, told *trouble, now time.Time) error {
	holds, err := e.tx.Queue().Holds()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(holds, func(h store.Hold) bool { return h.ID == row.Hold })
	if at < 0 {
		return e.tx.Write().Troubles().Delete(row.ID)
	}
	h := &holds[at]
	byStarter, all, more, err := e.waiting(h)
	if err != nil {
		return err
	}
	owners, err := (&deeds{e.decider, e.tx}).newlyHeld("", nil, []store.Hold{*h})
	if err != nil {
		return err
	}
	c := &concerned{decider: e.decider, table: e.accounts.Table()}
	c.admins(0, true)
	admins := len(c.people)
	for _, owner := range owners {
		c.user(c.table.ByName(identity.User, string(owner.person.Name)), owner.person.Why)
	}
	for _, starter := range slices.Sorted(maps.Keys(byStarter)) {
		c.context(c.table.ByID(starter), machine.ReasonStarter)
	}
	told.addTold(c.table, c.people)
	row.Data = document.Line(told)
	if err := e.tx.Write().Troubles().Update(row); err != nil {
		return err
	}
	n := e.notice(h, notice.WhatHeld.Kind(), now)
	n.Trouble, n.Hold.Cases, n.Hold.More = told.notice(n.Kind, now).Trouble, all, more
	n.Trouble.Again, n.Trouble.Text = true, h.Reason
	post := e.postLoose(e.tx, now)
	if err := e.tell(e.tx, n, post); err != nil || !e.channels.Mail {
		return err
	}
	for i := range c.people {
		p, about, hold := &c.people[i], *n, *n.Hold
		if p.Email == "" {
			continue
		}
		if at := slices.IndexFunc(owners, func(o *heldOwner) bool { return o.person.Name == p.Name }); at >= 0 {
			hold.Entries = (*notice.Held)(&owners[at].held)
		}
		if i >= admins {
			hold.Cases, hold.More = byStarter[e.accounts.PartyID(string(p.Name))], false
		}
		about.Hold, about.People = &hold, []notice.Person{*p}
		if err := e.mail(e.tx, &about, p, post); err != nil {
			return err
		}
	}
	return nil
}

// lateHolds adds the holds: for administrators of the server all, for others those that
// are about an entry of theirs or a case that they have started.
func (l *statusLook) lateHolds(r store.Reader, late *status.Late) error {
	holds, err := r.Queue().Holds()
	if err != nil || len(holds) == 0 {
		return err
	}
	waiting, err := l.heldOwn(r)
	if err != nil {
		return err
	}
	for i := range holds {
		h := &holds[i]
		o := status.Other{Kind: status.OtherHold, Name: heldInWords(h), Since: h.Created, Text: "It is held back: cases do not start."}
		if h.Reason != "" {
			o.Text = "It is held back, and cases do not start: " + h.Reason
		}
		if l.by.Admin() {
			o.Path = "/admin/holds"
			o.Text = fmt.Sprintf("Admin/Holds/%s.json, which %s has made, keeps cases from starting", h.Name, h.Author)
			if h.Reason != "" {
				o.Text += ": " + h.Reason
			}
		} else if !slices.ContainsFunc(waiting, func(w heldThing) bool { return holdCovers(h, w.route, w.group) }) {
			continue
		}
		late.Others = append(late.Others, o)
	}
	return nil
}

// heldThing is something of a user's that a hold can be about.
type heldThing struct{ route, group string }

// heldOwn returns of which routes and groups a user has schedule entries in force or
// queued cases.
func (l *statusLook) heldOwn(r store.Reader) (own []heldThing, err error) {
	if l.by.Admin() {
		return nil, nil
	}
	entries, err := r.Entries().List(store.EntryFilter{Contexts: l.by.Contexts()})
	if err != nil {
		return nil, err
	}
	routes := map[int64]bool{}
	for i := range entries {
		if entries[i].Paused.IsZero() && !entries[i].Due.IsZero() {
			routes[entries[i].RouteID] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(routes)) {
		info := l.rights.Route(id)
		if info == nil {
			continue
		}
		used, err := l.use(r, info)
		if err != nil {
			return nil, err
		}
		own = append(own, heldThing{info.Name, used.Compiled.Group})
	}
	for _, id := range l.queued {
		row, err := store.OrNil(r.Cases().Get(id))
		if err != nil {
			return nil, err
		}
		if row != nil && l.by.In(row.StarterID) {
			own = append(own, heldThing{l.rights.RouteName(row.RouteID), row.Group})
		}
	}
	return own, nil
}
