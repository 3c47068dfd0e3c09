package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// relations is what happens between a case, its parent and its children.
type relations struct{ *caseDecision }

func (d *caseDecision) relations() relations { return relations{d} }

// children creates the children of enablements that have none yet
// (docs/contract/engine.md#a-pass).
func (p *pass) children() error {
	for i := 0; i < len(p.c.Enabled); i++ {
		e := &p.c.Enabled[i]
		if p.actions[i] == unknown || p.route.Actions[p.actions[i]].Child == nil || e.Children != nil || e.State == Escalated {
			continue
		}
		before, log := p.tree.point(), len(p.log)
		c := p.c.clone()
		err := p.relations().planChildren(i)
		if len(p.needs) > 0 || err != nil && !errs.Is(err, errs.RouteFault) {
			return err
		}
		if err != nil {
			p.tree.undo(before)
			p.c, p.log = c, p.log[:log]
			p.index()
			p.escalate(performance{action: p.actions[i], enablement: p.c.Enabled[i].Number, trigger: ByChild}, err)
		}
		p.moved = true
	}
	return nil
}

// planChildren plans the children of an enablement and creates the first of them.
func (d relations) planChildren(place int) error {
	e := &d.c.Enabled[place]
	a := &d.route.Actions[d.actions[place]]
	def, err := d.definition(a.Child.Route)
	if err != nil {
		return err
	}
	answer, err := d.startAnswer(a.Child.Route)
	if err != nil {
		return err
	}
	if def == nil || !answer.childToo() {
		return noStart(a.Child.Route, answer)
	}
	if d.c.Depth >= MaxDepth {
		return routeFault("cases are nested deeper than %d", MaxDepth)
	}
	if !answer.Administers {
		if err := mayMap(a.Child, def); err != nil {
			return err
		}
	}
	plan, err := d.plan(a.Child)
	if err != nil {
		return err
	}
	total := plan.size()
	if total > MaxChildren {
		return routeFault("the action %q would start more than %d cases", a.Name, MaxChildren)
	}
	d.changed = true
	e.Children = &ChildSummary{Route: def.Route.Name, Total: total}
	for i := range def.Route.States {
		e.Children.Tally = append(e.Children.Tally, Tally{Status: def.Route.States[i].Name})
	}
	for _, role := range plan.nobody(a.Child) {
		if total > 0 && answer.Administers {
			d.warn(a.Name, e.Number, fmt.Sprintf("Nobody plays %q in the cases of %s", role, def.Route.Name))
		}
	}
	if total == 0 {
		e.Children.Finished = d.now
		d.add(LogEntry{Kind: LogChild, Action: new(a.Name), Text: "No cases of " + def.Route.Name + ": nobody to start them for"})
		return nil
	}
	d.childrenStarted[childStarter{d.c.ID, d.actions[place]}]++
	if err := d.createBatch(place, plan, def, answer); err != nil {
		return err
	}
	if e = &d.c.Enabled[place]; e.Children.Made < total {
		d.putPlan(e.Number, plan)
	}
	d.add(LogEntry{Kind: LogChild, Action: new(a.Name), Text: fmt.Sprintf("Started %s of the route %s", english.Plural(int(total), "case", ""), def.Route.Name)})
	return nil
}

// plan finds who plays what in the children
// (docs/contract/routes.md#4-child-cases). Symbolic parties are resolved here,
// because in a child they would stand for other people.
func (d relations) plan(child *route.Child) (plan *Plan, err error) {
	plan = &Plan{}
	for _, mapped := range child.Roles {
		names := d.byName(d.c.RoleParties(mapped.From))
		switch mapped.Each {
		case route.PerMember, route.PerUser:
			if mapped.Each == route.PerUser {
				given := names
				if names, err = d.persons(given); err != nil {
					continue // all absent facts are asked for at once
				}
				if err := d.mayName(given); err != nil {
					return nil, err
				}
			}
			slices.SortFunc(names, func(a, b string) int { return strings.Compare(identity.Fold(a), identity.Fold(b)) })
			plan.Dimensions = append(plan.Dimensions, Dimension{Role: mapped.Role, Names: names})
		default:
			if len(names) > 0 {
				plan.Shared = append(plan.Shared, Players{Role: mapped.Role, Parties: names})
			}
		}
	}
	if len(d.needs) > 0 {
		return nil, errAbsent
	}
	return plan, nil
}

// nobody returns the roles that every child has and that nobody plays.
func (p *Plan) nobody(child *route.Child) (roles []string) {
	for _, mapped := range child.Roles {
		shared := slices.ContainsFunc(p.Shared, func(s Players) bool { return s.Role == mapped.Role })
		if mapped.Each != route.PerMember && mapped.Each != route.PerUser && !shared {
			roles = append(roles, mapped.Role)
		}
	}
	return roles
}

// byName resolves symbolic parties into names. If facts are absent they become
// needs; the caller checks for them.
func (d *caseDecision) byName(list []string) []string {
	var out []string
	for _, party := range list {
		switch party {
		case PartyStakeholders:
			out = append(out, d.c.Stakeholders...)
		case PartyAdmins:
			admins, known := d.facts.Admins[d.c.RouteID]
			if !known {
				d.need(Need{Admins: d.c.RouteID})
			}
			out = append(out, admins...)
		default:
			out = append(out, party)
		}
	}
	return parties(out)
}

// persons returns the users in the parties, each once.
func (d *caseDecision) persons(list []string) ([]string, error) {
	var out []string
	for _, party := range list {
		members, known := d.facts.Members[party]
		if !known {
			d.need(Need{Members: party})
			continue
		}
		out = append(out, members...)
	}
	if len(d.needs) > 0 {
		return nil, errAbsent
	}
	return parties(out), nil
}

// MemberRight asks whether who answers for a route is told who is in a team.
type MemberRight struct {
	Team string
	By   int64 // the route
}

// mayName returns a fault if the parties have a team whose members are not for the author
// of the route. Cases are called after those for whom they are, and people who are not in
// the team see them.
func (d relations) mayName(list []string) error {
	for _, party := range list {
		if !d.facts.isTeam(party) {
			continue
		}
		right := MemberRight{party, d.c.RouteID}
		told, known := d.facts.Told[right]
		switch {
		case !known:
			d.need(Need{Told: right})
		case !told:
			return routeFault("a case for each user would name the members of the team %s; the author of the route is not one of them, and administers neither the team nor the server", party)
		}
	}
	return nil
}

// isTeam reports whether a party whose members are known is a team. A user has no member
// but itself.
func (f *Facts) isTeam(party string) bool {
	members := f.Members[party]
	return party != string(identity.Everyone) && len(members) > 0 && !(len(members) == 1 && sameName(members[0], party))
}

// childBatch is what the children of an enablement have in common.
type childBatch struct {
	enablement int64
	action     *route.Action
	def        *Definition
	unplayed   []string // roles of each child that nobody plays
	repeated   bool     // the action had children in this event before
	stranger   bool     // the author of this case's route does not administer theirs
}

// childToo reports whether the cases may be made as children. Who administers a route
// could give anybody the right to start it, so its children need no other right.
func (a StartAnswer) childToo() bool { return a.May || a.Administers }

// mayMap returns a fault if a stranger's route fills a role of its children that no starter
// may choose the players of: not even by leaving it empty, which keeps its rules from it.
func mayMap(child *route.Child, def *Definition) error {
	for _, mapped := range child.Roles {
		if role := def.Route.Role(mapped.Role); role == nil || len(role.Pick) == 0 {
			return routeFault("the route %q does not let the starter of a case choose who plays %q", def.Route.Name, mapped.Role)
		}
	}
	return nil
}

// createBatch creates the next children of the enablement in that place. A stranger's route
// can do no more with them than a start of theirs.
func (d relations) createBatch(place int, plan *Plan, def *Definition, answer StartAnswer) error {
	e := &d.c.Enabled[place]
	b := childBatch{enablement: e.Number, action: &d.route.Actions[d.actions[place]], def: def, stranger: !answer.Administers}
	if !b.stranger {
		b.unplayed = plan.nobody(b.action.Child)
	}
	b.repeated = d.childrenStarted[childStarter{d.c.ID, d.actions[place]}] > 1
	k := *e.Children
	left := max(0, d.batch-d.taken)
	if b.repeated {
		left = d.batch // as with startChild: deferring them would hide an endless loop
	}
	end := min(k.Total, k.Made+int64(left))
	if wanted := d.taken + int(end-k.Made); wanted > len(d.facts.New) && d.facts.Full == "" {
		return d.needNew(wanted)
	}
	for ; k.Made < end; k.Made++ {
		roles, names := plan.child(k.Made)
		c := d.seed(def, d.c.Title)
		if b.action.Child.Inherit {
			c.Xattrs = d.c.Xattrs
		}
		for _, given := range roles {
			if !b.stranger {
				break
			}
			if err := d.mayPick(def, c, given); err != nil {
				return err
			}
		}
		if c.Roles = roles; len(names) > 0 {
			c.Title = clipTitle(c.Title, " ("+strings.Join(names, ", ")+")")
		}
		if err := d.createChild(&b, c); err != nil {
			return err
		}
	}
	if k.Made < k.Total {
		d.leaveWork(Work{Kind: WorkMake, Enablement: e.Number})
	}
	d.c.Enabled[place].Children = &k
	return nil
}

// clipTitle appends rest to a title and shortens the title if both are too long.
func clipTitle(title, rest string) string {
	if over := len(title) + len(rest) - maxTitle; over > 0 {
		title = strings.ToValidUTF8(title[:max(0, len(title)-over)], "")
		rest = strings.ToValidUTF8(rest[:min(len(rest), maxTitle)], "")
	}
	return title + rest
}

// continueChildren creates children that an earlier event left.
func (d relations) continueChildren(number int64) error {
	place := d.c.placeOf(number)
	if place < 0 || d.actions[place] == unknown || d.c.Enabled[place].Children == nil {
		d.putPlan(number, nil)
		return nil
	}
	key := Enablement{d.c.ID, number}
	plan, known := d.facts.Plans[key]
	if !known {
		d.need(Need{Plan: key})
	}
	child := d.route.Actions[d.actions[place]].Child
	def, err := d.definition(child.Route)
	answer, _ := d.startAnswer(child.Route)
	if len(d.needs) > 0 || err != nil {
		return errAbsent
	}
	switch {
	case plan == nil || def == nil:
		err = routeFault("the other cases of the route %q cannot be started: the route or its plan is gone", child.Route)
	case !answer.childToo():
		err = noStart(child.Route, answer)
	default:
		before := d.savepoint()
		err = d.createBatch(place, plan, def, answer)
		switch k := d.c.Enabled[place].Children; {
		case errs.Is(err, errs.RouteFault):
			d.rollBack(before)
		case err == nil && k.Made == k.Total:
			d.putPlan(number, nil)
		}
	}
	if errs.Is(err, errs.RouteFault) {
		d.escalate(performance{action: d.actions[place], enablement: number, trigger: ByChild}, err)
		return nil
	}
	return err
}

// putPlan keeps the plan of an enablement for later events; nil drops it.
func (d relations) putPlan(number int64, plan *Plan) {
	if d.plans == nil {
		d.plans = map[int64]*Plan{}
	}
	d.plans[number] = plan
}

// createChild creates a child of its seed. It starts as soon as its parent is at
// rest.
func (d relations) createChild(b *childBatch, c *Case) error {
	c.Parent, c.ParentEnablement, c.ParentAction, c.Depth = d.c.ID, b.enablement, b.action.Name, d.c.Depth+1
	for _, mapped := range b.action.Child.Roles {
		if !b.stranger || len(c.RoleParties(mapped.Role)) > 0 {
			c.Mapped = append(c.Mapped, mapped.Role)
		}
	}
	child, err := d.createCase(c, b.def, Create{})
	if err != nil {
		return err
	}
	for _, role := range b.unplayed {
		child.warn(role, 0, fmt.Sprintf("Nobody plays %q", role))
	}
	d.c.ChildrenCount++
	d.c.Children = append(slices.Clip(d.c.Children), ChildLine{ID: c.ID, Route: c.RouteName, Life: Queued, Action: b.action.Name})
	if over := len(d.c.Children) - maxChildLines; over > 0 {
		d.c.Children = slices.Clone(d.c.Children[over:])
	}
	d.pending = append(d.pending, startChild{child: child, startBlocked: b.def.StartBlocked, repeated: b.repeated})
	return nil
}

// seed returns the seed of a case that this one creates. It inherits context,
// starter and priority.
func (d relations) seed(def *Definition, title string) *Case {
	return &Case{
		RouteID: def.ID, RouteName: def.Route.Name, RouteVersion: def.Version, Title: title,
		ContextID: d.c.ContextID, Context: d.c.Context, Starter: d.c.Starter, Priority: d.c.Priority,
	}
}

// createCase makes a queued case of its seed. If its route does not allow that, the
// fault is in this case's route.
func (d relations) createCase(c *Case, def *Definition, e Create) (*caseDecision, error) {
	id, err := d.identity()
	if err != nil {
		return nil, err
	}
	c.ID, c.GUID, c.Origin = id.ID, id.GUID, d.c.Began()
	child := &caseDecision{tree: d.tree, route: def.Route, c: c}
	if err := child.beginning().create(e); err != nil {
		if errs.Is(err, errs.Invalid) {
			return nil, routeFault("a case of the route %q cannot be created: %v", def.Route.Name, err)
		}
		return nil, err
	}
	// What is small counts nothing, but nobody whose room is used up gets more cases.
	if err := d.takeRoom(c.Starter, "another case", max(1, c.weight())); err != nil {
		return nil, err
	}
	child.reported = childStatusOf(child.c)
	d.tree.add(child)
	return child, nil
}

// countChild counts the new status of a child.
func (d relations) countChild(n childChange) {
	id, number := n.child.c.ID, n.child.c.ParentEnablement
	if i := slices.IndexFunc(d.c.Children, func(l ChildLine) bool { return l.ID == id }); i >= 0 {
		d.shown = true
		d.c.Children = slices.Clone(d.c.Children)
		d.c.Children[i].Life, d.c.Children[i].Status = n.is.shown, n.is.status
	}
	i := d.c.placeOf(number)
	if i < 0 || d.c.Enabled[i].Children == nil {
		return
	}
	d.shown = true
	k := *d.c.Enabled[i].Children
	k.Tally = slices.Clone(k.Tally)
	count := func(s childStatus, n int64) {
		switch s.life {
		case Completed:
			k.add(s.status, n)
		case Canceled:
			k.Canceled += n
		case Queued, Active, Suspended, Closed, Failed:
		}
	}
	count(n.was, -1)
	count(n.is, 1)
	d.c.Enabled[i].Children = &k
	if !slices.Contains(d.changedChildren, number) {
		d.changedChildren = append(d.changedChildren, number)
	}
	if text := endedText(n); text != "" && k.Total <= Batch {
		d.add(LogEntry{Kind: LogChild, Action: new(n.child.c.ParentAction), Text: text})
	}
}

// endedText says how a child ended, "" if it has not.
func endedText(n childChange) string {
	if n.was.shown == n.is.shown && n.was.status == n.is.status {
		return ""
	}
	switch n.is.shown {
	case Completed, Canceled, Failed:
	default:
		return ""
	}
	text := fmt.Sprintf("Case %d %s", n.child.c.ID, n.is.shown)
	if n.is.life == Completed && n.is.status != "" {
		text += ": " + n.is.status
	}
	return text
}

// afterChildren does what the changes of children ask for.
func (d relations) afterChildren() error {
	changed := d.changedChildren
	d.changedChildren = nil
	for _, place := range changed {
		i := d.c.placeOf(place)
		if i < 0 {
			continue
		}
		if err := d.checkFinished(i); err != nil {
			return err
		}
	}
	if err := d.bringToRest(); err != nil {
		return err
	}
	d.report()
	return nil
}

// checkFinished finds out whether the action is due because all of its children
// have ended, or enough of them (docs/contract/routes.md#4-child-cases).
func (d relations) checkFinished(place int) error {
	e := &d.c.Enabled[place]
	if d.actions[place] == unknown {
		return nil
	}
	a := &d.route.Actions[d.actions[place]]
	done := e.Children.Made == e.Children.Total && e.Children.open() == 0
	if !done && a.Child.Complete != nil {
		var err error
		if done, err = d.condition(a.Child.Complete, "", keyComplete, a.Name, e.Number); err != nil {
			return err
		}
		e = &d.c.Enabled[place]
	}
	k := *e.Children
	switch {
	case !done:
		k.Finished = time.Time{}
	case k.Finished.IsZero():
		k.Finished = d.now
	}
	e.Children = &k
	return nil
}
