package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/expr"
)

// refusals makes the errors that say what cannot be done, and what can be done
// instead.
type refusals struct{ *caseDecision }

func (d *caseDecision) refusals() refusals { return refusals{d} }

// notEnabled returns the refusal of an action that is not enabled. It says what is
// enabled, whose condition does not hold, and who has performed or accepted something
// instead.
func (d refusals) notEnabled(action string) *errs.Error {
	enabled := enabledFor(d.c, d.route, people)
	var detail strings.Builder
	fmt.Fprintf(&detail, "%q is not enabled", action)
	if d.c.Status != "" {
		fmt.Fprintf(&detail, " in %q", d.c.Status)
	}
	detail.WriteString("; ")
	if len(enabled) == 0 {
		detail.WriteString("nothing is.")
	} else {
		detail.WriteString("enabled: " + strings.Join(enabled, ", ") + ".")
	}
	if why := falseCondition(d.c, d.route, action); why != "" {
		detail.WriteString(" " + why)
	}
	e := errs.New(errs.ActionNotEnabled, "")
	e.Extra = map[string]any{"enabled": enabled}
	if p := d.performedInstead(action); p != nil {
		at, what := p.At.Format(time.RFC3339), "it"
		if i := d.route.Action(p.Action); p.Action != action && (i == unknown || d.route.Actions[i].Type != action) {
			what = strconv.Quote(p.Action)
		}
		fmt.Fprintf(&detail, " %s performed %s%s at %s.", p.By, what, onBehalf(p), at)
		e.Extra["performedBy"], e.Extra["performedAt"] = p.By, at
	}
	if by, instead := d.acceptedInstead(action); by != "" {
		fmt.Fprintf(&detail, " %s has accepted %q instead.", by, instead)
		e.Extra["acceptedBy"] = by
	}
	e.Detail = detail.String()
	return e
}

// falseCondition says in a sentence which condition keeps an action from being offered,
// or the first such action of a type: the guard of one that waits, or the enableIf of one
// that was refused. It returns "" if none does.
func falseCondition(c *Case, r *route.Route, name string) string {
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Name != name && (a.Type != name || r.Action(name) != unknown) || a.Trigger != route.TriggerUser {
			continue
		}
		if e := c.enablement(a.Name); e != nil {
			if e.State == Waiting && a.Guard != nil {
				return conditionText(c, a.Name, keyGuard, a.Guard, c.unevaluated(keyGuard, e))
			}
			continue
		}
		if slices.Contains(Refused(c, r), a) {
			return conditionText(c, a.Name, keyEnableIf, a.EnableIf, c.unevaluated(keyEnableIf, &Enabled{Action: a.Name}))
		}
	}
	return ""
}

// conditionText says that a condition does not hold, and the XATTRs that it reads. fault
// is why it could not be evaluated, "" if it could.
func conditionText(c *Case, action, key string, p *expr.Program, fault string) string {
	const mostSource, mostValues = 200, 5
	source := errs.Clip(strings.Join(strings.Fields(p.Source()), " "), mostSource)
	if fault != "" {
		return fmt.Sprintf("The condition of %q (%s: %s) could not be evaluated: %s.", action, key, source, fault)
	}
	text := fmt.Sprintf("The condition of %q does not hold (%s: %s", action, key, source)
	for i, name := range p.Xattrs() {
		if i == mostValues {
			break
		}
		switch v, has := c.Xattrs.Get(name); {
		case !has:
			text += "; there is no xattr." + name
		case v.Kind == document.String:
			text += fmt.Sprintf("; xattr.%s is %q", name, clip(v.Text))
		default:
			text += fmt.Sprintf("; xattr.%s is %s", name, clip(v.Text))
		}
	}
	return text + ")."
}

// onBehalf says for whom an action was performed, if not for the user who did it.
func onBehalf(p *Performed) string {
	if p.For == "" {
		return ""
	}
	return " for " + p.For
}

// lastOf returns the last performance of the action with that name, or of all
// actions of that type; nil for none.
func (d refusals) lastOf(name string) *Performed {
	if d.route.Action(name) != unknown {
		return d.c.performed(name)
	}
	var last *Performed
	for i := range d.route.Actions {
		if d.route.Actions[i].Type != name {
			continue
		}
		if p := d.c.performed(d.route.Actions[i].Name); p != nil && (last == nil || p.Seq > last.Seq) {
			last = p
		}
	}
	return last
}

// performedInstead returns the performance because of which an action, or all
// actions of a type, are not enabled any more: its own, or that of another action
// which led the case away or won their choice. It is nil if no person did that.
func (d refusals) performedInstead(name string) *Performed {
	last := d.lastOf(name)
	if last != nil && last.By == "" {
		last = nil
	}
	for i := range d.c.Performed {
		p := &d.c.Performed[i]
		if p.By != "" && (last == nil || p.Seq > last.Seq) && d.endedBy(p, name) {
			last = p
		}
	}
	return last
}

// endedBy reports whether the last performance of another action may have ended the
// enablement of the action with that name, or of one of that type.
func (d refusals) endedBy(p *Performed, name string) bool {
	winner, from := d.route.Action(p.Action), d.route.State(p.From)
	return slices.ContainsFunc(d.route.Actions, func(a route.Action) bool {
		if a.Name != name && a.Type != name || a.Name == p.Action || a.Trigger != route.TriggerUser {
			return false
		}
		left := from != route.NoState && p.From != d.c.Status && (a.In.Has(from) || a.EnabledIn.Has(from))
		lost := a.Choice != "" && winner != unknown && d.route.Actions[winner].Choice == a.Choice && slices.Contains(d.c.Withdrawn, a.Name)
		return left || lost
	})
}

// acceptedInstead returns who has accepted another action of the same choice, and
// which one, if the action is not enabled for that reason; else "".
func (d refusals) acceptedInstead(action string) (by, instead string) {
	for i := range d.c.Enabled {
		if e := &d.c.Enabled[i]; slices.Contains(e.Withdrew, action) {
			return e.By, e.Action
		}
	}
	return "", ""
}

// Over says in sentences what became of an action that is not enabled: who performed it
// or something instead, and where the case is. It returns "" if the route has no such
// action.
func Over(c *Case, r *route.Route, action string) string {
	if r.Action(action) == unknown {
		return ""
	}
	d := refusals{&caseDecision{c: c, route: r}}
	var text strings.Builder
	own := d.lastOf(action)
	switch p := d.performedInstead(action); {
	case p != nil && p.Action != action:
		fmt.Fprintf(&text, "%q cannot be done now. %s performed %q%s instead at %s. ", action, p.By, p.Action, onBehalf(p), p.At.Format(time.RFC3339))
	case own != nil && own.By != "":
		fmt.Fprintf(&text, "%q is done: %s performed it%s at %s; nothing is left to do for it. ", action, own.By, onBehalf(own), own.At.Format(time.RFC3339))
	case own != nil:
		fmt.Fprintf(&text, "%q is done: it was performed by itself at %s. ", action, own.At.Format(time.RFC3339))
	default:
		fmt.Fprintf(&text, "%q cannot be done now. ", action)
		if why := falseCondition(c, r, action); why != "" {
			text.WriteString(why + " ")
		}
	}
	if by, instead := d.acceptedInstead(action); by != "" {
		fmt.Fprintf(&text, "%s has accepted %q instead. ", by, instead)
	}
	fmt.Fprintf(&text, "The case is %s", c.Shown())
	if c.Status != "" {
		fmt.Fprintf(&text, ", in %q", c.Status)
	}
	return text.String() + "; its log.txt says more."
}
