package route

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/route/expr"
)

// tallies warns of decisions that are not meant for children of whom there is none,
// or none that was not canceled: they fail, or they decide as if all had agreed.
func (w *warner) tallies() {
	for i := range w.route.Actions {
		a := &w.route.Actions[i]
		if a.Child == nil || a.Decide == nil || !a.Decide.UsesTally() {
			continue
		}
		at := w.action(i).Get("decide")
		uses := expr.NewInspector(nil).Inspect(a.Decide.Source(), expr.Text)
		role := w.emptyRole(a.Child)
		if role != "" && w.tally(a, at, uses, role) {
			continue
		}
		if _, divides := decided(a, uses, expr.Children{Total: 1, Canceled: 1}); divides {
			w.warn(at, "divides by zero, and so fails, if all children are canceled: ask for their number first")
		}
	}
}

// tally warns of a decision without children. It reports whether it has warned.
func (w *warner) tally(a *Action, at document.Value, uses expr.Uses, role string) bool {
	output, divides := decided(a, uses, expr.Children{})
	if divides {
		w.warn(at, "divides by zero, and so fails, if there are no children because nobody plays %q: ask for tally.total first", role)
		return true
	}
	if output == "" || uses.CountsChildren || !w.agrees(a, output) {
		return false
	}
	w.warn(at, "decides %q if there are no children because nobody plays %q; if that is not meant, ask for tally.total first, as in tally.total > 0 && …", output, role)
	return true
}

// decided returns what the action decides with such children, "" if that depends on
// the case, and whether it fails because it divides by zero.
func decided(a *Action, uses expr.Uses, children expr.Children) (output string, divides bool) {
	for _, s := range uses.Statuses {
		children.Count(s.Name, 0)
	}
	output, err := a.Decide.Text(&expr.Values{Children: &children})
	if err != nil {
		return "", strings.Contains(err.Error(), "by zero")
	}
	if uses.OfCase {
		return "", false
	}
	return output, false
}

// agrees reports whether an output is more than what remains if nothing else is
// decided: the expression has it before its last one, or another one refuses.
func (w *warner) agrees(a *Action, output string) bool {
	refuses := func(state int) bool {
		return state != NoState && slices.Contains([]StateType{StateDenied, StateCancelled, StateFailed}, w.route.States[state].Type)
	}
	to, ok := a.Output(output)
	if !ok || to == NoState || refuses(to) {
		return false
	}
	literals := a.Decide.Literals()
	if len(literals) > 0 && literals[len(literals)-1] != output {
		return true
	}
	return w.route.States[to].Complete && slices.ContainsFunc(a.Outputs, func(o Output) bool { return refuses(o.To) })
}

// emptyRole returns the first role that makes children of its players and may have
// none, "" if there always is a child.
func (w *warner) emptyRole(child *Child) string {
	for _, mapped := range child.Roles {
		role := w.route.Role(mapped.From)
		if mapped.Each == PerRole || role == nil {
			continue
		}
		always := slices.ContainsFunc(role.Assign, func(rule Rule) bool { return rule.Kind == RuleStarter || rule.Kind == RuleUser })
		if !always {
			return mapped.From
		}
	}
	return ""
}
