package web

import (
	"fmt"
	"html/template"
	"slices"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/route"
)

// needView is an action that several must perform, with how far that is.
type needView struct {
	Title string
	Done  []string // who has performed it
	Of    string
}

// needsOf adds the actions that several must perform.
func (x caseDrawing) needsOf(v *caseView, d *engine.CaseDetail) {
	for i := range d.Case.Enabled {
		en := &d.Case.Enabled[i]
		a := d.Route.Action(en.Action)
		if a < 0 || a >= len(d.Route.Actions) || d.Route.Actions[a].Need == nil {
			continue
		}
		n := needView{Title: actionTitle(d.Route, en.Action)}
		for _, vote := range en.Votes {
			n.Done = append(n.Done, x.Queries.Person(vote.By).Shown()+", "+x.Words.Moment(vote.At))
		}
		n.Of = fmt.Sprintf("%d so far", len(en.Votes))
		v.Need = append(v.Need, n)
	}
}

// voteView is what becomes of the children of a case.
type voteView struct {
	Title  string
	Route  string
	Done   int64
	Total  int64
	Parts  []votePart
	Tally  []tallyView
	Kids   []childView
	Hidden int64
}

// votePart is a part of the bar: lengths are attributes of the drawing.
type votePart struct {
	X, Width int
	Class    string
}

// tallyView is how many children have ended alike.
type tallyView struct {
	mark
	Count int64
}

// childView is a child in the list.
type childView struct {
	ID     int64
	Person Person
	Title  string
	State  mark
	When   template.HTML
}

// voteOf adds the children of the enablement that has any.
func (x caseDrawing) voteOf(v *caseView, d *engine.CaseDetail) {
	if len(d.Case.Children) == 0 {
		return
	}
	out := &voteView{Title: "Children", Total: d.Case.ChildrenCount, Route: d.Case.Children[0].Route}
	if a := d.Case.Children[0].Action; a != "" {
		out.Title = actionTitle(d.Route, a)
	}
	counts := map[mark]int64{}
	var order []mark
	seen := map[int64]*engine.CaseView{}
	for _, child := range d.Children {
		seen[child.Case.ID] = child
	}
	for i := range d.Case.Children {
		line := &d.Case.Children[i]
		m := childMark(line, seen[line.ID])
		if counts[m] == 0 {
			order = append(order, m)
		}
		counts[m]++
		if m.Class != "" {
			out.Done++
		}
	}
	slices.SortStableFunc(order, func(a, b mark) int { return voteRank(a) - voteRank(b) })
	for _, m := range order {
		out.Tally = append(out.Tally, tallyView{m, counts[m]})
	}
	out.draw()
	for _, child := range d.Children {
		out.Kids = append(out.Kids, x.childView(child))
	}
	out.Hidden = out.Total - int64(len(out.Kids))
	v.Vote = out
}

func voteRank(m mark) int {
	switch m.Class {
	case "good":
		return 0
	case "bad":
		return 1
	case "off":
		return 2
	}
	return 3
}

// draw makes the bar of equal parts.
func (v *voteView) draw() {
	const width, gap, most = 600, 4, 60
	var classes []string
	for _, t := range v.Tally {
		class := map[string]string{"good": "v-yes", "bad": "v-no", "off": "v-abs"}[t.Class]
		if class == "" {
			class = "v-open"
		}
		for range min(t.Count, most) {
			classes = append(classes, class)
		}
	}
	classes = classes[:min(len(classes), most)]
	each := width / max(len(classes), 1)
	for i, class := range classes {
		v.Parts = append(v.Parts, votePart{i * each, max(each-gap, 2), class})
	}
}

// childMark returns the state of a child as a mark, open ones without a class.
func childMark(line *machine.ChildLine, child *engine.CaseView) mark {
	title := line.Status
	kind := route.StateType("")
	if child != nil {
		title = stateTitle(child.Route, line.Status)
		if i := child.Route.State(line.Status); i >= 0 && i < len(child.Route.States) {
			kind = child.Route.States[i].Type
		}
	}
	switch {
	case kind == route.StateDenied:
		return mark{"bad", "denied", title}
	case kind == route.StateCancelled || line.Life == machine.Canceled:
		return mark{"off", "cancelled", title}
	case line.Life == machine.Completed || line.Life == machine.Closed:
		return mark{"good", "done", title}
	}
	if title == "" {
		title = "Open"
	}
	return mark{"", "offered", title}
}

// childView returns a child that the reader sees.
func (x caseDrawing) childView(child *engine.CaseView) childView {
	c := child.Case
	line := machine.ChildLine{ID: c.ID, Route: c.RouteName, Life: c.Life, Status: c.Status}
	out := childView{ID: c.ID, Title: titleOf(child), State: childMark(&line, child)}
	for i := range c.Roles {
		if parties := c.Roles[i].Parties; len(parties) == 1 {
			out.Person = x.Queries.Person(parties[0])
		}
	}
	if c.Life.Ended() {
		out.When = x.Words.Time(c.Modified, x.Words.Short(c.Modified))
	}
	return out
}
