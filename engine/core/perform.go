package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/route"
)

// performance is one performance of an action.
type performance struct {
	action  int     // index in the route
	row     int64   // its enablement; 0 for the init action, which has none
	trigger Trigger // ByUser, ByInit, ByAuto or ByTime
	actor   string  // the person; "" for the engine and for timers
	behalf  string  // of whom the actor is the deputy in this, "" for nobody
	comment string
}

// performByPerson checks what a person asks for and performs it (design: the
// engine, section 2). The order of the checks is the contract's: 404 for an
// unknown action, 409, 403, 422.
func (d *decision) performByPerson(e Perform) error {
	i := d.route.Action(e.Action)
	if i == unknown {
		return d.noAction(e.Action)
	}
	row, err := d.offered(i)
	if err != nil {
		return err
	}
	a := &d.route.Actions[i]
	behalf, may := mayPerform(d.c, d.status, a, e.Actor)
	if !may {
		return errs.New(errs.NotAllowed, "%q may be performed by %s; you are none of them.", a.Name, performers(a, d.status))
	}
	if len(e.Xattrs) > 0 { // an action without a form takes none, and forms are not built
		return errs.InvalidDocument([]errs.Fault{{
			Pointer: "/xattrDict", Code: errs.CodeUnknownField,
			Detail: fmt.Sprintf("must be absent or empty: the action %q takes no XATTRs", a.Name),
		}})
	}
	err = d.perform(performance{action: i, row: row, trigger: ByUser, actor: e.Actor.Name, behalf: behalf, comment: e.Comment})
	if err != nil {
		return err
	}
	return d.settle()
}

func (d *decision) noAction(name string) error {
	known := make([]string, 0, len(d.route.Actions))
	for i := range d.route.Actions {
		known = append(known, d.route.Actions[i].Name)
	}
	return errs.New(errs.NotFound, "The route %q has no action %q%s", d.route.Name, name, document.Hint(name, known))
}

// offered returns the row of an action that people may perform now.
func (d *decision) offered(action int) (row int64, err error) {
	switch d.c.Life {
	case Active, Completed:
	default:
		return 0, d.notOpen()
	}
	for i := range d.c.Enabled {
		if d.actions[i] == action && d.c.Enabled[i].State == Offered {
			return d.c.Enabled[i].Row, nil
		}
	}
	return 0, d.notEnabled(d.route.Actions[action].Name)
}

// notEnabled says what is enabled instead, and who was faster.
func (d *decision) notEnabled(action string) error {
	enabled := enabledFor(d.c, d.route, people)
	var detail strings.Builder
	fmt.Fprintf(&detail, "%q is not enabled in %q; ", action, d.c.Status)
	if len(enabled) == 0 {
		detail.WriteString("nothing is.")
	} else {
		detail.WriteString("enabled: " + strings.Join(enabled, ", ") + ".")
	}
	e := errs.New(errs.ActionNotEnabled, "")
	e.Extra = map[string]any{"enabled": enabled}
	if p := d.c.performed(action); p != nil && p.By != "" {
		at := p.At.Format(time.RFC3339)
		fmt.Fprintf(&detail, " %s performed it at %s.", p.By, at)
		e.Extra["performedBy"], e.Extra["performedAt"] = p.By, at
	}
	e.Detail = detail.String()
	return e
}

// performed returns how often the action was performed, or nil for never.
func (c *Case) performed(action string) *Performed {
	for i := range c.Performed {
		if c.Performed[i].Action == action {
			return &c.Performed[i]
		}
	}
	return nil
}

// perform performs the action: points 7 to 11 of section 2. What it asks of
// people has been asked. A pass must follow.
func (d *decision) perform(p performance) error {
	if d.performed == MaxPerformances {
		return d.endless()
	}
	d.performed++
	d.last = p
	d.changed = true
	a := &d.route.Actions[p.action]

	entry := LogEntry{Kind: LogAction, Action: new(a.Name), Actor: p.by(), Trigger: new(p.trigger), Comment: comment(p.comment), Text: past(a)}
	if p.behalf != "" {
		entry.OnBehalfOf = new(p.behalf)
	}
	to := d.destination(p.action) // 7
	if to != route.NoState {
		if d.status != route.NoState {
			entry.From = new(d.c.Status)
		}
		entry.To = new(d.route.States[to].Name)
	}
	d.endEnablement(p.row) // 8
	d.count(a.Name, p.actor)
	d.add(entry) // 9
	if to != route.NoState {
		d.enter(to) // 10
	}
	return d.assignRoles() // 11
}

// by returns the actor as the log names it: null for the engine.
func (p performance) by() *string {
	switch p.trigger {
	case ByTime:
		return new(ActorTimer)
	case ByAuto:
		return nil
	default:
		return new(p.actor)
	}
}

// destination returns the state that performing the action leads to, or
// route.NoState where it leads nowhere.
func (d *decision) destination(action int) int {
	to := d.route.Actions[action].To
	if !has(d.route.States, to) {
		to = route.NoState
	}
	if to == route.NoState && action == d.route.Init {
		to = d.route.Start
	}
	return to
}

// endEnablement removes a row: the action was performed. Wanted again, it
// gets a new one.
func (d *decision) endEnablement(row int64) {
	for i := range d.c.Enabled {
		if d.c.Enabled[i].Row == row {
			d.enabled[d.actions[i]] = false
			d.c.Enabled = slices.Delete(d.c.Enabled, i, i+1)
			d.actions = slices.Delete(d.actions, i, i+1)
			return
		}
	}
}

func (d *decision) count(action, by string) {
	p := d.c.performed(action)
	if p == nil {
		d.c.Performed = append(d.c.Performed, Performed{Action: action})
		p = &d.c.Performed[len(d.c.Performed)-1]
	}
	p.Count++
	p.By, p.At = by, d.now
}

// enter begins a visit of the state, also of the one that the case is in.
func (d *decision) enter(state int) {
	d.status = state
	d.c.Status = d.route.States[state].Name
	d.c.Visit++
}

// endless returns the error of an event that sets off too much, naming the
// actions. What came late in the event belongs to the loop; what led into it
// was earlier.
func (d *decision) endless() error {
	late := map[string]bool{}
	for _, entry := range d.log[len(d.log)/2:] {
		if entry.Kind == LogAction && *entry.Trigger != ByUser && *entry.Trigger != ByInit {
			late[*entry.Action] = true
		}
	}
	var names []string
	for i := range d.route.Actions {
		if late[d.route.Actions[i].Name] {
			names = append(names, d.route.Actions[i].Name)
		}
	}
	const most = 10 // what a sentence can hold; the whole list is in Extra
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	e := errs.New(errs.EndlessLoop, "The automatic actions %s set each other off without end: more than %d performances in one event. The route must be mended.", shown, MaxPerformances)
	e.Extra = map[string]any{"actions": names}
	return e
}
