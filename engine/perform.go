package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Tasks returns the enabled actions of a case, in order of definition, then what has
// failed and is not enabled. Errors: errs.NotFound if by may not see the case.
func (e *Cases) Tasks(ctx context.Context, by identity.Principal, id int64) ([]Resource, error) {
	h, err := e.viewCase(ctx, by, id)
	if err != nil {
		return nil, err
	}
	var out []Resource
	if h.core.IsDraft() {
		return append(out, *taskResource(h, machine.DraftAction)), nil
	}
	for i := range h.route.Compiled.Actions {
		if res := taskResource(h, h.route.Compiled.Actions[i].Name); res != nil {
			out = append(out, *res)
		}
	}
	for _, u := range h.core.AllUndone() {
		if !slices.ContainsFunc(out, func(have Resource) bool { return have.Name == u.Name }) {
			out = append(out, *taskResource(h, u.Name))
		}
	}
	return out, nil
}

// Task returns one enabled action of a case, or something that has failed by the name
// of its task or of its action. Errors: errs.NotFound if by may
// not see the case, or the action is not enabled; then it says what became of it.
func (e *Cases) Task(ctx context.Context, by identity.Principal, id int64, action string) (*Resource, error) {
	h, err := e.viewCase(ctx, by, id)
	if err != nil {
		return nil, err
	}
	if res := taskResource(h, action); res != nil {
		return res, nil
	}
	if over := machine.Over(h.core, h.route.Compiled, action); over != "" {
		return nil, errs.New(errs.NotFound, "%s", over)
	}
	return nil, absentAction(h, action, "enabled action")
}

// absentAction returns the refusal of an action that is not there. If the name may be
// mistyped it says for which one of the route.
func absentAction(h *loadedCase, action, what string) error {
	used := h.route.Compiled
	if hint := document.Hint(action, used.ActionNames()); hint != "" && !used.Knows(action) {
		return errs.New(errs.NotFound, "The route %q has no action %q%s", h.core.RouteName, action, hint)
	}
	if action == machine.DraftAction {
		return errs.New(errs.NotFound, "%q is the task of a draft, and case %d has started: it is %s, in %q. To change its title or XATTRs, save its file in Cases/.",
			action, h.core.ID, h.core.Shown(), h.core.Status)
	}
	return change.Absent(what)
}

func (e *Cases) viewCase(ctx context.Context, by identity.Principal, id int64) (*loadedCase, error) {
	var h *loadedCase
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if h, err = e.decider.loadCase(r, by, Ref{CaseID: id}); err == nil {
			err = e.tellBeside(r, by, h)
		}
		return err
	})
	return h, err
}

// tellBeside notes what the forms of tasks tell to a reader beside what is in the case.
func (e *base) tellBeside(r store.Reader, by identity.Principal, h *loadedCase) (err error) {
	h.beside.Reader = e.rights.Actor(by, h.admin)
	h.beside.Files, err = e.fileNames(r, h.core)
	return err
}

// taskResource returns the enabled action of that name, or what has failed by that
// name, as a resource, or nil.
func taskResource(h *loadedCase, action string) *Resource {
	if h.core.IsDraft() && action == machine.DraftAction {
		res := draftOf(h.core, h.route.Compiled, h.beside)
		res.Name, res.Lock = action, store.TaskKey(h.core.ID, action)
		return res
	}
	if failed := h.core.Undone(action); failed != nil {
		res := undoneOf(h.core, failed, h.beside)
		res.Name, res.Lock = action, store.TaskKey(h.core.ID, action)
		return res
	}
	for i := range h.core.Enabled {
		if en := &h.core.Enabled[i]; en.Action == action {
			res := taskOf(h, en, 0)
			res.Name, res.Seq, res.Lock = action, en.Number, store.TaskKey(h.core.ID, action)
			return res
		}
	}
	return nil
}

// Perform does with an enabled action what the document asks for, as the caller
// (docs/contract/engine.md#checks, which gives the order of the checks). A document
// that says what its task's form says changes nothing; the outcome is Idle then.
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
		if c == nil {
			return func(tx store.Tx) (*Outcome, error) {
				out := unperformed(h, action, body)
				return out, e.Finish(tx, req, out)
			}, nil
		}
		return func(tx store.Tx) (*Outcome, error) {
			if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.TaskKey(id, action))); err != nil {
				return nil, err
			}
			if err := e.decider.writeAsked(tx, c); err != nil {
				return nil, err
			}
			out := performance(c, req)
			return out, e.Finish(tx, req, out)
		}, nil
	})
}

// performance is the outcome of what a user did to an action.
func performance(c *caseChange, req Request) *Outcome {
	return &Outcome{
		Changed: true, Name: fmt.Sprint(c.row.ID), Form: c.formFor(req), FormETag: caseETag(c.after), Modified: c.after.Modified,
		CaseID: c.row.ID, Life: c.after.Shown(), Status: c.after.Status, LogSeq: actionSeq(c, c.performed), Action: c.performed,
		Warnings: c.warnings,
	}
}

// unperformed is the outcome of a document that asks nothing of an action.
func unperformed(h *loadedCase, action string, body []byte) *Outcome {
	out := &Outcome{Idle: true, Name: fmt.Sprint(h.row.ID), Modified: h.core.Modified, CaseID: h.row.ID, Life: h.core.Shown(), Status: h.core.Status}
	if res := taskResource(h, action); res != nil {
		out.Form, out.FormETag = res.Form, res.FormETag
		if bytes.Equal(body, res.Form) {
			out.ETag = res.FormETag
		}
	}
	return out
}

// performed decides on what a person asks of an action, which may be named by
// its type. It returns nil if they ask nothing.
func (e *Cases) performed(r store.Reader, req Request, h *loadedCase, action string, node *document.Node) (*caseChange, error) {
	draft := h.core.IsDraft() && action == machine.DraftAction
	failed := h.core.Undone(action) != nil
	if !draft && !h.route.Compiled.Knows(action) && !failed {
		return nil, absentAction(h, action, "action")
	}
	var version Version
	if req.If != nil { // else nothing depends on it
		if err := e.tellBeside(r, req.By, h); err != nil {
			return nil, err
		}
		version = taskVersion(h, action)
	}
	if err := e.CheckRequest(r.Locks(), req, version, change.ScopeOf(store.TaskKey(h.row.ID, action))); err != nil {
		return nil, taskGone(err, h, action, string(req.By.Name))
	}
	if err := notArchived(h.row); err != nil {
		return nil, err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	t := readTask(root, h, action)
	t.readOnly(root, h, action)
	belowXattrDict(&faults, h.route.Compiled)
	if fe := faults.Err(); fe == nil {
		if err := t.current(h.core); err != nil {
			return nil, err
		}
		if t.idle(h.core) {
			return nil, cmp.Or(t.unasked(root, req), e.tellBeside(r, req.By, h))
		}
	}
	if failed && t.do != "retry" && t.do != "abort" {
		return nil, cmp.Or(faults.Err(), error(errs.New(errs.ActionNotEnabled, "This has failed. It can be tried again or given up by an administrator of the route, who saves {\"do\": \"retry\"} or {\"do\": \"abort\"}.")))
	}
	var c *caseChange
	var err error
	if draft {
		c, err = e.performedDraft(r, req, h, t)
	} else {
		c, err = e.decider.decideOn(h, t.event(action, e.rights.Actor(req.By, h.admin)), req)
	}
	if err == nil || errs.Is(err, errs.Invalid) { // faults come after the rights
		err = toldAtOnce(faults.List(), err, node)
	}
	if err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, unknownXattrs(h.route.Compiled, h.core.RouteName, t.newKeys(h.core.Xattrs))...)
	return c, nil
}

// taskGone says in the refusal of a condition what became of a task that is not there any
// more, or why it is not one of the user's: that there is nothing at its address, or another
// version, does not tell its user what to do.
func taskGone(err error, h *loadedCase, action, user string) error {
	if !errs.Is(err, errs.Precondition) {
		return err
	}
	if taskResource(h, action) != nil {
		if why := machine.Barred(h.core, h.route.Compiled, action, user); why != "" {
			return errs.New(errs.Precondition, "%s", why)
		}
		return err
	}
	if over := machine.Over(h.core, h.route.Compiled, action); over != "" {
		return errs.New(errs.Precondition, "%s", over)
	}
	return err
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
