package engine

import (
	"slices"
	"time"

	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// caseFields are the fields of a case's complete form: those that a document
// can change or that identify the case, and those that the server computes,
// which are passed over.
func caseFields() []string {
	return []string{
		"id", "guid", "route", "routeId", "title", "state", "contextId", "context", "priority", "roles", "stakeholders",
		"xattrDict", "links", "suspendedUntil", "startAt", "created",

		"routeVersion", "status", "starter", "parent", "parentAction", "children", "enabledActions", "pendingActions",
		"warnings", "childrenCount", "visit", "scheduleUUID", "scheduledFor", "resolution", "started", "modified",
		"completed", "version", "linkedFrom",
	}
}

// startOnly are the fields that only a document that starts a case has: one
// of them is its input message.
func startOnly() []string { return []string{"attachmentUUID", "document", "input"} }

// startDocument is a document that starts a case, as it was read.
type startDocument struct {
	routeName    string
	routeID      int64
	title        string
	priority     int64
	hasPriority  bool
	contextID    int64
	context      string
	xattrs       label.Dict
	relations    []machine.Relation
	roles        []machine.Players
	stakeholders []string
	input        *contents.Content
	startAt      time.Time
}

func (e *Cases) readStart(root document.Value, zone *time.Location) *startDocument {
	s := &startDocument{}
	if !root.Is(document.Object) {
		return s
	}
	root.Only(append(append(caseFields(), startOnly()...), fieldComment)...)
	if v := root.Get(fieldComment); v.Given() {
		v.Fail(errs.CodeConflict, "is a remark on a case that is there: start the case without it, and save it in the case's folder as %s then", RemarkFile)
	}
	byName, byID := root.Get("route"), root.Get("routeId")
	if !byName.Given() && !byID.Given() {
		byID.Fail(errs.CodeRequired, "is required: routeId, or route with the route's name")
	}
	s.routeName = readName(byName)
	if byID.Given() {
		s.routeID, _ = byID.Int(1, 1<<53-1)
	}
	readTitle(root.Get("title"), &s.title)
	if v := root.Get("priority"); v.Given() {
		s.priority, s.hasPriority = v.Int(0, 65535)
	}
	if v := root.Get("contextId"); v.Given() {
		s.contextID, _ = v.Int(1, 1<<53-1)
	}
	s.context = readName(root.Get("context"))
	s.xattrs = merged(nil, readChanges(root.Get("xattrDict")))
	if v := root.Get("stakeholders"); v.Given() {
		s.stakeholders = e.partyNames(v)
	}
	s.startAt, _ = readDate(root.Get("startAt"), time.Time{}, zone)
	s.input = readInput(root.Get("input"))
	oneInput(root)
	return s
}

// readName reads an optional name, which cannot be empty.
func readName(v document.Value) string {
	if !v.Given() {
		return ""
	}
	name, ok := v.Str()
	if ok && name == "" {
		v.Fail(errs.CodeFormat, "must not be empty")
	}
	return name
}

// oneInput refuses a document that gives its case several inputs.
func oneInput(root document.Value) {
	first := ""
	for _, key := range []string{"attachmentUUID", "document", "input"} {
		switch v := root.Get(key); {
		case !v.Given():
		case first == "":
			first = key
		default:
			v.Fail(errs.CodeConflict, "cannot be given together with %s: a case has one input message", first)
		}
	}
}

// readInput returns the input message that a document holds: a string as
// text, any other value as JSON.
func readInput(v document.Value) *contents.Content {
	switch {
	case !v.Given():
		return nil
	case v.Node.Kind == document.String:
		return &contents.Content{MediaType: "text/plain; charset=utf-8", Inline: []byte(v.Node.Text)}
	}
	return &contents.Content{MediaType: "application/json", Inline: v.Node.AppendJSON(nil)}
}

// partyNames reads a list of names of users and teams, and of the symbolic
// parties given.
func (e *base) partyNames(v document.Value, symbolic ...string) []string {
	if !v.Is(document.List) {
		return nil
	}
	out := []string{}
	for i := range v.Node.Items {
		item := v.Item(i)
		name, ok := item.Str()
		if !ok {
			continue
		}
		if slices.Contains(symbolic, name) {
			out = append(out, name)
			continue
		}
		p := e.directory().ByName(identity.Name(name))
		if p == nil {
			item.Fail(errs.CodeNotFound, "%q is not a user or team", name)
			continue
		}
		if !slices.Contains(out, string(p.Name)) {
			out = append(out, string(p.Name))
		}
	}
	return out
}

// readRoles reads roles with their players, in the route's order.
func (e *Cases) readRoles(v document.Value, r *route.Route) []machine.Players {
	if !v.Given() || !v.Is(document.Object) {
		return nil
	}
	known := make([]string, len(r.Roles))
	for i := range r.Roles {
		known[i] = r.Roles[i].Name
	}
	v.Only(known...)
	out := []machine.Players{}
	for _, role := range known {
		player := v.Get(role)
		if player.Node == nil || player.Node.Kind == document.Null {
			continue
		}
		if parties := e.partyNames(player, machine.PartyAdmins, machine.PartyStakeholders); len(parties) > 0 {
			out = append(out, machine.Players{Role: role, Parties: parties})
		}
	}
	return out
}

// refuseEmptyRoles refuses a role that a start gives to nobody: the route's rules
// would fill it.
func refuseEmptyRoles(roles document.Value) {
	if !roles.Given() || roles.Node.Kind != document.Object {
		return
	}
	for i := range roles.Node.Members {
		if _, players := roles.Member(i); players.Node.Kind == document.List && len(players.Node.Items) == 0 {
			players.Fail(errs.CodeRange, "must name somebody; leave the role out to have it filled by the rules of the route")
		}
	}
}

// mayAssign reports whether the starter may put the parties into the role.
func (e *Cases) mayAssign(r *route.Route, c *machine.Case, role string, parties []string) bool {
	return machine.Picks(r, c, role, parties, e.belongs)
}

// MayPick reports whether by may put the party into a role when it starts a case of the
// route, by what is known before the case is there.
func (e *Cases) MayPick(by identity.Principal, r *route.Route, role, party string) bool {
	starter := e.directory().ByID(by.ID)
	return starter != nil && e.mayAssign(r, &machine.Case{Starter: string(starter.Name)}, role, []string{party})
}

// belongs reports whether the party is the other one or belongs to it.
func (e *Cases) belongs(party, to string) bool {
	d := e.directory()
	p, team := d.ByName(identity.Name(party)), d.ByName(identity.Name(to))
	if p == nil || team == nil {
		return false
	}
	return p.ID == team.ID || slices.Contains(d.Contexts(p.ID), team.ID)
}
