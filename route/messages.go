package route

import (
	"regexp"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// Message is what a route declares of the messages of its cases.
type Message struct {
	Label string
	Edit  []string // roles that may write it; nil: it is written as if it were not declared
}

// Message returns what the route declares of the message with that label, or nil.
func (r *Route) Message(label string) *Message {
	for i := range r.Messages {
		if r.Messages[i].Label == label {
			return &r.Messages[i]
		}
	}
	return nil
}

// declared reads what a route declares of its cases.
type declared struct{ *compiler }

// messages reads the declared messages.
func (c declared) messages() {
	v := c.root.Get("messages")
	if !isKind(v, document.Object) {
		return
	}
	seen := map[string]string{}
	for i := range v.Node.Members {
		name, member := v.Member(i)
		fail := func(code errs.Code, format string, args ...any) {
			c.faults.AddKey(&v.Node.Members[i], member.Pointer, code, format, args...)
		}
		other, twice := seen[strings.ToLower(name)]
		seen[strings.ToLower(name)] = name
		switch {
		case !isName(name):
			fail(errs.CodeFormat, "the label of a message must be a name: a letter or digit, then up to 62 letters, digits, _ or -")
		case twice:
			fail(errs.CodeConflict, "differs from the message %q only in capitals", other)
		case name == labelInput:
			fail(errs.CodeConflict, "is what a case is started with; only administrators of the route write it later")
		case EngineWrites(name):
			fail(errs.CodeConflict, "is written by the engine; only administrators of the route write it, too")
		default:
			m := Message{Label: name}
			if edit := member.Get("edit"); isKind(edit, document.List) {
				m.Edit = c.roleNames(edit)
			}
			c.route.Messages = append(c.route.Messages, m)
		}
	}
}

// roleNames reads a list of roles of the route.
func (c declared) roleNames(v document.Value) []string {
	roles := []string{}
	for i := range v.Node.Items {
		if role, ok := str(v.Item(i)); ok && c.isRole(v.Item(i), role) {
			roles = append(roles, role)
		}
	}
	return roles
}

// labelInput is the label of the message that a case is started with.
const labelInput = "InputMessage"

// engineLabels are the labels of messages that the engine writes: why a case could not
// start, what a command has written, what a service has answered, and what a sandbox records.
var engineLabels = regexp.MustCompile(`^(error|(Outbox|Stdout|Stderr)-.*|Body(-[0-9]+){2})$`)

// EngineWrites reports whether the engine writes messages with that label by itself.
func EngineWrites(label string) bool { return engineLabels.MatchString(label) }

// writesTo returns the label of the message that the step writes, "" for none; answer
// says that it is the answer of something outside.
func (s *Step) writesTo() (label string, answer bool) {
	switch {
	case s.Message != nil:
		return s.Message.Label, false
	case s.Filter != nil:
		return s.Filter.To, false
	case s.Table != nil:
		return s.Table.To, false
	case s.Outside != nil:
		return s.Outside.Into, true
	}
	return "", false
}

// Writes reports whether a step of the route writes the message with that label. answers
// says that the answers of what is outside count, too.
func (r *Route) Writes(label string, answers bool) bool {
	return r.hasStep(func(s *Step) bool {
		to, answer := s.writesTo()
		return to == label && (answers || !answer)
	})
}
