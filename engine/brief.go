package engine

import (
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/route"
)

// tell posts what services and people are told by a notice of a case, with what they
// need to know of the cases and tasks that it names.
func (t *notifier) tell(n *notice.Notice) error {
	n.Crowd = n.Crowd || t.change.crowd && n.Trouble != nil
	routes := map[int64]*route.Route{}
	know := func(c *machine.Case) error {
		if c == nil || routes[c.ID] != nil {
			return nil
		}
		if at := t.recipientCases[c.ID]; at != nil && at.change != nil {
			routes[c.ID] = at.change.route
			return nil
		}
		r, err := t.versions.get(t.tx, c.RouteID, c.RouteVersion)
		routes[c.ID] = r
		return err
	}
	if err := know(n.Case); err != nil {
		return err
	}
	for i := range n.People {
		if err := know(n.People[i].At); err != nil {
			return err
		}
	}
	n.Name = t.userName
	n.Facts = func(c *machine.Case) []machine.Fact {
		if routes[c.ID] == nil {
			return nil
		}
		return machine.FactsOf(c, routes[c.ID])
	}
	n.Brief = func(task machine.TaskRef) (b machine.Brief, ok bool) {
		at := t.recipientCases[task.Case]
		if at == nil || routes[task.Case] == nil {
			return b, false
		}
		return machine.BriefOf(at.Case, routes[task.Case], task.Action)
	}
	return t.decider.tell(t.tx, n, poster{send: t.post, note: t.note})
}
