package davfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// scenarioEnd is how the names of scenarios end before their extension.
const scenarioEnd = ".scenario"

// ofScenario cuts off what makes a name the name of a route's scenario. stem is the name
// without its extension.
func ofScenario(stem string) (route string, is bool) {
	n := len(stem) - len(scenarioEnd)
	if n <= 0 || !strings.EqualFold(stem[n:], scenarioEnd) {
		return stem, false
	}
	return stem[:n], true
}

// scenarioFile is Routes/<route>.scenario.yaml or .json: the story that a route is played
// by before it is stored (docs/contract/routes.md#9-scenarios).
type scenarioFile struct {
	*scope
	route string
	ext   string
}

func (n scenarioFile) illegal() error { return routeFile{n.scope, n.route, n.ext}.illegal() }

func (n scenarioFile) yaml() bool { return n.ext != ".json" }

// load returns the scenario, if it can be had in this spelling.
func (n scenarioFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.illegal() != nil {
		return nil, absent()
	}
	r, err := n.engine.Scenarios.Scenario(ctx, n.by, n.route)
	if err == nil && n.yaml() != r.YAML {
		return nil, absent()
	}
	return r, err
}

// scenarioInfo describes a scenario in the spelling that was stored.
func scenarioInfo(r *engine.Resource) *info {
	ext := ".json"
	if r.YAML {
		ext = ".yaml"
	}
	return sourceInfo(r.Name+scenarioEnd+ext, sourceType(ext), r)
}

func (n scenarioFile) about(r *engine.Resource) *info {
	return sourceInfo(r.Name+scenarioEnd+n.ext, sourceType(n.ext), r)
}

func (n scenarioFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return n.about(r), nil
}

func (n scenarioFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return n.about(r), contentOf(r.Source), nil
}

func (n scenarioFile) putRules() putRules {
	return putRules{parameters: []string{"waits"}, illegal: n.illegal()}
}

func (n scenarioFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	waits, err := in.query.flag("waits")
	if err != nil {
		return nil, err
	}
	if waits {
		return n.engine.Scenarios.KeepScenario(ctx, req, n.route, n.yaml(), in.data)
	}
	return n.engine.Scenarios.PutScenario(ctx, req, n.route, n.yaml(), in.data)
}

func (n scenarioFile) describe(a *answer, o *engine.Outcome) {
	ext := ".json"
	if n.yaml() {
		ext = ".yaml"
	}
	a.locate("dav", "Workflow", "Routes", o.Name+scenarioEnd+ext)
}

// noteWaiting leaves a note about a scenario of a mounting client that belongs to no
// route: its name may be misspelt. Script clients are warned in the answer.
func (p *putRequest) noteWaiting(o *engine.Outcome) {
	n, is := p.target.(scenarioFile)
	if !is || !p.mounted() || p.dryRun || len(o.Warnings) == 0 {
		return
	}
	if _, err := p.engine.Routes.Route(p.r.Context(), p.by, n.route); !errs.Is(err, errs.NotFound) {
		return
	}
	text := fmt.Sprintf("%s was saved, but nothing is tried by it.\n\n- %s\n\n", p.at.String(), o.Warnings[0])
	text += "A scenario is called as its route is, with .scenario before the ending: travel.scenario.yaml beside travel.yaml. If the name is wrong, rename the file.\n\n"
	text += "This note is deleted after a day, or once there is such a route.\n"
	p.keepRefusal(p.request, scratch.Refusal{Name: engine.WaitingNote(n.route).Name, Reasons: text}, p.at)
}

// goesWithRoute reports whether the refusal is of a scenario that a mounting client has saved
// before the route that it goes with: who has two files can save only one at a time. Script
// clients have ?waits.
func (p *putRequest) goesWithRoute(refusal error) (n scenarioFile, is bool) {
	n, is = p.target.(scenarioFile)
	return n, is && p.mounted() && !p.dryRun && errs.Is(refusal, errs.ScenarioBroken)
}

// saysItIsKept adds to the refusal of such a scenario what becomes of it.
func (p *putRequest) saysItIsKept(refusal error) error {
	e, isProblem := errors.AsType[*errs.Error](refusal)
	if _, is := p.goesWithRoute(refusal); !is || !isProblem {
		return refusal
	}
	told := *e
	told.Detail = "The scenario is kept for you all the same: save the route that it goes with, and both are stored if the story holds. " + e.Detail
	return &told
}

// keepForRoute keeps such a scenario, once what its client has deleted before is there again.
func (p *putRequest) keepForRoute(refusal error) {
	n, is := p.goesWithRoute(refusal)
	if !is {
		return
	}
	_, err := n.engine.Scenarios.KeepScenario(p.r.Context(), engine.Request{By: p.by, Now: p.wall}, n.route, n.yaml(), p.in.data)
	if err != nil {
		p.Log.Warn().Err(err).Msg("drive: a scenario could not be kept for the next version of its route")
	}
}

// meantScenario says in the refusal of a route which has the steps of a scenario how the
// file of a scenario is called.
func (n routeFile) meantScenario(refusal error) error {
	e, ok := errors.AsType[*errs.Error](refusal)
	if !ok || !errs.Is(refusal, errs.Invalid) {
		return refusal
	}
	at := slices.IndexFunc(e.Faults, func(f errs.Fault) bool { return f.Pointer == "/steps" && f.Code == errs.CodeUnknownField })
	if at < 0 {
		return refusal
	}
	told := e.Faults[at]
	told.Detail = fmt.Sprintf("is a field of scenarios, not of routes; the file of a scenario is called %q if that of its route is %q", n.ofMeant()+scenarioEnd+n.ext, n.ofMeant()+n.ext)
	return errs.InvalidDocument(slices.Insert(slices.Delete(slices.Clone(e.Faults), at, at+1), 0, told))
}

// ofMeant returns the name of the route to which a scenario with a name like this one is
// likely to belong: without a last part that begins as "scenario" does.
func (n routeFile) ofMeant() string {
	at := strings.LastIndexAny(n.name, ".-_ ")
	if at > 0 && strings.HasPrefix(foldName(n.name[at+1:]), "scen") {
		return n.name[:at]
	}
	return n.name
}

func (n scenarioFile) options() []string { return nil }

func (n scenarioFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if _, err := n.load(ctx); err != nil {
		return err
	}
	return n.engine.Scenarios.DeleteScenario(ctx, req, n.route)
}

// moveTo puts the scenario beside another route.
func (n scenarioFile) moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error) {
	place, ok := to.(scenarioFile)
	if !ok {
		return nil, notMovable(n)
	}
	if err := place.illegal(); err != nil {
		return nil, err
	}
	if n.yaml() != place.yaml() {
		return nil, errs.New(errs.NameNotAllowed, "A scenario that is moved keeps the ending %s; to write it in another language, store it anew.", n.ext)
	}
	if _, err := n.load(ctx); err != nil {
		return nil, err
	}
	out, err := n.engine.Scenarios.MoveScenario(ctx, req, n.route, place.route, t.overwrite)
	if err != nil {
		return nil, err
	}
	return t.renamed(out, "dav", "Workflow", "Routes", out.Name+scenarioEnd+n.ext), nil
}

func (n scenarioFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnScenario, Name: n.route}
}

func (n scenarioFile) lockArea() store.LockKey { return store.LocksOnRoutes }
