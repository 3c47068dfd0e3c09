package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Tasks returns the enabled actions of a case, in order of definition. Errors:
// errs.NotFound if by may not see the case.
func (e *Cases) Tasks(ctx context.Context, by identity.Principal, id int64) ([]Resource, error) {
	h, err := e.viewCase(ctx, by, id)
	if err != nil {
		return nil, err
	}
	var out []Resource
	for i := range h.route.Compiled.Actions {
		if res := taskResource(h, h.route.Compiled.Actions[i].Name); res != nil {
			out = append(out, *res)
		}
	}
	return out, nil
}

// Task returns one enabled action of a case. Errors: errs.NotFound if by may
// not see the case, or the action is not enabled.
func (e *Cases) Task(ctx context.Context, by identity.Principal, id int64, action string) (*Resource, error) {
	h, err := e.viewCase(ctx, by, id)
	if err != nil {
		return nil, err
	}
	if res := taskResource(h, action); res != nil {
		return res, nil
	}
	return nil, change.Absent("enabled action")
}

func (e *Cases) viewCase(ctx context.Context, by identity.Principal, id int64) (*loadedCase, error) {
	var h *loadedCase
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		h, err = e.decider.loadCase(r, by, Ref{CaseID: id})
		return err
	})
	return h, err
}

// taskResource returns the enabled action or the failed delivery of that name
// as a resource, or nil.
func taskResource(h *loadedCase, action string) *Resource {
	if failed := h.core.Undelivered(action); failed != nil {
		res := undeliveredOf(h.core, failed)
		res.Name, res.Lock = action, store.TaskKey(h.core.ID, action)
		return res
	}
	for i := range h.core.Enabled {
		if en := &h.core.Enabled[i]; en.Action == action {
			res := taskOf(h.core, h.route.Compiled, en, 0)
			res.Name, res.Seq, res.Lock = action, en.Number, store.TaskKey(h.core.ID, action)
			return res
		}
	}
	return nil
}

// Perform performs an enabled action as the caller
// (docs/contract/engine.md#checks, which gives the order of the checks).
// Errors: errs.NotFound, errs.Invalid with every fault of the document,
// errs.NotAllowed, errs.ActionNotEnabled, errs.CaseNotOpen, and the other kinds
// of that page.
func (e *Cases) Perform(ctx context.Context, req Request, id int64, action string, body []byte) (*Outcome, error) {
	node, err := document.Parse(body, false)
	var unsaid error // what is asked for, which is judged after everything else
	if errs.Is(err, errs.EmptyDocument) {
		unsaid = err
		node, err = document.Parse([]byte("{}"), false)
	}
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		h, err := e.decider.loadCase(r, req.By, Ref{CaseID: id})
		if err != nil {
			return nil, err
		}
		c, err := e.performed(r, req, h, action, node)
		if err = cmp.Or(err, unsaid); err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) {
			if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.TaskKey(id, action))); err != nil {
				return nil, err
			}
			if err := e.decider.write(tx, c); err != nil {
				return nil, err
			}
			out := performance(c)
			return out, e.Finish(tx, req, out)
		}, nil
	})
}

// performance is the outcome of what a user did to an action.
func performance(c *caseChange) *Outcome {
	return &Outcome{
		Changed: true, Name: fmt.Sprint(c.row.ID), Form: c.row.Form, FormETag: caseETag(c.after), Modified: c.after.Modified,
		CaseID: c.row.ID, Life: c.after.Shown(), Status: c.after.Status, LogSeq: actionSeq(c, c.performed), Action: c.performed,
	}
}

// performed decides on what a person asks of an action, which may be named by
// its type.
func (e *Cases) performed(r store.Reader, req Request, h *loadedCase, action string, node *document.Node) (*caseChange, error) {
	failed := h.core.Undelivered(action) != nil
	if !h.route.Compiled.Knows(action) && !failed {
		return nil, change.Absent("action")
	}
	var version Version
	if req.If != nil { // else nothing depends on it
		version = taskVersion(h, action)
	}
	if err := e.CheckRequest(r.Locks(), req, version, change.ScopeOf(store.TaskKey(h.row.ID, action))); err != nil {
		return nil, err
	}
	if err := notArchived(h.row); err != nil {
		return nil, err
	}
	var faults document.Faults
	t := readTask(document.Root(node, &faults))
	if len(faults.List()) > 0 {
		t.xattrs, t.resolution, t.to = nil, "", "" // judged by the faults, which come after the rights
	}
	if failed && t.do != "retry" && t.do != "abort" {
		return nil, cmp.Or(faults.Err(), error(errs.New(errs.ActionNotEnabled, "A failed delivery can be sent again or given up: PUT {\"do\": \"retry\"} or {\"do\": \"abort\"}.")))
	}
	c, err := e.decider.decideOn(h, t.event(action, e.actor(req.By, h.admin)), req)
	if fe := faults.Err(); fe != nil && (err == nil || errs.Is(err, errs.Invalid)) {
		return nil, fe
	}
	return c, err
}

func taskVersion(h *loadedCase, action string) Version {
	res := taskResource(h, action)
	if res == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: res.FormETag, Modified: res.Modified}
}

// actionSeq returns the number of the log entry of the requested action, which
// automatic performances may follow, or the last one of the case if nothing
// changed.
func actionSeq(c *caseChange, action string) int64 {
	log := c.log
	for i := range log {
		if (log[i].Kind == machine.LogAction || log[i].Kind == machine.LogTask) && log[i].Action != nil && *log[i].Action == action && log[i].Trigger != nil && *log[i].Trigger == machine.ByUser {
			return log[i].Seq
		}
	}
	return c.after.LogSeq
}

// taskChange is what a document asks of an action.
type taskChange struct {
	do         string // one of taskDos
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

// readTask reads the document that is saved as an action: {} or {"do":
// "perform"} performs it.
func readTask(root document.Value) *taskChange {
	t := &taskChange{do: "perform"}
	if !root.Is(document.Object) {
		return t
	}
	// The complete form of a task may be saved back: what is computed in it is
	// passed over.
	root.Only("do", "comment", "resolution", "xattrDict", "to", "output",
		"case", "route", "action", "title", "state", "roles", "assignees", "acceptedBy", "offered", "fireAt", "due",
		"acceptBy", "warnings", "resolutions", "form", "step", "error", "attempts")
	if v := root.Get("do"); v.Given() {
		switch do, ok := v.Str(); {
		case slices.Contains(taskDos(), do):
			t.do = do
		case ok:
			v.Fail(errs.CodeRange, "must be one of %s, not %q", strings.Join(taskDos(), ", "), do)
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
		case !v.Given():
		case field.do != t.do:
			v.Fail(errs.CodeConflict, "goes with %q, not with %q", field.do, t.do)
		default:
			*field.to, _ = v.Str()
		}
	}
	if v := root.Get("xattrDict"); v.Given() {
		if t.xattrs = readChanges(v); t.do != "perform" && len(t.xattrs) > 0 {
			v.Fail(errs.CodeConflict, "goes with \"perform\", not with %q", t.do)
		}
	}
	return t
}
