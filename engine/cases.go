package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// loadedCase is a stored case as by sees it, with its given name.
type loadedCase struct {
	row   *store.Case
	given *store.GivenName
	core  *machine.Case
	route *usedRoute // of the version that the case has; Compiled is set always
	admin bool       // by administers its route
	find  finder     // its messages, while the reader lives that it was read by
	from  store.Reader
	after map[int64]*caseChange // see lookup
	ids   func() int64          // nil until it is asked for
	spent *uint64               // has added what expressions cost; nil: nobody asks

	shares []machine.Share // of worklists, as the case is stored
	beside machine.Beside  // for the forms of tasks; nothing unless tellBeside was called
}

// findCase returns the case that a reference names if by may see it, or nil. If
// the reference has a given name, it returns that too.
func (e *base) findCase(r store.Reader, by identity.Principal, ref Ref) (*store.Case, *store.GivenName, error) {
	id := ref.CaseID
	var given *store.GivenName
	var err error
	if !ref.Identity() {
		if ref.Name == "" {
			return nil, nil, nil
		}
		if given, err = store.OrNil(r.Names().Get(store.FolderCases, ref.Author, ref.Name)); err != nil || given == nil {
			return nil, nil, err
		}
		id = given.CaseID
	}
	row, err := store.OrNil(r.Cases().Get(id))
	if err != nil || row == nil {
		return nil, nil, err
	}
	if sees, err := e.rights.SeesCase(r, by, row); err != nil || !sees {
		return nil, nil, err
	}
	return row, given, nil
}

// findCases returns those of the cases that by sees, in the order of ids, without their
// forms. However many they are, it reads them by one statement and who sees them by another.
func (e *base) findCases(r store.Reader, by identity.Principal, ids []int64) ([]store.Case, error) {
	rows, err := r.Cases().Tasks().WithMarkings(ids)
	if err != nil {
		return nil, err
	}
	if rows, err = e.rights.VisibleCases(r, by, rows); err != nil {
		return nil, err
	}
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(rows, func(a, b store.Case) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	return rows, nil
}

// caseName returns the given name of a case, nil for none; known is what
// findCase returned.
func caseName(r store.Reader, row *store.Case, known *store.GivenName) (*store.GivenName, error) {
	if known != nil || !row.Named {
		return known, nil
	}
	return store.OrNil(r.Names().Of(store.FolderCases, store.UUID{}, row.ID))
}

// loadCase returns the case for a change, or errs.NotFound.
func (e *decider) loadCase(r store.Reader, by identity.Principal, ref Ref) (*loadedCase, error) {
	row, given, err := e.findCase(r, by, ref)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, change.Absent("case")
	}
	return e.loadRow(r, by, row, given)
}

// loadRow returns the case of a row for a change. given is its given name, nil
// for none.
func (e *decider) loadRow(r store.Reader, by identity.Principal, row *store.Case, given *store.GivenName) (*loadedCase, error) {
	c, err := e.caseOf(r, row.Marking)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read case %d", row.ID), err)
	}
	compiled, err := e.versionOf(r, c)
	if err != nil {
		return nil, err
	}
	shares := machine.Shares(c, compiled)
	find := func(label string) (*store.Message, error) {
		return store.OrNil(r.Cases().Messages().GetByLabel(row.ID, label))
	}
	h := &loadedCase{row: row, given: given, core: c, find: find, from: r, shares: shares, route: &usedRoute{access.Route{ID: c.RouteID, Name: c.RouteName, Version: c.RouteVersion}, compiled}}
	if info := e.rights.Route(c.RouteID); info != nil {
		h.route.ContextID, h.route.AuthorID = info.ContextID, info.AuthorID
		h.admin = e.rights.Administers(by, info)
	} else {
		h.admin = by.Admin()
	}
	return h, nil
}

// decideOn returns the change that the event makes of a held case.
func (e *decider) decideOn(h *loadedCase, event machine.Event, req Request) (*caseChange, error) {
	l := &lookup{reader: h.from, holds: h.from, find: h.find, ids: h.newIDs(e, req), after: h.after}
	out, err := e.decide(machine.Input{Route: h.route.Compiled, Case: h.core, Event: event, Now: req.Now, Tell: e.canNotify(), Zone: e.zoneOf(req.By), Spent: h.spent}, l)
	if errs.Is(err, errs.CaseNotOpen) && h.core.Life == machine.Queued && !h.core.IsDraft() {
		err = e.sayWhyQueued(h, req.By, err)
	}
	if err != nil {
		return nil, err
	}
	c := &caseChange{
		before: h.core.Shown(), was: h.core, after: out.Case, base: h.row.Revision, log: out.Log, written: out.Messages, postings: out.Outbox, notices: out.Notices, read: l.messages, performed: out.Performed,
		failures: out.Failures, mended: out.Mended, stores: out.Stores, full: out.Full,
	}
	e.render(c, h.route.Compiled)
	e.shared(c, h.shares)
	e.wasArchived(c, h.row.Archived)
	if err := e.addRelated(c, out, l); err != nil {
		return nil, err
	}
	c.freesName = h.row.Named && out.Case.Life == machine.Canceled
	c.row.Named = h.row.Named && !c.freesName
	return c, nil
}

func caseDefinition(guid string, version int64) string {
	return fmt.Sprintf(`"%.8s-%d.`, guid, version)
}

func caseETag(c *machine.Case) string {
	return fmt.Sprintf(`%s%d"`, caseDefinition(c.GUID, c.Version), c.Revision)
}

// caseForm is what listings need of a complete form.
type caseForm struct {
	Title    string                     `json:"title"`
	Roles    map[string][]string        `json:"roles"`
	Xattrs   map[string]json.RawMessage `json:"xattrDict"`
	Warnings []json.RawMessage          `json:"warnings"`
}

func (e *Cases) caseResource(by identity.Principal, row *store.Case, given *store.GivenName) (*Resource, error) {
	guid, err := formGUID(row.Form)
	if err != nil {
		return nil, err
	}
	definition := caseDefinition(guid, row.Version)
	res := &Resource{
		Name: fmt.Sprint(row.ID), Seq: row.ID, Form: row.Form, FormETag: fmt.Sprintf(`%s%d"`, definition, row.Revision),
		Definition: definition, State: access.ShownState(row), Status: row.Status, Created: row.Created, Modified: row.Modified, Own: by.In(row.ContextID),
		Lock: store.CaseKey(row.ID), Archived: row.Archived,
	}
	e.addGiven(res, given)
	return res, nil
}

// formGUID reads the guid out of a complete form without decoding the rest:
// every GET of a case needs it.
func formGUID(form []byte) (string, error) {
	_, rest, found := bytes.Cut(form, []byte(`"guid":`))
	rest = bytes.TrimLeft(rest, ` "`)
	if !found || len(rest) < 32 {
		return "", errs.New(errs.Internal, "A stored case's form has no guid.")
	}
	return string(rest[:32]), nil
}

// Case returns the case that the reference names. Errors: errs.NotFound if by
// may not see it.
func (e *Cases) Case(ctx context.Context, by identity.Principal, ref Ref) (*Resource, error) {
	var out *Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		row, given, err := e.findCase(r, by, ref)
		if err != nil {
			return err
		}
		if row == nil {
			return change.Absent("case")
		}
		if given, err = caseName(r, row, given); err != nil {
			return err
		}
		if out, err = e.caseResource(by, row, given); err != nil {
			return err
		}
		return e.showLinked(r, by, row, out)
	})
	return out, err
}

// Cases returns the cases that by may see, by id: those of Cases/, or those of
// the archive. Canceled ones are listed only in the archive, unless the filter
// asks for them (docs/contract/drive.md#listings).
func (e *Cases) Cases(ctx context.Context, by identity.Principal, f Filter) ([]Resource, error) {
	tests, err := e.testsOf(by, f)
	if err != nil {
		return nil, err
	}
	filter, absent, some := e.caseFilter(by, f)
	if !some {
		return nil, nil
	}
	var out []Resource
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		l := &caseLister{Cases: e, r: r, by: by, f: f, tests: tests, absent: absent}
		out, err = pages[store.Case]{
			limit: f.Limit, size: filter.Limit, each: f.Each,
			list: func(after int64, limit int) ([]store.Case, error) {
				filter.After, filter.Limit = after, limit
				return r.Cases().List(filter)
			},
			place: func(row *store.Case) int64 { return row.ID },
			add:   l.add,
		}.all(filter.After)
		return err
	})
	return out, err
}

// caseFilter returns the filter for the store, and the users whom by stands in
// for. some is false if no case can match.
func (e *Cases) caseFilter(by identity.Principal, f Filter) (filter store.CaseFilter, absent []identity.Principal, some bool) {
	filter = store.CaseFilter{
		Parent: f.Parent, State: storedState(f.State), Status: f.Status, OnBoard: f.OnBoard, After: f.After, Limit: f.Limit,
		Archived: f.Archived, Month: f.Month,
	}
	if !by.Admin() || f.OwnOnly {
		absent = e.rights.Represented(by)
		filter.Access = access.WithContexts(by, absent)
	}
	if !by.Admin() {
		filter.Routes = e.rights.Administered(by)
	}
	if f.Context != "" && f.Context != access.Mine {
		if filter.Context = e.rights.ContextID(f.Context); filter.Context == 0 {
			return filter, nil, false
		}
	}
	if f.Route != "" {
		info := e.rights.Visible(by, f.Route)
		if info == nil {
			return filter, nil, false
		}
		filter.RouteID = info.ID
	}
	return filter, absent, true
}

// caseLister makes cases into resources.
type caseLister struct {
	*Cases
	r      store.Reader
	by     identity.Principal
	f      Filter
	tests  caseTests
	absent []identity.Principal // for whom by stands in
}

// add appends those of the rows that pass the filters which the store does not
// know.
func (l *caseLister) add(rows []store.Case, out []Resource) ([]Resource, error) {
	var named []int64
	for i := range rows {
		if rows[i].Named {
			named = append(named, rows[i].ID)
		}
	}
	byCase := map[int64]*store.GivenName{}
	if len(named) > 0 {
		given, err := l.r.Names().List(store.FolderCases, nil, named)
		if err != nil {
			return nil, err
		}
		for i := range given {
			byCase[given[i].CaseID] = &given[i]
		}
	}
	for i := range rows {
		row := &rows[i]
		passes, err := l.passes(row)
		if err != nil {
			return nil, err
		}
		if !passes {
			continue
		}
		res, err := l.caseResource(l.by, row, byCase[row.ID])
		if err != nil {
			return nil, err
		}
		if err := l.showLinked(l.r, l.by, row, res); err != nil {
			return nil, err
		}
		out = append(out, *res)
	}
	return out, nil
}

// What a filter of cases takes beside a state of life.
const (
	StateOpen = "open" // drafts, and those that are queued, active or suspended
	StateAll  = "all"  // also those that were canceled
)

func (l *caseLister) passes(row *store.Case) (bool, error) {
	by, f := l.by, l.f
	if f.State == "" && !f.Archived && row.State == string(machine.Canceled) || f.Context == access.Mine && !by.In(row.ContextID) {
		return false, nil
	}
	if life := machine.Life(row.State); f.State == StateOpen && life.Ended() {
		return false, nil
	}
	if f.State == machine.StateDraft || f.State == string(machine.Queued) {
		if access.ShownState(row) != f.State {
			return false, nil
		}
	}
	if life := machine.Life(row.State); f.Unfinished && life.Ended() && life != machine.Failed {
		return false, nil
	}
	if len(l.absent) > 0 {
		if sees, err := l.rights.SeesListed(l.r, by, l.absent, by.Admin() && f.OwnOnly, row); err != nil || !sees {
			return false, err
		}
	}
	return l.tests.pass(by, row)
}

// DeleteCase cancels an open case, and archives one that was completed; its given
// name is free then. One that is canceled or archived already stays as it is, so that
// a DELETE which is repeated has no other effect (RFC 9110, section 9.2.2). Errors:
// errs.NotFound; errs.NotAllowed; errs.InUse for an ended case that has open children,
// or whose parent has not moved on.
func (e *Archive) DeleteCase(ctx context.Context, req Request, ref Ref) error {
	err := e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		h, err := e.decider.loadCase(r, req.By, ref)
		if err != nil {
			return nil, err
		}
		if !h.admin && !access.IsStarter(req.By, h.core) {
			return nil, errs.New(errs.NotAllowed, "Only its starter and the route's administrators may cancel a case, or archive one that has ended.")
		}
		if err := e.CheckRequest(r.Locks(), req, caseVersion(h, ref), change.ScopeOf(store.CaseKey(h.row.ID))); err != nil {
			return nil, err
		}
		if h.core.Life == machine.Canceled || h.row.Archived != 0 { // it was deleted before
			return func(store.Tx) error { return nil }, nil
		}
		if h.core.Life.Ended() {
			if err := archivable(h); err != nil {
				return nil, err
			}
			return func(tx store.Tx) error { return e.decider.archiveEnded(tx, req, h) }, nil
		}
		c, err := e.decider.decideOn(h, machine.Cancel{Actor: e.rights.Actor(req.By, h.admin)}, req)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) error {
			if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.CaseKey(h.row.ID))); err != nil {
				return err
			}
			if err := e.decider.writeAsked(tx, c); err != nil {
				return err
			}
			return tx.Write().Locks().DeleteOn(store.CaseKey(h.row.ID))
		}, nil
	})
	if err != nil {
		return err
	}
	e.runDueNow(ctx)
	return nil
}

func caseVersion(h *loadedCase, ref Ref) Version {
	if h == nil {
		return Version{}
	}
	v := Version{Exists: true, ETag: caseETag(h.core), Definition: caseDefinition(h.core.GUID, h.core.Version), Modified: h.core.Modified}
	if !ref.Identity() && h.given != nil {
		v.ETag = h.given.ETag
	}
	return v
}

// LogRoom makes sure that there is room in memory for so many bytes, before the log of a
// case is read: it may have very many.
type LogRoom func(bytes int64) error

// logWeight is how many bytes a log takes in memory for each byte of it that is stored: as
// it is read and put together, and the copies that are made on the way out.
const logWeight = 4

// smallLog is how many bytes a log has that is not worth asking for.
const smallLog = 64 << 10

// logWeightOf returns what a log takes.
func logWeightOf(row *store.Case) int64 {
	if row.LogBytes < smallLog {
		return 0
	}
	return logWeight * row.LogBytes
}

// pageWeight is how many times the bytes of a case its page takes: the case as it is read, and
// the fields of a form, in which a character may become five.
const pageWeight = 8

// pageWeightOf returns what the page of a case takes.
func pageWeightOf(row *store.Case) int64 {
	weight := logWeightOf(row)
	if bytes := int64(len(row.Marking)); bytes >= smallLog {
		weight += pageWeight * bytes
	}
	return weight
}

// CaseLog returns the log of a case as JSON, oldest entry first. Errors:
// errs.NotFound if by may not see the case.
func (e *Cases) CaseLog(ctx context.Context, by identity.Principal, id int64, room LogRoom) (*Resource, error) {
	return e.caseLog(ctx, by, Ref{CaseID: id}, room, logForm{"log.json", func(log []byte) ([]byte, error) { return append(log, '\n'), nil }})
}

// logForm is a form in which a log is shown.
type logForm struct {
	name   string
	render func(log []byte) ([]byte, error)
}

// CaseLogText returns the log of a case as text, a line an entry. Errors:
// errs.NotFound if by may not see the case.
func (e *Cases) CaseLogText(ctx context.Context, by identity.Principal, id int64, room LogRoom) (*Resource, error) {
	return e.caseLog(ctx, by, Ref{CaseID: id}, room, logForm{"log.txt", func(log []byte) ([]byte, error) {
		var entries []machine.LogEntry
		if err := json.Unmarshal(log, &entries); err != nil {
			return nil, errs.Wrap(fmt.Sprintf("read the log of case %d", id), err)
		}
		return machine.LogText(entries), nil
	}})
}

// weighed returns a case for which there is room, for as much as weight says. No snapshot is
// kept while it is waited for.
func (room LogRoom) weighed(ctx context.Context, e *base, by identity.Principal, ref Ref, weight func(*store.Case) int64) (row *store.Case, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		if row, _, err = e.findCase(r, by, ref); err == nil && row == nil {
			err = change.Absent("case")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if bytes := weight(row); room != nil && bytes > 0 {
		err = room(bytes)
	}
	return row, err
}

func (e *Cases) caseLog(ctx context.Context, by identity.Principal, ref Ref, room LogRoom, as logForm) (*Resource, error) {
	row, err := room.weighed(ctx, e.base, by, ref, logWeightOf)
	if err != nil {
		return nil, err
	}
	var log []byte
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		log, err = r.Cases().Log(row.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	form, err := as.render(log)
	if err != nil {
		return nil, err
	}
	return &Resource{Name: as.name, Form: form, FormETag: change.SourceETag(form), Created: row.Created, Modified: row.Modified}, nil
}
