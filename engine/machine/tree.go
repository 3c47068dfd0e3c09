package machine

import (
	"cmp"
	"slices"
	"time"

	"flowdrive/route/expr"
)

// tree is one call of Decide: what the cases that the event touches have in
// common, and what they have to say to each other. The case of the event
// comes to rest first; then letters are delivered in order, and each brings
// the case that it is for to rest again
// (docs/contract/engine.md#6-trees-and-transactions).
type tree struct {
	now    time.Time
	facts  Facts
	batch  int
	sweeps bool // no person waits for the answer: loops are escalated
	needs  []Need

	performed int // performances in this event, undone ones too
	steps     int // steps of handlers likewise
	filters   int // jq filters likewise
	values    expr.Values
	scoped    int64 // id of the case that values are of

	own             int64 // id of the event's case
	cases           map[int64]*decision
	order           []*decision // those of cases besides the event's, as they were touched
	inbox           []letter
	news            []news
	childrenStarted map[childStarter]int // how many of its enablements got children in this event
	trail           []trodden
	taken           int // identities of facts.New
	touched         int // children that were told something
}

// childStarter is an action of a case that starts children.
type childStarter struct {
	id     int64
	action int
}

// letter is what one case has to say to another. Nothing is said before the
// one who says it is at rest.
type letter interface{ deliver(t *tree) error }

func newTree(in Input) *tree {
	// A monotonic reading or a zone would make equal instants unequal.
	return &tree{now: in.Now.UTC().Round(0), facts: in.Facts, batch: cmp.Or(in.batch, Batch)}
}

// need notes that a fact is absent.
func (t *tree) need(n Need) {
	if !slices.Contains(t.needs, n) {
		t.needs = append(t.needs, n)
	}
}

// add makes a case part of the event.
func (t *tree) add(d *decision) {
	t.cases[d.c.ID] = d
	t.order = append(t.order, d)
}

// related returns the decision on a case, nil where there is no such case.
func (t *tree) related(id int64) (*decision, error) {
	if d := t.cases[id]; d != nil {
		return d, nil
	}
	stored, known := t.facts.Cases[id]
	if !known {
		t.need(Need{Case: id})
		return nil, errAbsent
	}
	if stored == nil {
		return nil, nil
	}
	d := &decision{tree: t, route: stored.Route, c: stored.Case.clone(), from: stored.Case, stored: stored.Messages, types: stored.Types}
	d.told = standingOf(d.c)
	d.index()
	t.add(d)
	return d, nil
}

// deliver delivers all letters, and those that they give rise to. News go
// upwards once nothing else is left to do, from the bottom of the tree: so
// that a parent hears once where all of its children have ended up.
func (t *tree) deliver() error {
	for {
		switch {
		case len(t.inbox) > 0:
			l := t.inbox[0]
			t.inbox = t.inbox[1:]
			if err := l.deliver(t); err != nil {
				return err
			}
		case len(t.news) > 0:
			if err := t.announce(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// announce tells one parent what its children have to say: the one deepest in
// the tree.
func (t *tree) announce() error {
	id, depth := int64(0), -1
	for _, n := range t.news {
		if n.child.c.Depth > depth {
			id, depth = n.child.c.Parent, n.child.c.Depth
		}
	}
	parent, err := t.related(id)
	if err != nil {
		return err
	}
	var rest []news
	for _, n := range t.news {
		if n.child.c.Parent != id {
			rest = append(rest, n)
		} else if parent != nil {
			parent.hear(n)
		}
	}
	t.news = rest
	if parent == nil {
		return nil
	}
	return parent.considerBound()
}

// considerBound does what the news of children ask for as far as the ancestors
// let it: where they have not reached a case yet, it is judged by them all the
// same. It ends if they have moved on, and waits while one is suspended.
func (d *decision) considerBound() error {
	kin, err := d.ancestry(Due{})
	if err != nil {
		return err
	}
	switch {
	case kin.orphan:
		d.heard = nil
		d.end()
		return nil
	case kin.held:
		d.holdBack()
	}
	return d.consider()
}

// point is one to which a tree can be undone while no letter is delivered.
type point struct{ inbox, order, taken int }

func (t *tree) point() point { return point{len(t.inbox), len(t.order), t.taken} }

func (t *tree) undo(to point) {
	for _, d := range t.order[to.order:] {
		if d.from == nil {
			delete(t.cases, d.c.ID)
		}
	}
	// What was only looked at may stay.
	kept := slices.DeleteFunc(slices.Clone(t.order[to.order:]), func(d *decision) bool { return d.from == nil })
	t.order = append(t.order[:to.order], kept...)
	t.inbox, t.taken = t.inbox[:to.inbox], to.taken
}

// identity returns the identity of a new case.
func (t *tree) identity() (Identity, error) {
	switch {
	case t.taken < len(t.facts.New):
	case t.facts.Full:
		return Identity{}, routeFault("it would start more cases than its starter may have open")
	default:
		return Identity{}, t.needNew(t.taken + 1)
	}
	t.taken++
	return t.facts.New[t.taken-1], nil
}

// needNew asks for so many identities in all. An event that goes on asking is
// decided from the beginning each time, and so gets more than it asked for.
func (t *tree) needNew(n int) error {
	const few = 16
	if have := len(t.facts.New); have >= few {
		n = max(n, 2*have)
	}
	t.need(Need{New: n})
	return errAbsent
}

// definition returns the latest version of a route, nil for none.
func (t *tree) definition(name string) (*Definition, error) {
	def, known := t.facts.Routes[name]
	if !known {
		t.need(Need{Route: name})
		return nil, errAbsent
	}
	return def, nil
}

// standing is what a parent knows of a child.
type standing struct {
	life   Life
	status string
}

func standingOf(c *Case) standing { return standing{c.Life, c.Status} }

// tell tells the parent where the case is now, if that is news to it.
func (d *decision) tell() {
	is := standingOf(d.c)
	if d.c.Parent == 0 || is == d.told {
		return
	}
	was := d.told
	d.told = is
	for i := range d.tree.news {
		switch n := &d.tree.news[i]; {
		case n.child != d:
			continue
		case n.was == is:
			d.tree.news = slices.Delete(d.tree.news, i, i+1)
		default:
			n.is = is
		}
		return
	}
	d.tree.news = append(d.tree.news, news{child: d, was: was, is: is})
}

// news is what a child tells its parent: once an event, where it ended up.
type news struct {
	child   *decision
	was, is standing
}

// startChild says that a new child may start.
type startChild struct {
	child        *decision
	startBlocked bool // a hold or its group keeps it from starting now
	repeated     bool // its parent's action had children in this event before
}

// deliver starts the child. Where it has to wait, or many children have used up
// the event's share of performances, the manager does it, by an event of its
// own; the share does not count where an action has children again and again:
// that may be a loop through the tree, which would never be noticed.
func (b startChild) deliver(t *tree) error {
	const share = MaxPerformances / 2
	d, parent := b.child, t.cases[b.child.c.Parent]
	switch {
	case d.c.Life != Queued || parent.c.rowOf(d.c.ParentRow) < 0:
		return nil
	case parent.c.Life == Suspended:
		d.holdBack()
		d.tell()
		return nil
	case b.startBlocked, t.busy(d), t.performed >= share && !b.repeated:
		return nil
	}
	performed, steps := t.performed, t.steps
	if err := d.start(); err != nil {
		return err
	}
	exhausted := t.performed == MaxPerformances || t.steps == MaxSteps
	if d.c.Life == Failed && !t.sweeps && exhausted && t.performed-performed < share && t.steps-steps < MaxSteps/2 {
		return d.endless() // the loop is not the child's own
	}
	d.tell()
	return nil
}

// busy reports whether another case of the event has its group to itself.
func (t *tree) busy(child *decision) bool {
	if child.route.Group == "" {
		return false
	}
	for _, d := range t.cases {
		if d != child && d.route.Group == child.route.Group && d.c.Busy(t.now) {
			return true
		}
	}
	return false
}

// farewell says that an enablement is gone, whose children end with it.
type farewell struct {
	parent *decision
	row    int64
	stored bool  // some of them were there before this event
	after  int64 // id of the last that was seen to
}

func (f farewell) deliver(t *tree) error {
	for _, d := range t.newChildren(f.parent.c.ID, f.row) {
		d.end()
	}
	if !f.stored {
		return nil
	}
	if t.touched >= t.batch {
		f.parent.leave(Work{Kind: WorkEnd, Row: f.row, After: f.after})
		return nil
	}
	ids, err := t.childIDs(f.parent.c.ID, f.row, f.after)
	if err != nil {
		return err
	}
	for _, id := range ids {
		d, err := t.related(id)
		if err != nil {
			continue // every one that is absent is asked for at once
		}
		if d != nil {
			d.end()
		}
	}
	if len(t.needs) > 0 {
		return errAbsent
	}
	if t.touched += len(ids); len(ids) == t.batch {
		f.parent.leave(Work{Kind: WorkEnd, Row: f.row, After: ids[len(ids)-1]})
	}
	return nil
}

// childIDs returns the ids of the next children of an enablement that are
// neither closed nor canceled.
func (t *tree) childIDs(parent, row, after int64) ([]int64, error) {
	asked := ChildQuery{Enablement{parent, row}, after}
	ids, known := t.facts.ChildIDs[asked]
	if !known {
		t.need(Need{ChildIDs: asked})
		return nil, errAbsent
	}
	return ids, nil
}

// end ends a case because its parent has moved on: completed ones are closed,
// others canceled (docs/contract/engine.md#parents).
func (d *decision) end() {
	entry := LogEntry{Trigger: new(ByChild), Text: "Canceled: its parent has moved on"}
	to := Canceled
	switch d.c.Life {
	case Closed, Canceled:
		return
	case Completed:
		to, entry.Text = Closed, "Closed: its parent has moved on"
	case Queued, Active, Suspended, Failed:
	}
	d.c.Held, d.c.HeldUntil, d.c.Halted = false, time.Time{}, false
	d.dropRows()
	d.live(to, entry)
	d.tell()
}

// dropRows ends every enablement of a case that goes no further, and what
// hangs on them.
func (d *decision) dropRows() {
	d.c.Interrupted = slices.Clone(d.c.Interrupted)
	for i := range d.c.Enabled {
		e := &d.c.Enabled[i]
		if at := d.actions[i]; e.Children != nil && at != unknown && d.meanwhileOf(at) {
			d.c.Interrupted = append(d.c.Interrupted, e.Action)
		}
		d.disown(e)
	}
	d.c.Enabled = nil
	d.dropWarnings(func(w Warning) bool { return w.Row != 0 })
	d.changed = true
	d.index()
}

// disown ends the children of an enablement that is about to go.
func (d *decision) disown(e *Enabled) {
	if e.Children == nil {
		return
	}
	made := int64(len(d.newChildren(d.c.ID, e.Row)))
	d.inbox = append(d.inbox, farewell{parent: d, row: e.Row, stored: e.Children.Made > made})
	d.forget(e.Row, WorkMake, WorkHold, WorkRelease)
	if e.Children.Made < e.Children.Total {
		d.putPlan(e.Row, nil)
	}
}

// forget drops work on the children of an enablement.
func (d *decision) forget(row int64, kinds ...WorkKind) {
	drop := func(w Work) bool { return w.Row == row && slices.Contains(kinds, w.Kind) }
	if slices.ContainsFunc(d.c.Work, drop) {
		d.c.Work = slices.DeleteFunc(slices.Clone(d.c.Work), drop)
		d.shown = true
	}
}

// makesChildren finds the work that makes children of an enablement.
func makesChildren(row int64) func(Work) bool {
	return func(w Work) bool { return w.Kind == WorkMake && w.Row == row }
}

// leave leaves work to further events.
func (d *decision) leave(w Work) {
	d.c.Work = append(slices.Clip(d.c.Work), w)
	d.shown = true
}

// proceed does a batch of what earlier events left.
func (d *decision) proceed() error {
	i := d.c.doable()
	if i < 0 {
		return nil
	}
	w := d.c.Work[i]
	d.c.Work = slices.Delete(slices.Clone(d.c.Work), i, i+1)
	d.shown = true
	switch w.Kind {
	case WorkMake:
		return d.continueChildren(w.Row)
	case WorkEnd:
		d.inbox = append(d.inbox, farewell{parent: d, row: w.Row, stored: true, after: w.After})
	case WorkHold, WorkRelease:
		d.inbox = append(d.inbox, grip{parent: d, row: w.Row, hold: w.Kind == WorkHold, after: w.After})
	}
	return nil
}

// kinship is how a case stands to its ancestors.
type kinship struct {
	orphan bool // the parent has moved on: nothing can be done with it any more, though its end may not have reached it
	held   bool // one of them is suspended
}

// ancestry looks at the case's ancestors. One that has ended for good has
// none that matter; to reopen it they do.
func (d *decision) ancestry(event Event) (kin kinship, err error) {
	_, reopens := event.(Reopen)
	if d.c.Life == Closed || d.c.Life == Canceled && !reopens {
		return kin, nil
	}
	for c := d.c; c.Parent != 0; {
		parent, err := d.related(c.Parent)
		if err != nil {
			return kin, err
		}
		if parent == nil || parent.c.Life == Closed || parent.c.Life == Canceled || parent.c.Life == Failed || parent.c.rowOf(c.ParentRow) < 0 {
			kin.orphan = true
			return kin, nil
		}
		kin.held = kin.held || parent.c.Life == Suspended
		c = parent.c
	}
	return kin, nil
}

// grip says that children are to be suspended with their parent, or to go on
// with it (docs/contract/engine.md#suspension).
type grip struct {
	parent *decision
	row    int64
	hold   bool
	after  int64 // id of the last child that was seen to
}

// grips tells the children that the case is suspended, or is no longer.
func (d *decision) grips(hold bool) {
	for i := range d.c.Enabled {
		if d.c.Enabled[i].Children != nil {
			d.forget(d.c.Enabled[i].Row, WorkHold, WorkRelease) // what is not done of the other needs not be
			d.inbox = append(d.inbox, grip{parent: d, row: d.c.Enabled[i].Row, hold: hold})
		}
	}
}

func (g grip) deliver(t *tree) error {
	if g.parent.c.rowOf(g.row) < 0 || !g.hold && g.parent.c.suspended() {
		return nil // its children end, or stay as they are: the parent came to rest otherwise
	}
	rest := Work{Kind: WorkRelease, Row: g.row, After: g.after}
	if g.hold {
		rest.Kind = WorkHold
	}
	if t.touched >= t.batch {
		g.parent.leave(rest)
		return nil
	}
	var ids []int64
	if g.parent.from != nil {
		var err error
		if ids, err = t.childIDs(g.parent.c.ID, g.row, g.after); err != nil {
			return err
		}
	}
	var all []*decision
	if g.after == 0 {
		all = t.newChildren(g.parent.c.ID, g.row)
	}
	for _, id := range ids {
		if d, err := t.related(id); err == nil && d != nil {
			all = append(all, d)
		}
	}
	if len(t.needs) > 0 {
		return errAbsent
	}
	for _, d := range all {
		if g.hold {
			d.holdBack()
		} else if err := d.letGo(); err != nil {
			return err
		}
		d.tell()
	}
	if t.touched += len(ids); len(ids) == t.batch {
		rest.After = ids[len(ids)-1]
		g.parent.leave(rest)
	}
	return nil
}

// newChildren returns the children of an enablement that are new.
func (t *tree) newChildren(parent, row int64) (all []*decision) {
	for _, d := range t.order {
		if d.from == nil && d.c.Parent == parent && d.c.ParentRow == row {
			all = append(all, d)
		}
	}
	return all
}

// holdBack suspends the case with its parent. It bears no mark of its own. One
// that has completed stays so, and nothing of it is due.
func (d *decision) holdBack() {
	switch d.c.Life {
	case Active, Queued:
		d.live(Suspended, LogEntry{Trigger: new(ByChild), Text: textSuspended + " with its parent"})
		d.grips(true)
	case Completed:
		if !d.c.Halted {
			d.c.Halted, d.shown = true, true
			d.grips(true)
		}
	case Suspended, Closed, Canceled, Failed:
	}
}

// letGo lets the case go on with its parent, but for one that bears a mark of
// its own, whose date may have come.
func (d *decision) letGo() error {
	switch {
	case d.c.Halted:
		d.c.Halted, d.shown, d.resumed = false, true, true
		d.grips(false)
		return d.settle()
	case d.c.Life != Suspended:
		return nil
	case d.c.Held:
		return d.wake()
	}
	d.goOn(LogEntry{Trigger: new(ByChild), Text: textResumed + " with its parent"})
	return d.settle()
}

// goOn moves a suspended case to where it was.
func (d *decision) goOn(entry LogEntry) {
	to := Active
	if d.c.Started.IsZero() {
		to = Queued
	}
	d.live(to, entry)
	d.resumed = true
	d.grips(false)
}

// rowOf returns the place of an enablement by its number, or -1.
func (c *Case) rowOf(row int64) int {
	return slices.IndexFunc(c.Enabled, func(e Enabled) bool { return e.Row == row })
}
