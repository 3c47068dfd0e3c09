package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/expr"
)

// expressions is what the expressions of a route see of a case.
type expressions struct{ *caseDecision }

func (d *caseDecision) expressions() expressions { return expressions{d} }

// scope returns the values that expressions are evaluated over. actor is "" for the
// engine.
func (d expressions) scope(actor string) *expr.Values {
	v := &d.values
	if c := d.c; v.Budget == 0 || d.scoped != c.ID {
		d.scoped = c.ID
		*v = expr.Values{
			Now: d.now, Message: d.message, TooLong: d.unseen, Instead: d.instead, Input: labelInput, Cost: v.Cost, Budget: d.budget(), Actions: len(d.route.Actions),
			Action: func(i int) string { return d.route.Actions[i].Name }, Task: d.task,
			Timers: len(d.route.Timers), TimerAt: func(i int) string { return d.route.Timers[i].Name }, Timer: d.timer,
		}
	}
	c := d.c
	v.Children = nil
	v.Case = expr.Case{ID: c.ID, Title: c.Title, Status: c.Status, Starter: c.Starter, Created: c.Created, Version: c.Version}
	v.Xattrs, v.Actor, v.Error = c.Xattrs, actor, d.mishap
	v.Links = v.Links[:0]
	for _, r := range c.Relations {
		v.Links = append(v.Links, expr.Link{Relation: r.Name, Case: r.Case})
	}
	return v
}

// budget is what the expressions of the event may cost.
func (d expressions) budget() uint64 {
	if d.foresees {
		return maxForecastCost
	}
	return MaxCost
}

// scopeOf is scope with the children of the enablement with that number, if it has
// any and the program uses them.
func (d expressions) scopeOf(p *expr.Program, actor string, number int64) (*expr.Values, error) {
	v := d.scope(actor)
	i := d.c.placeOf(number)
	if number == 0 || i < 0 || d.c.Enabled[i].Children == nil || !p.UsesTally() && !p.UsesChildren() {
		return v, nil
	}
	k := d.c.Enabled[i].Children
	v.Children = &expr.Children{Total: k.Total, Open: k.open(), Canceled: k.Canceled, Statuses: make([]expr.Status, len(k.Tally))}
	for i, t := range k.Tally {
		v.Children.Statuses[i] = expr.Status{Name: t.Status, Count: t.Count}
	}
	if p.UsesChildren() {
		list, err := d.relations().childrenOf(number)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			child := expr.Child{ID: s.ID, State: string(s.Life), Status: s.Status, Resolution: s.Resolution, Xattrs: s.Xattrs}
			for _, r := range s.Roles {
				child.Roles = append(child.Roles, expr.Role{Name: r.Role, Parties: r.Parties})
			}
			v.Children.List = append(v.Children.List, child)
		}
	}
	return v, nil
}

// childrenOf returns all children of an enablement as they are in this event, in
// order of ids.
func (d relations) childrenOf(number int64) ([]Child, error) {
	stored, known := d.facts.Children[Enablement{d.c.ID, number}]
	if !known && d.from != nil {
		d.need(Need{Children: Enablement{d.c.ID, number}})
		return nil, errAbsent
	}
	list := slices.Clone(stored)
	for i := range list {
		if now := d.cases[list[i].ID]; now != nil {
			list[i] = ChildOf(now.c)
		}
	}
	for _, other := range d.order {
		if other.from == nil && other.c.Parent == d.c.ID && other.c.ParentEnablement == number {
			list = append(list, ChildOf(other.c))
		}
	}
	slices.SortFunc(list, func(a, b Child) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// labelInput is the label of the input of a case.
const labelInput = "InputMessage"

// task returns what expressions see of an action.
func (d expressions) task(name string) (expr.Task, bool) {
	i := d.route.Action(name)
	if i == unknown {
		return expr.Task{}, false
	}
	var t expr.Task
	if p := d.c.performed(name); p != nil {
		t = expr.Task{Count: p.Count, By: p.By, At: p.At, Resolution: p.Resolution, Output: p.Output}
	}
	if place := d.place(i); place >= 0 {
		t.State = string(d.c.Enabled[place].State)
	}
	return t, true
}

// message returns the content of a message, nil if it is not JSON. If the fact is
// absent it becomes a need; the caller checks for it.
func (d expressions) message(name string) *document.Node {
	if n, known := d.known[name]; known {
		return n
	}
	content, ok := d.content(name)
	if !ok {
		return nil
	}
	n, err := document.ParseJSON(content)
	if err != nil || len(content) == 0 {
		n = nil
	}
	if d.known == nil {
		d.known = map[string]*document.Node{}
	}
	d.known[name] = n
	return n
}

// unseen reports whether there is a message of which expressions see nothing because
// it is too long.
func (d expressions) unseen(name string) bool {
	content, known := d.content(name)
	return known && content == nil && d.tooLong(name)
}

// instead says what a message is of which expressions see nothing because it is not JSON,
// and how it begins; "" for any other.
func (d expressions) instead(name string) string {
	const most = 40 // bytes of it that are shown
	content, known := d.content(name)
	if !known || content == nil || d.message(name) != nil {
		return ""
	}
	if len(content) == 0 {
		return "empty"
	}
	kind := cmp.Or(d.typeOf(name), "a text")
	if len(content) <= most {
		return fmt.Sprintf("%s: %q", kind, content)
	}
	return fmt.Sprintf("%s that begins with %q", kind, content[:most])
}

// written returns the content of the last of the messages with the label. ok is false if
// there is none.
func written(messages []NewMessage, label string) (content []byte, ok bool) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Label == label {
			return messages[i].Content, true
		}
	}
	return nil, false
}

// content returns the content of a message as this event wrote it, else as it is
// stored, or nil if there is none. ok is false if the fact is absent.
func (d *caseDecision) content(name string) (content []byte, ok bool) {
	if content, ok = written(d.messages, name); ok {
		return content, true
	}
	switch content, ok = d.stored[name]; {
	case ok:
	case d.from == nil && d.c.ID != d.eventCase: // a new case, which has no messages
		if name == labelInput {
			content = []byte{}
		}
		ok = true
	case d.c.ID == d.eventCase:
		d.need(Need{Message: name})
	default:
		d.need(Need{Message: name, Case: d.c.ID})
	}
	return content, ok
}

// has reports whether the case has a message, even if it is longer than MaxFact.
// known is false if the fact is absent.
func (d *caseDecision) has(name string) (there, known bool) {
	content, known := d.content(name)
	_, stored := d.types[name]
	return stored || content != nil, known
}

// condition evaluates the expression of guard, enableIf or complete. If that fails it
// counts as false and leaves one warning, until it succeeds again
// (docs/contract/engine.md#failures). The only error returned is errAbsent.
func (d *caseDecision) condition(p *expr.Program, actor, key, source string, number int64) (bool, error) {
	v, err := d.expressions().scopeOf(p, actor, number)
	if err != nil {
		return false, err
	}
	yes, err := p.Truth(v)
	if len(d.needs) > 0 {
		return false, errAbsent
	}
	at := slices.IndexFunc(d.c.Warnings, func(w Warning) bool {
		_, is := w.unevaluated(key)
		return is && w.Timer == source && w.Enablement == number
	})
	switch {
	case err == nil && at >= 0:
		d.c.Warnings = slices.Delete(slices.Clone(d.c.Warnings), at, at+1)
		d.changed = true
	case err != nil && at < 0:
		d.warn(source, number, fmt.Sprintf("%s of %q%s%v", key, source, textUnevaluated, err))
	}
	return yes && err == nil, nil
}

// textUnevaluated stands between an expression and why it could not be evaluated, in
// the warning of that.
const textUnevaluated = " could not be evaluated: "

// unevaluated returns why the expression of a key could not be evaluated, if that is
// what the warning says. Those of earlier releases name the key alone.
func (w *Warning) unevaluated(key string) (why string, is bool) {
	if why, is = strings.CutPrefix(w.Text, key+": "); is {
		return why, true
	}
	if !strings.HasPrefix(w.Text, key+" of ") {
		return "", false
	}
	_, why, is = strings.Cut(w.Text, textUnevaluated)
	return why, is
}

// warn puts a warning on the case.
func (d *caseDecision) warn(source string, number int64, text string) {
	d.c.Warnings = append(slices.Clip(d.c.Warnings), Warning{Timer: source, Time: d.now, Text: text, Enablement: number})
	d.changed = true
	d.add(LogEntry{Kind: LogWarning, Action: d.sourceAction(source), Text: text})
}

// unwarnEnablement removes the warnings that go with an enablement.
func (d *caseDecision) unwarnEnablement(number int64) {
	d.dropWarnings(func(w Warning) bool { return w.Enablement == number && number != 0 })
}

func (d *caseDecision) dropWarnings(drop func(Warning) bool) {
	if slices.ContainsFunc(d.c.Warnings, drop) {
		d.c.Warnings = slices.DeleteFunc(slices.Clone(d.c.Warnings), drop)
		d.changed = true
	}
}

// decideOutput evaluates the decision of an action: its output, and the state that
// this leads to.
func (d expressions) decideOutput(a *route.Action, actor string, number int64) (output string, to int, err error) {
	v, err := d.scopeOf(a.Decide, actor, number)
	if err != nil {
		return "", 0, err
	}
	output, err = a.Decide.Text(v)
	if len(d.needs) > 0 {
		return "", 0, errAbsent
	}
	if err != nil {
		return "", 0, routeFault("decide of %q: %v", a.Name, err)
	}
	to, ok := a.Output(output)
	if !ok {
		return "", 0, routeFault("decide of %q yields %q, which its outputs do not list (%s)", a.Name, clip(output), strings.Join(outputs(a), ", "))
	}
	return output, to, nil
}

func outputs(a *route.Action) []string {
	names := make([]string, len(a.Outputs))
	for i := range a.Outputs {
		names[i] = a.Outputs[i].Name
	}
	return names
}

// wrongWord says which word was given instead of one of known, and which one may be meant. It
// is empty if none was given.
func wrongWord(given string, known []string) string {
	if given == "" {
		return ""
	}
	return fmt.Sprintf(", not %q%s", clip(given), document.Hint(given, known))
}

// routeFault returns the error of a route that cannot be carried out.
func routeFault(format string, args ...any) error {
	return errs.New(errs.RouteFault, "The route is at fault: %s.", strings.TrimSuffix(fmt.Sprintf(format, args...), "."))
}

// contentFault returns the error of a message that a step cannot read: who made it can
// mend that, and not the author of the route.
func contentFault(label, format string, args ...any) error {
	return errs.New(errs.RouteFault, "The message %q is at fault: %s.", label, fmt.Sprintf(format, args...))
}

// badField returns the error of one field of a person's request.
func badField(pointer string, code errs.Code, format string, args ...any) error {
	return errs.InvalidDocument([]errs.Fault{{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)}})
}

func clip(text string) string { return errs.Clip(text, 60) }

// written returns the last writing of a label, nil for none.
func (c *Case) written(label string) *Written {
	for i := range c.Written {
		if c.Written[i].Label == label {
			return &c.Written[i]
		}
	}
	return nil
}

// logWritten says in the log who has written a message, and how much: what is decided
// later may rest on it.
func logWritten(d *caseDecision, e Wake) {
	if e.Wrote == nil {
		return
	}
	what := "Wrote "
	if e.Wrote.Over {
		what = "Replaced "
	}
	text := fmt.Sprintf("%s%s, %s", what, e.Label, inBytes(e.Wrote.Size))
	if e.Wrote.Hook != "" {
		text += ", by the hook " + e.Wrote.Hook
	}
	d.changed = true
	d.add(LogEntry{Kind: LogMessage, Actor: new(e.Actor.Name), Trigger: new(ByUser), Text: text})
}

func inBytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// noteWritten notes that a message was written, if an action waits for its label.
func (d *caseDecision) noteWritten(label, by string) {
	waits := slices.ContainsFunc(d.route.Actions, func(a route.Action) bool { return a.Trigger == route.TriggerMessage && a.Message == label })
	if !waits {
		return
	}
	w := d.c.written(label)
	if w == nil {
		d.c.Written = append(d.c.Written, Written{Label: label})
		w = &d.c.Written[len(d.c.Written)-1]
	}
	w.Number++
	w.By, w.At = by, d.now
	d.changed = true
}
