package route

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/route/expr"
	"flowdrive/route/jq"
)

// Verb is what a step does.
type Verb string

// The verbs of steps that are built.
const (
	StepSet                Verb = "set"
	StepMessage            Verb = "message"
	StepFilter             Verb = "jq"
	StepTable              Verb = "csv"
	StepText               Verb = "text"
	StepLog                Verb = "log"
	StepWarn               Verb = "warn"
	StepUnwarn             Verb = "unwarn"
	StepTitle              Verb = "title"
	StepAssign             Verb = "assign"
	StepUnassign           Verb = "unassign"
	StepAddStakeholders    Verb = "addStakeholders"
	StepRemoveStakeholders Verb = "removeStakeholders"
	StepPerform            Verb = "perform"
	StepSkip               Verb = "skip"
	StepAbort              Verb = "abort"
	StepRetry              Verb = "retry"
	StepSuspend            Verb = "suspend"
	StepStart              Verb = "start"
	StepCancel             Verb = "cancel"
	StepEnableTimer        Verb = "enableTimer"
	StepDisableTimer       Verb = "disableTimer"
	StepSetTimer           Verb = "setTimer"
)

// Step is one thing that a handler does (docs/contract/routes.md#steps). Which
// fields it has depends on its verb.
type Step struct {
	If      *expr.Program // nil: always
	Verb    Verb
	Set     []Setting   // set
	Message *NewMessage // message
	Filter  *Filter     // jq
	Table   *Table      // csv
	Search  *TextSearch // text
	Text    Value       // log, warn, title; setTimer: if Limit is not given
	Role    string      // assign, unassign
	Parties []Recipient // assign, unassign, addStakeholders, removeStakeholders
	Add     bool        // assign: in addition to those that the role has
	Action  int         // perform, skip, abort, retry
	Start   *NewCase    // start
	Until   Value       // suspend: null for no date
	Timer   string      // enableTimer, disableTimer, setTimer
	Limit   Limit       // setTimer
	Outside *Outside    // mail, http, exec, call
}

// Value is a value that a step uses: an expression, or a literal, which may
// be a text with labels; neither of both is null.
type Value struct {
	Expr    *expr.Program
	Literal *label.Value
}

// Setting sets an XATTR; null removes it.
type Setting struct {
	Key   string
	Value Value
}

// NewMessage is a message that a step writes: JSON if that is given, else a
// text.
type NewMessage struct {
	Label string
	Type  string // media type
	Text  Value
	JSON  Payload
}

// Filter is a jq filter that makes the message To of the message From.
type Filter struct{ From, Filter, To string }

// RecipientKind is the kind of those whom a step names.
type RecipientKind string

// Whom a step can name.
const (
	RecipientParty        RecipientKind = "party" // Name is a user's or team's, or everyone
	RecipientRole         RecipientKind = "role"  // everyone who plays it
	RecipientXattr        RecipientKind = "xattr" // whom the XATTR of that key names
	RecipientStarter      RecipientKind = "starter"
	RecipientStakeholders RecipientKind = "stakeholders"
)

// Recipient is a user, team or role that a step names.
type Recipient struct {
	Kind RecipientKind
	Name string
}

// steps reads a handler.
func (c *compiler) steps(v document.Value) []Step {
	if !isKind(v, document.List) {
		return nil
	}
	var out []Step
	for i := range v.Node.Items {
		item := v.Item(i)
		for j := range len(keys(item.Node)) {
			verb, member := item.Member(j)
			if verb == "if" {
				continue
			}
			s := Step{Verb: Verb(verb), If: c.expression(item.Get("if"), expr.Truth), Action: NoAction}
			c.step(&s, member)
			out = append(out, s)
		}
	}
	return out
}

// step reads what the verb is about.
func (c *compiler) step(s *Step, v document.Value) {
	switch s.Verb {
	case StepSet:
		s.Set = c.settings(v)
	case StepMessage:
		s.Message = c.message(v)
	case StepFilter:
		s.Filter = c.filter(v)
	case StepTable:
		s.Table = c.table(v)
	case StepText:
		s.Search = c.textSearch(v)
	case StepLog, StepWarn, StepTitle:
		s.Text = c.value(v)
	case StepAssign, StepUnassign:
		role := v.Get("role")
		if name, ok := str(role); ok && c.isRole(role, name) {
			s.Role = name
		}
		s.Parties = c.recipients(v.Get("to"))
		mode, _ := str(v.Get("mode"))
		s.Add = mode == "add"
	case StepAddStakeholders, StepRemoveStakeholders:
		s.Parties = c.recipients(v)
	case StepPerform, StepSkip, StepAbort, StepRetry:
		s.Action, _ = c.isAction(v)
		name, _ := str(v)
		if s.Verb == StepSkip && c.root.Get("actions").Get(name).Get("decide").Given() {
			v.Fail(errs.CodeConflict, "cannot skip %q, which decides: only a person can name the output", name)
		}
	case StepSuspend:
		c.suspend(s, v)
	case StepStart:
		s.Start = c.start(v)
	case StepEnableTimer, StepDisableTimer, StepSetTimer:
		c.timerStep(s, v)
	case StepMail, StepHTTP, StepExec, StepCall:
		s.Outside = c.outside(s.Verb, v)
	case StepUnwarn, StepCancel:
	}
}

// suspend reads for how long: true, or until an instant.
func (c *compiler) suspend(s *Step, v document.Value) {
	if isKind(v, document.Bool) && !v.Node.Bool {
		v.Fail(errs.CodeRange, "must be true, or {until: …}")
		return
	}
	if !isKind(v, document.Object) {
		return
	}
	at := v.Get("until")
	s.Until = c.value(at)
	if literal := s.Until.Literal; literal != nil && !strings.Contains(literal.Text, "$") {
		if _, ok := clock.ParseMoment(literal.Text, nil); literal.Kind != document.String || !ok {
			at.Fail(errs.CodeFormat, "must be %s, or {cel: …} that yields one, not %q", clock.InstantForm, clip(literal.Text))
		}
	}
}

// value reads a literal, a text with labels or an expression.
func (c *compiler) value(v document.Value) Value {
	if isKind(v, document.Object) {
		return Value{Expr: c.expression(v.Get("cel"), expr.Scalar)}
	}
	if !v.Given() {
		return Value{}
	}
	literal, ok := scalar(v)
	if !ok {
		return Value{}
	}
	c.useText(v)
	return Value{Literal: &literal}
}

// scalar reads a value of an XATTR. The schema has already refused other
// values.
func scalar(v document.Value) (label.Value, bool) {
	if _, ok := label.ValueOf(v.Node); !ok {
		return label.Value{}, false
	}
	return label.ReadValue(v)
}

func (c *compiler) settings(v document.Value) []Setting {
	if !isKind(v, document.Object) {
		return nil
	}
	var out []Setting
	for i := range v.Node.Members {
		name, member := v.Member(i)
		key, err := label.NormalizeKey(name)
		if err != nil {
			c.faults.AddKey(&v.Node.Members[i], member.Pointer, errs.CodeFormat, "%s", err)
			continue
		}
		s := Setting{Key: key, Value: c.value(member)}
		if s.Value.Expr != nil {
			c.use(use{kind: useSetting, at: member.Get("cel"), name: key})
		}
		if x := c.route.Xattr(key); x != nil && s.Value.Literal != nil && !x.Fits(*s.Value.Literal) {
			member.Fail(errs.CodeType, "must be %s, as the XATTR is declared%s", x.Wants(), meantAsExpression(c, member))
		}
		if hint := meantAsExpression(c, member); hint != "" && !c.stored {
			c.use(use{kind: useMeant, at: member, name: hint})
		}
		out = append(out, s)
	}
	return out
}

// meantAsExpression says how an expression is written if a text is one that looks at the
// case, "" if it is not.
func meantAsExpression(c *compiler, v document.Value) string {
	text, is := str(v)
	if !is || !strings.Contains(text, "xattr.") && !strings.Contains(text, "case.") {
		return ""
	}
	if _, faults := expr.Compile(text, expr.Scalar, expr.Names{Actions: keys(c.root.Get("actions").Node), Timers: c.timerNames()}); faults != nil {
		return ""
	}
	return fmt.Sprintf("; an expression is written as {cel: %q}", clip(text))
}

// mediaType is the rough form of a media type. The reader of the message
// decides whether it can use it.
var mediaType = regexp.MustCompile(`^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(;[ -~]*)?$`)

func (c *compiler) message(v document.Value) *NewMessage {
	m := &NewMessage{Type: "text/plain"}
	m.Label, _ = str(v.Get("label"))
	text, value := v.Get("text"), v.Get("value")
	switch {
	case text.Given() && value.Given():
		value.Fail(errs.CodeConflict, "does not go with text; keep one of them")
	case !text.Given() && value.Node == nil && isKind(v, document.Object):
		c.missing(v, "text", "is required, or value: the content of the message")
	case text.Given():
		m.Text = c.value(text)
	default:
		m.Type = "application/json"
		m.JSON = c.payload(value)
	}
	if typ, ok := str(v.Get("type")); ok {
		if m.Type = typ; !mediaType.MatchString(typ) {
			v.Get("type").Fail(errs.CodeFormat, "must be a media type such as text/plain, not %q", clip(typ))
		}
	}
	return m
}

// filter reads a jq filter.
func (c *compiler) filter(v document.Value) *Filter {
	f := &Filter{}
	f.From = c.from(v.Get("from"))
	f.To, _ = str(v.Get("to"))
	text := v.Get("filter")
	if source, ok := str(text); ok {
		f.Filter = source
		c.use(use{kind: useFilter, at: text})
		if fault, wrong := errors.AsType[*jq.Fault](jq.Check(source)); wrong && fault.Offset >= 0 {
			text.Fail(errs.CodeFormat, "%s (at character %d)", fault.Detail, utf8.RuneCountInString(source[:fault.Offset]))
		} else if wrong {
			text.Fail(errs.CodeFormat, "%s", fault.Detail)
		}
	}
	return f
}

const recipientForm = "a user or team, everyone, starter, stakeholders, role:<name> or xattr:<key>"

// recipients reads whom a step names.
func (c *compiler) recipients(v document.Value) []Recipient {
	if !isKind(v, document.List) {
		return nil
	}
	var out []Recipient
	for i := range v.Node.Items {
		item := v.Item(i)
		text, ok := str(item)
		if !ok {
			continue
		}
		if r, ok := c.recipient(item, text); ok {
			out = append(out, r)
		}
	}
	return out
}

// recipient reads one of those whom a step names.
func (c *compiler) recipient(item document.Value, text string) (Recipient, bool) {
	word, name, prefixed := strings.Cut(text, ":")
	switch {
	case text == string(RecipientStarter) || text == string(RecipientStakeholders):
		return Recipient{Kind: RecipientKind(text)}, true
	case prefixed && word == "xattr":
		key, err := label.NormalizeKey(name)
		if err != nil {
			item.Fail(errs.CodeFormat, "%s", err)
			return Recipient{}, false
		}
		c.use(use{kind: useKey, at: item, name: key})
		return Recipient{Kind: RecipientXattr, Name: key}, true
	case prefixed && word == "role":
		return Recipient{Kind: RecipientRole, Name: name}, c.isRole(item, name)
	case prefixed && (word == "user" || word == "team") && identity.LegalParty(identity.Kind(word), name):
		return Recipient{Kind: RecipientParty, Name: c.party(item, name)}, true
	case !prefixed && identity.LegalParty(identity.User, text):
		if text != everyone {
			text = c.partyOr(item, text, c.insteadOf(text))
		}
		return Recipient{Kind: RecipientParty, Name: text}, true
	}
	if key, labelled := strings.CutPrefix(text, "$__XATTR_"); labelled {
		item.Fail(errs.CodeFormat, "must be %s: labels are not filled in here; write xattr:%s", recipientForm, clip(strings.TrimSuffix(key, "__;")))
		return Recipient{}, false
	}
	item.Fail(errs.CodeFormat, "must be %s, not %q", recipientForm, clip(text))
	return Recipient{}, false
}
