package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// What the log says of changes of the life.
const (
	textCreated   = "Created"
	textStarted   = "Started"
	textCompleted = "Completed"
	textReopened  = "Reopened"
	textCanceled  = "Canceled"
	textFailed    = "Failed"
)

// beginning creates and starts the case.
type beginning struct{ *caseDecision }

func (d *caseDecision) beginning() beginning { return beginning{d} }

// create makes a queued case of its seed. Rules assign roles when the case starts;
// until then it has only the players that were given.
func (d beginning) create(e Create) error {
	c := d.c
	roles, err := d.players(c.Roles)
	if err != nil {
		return err
	}
	c.Roles, c.Stakeholders, c.Xattrs = roles, parties(c.Stakeholders), c.Xattrs.Sorted()
	slices.SortFunc(c.Relations, func(a, b Relation) int { return strings.Compare(a.Name, b.Name) })
	c.Life, c.Status, c.Visit = Queued, "", 0
	c.SuspendedSelf, c.SuspendedUntil = false, time.Time{}
	c.Enabled, c.LastNumber, c.Timers, c.Performed, c.Warnings = nil, 0, nil, nil, nil
	c.Done, c.Withdrawn, c.Interrupted, c.Written, c.Resolution, c.Outbox = nil, nil, nil, nil, "", nil
	c.Draft = nil
	if err := d.xattrs().declare(e.MayLack); err != nil {
		return err
	}
	c.LogSeq, c.Version, c.Revision = 0, 0, 0
	c.ScheduledFor, c.StartAt = c.ScheduledFor.UTC().Round(0), c.StartAt.UTC().Round(0)
	c.Created, c.Started, c.Completed, c.Ended = d.now, time.Time{}, time.Time{}, time.Time{}
	d.changed = true
	d.index()

	by, trigger := c.Starter, ByUser
	if c.ScheduleUUID != "" {
		by, trigger = ActorTimer, ByTime
	}
	entry := LogEntry{Kind: LogLife, Actor: new(by), Trigger: new(trigger), To: new(string(c.Shown())), Text: textCreated}
	if c.IsDraft() {
		entry.Text = textDrafted(Lacks(d.route, c.Xattrs))
	}
	if e.By != nil {
		entry.Trigger, entry.Text = new(ByStep), fmt.Sprintf("%s by a step of %s, case %d", textCreated, e.By.RouteName, e.By.ID)
	}
	if c.Parent != 0 {
		entry.Actor, entry.Trigger, entry.Text = nil, new(ByChild), fmt.Sprintf("%s by %s of case %d", textCreated, c.ParentAction, c.Parent)
	}
	d.add(entry)
	for _, l := range c.Relations {
		d.add(LogEntry{Kind: LogLife, Actor: entry.Actor, Trigger: entry.Trigger, Text: textRelated(l)})
	}
	for _, text := range e.Warnings {
		d.add(LogEntry{Kind: LogWarning, Text: text})
	}
	return nil
}

// start starts a queued case. If that fails by a fault or an endless loop of the
// route, the case is as before its start but failed, and the log says why.
func (d beginning) start() error {
	if d.c.Life != Queued || d.c.Draft != nil {
		return d.refusals().notOpen()
	}
	before := d.savepoint()
	d.c.Started = d.now
	d.noteWritten(labelInput, d.c.Starter)
	err := d.begin()
	if err == nil {
		err = d.bringToRest()
	}
	if kind := errs.KindOf(err); kind != errs.EndlessLoop && kind != errs.RouteFault {
		return err
	}
	d.rollBack(before)
	return d.fail(err)
}

// LabelError is the label of the message that says why a case could not start. No
// action is told of it.
const LabelError = "error"

// fail makes a queued case a failed one, with a message that says why.
func (d beginning) fail(cause error) error {
	d.changed = true
	d.full = d.full || errors.Is(cause, ErrRoom)
	d.messages = append(d.messages, NewMessage{Label: LabelError, MediaType: "text/plain; charset=utf-8", Content: []byte(cause.Error() + "\n")})
	d.add(LogEntry{Kind: LogError, Trigger: new(ByInit), Text: "Could not start: " + cause.Error()})
	d.setLife(Failed, LogEntry{Trigger: new(ByInit), Text: textFailed})
	d.failures().failed(Failure{Kind: FailureFault, Text: clipLine(cause.Error())})
	return nil
}

// begin makes the case active, by its init action if the route has one.
func (d beginning) begin() error {
	if has(d.route.Actions, d.route.Init) {
		d.c.Life = Active
		if d.route.Model == route.Dependency {
			d.c.Visit = 1
		}
		return d.performances().perform(performance{action: d.route.Init, trigger: ByInit, actor: d.c.Starter})
	}
	d.c.Visit = 1
	d.setLife(Active, LogEntry{Actor: new(d.c.Starter), Trigger: new(ByInit), Text: textStarted})
	return d.assignRoles()
}

// declared gives the case the XATTRs that its route declares, and judges those that it has.
type declared struct{ *caseDecision }

func (d *caseDecision) xattrs() declared { return declared{d} }

// declare adds and checks declared XATTRs as addDeclared does. If the case may lack what
// is required, that makes it a draft; a value of a wrong type is a fault all the same.
func (d declared) declare(mayLack bool) error {
	lacked := Lacks(d.route, d.c.Xattrs)
	if !mayLack || lacked == nil {
		return d.addDeclared()
	}
	var wrong document.Faults
	if d.checkTypes(lacked, &wrong); wrong.Err() != nil {
		return d.addDeclared()
	}
	d.addDefaults()
	d.c.Draft = newDraft(d.now)
	return nil
}

// addDeclared gives a new case the defaults of declared XATTRs that it lacks, and
// checks those that it has.
func (d declared) addDeclared() error {
	d.addDefaults()
	var faults document.Faults
	lacked := Lacks(d.route, d.c.Xattrs)
	for _, x := range lacked {
		faults.Add(nil, document.Pointer("/xattrDict", x.Key), errs.CodeRequired, "%s", requiredDetail(d.route, d.c.Xattrs, x.Key))
	}
	d.checkTypes(lacked, &faults)
	return faults.Err()
}

// addDefaults gives the case the defaults of declared XATTRs that it lacks.
func (d declared) addDefaults() {
	for i := range d.route.Xattrs {
		x := &d.route.Xattrs[i]
		if _, given := d.c.Xattrs.Get(x.Key); !given && x.Default != nil {
			d.c.Xattrs = d.c.Xattrs.Set(x.Key, *x.Default)
		}
	}
}

// checkTypes checks the types of declared XATTRs. If a number or boolean is required,
// a text that can be read as one is converted: queries, properties and labels can
// only give texts. Those that are lacked are not judged.
func (d declared) checkTypes(lacked []*route.Xattr, faults *document.Faults) {
	for i := range d.route.Xattrs {
		x := &d.route.Xattrs[i]
		v, given := d.c.Xattrs.Get(x.Key)
		if !given || slices.Contains(lacked, x) {
			continue
		}
		at := document.Pointer("/xattrDict", x.Key)
		read, amiss := readXattr(x, v)
		if amiss != "" {
			faults.Add(nil, at, errs.CodeType, "%s", amiss)
			continue
		}
		if read != v {
			d.c.Xattrs, v = d.c.Xattrs.Set(x.Key, read), read
		}
		if d.from != nil && d.from.LogSeq > 0 { // it is not new
			if had, is := d.from.Xattrs.Get(x.Key); is && had == v {
				continue // the bound may have come later
			}
		}
		if outside := x.Outside(v); outside != "" {
			faults.Add(nil, at, errs.CodeRange, "%s", outside)
		}
	}
}

// readXattr returns the value as one of the declared type, and what is amiss if it cannot be that.
func readXattr(x *route.Xattr, v label.Value) (read label.Value, amiss string) {
	if x.Fits(v) {
		return v, ""
	}
	read, ok := readAs(x.Type, v)
	if !ok {
		return v, wrongType(x, v)
	}
	return read, ""
}

// NotTaken says why no case starts with the value in that declared XATTR, "" if one does.
func NotTaken(x *route.Xattr, v label.Value) string {
	read, amiss := readXattr(x, v)
	return cmp.Or(amiss, x.Outside(read))
}

// wrongType says that a value is not of the declared type.
func wrongType(x *route.Xattr, v label.Value) string {
	text := fmt.Sprintf("must be %s, not %s", x.Wants(), v.Kind)
	if x.Type == document.Number {
		text += route.NumberHint(v)
	}
	return text
}

// checkRequired checks that no required XATTR was removed or emptied. A case that had no
// value of it before need not have one.
func (d declared) checkRequired(before label.Dict, faults *document.Faults) {
	for i := range d.route.Xattrs {
		x := &d.route.Xattrs[i]
		if x.Required && hasValue(before, x.Key) && !hasValue(d.c.Xattrs, x.Key) {
			faults.Add(nil, document.Pointer("/xattrDict", x.Key), errs.CodeRequired, "%s", requiredDetail(d.route, d.c.Xattrs, x.Key))
		}
	}
}

// readAs reads a text as a value of the kind.
func readAs(kind document.Kind, v label.Value) (label.Value, bool) {
	const longest = 100 // of a number
	if v.Kind != document.String || len(v.Text) > longest {
		return v, false
	}
	n, err := document.ParseJSON([]byte(v.Text))
	if err != nil || n.Kind != kind {
		return v, false
	}
	value, ok := label.ValueOf(n)
	return value, ok && value.Finite()
}

// MayEditXattr reports whether the actor may change the XATTR of that key. If it is declared
// with edit, those roles may change it, else the starter. Administrators of the
// route may change all (docs/contract/drive.md#rights-table). The starter gives a draft
// all that a start can give.
func MayEditXattr(c *Case, r *route.Route, actor Actor, starter bool, key string) bool {
	if actor.RouteAdmin || starter && c.IsDraft() {
		return true
	}
	x := r.Xattr(key)
	if x == nil || x.Edit == nil {
		return starter
	}
	return PlaysAny(c, x.Edit, actor)
}

// MayEdit returns the key of the first XATTR that the actor may not change to what
// it is in the dictionary, "" if all changes are allowed.
func MayEdit(c *Case, r *route.Route, actor Actor, starter bool, to label.Dict) (key string) {
	may := func(key string) bool { return MayEditXattr(c, r, actor, starter, key) }
	for _, x := range to {
		if old, had := c.Xattrs.Get(x.Key); (!had || old != x.Value) && !may(x.Key) {
			return x.Key
		}
	}
	for _, x := range c.Xattrs {
		if _, kept := to.Get(x.Key); !kept && !may(x.Key) {
			return x.Key
		}
	}
	return ""
}

// PlaysAny reports whether the actor plays one of the roles of a case.
func PlaysAny(c *Case, roles []string, actor Actor) bool {
	return slices.ContainsFunc(roles, func(role string) bool { return actor.plays(c, role) })
}

// cancelByStep cancels the case because a step asks for it.
func (d *caseDecision) cancelByStep() error {
	d.canceled, d.stepRequests = false, nil
	d.relations().dropEnablements()
	d.setLife(Canceled, LogEntry{Trigger: new(ByStep), Text: textCanceled})
	return nil
}

// cancelByPerson cancels a case that has not ended. It keeps its status, and nothing
// is enabled any more. Administrators of the route may also cancel a failed case
// (docs/contract/engine.md#1-life-cycle-of-a-case).
func (d personal) cancelByPerson(e Cancel) error {
	switch d.c.Life {
	case Queued, Active, Suspended:
	case Failed:
		if !e.Actor.RouteAdmin {
			return errs.New(errs.NotAllowed, "Only an administrator of the route may cancel a failed case.")
		}
	default:
		return d.refusals().notOpen()
	}
	d.c.SuspendedSelf, d.c.SuspendedUntil = false, time.Time{}
	d.relations().dropEnablements()
	d.setLife(Canceled, LogEntry{Actor: new(e.Actor.Name), Trigger: new(ByUser), Comment: comment(e.Comment), Text: textCanceled})
	return nil
}

// setLife gives the case another life. entry has the actor and the text for the log.
func (d *caseDecision) setLife(to Life, entry LogEntry) {
	entry.Kind, entry.From = LogLife, new(string(d.c.Shown()))
	switch {
	case !to.Ended():
		d.c.Ended = time.Time{}
	case !d.c.Life.Ended():
		d.c.Ended = d.now
	}
	d.c.Life = to
	switch {
	case to == Canceled:
		d.c.Moved = &Moved{Text: entry.Text, At: d.now}
		if entry.Actor != nil {
			d.c.Moved.By = *entry.Actor
		}
	case !to.Ended() && d.c.Moved != nil && d.c.Moved.Text == textCanceled:
		d.c.Moved = nil // it was reopened
	}
	d.c.Failing = d.failures().isBroken()
	entry.To = new(string(d.c.Shown()))
	d.changed = true
	if to == Canceled || to == Failed || to == Closed {
		d.timers().endAll()
	}
	d.add(entry)
	if to == Canceled {
		d.deliveries().stopCommands("")
		d.deliveries().dropFailed()
	}
}

// notOpen returns the refusal of something that the life of the case does not allow.
func (d refusals) notOpen() error {
	if d.c.IsDraft() {
		return d.notDraft()
	}
	e := errs.New(errs.CaseNotOpen, "The case is %s; this cannot be done with it.", d.c.Shown())
	e.Extra = map[string]any{"state": string(d.c.Shown())}
	switch d.c.Life {
	case Closed:
		e.Detail = "The case is closed: its parent has moved on, and it stays as it is."
	case Queued:
		e.Detail = "The case is queued; this can be done once it has started."
	case Suspended:
		e.Detail = "The case is suspended" + until(d.c.SuspendedUntil) + "; resume it first, by its state active."
	case Failed:
		e.Detail = "The case could not start; have it tried again, by its state active, or cancel it, by its state canceled."
	case Completed:
		if d.endsFailed() {
			e.Detail = d.endedFailed()
		}
	case Active, Canceled: // the detail above
	}
	return e
}

// editByPerson changes fields of the case, whatever its life. One log entry says
// what has changed; if nothing has, there is none.
func (d personal) editByPerson(e Edit) error {
	c := d.c
	var said edits
	kind := LogLife
	if e.Title != nil && *e.Title != c.Title {
		from, to := editValues(label.Text(c.Title), label.Text(*e.Title))
		said.changed("title", from, to)
		c.Title = *e.Title
	}
	if e.Priority != nil && *e.Priority != c.Priority {
		said.changed("priority", strconv.Itoa(c.Priority), strconv.Itoa(*e.Priority))
		c.Priority = *e.Priority
	}
	if e.ContextID != nil && *e.ContextID != c.ContextID {
		c.ContextID, c.Context = *e.ContextID, e.Context
		said.changed("context", "", "")
	}
	if e.Roles != nil {
		roles, err := d.players(*e.Roles)
		if err != nil {
			return err
		}
		if !slices.EqualFunc(roles, c.Roles, samePlayers) {
			c.Roles, kind = roles, LogRoles
			said.changed("roles", "", "")
		}
	}
	if e.Stakeholders != nil {
		if given := parties(*e.Stakeholders); !slices.Equal(given, c.Stakeholders) {
			c.Stakeholders, kind = given, LogRoles
			said.changed("stakeholders", "", "")
		}
	}
	if e.Xattrs != nil {
		before := c.Xattrs
		c.Xattrs = e.Xattrs.Sorted()
		var faults document.Faults
		d.xattrs().checkRequired(before, &faults)
		if d.xattrs().checkTypes(nil, &faults); faults.Err() != nil {
			return faults.Err()
		}
		if !slices.Equal(before, c.Xattrs) {
			said.xattrs(before, c.Xattrs)
		} else {
			c.Xattrs = before
		}
	}
	related := d.relate(e.Relations)
	if e.StartAt != nil && !e.StartAt.Equal(c.StartAt) {
		from := c.StartAt
		if err := d.postpone(*e.StartAt); err != nil {
			return err
		}
		said.changed("startAt", startWords(from), startWords(c.StartAt))
	}
	if text := said.text(); text != "" {
		d.changed = true
		d.add(LogEntry{Kind: kind, Actor: new(e.Actor.Name), Trigger: new(ByUser), Text: text})
	}
	for _, text := range related {
		d.add(LogEntry{Kind: LogLife, Actor: new(e.Actor.Name), Trigger: new(ByUser), Text: text})
	}
	if err := d.remark(e.Actor, e.Remark); err != nil {
		return err
	}
	return d.bringToRest()
}

// postpone sets when a case is to be started that has not started yet.
func (d personal) postpone(to time.Time) error {
	if !d.c.Started.IsZero() {
		err := errs.New(errs.CaseNotOpen, "The case is %s; startAt can be changed until it starts.", d.c.Life)
		err.Extra = map[string]any{"state": string(d.c.Life)}
		return err
	}
	d.c.StartAt = to.UTC().Round(0)
	return nil
}

// startWords returns when a case is to start, as the log says it; "" for at once.
func startWords(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

func samePlayers(a, b Players) bool { return a.Role == b.Role && slices.Equal(a.Parties, b.Parties) }
