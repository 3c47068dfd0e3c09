package machine

import (
	"slices"
	"time"
)

// childStatus is what a parent is told of a child.
type childStatus struct {
	life   Life
	status string
	shown  Life // as people see it
}

func childStatusOf(c *Case) childStatus { return childStatus{c.Life, c.Status, c.Shown()} }

// report tells the parent the status of the case, if it has changed.
func (d relations) report() {
	d.failures().settle()
	is := childStatusOf(d.c)
	if d.c.Parent == 0 || is == d.reported {
		return
	}
	was := d.reported
	d.reported = is
	for i := range d.tree.childChanges {
		switch n := &d.tree.childChanges[i]; {
		case n.child != d.caseDecision:
			continue
		case n.was == is:
			d.tree.childChanges = slices.Delete(d.tree.childChanges, i, i+1)
		default:
			n.is = is
		}
		return
	}
	d.tree.childChanges = append(d.tree.childChanges, childChange{child: d.caseDecision, was: was, is: is})
}

// childChange is what a child reports to its parent, once an event: its status
// before and after.
type childChange struct {
	child   *caseDecision
	was, is childStatus
}

// startChild has a new child started.
type startChild struct {
	child        *caseDecision
	startBlocked bool // a hold, or a busy group, keeps it from starting now
	repeated     bool // its parent's action had other children in this event
}

// deliver starts the child. If the child must wait, or earlier children used half
// of this event's performances, the manager starts it later, in an event of its
// own. An action that creates children repeatedly is exempt from that bound:
// deferring its children would hide an endless loop through the tree.
func (b startChild) deliver(t *tree) error {
	const share = MaxPerformances / 2
	d, parent := b.child, t.cases[b.child.c.Parent]
	switch {
	case d.c.Life != Queued || parent.c.placeOf(d.c.ParentEnablement) < 0:
		return nil
	case parent.c.Life == Suspended:
		d.relations().suspendWithParent()
		d.relations().report()
		return nil
	case b.startBlocked, t.busy(d), t.performed >= share && !b.repeated:
		return nil
	}
	performed, steps := t.performed, t.steps
	if err := d.beginning().start(); err != nil {
		return err
	}
	exhausted := t.performed == MaxPerformances || t.steps == MaxSteps
	if d.c.Life == Failed && !t.sweeps && exhausted && t.performed-performed < share && t.steps-steps < MaxSteps/2 {
		return d.endless() // the child alone did not set off so much: the loop leads through the tree
	}
	d.relations().report()
	return nil
}

// busy reports whether another case of the event keeps the child's group busy.
func (t *tree) busy(child *caseDecision) bool {
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

// endChildren ends the children of an enablement that is gone.
type endChildren struct {
	parent     *caseDecision
	enablement int64
	stored     bool  // some of the children were stored before this event
	after      int64 // id of the last child that was handled
}

func (f endChildren) deliver(t *tree) error {
	for _, d := range t.newChildren(f.parent.c.ID, f.enablement) {
		d.relations().endWithParent()
	}
	if !f.stored {
		return nil
	}
	if t.touched >= t.batch {
		f.parent.relations().leaveWork(Work{Kind: WorkEnd, Enablement: f.enablement, After: f.after})
		return nil
	}
	ids, err := t.childIDs(f.parent.c.ID, f.enablement, f.after)
	if err != nil {
		return err
	}
	for _, id := range ids {
		d, err := t.related(id)
		if err != nil {
			continue // all absent cases are asked for at once
		}
		if d != nil {
			d.relations().endWithParent()
		}
	}
	if len(t.needs) > 0 {
		return errAbsent
	}
	if t.touched += len(ids); len(ids) == t.batch {
		f.parent.relations().leaveWork(Work{Kind: WorkEnd, Enablement: f.enablement, After: ids[len(ids)-1]})
	}
	return nil
}

// childIDs returns the ids of the next batch of children of an enablement that are
// neither closed nor canceled.
func (t *tree) childIDs(parent, number, after int64) ([]int64, error) {
	asked := ChildQuery{Enablement{parent, number}, after}
	ids, known := t.facts.ChildIDs[asked]
	if !known {
		t.need(Need{ChildIDs: asked})
		return nil, errAbsent
	}
	return ids, nil
}

// endWithParent ends a case because its parent has moved on: a completed case is
// closed, any other is canceled (docs/contract/engine.md#parents).
func (d relations) endWithParent() {
	entry := LogEntry{Trigger: new(ByChild), Text: "Canceled: its parent has moved on"}
	to := Canceled
	switch d.c.Life {
	case Closed, Canceled:
		return
	case Completed:
		to, entry.Text = Closed, "Closed: its parent has moved on"
	case Queued, Active, Suspended, Failed:
	}
	d.c.SuspendedSelf, d.c.SuspendedUntil, d.c.AncestorSuspended = false, time.Time{}, false
	d.dropEnablements()
	d.setLife(to, entry)
	d.report()
}

// dropEnablements ends every enablement of a case that goes no further, with its
// children and warnings.
func (d relations) dropEnablements() {
	d.c.Interrupted = slices.Clone(d.c.Interrupted)
	for i := range d.c.Enabled {
		e := &d.c.Enabled[i]
		if at := d.actions[i]; e.Children != nil && at != unknown && d.meanwhileOf(at) {
			d.c.Interrupted = append(d.c.Interrupted, e.Action)
		}
		d.endChildrenOf(e)
	}
	d.c.Enabled = nil
	d.dropWarnings(func(w Warning) bool { return w.Enablement != 0 })
	d.changed = true
	d.index()
}

// endChildrenOf has the children of an enablement ended that is about to go.
func (d relations) endChildrenOf(e *Enabled) {
	if e.Children == nil {
		return
	}
	made := int64(len(d.newChildren(d.c.ID, e.Number)))
	d.pending = append(d.pending, endChildren{parent: d.caseDecision, enablement: e.Number, stored: e.Children.Made > made})
	d.dropWork(e.Number, WorkMake, WorkSuspend, WorkResume)
	if e.Children.Made < e.Children.Total {
		d.putPlan(e.Number, nil)
	}
}

// dropWork drops work on the children of an enablement.
func (d relations) dropWork(number int64, kinds ...WorkKind) {
	drop := func(w Work) bool { return w.Enablement == number && slices.Contains(kinds, w.Kind) }
	if slices.ContainsFunc(d.c.Work, drop) {
		d.c.Work = slices.DeleteFunc(slices.Clone(d.c.Work), drop)
		d.shown = true
	}
}

// makesChildren matches the work that creates children of the enablement.
func makesChildren(number int64) func(Work) bool {
	return func(w Work) bool { return w.Kind == WorkMake && w.Enablement == number }
}

// leaveWork leaves work to further events.
func (d relations) leaveWork(w Work) {
	d.c.Work = append(slices.Clip(d.c.Work), w)
	d.shown = true
}

// doWork does a batch of what earlier events left.
func (d relations) doWork() error {
	i := d.c.nextWork()
	if i < 0 {
		return nil
	}
	w := d.c.Work[i]
	d.c.Work = slices.Delete(slices.Clone(d.c.Work), i, i+1)
	d.shown = true
	switch w.Kind {
	case WorkMake:
		return d.continueChildren(w.Enablement)
	case WorkEnd:
		d.pending = append(d.pending, endChildren{parent: d.caseDecision, enablement: w.Enablement, stored: true, after: w.After})
	case WorkSuspend, WorkResume:
		d.pending = append(d.pending, childSuspension{parent: d.caseDecision, enablement: w.Enablement, suspend: w.Kind == WorkSuspend, after: w.After})
	}
	return nil
}

// ancestry is what a case must know of its ancestors.
type ancestry struct {
	parentGone bool // the parent has moved on, though the end of the case may not have reached it yet
	suspended  bool // one of them is suspended
}

// ancestry looks at the ancestors of the case. For a case that has ended for good
// they do not matter, except to reopen it.
func (d relations) ancestry(event Event) (above ancestry, err error) {
	_, reopens := event.(Reopen)
	if d.c.Life == Closed || d.c.Life == Canceled && !reopens {
		return above, nil
	}
	for c := d.c; c.Parent != 0; {
		parent, err := d.related(c.Parent)
		if err != nil {
			return above, err
		}
		if parent == nil || parent.c.Life == Closed || parent.c.Life == Canceled || parent.c.Life == Failed || parent.c.placeOf(c.ParentEnablement) < 0 {
			above.parentGone = true
			return above, nil
		}
		above.suspended = above.suspended || parent.c.Life == Suspended
		c = parent.c
	}
	return above, nil
}

// childSuspension suspends the children of an enablement with their parent, or
// resumes them with it (docs/contract/engine.md#suspension).
type childSuspension struct {
	parent     *caseDecision
	enablement int64
	suspend    bool
	after      int64 // id of the last child that was handled
}

// tellChildren suspends the children of the case with it, or resumes them.
func (d relations) tellChildren(suspend bool) {
	for i := range d.c.Enabled {
		if d.c.Enabled[i].Children != nil {
			d.dropWork(d.c.Enabled[i].Number, WorkSuspend, WorkResume) // what is left of the opposite is not needed any more
			d.pending = append(d.pending, childSuspension{parent: d.caseDecision, enablement: d.c.Enabled[i].Number, suspend: suspend})
		}
	}
}

func (g childSuspension) deliver(t *tree) error {
	if g.parent.c.placeOf(g.enablement) < 0 || !g.suspend && g.parent.c.suspended() {
		return nil // the enablement is gone, or the parent was suspended again meanwhile
	}
	rest := Work{Kind: WorkResume, Enablement: g.enablement, After: g.after}
	if g.suspend {
		rest.Kind = WorkSuspend
	}
	if t.touched >= t.batch {
		g.parent.relations().leaveWork(rest)
		return nil
	}
	var ids []int64
	if g.parent.from != nil {
		var err error
		if ids, err = t.childIDs(g.parent.c.ID, g.enablement, g.after); err != nil {
			return err
		}
	}
	var all []*caseDecision
	if g.after == 0 {
		all = t.newChildren(g.parent.c.ID, g.enablement)
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
		if g.suspend {
			d.relations().suspendWithParent()
		} else if err := d.relations().resumeWithParent(); err != nil {
			return err
		}
		d.relations().report()
	}
	if t.touched += len(ids); len(ids) == t.batch {
		rest.After = ids[len(ids)-1]
		g.parent.relations().leaveWork(rest)
	}
	return nil
}

// newChildren returns the children of an enablement that this event has created.
func (t *tree) newChildren(parent, number int64) (all []*caseDecision) {
	for _, d := range t.order {
		if d.from == nil && d.c.Parent == parent && d.c.ParentEnablement == number {
			all = append(all, d)
		}
	}
	return all
}

// suspendWithParent suspends the case with its parent, without a suspension of
// its own. A completed case stays completed, and nothing of it is due.
func (d relations) suspendWithParent() {
	switch d.c.Life {
	case Active, Queued:
		d.setLife(Suspended, LogEntry{Trigger: new(ByChild), Text: textSuspended + " with its parent"})
		d.tellChildren(true)
	case Completed:
		if !d.c.AncestorSuspended {
			d.c.AncestorSuspended, d.shown = true, true
			d.tellChildren(true)
		}
	case Suspended, Closed, Canceled, Failed:
	}
}

// resumeWithParent resumes the case with its parent. A case with a suspension of
// its own stays suspended, unless the date of that has come.
func (d relations) resumeWithParent() error {
	switch {
	case d.c.AncestorSuspended:
		d.c.AncestorSuspended, d.shown, d.resumed = false, true, true
		d.tellChildren(false)
		return d.bringToRest()
	case d.c.Life != Suspended:
		return nil
	case d.c.SuspendedSelf:
		return d.suspensions().wake()
	}
	d.resume(LogEntry{Trigger: new(ByChild), Text: textResumed + " with its parent"})
	return d.bringToRest()
}

// resume gives a suspended case the life that it had before.
func (d *caseDecision) resume(entry LogEntry) {
	to := Active
	if d.c.Started.IsZero() {
		to = Queued
	}
	d.setLife(to, entry)
	d.resumed = true
	d.relations().tellChildren(false)
}

// placeOf returns the place of an enablement by its number, or -1.
func (c *Case) placeOf(number int64) int {
	return slices.IndexFunc(c.Enabled, func(e Enabled) bool { return e.Number == number })
}
