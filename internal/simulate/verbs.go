package simulate

import (
	"slices"
	"strings"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// verb reads what a step does. subject is the value of its verb.
func (r *reader) verb(v, subject document.Value, s *Step) {
	switch s.Verb {
	case VerbStart:
		r.started(v, subject, s)
	case VerbAdvance:
		s.As = admin
		s.advance(subject)
		return
	case VerbCheck:
		mustBeTrue(subject)
		if s.Refused != "" {
			v.Get("refused").Fail(errs.CodeConflict, "does not go with check, which makes no request")
		}
		return
	case VerbTeam:
		if as := v.Get("as"); !as.Given() {
			s.As = admin // who alone may
		}
		r.team(v, subject, s)
	case VerbDeputy:
		r.deputy(subject, s)
	case VerbMessage:
		s.Subject = r.subject(subject)
		message(v, s)
	case VerbMove:
		s.Subject = r.subject(subject)
	case VerbTimer:
		s.Subject = r.subject(subject)
		limit := v.Get("limit")
		if limit.Node == nil {
			limit.Fail(errs.CodeRequired, "is required: a duration, an instant, or null for none")
			return
		}
		s.Body = append(limit.Node.AppendJSON([]byte(`{"limit":`)), '}')
	case VerbChange:
		if subject.Is(document.Object) {
			s.Body = subject.Node.AppendJSON(nil)
		}
	case VerbSuspend:
		s.Body = suspend(subject)
	case VerbResume:
		mustBeTrue(subject)
		s.Body = []byte(`{"state":"active"}`)
	case VerbCancel:
		mustBeTrue(subject)
		s.Body = []byte(`{"state":"canceled"}`)
	default:
		s.Subject = r.subject(subject)
		s.Body = task(v, s.Verb)
	}
	if s.As == "" {
		v.Fail(errs.CodeRequired, "must say who does it: by as, here or for the whole scenario")
	}
}

// subject reads a name that becomes part of a path.
func (r *reader) subject(v document.Value) string {
	name, ok := v.Str()
	if ok && !plainName(name) {
		v.Fail(errs.CodeFormat, "%q cannot be a name", clip(name))
	}
	return name
}

func (r *reader) started(v, subject document.Value, s *Step) {
	s.Body = []byte("{}")
	if subject.Given() && subject.Is(document.Object) {
		s.Body = subject.Node.AppendJSON(nil)
		if route := subject.Get("route"); route.Given() {
			s.Subject, _ = route.Str()
		}
	}
	if s.Refused != "" {
		return
	}
	r.start = true
	name := v.Get("name")
	if !name.Given() {
		return
	}
	text, ok := name.Str()
	switch {
	case !ok:
	case slices.Contains(r.cases, text):
		name.Fail(errs.CodeConflict, "%q is the name of another case already", clip(text))
	default:
		s.Name = text
		r.cases = append(r.cases, text)
	}
}

// advance reads how far the clock goes, as a duration or in seconds, or until
// when.
func (s *Step) advance(v document.Value) {
	if v.Node.Kind == document.Number {
		if seconds, ok := v.Int(0, 1<<32); ok {
			s.Advance, _ = clock.Seconds(seconds)
		}
		s.Body = append(v.Node.AppendJSON([]byte(`{"advance":`)), '}')
		return
	}
	text, ok := v.Str()
	if !ok {
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "P") {
		d, err := clock.ParseDuration(text)
		if err != nil {
			v.Fail(errs.CodeFormat, "%v", err)
		}
		s.Advance, s.Body = d, append(document.AppendString([]byte(`{"advance":`), text), '}')
		return
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		v.Fail(errs.CodeFormat, "must be a duration such as P3D or PT5M, or an instant such as 2026-03-02T09:00:00Z, not %q", clip(text))
		return
	}
	instant(v)
	s.Body = append(document.AppendString([]byte(`{"set":`), text), '}')
}

// task makes the document that is saved as an action.
func task(v document.Value, verb Verb) []byte {
	b := document.AppendString([]byte(`{"do":`), string(verb))
	for _, row := range verbs() {
		if row.verb != verb {
			continue
		}
		for _, key := range row.keys {
			if field := v.Get(key); field.Given() {
				b = append(document.AppendString(append(b, ','), key), ':')
				b = field.Node.AppendJSON(b)
			}
		}
	}
	return append(b, '}')
}

// message reads the text or JSON of a message.
func message(v document.Value, s *Step) {
	text, value := v.Get("text"), v.Get("value")
	switch {
	case text.Node != nil && value.Node != nil:
		value.Fail(errs.CodeConflict, "does not go with text; keep one of them")
	case text.Node != nil:
		content, _ := text.Str()
		s.Body, s.Type = []byte(content), "text/plain"
	case value.Node != nil:
		s.Body = value.Node.AppendJSON(nil)
	default:
		v.Fail(errs.CodeRequired, "must have text or value: the content of the message")
	}
}

// suspend reads true, or until when.
func suspend(v document.Value) []byte {
	if v.Node.Kind == document.Bool {
		mustBeTrue(v)
		return []byte(`{"state":"suspended"}`)
	}
	if !v.Is(document.Object) {
		return nil
	}
	v.Only("until")
	until := v.Get("until")
	text, _ := until.Str()
	return append(document.AppendString([]byte(`{"state":"suspended","suspendedUntil":`), text), '}')
}

// team reads a team's members.
func (r *reader) team(v, subject document.Value, s *Step) {
	s.Subject = r.subject(subject)
	if s.Subject != "" && !slices.Contains(r.teams, s.Subject) {
		subject.Fail(errs.CodeNotFound, "%q is not among the teams%s", clip(s.Subject), document.Hint(s.Subject, r.teams))
	}
	members := v.Get("members")
	r.parties(members)
	if members.Node != nil {
		s.Body = append(members.Node.AppendJSON([]byte(`{"members":`)), '}')
	}
}

// deputy reads the user's deputy and the time; null means none.
func (r *reader) deputy(v document.Value, s *Step) {
	if v.Given() && v.Is(document.Object) {
		v.Only("user", "from", "to")
		r.user(v.Get("user"))
	}
	s.Body = append(v.Node.AppendJSON([]byte(`{"deputy":`)), '}')
}

func mustBeTrue(v document.Value) {
	if yes, ok := v.Truth(); ok && !yes {
		v.Fail(errs.CodeRange, "must be true; leave it out otherwise")
	}
}
