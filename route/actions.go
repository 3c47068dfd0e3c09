package route

import (
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// actionTypes are the types by which an action can be submitted. An action
// may bear the name of a type only if it has that type
// (docs/contract/routes.md#submission-by-type), so that submitting by name and
// by type mean the same.
func actionTypes() []string { return []string{TypeApprove, "deny", TypeCancel, typeRestart, "resolve"} }

// TypeApprove is the type of an action that agrees.
const TypeApprove = "approve"

// TypeCancel is the type of an action that takes a case back.
const TypeCancel = "cancel"

// typeRestart is the type of an action that reopens a case.
const typeRestart = "restart"

// transitionExcludes and childExcludes are the keys that are not allowed in an
// action named by a transition, and in one with a child
// (docs/contract/routes.md#3-transitions-that-need-several-actions and
// docs/contract/routes.md#4-child-cases). taskOnly are those that only user
// actions may have.
func transitionExcludes() []string {
	return []string{"in", "enabledIn", "always", "to", "decide", "child", "after"}
}

func childExcludes() []string {
	return []string{"trigger", "role", "allowed", "accept", "form", "resolutions", "offerTimeout", "dueIn", "need"}
}

func taskOnly() []string { return []string{"accept", "offerTimeout", "dueIn", "need"} }

func (c *compiler) readActions() {
	v := c.root.Get("actions")
	if !isKind(v, document.Object) {
		return
	}
	c.checkNames(v, "action")
	inits := 0
	for i := range v.Node.Members {
		name, member := v.Member(i)
		a := c.action(name, member)
		c.route.Actions = append(c.route.Actions, a)
		if a.Trigger != TriggerInit {
			continue
		}
		if inits++; inits == 1 {
			c.route.Init = i
			continue
		}
		member.Get("trigger").Fail(errs.CodeConflict, "must not be init, which %q is already", c.route.Actions[c.route.Init].Name)
	}
	if inits > 0 {
		return
	}
	c.route.Init = NoAction
	if c.route.Model == FSM && len(v.Node.Members) > 0 {
		v.Fail(errs.CodeRequired, "must have exactly one action with trigger: init, which is performed when a case starts")
	}
}

func (c *compiler) action(name string, v document.Value) Action {
	a := Action{Name: name, Trigger: TriggerUser, To: NoState}
	a.Title, _ = str(v.Get("title"))
	if a.Title == "" {
		a.Title = name
	}
	if a.Past, _ = str(v.Get("past")); a.Past == "" {
		a.Past = a.Title
	}
	a.Description, _ = str(v.Get("description"))
	if trigger, ok := str(v.Get("trigger")); ok {
		a.Trigger = Trigger(trigger)
	}
	a.Always = isKind(v.Get("always"), document.Bool) && v.Get("always").Node.Bool
	c.stateSets(&a, v)
	if to := v.Get("to"); to.Given() {
		if i, ok := c.isState(to); ok {
			a.To = i
		}
	} else if a.Trigger == TriggerInit {
		a.To = c.route.Start
	}
	for _, item := range oneOrMore(v.Get("role")) {
		if role, ok := str(item); ok && c.isRole(item, role) {
			a.Roles = append(a.Roles, role)
		}
	}
	a.Allowed = c.allowed(v.Get("allowed"))
	a.Timeout = c.duration(v.Get("timeout"))
	if a.Child = c.child(v.Get("child")); a.Child != nil {
		a.Trigger = TriggerChild
	}
	a.Message, _ = str(v.Get("message"))
	a.Type, _ = str(v.Get("type"))
	c.conditions(&a, v)
	c.dependencies(&a, v)
	c.readTask(&a, v)
	c.readTaskTimers(&a, v)
	c.need(&a, v.Get("need"))
	a.OnEnable, a.OnUnEnable = c.steps(v.Get("onEnable")), c.steps(v.Get("onUnEnable"))
	a.OnFire, a.SideEffects = c.steps(v.Get("onFire")), c.steps(v.Get("sideEffects"))
	a.OnError = c.onError(v.Get("onError"))
	if !v.Given() || isKind(v, document.Object) {
		c.checkAction(&a, v)
		c.checkTask(&a, v)
		c.checkDecision(v)
		c.checkModel(v)
	}
	return a
}

// stateSets reads the states in which an action is enabled.
func (c *compiler) stateSets(a *Action, v document.Value) {
	for _, item := range oneOrMore(v.Get("in")) {
		if i, ok := c.isState(item); ok {
			a.In.Add(i)
		}
	}
	for _, item := range oneOrMore(v.Get("enabledIn")) {
		i, ok := c.isState(item)
		if !ok {
			continue
		}
		if a.In.Has(i) {
			item.Fail(errs.CodeConflict, "%q is in both in and enabledIn; keep one of them", c.route.States[i].Name)
		}
		a.EnabledIn.Add(i)
	}
}

// checkAction judges what goes together with an action's trigger and name.
func (c *compiler) checkAction(a *Action, v document.Value) {
	switch a.Trigger {
	case TriggerInit:
		for _, key := range []string{"in", "enabledIn", "always"} {
			if v.Get(key).Given() {
				v.Get(key).Fail(errs.CodeConflict, "does not go with trigger: init, which is performed once, when the case starts")
			}
		}
	case TriggerTime:
		if !v.Get("timeout").Given() {
			c.missing(v, "timeout", "is required with trigger: time")
		}
	case TriggerMessage:
		if !v.Get("message").Given() {
			c.missing(v, "message", "is required with trigger: message: the label to wait for")
		}
	case TriggerUser, TriggerAuto, TriggerChild:
	}
	if a.Trigger != TriggerMessage && v.Get("message").Given() {
		v.Get("message").Fail(errs.CodeConflict, "goes with trigger: message only")
	}
	typ, _ := str(v.Get("type"))
	if slices.Contains(actionTypes(), a.Name) && typ != a.Name {
		c.faults.Add(v.Node, v.Pointer+"/type", errs.CodeConflict, "must be %s: an action may have the name of a type only if it is of that type; write type: %s, or give the action another name", a.Name, a.Name)
	}
	if c.inTransition[a.Name] {
		for _, key := range transitionExcludes() {
			if v.Get(key).Given() {
				v.Get(key).Fail(errs.CodeConflict, "does not go with an action that a transition names")
			}
		}
	}
}

// checkTask judges what makes an action a task of people.
func (c *compiler) checkTask(a *Action, v document.Value) {
	if v.Get("child").Given() {
		for _, key := range childExcludes() {
			if v.Get(key).Given() {
				v.Get(key).Fail(errs.CodeConflict, "does not go with child: the engine performs the action when its children are finished")
			}
		}
		return
	}
	if a.Trigger != TriggerUser {
		for _, key := range taskOnly() {
			if v.Get(key).Given() {
				v.Get(key).Fail(errs.CodeConflict, "goes with user actions only")
			}
		}
		return
	}
	if !v.Get("role").Given() && !v.Get("allowed").Given() && !v.Get("need").Given() {
		c.missing(v, "role", "is required, or allowed: someone must be able to perform a user action")
	}
}

// checkDecision judges how the new state is chosen.
func (c *compiler) checkDecision(v document.Value) {
	decide, outputs := v.Get("decide"), v.Get("outputs")
	if decide.Given() && v.Get("to").Given() {
		v.Get("to").Fail(errs.CodeConflict, "does not go with decide, whose outputs say the new state")
	}
	if decide.Given() && !outputs.Given() {
		c.missing(v, "outputs", "is required with decide: every output that it can yield")
	}
	if outputs.Given() && !decide.Given() {
		c.missing(v, "decide", "is required with outputs")
	}
}

// missing notes that an object lacks a key.
func (c *compiler) missing(v document.Value, key, detail string) {
	c.faults.Add(v.Node, document.Pointer(v.Pointer, key), errs.CodeRequired, "%s", detail)
}
