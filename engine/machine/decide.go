package machine

import (
	"errors"
	"maps"
	"slices"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// Decide returns what the event does to the case: the case afterwards and
// its log. Where a fact is absent it returns what it needs and no Output;
// the caller fetches that and asks again from the beginning, with the same
// Now. On an error nothing has happened. The case of the Output is a copy,
// equal to the one given where the event changed nothing; it shares with it
// what did not change.
//
// Errors are of errs.NotFound, errs.CaseNotOpen, errs.ActionNotEnabled,
// errs.NotAllowed, errs.FourEyes, errs.Invalid, errs.RouteFault and
// errs.EndlessLoop, as the events say; else internal.
func Decide(in Input) (*Output, []Need, error) {
	out, needs, err := decide(in)
	if _, starts := in.Event.(Start); starts && (errs.Is(err, errs.EndlessLoop) || errs.Is(err, errs.RouteFault)) {
		in.Event = startFailure{err}
		return decide(in)
	}
	return out, needs, err
}

// startFailure makes a queued case a failed one: it started, and what that set
// off among its relatives has no end.
type startFailure struct{ cause error }

func (startFailure) event() {}

func decide(in Input) (*Output, []Need, error) {
	d, err := begin(in)
	if err != nil {
		return nil, nil, err
	}
	err = d.decide(in.Event)
	if err == nil {
		d.relations().report()
		err = d.deliver()
	}
	var notices *Notices
	if err == nil && in.Tell {
		notices = d.notices(in.Event).sorted()
	}
	if len(d.needs) > 0 {
		return nil, d.needs, nil
	}
	if err != nil {
		return nil, nil, err
	}
	out := d.result()
	out.Notices = notices
	return out, nil, nil
}

// errAbsent unwinds a decision for which a fact is absent; the needs say
// which.
var errAbsent = errors.New("machine: a fact is absent")

// caseDecision is what becomes of one case in a call of Decide, and what is known
// of it on the way.
type caseDecision struct {
	*tree
	route *route.Route
	c     *Case // the copy that is worked on; its lists are replaced or d's own
	log   []LogEntry

	status  int    // index of the case's status, or route.NoState
	actions []int  // of each row of c.Enabled: the index of its action, or unknown
	enabled []bool // of each action: whether it has a row

	last    performance // the last one, which is why the case lives or ends
	changed bool        // the case is no longer what it was
	shown   bool        // or what it shows of others is not
	asked   string      // the action that a person's request is about

	from              *Case             // as it was before the event; nil for a new one
	stored            map[string][]byte // its messages, as far as they were looked up
	types             map[string]string // their media types
	reported          childStatus       // what its parent knows of it
	ancestorSuspended bool              // an ancestor is suspended
	inputLabel        string            // of a new one: label of the message that is its input …
	inputCase         int64             // … in this case
	changedChildren   []int64           // enablements whose children have changed
	plans             map[int64]*Plan

	stepRequests []stepRequest // what steps want done, in order
	canceled     bool          // a step cancels the case
	suspension   *suspension   // a step suspends the case; nil: none
	renew        int64         // rows of transitions up to this one are of an earlier visit
	messages     []NewMessage
	outbox       []Posting
	written      int                       // bytes of messages
	known        map[string]*document.Node // messages that are JSON, as far as they were asked for
	firing       *firing                   // the timer whose handlers run, else nil
	resumed      bool                      // a suspension is over, and overdue timers come first
}

// latest returns now, or the last moment of the case where a clock stepped
// back behind it. The end of its children is one that does not modify it.
func (c *Case) latest(now time.Time) time.Time {
	now = later(now, c.Modified)
	for i := range c.Enabled {
		if k := c.Enabled[i].Children; k != nil {
			now = later(now, k.Finished)
		}
	}
	return now
}

// unknown is the index of an action that the route does not have.
const unknown = -1

func begin(in Input) (*caseDecision, error) {
	switch {
	case in.Route == nil || in.Case == nil:
		return nil, errs.New(errs.Internal, "machine: an event without route or case")
	case in.Route.Model != route.Dependency && (!has(in.Route.Actions, in.Route.Init) || !has(in.Route.States, in.Route.Start)):
		return nil, errs.New(errs.Internal, "machine: the route %q has no init action or start state", in.Route.Name)
	}
	d := &caseDecision{tree: newTree(in), route: in.Route, c: in.Case.clone(), status: route.NoState, from: in.Case, stored: in.Facts.Messages, types: in.Facts.Types}
	d.now = d.c.latest(d.now)
	d.reported = childStatusOf(d.c)
	d.eventCase = d.c.ID
	d.cases = map[int64]*caseDecision{d.eventCase: d}
	d.childrenStarted = map[childStarter]int{}
	d.index()
	return d, nil
}

func has[T any](list []T, index int) bool { return index >= 0 && index < len(list) }

// clone returns a copy of which every field may be changed. The lists that
// are changed in place are copied, the others are only ever replaced.
func (c *Case) clone() *Case {
	out := *c
	out.Enabled = slices.Clone(c.Enabled)
	out.Performed = slices.Clone(c.Performed)
	out.Written = slices.Clone(c.Written)
	out.Timers = slices.Clone(c.Timers)
	out.Outbox = slices.Clone(c.Outbox)
	return &out
}

// index finds the status and the rows of the case in the route.
func (d *caseDecision) index() {
	d.status = route.NoState
	if d.c.Status != "" {
		d.status = d.route.State(d.c.Status)
	}
	d.actions = appendActions(make([]int, 0, len(d.c.Enabled)+4), d.route, d.c.Enabled)
	if d.enabled == nil {
		d.enabled = make([]bool, len(d.route.Actions))
	}
	clear(d.enabled)
	for _, i := range d.actions {
		if i != unknown {
			d.enabled[i] = true
		}
	}
}

// appendActions appends the index of each row's action. Names are searched
// while that is cheap; what a hostile route could make slow gets a map.
func appendActions(dst []int, r *route.Route, rows []Enabled) []int {
	const cheap = 4096
	if len(rows)*len(r.Actions) <= cheap {
		for i := range rows {
			dst = append(dst, r.Action(rows[i].Action))
		}
		return dst
	}
	byName := make(map[string]int, len(r.Actions))
	for i := range r.Actions {
		byName[r.Actions[i].Name] = i
	}
	for i := range rows {
		at, known := byName[rows[i].Action]
		if !known {
			at = unknown
		}
		dst = append(dst, at)
	}
	return dst
}

func (d *caseDecision) decide(event Event) error {
	if _, creates := event.(Create); !creates && d.c.Parent != 0 {
		if done, err := d.relations().withAncestors(event); done || err != nil {
			return err
		}
	}
	if err := d.wakeFor(event); err != nil {
		return err
	}
	switch e := event.(type) {
	case Create:
		return d.create(e)
	case Start:
		return d.start()
	case startFailure:
		return d.fail(e.cause)
	case Perform:
		return d.personal().performByPerson(e)
	case Skip:
		return d.personal().skip(e)
	case Abort:
		return d.personal().abortByPerson(e)
	case Retry:
		return d.personal().retryByPerson(e)
	case Accept:
		return d.personal().accept(e)
	case Release:
		return d.personal().release(e)
	case Reject:
		return d.personal().reject(e)
	case Delegate:
		return d.personal().delegate(e)
	case Move:
		return d.personal().moveByPerson(e)
	case Migrate:
		return d.personal().migrateByPerson(e)
	case Due:
		if err := d.relations().doWork(); err != nil {
			return err
		}
		return d.bringToRest()
	case Cancel:
		return d.personal().cancelByPerson(e)
	case Suspend:
		return d.personal().suspendByPerson(e)
	case Resume:
		return d.personal().resumeByPerson(e)
	case Reopen:
		return d.personal().reopenByPerson(e)
	case Edit:
		return d.personal().editByPerson(e)
	case Delivered, Undelivered, Recorded:
		return d.deliveries().record(e)
	case SetTimer:
		return d.timers().setTimerByPerson(e)
	case Wake:
		switch d.c.Life {
		case Queued, Active, Suspended, Completed:
			d.noteWritten(e.Label, e.Actor.Name)
		case Closed, Canceled, Failed:
		}
		return d.bringToRest()
	default:
		return errs.New(errs.Internal, "machine: an unknown event %T", event)
	}
}

// withAncestors does what a child's ancestors mean for an event; done says
// that nothing else is to be done.
func (d relations) withAncestors(event Event) (done bool, err error) {
	above, err := d.ancestry(event)
	switch {
	case err != nil:
		return true, err
	case above.parentGone:
		return true, d.refuseAbandoned(event)
	case !above.suspended && d.c.SuspendedSelf:
		return false, nil
	case !above.suspended:
		return false, d.resumeWithParent() // where that has not reached it yet
	}
	d.ancestorSuspended = true
	d.suspendWithParent() // likewise
	switch event.(type) {
	case Due:
		return d.c.nextWork() < 0 && !d.mustWake(), nil
	case Start:
		return true, nil
	case Edit, Cancel, Wake, Suspend, SetTimer, Migrate, Delivered, Undelivered, Recorded:
		return false, nil
	}
	e := errs.New(errs.CaseNotOpen, "A case that this one belongs to is suspended; resume that first.")
	e.Extra = map[string]any{"state": string(d.c.Life)}
	return true, e
}

// refuseAbandoned answers an event of a case whose parent has moved on: people are
// told, and what the engine wanted with it is its end.
func (d relations) refuseAbandoned(event Event) error {
	switch event.(type) {
	case Due, Start:
		d.endWithParent()
		return nil
	case Delivered, Undelivered, Recorded:
		d.endWithParent()
		return d.deliveries().record(event)
	}
	return errs.New(errs.CaseNotOpen, "The case that started this one has moved on; nothing can be done with this one any more.")
}

// result is what the event did to its case and to others.
func (d *caseDecision) result() *Output {
	out := d.output()
	for _, other := range d.order {
		if other.from != nil && !other.changed && !other.shown {
			continue
		}
		out.Others = append(out.Others, Changed{Output: *other.output(), From: other.from, New: other.from == nil, Route: other.route, Input: InputRef{other.inputCase, other.inputLabel}})
	}
	return out
}

func (d *caseDecision) output() *Output {
	c := d.c
	switch {
	case d.changed:
		c.Version++
		c.Revision++
		c.Modified = later(d.now, c.Modified)
	case d.shown:
		c.Revision++
	}
	// Equal cases are equal whether read from a marking or just decided.
	c.Enabled, c.Performed, c.Roles = nilIfEmpty(c.Enabled), nilIfEmpty(c.Performed), nilIfEmpty(c.Roles)
	c.Stakeholders, c.Xattrs, c.Warnings = nilIfEmpty(c.Stakeholders), nilIfEmpty(c.Xattrs), nilIfEmpty(c.Warnings)
	c.Done, c.Withdrawn, c.Written = nilIfEmpty(c.Done), nilIfEmpty(c.Withdrawn), nilIfEmpty(c.Written)
	c.Interrupted, c.Timers = nilIfEmpty(c.Interrupted), nilIfEmpty(c.Timers)
	c.Children, c.Work, c.Mapped = nilIfEmpty(c.Children), nilIfEmpty(c.Work), nilIfEmpty(c.Mapped)
	c.Outbox = nilIfEmpty(c.Outbox)
	return &Output{Case: c, Log: d.log, Messages: d.messages, Outbox: d.outbox, Performed: d.asked, Plans: d.plans}
}

func nilIfEmpty[S ~[]T, T any](list S) S {
	if len(list) == 0 {
		return nil
	}
	return list
}

// savepoint is what a unit is undone to.
type savepoint struct {
	c            *Case
	log          int
	last         performance
	changed      bool
	stepRequests []stepRequest
	canceled     bool
	suspension   *suspension
	renew        int64
	messages     int
	outbox       int
	written      int
	point        point
	shown        bool
	plans        map[int64]*Plan
}

func (d *caseDecision) savepoint() savepoint {
	return savepoint{
		c: d.c.clone(), log: len(d.log), last: d.last, changed: d.changed, stepRequests: slices.Clone(d.stepRequests),
		canceled: d.canceled, suspension: d.suspension, renew: d.renew, messages: len(d.messages), outbox: len(d.outbox), written: d.written, point: d.tree.point(),
		shown: d.shown, plans: maps.Clone(d.plans),
	}
}

// rollBack undoes everything since the snapshot but the counts of
// performances and steps, which are what bounds an event.
func (d *caseDecision) rollBack(s savepoint) {
	d.c, d.log, d.last, d.changed = s.c, d.log[:s.log], s.last, s.changed
	d.stepRequests, d.canceled, d.suspension, d.renew, d.written = s.stepRequests, s.canceled, s.suspension, s.renew, s.written
	d.shown, d.plans = s.shown, s.plans
	d.outbox = d.outbox[:s.outbox]
	if s.messages < len(d.messages) {
		d.messages, d.known = d.messages[:s.messages], nil
	}
	d.undo(s.point)
	d.index()
}
