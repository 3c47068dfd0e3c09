package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// Beside is what the form of a task tells beside what the case and its route say.
type Beside struct {
	Reader Actor    // who reads it
	Files  []string // the names of the files of the case
}

// TaskForm returns the complete form of an enabled action, indented JSON
// (docs/contract/drive.md#task), or nil if the action is not enabled. It begins
// with what people may fill in.
func TaskForm(c *Case, r *route.Route, action string, beside Beside) []byte {
	place := slices.IndexFunc(c.Enabled, func(e Enabled) bool { return e.Action == action })
	i := r.Action(action)
	if place < 0 || i == unknown {
		return nil
	}
	a, e := &r.Actions[i], &c.Enabled[place]
	status := r.State(c.Status)
	b := make([]byte, 0, 1536)
	b = append(b, `{"do":"","comment":"","resolution":null`...)
	b = appendAsked(b, c, r, a)
	behalf, _ := mayPerform(c, status, a, beside.Reader)
	b = appendOfCase(b, c, behalf, beside.Files)
	b = appendString(b, `,"action":`, a.Name)
	b = appendString(b, `,"title":`, cmp.Or(a.Title, a.Name))
	b = appendTextOrNull(b, `,"description":`, a.Description)
	b = appendChoices(b, c, r, place)
	b = appendStrings(b, `,"leadsTo":`, LeadsTo(c, r, a))
	b = appendString(b, `,"state":`, string(e.State))
	due, acceptBy := e.Dates()
	b = appendTimeOrNull(b, `,"due":`, due)
	b = appendTimeOrNull(b, `,"acceptBy":`, acceptBy)
	b = appendTimeOrNull(b, `,"fireAt":`, e.Due)
	b = appendTimeOrNull(b, `,"offered":`, e.Since)
	b = appendStrings(b, `,"roles":`, assignedRoles(a, status))
	b = appendStrings(b, `,"assignees":`, assignees(c, status, a, e))
	b = appendTextOrNull(b, `,"acceptedBy":`, e.By)
	b = appendNeed(b, `,"need":`, a, e)
	b = appendWarnings(b, `,"warnings":`, c.Warnings, func(w *Warning) bool { return w.Enablement == e.Number })
	b = append(b, `,"resolutions":{`...)
	for i, resolution := range a.Resolutions {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(document.AppendString(b, resolution.Name), ':')
		b = document.AppendString(b, resolution.Title)
	}
	b = append(b, `},"form":`...)
	if a.Form == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, a.Form.Source()...)
	}
	return document.Indent(append(appendInt(b, `,"version":`, c.Version), "}\n"...))
}

// appendOfCase appends what a task tells of its case, and for whom its reader would do it.
func appendOfCase(b []byte, c *Case, behalf string, files []string) []byte {
	b = appendInt(b, `,"case":`, c.ID)
	b = appendString(b, `,"caseTitle":`, c.Title)
	b = appendString(b, `,"route":`, c.RouteName)
	b = appendString(b, `,"starter":`, c.Starter)
	b = appendTextOrNull(b, `,"for":`, behalf)
	return appendStrings(appendRemark(b, c), `,"files":`, files)
}

// appendAsked appends the XATTRs that the route declares and those that the
// action's form names, with their values; null for those that are not set.
func appendAsked(b []byte, c *Case, r *route.Route, a *route.Action) []byte {
	b = append(b, `,"xattrDict":{`...)
	first := true
	add := func(key string) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(document.AppendString(b, key), ':')
		if v, set := c.Xattrs.Get(key); set {
			b = v.AppendJSON(b)
		} else {
			b = append(b, "null"...)
		}
	}
	for i := range r.Xattrs {
		add(r.Xattrs[i].Key)
	}
	for _, key := range a.Form.Asked() {
		if r.Xattr(key) == nil {
			add(key)
		}
	}
	return append(b, '}')
}

// changedXattrs returns the changes without those that change nothing: who saves
// a task's form sends what it shows, too. A value that the action's form asks for
// stays, because it is an answer even if it is the one that is set.
func changedXattrs(c *Case, a *route.Action, changes []Change) []Change {
	asked := a.Form.Asked()
	return slices.DeleteFunc(slices.Clone(changes), func(x Change) bool {
		return !x.alters(c.Xattrs) && (x.Remove || a.Form == nil || asked != nil && !slices.Contains(asked, x.Key))
	})
}

// Alters reports whether one of the changes makes the XATTRs of the case others.
func Alters(c *Case, changes []Change) bool {
	return slices.ContainsFunc(changes, func(x Change) bool { return x.alters(c.Xattrs) })
}

// alters reports whether the change makes the dictionary another one.
func (x *Change) alters(dict label.Dict) bool {
	v, set := dict.Get(x.Key)
	if x.Remove || !set {
		return set != !x.Remove
	}
	return !v.Equal(x.Value)
}

// LeadsTo returns the states in which the case may be once the action is
// performed, in order of definition; none if it stays where it is.
func LeadsTo(c *Case, r *route.Route, a *route.Action) []string {
	names := []string{}
	add := func(to int) {
		if has(r.States, to) && !slices.Contains(names, r.States[to].Name) {
			names = append(names, r.States[to].Name)
		}
	}
	if a.Decide == nil {
		add(a.To)
	}
	for i := range a.Outputs {
		add(a.Outputs[i].To)
	}
	for _, t := range transitionsFrom(c, r, a) {
		add(r.Transitions[t].To)
	}
	return names
}

// transitionsFrom returns the transitions out of the status that the action
// belongs to.
func transitionsFrom(c *Case, r *route.Route, a *route.Action) (out []int) {
	status := r.State(c.Status)
	for _, t := range a.Transitions {
		if r.Transitions[t].From == status {
			out = append(out, t)
		}
	}
	return out
}

// choice is something that can be written into "do".
type choice struct{ do, leadsTo string }

// Choices returns what can be written into "do" of a task as it is, in order; nil if the
// action is not enabled.
func Choices(c *Case, r *route.Route, action string) (dos []string) {
	switch u := c.Undone(action); {
	case c.IsDraft() && action == DraftAction:
		return []string{"perform", "abort"}
	case u != nil:
		return []string{"retry", "abort"}
	}
	place := slices.IndexFunc(c.Enabled, func(e Enabled) bool { return e.Action == action })
	if place < 0 || r.Action(action) == unknown {
		return nil
	}
	for _, x := range choices(c, r, place) {
		dos = append(dos, x.do)
	}
	return dos
}

// appendChoices appends what can be written into "do" while the task is as it is,
// and in words what each of it leads to. It does not say who may.
func appendChoices(b []byte, c *Case, r *route.Route, place int) []byte {
	b = append(b, `,"choices":{`...)
	for i, x := range choices(c, r, place) {
		if i > 0 {
			b = append(b, ',')
		}
		b = document.AppendString(append(document.AppendString(b, x.do), ':'), x.leadsTo)
	}
	return append(b, '}')
}

func choices(c *Case, r *route.Route, place int) (out []choice) {
	e := &c.Enabled[place]
	a := &r.Actions[r.Action(e.Action)]
	add := func(do, leadsTo string) { out = append(out, choice{do, leadsTo}) }
	switch {
	case e.State == Escalated:
		add("retry", "The engine tries again.")
		add("skip", "It counts as done.")
		add("abort", "It is taken back.")
	case a.Trigger != route.TriggerUser:
	case e.State == Offered:
		if !a.MustAccept {
			add("perform", outlook(c, r, a)+ofComment(r, a))
		}
		if a.Need == nil {
			add("accept", "It is offered to no other person."+stillOffered(c, r, a)+commentNoted)
		} else if len(e.Votes) > 0 {
			add("release", "Your own performance is taken back.")
		}
		if a.MustAccept {
			add("perform", "First it must be accepted. "+outlook(c, r, a))
		}
		add("reject", "It is not offered to you any more.")
		if a.Need == nil {
			add("delegate", `It is offered to the user that "to" names, alone.`)
		}
		if e.To != "" {
			add("release", "It is offered to its roles again. "+cmp.Or(e.Giver, "Who delegated it")+" and "+e.To+" can do that.")
		}
	case e.State == Accepted:
		add("perform", outlook(c, r, a)+ofComment(r, a))
		add("release", "It is offered to all again."+commentNoted)
		add("delegate", `It is offered to the user that "to" names, alone.`)
	}
	return out
}

// What becomes of a comment, for who writes only that: with an empty "do" it performs
// (docs/contract/drive.md#task).
const (
	commentPerforms   = ` A comment alone performs it, too.`
	commentOfForm     = ` A comment alone performs it, too, if nothing is missing that "form" requires.`
	commentResolution = ` It needs one of "resolutions" in "resolution".`
	commentCancels    = ` A comment alone does not perform it.`
	commentNoted      = ` A comment is only noted.`
)

func ofComment(r *route.Route, a *route.Action) string {
	switch {
	case len(a.Resolutions) > 0:
		return commentResolution
	case !CommentPerforms(r, a):
		return commentCancels
	case a.Form != nil:
		return commentOfForm
	}
	return commentPerforms
}

// CommentPerforms reports whether a comment in the form of the task says enough to
// perform the action. An action that cancels the case must be asked for by name: a remark
// must not end what nobody can continue.
func CommentPerforms(r *route.Route, a *route.Action) bool {
	return a.Type != route.TypeCancel && (!has(r.States, a.To) || r.States[a.To].Type != route.StateCancelled)
}

// stillOffered names the tasks that are offered to a role of the action's and stay so if
// it is accepted: they are not of the same choice, and another user can do one first.
func stillOffered(c *Case, r *route.Route, a *route.Action) string {
	var names []string
	for i := range c.Enabled {
		if len(names) > mostNamed {
			break
		}
		at := r.Action(c.Enabled[i].Action)
		if at == unknown || c.Enabled[i].State != Offered || !shareRole(a, &r.Actions[at], r.State(c.Status)) || r.Actions[at].Name == a.Name || a.Choice != "" && r.Actions[at].Choice == a.Choice {
			continue
		}
		names = append(names, r.Actions[at].Name)
	}
	if len(names) == 0 {
		return ""
	}
	return " It is this task alone; still offered: " + fewNamed(names) + "."
}

// mostNamed is how many other tasks the form of a task names: with all of them the forms
// of a case would grow with the square of its tasks.
const mostNamed = 10

// fewNamed joins the first names of a list that ends behind the first one too many.
func fewNamed(names []string) string {
	if len(names) > mostNamed {
		return strings.Join(names[:mostNamed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// shareRole reports whether two actions are offered to the same role.
func shareRole(a, b *route.Action, status int) bool {
	of := assignedRoles(b, status)
	return slices.ContainsFunc(assignedRoles(a, status), func(role string) bool { return slices.Contains(of, role) })
}

// outlook says what performing the action leads to.
func outlook(c *Case, r *route.Route, a *route.Action) string {
	text := "The case stays where it is."
	if a.Need != nil {
		if e := c.enablement(a.Name); e != nil && len(e.Votes)+1 < a.Need.Count {
			return fmt.Sprintf("You are counted: it needs %d of %s, so far %s.", a.Need.Count, a.Need.Role, quorum(a, e).Text())
		}
	}
	switch transitions := transitionsFrom(c, r, a); {
	case a.Decide != nil:
		text = "The route decides:"
		for i := range a.Outputs {
			text += fmt.Sprintf(" %s: %s.", a.Outputs[i].Name, destination(r, a.Outputs[i].To))
		}
	case len(transitions) > 0:
		text = ""
		for _, t := range transitions {
			missing := missingFor(c, r, &r.Transitions[t], a.Name)
			if missing != "" {
				missing = " once " + missing + " performed"
			}
			text += " The case " + destination(r, r.Transitions[t].To) + missing + "."
		}
		text = text[1:]
	case has(r.States, a.To):
		text = "The case " + destination(r, a.To) + "."
	case a.Final:
		text = "The case is complete."
	case r.Model == route.Dependency:
		text = "What depends on it can go on."
	}
	if others := alternatives(c, r, a); others != "" {
		text += " It takes back: " + others + "."
	}
	return text
}

// destination says where a case goes.
func destination(r *route.Route, to int) string {
	if !has(r.States, to) {
		return "stays where it is"
	}
	s := &r.States[to]
	text := fmt.Sprintf("goes to %q", s.Name)
	if s.Title != "" && s.Title != s.Name {
		text += " (" + s.Title + ")"
	}
	if s.Complete {
		text += ", which completes it"
	}
	return text
}

// missingFor names the actions that a transition needs besides one.
func missingFor(c *Case, r *route.Route, t *route.Transition, action string) string {
	var names []string
	for _, i := range t.Requires {
		if name := r.Actions[i].Name; name != action && !slices.Contains(c.Done, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// alternatives names the enabled actions that are of the same choice.
func alternatives(c *Case, r *route.Route, a *route.Action) string {
	if a.Choice == "" {
		return ""
	}
	var names []string
	for i := range c.Enabled {
		if len(names) > mostNamed {
			break
		}
		at := r.Action(c.Enabled[i].Action)
		if at != unknown && r.Actions[at].Name != a.Name && r.Actions[at].Choice == a.Choice {
			names = append(names, r.Actions[at].Name)
		}
	}
	return fewNamed(names)
}
