package route

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route/expr"
)

// mostExpressions bounds the different expressions of a route, and
// mostSource their bytes together: checking them takes a fraction of a
// millisecond each, some milliseconds for the longest.
const (
	mostExpressions = 1000
	mostSource      = 128 << 10
)

// program is what an expression is compiled from, compiled what came of it.
type program struct {
	source   string
	want     expr.Want
	children bool
}

type compiled struct {
	*expr.Program
	faults []expr.Fault
}

// expression compiles the expression that stands there; equal ones once.
func (c *compiler) expression(v document.Value, want expr.Want) *expr.Program {
	return c.compile(v, want, false)
}

// overChildren compiles one that may look at the children of its action.
func (c *compiler) overChildren(v document.Value, want expr.Want) *expr.Program {
	return c.compile(v, want, true)
}

func (c *compiler) compile(v document.Value, want expr.Want, children bool) *expr.Program {
	source, ok := str(v)
	if !ok || source == "" {
		return nil
	}
	c.use(use{kind: useExpression, at: v, want: want})
	key := program{source, want, children}
	got, known := c.programs[key]
	if !known {
		if c.source += len(source); len(c.programs) == mostExpressions || c.source > mostSource {
			v.Fail(errs.CodeRange, "a route must not have more than %d different expressions, and %d bytes of them", mostExpressions, mostSource)
			return nil
		}
		if c.programs == nil {
			c.programs = map[program]compiled{}
		}
		got.Program, got.faults = expr.Compile(source, want, expr.Names{Actions: keys(c.root.Get("actions").Node), Timers: c.timerNames(), Children: children, Stored: c.stored})
		if c.forms.patterns += got.Patterns(); c.forms.patterns > maxPatternsSize && !c.stored && len(got.faults) == 0 {
			v.Fail(errs.CodeRange, "the expressions and forms of the route have regular expressions that are too large, taken together; write smaller numbers of repetitions, such as {0,50}")
		}
		c.programs[key] = got
	}
	for _, fault := range got.faults {
		v.Fail(errs.CodeFormat, "%s%s", fault, undeclaredHint(c.root, fault.Detail))
	}
	return got.Program
}

// undeclaredHint says how an expression writes the XATTR, timer or state whose name it
// has alone, "" if the fault is another one.
func undeclaredHint(root document.Value, fault string) string {
	rest, is := strings.CutPrefix(fault, "undeclared reference to '")
	name, _, _ := strings.Cut(rest, "'")
	if !is || name == "" {
		return ""
	}
	key, err := label.NormalizeKey(name)
	isXattr := err == nil && slices.ContainsFunc(keys(root.Get("xattrs").Node), func(declared string) bool {
		other, err := label.NormalizeKey(declared)
		return err == nil && other == key
	})
	switch {
	case isXattr:
		return "; did you mean xattr." + key + "?"
	case slices.Contains(keys(root.Get("timers").Node), name):
		return fmt.Sprintf("; did you mean timers[%q]?", name)
	case slices.Contains(keys(root.Get("states").Node), name):
		return fmt.Sprintf("; a state is a text: %q", name)
	}
	if slices.Contains([]string{"me", "user", "caller", "performer"}, strings.ToLower(name)) {
		return "; who performs an action is actor, in its decide and in steps; who may perform it is said by its role, such as one with assign: [starter]"
	}
	return ""
}

// conditions reads what is asked before an action is enabled, while it is,
// and when it is performed.
func (c *compiler) conditions(a *Action, v document.Value) {
	a.EnableIf = c.expression(v.Get("enableIf"), expr.Truth)
	a.Guard = c.expression(v.Get("guard"), expr.Truth)
	a.Decide = c.compile(v.Get("decide"), expr.Text, a.Child != nil)
	outputs := v.Get("outputs")
	if !isKind(outputs, document.Object) {
		return
	}
	for i := range outputs.Node.Members {
		name, member := outputs.Member(i)
		to := NoState
		if c.route.Model == Dependency && member.Given() {
			member.Fail(errs.CodeConflict, "must be null: the dependency model has no states")
		} else if state, ok := c.isState(member); ok {
			to = state
		}
		a.Outputs = append(a.Outputs, Output{Name: name, To: to})
	}
	if a.Decide == nil {
		return
	}
	for _, literal := range a.Decide.Literals() {
		if _, ok := a.Output(literal); !ok {
			v.Get("decide").Fail(errs.CodeNotFound, "can yield %q, which outputs does not list", clip(literal))
		}
	}
}

// dependencies reads what else an action depends on.
func (c *compiler) dependencies(a *Action, v document.Value) {
	for _, item := range oneOrMore(v.Get("after")) {
		after := After{Action: NoAction, Min: 1}
		name := item
		if isKind(item, document.Object) {
			name = item.Get("action")
			if n, ok := whole(item.Get("min")); ok {
				after.Min = n
			}
		}
		if i, ok := c.isAction(name); ok {
			after.Action = i
			a.After = append(a.After, after)
		}
	}
	if c.route.Model == Dependency {
		a.Max = 1
	}
	if limit := v.Get("max"); isKind(limit, document.String) {
		a.Max = 0
	} else if n, ok := whole(limit); ok {
		a.Max = n
	}
	a.Choice, _ = str(v.Get("choice"))
	for _, item := range oneOrMore(v.Get("distinct")) {
		if i, ok := c.isAction(item); ok {
			a.Distinct = append(a.Distinct, i)
		}
	}
	if final := v.Get("final"); isKind(final, document.Bool) {
		if a.Final = final.Node.Bool; a.Final && c.route.Model == FSM {
			final.Fail(errs.CodeConflict, "goes with the dependency model; here a complete state ends a case")
		}
	}
}

// whole returns the positive whole number that stands there.
func whole(v document.Value) (int64, bool) {
	if !isKind(v, document.Number) {
		return 0, false
	}
	quiet := document.Value{Node: v.Node, Faults: &document.Faults{}}
	return quiet.Int(1, 1<<53-1)
}

// isAction returns the index of the action that a value names.
func (c *compiler) isAction(v document.Value) (int, bool) {
	name, ok := str(v)
	if !ok || !isName(name) {
		return NoAction, false
	}
	i, known := c.actions[name]
	if !known {
		c.unknown(v, "%q is not an action of this route", name, sortedKeys(c.actions))
	}
	return i, known
}

// checkModel judges what does not go with the dependency model.
func (c *compiler) checkModel(v document.Value) {
	if c.route.Model != Dependency {
		return
	}
	for _, key := range []string{"in", "enabledIn", "to"} {
		if w := v.Get(key); w.Given() && len(oneOrMore(w)) > 0 {
			w.Fail(errs.CodeConflict, "does not go with the dependency model, which has no states")
		}
	}
}

// readTransitions reads the ways that several actions open.
func (c *compiler) readTransitions() {
	v := c.root.Get("transitions")
	if !isKind(v, document.List) || c.route.Model == Dependency {
		return
	}
	names := map[string]bool{}
	for i := range v.Node.Items {
		item := v.Item(i)
		t := Transition{From: NoState, To: NoState, OnFollow: c.steps(item.Get("onFollow"))}
		if name, ok := str(item.Get("name")); ok {
			if names[name] {
				item.Get("name").Fail(errs.CodeConflict, "another transition is called %q", name)
			}
			names[name] = true
			t.Name = name
		}
		if from, ok := c.isState(item.Get("from")); ok {
			t.From = from
		}
		if to, ok := c.isState(item.Get("to")); ok {
			t.To = to
		}
		for _, required := range oneOrMore(item.Get("requires")) {
			action, ok := c.isAction(required)
			if !ok || action >= len(c.route.Actions) {
				continue
			}
			if c.route.Actions[action].Trigger == TriggerInit {
				required.Fail(errs.CodeConflict, "the init action is performed once, when the case starts; no transition can wait for it")
				continue
			}
			t.Requires = append(t.Requires, action)
		}
		c.route.Transitions = append(c.route.Transitions, t)
	}
	c.joinTransitions()
}

// joinTransitions tells actions and states of their transitions.
func (c *compiler) joinTransitions() {
	for i := range c.route.Transitions {
		t := &c.route.Transitions[i]
		if t.From == NoState || t.To == NoState {
			continue // a fault says so
		}
		if t.Name == "" {
			t.Name = c.route.States[t.From].Name + "-" + c.route.States[t.To].Name
		}
		from := &c.route.States[t.From]
		from.Out = append(from.Out, i)
		for _, action := range t.Requires {
			a := &c.route.Actions[action]
			a.In.Add(t.From)
			a.Transitions = append(a.Transitions, i)
		}
	}
}

// checkCycles judges what waits for itself: such actions are never enabled.
func (c *compiler) checkCycles() {
	const (
		unseen = iota
		open
		closed
	)
	seen := make([]int, len(c.route.Actions))
	var path []int
	var visit func(i int)
	visit = func(i int) {
		seen[i] = open
		path = append(path, i)
		for _, after := range c.route.Actions[i].After {
			switch next := after.Action; seen[next] {
			case unseen:
				visit(next)
			case open:
				c.cycle(path, next)
			}
		}
		path = path[:len(path)-1]
		seen[i] = closed
	}
	for i := range c.route.Actions {
		if seen[i] == unseen {
			visit(i)
		}
	}
}

// cycle notes that the actions of the path from that one on wait for each
// other.
func (c *compiler) cycle(path []int, from int) {
	var names []string
	for i := len(path) - 1; i >= 0; i-- {
		names = append([]string{c.route.Actions[path[i]].Name}, names...)
		if path[i] == from {
			break
		}
	}
	v := c.root.Get("actions").Get(c.route.Actions[path[len(path)-1]].Name).Get("after")
	if len(names) == 1 {
		v.Fail(errs.CodeConflict, "%q waits for itself, so it is never enabled; max says how often it can be performed", names[0])
		return
	}
	v.Fail(errs.CodeConflict, "these actions wait for each other, so they are never enabled: %s", clipList(names))
}

// clipList joins names, not all of very many.
func clipList(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and more"
	}
	return strings.Join(names, ", ")
}
