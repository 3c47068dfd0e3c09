package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// Bounds on what steps make.
const (
	maxText    = 64 << 10 // a text or XATTR
	maxTitle   = 1000
	maxXattrs  = 1000
	maxDict    = 1 << 20  // keys and values of all XATTRs, as in a document that a person sends
	maxWritten = 16 << 20 // all messages of one event
	maxNotices = 100      // warnings on a case
)

// runHandler runs the steps of onEnable or onUnEnable, as key says, which belong to no
// performance. A fault of the route rolls them back and is logged, and the case
// goes on (docs/contract/engine.md#failures). So does an endless loop, unless a
// person waits for the answer.
func (d *caseDecision) runHandler(key string, steps []route.Step, action int) error {
	if len(steps) == 0 {
		return nil
	}
	name := d.route.Actions[action].Name
	h := handler{name: key + " of " + name, source: name}
	if e := d.c.enablement(name); e != nil {
		h.number = e.Number
	}
	d.failures().handlerRuns(h)
	before := d.savepoint()
	err := d.runSteps(steps, name, "")
	if !errs.Is(err, errs.RouteFault) && !(d.sweeps && errs.Is(err, errs.EndlessLoop)) {
		return err
	}
	d.rollBack(before)
	d.failures().handlerFailed(h, LogEntry{Kind: LogError, Action: new(name), Trigger: new(ByStep), Text: h.name + " failed: " + err.Error()}, err)
	return nil
}

// stepRun is a run through steps of an action, state or timer.
type stepRun struct {
	*caseDecision
	source string // the action or timer that the log and warnings name
	actor  string // the person who performs, "" for the engine
}

// runSteps runs steps in order.
func (d *caseDecision) runSteps(steps []route.Step, source, actor string) error {
	return stepRun{caseDecision: d, source: source, actor: actor}.run(steps)
}

func (d stepRun) run(steps []route.Step) error {
	for i := range steps {
		s := &steps[i]
		if d.steps == MaxSteps {
			return d.endless()
		}
		d.steps++
		d.faulted = string(s.Verb) // unless it succeeds
		if applies, err := d.applies(s); err != nil {
			return err
		} else if !applies {
			d.faulted = ""
			continue
		}
		if s.Outside != nil {
			if err := d.send(s, i+1); err != nil {
				return err
			}
		} else if err := d.step(s); err != nil {
			return err
		}
		d.faulted = ""
	}
	return nil
}

// applies reports whether the if of a step is true. One that cannot be evaluated is a
// fault of the step: to pass the step over would look as if all went well.
func (d stepRun) applies(s *route.Step) (bool, error) {
	if s.If == nil {
		return true, nil
	}
	number := d.sourceEnablement(d.source)
	v, err := d.expressions().scopeOf(s.If, d.actor, number)
	if err != nil {
		return false, err
	}
	yes, err := s.If.Truth(v)
	switch {
	case len(d.needs) > 0:
		return false, errAbsent
	case err != nil:
		return false, routeFault("if of the step %s could not be evaluated: %v", s.Verb, err)
	}
	// Earlier releases passed the step over, and left a warning.
	d.dropWarnings(func(w Warning) bool {
		_, is := w.unevaluated("if")
		return is && w.Timer == d.source && w.Enablement == number
	})
	return yes, nil
}

func (d stepRun) step(s *route.Step) error {
	switch s.Verb {
	case route.StepSet:
		return d.set(s.Set)
	case route.StepMessage:
		return d.write(s.Message)
	case route.StepFilter:
		return d.filter(s.Filter)
	case route.StepTable:
		return d.table(s.Table)
	case route.StepText:
		return d.searchText(s.Search)
	case route.StepLog, route.StepWarn, route.StepTitle:
		return d.say(s)
	case route.StepUnwarn:
		d.dropWarnings(func(w Warning) bool { return w.Timer == d.source && w.Enablement == d.sourceEnablement(d.source) })
	case route.StepAssign, route.StepUnassign:
		return d.assign(s)
	case route.StepAddStakeholders, route.StepRemoveStakeholders:
		return d.stakeholders(s)
	case route.StepPerform, route.StepSkip, route.StepAbort, route.StepRetry:
		d.stepRequests = append(d.stepRequests, stepRequest{verb: s.Verb, action: s.Action, source: d.source})
	case route.StepStart:
		return d.beginCase(s.Start)
	case route.StepEnableTimer, route.StepDisableTimer:
		d.turnTimer(s.Timer, s.Verb == route.StepEnableTimer)
	case route.StepSetTimer:
		return d.setTimer(s)
	case route.StepCancel:
		d.canceled = true
	case route.StepSuspend:
		return d.suspendLater(s)
	default:
		return errs.New(errs.Internal, "machine: an unknown step %q", s.Verb)
	}
	return nil
}

// value returns what a value of a step stands for. ok is false if that is null.
func (d stepRun) value(v route.Value) (value label.Value, ok bool, err error) {
	return d.valueBy(v, d.substitute)
}

// filledValue is value, but a label that has no value is a fault: what is set may be
// decided on (docs/contract/routes.md#steps).
func (d stepRun) filledValue(v route.Value) (value label.Value, ok bool, err error) {
	return d.valueBy(v, func(text string) (string, error) {
		filled, unfilled, err := d.fill(text, nil)
		if err == nil && unfilled.any() {
			err = unfilled.fault()
		}
		return filled, err
	})
}

func (d stepRun) valueBy(v route.Value, substitute func(string) (string, error)) (value label.Value, ok bool, err error) {
	switch {
	case v.Expr != nil:
		value, ok, err = v.Expr.Scalar(d.expressions().scope(d.actor))
		if len(d.needs) > 0 {
			return value, false, errAbsent
		}
		if err != nil {
			return value, false, routeFault("%s: %v", clip(v.Expr.Source()), err)
		}
	case v.Literal == nil:
		return value, false, nil
	default:
		value, ok = *v.Literal, true
		if value.Kind == document.String {
			if value.Text, err = substitute(value.Text); err != nil {
				return value, false, err
			}
		}
	}
	if len(value.Text) > maxText {
		return value, false, routeFault("a text of %d bytes is too long; the most is %d", len(value.Text), maxText)
	}
	return value, ok, nil
}

// substitute replaces the labels of a text: those of label.Substitute, and $Label;
// by the text of the message with that label.
func (d stepRun) substitute(text string) (string, error) { return d.substituteAs(text, nil) }

// substituteAs replaces the labels of a text by their values, after escape. A nil
// escape changes nothing. Labels without a value stay, and the log says so.
func (d stepRun) substituteAs(text string, escape func(string) string) (string, error) {
	filled, unfilled, err := d.fill(text, escape)
	if err == nil && unfilled.any() {
		d.add(LogEntry{Kind: LogWarning, Text: unfilled.warning()})
		d.changed = true
	}
	return filled, err
}

// unfilled are the labels of a text that stay as they are written.
type unfilled struct {
	empty []string // they have no value
	long  []string // with their values the text would be longer than it may be
}

func (u *unfilled) any() bool { return len(u.empty)+len(u.long) > 0 }

// warning says what was left as it is, and why.
func (u *unfilled) warning() string {
	var parts []string
	if len(u.empty) > 0 {
		parts = append(parts, "These labels have no value here and were left as they are: "+strings.Join(u.empty, ", "))
	}
	if len(u.long) > 0 {
		parts = append(parts, "These labels were left as they are, because the text would be too long with their values: "+strings.Join(u.long, ", "))
	}
	return strings.Join(parts, ". ")
}

// fault returns the same as the error of a step that cannot do without.
func (u *unfilled) fault() error {
	if len(u.empty) > 0 {
		return routeFault("these labels have no value here: %s", strings.Join(u.empty, ", "))
	}
	return routeFault("a text would be too long with the values of these labels: %s", strings.Join(u.long, ", "))
}

// fill replaces the labels of a text as substituteAs does, and returns those that
// stay.
func (d stepRun) fill(text string, escape func(string) string) (filled string, left unfilled, err error) {
	if !strings.Contains(text, "$") {
		return text, left, nil
	}
	values := &label.Values{
		Now: d.labelled(), Zone: d.labels, Created: d.c.Created, PID: d.c.ID, ParentPID: d.c.Parent, GUID: d.c.GUID, Login: d.c.Context, Route: d.c.RouteName,
		Title: d.c.Title, ScheduledFor: d.c.ScheduledFor, Iteration: d.c.Iteration, XAttrs: d.c.Xattrs,
		Error:  label.Error(d.mishap),
		Escape: escape,
	}
	if strings.Contains(text, "$__EMAIL__;") {
		email, ok := d.facts.Emails[d.c.Context]
		if !ok {
			d.need(Need{Email: d.c.Context})
			return "", left, errAbsent
		}
		values.Email = email
	}
	var out strings.Builder
	for text != "" {
		start, end := label.ScanMessage(text)
		literal, missed, long := label.Substitute(text[:start], values)
		left.empty, left.long = append(left.empty, missed...), append(left.long, long...)
		out.WriteString(literal)
		if name := text[start:end]; name != "" {
			content, there, err := d.textOf(name[1 : len(name)-1])
			switch {
			case err != nil:
				return "", left, err
			case !there:
				left.empty = append(left.empty, name)
				out.WriteString(name)
			case escape != nil:
				out.WriteString(escape(content))
			default:
				out.WriteString(content)
			}
		}
		text = text[end:]
		if out.Len() > MaxFact {
			return "", left, routeFault("a text with its labels is longer than %s", maxFactWords)
		}
	}
	left.empty, left.long = slices.Compact(left.empty), slices.Compact(left.long)
	return strings.ToValidUTF8(out.String(), "\uFFFD"), left, nil
}

// labelled returns the instant that labels stand for. While a scheduled case starts
// that is the instant of its entry, not the time at which it left the queue
// (docs/contract/labels-attachments.md#1-labels).
func (d stepRun) labelled() time.Time {
	starts := d.from == nil || d.from.Started.IsZero()
	if starts && !d.c.ScheduledFor.IsZero() {
		return d.c.ScheduledFor
	}
	return d.now
}

// set sets XATTRs. Null removes one.
func (d stepRun) set(settings []route.Setting) error {
	before := d.c.weight()
	for _, s := range settings {
		value, ok, err := d.filledValue(s.Value)
		if err != nil {
			return err
		}
		if !ok {
			d.change(Change{Key: s.Key, Remove: true})
			continue
		}
		if x := d.route.Xattr(s.Key); x != nil && !x.Fits(value) {
			return routeFault("the XATTR %q must be %s, not %s", s.Key, x.Wants(), value.Kind)
		}
		had := d.c.Xattrs
		d.change(Change{Key: s.Key, Value: value})
		if err := checkDict(d.c.Xattrs, had); err != nil {
			return err
		}
	}
	return storing{d.caseDecision}.form(before)
}

// checkDict returns an error if XATTRs have become more than a case may have. A case
// that has too much already may get less.
func checkDict(now, had label.Dict) error {
	bytes := func(dict label.Dict) (n int) {
		for i := range dict {
			n += len(dict[i].Key) + len(dict[i].Value.Text)
		}
		return n
	}
	switch {
	case len(now) > maxXattrs:
		return routeFault("a case may have %d XATTRs at most", maxXattrs)
	case bytes(now) > maxDict && bytes(now) > bytes(had):
		return routeFault("the XATTRs of a case may have %d bytes at most together", maxDict)
	}
	return nil
}

// change sets or removes an XATTR.
func (d *caseDecision) change(x Change) {
	old, had := d.c.Xattrs.Get(x.Key)
	switch {
	case x.Remove && had:
		d.c.Xattrs = d.c.Xattrs.Remove(x.Key)
	case !x.Remove && (!had || old != x.Value):
		d.c.Xattrs = d.c.Xattrs.Set(x.Key, x.Value)
	default:
		return
	}
	d.changed = true
}

// write writes a message.
func (d stepRun) write(m *route.NewMessage) error {
	out := NewMessage{Label: m.Label, MediaType: m.Type}
	var text string
	var err error
	switch {
	case m.JSON.Given():
		out.Content, err = d.payload(m.JSON, fmt.Sprintf("the message %q", m.Label))
	case m.Text.Literal != nil: // with its labels replaced it may be longer than other texts
		text, err = d.substitute(m.Text.Literal.Text)
	default:
		text, err = d.text(m.Text)
	}
	if err != nil {
		return err
	}
	if !m.JSON.Given() {
		out.Content = []byte(text)
	}
	return d.writeMessage(out)
}

// writeMessage keeps a message that a step wrote.
func (d stepRun) writeMessage(m NewMessage) error {
	if d.written += len(m.Content); len(m.Content) > MaxFact || d.written > maxWritten {
		return routeFault("the message %q is longer than %s, or the messages of this event together than 16 MiB", m.Label, maxFactWords)
	}
	if err := (storing{d.caseDecision}).message(m); err != nil {
		return err
	}
	d.messages = append(d.messages, m)
	delete(d.known, m.Label)
	d.changed = true
	d.add(LogEntry{Kind: LogMessage, Trigger: new(ByStep), Text: "Wrote " + m.Label})
	d.noteWritten(m.Label, d.actor)
	return nil
}

// say carries out the steps log, warn and title.
func (d stepRun) say(s *route.Step) error {
	value, ok, err := d.value(s.Text)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(value.Text)
	switch {
	case s.Verb == route.StepTitle:
		if text == "" || len(text) > maxTitle {
			return routeFault("a title must have from 1 to %d bytes, not %d", maxTitle, len(text))
		}
		if d.c.Title != text {
			d.c.Title, d.changed = text, true
		}
	case !ok || text == "":
	case s.Verb == route.StepLog:
		if d.c.LogSeq > MaxLog {
			return nil
		}
		d.changed = true
		d.add(LogEntry{Kind: LogTask, Action: d.sourceAction(d.source), Trigger: new(ByStep), Text: text})
		return storing{d.caseDecision}.line(text)
	case len(d.c.Warnings) < maxNotices:
		before := d.c.weight()
		d.warn(d.source, d.sourceEnablement(d.source), text)
		return storing{d.caseDecision}.form(before)
	}
	return nil
}

// assign carries out the steps assign and unassign.
func (d stepRun) assign(s *route.Step) error {
	named, err := d.recipients(s.Parties)
	if err != nil {
		return err
	}
	d.notNamed(s, named)
	have := d.c.RoleParties(s.Role)
	var players []string
	switch {
	case s.Verb == route.StepUnassign:
		players = slices.DeleteFunc(slices.Clone(have), func(p string) bool { return slices.ContainsFunc(named, func(n string) bool { return sameName(n, p) }) })
	case s.Add:
		players = parties(slices.Concat(have, named))
	default:
		players = named
	}
	if slices.Equal(players, have) {
		return nil
	}
	var roles []Players
	for i := range d.route.Roles {
		name := d.route.Roles[i].Name
		list := d.c.RoleParties(name)
		if name == s.Role {
			list = players
		}
		if len(list) > 0 {
			roles = append(roles, Players{Role: name, Parties: list})
		}
	}
	d.c.Roles, d.changed = roles, true
	text := "Assigned " + s.Role + ": " + strings.Join(players, ", ")
	if len(players) == 0 {
		text = "Unassigned " + s.Role
	}
	d.add(LogEntry{Kind: LogRoles, Trigger: new(ByStep), Text: text})
	return nil
}

// stakeholders carries out the steps addStakeholders and removeStakeholders.
func (d stepRun) stakeholders(s *route.Step) error {
	named, err := d.whom(s.Parties)
	if err != nil {
		return err
	}
	d.notNamed(s, named)
	have := d.c.Stakeholders
	list := parties(slices.Concat(have, named))
	if s.Verb == route.StepRemoveStakeholders {
		list = slices.DeleteFunc(slices.Clone(have), func(p string) bool { return slices.ContainsFunc(named, func(n string) bool { return sameName(n, p) }) })
	}
	if slices.Equal(list, have) {
		return nil
	}
	d.c.Stakeholders, d.changed = list, true
	d.add(LogEntry{Kind: LogRoles, Trigger: new(ByStep), Text: "Stakeholders: " + cmp.Or(strings.Join(list, ", "), "nobody")})
	return nil
}

// whom returns the users and teams that a step names, with symbolic parties
// resolved.
func (d stepRun) whom(list []route.Recipient) ([]string, error) {
	out, err := d.recipients(list)
	if err != nil {
		return nil, err
	}
	if out = d.byName(out); len(d.needs) > 0 {
		return nil, errAbsent
	}
	return out, nil
}

// recipients returns the parties that a step names, with symbolic parties as they
// are. Names without a user or team are left out and logged.
func (d stepRun) recipients(list []route.Recipient) ([]string, error) {
	var out, nobody []string
	for _, r := range list {
		switch r.Kind {
		case route.RecipientStarter:
			out = append(out, d.c.Starter)
		case route.RecipientStakeholders:
			out = append(out, PartyStakeholders)
		case route.RecipientRole:
			out = append(out, d.c.RoleParties(r.Name)...)
		case route.RecipientXattr:
			if v, given := d.c.Xattrs.Get(r.Name); given && v.Text != "" {
				d.named(v.Text, &out, &nobody)
			} else {
				nobody = append(nobody, "what the XATTR "+r.Name+" says, which has no value")
			}
		case route.RecipientParty:
			d.named(r.Name, &out, &nobody)
		}
	}
	if len(d.needs) > 0 {
		return nil, errAbsent
	}
	if len(nobody) > 0 {
		d.changed = true
		d.add(LogEntry{Kind: LogWarning, Text: fmt.Sprintf("Nobody is called %s", strings.Join(nobody, ", "))})
	}
	return parties(out), nil
}

// named adds the user or team of that name to those that a step names, or to those
// who do not exist.
func (d stepRun) named(name string, parties, nobody *[]string) {
	kind, known := d.facts.Parties[name]
	switch {
	case name == string(identity.Everyone):
		*parties = append(*parties, name)
	case !known:
		d.need(Need{Party: name})
	case kind == NoParty:
		*nobody = append(*nobody, name)
	default:
		*parties = append(*parties, name)
	}
}
