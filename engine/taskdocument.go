package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
)

// taskChange is what a document asks of an action.
type taskChange struct {
	do         string   // one of taskDos
	offered    []string // what the task's file lists under "choices", or all of taskDos
	unsaid     bool     // "do" is there and empty
	version    int64    // of the case whose form was saved, 0 for none
	comment    string
	to         string
	resolution string
	output     string
	xattrs     []machine.Change
}

// event returns the event that the document asks for.
func (t *taskChange) event(action string, actor machine.Actor) machine.Event {
	switch t.do {
	case "skip":
		return machine.Skip{Action: action, Actor: actor, Comment: t.comment, Output: t.output}
	case "abort":
		return machine.Abort{Action: action, Actor: actor, Comment: t.comment}
	case "retry":
		return machine.Retry{Action: action, Actor: actor, Comment: t.comment}
	case "accept":
		return machine.Accept{Action: action, Actor: actor, Comment: t.comment}
	case "release":
		return machine.Release{Action: action, Actor: actor, Comment: t.comment}
	case "reject":
		return machine.Reject{Action: action, Actor: actor, Comment: t.comment}
	case "delegate":
		return machine.Delegate{Action: action, Actor: actor, Comment: t.comment, To: t.to}
	}
	return machine.Perform{Action: action, Actor: actor, Comment: t.comment, Resolution: t.resolution, Xattrs: t.xattrs}
}

// taskDos are what can be done to an action (docs/contract/drive.md#task).
func taskDos() []string {
	return []string{"perform", "accept", "release", "reject", "delegate", "skip", "retry", "abort"}
}

// idle reports whether the document asks for nothing: "do" is there and empty,
// and what people fill in is as the form shows it.
func (t *taskChange) idle(c *machine.Case) bool {
	return t.unsaid && t.comment == "" && t.resolution == "" && !machine.Alters(c, t.xattrs)
}

// unasked refuses a document that asks for nothing if the request wants something
// done.
func (t *taskChange) unasked(root document.Value, req Request) error {
	if !req.MustAct {
		return nil
	}
	var faults document.Faults
	faults.Add(root.Node.Get("do"), "/do", errs.CodeRequired, "is empty: say what to do, one of %s; nothing was done", strings.Join(t.offered, ", "))
	return faults.Err()
}

// current refuses XATTRs of a form that shows the case as it was: they would undo
// what has been changed since.
func (t *taskChange) current(c *machine.Case) error {
	if t.version == 0 || t.version == c.Version || !machine.Alters(c, t.xattrs) {
		return nil
	}
	return errs.New(errs.Precondition, "The case has changed since this form of the task was read, which shows version %d of it, not %d: its XATTRs may be others now. Open the file again, and decide again.", t.version, c.Version)
}

// taskFixed are the members of a task's form that saving it cannot change, with what to
// do instead. Those that may be others without a change of the case are not among them.
func taskFixed() []fixedMember {
	const delegate = `write "delegate" into "do", and the user's name into "to"`
	const say = `write what you want into "do"`
	return []fixedMember{
		{"case", ""},
		{"caseTitle", "the case's own file has its title"},
		{"route", ""},
		{"starter", ""},
		{"action", ""},
		{"title", ""},
		{"description", ""},
		{"choices", say},
		{"state", say},
		{"due", ""},
		{"acceptBy", ""},
		{"offered", ""},
		{"roles", ""},
		{"assignees", delegate},
		{"acceptedBy", say},
	}
}

// readOnly finds what the document changes and cannot change: the form of the task that
// it was read from, if it is still that one, says it otherwise.
func (t *taskChange) readOnly(root document.Value, h *loadedCase, action string) {
	if t.version != 0 && t.version != h.core.Version {
		return
	}
	keepFixed(root, func() []byte {
		if res := taskResource(h, action); res != nil {
			return res.Form
		}
		return nil // which is not JSON: there is nothing to compare with
	}, taskFixed())
}

// offeredDos are what can be done to the task as it is, for the refusal of other words.
func offeredDos(h *loadedCase, action string) []string {
	if dos := machine.Choices(h.core, h.route.Compiled, action); len(dos) > 0 {
		return dos
	}
	return taskDos()
}

// wrongDo refuses a word in "do" that names nothing.
func (t *taskChange) wrongDo(v document.Value, do, action string) {
	hint := document.Hint(do, t.offered)
	switch {
	case !slices.Contains(t.offered, "perform"):
	case identity.Fold(do) == identity.Fold(action):
		hint = fmt.Sprintf("; write \"perform\" to do %q", action)
	case hint == "":
		hint = "; write \"perform\" to do what the task asks for"
	}
	v.Fail(errs.CodeRange, "must be one of %s, not %q%s", strings.Join(t.offered, ", "), do, hint)
}

// readTask reads the document that is saved as an action of the case: {} or
// {"do": "perform"} performs it.
func readTask(root document.Value, h *loadedCase, action string) *taskChange {
	c := h.core
	t := &taskChange{do: "perform", offered: offeredDos(h, action)}
	if !root.Is(document.Object) {
		return t
	}
	// The complete form of a task may be saved back: what is computed in it is
	// passed over.
	root.Only("do", "comment", "resolution", "xattrDict", "to", "output",
		"case", "caseTitle", "route", "starter", "for", "remark", "files", "action", "title", "description", "choices", "leadsTo", "state",
		"due", "acceptBy", "fireAt", "offered", "roles", "assignees", "acceptedBy", "need", "warnings", "resolutions", "form",
		"step", "error", "attempts", "version")
	if v := root.Get("version"); v.Node != nil && v.Node.Kind == document.Number {
		if version, err := strconv.ParseInt(v.Node.Text, 10, 64); err == nil {
			t.version = version
		}
	}
	if v := root.Get("do"); v.Node != nil && v.Node.Kind == document.Null {
		t.unsaid = true
	} else if v.Given() {
		switch do, ok := v.Str(); {
		case ok && do == "":
			t.unsaid = true
		case slices.Contains(taskDos(), do):
			t.do = do
		case ok:
			t.wrongDo(v, do, action)
		}
	}
	if v := root.Get("comment"); v.Given() {
		v.Text(&t.comment, 10_000)
	}
	for _, field := range []struct {
		key string
		to  *string
		do  string
	}{{"resolution", &t.resolution, "perform"}, {"output", &t.output, "skip"}, {"to", &t.to, "delegate"}} {
		v := root.Get(field.key)
		switch {
		case !v.Given() || v.Node.Kind == document.String && v.Node.Text == "":
		case field.do != t.do:
			v.Fail(errs.CodeConflict, "goes with %q, not with %q", field.do, t.do)
		default:
			*field.to, _ = v.Str()
		}
	}
	if v := root.Get("xattrDict"); v.Given() {
		if t.xattrs = readChanges(v); t.do != "perform" && machine.Alters(c, t.xattrs) {
			v.Fail(errs.CodeConflict, "goes with \"perform\", not with %q", t.do)
		}
	}
	r := h.route.Compiled
	if i := r.Action(action); t.unsaid && t.comment != "" && t.resolution == "" && i >= 0 && !machine.CommentPerforms(r, &r.Actions[i]) && !machine.Alters(c, t.xattrs) {
		root.Get("do").Fail(errs.CodeRequired, "is empty, and a comment alone does not do %q: write \"perform\" to do it. To only remark something, save it as comment.txt in the folder of the case", action)
	}
	return t
}

// newKeys returns the keys of the XATTRs that the document gives and the case does not have.
func (t *taskChange) newKeys(has label.Dict) (keys []string) {
	for _, x := range t.xattrs {
		if _, had := has.Get(x.Key); !x.Remove && !had {
			keys = append(keys, x.Key)
		}
	}
	return keys
}
