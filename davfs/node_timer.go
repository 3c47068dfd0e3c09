package davfs

import (
	"context"
	"io"
	"strconv"
	"strings"

	"flowdrive/engine"
)

// timersFolder is Cases/<id>/Timers/: a file for every timer of the case and
// its tasks that has a limit, and for every user-defined one.
type timersFolder struct {
	*scope
	id int64
}

func (n timersFolder) home() []string {
	return []string{"dav", "Workflow", "Cases", strconv.FormatInt(n.id, 10), "Timers"}
}

func (n timersFolder) stat(ctx context.Context) (*info, error) {
	about, err := caseFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo("Timers", about.modified), nil
}

func (n timersFolder) child(_ context.Context, name string) (node, error) {
	if same(name, contentsName) || same(name, lsName) {
		return special(n.scope, n, name), nil
	}
	stem, ext := splitName(name)
	action, what, ofAction := strings.Cut(stem, ".")
	if ext != ".json" || !legalWord(action) || ofAction && !legalWord(what) {
		return nil, absent()
	}
	return timerFile{n.scope, n.id, stem}, nil
}

func (n timersFolder) list(ctx context.Context) ([]*info, error) {
	timers, err := n.engine.Timers.Timers(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	out := make([]*info, len(timers))
	for i := range timers {
		out[i] = n.listed(&timers[i])
	}
	return out, nil
}

func (n timersFolder) hasMeaning(context.Context, string) (bool, error) { return false, nil }

func (n timersFolder) filters() []string { return nil }

func (n timersFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	timers, err := n.engine.Timers.Timers(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	first := min(max(f.After, 0), int64(len(timers))) // they are numbered from 1
	timers = timers[first:]
	if f.Limit > 0 && len(timers) > f.Limit {
		timers = timers[:f.Limit]
	}
	return timers, nil
}

func (n timersFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }

// timerFile is Timers/<timer>.json: GET shows the timer, PUT sets its limit.
type timerFile struct {
	*scope
	id    int64
	timer string
}

func (n timerFile) stat(ctx context.Context) (*info, error) {
	r, err := n.engine.Timers.Timer(ctx, n.by, n.id, n.timer)
	if err != nil {
		return nil, err
	}
	return formInfo(r.Name+".json", r), nil
}

func (n timerFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.engine.Timers.Timer(ctx, n.by, n.id, n.timer)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(r.Name+".json", r), contentOf(r.Form), nil
}

func (n timerFile) putRules() putRules { return putRules{existing: true} }

func (n timerFile) guard(ctx context.Context) error {
	return n.engine.Timers.MaySetTimer(ctx, n.by, n.id, n.timer)
}

func (n timerFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Timers.PutTimer(ctx, req, n.id, n.timer, in.data)
}

func (n timerFile) describe(a *answer, o *engine.Outcome) {
	if o.Name == "" { // its task is over
		a.locate("dav", "Workflow", "Cases", strconv.FormatInt(n.id, 10)+".json")
		return
	}
	a.locate(casePath(n.id, "Timers", o.Name+".json")...)
}
