package simulate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// admin is the user that every drive has.
const admin = "admin"

// firstClock is the time of the clock if the scenario gives none.
var firstClock = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Bounds of a scenario.
const (
	mostSteps  = 1000
	mostPeople = 200 // users, and teams
)

// Parse reads a scenario in YAML, which JSON is too, as ParseIn does.
func Parse(data []byte) (*Scenario, error) { return ParseIn(data, true) }

// ParseIn reads a scenario in YAML or else JSON. What is wrong with it comes in one
// error, each fault with its place.
func ParseIn(data []byte, yaml bool) (*Scenario, error) {
	node, err := document.Parse(data, yaml)
	if err != nil {
		return nil, err
	}
	var faults document.Faults
	r := reader{}
	r.scenario(document.Root(node, &faults))
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &r.out, nil
}

// reader reads a scenario; it knows who and which cases came before.
type reader struct {
	out   Scenario
	as    string // who acts if a step does not say
	users []string
	teams []string
	cases []string // names that steps gave
	start bool     // a case was started
}

func (r *reader) scenario(root document.Value) {
	if !root.Is(document.Object) {
		return
	}
	root.Only("title", "description", "clock", "users", "teams", "author", "as", "commands", "steps")
	for _, key := range []string{"title", "description"} {
		if v := root.Get(key); v.Given() {
			text, _ := v.Str()
			if key == "title" {
				r.out.Title = text
			}
		}
	}
	r.out.Clock, r.out.Author = firstClock, admin
	if v := root.Get("clock"); v.Given() {
		if t, ok := instant(v); ok {
			r.out.Clock = t
		}
	}
	r.users = []string{admin}
	r.people(root.Get("users"))
	r.groups(root.Get("teams"))
	r.commands(root.Get("commands"))
	if v := root.Get("author"); v.Given() {
		r.out.Author = r.user(v)
	}
	if v := root.Get("as"); v.Given() {
		r.as = r.user(v)
	}
	steps := root.Get("steps")
	if !steps.Is(document.List) {
		return
	}
	if len(steps.Node.Items) == 0 {
		steps.Fail(errs.CodeRequired, "must have at least one step")
	}
	if bounded(steps, len(steps.Node.Items), mostSteps, "steps") {
		return
	}
	for i := range steps.Node.Items {
		r.step(steps.Item(i))
	}
}

// bounded reports whether there are more than so many of what v has.
func bounded(v document.Value, n, most int, what string) bool {
	if n > most {
		v.Fail(errs.CodeRange, "must not have more than %d %s", most, what)
	}
	return n > most
}

// people reads the users: a list of names, or an object of documents.
func (r *reader) people(v document.Value) {
	list := named(v)
	if bounded(v, len(list), mostPeople, "users") {
		return
	}
	for _, m := range list {
		if name, ok := m.name(); ok && !slices.Contains(r.users, name) {
			r.users = append(r.users, name)
			r.out.Users = append(r.out.Users, Party{name, m.document("fullName", "email", "admin")})
		} else if ok {
			m.value.Fail(errs.CodeConflict, "%q is there already", name)
		}
	}
}

// groups reads the teams: an object of lists of members, or of documents.
func (r *reader) groups(v document.Value) {
	if !v.Given() || !v.Is(document.Object) || bounded(v, len(v.Node.Members), mostPeople, "teams") {
		return
	}
	for i := range v.Node.Members {
		name, _ := v.Member(i)
		r.teams = append(r.teams, name) // a team may have those after it as members
	}
	for i := range v.Node.Members {
		name, team := v.Member(i)
		if !plainName(name) {
			team.Fail(errs.CodeFormat, "%q cannot be the name of a team", clip(name))
			continue
		}
		body := []byte(`{"members":[]}`)
		switch {
		case !team.Given():
		case team.Node.Kind == document.List:
			r.parties(team)
			body = append(team.Node.AppendJSON([]byte(`{"members":`)), '}')
		case team.Is(document.Object):
			team.Only("members", "admins")
			for _, key := range []string{"members", "admins"} {
				if list := team.Get(key); list.Given() {
					r.parties(list)
				}
			}
			body = team.Node.AppendJSON(nil)
		}
		r.out.Teams = append(r.out.Teams, Party{name, body})
	}
}

// parties wants a list of users and teams that there are.
func (r *reader) parties(v document.Value) {
	if !v.Is(document.List) {
		return
	}
	known := slices.Concat(r.users, r.teams)
	for i := range v.Node.Items {
		item := v.Item(i)
		if name, ok := item.Str(); ok && !slices.Contains(known, name) {
			item.Fail(errs.CodeNotFound, "%q is neither among the users nor among the teams%s", clip(name), document.Hint(name, known))
		}
	}
}

// user reads the name of a user that there is.
func (r *reader) user(v document.Value) string {
	name, ok := v.Str()
	if ok && !slices.Contains(r.users, name) {
		v.Fail(errs.CodeNotFound, "%q is not among the users%s", clip(name), document.Hint(name, r.users))
	}
	return name
}

// member is one of several named things.
type member struct {
	value document.Value // the name, or the document
	key   string
}

// named returns the items of a list of names, or the members of an object.
func named(v document.Value) []member {
	var out []member
	switch {
	case !v.Given():
	case v.Node.Kind == document.List:
		for i := range v.Node.Items {
			out = append(out, member{value: v.Item(i)})
		}
	case v.Node.Kind == document.Object:
		for i := range v.Node.Members {
			key, value := v.Member(i)
			out = append(out, member{value, key})
		}
	default:
		v.Fail(errs.CodeType, "must be a list of names, or an object with a document for each name, not %s", v.Node.Kind)
	}
	return out
}

func (m member) name() (string, bool) {
	name := m.key
	if name == "" {
		text, ok := m.value.Str()
		if !ok {
			return "", false
		}
		name = text
	}
	if !plainName(name) {
		m.value.Fail(errs.CodeFormat, "%q cannot be a name", clip(name))
		return "", false
	}
	return name, true
}

func (m member) document(known ...string) []byte {
	if m.key == "" || !m.value.Given() || !m.value.Is(document.Object) {
		return []byte("{}")
	}
	m.value.Only(known...)
	return m.value.Node.AppendJSON(nil)
}

// plainName reports whether the text can be a name in a path. The drive decides
// whether it can be the name of a user.
func plainName(name string) bool {
	return name != "" && len(name) <= 200 && !strings.ContainsAny(name, "/\\?#%\x00\n\r") && strings.TrimSpace(name) == name && !strings.HasPrefix(name, ".")
}

// step reads one step: an object with one verb.
func (r *reader) step(v document.Value) {
	if !v.Is(document.Object) {
		return
	}
	s := Step{Type: "application/json", At: placeOf(v), As: r.as}
	var subject document.Value
	known := everyStep()
	var keys []string
	for _, row := range verbs() {
		known = append(known, string(row.verb))
		value := v.Get(string(row.verb))
		if value.Node == nil {
			continue
		}
		if s.Verb != "" {
			value.Fail(errs.CodeConflict, "is a second verb after %q; a step does one thing", s.Verb)
			return
		}
		s.Verb, subject, keys = row.verb, value, row.keys
	}
	if s.Verb == "" {
		v.Fail(errs.CodeRequired, "must have a verb: %s%s", strings.Join(known[len(everyStep()):], ", "), unknownVerb(v, known))
		return
	}
	v.Only(slices.Concat(everyStep(), keys, []string{string(s.Verb)})...)
	if note := v.Get("note"); note.Given() {
		note.Str()
	}
	if as := v.Get("as"); as.Given() {
		s.As = r.user(as)
	}
	s.Refused = r.refused(v.Get("refused"))
	r.about(v, &s)
	r.verb(v, subject, &s)
	s.Expect = r.expectations(v.Get("expect"), s.Of)
	r.out.Steps = append(r.out.Steps, s)
}

// unknownVerb says which verb an unknown key may have meant.
func unknownVerb(v document.Value, known []string) string {
	for i := range v.Node.Members {
		if hint := document.Hint(v.Node.Members[i].Key, known); hint != "" && !slices.Contains(known, v.Node.Members[i].Key) {
			return hint
		}
	}
	return ""
}

func (r *reader) refused(v document.Value) string {
	if !v.Given() {
		return ""
	}
	slug, ok := v.Str()
	if ok && slug == "" {
		v.Fail(errs.CodeFormat, "must be the name of a problem such as %s", errs.NotAllowed)
	}
	return slug
}

// about reads which case a step or expectation is about.
func (r *reader) about(v document.Value, s *Step) {
	if s.Verb == VerbStart || s.Verb == VerbAdvance || s.Verb == VerbTeam || s.Verb == VerbDeputy {
		for _, key := range []string{"case", "child"} {
			if x := v.Get(key); x.Node != nil {
				x.Fail(errs.CodeConflict, "does not go with %q, which does not concern an existing case", s.Verb)
			}
		}
		return
	}
	s.Of = r.of(v)
	if !r.start {
		v.Fail(errs.CodeRequired, "needs a case: a step with start must come before")
	}
}

func (r *reader) of(v document.Value) Of {
	o := Of{At: placeOf(v)}
	if x := v.Get("case"); x.Given() {
		o.At = placeOf(x)
		if name, ok := x.Str(); ok {
			if o.Case = name; !slices.Contains(r.cases, name) {
				x.Fail(errs.CodeNotFound, "no earlier step names a case %q%s", clip(name), document.Hint(name, r.cases))
			}
		}
	}
	x := v.Get("child")
	if !x.Given() {
		return o
	}
	o.At = placeOf(x)
	list := []document.Value{x}
	if x.Node.Kind == document.List {
		list = nil
		for i := range x.Node.Items {
			list = append(list, x.Item(i))
		}
	}
	for _, item := range list {
		switch item.Node.Kind {
		case document.Number:
			if n, ok := item.Int(1, 1<<20); ok {
				o.Child = append(o.Child, strconv.FormatInt(n, 10))
			}
		default:
			if title, ok := item.Str(); ok {
				o.Child = append(o.Child, title)
			}
		}
	}
	return o
}

func placeOf(v document.Value) Place {
	p := Place{Pointer: v.Pointer}
	if v.Node != nil {
		p.Line, p.Column = v.Node.Line, v.Node.Column
	}
	return p
}

// expectations reads what must be true: an object, or several, each of which
// may be about another case.
func (r *reader) expectations(v document.Value, of Of) []Expectation {
	if !v.Given() {
		return nil
	}
	list := []document.Value{v}
	if v.Node.Kind == document.List {
		list = nil
		for i := range v.Node.Items {
			list = append(list, v.Item(i))
		}
	}
	var out []Expectation
	for _, item := range list {
		if !item.Is(document.Object) {
			continue
		}
		item.Only(append(wantedKeys(), "case", "child")...)
		e := Expectation{Of: of}
		if item.Get("case").Given() || item.Get("child").Given() {
			e.Of = r.of(item)
		}
		e.At = placeOf(item)
		if !r.start {
			item.Fail(errs.CodeRequired, "needs a case: a step with start must come before")
		}
		for i := range item.Node.Members {
			key, value := item.Member(i)
			if key != "case" && key != "child" {
				checkWant(key, value)
				e.Want = append(e.Want, item.Node.Members[i])
			}
		}
		out = append(out, e)
	}
	return out
}

// checkWant checks the shape of what is expected.
func checkWant(key string, v document.Value) {
	switch key {
	case wantTasks, wantAssignees, wantWorklist, wantTimers, wantMessages, "roles", "xattrDict":
		v.Is(document.Object)
	case wantLog, wantNoLog, wantWarnings:
		if v.Is(document.List) {
			for i := range v.Node.Items {
				v.Item(i).Str()
			}
		}
	case wantSent:
		if v.Is(document.List) {
			for i := range v.Node.Items {
				v.Item(i).Is(document.Object)
			}
		}
	case "enabledActions", "pendingActions", "stakeholders":
		v.Is(document.List)
	case wantChildren:
		if v.Node.Kind == document.Number {
			v.Int(0, 1<<20)
		} else if v.Is(document.Object) {
			v.Only("count", "states", "statuses")
		}
	}
}

// instant reads an instant with its zone.
func instant(v document.Value) (time.Time, bool) {
	text, ok := v.Str()
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() > 9999 {
		v.Fail(errs.CodeFormat, "must be an instant such as 2026-03-02T09:00:00Z, not %q", clip(text))
		return time.Time{}, false
	}
	return clock.Trim(t), true
}

func clip(text string) string { return errs.Clip(text, 60) }
