package route

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route/expr"
	"flowdrive/route/jq"
)

// use is a part of a document that names XATTRs, labels or messages.
type use struct {
	kind useKind
	at   document.Value
	want expr.Want // of an expression
	name string    // of an XATTR or message
}

type useKind int

const (
	useExpression useKind = iota
	useSetting            // the expression that an XATTR is set by
	useText               // with labels
	useFilter
	useKey     // xattr:<key>
	useMeant   // a text that is an expression; name has the advice
	useMessage // as the input of a step
)

// use notes what the warnings look at.
func (c *compiler) use(u use) {
	if !c.stored {
		c.uses = append(c.uses, u)
	}
}

// useText notes a text in which labels are replaced.
func (c *compiler) useText(v document.Value) {
	if text, ok := str(v); ok && strings.Contains(text, "$") {
		c.use(use{kind: useText, at: v})
	}
}

// from reads the label of a message that a step takes.
func (c *compiler) from(v document.Value) string {
	name, ok := str(v)
	if ok {
		c.use(use{kind: useMessage, at: v, name: name})
	}
	return name
}

// useWarner warns of names that stand for nothing in a route.
type useWarner struct {
	*warner
	inspector *expr.Inspector
	inspected map[program]expr.Uses
	keys      []string        // of XATTRs that the route declares or sets
	set       map[string]bool // keys that a step sets
	optional  map[string]bool // keys that an expression asks for before it uses them
	messages  []string        // labels of messages that the route writes or waits for
	hints     map[string]string
	guesses   int // names that may still be compared
}

// mostGuesses bounds the comparisons of names, each of which takes some microseconds.
const mostGuesses = 50_000

// hint returns the known name that is nearest to the other one, as document.Hint
// does. The label of a message has a $ in front. It returns "" when enough was
// guessed.
func (u *useWarner) hint(name string, known []string) string {
	hint, told := u.hints[name]
	if !told && u.guesses >= len(known) {
		u.guesses -= len(known)
		hint = document.Hint(strings.TrimPrefix(name, "$"), known)
		u.hints[name] = hint
	}
	return hint
}

// uses warns of XATTRs that the route neither declares nor sets, of XATTRs that
// their declared types are not fit for, of labels that stand for nothing, and of
// messages that nothing writes.
func (w *warner) uses(all []use) {
	if len(all) == 0 {
		return
	}
	u := useWarner{warner: w, inspected: map[program]expr.Uses{}, keys: w.knownXattrs(), optional: map[string]bool{}, messages: w.knownMessages(), hints: map[string]string{}, guesses: mostGuesses}
	var declared []expr.Declared
	for i := range w.route.Xattrs {
		if x := &w.route.Xattrs[i]; x.Type != document.Null {
			declared = append(declared, expr.Declared{Key: x.Key, Kind: x.Type})
		}
	}
	u.set = w.setXattrs()
	u.inspector = expr.NewInspector(declared)
	for _, one := range all {
		if one.kind == useExpression {
			for _, x := range u.inspect(one.at, one.want).Xattrs {
				u.optional[x.Name] = u.optional[x.Name] || x.Tested
			}
		}
	}
	for _, one := range all {
		if len(w.root.Faults.List()) >= mostFaults {
			return // more are not told
		}
		one.at.Faults = w.root.Faults
		u.judge(one)
	}
	u.actors()
}

// actors warns of conditions that look at who acts: the engine asks them of all users at
// once, before any of them does.
func (u *useWarner) actors() {
	for i := range u.route.Actions {
		action := u.action(i)
		for _, at := range []document.Value{action.Get("enableIf"), action.Get("guard"), action.Get("child").Get("complete")} {
			if source, ok := str(at); !ok || !strings.Contains(source, "actor") {
				continue
			}
			for _, use := range u.inspect(at, expr.Truth).Actors {
				u.warn(at, "%sactor is always empty here: the engine asks this before anybody acts. Who may perform an action is said by its role and by allowed; that it is another user than before, by distinct", place(use))
			}
		}
	}
}

func (u *useWarner) inspect(at document.Value, want expr.Want) expr.Uses {
	source, _ := str(at)
	key := program{source: source, want: want}
	got, known := u.inspected[key]
	if !known {
		got = u.inspector.Inspect(source, want)
		u.inspected[key] = got
	}
	return got
}

func (u *useWarner) judge(one use) {
	switch one.kind {
	case useExpression:
		uses := u.inspect(one.at, one.want)
		u.constant(one.at, one.want, uses)
		u.expression(one.at, uses)
	case useSetting:
		u.setting(one.at, one.name, u.inspect(one.at, expr.Scalar).Yields)
	case useText:
		u.text(one.at)
	case useFilter:
		keys, plain := jq.Xattrs(one.at.Node.Text)
		for _, key := range keys {
			if plain || u.misspelt(key) {
				u.key(one.at, "", key, fmt.Sprintf("declare it in xattrs if a case comes with it; if one does not, $xattr.%s is null", key))
			}
		}
	case useKey:
		if u.misspelt(one.name) {
			u.key(one.at, "", one.name, "")
		}
	case useMeant:
		u.warn(one.at, "is taken as a text%s", one.name)
	case useMessage:
		u.message(one.at, "", one.name)
	}
}

func (u *useWarner) expression(at document.Value, uses expr.Uses) {
	for _, misfit := range uses.Misfits {
		u.warn(at, "%s", misfit)
	}
	for _, x := range uses.Xattrs {
		if u.misspelt(x.Name) || !u.optional[x.Name] {
			u.key(at, place(x), x.Name, "declare it in xattrs if a case comes with it; if one may come without it, ask has(xattr."+x.Name+") first")
		}
	}
	for _, m := range uses.Messages {
		u.message(at, place(m), m.Name)
	}
}

// constant warns of conditions that are no conditions, and of expressions that always fail.
func (u *useWarner) constant(at document.Value, want expr.Want, uses expr.Uses) {
	for _, unread := range uses.Unread {
		u.warn(at, "%s", unread)
	}
	for _, r := range uses.Readings {
		u.reading(at, r)
	}
	switch {
	case uses.Constant == expr.AlwaysFails && len(uses.Unread) == 0:
		u.warn(at, "always fails: %s", uses.Why)
	case want == expr.Truth && uses.Constant == expr.AlwaysTrue:
		u.warn(at, "is true whatever the case has: leave it out")
	case want == expr.Truth && uses.Constant == expr.AlwaysFalse:
		u.warn(at, "is false whatever the case has: what it is the condition of is never done")
	}
}

// reading warns of a declared XATTR that is read as an instant or a length of time, which
// the texts are not that it may have.
func (u *useWarner) reading(at document.Value, r expr.Reading) {
	x := u.route.Xattr(r.Name)
	if x == nil || u.set[x.Key] {
		return
	}
	switch {
	case x.Date && r.Function == "timestamp":
		u.warn(at, "%sxattr.%s is declared with format: date, and a date is not an instant: write timestamp(xattr.%s + \"T00:00:00Z\")", place(r.Use), x.Key, x.Key)
	case x.Date:
		u.warn(at, "%sxattr.%s is declared with format: date, and a date is not a length of time", place(r.Use), x.Key)
	case x.Default != nil && x.Default.Kind == document.String && x.Default.Text != "" && r.Fails(x.Default.Text):
		u.warn(at, "%s%s cannot read the default of xattr.%s, %q%s", place(r.Use), r.Function, x.Key, clip(x.Default.Text), r.Hint(x.Default.Text))
	}
}

// setXattrs returns the keys that some step sets.
func (w *warner) setXattrs() map[string]bool {
	keys := map[string]bool{}
	w.route.hasStep(func(s *Step) bool {
		for _, setting := range s.Set {
			keys[setting.Key] = true
		}
		return false // look at all of them
	})
	return keys
}

func place(of expr.Use) string { return fmt.Sprintf("%d:%d: ", of.Line, of.Column) }

// setting warns of an XATTR that is set to what its declared type does not allow.
func (u *useWarner) setting(at document.Value, key string, kind document.Kind) {
	x := u.route.Xattr(key)
	if x != nil && kind != document.Null && !x.Fits(label.Value{Kind: kind}) {
		u.warn(at, "the XATTR %q is declared as %s, and this yields %s: the step fails", key, x.Wants(), kind)
	}
}

// key warns of an XATTR that the route neither declares nor sets.
func (u *useWarner) key(at document.Value, where, key, otherwise string) {
	if slices.Contains(u.keys, key) {
		return
	}
	known := "none"
	if len(u.keys) > 0 {
		known = clipList(u.keys)
	}
	hint := u.hint(key, u.keys)
	if hint == "" {
		hint = "; " + otherwise
	}
	u.warn(at, "%sno XATTR %q is declared in xattrs or set by a step or form (known: %s)%s", where, clip(key), known, hint)
}

// misspelt reports whether a key that is not known resembles one that is.
func (u *useWarner) misspelt(key string) bool {
	return !slices.Contains(u.keys, key) && u.hint(key, u.keys) != ""
}

// text warns of labels that stand for nothing.
func (u *useWarner) text(at document.Value) {
	text := at.Node.Text
	for _, ref := range label.References(text) {
		switch {
		case ref.Known && ref.Key == "":
		case !ref.Known:
			u.warn(at, "%s", label.Mistake(ref.Written))
		case u.misspelt(ref.Key) || !u.optional[ref.Key]:
			u.key(at, ref.Written+": ", ref.Key, "declare it in xattrs if a case comes with it; if one does not, the label is not replaced")
		}
	}
	for text != "" {
		start, end := label.ScanMessage(text)
		if name := strings.Trim(text[start:end], "$;"); strings.Trim(name, "0123456789") != "" { // $5; is an amount
			u.label(at, name)
		}
		text = text[end:]
	}
}

// label warns of a label in a text for a message that the route never has.
func (u *useWarner) label(at document.Value, name string) {
	if EngineWrites(name) || slices.Contains(u.messages, name) {
		return
	}
	hint := u.hint("$"+name, u.messages)
	if hint == "" {
		hint = "; unless somebody saves Labels/" + name + ", the label is not replaced"
	}
	u.warn(at, "$%s;: no step writes a message %q%s", name, name, hint)
}

// message warns of a message that seems to be meant otherwise. Any message may come
// from outside.
func (u *useWarner) message(at document.Value, where, name string) {
	if EngineWrites(name) || slices.Contains(u.messages, name) {
		return
	}
	if hint := u.hint("$"+name, u.messages); hint != "" {
		u.warn(at, "%sno step writes a message %q%s", where, clip(name), hint)
	}
}

// knownXattrs returns the keys that the route declares, or that its steps, forms and
// hooks set, in order.
func (w *warner) knownXattrs() (keys []string) {
	for _, name := range w.others.Xattrs {
		if key, err := label.NormalizeKey(name); err == nil {
			keys = append(keys, key)
		}
	}
	for i := range w.route.Actions {
		keys = appendAsked(keys, w.action(i).Get("form").Node)
	}
	keys = w.route.appendSet(keys)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// appendAsked appends the keys that a part of a form names anywhere.
func appendAsked(keys []string, schema *document.Node) []string {
	if schema == nil {
		return keys
	}
	for i := range schema.Members {
		m := &schema.Members[i]
		if m.Key == "properties" {
			for j := range m.Value.Members {
				if key, err := label.NormalizeKey(m.Value.Members[j].Key); err == nil {
					keys = append(keys, key)
				}
			}
		}
		keys = appendAsked(keys, m.Value)
	}
	for _, item := range schema.Items {
		keys = appendAsked(keys, item)
	}
	return keys
}

// knownMessages returns the labels of messages that the route declares, that its
// steps and hooks write or its actions wait for, and that of the input, in order.
func (w *warner) knownMessages() []string {
	names := slices.Concat([]string{labelInput}, w.others.Messages, w.route.MessageLabels())
	slices.Sort(names)
	return slices.Compact(names)
}

// MessageLabels returns the labels of messages that the route declares, that its steps
// write and that its actions wait for. One may be there twice.
func (r *Route) MessageLabels() []string {
	var names []string
	for i := range r.Messages {
		names = append(names, r.Messages[i].Label)
	}
	for i := range r.Actions {
		names = append(names, r.Actions[i].Message)
	}
	r.hasStep(func(s *Step) bool {
		to, _ := s.writesTo()
		names = append(names, to)
		return false // look at all of them
	})
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
