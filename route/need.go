package route

import (
	"strconv"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// Need is how many players of a role must perform an action before it counts
// (docs/contract/routes.md#quorum).
type Need struct {
	Count int
	Role  string
}

// mostNeeded bounds the number of a need.
const mostNeeded = 1000

// need reads how many must perform an action.
func (c *compiler) need(a *Action, v document.Value) {
	text, ok := str(v)
	if !ok {
		return
	}
	number, role, said := strings.Cut(text, " of ")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	role = strings.TrimSpace(role)
	switch {
	case !said || err != nil || role == "":
		v.Fail(errs.CodeFormat, "must be a number, \"of\" and a role, as in \"2 of reviewer\", not %q", clip(text))
		return
	case n < 2 || n > mostNeeded:
		v.Fail(errs.CodeRange, "must need from 2 to %d, not %d", mostNeeded, n)
		return
	case !c.isRole(v, role):
		return
	}
	switch {
	case a.Trigger != TriggerUser:
		v.Fail(errs.CodeConflict, "goes with user actions only")
	case len(a.Roles) > 1 || len(a.Roles) == 1 && a.Roles[0] != role:
		v.Fail(errs.CodeConflict, "names another role than role; leave role out")
	case a.MustAccept:
		v.Fail(errs.CodeConflict, "does not go with accept: required; what several perform is accepted by none")
	case len(a.Allowed) > 0:
		v.Fail(errs.CodeConflict, "does not go with allowed; only players of the role count")
	}
	a.Need = &Need{n, role}
	a.Roles = []string{role}
}

// needs warns of actions that need more players of a role than it may have.
func (w *warner) needs() {
	for i := range w.route.Actions {
		a := &w.route.Actions[i]
		if a.Need == nil {
			continue
		}
		role := w.route.Role(a.Need.Role)
		if role == nil || len(role.Pick) > 0 || len(role.Assign) == 0 || w.assigned(role.Name) {
			continue
		}
		single := true
		for _, rule := range role.Assign {
			single = single && (rule.Kind == RuleStarter || rule.Kind == RuleUser)
		}
		if single {
			w.warn(w.root.Get("actions").Get(a.Name).Get("need"), "needs %d of the role %q, which never has more than one player", a.Need.Count, a.Need.Role)
		}
	}
}

// assigned reports whether a step gives the role players.
func (w *warner) assigned(role string) bool {
	return w.route.hasStep(func(s *Step) bool { return s.Verb == StepAssign && s.Role == role })
}
