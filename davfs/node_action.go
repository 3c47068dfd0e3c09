package davfs

import (
	"context"
	"io"
	"strconv"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// actionsFolder is Cases/<id>/Actions/: a file for every enabled action.
type actionsFolder struct {
	*scope
	id int64
}

func (n actionsFolder) stat(ctx context.Context) (*info, error) {
	about, err := caseFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo("Actions", about.modified), nil
}

func (n actionsFolder) child(ctx context.Context, name string) (node, error) {
	stem, ext := splitName(name)
	if ext == "" && taskWord(stem) {
		_, err := n.engine.Actions.Task(ctx, n.by, n.id, stem)
		switch {
		case errs.Is(err, errs.NotFound):
			return nil, absent()
		case err != nil:
			return nil, err
		}
		return nil, errs.New(errs.NotFound, "There is nothing at this address. The action is the file %s.json beside it.", stem)
	}
	if ext != ".json" || !taskWord(stem) {
		return nil, absent()
	}
	return actionFile{n.scope, n.id, stem}, nil
}

func (n actionsFolder) list(ctx context.Context) ([]*info, error) {
	tasks, err := n.engine.Actions.Tasks(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	out := make([]*info, len(tasks))
	for i := range tasks {
		out[i] = formInfo(tasks[i].Name+".json", &tasks[i])
	}
	return out, nil
}

func (n actionsFolder) hasMeaning(context.Context, string) (bool, error) { return false, nil }

// actionFile is Actions/<action>.json: GET shows the task, PUT performs it.
type actionFile struct {
	*scope
	id     int64
	action string
}

func (n actionFile) stat(ctx context.Context) (*info, error) {
	r, err := n.engine.Actions.Task(ctx, n.by, n.id, n.action)
	if err != nil {
		return nil, err
	}
	return formInfo(r.Name+".json", r), nil
}

func (n actionFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.engine.Actions.Task(ctx, n.by, n.id, n.action)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(r.Name+".json", r), contentOf(r.Form), nil
}

// putRules: the body is read before the rest
// (docs/contract/drive.md#order-of-checks), because which action it is about
// may follow from it; the engine then checks in its own order.
func (n actionFile) putRules() putRules { return putRules{action: true} }

func (n actionFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Actions.Perform(ctx, req, n.id, n.action, in.data)
}

func (n actionFile) describe(a *answer, o *engine.Outcome) {
	a.locate("dav", "Workflow", "Cases", strconv.FormatInt(n.id, 10)+".json")
	a.add("X-Flowdrive-Case-State", string(o.Life))
	a.add("X-Flowdrive-Case-Status", o.Status)
	if !o.Idle {
		a.add("X-Flowdrive-Log-Entry", strconv.FormatInt(o.LogSeq, 10))
	}
	if o.Action != "" && o.Action != n.action { // submitted by its type
		a.add("X-Flowdrive-Action", o.Action)
	}
}
