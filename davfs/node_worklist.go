package davfs

import (
	"context"
	"io"
	"net/http"
	"path"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
)

// worklistPlaces are the members of Workflow/Worklist/: what the caller has
// to do.
func worklistPlaces(s *scope) []place {
	lists := []engine.Worklist{
		engine.WorklistOffered, engine.WorklistAccepted, engine.WorklistToday, engine.WorklistWarnings, engine.WorklistEscalated, engine.WorklistDone,
	}
	places := make([]place, 0, len(lists)+1)
	for _, list := range lists {
		places = append(places, place{string(list), func(s *scope) node { return worklistFolder{s, list} }, true})
	}
	return append(places, place{teamRoot, func(s *scope) node { return teamsFolder{s} }, len(teamsFolder{s}.names()) > 0})
}

const teamRoot = "Team"

// teamsFolder is Worklist/Team/: a folder for each team that the caller heads. For
// others it is not there.
type teamsFolder struct{ *scope }

func (n teamsFolder) names() []string { return n.engine.Worklists.HeadedTeams(n.by) }

func (n teamsFolder) stat(context.Context) (*info, error) {
	if !n.by.Admin() && len(n.names()) == 0 {
		return nil, absent()
	}
	return folderInfo(teamRoot, n.since), nil
}

func (n teamsFolder) child(_ context.Context, name string) (node, error) { //nolint:unparam // as folder has it
	return worklistFolder{n.scope, engine.TeamWorklist(name)}, nil
}

func (n teamsFolder) list(context.Context) ([]*info, error) { //nolint:unparam // as folder has it
	var out []*info
	for _, name := range n.names() {
		out = append(out, folderInfo(name, n.since))
	}
	return out, nil
}

const worklistRoot = "Worklist"

// worklistFolder is one of the caller's worklists: a file for each task.
type worklistFolder struct {
	*scope
	name engine.Worklist
}

func (n worklistFolder) home() []string {
	return append([]string{"dav", "Workflow", worklistRoot}, strings.Split(string(n.name), "/")...)
}

func (n worklistFolder) stat(ctx context.Context) (*info, error) {
	if n.readOnly() { // a team may not be the caller's
		if _, err := n.page(ctx, engine.Filter{Limit: 1}); err != nil {
			return nil, err
		}
	}
	return folderInfo(path.Base(string(n.name)), n.since), nil
}

// readOnly reports whether the list is only to be read: nothing is done by saving one
// of its files.
func (n worklistFolder) readOnly() bool {
	return n.name == engine.WorklistDone || strings.Contains(string(n.name), "/")
}

// reserved refuses to save anything in a list that is only to be read.
func (n worklistFolder) reserved(name string) error {
	if !n.readOnly() || sideFile(name) {
		return nil
	}
	return errs.New(errs.ReadOnly, "The files of Worklist/%s/ are to be read; to do something with a task, save its file in the case's Actions/ or in Worklist/Offered/.", n.name)
}

func (n worklistFolder) child(_ context.Context, name string) (node, error) {
	if same(name, contentsName) || same(name, lsName) {
		return special(n.scope, n, name), nil
	}
	id, action, ok := readTaskName(name)
	if !ok {
		return n.caseNamed(name)
	}
	file := worklistFile{actionFile{n.scope, id, action}, n.name}
	if n.readOnly() {
		return formFile{n.scope, name, typeJSON, file.load}, nil
	}
	return file, nil
}

// caseNamed returns a case that is on a list for its warnings:
// Worklist/Warnings/<case> <title>.json.
func (n worklistFolder) caseNamed(name string) (node, error) {
	stem, ext := splitName(name)
	stem, _, _ = strings.Cut(stem, " ")
	id, ok := parseID(stem)
	if ext != ".json" || !ok || n.name != engine.WorklistWarnings {
		return nil, absent()
	}
	return formFile{n.scope, name, typeJSON, func(ctx context.Context) (*engine.Resource, error) {
		return n.engine.Worklists.WorklistTask(ctx, n.by, n.name, id, "")
	}}, nil
}

// taskName is the name of a task in a worklist: <case>.<action> <title>.json,
// with the title of the case.
func taskName(r *engine.Resource) string { return filename.Titled(r.Name, r.Title, ".json") }

// readTaskName reads the name of a task in a worklist. What follows the action
// means nothing: the title may have changed since the client saw it.
func readTaskName(name string) (id int64, action string, ok bool) {
	stem, ext := splitName(name)
	stem, _, _ = strings.Cut(stem, " ")
	number, action, _ := strings.Cut(stem, ".")
	id, ok = parseID(number)
	return id, action, ok && ext == ".json" && taskWord(action)
}

func (n worklistFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n worklistFolder) parts() parts { return listedParts(n) }

// hasMeaning reports whether a name without the extension of a task means something:
// nothing but a task does in a list that can be written, so that programs may save by a
// temporary file and a rename.
//
//nolint:unparam // sideFileFolder's method may fail
func (n worklistFolder) hasMeaning(context.Context, string) (bool, error) { return n.readOnly(), nil }

func (n worklistFolder) filters() []string { return []string{"route", "role", "context", "q"} }

func (n worklistFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Worklists.Worklist(ctx, n.by, n.name, f)
}

func (n worklistFolder) listed(r *engine.Resource) *info { return formInfo(taskName(r), r) }

// worklistFile is Worklist/<list>/<case>.<action> <title>.json: the task, which is
// the same file as the one among the case's actions. It is there as long as the
// task is on the list. Saving it later still acts on the task, or is refused with
// what became of it.
type worklistFile struct {
	actionFile
	list engine.Worklist
}

func (n worklistFile) load(ctx context.Context) (*engine.Resource, error) {
	return n.engine.Worklists.WorklistTask(ctx, n.by, n.list, n.id, n.action)
}

func (n worklistFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return formInfo(taskName(r), r), nil
}

func (n worklistFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(taskName(r), r), contentOf(r.Form), nil
}

func (n worklistFile) options() []string { return nil }

// remove refuses: a task is not lost by deleting its file.
func (n worklistFile) remove(ctx context.Context, _ engine.Request, _ query) error {
	if _, err := n.load(ctx); err != nil {
		return err
	}
	return errs.New(errs.NotDeletable, `A task cannot be deleted. If it is not for you, write "reject" into "do" in its file and save it.`)
}

// moveTo accepts the task, or releases it: that is what it is to be on another
// list.
func (n worklistFile) moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error) {
	place, ok := to.(worklistFile)
	if !ok && n.leadsToList(t.to) {
		return nil, errs.New(errs.NotMovable, "What is done, and other users' tasks, are listed by the server. To do the task, open its file, write \"perform\" into \"do\" and save it.")
	}
	if !ok || place.id != n.id || !same(place.action, n.action) {
		return nil, notMovable(n)
	}
	out, err := n.engine.Worklists.MoveTask(ctx, req, engine.TaskMove{CaseID: n.id, Action: n.action, From: n.list, To: place.list})
	if err != nil {
		return nil, err
	}
	a := &answer{Status: http.StatusCreated}
	n.describe(a, out)
	return a, nil
}

// leadsToList reports whether an address is in another worklist.
func (worklistFile) leadsToList(a address) bool {
	return a.inWorkflow() && same(a.Segments[2], worklistRoot)
}

// aTask reports whether saving a file there does something with a task.
func aTask(n node) bool {
	switch n.(type) {
	case actionFile, worklistFile:
		return true
	}
	return false
}
