package machine

import (
	"slices"
	"strings"

	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// StartRight asks whether a route may have cases of another one made in a context: by a
// step, or as children. The author of the route needs the right, too.
type StartRight struct {
	Route, Context string
	By             int64 // the id of the route with the step or the action
}

// StartAnswer is the answer to a StartRight.
type StartAnswer struct {
	May         bool
	Refused     string // why not
	Administers bool   // the author of the route administers the other one; then cases of it may be its children, however those are started
}

// startAnswer returns the answer to whether this case may have cases of that route made,
// errAbsent if it is not known yet.
func (d *caseDecision) startAnswer(name string) (StartAnswer, error) {
	right := StartRight{name, d.c.Context, d.c.RouteID}
	answer, known := d.facts.Rights[right]
	if !known {
		d.need(Need{Right: right})
		return answer, errAbsent
	}
	return answer, nil
}

// beginCase creates an independent case, which the manager starts later
// (docs/contract/routes.md#starting-a-case). It has the same context and starter.
// The context and the author of this case's route must have the right to start it: who
// writes a route must not act with the rights of those who start its cases.
func (d stepRun) beginCase(s *route.NewCase) error {
	def, err := d.definition(s.Route)
	if err != nil {
		return err
	}
	answer, err := d.startAnswer(s.Route)
	if err != nil {
		return err
	}
	if def == nil || !answer.May {
		return noStart(s.Route, answer)
	}
	if d.c.Links >= MaxLinks {
		return errs.New(errs.EndlessLoop, "The cases of this route start each other without end: more than %d in a chain. The route must be corrected.", MaxLinks)
	}
	title, given, err := d.value(s.Title)
	if err != nil {
		return err
	}
	if !given || strings.TrimSpace(title.Text) == "" {
		if title.Text = def.Route.Title; title.Text == "" {
			title.Text = def.Route.Name
		}
	}
	c := d.relations().seed(def, clipTitle(strings.TrimSpace(title.Text), ""))
	c.Links = d.c.Links + 1
	if c.Xattrs, err = d.xattrsOfNew(s); err != nil {
		return err
	}
	if c.Roles, err = d.rolesOfNew(s, def, c); err != nil {
		return err
	}
	started, err := d.relations().createCase(c, def, Create{By: d.c})
	if err != nil {
		return err
	}
	if started.inputLabel = s.Input; s.Input != "" {
		there, known := d.has(s.Input)
		if !known {
			return errAbsent
		}
		if !there {
			return routeFault("start: there is no message %q", s.Input)
		}
		if err := (storing{d.caseDecision}).input(s.Input); err != nil {
			return err
		}
		started.inputCase = d.c.ID
	}
	d.changed = true
	d.add(LogEntry{Kind: LogChild, Trigger: new(ByStep), Text: "Started a case of " + def.Route.Name + ": " + c.Title})
	return nil
}

// xattrsOfNew returns the XATTRs of a case that a step creates.
func (d stepRun) xattrsOfNew(s *route.NewCase) (dict label.Dict, err error) {
	if s.Inherit {
		dict = d.c.Xattrs
	}
	for _, x := range s.Xattrs {
		value, ok, err := d.filledValue(x.Value)
		if err != nil {
			return nil, err
		}
		if ok {
			dict = dict.Set(x.Key, value)
		} else {
			dict = dict.Remove(x.Key)
		}
	}
	return dict, checkDict(dict, d.c.Xattrs)
}

// rolesOfNew returns the players of a case that a step creates. Only those are
// allowed that its starter could choose (docs/contract/drive.md#rights-table).
func (d stepRun) rolesOfNew(s *route.NewCase, def *Definition, c *Case) (roles []Players, err error) {
	for _, r := range s.Roles {
		parties, err := d.whom(r.Parties)
		if err != nil {
			return nil, err
		}
		if len(parties) == 0 {
			continue
		}
		if err := d.relations().mayPick(def, c, Players{Role: r.Role, Parties: parties}); err != nil {
			return nil, err
		}
		roles = append(roles, Players{Role: r.Role, Parties: parties})
	}
	return roles, nil
}

// noStart is the fault of a case that is not made because the answer forbids it, or
// because its route is gone.
func noStart(name string, answer StartAnswer) error {
	if answer.Refused == "" {
		return routeFault("there is no route %q to start cases of", name)
	}
	return routeFault("%s", answer.Refused)
}

// mayPick returns a fault if the starter of that new case could not choose those players.
// c has no players yet: a role never justifies who plays it.
func (d relations) mayPick(def *Definition, c *Case, given Players) error {
	may := Picks(def.Route, c, given.Role, given.Parties, d.belongs)
	if len(d.needs) > 0 {
		return errAbsent
	}
	if !may {
		return routeFault("the starter of a case of %q may not put %s into the role %q", def.Route.Name, strings.Join(given.Parties, ", "), given.Role)
	}
	return nil
}

// belongs reports whether party and to are the same, or party is a user of the team
// to.
func (d relations) belongs(party, to string) bool {
	if sameName(party, to) {
		return true
	}
	members, known := d.facts.Members[to]
	if !known {
		d.need(Need{Members: to})
	}
	return slices.ContainsFunc(members, func(m string) bool { return sameName(m, party) })
}
