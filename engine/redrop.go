package engine

import (
	"fmt"
	"slices"
	"strconv"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// A file that is saved again under the name of one that has made a draft, or whose case has
// failed, is the input of that case from then on (docs/contract/drive.md#draft-cases,
// docs/contract/drive.md#a-file-whose-case-has-failed).

// redrop is another drop of a file whose case takes it.
type redrop struct {
	drop   Drop
	of     *loadedCase
	failed bool           // it has failed, and is tried again; else it is a draft
	old    *store.Message // its input so far
}

// earlierOf returns the case that the caller has started by a file of that name, if it is a
// draft or has failed in a way that can be tried again; nil for none. Errors: those of a
// first drop of the caller.
func (e *Drops) earlierOf(r store.Reader, req Request, d Drop) (*redrop, error) {
	info, err := e.startable(req.By, d.Route)
	if err != nil {
		return nil, err
	}
	alias, err := store.OrNil(r.Names().Alias(req.By.ID, info.ID, d.Name))
	if alias == nil || err != nil {
		return nil, err
	}
	row, err := store.OrNil(r.Cases().Get(alias.CaseID))
	if row == nil || err != nil || notArchived(row) != nil {
		return nil, err
	}
	state := access.ShownState(row)
	failed := state == string(machine.Failed)
	if !failed && state != machine.StateDraft {
		return nil, err
	}
	h, err := e.decider.loadRow(r, req.By, row, nil)
	if err != nil || !access.IsStarter(req.By, h.core) || failed && !canTryAgain(h.core, info) {
		return nil, err
	}
	old, err := store.OrNil(r.Cases().Messages().GetByLabel(row.ID, store.LabelInput))
	if old == nil || err != nil {
		return nil, err
	}
	return &redrop{d, h, failed, old}, judgeAlias(r, req, info.ID, d.Name)
}

// canTryAgain reports whether a failed case takes another input: it could not start, or something
// in it has failed and its version of the route is the present one. Who has mended the route drops
// the file again to see the new version at work, which such a case would not come to.
func canTryAgain(c *machine.Case, info *access.Route) bool {
	return c.Life == machine.Failed || c.HasFailures() && c.RouteVersion == info.Version
}

// edit returns what the drop changes of the draft apart from its input.
func (e *Drops) edit(req Request, again *redrop) (*edit, error) {
	d, h := again.drop, again.of
	ed := &edit{Edit: machine.Edit{Actor: e.rights.Actor(req.By, h.admin), Priority: d.Priority}}
	if d.Title != "" {
		ed.Title = &d.Title
	}
	if len(d.Xattrs) > 0 {
		all := h.core.Xattrs
		for _, x := range d.Xattrs {
			all = all.Set(x.Key, x.Value)
		}
		ed.Xattrs = &all
	}
	if d.StartAt != "" {
		at, err := e.dropStart(req, d)
		if err != nil {
			return nil, err
		}
		ed.StartAt = &at
	}
	if d.Context != "" {
		id, err := e.attachments.ownContext(req.By, d.Context)
		if err != nil {
			return nil, err
		}
		context := int64(id)
		ed.ContextID, ed.Context = &context, string(e.directory().ByID(id).Name)
	}
	if !again.failed {
		return ed, nil
	}
	if err := e.cases.judgeEdit(req, h, ed); err != nil { // a case that was started once is not a draft
		return nil, err
	}
	ed.life = machine.RetryAll{Actor: ed.Actor, Corrected: true}
	if h.core.Life == machine.Failed {
		ed.life = machine.Reopen{Actor: ed.Actor, Comment: "With another input"}
	}
	return ed, nil
}

// triedAgain says what has become of a file whose case had failed.
func (again *redrop) triedAgain() string {
	return fmt.Sprintf("Case %d had failed. This file is its input now in place of the one before, and it is tried again with it. To start another case, save the file under another name.", again.of.core.ID)
}

// dropAgain gives a case another input: a draft starts if nothing is missing any more, and
// what has failed is tried again.
func (e *Drops) dropAgain(r store.Reader, req Request, again *redrop, input *contents.Content) (change.Apply[*Outcome], error) {
	ed, err := e.edit(req, again)
	if err != nil {
		return nil, err
	}
	h, old := again.of, again.old
	m := input.Message(h.core.ID, mustGUID(h.core.GUID), store.LabelInput)
	m.Created, m.Modified, m.AuthorID = old.Created, req.Now, req.By.ID
	m.Version, m.UUID = old.Version+1, old.UUID
	stored := h.find
	h.find = func(label string) (*store.Message, error) {
		if label == store.LabelInput {
			return m, nil
		}
		return stored(label)
	}
	c, err := e.cases.decideEdit(r, req, h, ed)
	if err != nil {
		return nil, err
	}
	c.read = slices.DeleteFunc(c.read, func(fact readFact) bool { return fact.label == store.LabelInput })
	c.messages = append(c.messages, m)
	return func(tx store.Tx) (*Outcome, error) {
		now, err := store.OrNil(tx.Cases().Messages().GetByLabel(h.core.ID, store.LabelInput))
		if err != nil {
			return nil, err
		}
		if now == nil || now.Version != old.Version {
			return nil, change.ErrStale
		}
		if err := e.decider.writeAsked(tx, c); err != nil {
			return nil, err
		}
		if old.InFile {
			e.contents.RouseAfter(tx)
		}
		out := &Outcome{
			Draft: draftTask(c), Changed: true, Name: strconv.FormatInt(h.core.ID, 10), Form: c.row.Form, FormETag: caseETag(c.after),
			Modified: c.after.Modified, CaseID: h.core.ID, Life: c.after.Shown(), Status: c.after.Status, LogSeq: c.after.LogSeq,
			Route: c.after.RouteName, Message: m.UUID,
		}
		if again.failed {
			out.Retried, out.Warnings = true, []string{again.triedAgain()}
		}
		if keepsAlias(c.after) {
			out.ETag = MessageETag(m)
		}
		return out, e.Finish(tx, req, out)
	}, nil
}

// judgeDrop returns how much room a drop may take, before its body is read.
func (e *Drops) judgeDrop(r store.Reader, req Request, d Drop, size int64) (room int64, err error) {
	again, err := e.earlierOf(r, req, d)
	if err != nil {
		return 0, err
	}
	if again != nil {
		return e.roomInQuota(r, req.By.ID, again.old.Size, size)
	}
	if _, err = e.readDrop(r, req, d, nil); err != nil {
		return 0, err
	}
	return e.roomInQuota(r, req.By.ID, 0, size)
}

// DraftNote returns where the note is that tells the author of a draft on a mount what
// to do: in Rejected/ of the folder into which the file was dropped.
func DraftNote(route string, id int64) store.ScratchPlace {
	return store.ScratchPlace{Folder: "/dav/Workflow/Routes/" + route, Name: fmt.Sprintf("Case %d is a draft.txt", id)}
}

// forgetNote deletes the note about a draft, which is none any more.
func forgetNote(tx store.Tx, c *caseChange) error {
	if c.was == nil || !c.was.IsDraft() || c.after.IsDraft() {
		return nil
	}
	return deleteNote(tx, c.row.StarterID, DraftNote(c.after.RouteName, c.after.ID))
}

// WaitingNote returns where the note is that tells the author of a scenario on a mount
// that it waits for a route: in Rejected/ of the folder of the routes.
func WaitingNote(route string) store.ScratchPlace {
	return store.ScratchPlace{Folder: "/dav/Workflow/Routes", Name: route + ".scenario waits for its route.txt"}
}

// deleteNote deletes a note in Rejected/, if it is still there.
func deleteNote(tx store.Tx, of identity.ID, at store.ScratchPlace) error {
	err := tx.Write().Scratch().Delete(of, scratch.RejectedAt(at))
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
