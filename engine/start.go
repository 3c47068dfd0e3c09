package engine

import (
	"context"
	"slices"
	"strconv"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// PutCase starts a case, or changes the one that the reference names. Errors:
// errs.NotFound; errs.Invalid with every fault of the document;
// errs.NotAllowed; errs.RoleNotAssignable; errs.ContextNotAvailable;
// errs.ReadOnly for a canceled or archived case; errs.TooMany for too many open
// cases.
func (e *Cases) PutCase(ctx context.Context, req Request, ref Ref, body []byte) (*Outcome, error) {
	return change.Do(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		row, given, err := e.findCase(r, req.By, ref)
		if err != nil {
			return nil, err
		}
		var next *putCase
		if row != nil {
			next, err = e.readCaseChange(r, req, loadedRef{ref, row, given}, body)
		} else {
			next, err = e.readNewCase(r, req, ref, body)
		}
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) {
			return e.writePutCase(tx, req, next)
		}, nil
	})
}

// putCase is a case with the given name to be stored.
type putCase struct {
	change  *caseChange
	given   *store.GivenName // nil: none
	was     string           // ETag of what has the name now, "" for a new name
	created bool
	byName  bool // the request's URL is the given name's

	restarted []string    // see Outcome.Restarted
	archives  *loadedCase // the case that a command archives instead; nil: none
}

func (e *Cases) readNewCase(r store.Reader, req Request, ref Ref, body []byte) (*putCase, error) {
	if ref.Identity() || ref.Author != req.By.ID && ref.Name != "" {
		return nil, change.Absent("case")
	}
	if err := change.CheckVersion(req.If, Version{}); err != nil {
		return nil, err
	}
	b, err := e.readStartDocument(r, req, ref, body)
	if err != nil {
		return nil, err
	}
	if err := hiddenName(r, store.FolderCases, ref); err != nil {
		return nil, err
	}
	if err := e.usage.Check(quota.OpenCases, req.By.ID, e.limits.OpenCases, r.Cases().CountOpen); err != nil {
		return nil, err
	}
	b.from = r
	now, err := e.decider.startsNow(r, b.startable(), req.Now)
	if err != nil {
		return nil, err
	}
	change, err := createAsked(e.decider, req, *b, now)
	if err != nil {
		return nil, toldAtOnce(nil, err, b.source)
	}
	if err := warnHeld(r, req.By, change); err != nil {
		return nil, err
	}
	change.warnings = append(change.warnings, passedOver(b.source, change.after)...)
	p := &putCase{change: change, created: true, byName: true}
	if ref.Name != "" {
		change.row.Named = true
		p.given = &store.GivenName{Folder: store.FolderCases, Author: req.By.ID, Name: ref.Name, CaseID: change.row.ID}
		setSource(p.given, body, req.Now)
	}
	return p, nil
}

// warnHeld warns who starts a case that a hold keeps it from starting.
func warnHeld(r store.Reader, by identity.Principal, c *caseChange) error {
	if c.after.Life != machine.Queued || c.after.IsDraft() || !c.row.Due.IsZero() {
		return nil
	}
	holds, err := r.Queue().Holds()
	if why := heldBack(holds, c.after.RouteName, c.row.Group, by); why != "" {
		c.warnings = append(c.warnings, "The case does not start yet: "+why)
	}
	return err
}

// readStartDocument reads a start document and judges the caller's rights to it.
func (e *Cases) readStartDocument(r store.Reader, req Request, ref Ref, body []byte) (*newCase, error) {
	node, err := parseNamed(ref, body)
	if err != nil {
		return nil, err
	}
	if node.Get("do") != nil {
		return nil, errs.New(errs.NotFound, "There is no case with this name. A case that was canceled gives its name back; save the command to the file with its number, as in Cases/17.json.")
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	s := e.readStart(root, e.zoneOf(req.By))
	if v := root.Get("attachmentUUID"); v.Given() {
		if s.input, err = e.attachments.startInput(r, req, v); err != nil {
			return nil, err
		}
	}
	if v := root.Get("document"); v.Given() {
		if s.input, err = e.files.Input(r, req, v); err != nil {
			return nil, err
		}
	}
	if s.relations, err = e.readLinks(r, req.By, root.Get("links"), &machine.Case{}); err != nil {
		return nil, err
	}
	s.relations = slices.DeleteFunc(s.relations, func(l machine.Relation) bool { return l.Case == 0 })
	party, contextErr := e.contextRef(req.By, root, wantedContext{id: s.contextID, name: s.context})
	info := e.routeRef(req.By, root, s.routeName, s.routeID, func(info *access.Route) bool { return e.rights.MayStart(req.By, info) })
	var used *usedRoute
	if info != nil {
		if used, err = e.use(r, info); err != nil {
			return nil, err
		}
		belowXattrDict(&faults, used.Compiled)
		s.roles = e.readRoles(root.Get("roles"), used.Compiled)
		if !root.Get("guid").Given() { // else it is the form of another case, copied
			refuseEmptyRoles(root.Get("roles"))
		}
	}
	wrong := faults.List()
	starter := e.directory().ByID(req.By.ID)
	if len(wrong) > 0 && (used == nil || starter == nil || contextErr != nil) {
		return nil, faults.Err()
	}
	if contextErr != nil {
		return nil, contextErr
	}
	if starter == nil {
		return nil, errs.New(errs.NotAllowed, "Only users can start cases.")
	}
	b := &newCase{
		zone: e.zoneOf(req.By).String(), source: node,
		info: used, context: party, starter: *starter, title: s.title, priority: used.Compiled.Priority,
		xattrs: s.xattrs, relations: s.relations, roles: s.roles, stakeholders: s.stakeholders, input: s.input, at: req.Now, startAt: s.startAt,
	}
	if s.hasPriority {
		b.priority = int(s.priority)
	}
	if len(wrong) > 0 {
		rest, rehearsal := *b, req
		rest.dryRun, rest.asked, rehearsal.DryRun = true, true, true // nothing of it stays, and ids are not used up
		_, err := e.decider.createCaseAs(rest, machine.Identity{ID: e.NewID(rehearsal), GUID: store.NewUUID().String()}, req.Now, false)
		return nil, toldAtOnce(wrong, err, node)
	}
	return b, e.judgeRoles(req, b)
}

// judgeRoles refuses players that the starter may not choose. Players that the
// route's own rules assign are allowed, so that a copy of a case starts as the
// case did.
func (e *Cases) judgeRoles(req Request, b *newCase) error {
	if e.rights.Administers(req.By, &b.info.Route) {
		return nil
	}
	c := &machine.Case{Starter: string(b.starter.Name), Roles: b.roles, Stakeholders: b.stakeholders, Xattrs: b.xattrs}
	var chosen, others []machine.Players
	for _, p := range b.roles {
		if e.mayAssign(b.info.Compiled, c, p.Role, p.Parties) {
			chosen = append(chosen, p)
		} else {
			others = append(others, p)
		}
	}
	if len(others) == 0 {
		return nil
	}
	b.roles = chosen
	rehearsal := *b
	rehearsal.dryRun = true // the cases that it starts need no ids
	ruled, err := e.decider.createCase(rehearsal, req.Now, true)
	if err != nil {
		return err
	}
	for _, p := range others {
		if !slices.Equal(ruled.after.RoleParties(p.Role), p.Parties) {
			return roleNotAssignable(p.Role)
		}
	}
	return nil
}

func roleNotAssignable(role string) error {
	return errs.New(errs.RoleNotAssignable, "You may not choose these players for the role %q; leave it out, or ask the route's administrators.", role)
}

func (e *Cases) writePutCase(tx store.Tx, req Request, p *putCase) (*Outcome, error) {
	if p.archives != nil {
		return e.archiveByCommand(tx, req, p.archives)
	}
	if p.created {
		if _, err := tx.Routes().CurrentVersion(p.change.row.RouteID); err != nil {
			return nil, staleIfGone(err)
		}
	}
	if !p.created {
		if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.CaseKey(p.change.row.ID))); err != nil {
			return nil, err
		}
	}
	if p.created || p.change.row.Revision != p.change.base {
		if err := e.decider.writeAsked(tx, p.change); err != nil {
			return nil, err
		}
	}
	keeps := p.given != nil && !p.change.freesName
	if keeps {
		if err := e.claimName(tx, p.given, p.was); err != nil {
			return nil, err
		}
	}
	c := p.change.after
	out := &Outcome{
		Created: p.created, Changed: p.change.row.Revision != p.change.base, Name: strconv.FormatInt(c.ID, 10),
		Form: p.change.formFor(req), FormETag: caseETag(c), Modified: c.Modified,
		CaseID: c.ID, Life: c.Shown(), Status: c.Status, LogSeq: c.LogSeq, Warnings: p.change.warnings,
	}
	if keeps && p.byName {
		out.ETag = p.given.ETag
	}
	if out.Changed {
		out.Restarted = p.restarted
	}
	return out, e.Finish(tx, req, out)
}

// loadedRef is a reference to a case, and what findCase returned for it.
type loadedRef struct {
	Ref
	row   *store.Case
	given *store.GivenName
}

// loadForEdit loads a case that a request changes, if its condition and the
// locks allow it.
func (e *Cases) loadForEdit(r store.Reader, req Request, of loadedRef) (*loadedCase, error) {
	given, err := caseName(r, of.row, of.given)
	if err != nil {
		return nil, err
	}
	h, err := e.decider.loadRow(r, req.By, of.row, given)
	if err != nil {
		return nil, err
	}
	return h, e.CheckRequest(r.Locks(), req, caseVersion(h, of.Ref), change.ScopeOf(store.CaseKey(of.row.ID)))
}

// readCaseChange reads a document that changes an open or ended case field
// by field (docs/contract/drive.md#replace-or-change).
func (e *Cases) readCaseChange(r store.Reader, req Request, of loadedRef, body []byte) (*putCase, error) {
	ref := of.Ref
	h, err := e.loadForEdit(r, req, of)
	if err != nil {
		return nil, err
	}
	given := h.given
	node, err := parseNamed(ref, body)
	if err != nil {
		return nil, err
	}
	if command := document.Root(node, new(document.Faults)).Get("do"); command.Node != nil {
		return e.readCaseCommand(req, h, node)
	}
	said, starts := onlyRemarks(node), ref.Name != "" && isStartDocument(node)
	if ref.Name != "" {
		if source, err := parseNamed(ref, given.Source); err == nil {
			node = edited(node, source)
		}
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	edit, other := e.readEdit(req.By, h, root, ref)
	belowXattrDict(&faults, h.route.Compiled)
	if edit.Relations, err = e.readLinks(r, req.By, root.Get("links"), h.core); err != nil {
		return nil, err
	}
	if wrong := faults.List(); len(wrong) > 0 {
		var more error
		if other == nil && e.judgeEdit(req, h, edit) == nil {
			rehearsal := req
			rehearsal.DryRun = true // nothing of it stays, and ids are not used up
			_, more = e.decideEdit(r, rehearsal, h, edit)
		}
		return nil, toldAtOnce(wrong, more, node)
	}
	if other != nil {
		return nil, other
	}
	if err := e.judgeEdit(req, h, edit); err != nil {
		if starts {
			err = saysItIsACase(h.core, err)
		}
		return nil, err
	}
	change, err := e.decideEdit(r, req, h, edit)
	if err != nil {
		return nil, toldAtOnce(nil, err, node)
	}
	if edit.Xattrs != nil {
		change.warnings = append(change.warnings, unknownXattrs(h.route.Compiled, h.core.RouteName, newKeys(*edit.Xattrs, h.core.Xattrs))...)
	}
	if said {
		return &putCase{change: change}, nil
	}
	p := &putCase{change: change, given: given, byName: !ref.Identity()}
	if starts {
		p.restarted = edit.fields()
	}
	if given != nil {
		p.was = given.ETag
		setSource(given, body, req.Now)
	}
	return p, nil
}

// edited returns the document without what equals its stored source: fields,
// and members of the objects that are merged. A file that is saved again must
// not ask for a change by what the user did not edit, although labels were
// expanded, roles assigned and XATTRs changed since it started the case.
func edited(node, source *document.Node) *document.Node {
	if node.Kind != document.Object {
		return node
	}
	out := *node
	out.Members = nil
	for _, m := range node.Members {
		said := source.Get(m.Key)
		if said != nil && document.Equal(m.Value, said) {
			continue
		}
		if (m.Key == "xattrDict" || m.Key == "links") && said != nil && said.Kind == document.Object {
			m.Value = edited(m.Value, said)
		}
		out.Members = append(out.Members, m)
	}
	return &out
}
