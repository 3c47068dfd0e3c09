package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// performance is one performance of an action.
type performance struct {
	action     int     // index in the route
	enablement int64   // number of its enablement; 0 for the init action, which has none
	trigger    Trigger // ByUser, ByInit, ByAuto, ByTime, ByMessage or ByStep
	actor      string  // the person; "" for the engine and for timers
	behalf     string  // the user on whose behalf the actor performs, "" for none
	comment    string
	resolution string
	xattrs     []Change
	skips      bool   // it counts, but its steps do not run
	output     string // of a skipped action that decides
}

// performByPerson checks what a person asks for and performs it. The checks come in
// the order of docs/contract/engine.md#checks.
func (d personal) performByPerson(e Perform) error {
	place, err := d.taskPlace(e.Action, e.Actor)
	if err != nil {
		return err
	}
	if err := d.checkAvailable(place, e.Actor); err != nil {
		return err
	}
	i := d.actions[place]
	a := &d.route.Actions[i]
	behalf, may := mayPerform(d.c, d.status, a, e.Actor)
	if !may {
		return d.notAssigned(place, e.Actor)
	}
	e.Xattrs, e.Resolution = changedXattrs(d.c, a, d.readTexts(a, e.Xattrs)), resolutionNamed(a, e.Resolution)
	if err := d.checkPerform(a, e); err != nil {
		return err
	}
	if err := d.fourEyes(a, e.Actor.Name, behalf); err != nil {
		return err
	}
	p := performance{
		action: i, enablement: d.c.Enabled[place].Number, trigger: ByUser, actor: e.Actor.Name, behalf: behalf, comment: e.Comment, resolution: e.Resolution, xattrs: e.Xattrs,
	}
	enough := true
	if a.Need != nil {
		enough, err = d.vote(place, p, e)
	}
	if err == nil && enough {
		err = d.performances().perform(p)
	}
	if err != nil {
		return err
	}
	return d.bringToRest()
}

// named returns the action that a person means by its name or type. Of a type it
// is the first enabled action that the person may perform
// (docs/contract/routes.md#submission-by-type).
func (d personal) named(action string, actor Actor) (int, error) {
	if i := d.route.Action(action); i != unknown {
		return i, nil
	}
	if !d.route.Knows(action) {
		return 0, d.refusals().noAction(action)
	}
	if d.c.Life != Active && d.c.Life != Completed {
		return 0, d.refusals().notOpen()
	}
	var others []string
	var taken error
	for i := range d.route.Actions {
		a := &d.route.Actions[i]
		if a.Type != action || a.Trigger != route.TriggerUser {
			continue
		}
		place, err := d.offered(i)
		if len(d.needs) > 0 {
			return 0, err
		}
		if err != nil {
			continue
		}
		if err := d.checkNotOthers(place, actor); err != nil && !actor.RouteAdmin {
			taken = cmp.Or(taken, err)
			continue
		}
		if _, may := mayPerform(d.c, d.status, a, actor); may {
			return i, nil
		}
		others = append(others, a.Name)
	}
	if others == nil {
		return 0, cmp.Or(taken, error(d.refusals().notEnabled(action)))
	}
	return 0, errs.New(errs.NotAllowed, "What can be submitted as %q now is not yours: %s.", action, strings.Join(others, ", "))
}

// resolutionNamed returns the name of the resolution that is given by its name or by its
// text, if no other has that text.
func resolutionNamed(a *route.Action, given string) string {
	name := given
	for _, r := range a.Resolutions {
		switch {
		case r.Name == given:
			return given
		case given != "" && r.Title == given && name != given:
			return given // the text of two
		case given != "" && r.Title == given:
			name = r.Name
		}
	}
	return name
}

// checkPerform checks the form and the resolution that a person sends. The error
// has every fault.
func (d personal) checkPerform(a *route.Action, e Perform) error {
	var faults []errs.Fault
	fault := func(pointer string, code errs.Code, format string, args ...any) {
		faults = append(faults, errs.Fault{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
	}
	known := slices.ContainsFunc(a.Resolutions, func(r route.Resolution) bool { return r.Name == e.Resolution })
	switch {
	case len(a.Resolutions) == 0 && e.Resolution != "":
		fault("/resolution", errs.CodeConflict, "cannot be given: the action %q takes none", a.Name)
	case len(a.Resolutions) > 0 && !known:
		names := make([]string, len(a.Resolutions))
		var words []string // that name one
		for i := range names {
			names[i] = a.Resolutions[i].Name
			words = append(words, names[i])
			if title := a.Resolutions[i].Title; title != "" && title != names[i] {
				names[i] += " (" + title + ")"
				if !strings.EqualFold(title, a.Resolutions[i].Name) {
					words = append(words, title)
				}
			}
		}
		code := errs.CodeRange
		if e.Resolution == "" {
			code = errs.CodeRequired
		}
		fault("/resolution", code, "must be one of %s%s", strings.Join(names, ", "), wrongWord(e.Resolution, words))
	}
	if a.Form == nil {
		if len(e.Xattrs) > 0 {
			fault("/xattrDict", errs.CodeUnknownField, "must be as it was, absent or empty: the action %q changes no XATTRs, and you have changed %s", a.Name, changedKeys(e.Xattrs))
		}
		return errs.InvalidDocument(faults)
	}
	faults = append(faults, formFaults(a.Form, e.Xattrs)...)
	for _, x := range e.Xattrs {
		declared, at := d.route.Xattr(x.Key), document.Pointer("/xattrDict", x.Key)
		if declared == nil || slices.ContainsFunc(faults, func(f errs.Fault) bool { return f.Pointer == at }) {
			continue // the form has reported it
		}
		kept := declared.Required && hasValue(d.c.Xattrs, x.Key)
		if kept && x.Remove {
			fault(at, errs.CodeRequired, "cannot be removed: it is required by the route")
		} else if kept && isEmpty(x.Value) {
			fault(at, errs.CodeRequired, "must not be empty: it is required by the route")
		} else if !x.Remove && !declared.Fits(x.Value) {
			fault(at, errs.CodeType, "%s", wrongType(declared, x.Value))
		} else if outside := declared.Outside(x.Value); !x.Remove && outside != "" {
			fault(at, errs.CodeRange, "%s", outside)
		}
	}
	for i := range faults {
		at := atPointer(e.Xattrs, faults[i].Pointer)
		if f := &faults[i]; at >= 0 && f.Code == errs.CodeType && strings.Contains(f.Detail, "number") && !strings.Contains(f.Detail, "point:") {
			f.Detail += route.NumberHint(e.Xattrs[at].Value)
		}
	}
	return errs.InvalidDocument(faults)
}

// changedKeys lists the XATTRs of a document that are to be changed.
func changedKeys(changes []Change) string {
	keys := make([]string, 0, len(changes))
	for _, x := range changes[:min(len(changes), 3)] {
		keys = append(keys, x.Key)
	}
	if more := len(changes) - len(keys); more > 0 {
		keys = append(keys, fmt.Sprintf("%d more", more))
	}
	return strings.Join(keys, ", ")
}

// fourEyes refuses an actor who has performed an action that must be performed by
// somebody else. On whose behalf each acts counts, too
// (docs/contract/routes.md#distinct-performers). Administrators are not exempt.
func (d personal) fourEyes(a *route.Action, actor, behalf string) error {
	if other, did := doneBefore(d.c, d.route, a, actor); other != nil {
		return errs.New(errs.FourEyes, "%s", youDidBefore(d.c, a, other, did, actor))
	}
	if other, did := doneBefore(d.c, d.route, a, behalf); other != nil {
		return errs.New(errs.FourEyes, "%q must be performed by someone other than %s, who performed %q.", a.Name, did, other.Name)
	}
	return nil
}

// doneBefore returns the action that must be performed by another user than a, and that the
// user has performed, or somebody has on their behalf; nil if there is none. by is the user.
func doneBefore(c *Case, r *route.Route, a *route.Action, user string) (other *route.Action, by string) {
	for _, i := range a.Distinct {
		last := c.performed(r.Actions[i].Name)
		if last == nil || user == "" {
			continue
		}
		for _, did := range []string{last.By, last.For} {
			if did != "" && sameName(did, user) {
				return &r.Actions[i], did
			}
		}
	}
	return nil, ""
}

// youDidBefore says to the user why another one must perform the action.
func youDidBefore(c *Case, a, other *route.Action, did, user string) string {
	what := fmt.Sprintf("you have done %q in it", title(other))
	if last := c.performed(other.Name); other.Trigger == route.TriggerInit {
		what = "you have started it"
	} else if !sameName(last.By, user) {
		what = fmt.Sprintf("%s has done %q in it for you", last.By, title(other))
	}
	return fmt.Sprintf("You may not do %q in this case, because %s: it must be performed by someone other than %s, who performed %q.", title(a), what, did, other.Name)
}

// Barred says why the user may not perform the action although it is a task of theirs: by
// what they have done in the case. It is "" if that is not so.
func Barred(c *Case, r *route.Route, action, user string) string {
	i := r.Action(action)
	if i == unknown {
		return ""
	}
	other, did := doneBefore(c, r, &r.Actions[i], user)
	if other == nil {
		return ""
	}
	return youDidBefore(c, &r.Actions[i], other, did, user)
}

func (d refusals) noAction(name string) error {
	return errs.New(errs.NotFound, "The route %q has no action %q%s", d.route.Name, name, document.Hint(name, d.route.ActionNames()))
}

// offered returns the place of the action's enablement if people may perform it
// now. Somebody may have accepted it.
func (d personal) offered(action int) (place int, err error) {
	switch d.c.Life {
	case Active, Completed:
	default:
		return 0, d.refusals().notOpen()
	}
	at := d.place(action)
	if at < 0 {
		return 0, d.refusals().notEnabled(d.route.Actions[action].Name)
	}
	if err := d.guard(at); err != nil { // the guard may see the time, which has changed
		return 0, err
	}
	if !d.c.Enabled[at].State.forPeople() {
		return 0, d.refusals().notEnabled(d.route.Actions[action].Name)
	}
	return at, nil
}

// performed returns what is known of the performances of the action, nil for none.
func (c *Case) performed(action string) *Performed {
	for i := range c.Performed {
		if c.Performed[i].Action == action {
			return &c.Performed[i]
		}
	}
	return nil
}

// performing performs actions of the case, and does what follows from that.
type performing struct{ *caseDecision }

func (d *caseDecision) performances() performing { return performing{d} }

// perform performs the action in the order of
// docs/contract/engine.md#order-of-a-performance. The caller has checked the
// request of a person, and brings the case to rest afterwards.
func (d performing) perform(p performance) error {
	if d.performed == MaxPerformances {
		return d.endless()
	}
	d.performed++
	if d.performed > MaxPerformances/2 && p.trigger != ByUser && p.trigger != ByInit {
		d.latePerformances = append(d.latePerformances, latePerformance{d.route, p.action})
	}
	d.last = p
	d.changed = true
	a := &d.route.Actions[p.action]
	for _, x := range p.xattrs {
		d.change(x)
	}
	if !p.skips {
		if err := d.runSteps(a.OnFire, a.Name, p.actor); err != nil {
			return err
		}
	}
	o, err := d.destination(p)
	if err != nil {
		return err
	}
	withdrawn := d.withdrawnBy(p.action, o, d.choose(p.action))
	d.endEnablement(p.enablement)
	d.count(a, p, o.output)
	d.add(d.entry(p, o, withdrawn)) // before the log entries of entering the state
	if o.to != route.NoState {
		if err := d.enter(o, p); err != nil {
			return err
		}
	}
	if err := d.assignRoles(); err != nil { // before side effects, which may send mail to the players
		return err
	}
	if p.skips {
		return nil
	}
	if err := d.runSteps(d.route.SideEffects, a.Name, p.actor); err != nil {
		return err
	}
	return d.runSteps(a.SideEffects, a.Name, p.actor)
}

// entry returns the log entry of a performance.
func (d performing) entry(p performance, o outcome, withdrawn []string) LogEntry {
	a := &d.route.Actions[p.action]
	e := LogEntry{Kind: LogAction, Action: new(a.Name), Actor: p.by(), Trigger: new(p.trigger), Comment: comment(p.comment), Text: past(a)}
	if p.skips {
		e.Text = skippedPrefix + title(a)
	}
	if a.Need != nil && p.trigger == ByUser && !p.skips {
		e.Text += fmt.Sprintf(" (%d of %d)", a.Need.Count, a.Need.Count)
	}
	if o.transition != nil {
		e.Text += " (transition " + o.transition.Name + ")"
	}
	if len(withdrawn) > 0 {
		e.Text += ", which withdrew " + strings.Join(withdrawn, ", ")
	}
	if p.behalf != "" {
		e.OnBehalfOf = new(p.behalf)
	}
	if p.resolution != "" {
		e.Resolution = new(p.resolution)
	}
	if o.to != route.NoState {
		if d.status != route.NoState {
			e.From = new(d.c.Status)
		}
		e.To = new(d.route.States[o.to].Name)
	}
	return e
}

// by returns the actor as the log names it, nil for the engine.
func (p performance) by() *string {
	switch {
	case p.trigger == ByTime:
		return new(ActorTimer)
	case p.trigger == ByAuto, p.trigger == ByStep, p.actor == "":
		return nil
	}
	return new(p.actor)
}

// outcome is what a performance leads to.
type outcome struct {
	to         int               // the new state, or route.NoState
	output     string            // of the decision, if there is one
	transition *route.Transition // completed by the performance, nil for none
}

// destination finds what the performance leads to: by the action's decision, else by
// its to, else by the first transition that it completes.
func (d performing) destination(p performance) (outcome, error) {
	a := &d.route.Actions[p.action]
	w := outcome{to: a.To}
	var err error
	switch {
	case a.Decide != nil && p.skips:
		w.output = p.output
		w.to, _ = a.Output(p.output)
	case a.Decide != nil:
		if w.output, w.to, err = d.expressions().decideOutput(a, p.actor, p.enablement); err != nil {
			d.faulted = "decide"
		}
	case len(a.Transitions) > 0:
		w.to, w.transition = d.mark(a)
	}
	if !has(d.route.States, w.to) {
		w.to = route.NoState
	}
	if w.to == route.NoState && p.action == d.route.Init && d.route.Model != route.Dependency {
		w.to = d.route.Start
	}
	return w, err
}

// mark notes that an action of transitions was performed in this visit, and returns
// the first transition out of the status that is complete now.
func (d performing) mark(a *route.Action) (to int, followed *route.Transition) {
	if !slices.Contains(d.c.Done, a.Name) {
		d.c.Done = append(slices.Clip(d.c.Done), a.Name)
	}
	return d.follows(d.c.Done)
}

// follows returns the first transition out of the status that is complete if those
// actions were performed.
func (d *caseDecision) follows(done []string) (to int, followed *route.Transition) {
	if !has(d.route.States, d.status) {
		return route.NoState, nil
	}
	for _, i := range d.route.States[d.status].Out {
		t := &d.route.Transitions[i]
		open := slices.ContainsFunc(t.Requires, func(action int) bool { return !slices.Contains(done, d.route.Actions[action].Name) })
		if !open {
			return t.To, t
		}
	}
	return route.NoState, nil
}

// choose withdraws the other actions of the same choice. It returns the names of
// those that were enabled.
func (d *caseDecision) choose(action int) (withdrawn []string) {
	choice := d.route.Actions[action].Choice
	if choice == "" {
		return nil
	}
	for i := range d.route.Actions {
		a := &d.route.Actions[i]
		if i == action || a.Choice != choice {
			continue
		}
		d.withdraw(a.Name)
		if d.enabled[i] {
			withdrawn = append(withdrawn, a.Name)
		}
	}
	return withdrawn
}

// withdrawnBy returns the names of the enabled actions that the performance withdraws,
// in order of definition: those of its choice and, if it leaves a status that has
// transitions, those that could have been performed there instead.
func (d performing) withdrawnBy(action int, o outcome, chosen []string) (withdrawn []string) {
	if o.to == route.NoState || !has(d.route.States, d.status) || len(d.route.States[d.status].Out) == 0 {
		return chosen
	}
	for i := range d.route.Actions {
		a := &d.route.Actions[i]
		lost := d.enabled[i] && !a.Always && enabledIn(a, d.status) && (len(a.Transitions) > 0 || !enabledIn(a, o.to))
		if i != action && (lost || slices.Contains(chosen, a.Name)) {
			withdrawn = append(withdrawn, a.Name)
		}
	}
	return withdrawn
}

// endEnablement removes an enablement, with its warnings and children.
func (d *caseDecision) endEnablement(number int64) {
	for i := range d.c.Enabled {
		if d.c.Enabled[i].Number == number {
			d.enabled[d.actions[i]] = false
			d.unwarnEnablement(number)
			d.relations().endChildrenOf(&d.c.Enabled[i])
			d.c.Enabled = slices.Delete(d.c.Enabled, i, i+1)
			d.actions = slices.Delete(d.actions, i, i+1)
			return
		}
	}
}

// count notes a performance in the case.
func (d performing) count(a *route.Action, by performance, output string) {
	p := d.c.performed(a.Name)
	if p == nil {
		d.c.Performed = append(d.c.Performed, Performed{Action: a.Name})
		p = &d.c.Performed[len(d.c.Performed)-1]
	}
	p.Count++
	p.By, p.For, p.At, p.From, p.Seq = by.actor, by.behalf, d.now, d.c.Status, d.c.LogSeq+1
	p.Resolution, p.Output = by.resolution, output
	if by.resolution != "" {
		d.c.Resolution = by.resolution
	}
	if w := d.c.written(a.Message); w != nil && a.Trigger == route.TriggerMessage {
		p.Used = w.Number
	}
}

// count returns how often the action was performed.
func (c *Case) count(action string) int64 {
	if p := c.performed(action); p != nil {
		return p.Count
	}
	return 0
}

// enter begins a visit of a state, also of the one that the case is in, and runs the
// steps for that.
func (d performing) enter(w outcome, p performance) error {
	d.dropResolution(w.to, p.resolution != "")
	d.visit(w.to)
	source := d.route.Actions[p.action].Name
	if w.transition != nil {
		if err := d.runSteps(w.transition.OnFollow, source, p.actor); err != nil {
			return err
		}
	}
	return d.runSteps(d.route.States[w.to].OnEnter, source, p.actor)
}

// visit begins a visit of a state. The actions of its transitions are enabled
// again.
func (d *caseDecision) visit(state int) {
	d.leaveFailed()
	d.c.Moved = nil
	d.status = state
	d.c.Status = d.route.States[state].Name
	d.c.Visit++
	d.c.Done, d.c.Withdrawn, d.c.Interrupted = nil, nil, nil
	d.renew = d.c.LastNumber
}

// endless returns the error of an event that sets off too much. It names the
// actions that were performed late in the event: those are of the loop, while the
// earlier ones led into it.
func (d *caseDecision) endless() error {
	if d.steps == MaxSteps {
		return errs.New(errs.EndlessLoop, "The steps of this route set each other off without end: more than %d in one event. The route must be corrected.", MaxSteps)
	}
	names := d.looping()
	const most = 10 // names in the sentence; Extra has all
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	e := errs.New(errs.EndlessLoop, "The automatic actions %s set each other off without end: more than %d performances in one event. The route must be corrected.", shown, MaxPerformances)
	e.Extra = map[string]any{"actions": names}
	return e
}

// latePerformance is a performance by the engine, late in an event.
type latePerformance struct {
	route  *route.Route
	action int
}

// looping names the actions that were performed late in the event, in order of
// definition. Those of other routes come last, with the name of the route.
func (t *tree) looping() (names []string) {
	own := t.cases[t.eventCase].route
	late := slices.Clone(t.latePerformances)
	slices.SortStableFunc(late, func(a, b latePerformance) int {
		if a.route != b.route && (a.route == own || b.route == own) {
			if a.route == own {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.route.Name, b.route.Name), cmp.Compare(a.action, b.action))
	})
	for _, did := range slices.Compact(late) {
		name := did.route.Actions[did.action].Name
		if did.route != own {
			name = did.route.Name + "/" + name
		}
		names = append(names, name)
	}
	return names
}
