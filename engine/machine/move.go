package machine

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// Move performs the only action of the actor that leads to a status. That is what
// moving a case on the board of its route means
// (docs/contract/engine.md#board).
type Move struct {
	To    string // name of a state of the route
	Actor Actor
}

func (Move) event() {}

// moveByPerson finds that action and performs it.
func (d personal) moveByPerson(e Move) error {
	if d.c.Life != Active && d.c.Life != Completed {
		return d.refusals().notOpen()
	}
	target := d.route.State(e.To)
	if target == route.NoState {
		refusal := errs.New(errs.ActionNotEnabled, "Nothing leads to %q: the version %d of the route, which this case has, does not have that state.", e.To, d.c.RouteVersion)
		refusal.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people)}
		return refusal
	}
	ways := make([][]string, len(d.route.States)) // by state: the actor's actions that lead to it
	var barred *route.Action                      // leads there, but only others may perform it
	for i := range d.route.Actions {
		place := d.place(i)
		if place < 0 {
			continue
		}
		to, err := d.moves(place, e.Actor)
		if err != nil {
			return err
		}
		a := &d.route.Actions[i]
		switch {
		case to == route.NoState:
		case !isBarred(d.c, d.route, a, e.Actor.Name):
			ways[to] = append(ways[to], a.Name)
		case to == target:
			barred = a
		}
	}
	if found := ways[target]; target != d.status && len(found) == 1 {
		return d.performByPerson(Perform{Action: found[0], Actor: e.Actor})
	}
	if barred != nil && len(ways[target]) == 0 {
		if err := d.fourEyes(barred, e.Actor.Name, ""); err != nil {
			return err
		}
	}
	return d.refusals().noMove(target, ways, d.deciding(e.Actor), d.falseConditions(target, e.Actor))
}

// falseConditions says in a sentence each which conditions keep the actor's actions that lead
// to a status from being offered, of a few of them.
func (d personal) falseConditions(target int, actor Actor) (sentences []string) {
	const most = 3
	for i := range d.route.Actions {
		a := &d.route.Actions[i]
		if a.Trigger != route.TriggerUser || d.leadsTo(a) != target || isBarred(d.c, d.route, a, actor.Name) {
			continue
		}
		if _, may := mayPerform(d.c, d.status, a, actor); !may {
			continue
		}
		if why := falseCondition(d.c, d.route, a.Name); why != "" && len(sentences) < most {
			sentences = append(sentences, why)
		}
	}
	return sentences
}

// leadsTo returns the state to which the case comes by an action, if it is performed now. It
// is NoState if there is none, or if only a decision or children can tell.
func (d personal) leadsTo(a *route.Action) int {
	if a.Decide != nil || a.Child != nil {
		return route.NoState
	}
	if len(a.Transitions) == 0 {
		return a.To
	}
	to, _ := d.follows(append(slices.Clip(d.c.Done), a.Name))
	return to
}

// deciding returns the actor's actions of which only a decision tells where they lead.
func (d personal) deciding(actor Actor) (names []string) {
	for i := range d.route.Actions {
		a := &d.route.Actions[i]
		place := d.place(i)
		if place < 0 || a.Trigger != route.TriggerUser || a.Decide == nil || !d.c.Enabled[place].State.forPeople() {
			continue
		}
		if _, may := mayPerform(d.c, d.status, a, actor); may && !isBarred(d.c, d.route, a, actor.Name) && (actor.RouteAdmin || !d.isOthers(place, actor)) {
			names = append(names, a.Name)
		}
	}
	return names
}

// moves returns the state to which the actor's performance of an enablement would
// lead. It is NoState if there is none, or if only a decision can tell.
func (d personal) moves(place int, actor Actor) (to int, err error) {
	a := &d.route.Actions[d.actions[place]]
	if a.Trigger != route.TriggerUser || a.Decide != nil || a.Child != nil {
		return route.NoState, nil
	}
	if err := d.guard(place); err != nil {
		return route.NoState, err
	}
	if _, may := mayPerform(d.c, d.status, a, actor); !may || !d.c.Enabled[place].State.forPeople() {
		return route.NoState, nil
	}
	if !actor.RouteAdmin && d.isOthers(place, actor) {
		return route.NoState, nil
	}
	return d.leadsTo(a), nil
}

// noMove returns the refusal of a move, with the moves that are possible.
// deciding are the actions that may lead anywhere; conditions say what keeps others from
// leading to the target.
func (d refusals) noMove(target int, ways [][]string, deciding, conditions []string) error {
	name := d.route.States[target].Name
	e := errs.New(errs.ActionNotEnabled, "")
	e.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people)}
	switch {
	case target == d.status:
		e.Detail = fmt.Sprintf("The case is in %q; move it to another state.", name)
	case len(ways[target]) > 1:
		e.Kind = errs.AmbiguousMove
		e.Detail = fmt.Sprintf("Several actions of yours lead from %q to %q: %s. Perform the one that you mean, below Actions/ of the case.",
			d.c.Status, name, strings.Join(ways[target], ", "))
		e.Extra["actions"] = ways[target]
		return e
	default:
		e.Detail = fmt.Sprintf("No action of yours leads from %q to %q now.", d.c.Status, name)
		for _, why := range conditions {
			e.Detail += " " + why
		}
	}
	var possible []string
	moves := map[string][]string{}
	for to, actions := range ways {
		if to == d.status || len(actions) == 0 {
			continue
		}
		moves[d.route.States[to].Name] = actions
		possible = append(possible, fmt.Sprintf("%s (%s)", d.route.States[to].Name, strings.Join(actions, ", ")))
	}
	e.Extra["moves"] = moves
	switch {
	case len(possible) > 0:
		e.Detail += " You can move it to: " + strings.Join(possible, "; ") + "."
	case len(deciding) == 0:
		e.Detail += " You cannot move it anywhere."
	}
	if len(deciding) > 0 {
		e.Detail += " " + d.decides(target, deciding)
		e.Extra["deciding"] = deciding
	}
	return e
}

// decides says how a case gets to a state by actions of which only a decision tells where they
// lead: by which of them, and how they are performed.
func (d refusals) decides(target int, deciding []string) string {
	var there []string
	for _, name := range deciding {
		outputs := d.route.Actions[d.route.Action(name)].Outputs
		if slices.ContainsFunc(outputs, func(o route.Output) bool { return o.To == target }) {
			there = append(there, name)
		}
	}
	switch len(there) {
	case 0:
		return "Where it goes by " + strings.Join(deciding, ", ") + " is decided when that is performed: do that below Actions/ of the case."
	case 1:
		return fmt.Sprintf("It can get there by %q, which decides where the case goes: perform that on the page of the case, or by saving {} as Actions/%s.json in its folder.",
			there[0], there[0])
	}
	return fmt.Sprintf("It can get there by %s, which decide where the case goes: perform one of them on the page of the case, or by saving {} as Actions/<action>.json in its folder.",
		strings.Join(there, ", "))
}
