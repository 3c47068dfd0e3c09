package engine

import (
	"fmt"
	"slices"

	"flowdrive/engine/access"
	"flowdrive/engine/hook"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/webhook"
	"flowdrive/route"
	"flowdrive/store"
)

// labelRights judges who writes the messages of a case
// (docs/contract/drive.md#rights-table).
type labelRights struct {
	*base
	r store.Reader
}

// check returns errs.NotAllowed if by may not write the message of the case.
func (e labelRights) check(by identity.Principal, h *loadedCase, given *NewMessage) error {
	name := given.Label
	if h.admin {
		return nil
	}
	refused := func(why string) error {
		return errs.New(errs.NotAllowed, "You may not write the message %q of this case: %s. The administrators of the route may.", name, why)
	}
	if route.EngineWrites(name) {
		return refused("the engine writes it")
	}
	actor := e.rights.Actor(by, false)
	if declared := h.route.Compiled.Message(name); declared != nil && declared.Edit != nil {
		if machine.PlaysAny(h.core, declared.Edit, actor) {
			return nil
		}
		return refused(leftTo(h, declared.Edit))
	}
	if name == store.LabelInput || !access.IsStarter(by, h.core) && !performsSome(h.core, h.route.Compiled, actor) {
		return errs.New(errs.NotAllowed, "You may not write the message %q of this case.", name)
	}
	if given.Hook != "" {
		return nil
	}
	writer, err := e.writer(h, name)
	if err != nil || writer == "" {
		return err
	}
	return refused(writer)
}

// leftTo says to whom a route leaves the writing of a message.
func leftTo(h *loadedCase, roles []string) string {
	if who := rolesOf(h, roles); who != "" {
		return "the route leaves it to " + who
	}
	return "the route leaves it to steps and hooks"
}

// performsSome reports whether the actor may perform an enabled action.
func performsSome(c *machine.Case, r *route.Route, actor machine.Actor) bool {
	return slices.ContainsFunc(c.Enabled, func(en machine.Enabled) bool { return machine.MayPerform(c, r, en.Action, actor) })
}

// writer says what writes the message of that label, so that people do not: what a case
// decides on must not be what those say whom it decides about. It returns "" if nothing does.
// In a sandbox nothing outside answers: people write what would be the answer.
func (e labelRights) writer(h *loadedCase, name string) (string, error) {
	if h.route.Compiled.Writes(name, !e.sandbox) {
		return "a step of the route writes it", nil
	}
	hooks, err := e.r.Routes().Hooks().OfRoute(h.core.RouteID)
	if err != nil {
		return "", err
	}
	for i := range hooks {
		s, err := hook.SettingsOf(&hooks[i])
		if err != nil {
			return "", err
		}
		if s.Deliver != nil && s.Deliver.Label == name && s.Verify.Scheme != webhook.None {
			return fmt.Sprintf("the hook %s delivers it", hooks[i].Name), nil
		}
	}
	return "", nil
}
