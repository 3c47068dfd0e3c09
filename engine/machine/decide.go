package machine

import (
	"errors"
	"maps"
	"slices"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/expr"
)

// Decide returns what the event does to its case and to others. It stores nothing
// and changes nothing of its input.
//
// If a decision needs facts that the input lacks, Decide returns the needs alone.
// The caller looks them up, adds them to the facts and calls Decide again with the
// same Now, until no need is left. The case of the Output is a copy; if the event
// changed nothing it is equal to the given one. The two share what did not change.
//
// If an error is returned, nothing happens. Its kind is
//   - errs.NotFound: there is no such action, type, timer or delivery,
//   - errs.CaseNotOpen: the life of the case does not allow it,
//   - errs.ActionNotEnabled: the action is not enabled, or somebody has accepted it,
//   - errs.NotAllowed: the actor may not do it,
//   - errs.FourEyes: the action must be performed by somebody else,
//   - errs.Invalid: a field of the request is wrong; the error has every fault,
//   - errs.RouteFault: a step of the route could not be carried out,
//   - errs.EndlessLoop: the event sets off more than it may,
//   - errs.Migrate: the case cannot have that version of its route,
//   - errs.Internal: the input contradicts itself.
func Decide(in Input) (*Output, []Need, error) {
	out, needs, err := decide(in)
	if _, starts := in.Event.(Start); starts && (errs.Is(err, errs.EndlessLoop) || errs.Is(err, errs.RouteFault)) {
		in.Event = startFailure{err}
		return decide(in)
	}
	return out, needs, err
}

// startFailure makes a queued case a failed one, because starting it sets off an
// endless loop or a fault among its relatives.
type startFailure struct{ cause error }

func (startFailure) event() {}

// run has the event happen to its case and to others. If the error is not about the
// input as such, it also returns how far it came.
func run(in Input) (*caseDecision, error) {
	d, err := begin(in)
	if err != nil {
		return nil, err
	}
	if err = d.decide(in.Event); err == nil {
		d.suspensions().suspendCostly()
		d.relations().report()
		err = d.deliver()
	}
	if in.Spent != nil {
		*in.Spent += d.values.Cost
	}
	return d, err
}

func decide(in Input) (*Output, []Need, error) {
	d, err := run(in)
	if d == nil {
		return nil, nil, err
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

// errAbsent unwinds a decision that lacks a fact; the needs say which.
var errAbsent = errors.New("machine: a fact is absent")

// caseDecision is one case in a call of Decide: the copy that is worked on, and what
// the event has done to it so far.
type caseDecision struct {
	*tree
	route *route.Route
	c     *Case // the copy; its lists are replaced, or belong to it alone
	log   []LogEntry

	status  int    // index of the case's status, or route.NoState
	actions []int  // of each element of c.Enabled: the index of its action, or unknown
	enabled []bool // of each action: whether it is enabled

	last    performance // the last one: the cause if the life of the case changes
	changed bool        // the case has changed
	shown   bool        // what it shows of other cases has changed
	asked   string      // the action that a person's request is about

	from              *Case             // as it was before the event; nil if it is new
	stored            map[string][]byte // contents of its messages, as far as they were looked up
	types             map[string]string // their media types
	reported          childStatus       // what its parent was told last
	ancestorSuspended bool              // an ancestor is suspended
	inputLabel        string            // of a new case: the label of the message that is its input …
	inputCase         int64             // … and the case that has that message
	changedChildren   []int64           // enablements whose children have changed
	plans             map[int64]*Plan

	stepRequests []stepRequest // what steps want done, in order
	canceled     bool          // a step cancels the case
	suspension   *suspension   // a step suspends the case; nil: none
	renew        int64         // enablements up to this number are of an earlier visit, if of a transition
	messages     []NewMessage
	outbox       []Posting
	broke        []Failure
	ran          []string   // the handlers that have run
	gaveUp       []string   // names of failures that somebody has given up
	mishap       expr.Error // that onError has been run for last
	handling     bool       // onError runs
	tail         outputTail
	faulted      string                    // verb of the step that was at fault last
	written      int                       // bytes of messages
	known        map[string]*document.Node // its messages as JSON, as far as they were asked for
	firing       *firing                   // the timer whose handlers run, nil for none
	expired      map[int64]string          // what people are told of timers that the route deals with, by number of the log entry
	resumed      bool                      // a suspension has just ended: overdue timers come first
}

// latest returns now, or the last moment of the case if the clock has stepped back
// behind that. The end of its children counts, though it does not modify the case.
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

// clone returns a copy whose fields may be changed. Lists that are changed in place
// are copied; the others are always replaced.
func (c *Case) clone() *Case {
	out := *c
	out.Enabled = slices.Clone(c.Enabled)
	out.Performed = slices.Clone(c.Performed)
	out.Written = slices.Clone(c.Written)
	out.Timers = slices.Clone(c.Timers)
	out.Outbox = slices.Clone(c.Outbox)
	return &out
}

// index finds the status and the enabled actions of the case in its route.
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

// appendActions appends the index of each enablement's action. Few names are
// searched; for many there is a map, so that no route can make this slow.
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
	if e, is := event.(NoteFile); is { // whatever the case and its ancestors are doing
		d.changed = true
		d.add(LogEntry{Kind: LogMessage, Actor: new(e.Actor.Name), Trigger: new(ByUser), Text: e.Text})
		return nil
	}
	if _, creates := event.(Create); !creates && d.c.Parent != 0 {
		if done, err := d.relations().withAncestors(event); done || err != nil {
			return err
		}
	}
	if err := d.suspensions().wakeFor(event); err != nil {
		return err
	}
	switch e := event.(type) {
	case Create:
		return d.beginning().create(e)
	case Start:
		return d.beginning().start()
	case startFailure:
		return d.beginning().fail(e.cause)
	case Perform:
		return d.personal().performByPerson(e)
	case Skip:
		return d.personal().skip(e)
	case Abort:
		return d.personal().abortByPerson(e)
	case Retry:
		return d.personal().retryByPerson(e)
	case RetryAll:
		return d.personal().retryAll(e)
	case Accept:
		return d.personal().accept(e)
	case Release:
		return d.personal().release(e)
	case Reject:
		return d.personal().reject(e)
	case Delegate:
		return d.personal().delegate(e)
	case Vacate:
		return d.personal().vacate(e)
	case FillRoles:
		return d.personal().fillRoles()
	case Move:
		return d.personal().moveByPerson(e)
	case Migrate:
		return d.personal().migrateByPerson(e)
	case Due:
		if d.c.IsDraft() {
			d.draftDue()
			return nil
		}
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
	case Submit:
		return d.personal().submit(e)
	case Delivered, Attempted, Undelivered, Recorded:
		return d.deliveries().record(e)
	case SetTimer:
		return d.timers().setTimerByPerson(e)
	case Wake:
		switch d.c.Life {
		case Queued, Active, Suspended, Completed:
			logWritten(d, e)
			d.noteWritten(e.Label, e.Actor.Name)
		case Closed, Canceled, Failed:
		}
		return d.bringToRest()
	default:
		return errs.New(errs.Internal, "machine: an unknown event %T", event)
	}
}

// withAncestors does what the ancestors of a child mean for an event. If done is
// set, nothing else is to be done.
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
		return false, d.resumeWithParent() // if the parent's end of suspension has not reached it yet
	}
	d.ancestorSuspended = true
	d.suspendWithParent() // if the parent's suspension has not reached it yet
	switch event.(type) {
	case Due:
		return d.c.nextWork() < 0 && !d.mustWake(), nil
	case Start:
		return true, nil
	case Edit, Vacate, FillRoles, Cancel, Wake, Suspend, SetTimer, Migrate, Delivered, Attempted, Undelivered, Recorded:
		return false, nil
	}
	e := errs.New(errs.CaseNotOpen, "A case that this one belongs to is suspended; resume that first.")
	e.Extra = map[string]any{"state": string(d.c.Life)}
	return true, e
}

// refuseAbandoned handles an event of a case whose parent has moved on. Events of
// the engine end the case; those of people are refused.
func (d relations) refuseAbandoned(event Event) error {
	switch event.(type) {
	case Due, Start:
		d.endWithParent()
		return nil
	case Delivered, Attempted, Undelivered, Recorded:
		d.endWithParent()
		return d.deliveries().record(event)
	}
	return errs.New(errs.CaseNotOpen, "The case that started this one has moved on; nothing can be done with this one any more.")
}

// result returns what the event did to its case and to others.
func (d *caseDecision) result() *Output {
	out := d.output()
	out.Stores, out.Full = d.stores, d.full
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
	d.failures().settle()
	switch {
	case d.changed:
		c.Version++
		c.Revision++
		c.Modified = later(d.now, c.Modified)
	case d.shown:
		c.Revision++
	}
	// A decided case is to equal the same case read from its marking.
	c.Enabled, c.Performed, c.Roles = nilIfEmpty(c.Enabled), nilIfEmpty(c.Performed), nilIfEmpty(c.Roles)
	c.Relations = nilIfEmpty(c.Relations)
	c.Stakeholders, c.Xattrs, c.Warnings = nilIfEmpty(c.Stakeholders), nilIfEmpty(c.Xattrs), nilIfEmpty(c.Warnings)
	c.Done, c.Withdrawn, c.Written = nilIfEmpty(c.Done), nilIfEmpty(c.Withdrawn), nilIfEmpty(c.Written)
	c.Interrupted, c.Timers = nilIfEmpty(c.Interrupted), nilIfEmpty(c.Timers)
	c.Children, c.Work, c.Mapped = nilIfEmpty(c.Children), nilIfEmpty(c.Work), nilIfEmpty(c.Mapped)
	c.Outbox = nilIfEmpty(c.Outbox)
	return &Output{Case: c, Log: d.log, Messages: d.messages, Outbox: d.outbox, Failures: d.failures().told(), Mended: d.failures().mended(), Performed: d.asked, Plans: d.plans}
}

func nilIfEmpty[S ~[]T, T any](list S) S {
	if len(list) == 0 {
		return nil
	}
	return list
}

// savepoint is what an attempt is rolled back to.
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
	broke        int
	written      int
	point        point
	shown        bool
	plans        map[int64]*Plan
}

func (d *caseDecision) savepoint() savepoint {
	return savepoint{
		c: d.c.clone(), log: len(d.log), last: d.last, changed: d.changed, stepRequests: slices.Clone(d.stepRequests),
		canceled: d.canceled, suspension: d.suspension, renew: d.renew, messages: len(d.messages), outbox: len(d.outbox), broke: len(d.broke), written: d.written, point: d.tree.point(),
		shown: d.shown, plans: maps.Clone(d.plans),
	}
}

// rollBack undoes everything since the savepoint, except the counts of performances
// and steps: they bound the event.
func (d *caseDecision) rollBack(s savepoint) {
	d.c, d.log, d.last, d.changed = s.c, d.log[:s.log], s.last, s.changed
	d.stepRequests, d.canceled, d.suspension, d.renew, d.written = s.stepRequests, s.canceled, s.suspension, s.renew, s.written
	d.shown, d.plans = s.shown, s.plans
	d.outbox, d.broke = d.outbox[:s.outbox], d.broke[:s.broke]
	if s.messages < len(d.messages) {
		d.messages, d.known = d.messages[:s.messages], nil
	}
	d.undo(s.point)
	d.index()
}
