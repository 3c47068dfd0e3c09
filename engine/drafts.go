package engine

import (
	"fmt"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/route"
	"flowdrive/store"
)

// A draft is a case that a dropped file has made, and that lacks XATTRs which its route
// requires (docs/contract/drive.md#draft-cases). It is stored as a queued case that is
// due when its starter is reminded or when it ends, so that the manager does not start
// it; the complete form says that it is a draft.

// storedState returns the state under which a case is stored that people see in a state.
func storedState(shown string) string {
	switch shown {
	case machine.StateDraft:
		return string(machine.Queued)
	case StateOpen, StateAll:
		return "" // several, of which the rows are asked
	}
	return shown
}

// versionOf returns the version of its route that the case has. That of a draft is
// always the present one: what it lacks is judged when it starts.
func (e *base) versionOf(r store.Reader, c *machine.Case) (*route.Route, error) {
	if info := e.rights.Route(c.RouteID); info != nil && c.IsDraft() {
		c.RouteVersion = info.Version
		return e.versions.get(r, info.ID, info.Version)
	}
	return e.versions.get(r, c.RouteID, c.RouteVersion)
}

// draftOf returns the task of a draft as a resource of a worklist.
func draftOf(c *machine.Case, r *route.Route, beside machine.Beside) *Resource {
	form := machine.DraftForm(c, r, beside)
	return &Resource{
		Name: fmt.Sprintf("%d.%s", c.ID, machine.DraftAction), Seq: c.ID * ordinals, Form: form, FormETag: change.SourceETag(form),
		Title: c.Title, Created: c.Created, Modified: c.Modified, Own: true,
	}
}

// draftTask returns the form of the task of a case that is a draft, else nil.
func draftTask(c *caseChange) []byte {
	if !c.after.IsDraft() {
		return nil
	}
	return machine.DraftForm(c.after, c.route, machine.Beside{Files: namesOf(c.after, nil)})
}

// submission is what is given to a draft.
type submission struct {
	dict    label.Dict // all XATTRs of the case
	comment string
}

// performedDraft decides on what a person asks of the task of a draft.
func (e *Cases) performedDraft(r store.Reader, req Request, h *loadedCase, t *taskChange) (*caseChange, error) {
	actor := e.rights.Actor(req.By, h.admin)
	switch t.do {
	case "perform":
	case "abort":
		c, err := e.decider.decideOn(h, machine.Cancel{Actor: actor, Comment: t.comment}, req)
		if err == nil {
			c.performed = machine.DraftAction
		}
		return c, err
	default:
		var faults document.Faults
		faults.Add(nil, "/do", errs.CodeRange, "must be perform or abort, not %q: the case is a draft", t.do)
		return nil, faults.Err()
	}
	c, err := e.submit(req, h, submission{merged(h.core.Xattrs, t.xattrs), t.comment})
	if err != nil {
		return nil, err
	}
	return e.startIfFree(r, req, h, c)
}

// completesDraft returns the XATTRs that an edit gives to a draft if nothing is missing
// then; else nil.
func (e *Cases) completesDraft(h *loadedCase, ed *edit) *label.Dict {
	if !h.core.IsDraft() || ed.Xattrs == nil || ed.life != nil || machine.Lacks(h.route.Compiled, *ed.Xattrs) != nil {
		return nil
	}
	return ed.Xattrs
}

// submitFurther gives a draft what it lacks, behind another change of it.
func (e *Cases) submitFurther(req Request, h *loadedCase, first *caseChange, s submission) (*caseChange, error) {
	after := *h
	after.core, after.after = first.after, first.byID()
	after.find = first.finder(h.find)
	then, err := e.submit(req, &after, s)
	if err != nil {
		return nil, err
	}
	then.follow(first)
	return then, nil
}

// submit gives a draft what it lacks. The rights of its starter are judged again, as for
// a drop that is made now.
func (e *Cases) submit(req Request, h *loadedCase, s submission) (*caseChange, error) {
	info := e.rights.Route(h.core.RouteID)
	starter := e.directory().ByName(identity.Name(h.core.Starter))
	if info == nil || starter == nil {
		return nil, change.Absent("route")
	}
	by := e.directory().Principal(starter.ID)
	if !e.rights.MayStart(by, info) {
		return nil, errs.New(errs.NotAllowed, "%s may not start cases of the route %q any more, so that this draft cannot start. Delete it, or ask an administrator of the route.", h.core.Starter, info.Name)
	}
	if !by.In(identity.ID(h.core.ContextID)) {
		return nil, errs.New(errs.ContextNotAvailable, "The context of this draft, %s, is not one of %s any more. Delete it, and drop the file again.", h.core.Context, h.core.Starter)
	}
	seed := *h.core
	b := &newCase{info: &usedRoute{Route: *info}, context: *e.directory().ByID(identity.ID(h.core.ContextID)), xattrs: s.dict, at: req.Now, zone: h.core.LabelZone}
	if b.zone == "" {
		b.zone = "UTC"
	}
	warnings := e.decider.expandLabels(&seed, b)
	return e.decider.decideOn(h, machine.Submit{Actor: e.rights.Actor(req.By, h.admin), Comment: s.comment, Title: seed.Title, Xattrs: seed.Xattrs, Warnings: warnings}, req)
}

// draftTaskBecame says what has become of the task of a draft, "" for nothing.
func (c *caseChange) draftTaskBecame() Change {
	was, is := c.was != nil && c.was.IsDraft(), c.after.IsDraft()
	switch {
	case is && !was:
		return ChangeOffered
	case was && is && c.was.Draft.Remind != c.after.Draft.Remind:
		return ChangeReminded
	case was && !is && c.after.Life == machine.Canceled:
		return ChangeWithdrawn
	case was && !is:
		return ChangePerformed
	}
	return ""
}
