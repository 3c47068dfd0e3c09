package engine

import (
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/route"
	"flowdrive/store"
)

// newCase is a case to create: what a start document or a schedule entry asks
// for, resolved.
type newCase struct {
	id           int64 // of the case, 0: the next one
	info         *usedRoute
	context      identity.Party
	starter      identity.Party
	title        string
	priority     int
	xattrs       label.Dict // labels not substituted yet
	literal      bool       // labels in xattrs mean nothing: strangers wrote them
	relations    []machine.Relation
	roles        []machine.Players
	stakeholders []string
	input        *contents.Content
	schedule     store.UUID // of the entry that fires, else zero
	scheduledFor time.Time
	iteration    int64
	at           time.Time // the instant that labels are about
	zone         string    // of the dates that labels stand for
	dryRun       bool
	source       *document.Node // the document that asks for it, nil for none
	mayLack      bool           // a required XATTR may be missing: the case is a draft then
	waits        bool           // for earlier cases of the entry to end
	startAt      time.Time
	asked        bool         // by a person, who may have mistyped something
	from         store.Reader // by which it is judged whether its children may start; nil: not at all
}

// caseChange is a case as a decision left it, ready to be stored.
type caseChange struct {
	before    machine.Life  // as people saw it; "" for a new case
	was       *machine.Case // nil for a new case
	after     *machine.Case
	route     *route.Route // of the case afterwards
	row       store.Case
	crowd     bool  // one of many that follow a change of a user or team
	base      int64 // revision it was decided on, 0 for a new case
	log       []machine.LogEntry
	messages  []*store.Message
	inherited *store.Message       // input of a case that another one made; its room was taken
	written   []machine.NewMessage // by steps, after messages
	postings  []machine.Posting    // what it does to the outbox
	notices   *machine.Notices     // of the whole event
	failures  []machine.Failure    // what has failed, in order
	mended    []machine.Failure    // what had failed and has not any more
	read      []readFact           // what it rests on
	readCases []readCase           // likewise
	others    []*caseChange        // of other cases of the tree
	plans     map[int64]*machine.Plan
	shares    []machine.Share      // of worklists
	holds     func(store.Tx) error // of the input, see content; nil: nothing to check
	performed string               // the action that a person's request was about
	warnings  []string             // of a new case: what may not be meant
	freesName bool                 // a canceled case is listed no more, and gives its name back
	stores    int64                // bytes for which the decision took room of the starter's
	full      bool                 // something failed because there was no room for it
}

// formFor returns the case's form as the request is answered with it. That of a dry run has the
// warnings, which would otherwise be an answer of their own.
func (c *caseChange) formFor(req Request) []byte {
	if !req.DryRun || len(c.warnings) == 0 {
		return c.row.Form
	}
	told := *c.after
	told.Warnings = slices.Clip(told.Warnings)
	for _, text := range c.warnings {
		told.Warnings = append(told.Warnings, machine.Warning{Time: req.Now, Text: text})
	}
	return machine.Form(&told, c.route)
}

// createCase decides on a new case: queued, or started at once.
func (e *decider) createCase(b newCase, now time.Time, start bool) (*caseChange, error) {
	a := attempt{starter: b.starter.ID, route: b.info.ID, now: now, judged: b.id == 0}
	self := machine.Identity{ID: b.id, GUID: store.NewUUID().String()}
	if given := e.givenUp.Take(a); len(given) > 0 {
		self = given[0]
	} else if self.ID == 0 {
		self.ID = e.Store.NextID()
	}
	change, err := e.createCaseAs(b, self, now, start)
	e.giveUp(a, err, self)
	return change, err
}

// createAsked decides on a new case that a person has asked for. If it is refused, its id is
// given to the next one, so that the numbers of cases have no gaps for people to wonder at.
func createAsked(e *decider, req Request, b newCase, start bool) (*caseChange, error) {
	b.id, b.dryRun, b.asked = e.NewID(req), req.DryRun, true
	c, err := e.createCase(b, req.Now, start)
	unused := err == nil && c.after.ID != b.id || err != nil && !isAhead(err)
	if unused && !b.dryRun {
		e.Store.ReturnID(b.id)
	}
	return c, err
}

// createCaseAs decides on a new case of that identity.
func (e *decider) createCaseAs(b newCase, self machine.Identity, now time.Time, start bool) (*caseChange, error) {
	guid := mustGUID(self.GUID)
	seed := &machine.Case{
		ID: self.ID, GUID: self.GUID,
		RouteID: b.info.ID, RouteName: b.info.Name, RouteVersion: b.info.Version,
		Title: b.title, ContextID: int64(b.context.ID), Context: string(b.context.Name),
		Starter: string(b.starter.Name), Priority: b.priority, StartAt: b.startAt,
		Roles: b.roles, Stakeholders: b.stakeholders, Relations: slices.Clone(b.relations), ScheduledFor: b.scheduledFor, Iteration: b.iteration, Created: now,
	}
	if b.zone != "UTC" {
		seed.LabelZone = b.zone
	}
	if b.schedule != (store.UUID{}) {
		seed.ScheduleUUID = b.schedule.String()
	}
	if seed.Title == "" {
		seed.Title = routeTitle(b.info.Compiled)
	}
	warnings := e.expandLabels(seed, &b)
	if b.asked {
		warnings = append(warnings, unknownXattrs(b.info.Compiled, b.info.Name, newKeys(b.xattrs, nil))...)
	}
	if b.input == nil {
		b.input = &contents.Content{MediaType: "text/plain"}
	}
	seed.InputName = b.input.Name
	m := b.input.Message(seed.ID, guid, store.LabelInput)
	m.Created, m.Modified, m.AuthorID = now, now, b.starter.ID
	find := func(label string) (*store.Message, error) {
		if label == store.LabelInput {
			return m, nil
		}
		return nil, nil
	}
	l := &lookup{find: find, ids: e.newIDs(Request{DryRun: b.dryRun}), holds: b.from, stores: m.Size}
	out, err := e.decide(machine.Input{Route: b.info.Compiled, Case: seed, Event: machine.Create{Warnings: warnings, MayLack: b.mayLack}, Now: now, Tell: b.mayLack && e.canNotify()}, l)
	if err != nil {
		return nil, err
	}
	change := &caseChange{after: out.Case, log: out.Log, messages: []*store.Message{m}, warnings: warnings, notices: out.Notices}
	if start && !out.Case.IsDraft() {
		if out, err = e.decide(machine.Input{Route: b.info.Compiled, Case: out.Case, Event: machine.Start{}, Now: now, Tell: e.canNotify(), Zone: e.zoneOfParty(b.starter.ID)}, l); err != nil {
			return nil, err
		}
		change.after, change.written, change.postings, change.notices = out.Case, out.Messages, out.Outbox, out.Notices
		change.failures, change.mended = out.Failures, out.Mended
		change.stores, change.full = out.Stores, out.Full
		change.log = append(change.log, out.Log...)
		if err := e.addRelated(change, out, l); err != nil {
			return nil, err
		}
	}
	change.holds = b.input.Holds
	e.render(change, b.info.Compiled)
	change.row.Entry, change.row.Waits = b.schedule, b.waits
	return change, nil
}

// labelWarnings says which labels were left as they are: unknown ones, XATTRs that are
// absent or refer to each other in a circle, and those with which a text would be too
// long. A hostile dictionary can hold thousands; the log names some.
func labelWarnings(unknown, long []string) []string {
	const most = 50
	all := len(unknown) + len(long)
	warnings := make([]string, 0, min(all, most+1))
	for i, name := range slices.Concat(unknown, long) {
		switch {
		case i == most:
			return append(warnings, fmt.Sprintf("%d further labels were left as they are", all-most))
		case i < len(unknown):
			warnings = append(warnings, "The label "+name+" has no value here and was left as it is")
		default:
			warnings = append(warnings, "The label "+name+" was left as it is: with its value the text would be too long")
		}
	}
	return warnings
}

func routeTitle(r *route.Route) string {
	if r.Title != "" {
		return r.Title
	}
	return r.Name
}

func (e *decider) partyKind(name string) machine.PartyKind {
	p := e.directory().ByName(identity.Name(name))
	switch {
	case p == nil:
		return machine.NoParty
	case p.Kind == identity.User:
		return machine.UserParty
	}
	return machine.TeamParty
}

// render fills the row from the case as it is afterwards.
func (e *decider) render(c *caseChange, r *route.Route) {
	after := c.after
	e.warnUnstaffed(after, r)
	c.route, c.shares = r, machine.Shares(after, r)
	c.row = store.Case{
		ID: after.ID, RouteID: after.RouteID, ContextID: identity.ID(after.ContextID), StarterID: e.accounts.PartyID(after.Starter),
		State: storedState(string(after.Shown())), Status: after.Status, Priority: after.Priority,
		Version: after.Version, Revision: after.Revision, Due: after.NextDue(), Retires: retiresAt(after, r), Parent: after.Parent, ParentRow: after.ParentEnablement,
		Marking: after.Marking(), Form: machine.Form(after, r), Created: after.Created, Modified: after.Modified,
		Access: e.access(after), Tasks: e.shares(c.shares),
		Group: r.Group, Busy: r.Group != "" && after.Busy(after.Modified),
	}
	if after.Draft != nil { // its starter alone sees it, until it is a case like others
		c.row.ContextID, c.row.Access = c.row.StarterID, []identity.ID{c.row.StarterID}
	}
}

// access returns the ids of the contexts that see the case for what they are
// in it, ascending.
func (e *decider) access(c *machine.Case) []identity.ID {
	ids := []identity.ID{identity.ID(c.ContextID)}
	for _, name := range machine.Parties(c) {
		if id := e.accounts.PartyID(name); id != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// write stores the change, and tells the sweeper and the counters once it is
// durable.
func (e *decider) write(tx store.Tx, c *caseChange) error {
	if err := checkStillStarts(tx, c); err != nil {
		return err
	}
	if err := (room{e}).stillFits(tx, c); err != nil {
		return err
	}
	return e.writeAll(tx, c)
}

// writeAsked writes what a person's request has done. For what the engine does by itself
// steps alone need room.
func (e *decider) writeAsked(tx store.Tx, c *caseChange) error {
	if err := (room{e}).admits(tx, c); err != nil {
		return err
	}
	if err := e.write(tx, c); err != nil || !c.grows() {
		return err
	}
	return e.checkQuota(tx, c.row.StarterID, 0)
}

// grows reports whether a case that weighs something is new, or has got larger by
// its XATTRs. By what people do with it cases grow by a line of their log: they must
// be able to end it, however full the quota is.
func (c *caseChange) grows() bool {
	if len(c.row.Form)+len(c.row.Marking) < quota.Page {
		return false
	}
	return c.was == nil || len(c.after.Xattrs.AppendJSON(nil)) > len(c.was.Xattrs.AppendJSON(nil))
}

func (e *decider) writeAll(tx store.Tx, c *caseChange) error {
	var err error
	var log []byte
	if len(c.log) > 0 {
		log = machine.AppendLog(nil, c.log)
	}
	c.row.Logs = int64(len(log))
	if c.holds != nil {
		if err := c.holds(tx); err != nil {
			return err
		}
	}
	if err := factsHold(tx, c); err != nil {
		return err
	}
	if c.base == 0 {
		if c.row.Parent != 0 { // a case that was asked for had its route looked at
			if _, err := tx.Routes().CurrentVersion(c.row.RouteID); err != nil {
				return staleIfGone(err)
			}
		}
		if err = tx.Write().Cases().Insert(&c.row); errs.Is(err, errs.NameTaken) {
			err = change.ErrStale // a dry run had looked at an id that was given since
		}
	} else if err = tx.Write().Cases().Update(&c.row, c.base); errs.Is(err, errs.Precondition) {
		err = change.ErrStale
	}
	if err != nil {
		return err
	}
	if c.base == 0 && c.after.Origin != 0 {
		e.started.take(tx, c.row.StarterID, c.after.Began(), &e.limits, c.after.Created)
	}
	if c.row.Archived != 0 && !c.after.Life.Ended() { // it goes on
		if err := tx.Write().Cases().Archive(c.row.ID, 0, c.row.Due, time.Time{}); err != nil {
			return err
		}
	}
	if was := c.was; was == nil && c.after.Relations != nil || was != nil && !slices.Equal(was.Relations, c.after.Relations) {
		if err := tx.Write().Cases().PutLinks(c.row.ID, links(c.after)); err != nil {
			return err
		}
	}
	if err := forgetNote(tx, c); err != nil {
		return err
	}
	if c.freesName {
		if err := freeName(tx, c.row.ID, c.row.Modified); err != nil {
			return err
		}
	}
	if len(c.log) > 0 {
		if err := tx.Write().Cases().AppendLog(c.row.ID, c.log[0].Seq, log); err != nil {
			return err
		}
		if err := e.noteDone(tx, c); err != nil {
			return err
		}
	}
	for _, m := range c.messages {
		if err := tx.Write().Cases().Messages().Put(m); err != nil {
			return err
		}
		if m.Size == 0 {
			continue
		}
		if err := e.checkQuota(tx, m.AuthorID, 0); err != nil {
			return err
		}
	}
	if c.inherited != nil {
		if err := tx.Write().Cases().Messages().Put(c.inherited); err != nil {
			return err
		}
	}
	if err := e.putWritten(tx, c); err != nil {
		return err
	}
	if err := e.post(tx, c); err != nil {
		return err
	}
	if err := putPlans(tx, c); err != nil {
		return err
	}
	if err := e.releaseNext(tx, c); err != nil {
		return err
	}
	tx.AfterCommit(func() { e.changed(c) })
	for _, other := range c.others {
		if err := e.writeAll(tx, other); err != nil {
			return err
		}
	}
	if err := beat(e, tx, c); err != nil {
		return err
	}
	return e.notifyPeople(tx, c)
}

// changed keeps in step what is kept in memory about cases.
func (e *decider) changed(c *caseChange) {
	e.sweeper.note(c.row.Retires)
	e.sweeper.note(c.row.Due)
	e.publishCase(c)
	now := c.after.Shown()
	if now == machine.Queued && c.row.Due.IsZero() || c.row.Group != "" && !c.row.Busy {
		e.sweeper.noteQueued() // it can be started, or another of its group
	}
	switch {
	case !open(c.before) && open(now):
		e.usage.Add(quota.OpenCases, c.row.StarterID, 1)
	case open(c.before) && !open(now):
		e.usage.Add(quota.OpenCases, c.row.StarterID, -1)
	}
	if c.before == "" {
		e.observer.CaseStarted()
	}
	if !c.before.Ended() && now.Ended() {
		e.observer.CaseEnded(string(now))
	}
	for i := range c.failures {
		e.observer.Failed(string(c.failures[i].Kind))
	}
	for i := range c.log {
		if c.log[i].Kind == machine.LogAction && c.log[i].Trigger != nil {
			e.observer.Performed(string(*c.log[i].Trigger))
		}
	}
}

func open(l machine.Life) bool { return l != "" && !l.Ended() }

// LabelOutput is the label of the message with which a case ends.
const LabelOutput = "OutputMessage"
