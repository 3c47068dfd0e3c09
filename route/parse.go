package route

import (
	"cmp"
	"slices"
	"strings"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// mostFaults bounds an answer; a document with more has one mistake made over
// and over. mostParts bounds the actions, states and so on of a route, since
// judging and running it takes time that grows with their product.
const (
	mostFaults = 1000
	mostParts  = 1000
)

// Parse compiles the route of that name, the stem of its file, from its
// document; without a name the document must have one. Its errors are of kind
// Invalid, with every fault of the document at once. The warnings are what is
// legal and probably not meant.
func Parse(name string, node *document.Node) (*Route, []errs.Fault, error) {
	return ParseAmong(name, node, Others{})
}

// ParseAmong is Parse for a route that is stored among others.
func ParseAmong(name string, node *document.Node, others Others) (*Route, []errs.Fault, error) {
	return ParseNamed(name, node, Meant{}, others)
}

// ParseNamed is ParseAmong for another version of a stored route, whose names mean
// what meant says.
func ParseNamed(name string, node *document.Node, meant Meant, others Others) (*Route, []errs.Fault, error) {
	if err := errs.InvalidDocument(tooMany(node)); err != nil {
		return nil, nil, err
	}
	return parse(&compiler{route: &Route{Name: name}, node: node, meant: meant, others: others})
}

// ParseStored is ParseNamed for a version that is stored. The JSON Schema has judged it when
// it was stored, and does not judge it again: it may have become stricter since. A form
// beyond the bounds that Parse has now is not an error: its action cannot be performed, and
// says why.
func ParseStored(name string, node *document.Node, meant Meant) (*Route, error) {
	r, _, err := parse(&compiler{route: &Route{Name: name}, node: node, stored: true, meant: meant})
	return r, err
}

func parse(c *compiler) (*Route, []errs.Fault, error) {
	node := c.node
	c.read()
	faults := c.faults.List()
	if !c.stored {
		faults = merge(structureFaults(node), faults)
	}
	if err := errs.InvalidDocument(faults[:min(len(faults), mostFaults)]); err != nil {
		return nil, nil, err
	}
	if c.stored {
		return c.route, nil, nil
	}
	return c.route, warnings(c), nil
}

// merge puts the faults of structure and meaning into the order of the
// document. What both have something to say of is said by meaning.
func merge(structure, meaning []errs.Fault) []errs.Fault {
	said := make(map[string]bool, len(meaning))
	for i := range meaning {
		said[meaning[i].Pointer] = true
	}
	all := slices.DeleteFunc(structure, func(f errs.Fault) bool { return said[f.Pointer] })
	all = append(all, meaning...)
	slices.SortStableFunc(all, byPlace)
	return slices.Compact(all)
}

func byPlace(a, b errs.Fault) int {
	return cmp.Or(
		cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Pointer, b.Pointer),
		strings.Compare(string(a.Code), string(b.Code)), strings.Compare(a.Detail, b.Detail),
	)
}

// tooMany judges the size of a route before anything else.
func tooMany(node *document.Node) []errs.Fault {
	var faults document.Faults
	root := document.Root(node, &faults)
	if hasWide(node) {
		failWide(root)
	}
	for _, key := range []string{"roles", "states", "actions", "transitions", "timers", "xattrs"} {
		v := root.Get(key)
		if v.Node != nil && len(v.Node.Members)+len(v.Node.Items) > mostParts {
			v.Fail(errs.CodeRange, "must not have more than %d entries", mostParts)
		}
	}
	return faults.List()
}

// compiler makes a route of a document. It judges what the document means and
// takes what has the wrong type for absent: the schema has seen it.
type compiler struct {
	route  *Route
	node   *document.Node
	root   document.Value
	faults document.Faults
	stored bool // see ParseStored
	meant  Meant
	forms  formBudget

	roles        map[string]bool // names; nil if the document's roles cannot be read
	states       map[string]int  // indices by name; nil if there are none to refer to
	actions      map[string]int  // indices by name
	inTransition map[string]bool // actions that a transition names
	timers       []string        // user-defined ones
	timersOfExpr []string        // that expressions may name; see timerNames
	programs     map[program]compiled
	source       int   // bytes of them
	uses         []use // what warnings look at
	starts       []newCase
	outsides     []outsideStep
	others       Others
}

func (c *compiler) read() {
	c.root = document.Root(c.node, &c.faults)
	if !isKind(c.root, document.Object) {
		return
	}
	c.index()
	c.readHead()
	c.readRoles()
	c.readXattrs()
	declared{c}.messages()
	c.readTimers()
	c.readStates()
	c.readActions()
	c.readTransitions()
	c.route.SideEffects = c.steps(c.root.Get("sideEffects"))
	c.route.OnError = c.onError(c.root.Get("onError"))
	c.checkCycles()
	c.route.findActions()
	c.route.mentioned = mentionedXattrs(c.node)
}

// index notes the names that other parts of the document refer to before
// they are read.
func (c *compiler) index() {
	c.actions = map[string]int{}
	for i, name := range keys(c.root.Get("actions").Node) {
		c.actions[name] = i
	}
	c.timers = keys(c.root.Get("timers").Node)
	c.inTransition = map[string]bool{}
	for _, t := range oneOrMore(c.root.Get("transitions")) {
		for _, required := range oneOrMore(t.Get("requires")) {
			if name, ok := str(required); ok {
				c.inTransition[name] = true
			}
		}
	}
	if model, _ := str(c.root.Get("model")); Model(model) != Dependency {
		c.states = map[string]int{}
		for i, name := range keys(c.root.Get("states").Node) {
			c.states[name] = i
		}
		if len(c.states) == 0 {
			c.states = nil
		}
	}
}

func (c *compiler) readHead() {
	r := c.route
	if name, ok := str(c.root.Get("name")); ok && r.Name == "" {
		r.Name = name
	} else if ok && name != r.Name {
		c.root.Get("name").Fail(errs.CodeConflict, "must be equal to the file's name, %q", clip(r.Name))
	} else if r.Name == "" {
		c.faults.Add(c.node, "/name", errs.CodeRequired, "is required, since the document has no file's name")
	}
	r.Title, _ = str(c.root.Get("title"))
	if r.Title == "" {
		r.Title = r.Name
	}
	r.Description, _ = str(c.root.Get("description"))
	r.Model = FSM
	if model, ok := str(c.root.Get("model")); ok {
		r.Model = Model(model)
	}
	r.Output, _ = str(c.root.Get("output"))
	r.Group, _ = str(c.root.Get("group"))
	r.Priority = DefaultPriority
	if v := c.root.Get("priority"); isKind(v, document.Number) {
		quiet := document.Value{Node: v.Node, Faults: &document.Faults{}}
		if p, ok := quiet.Int(0, 65535); ok {
			r.Priority = int(p)
		}
	}
	if v := c.root.Get("context"); isKind(v, document.String) {
		if r.Context = v.Node.Text; r.Context != everyone {
			r.Context = c.party(v, r.Context)
		}
	}
	access := c.root.Get("access")
	r.Access = Access{Start: c.contexts(access.Get("start")), Read: c.contexts(access.Get("read")), Admin: c.contexts(access.Get("admin"))}
	c.readRetention()
	c.readRemind(c.root.Get("notify").Get("remind"))
	outcome, _ := str(c.root.Get("notify").Get("outcome"))
	c.route.OnlyFailed = outcome == "failed"
	c.checkNames(c.root.Get("timers"), "timer")
}

// contexts reads the names of a list of access; absent is nil.
func (c *compiler) contexts(v document.Value) []string {
	if !isKind(v, document.List) {
		return nil
	}
	out := []string{}
	for i := range v.Node.Items {
		if name, ok := str(v.Item(i)); ok {
			if name != everyone {
				instead := ""
				if everyoneSlips.Hint(name, nil) != "" {
					instead = everyone
				}
				name = c.partyOr(v.Item(i), name, instead)
			}
			out = append(out, name)
		}
	}
	return out
}

const everyone = "everyone"

func (c *compiler) readRoles() {
	v := c.root.Get("roles")
	c.roles = map[string]bool{}
	if !isKind(v, document.Object) {
		if v.Given() {
			c.roles = nil
		}
		return
	}
	c.checkNames(v, "role")
	for i := range v.Node.Members {
		name, member := v.Member(i)
		c.roles[name] = true
		if name == string(AllowedEveryone) || name == string(AllowedReaders) {
			member.Fail(errs.CodeConflict, "a role cannot be called %s, which has another meaning in the lists of who is allowed", name)
		}
	}
	for i := range v.Node.Members {
		name, member := v.Member(i)
		role := Role{Name: name, Assign: c.rules(member.Get("assign")), Pick: c.rules(member.Get("pick"))}
		for _, pick := range oneOrMore(member.Get("pick")) {
			if text, _ := str(pick); strings.HasPrefix(text, string(RuleCall)+":") {
				pick.Fail(errs.CodeConflict, "cannot be used in pick: a callback needs a case, and its starter chooses before there is one")
			}
		}
		role.Title, _ = str(member.Get("title"))
		if role.Title == "" {
			role.Title = name
		}
		c.route.Roles = append(c.route.Roles, role)
	}
}

func (c *compiler) readStates() {
	v := c.root.Get("states")
	if c.route.Model == Dependency {
		c.route.Start = NoState
		for _, key := range []string{"states", "transitions"} {
			if w := c.root.Get(key); w.Given() && len(w.Node.Members)+len(w.Node.Items) > 0 {
				w.Fail(errs.CodeConflict, "does not go with the dependency model, in which a case has no states, only performed actions")
			}
		}
		return
	}
	if !v.Given() {
		c.faults.Add(c.node, "/states", errs.CodeRequired, "is required: the states of a case, exactly one of them of type start")
		return
	}
	if !isKind(v, document.Object) {
		return
	}
	c.checkNames(v, "state")
	starts := 0
	for i := range v.Node.Members {
		name, member := v.Member(i)
		s := c.state(name, member)
		c.route.States = append(c.route.States, s)
		if s.Type != StateStart {
			continue
		}
		if starts++; starts == 1 {
			c.route.Start = i
			continue
		}
		member.Get("type").Fail(errs.CodeConflict, "must not be start, which %q is already", c.route.States[c.route.Start].Name)
	}
	if starts == 0 {
		v.Fail(errs.CodeRequired, "must have exactly one state of type start")
	}
}

func (c *compiler) state(name string, v document.Value) State {
	s := State{Name: name, Title: name, Type: StateNormal}
	if title, ok := str(v.Get("title")); ok && title != "" {
		s.Title = title
	}
	typ, typed := str(v.Get("type"))
	if typed {
		s.Type = StateType(typ)
	}
	s.Complete = s.Type == StateComplete || s.Type == StateDenied || s.Type == StateCancelled || s.Type == StateFailed
	if complete := v.Get("complete"); isKind(complete, document.Bool) {
		if s.Complete && !complete.Node.Bool {
			complete.Fail(errs.CodeConflict, "must not be false: a state of type %s is complete", s.Type)
		}
		if s.Complete = s.Complete || complete.Node.Bool; s.Complete && !typed {
			s.Type = StateComplete
		}
	}
	s.Timeout, s.OnTimeout = c.duration(v.Get("timeout")), c.steps(v.Get("onTimeout"))
	s.OnEnter = c.steps(v.Get("onEnter"))
	return s
}

// isState returns the index of the state that a value names.
func (c *compiler) isState(v document.Value) (int, bool) {
	name, ok := str(v)
	if !ok || c.states == nil {
		return NoState, false
	}
	i, known := c.states[name]
	if !known {
		c.unknown(v, "%q is not a state of this route", name, sortedKeys(c.states))
	}
	return i, known
}

// unknown notes a name that stands for nothing, with the nearest that does.
// Guessing takes its time, so beyond what is told anyway it is left.
func (c *compiler) unknown(v document.Value, format, name string, known []string) {
	if len(c.faults.List()) < mostFaults {
		hint := document.Hint(name, known)
		if first, _, several := strings.Cut(name, ","); hint == "" && several && slices.Contains(known, strings.TrimSpace(first)) {
			hint = "; several are a list: [" + clip(name) + "]"
		}
		v.Fail(errs.CodeNotFound, format+"%s", clip(name), hint)
	}
}

// duration reads a limit: relative, without years and months
// (docs/contract/timers.md#limits).
func (c *compiler) duration(v document.Value) *clock.Duration {
	d := c.length(v, durationForm)
	if d != nil && d.Months != 0 {
		v.Fail(errs.CodeRange, "must be %s: years and months have no fixed length", durationForm)
		return nil
	}
	return d
}

// checkNames judges the keys of an object that are names: their form, and
// that no two differ in case alone, since they become names of files.
func (c *compiler) checkNames(v document.Value, what string) {
	if !isKind(v, document.Object) {
		return
	}
	folded := make(map[string]string, len(v.Node.Members))
	for i := range v.Node.Members {
		m := &v.Node.Members[i]
		pointer := document.Pointer(v.Pointer, m.Key)
		if !isName(m.Key) {
			c.faults.AddKey(m, pointer, errs.CodeFormat, "the name of a %s must be %s", what, nameForm)
			continue
		}
		if other, twice := folded[strings.ToLower(m.Key)]; twice {
			c.faults.AddKey(m, pointer, errs.CodeConflict, "differs from the %s %q only in capitals", what, other)
		}
		folded[strings.ToLower(m.Key)] = m.Key
	}
}

// isKind reports whether the value stands there and is of the kind.
func isKind(v document.Value, kind document.Kind) bool { return v.Node != nil && v.Node.Kind == kind }

// str returns the value's text; ok is false if it is not a text.
func str(v document.Value) (string, bool) {
	if !isKind(v, document.String) {
		return "", false
	}
	return v.Node.Text, true
}

// oneOrMore returns the items of a list, or the value itself.
func oneOrMore(v document.Value) []document.Value {
	if !v.Given() {
		return nil
	}
	if v.Node.Kind != document.List {
		return []document.Value{v}
	}
	out := make([]document.Value, len(v.Node.Items))
	for i := range out {
		out[i] = v.Item(i)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
