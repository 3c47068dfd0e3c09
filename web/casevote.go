package web

import (
	"fmt"
	"html/template"
	"slices"
	"time"

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
		n.Of = fmt.Sprintf("%d of %d so far", len(en.Votes), d.Route.Actions[a].Need.Count)
		v.Need = append(v.Need, n)
	}
}

// voteView is what becomes of the children of a case.
type voteView struct {
	Title  string
	Route  string
	Done   string // how many have ended
	Over   string // in the word of the route: "have voted"
	Total  int64
	Parts  []votePart
	Tally  []tallyView
	Kids   []childView
	Hidden int64

	Decides string // when the case goes on, "" if it waits for none of them
	Rule    string // the expression by which it may go on earlier, "" for none
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
	out := &voteView{Title: "Children", Total: d.Case.ChildrenCount, Route: childRoute(d, d.Case.Children[0].Route)}
	if a := d.Case.Children[0].Action; a != "" {
		out.Title = actionTitle(d.Route, a)
	}
	out.Done, out.Over = fmt.Sprintf("%d of %d", endedChildren(d.Case), out.Total), overChildren(&d.CaseView)
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
	x.decidesOf(out, d)
	v.Vote = out
}

// decidesOf adds when the case goes on that waits for its children.
func (x caseDrawing) decidesOf(v *voteView, d *engine.CaseDetail) {
	i := d.Route.Action(d.Case.Children[0].Action)
	if i < 0 || i >= len(d.Route.Actions) || d.Route.Actions[i].Child == nil || !slices.ContainsFunc(d.Case.Enabled, func(en machine.Enabled) bool { return en.Action == d.Route.Actions[i].Name }) {
		return
	}
	a := &d.Route.Actions[i]
	verb := "goes on"
	if a.Decide != nil {
		verb = "decides"
	}
	v.Decides = verb + " when all " + v.Over
	if v.Total == 1 {
		v.Decides = verb + " when it " + v.Over
	}
	if latest := latestEnd(d); !latest.IsZero() {
		v.Decides += ", or on " + x.Words.Exact(latest)
	}
	if a.Child.Complete != nil {
		v.Rule = a.Child.Complete.Source()
	}
}

// latestEnd returns until when all children will have gone on by themselves, zero if that is
// not certain, or the reader does not see all of them.
func latestEnd(d *engine.CaseDetail) (latest time.Time) {
	if int64(len(d.Children)) != d.Case.ChildrenCount {
		return time.Time{}
	}
	for _, child := range d.Children {
		if child.Case.Life.Ended() {
			continue
		}
		var first time.Time
		for i := range child.Case.Enabled {
			en := &child.Case.Enabled[i]
			if timedAction(child.Route, en) != nil && (first.IsZero() || en.Due.Before(first)) {
				first = en.Due
			}
		}
		if first.IsZero() {
			return time.Time{}
		}
		if first.After(latest) {
			latest = first
		}
	}
	return latest
}

// endedChildren returns how many of the newest children of a case have ended.
func endedChildren(c *machine.Case) (n int) {
	for i := range c.Children {
		if c.Children[i].Life.Ended() {
			n++
		}
	}
	return n
}

// overChildren says that children have ended: in the word of their action if each is of one
// person, as "have voted", else "have ended".
func overChildren(view *engine.CaseView) string {
	verb := "have"
	if view.Case.ChildrenCount == 1 {
		verb = "has"
	}
	a := view.Route.Action(view.Case.Children[0].Action)
	if a < 0 || a >= len(view.Route.Actions) {
		return verb + " ended"
	}
	action := &view.Route.Actions[a]
	ofOne := action.Child != nil && slices.ContainsFunc(action.Child.Roles, func(r route.ChildRole) bool { return r.Each != route.PerRole })
	if past := pastForm(action); ofOne && past != "" {
		return verb + " " + past
	}
	return verb + " ended"
}

// howFar says how far a case is in which several take part: "2 of 4 have voted", "1 of 2
// agreed". It is "" if nothing is under way.
func howFar(view *engine.CaseView) string {
	c := view.Case
	if c.Life.Ended() {
		return ""
	}
	if len(c.Children) > 0 {
		return fmt.Sprintf("%d of %d %s", endedChildren(c), c.ChildrenCount, overChildren(view))
	}
	for i := range c.Enabled {
		en := &c.Enabled[i]
		a := view.Route.Action(en.Action)
		if len(en.Votes) > 0 && a >= 0 && a < len(view.Route.Actions) && view.Route.Actions[a].Need != nil {
			return fmt.Sprintf("%d of %d %s", len(en.Votes), view.Route.Actions[a].Need.Count, agreed(view.Route, []int{a}))
		}
	}
	for i := range view.Route.Transitions {
		t := &view.Route.Transitions[i]
		if s := view.Route.State(c.Status); s < 0 || t.From != s || len(t.Requires) < 2 {
			continue
		}
		done := 0
		for _, a := range t.Requires {
			if slices.Contains(c.Done, view.Route.Actions[a].Name) {
				done++
			}
		}
		if done > 0 {
			return fmt.Sprintf("%d of %d %s", done, len(t.Requires), agreed(view.Route, t.Requires))
		}
	}
	return ""
}

// agreed says what those did who have performed some of the actions.
func agreed(r *route.Route, actions []int) string {
	if slices.ContainsFunc(actions, func(a int) bool { return r.Actions[a].Type != route.TypeApprove }) {
		return "done"
	}
	return "agreed"
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
