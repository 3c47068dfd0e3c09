package davfs

import (
	"context"
	"slices"
	"strconv"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// The fake copies and moves files, not folders.

func (f *fake) CopyDocument(_ context.Context, req engine.Request, from, to engine.DocumentPath, t engine.Transfer) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.transfer(req, from, to, t, false)
}

func (f *fake) MoveDocument(_ context.Context, req engine.Request, from, to engine.DocumentPath, t engine.Transfer) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.transfer(req, from, to, t, true)
}

func (f *fake) transfer(req engine.Request, from, to engine.DocumentPath, t engine.Transfer, move bool) (*engine.Outcome, error) {
	source, err := f.documentAt(req.By, from)
	if err != nil || source.found == nil {
		return nil, notThere()
	}
	target, err := f.documentAt(req.By, to)
	if err != nil {
		return nil, errs.New(errs.MissingParent, "There is no folder for it.")
	}
	if err := f.writable(req, source); err != nil {
		return nil, err
	}
	if err := f.placeable(target); err != nil {
		return nil, err
	}
	created := target.found == nil
	if !created && !t.Overwrite {
		return nil, errs.New(errs.Precondition, "There is something already.")
	}
	if !created {
		f.deleteTree(target.found)
	}
	d := *source.found
	d.ParentID, d.Name = target.folder.ID, target.path[len(target.path)-1]
	if move {
		f.deleteTree(source.found)
	} else {
		d.ID = f.nextID()
	}
	f.documents = append(f.documents, &d)
	return &engine.Outcome{Created: created, Changed: true, Name: target.path.String(), ETag: d.ETag()}, nil
}

func (f *fake) MayTake(_ context.Context, req engine.Request, p engine.DocumentPath) (*engine.Taken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.documentAt(req.By, p)
	if err != nil || at.found == nil {
		return nil, notThere()
	}
	return &engine.Taken{Document: p, ID: at.found.ID}, f.writable(req, at)
}

// take deletes what a MOVE has moved.
func (f *fake) take(req engine.Request) {
	if req.Takes != nil && req.Takes.Scratch != nil {
		if i := f.scratchAt(req.By, *req.Takes.Scratch); i >= 0 {
			f.scratch = slices.Delete(f.scratch, i, i+1)
		}
	} else if req.Takes != nil {
		f.documents = slices.DeleteFunc(f.documents, func(d *store.Document) bool { return d.ID == req.Takes.ID })
	}
}

func (f *fake) RenameEntry(_ context.Context, req engine.Request, ref engine.Ref, name string, overwrite bool) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rename(f.entries, req, ref, name, overwrite)
}

func (f *fake) RenameCase(_ context.Context, req engine.Request, ref engine.Ref, name string, overwrite bool) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rename(f.cases, req, ref, name, overwrite)
}

// rename gives another name; it does not replace what has it.
func (f *fake) rename(all []*stored, req engine.Request, ref engine.Ref, name string, overwrite bool) (*engine.Outcome, error) {
	var found *stored
	for _, s := range all {
		switch {
		case ref.Name != "" && s.Given == ref.Name && s.AuthorID == ref.Author, ref.CaseID != 0 && s.Seq == ref.CaseID, ref.Entry != store.UUID{} && s.uuid == ref.Entry:
			found = s
		case s.Given == name && s.AuthorID == req.By.ID && !overwrite:
			return nil, errs.New(errs.Precondition, "There is something already.")
		case s.Given == name && s.AuthorID == req.By.ID:
			return nil, errs.New(errs.NameTaken, "There is something already.")
		}
	}
	if found == nil {
		return nil, notThere()
	}
	if err := found.judge(req, ref.Name != ""); err != nil {
		return nil, err
	}
	found.Given, found.AuthorID = name, req.By.ID
	return &engine.Outcome{Created: true, Changed: true, Name: found.Name, ETag: found.SourceETag}, nil
}

// MoveOnBoard knows one way: from open to done.
func (f *fake) MoveOnBoard(_ context.Context, req engine.Request, move engine.BoardMove) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if move.From != "open" || move.To != "done" {
		return nil, errs.New(errs.ActionNotEnabled, "No way from %s to %s of %s.", move.From, move.To, move.Route)
	}
	if req.If != nil {
		if err := req.If(engine.Version{Exists: true}); err != nil {
			return nil, err
		}
	}
	return &engine.Outcome{Changed: true, Name: strconv.FormatInt(move.CaseID, 10), CaseID: move.CaseID, Life: machine.Completed, Status: move.To, LogSeq: 3, Action: "close"}, nil
}
