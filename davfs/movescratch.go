package davfs

import (
	"net/http"
	"strings"

	"flowdrive/internal/errs"
)

// Editors save by renaming: they write a temporary file and move it over the
// document, some after they have moved that out of the way
// (docs/contract/drive.md#saving-by-renaming). What a document is moved onto is
// submitted as by a PUT, and a document that is moved out of the way stays in
// force.

// scratchOf returns the place in the caller's scratch area that a node is.
func scratchOf(n node) (scratchPlace, bool) {
	switch n := n.(type) {
	case scratchFile:
		return n.at, true
	case newScratch:
		return n.at, true
	case scratchFolder:
		return n.scratchPlace, true
	}
	return scratchPlace{}, false
}

// moveSideFile answers a MOVE from or to a scratch area. done is false for any
// other.
func (t *transfer) moveSideFile(put *request, to node) (a *answer, done bool, err error) {
	if !t.move {
		return nil, false, nil
	}
	from, fromScratch := scratchOf(t.source)
	place, toScratch := scratchOf(to)
	_, isFile := t.source.(scratchFile)
	switch {
	case fromScratch && toScratch:
		a, err = t.withinScratch(from, place)
	case toScratch && hasOverlay(t.at, t.source):
		a, err = t.outOfTheWay(put)
	case isFile && t.about.size == 0 && hasOverlay(put.at, to):
		a, err = t.empty(put, from)
	case fromScratch && !isFile:
		err = notMovable(t.source)
	default:
		return nil, false, nil
	}
	return a, true, err
}

// asDraft takes a draft that is the source for the empty file that it is.
func (t *transfer) asDraft() error {
	if !hasOverlay(t.at, t.source) {
		return nil
	}
	ctx := t.r.Context()
	if _, err := t.statStored(ctx, t.at, t.source); !errs.Is(err, errs.NotFound) {
		return err
	}
	draft, err := t.findDraft(ctx, t.at)
	if err != nil || draft == nil {
		return err
	}
	last := len(t.at.Segments) - 1
	parent, err := t.walk(ctx, t.at.parent())
	if err != nil {
		return err
	}
	dir, ok := parent.(folder)
	if !ok {
		return absent()
	}
	t.source = scratchFile{scratchTarget{scratchPlace{t.scope, dir, t.at.Segments[:last], t.at.Segments[last]}}, storedScratch{t.scope, draft}}
	return nil
}

// withinScratch moves a side file or folder to another place for one.
func (t *transfer) withinScratch(from, to scratchPlace) (*answer, error) {
	ctx := t.r.Context()
	if err := (scratchTarget{to}).guard(ctx); err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil, noPlace()
		}
		return nil, err
	}
	if t.about.dir {
		if err := to.ownFolder(); err != nil {
			return nil, err
		}
	}
	req := t.engineRequest(t.wall)
	req.If = t.sourceCondition
	out, err := t.engine.Scratch.Move(ctx, req, from.place(), to.place(), t.overwrite)
	if err != nil {
		return nil, err
	}
	a := &answer{Status: http.StatusNoContent}
	if out.Created {
		a.Status = http.StatusCreated
	}
	a.locate(strings.TrimPrefix(out.Name, "/"))
	if !t.about.dir {
		a.add("ETag", out.ETag)
	}
	return a, nil
}

// outOfTheWay stores a copy of a document, which stays in force; its name
// shows nothing to the caller until a PUT of it comes, or for a minute.
func (t *transfer) outOfTheWay(put *request) (*answer, error) {
	if err := t.checkSourceCondition(); err != nil {
		return nil, err
	}
	a, err := t.send(put)
	if err != nil {
		return nil, err
	}
	at := t.userPath()
	t.request.overlays.echoes.forget(at)
	t.request.overlays.hidden.add(at, struct{}{}, 0)
	return a, nil
}

// empty answers the MOVE of an empty file onto a document, as davfs2 sends it before
// the content. The document stays in force. If there is none, a draft is made.
func (t *transfer) empty(put *request, from scratchPlace) (*answer, error) {
	ctx := t.r.Context()
	req := t.engineRequest(t.wall)
	req.If = t.sourceCondition
	if _, err := t.engine.Scratch.MayTake(ctx, req, from.place()); err != nil {
		return nil, err
	}
	put.script, t.sent = false, true // whatever client moves it
	a, err := t.drive.put(put)
	if err != nil {
		return nil, err
	}
	req.If = nil
	if err := t.engine.Scratch.Delete(ctx, req, from.place()); err != nil {
		t.Log.Warn().Err(err).Msg("drive: could not remove an empty file that was moved")
	}
	return a, nil
}
