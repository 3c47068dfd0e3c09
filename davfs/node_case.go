package davfs

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"strconv"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
)

// casesFolder is Workflow/Cases/.
type casesFolder struct{ *scope }

func (n casesFolder) home() []string { return []string{"dav", "Workflow", "Cases"} }

func (n casesFolder) stat(context.Context) (*info, error) { return folderInfo("Cases", n.since), nil }

func (n casesFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	if digits(name) {
		id, ok := parseID(name)
		if !ok {
			return nil, absent()
		}
		return caseFolder{n.scope, id}, nil
	}
	return caseFile{n.scope, n.readName(name, caseIdentity)}, nil
}

// caseIdentity reads the id of a case.
func caseIdentity(stem string) (engine.Ref, bool) {
	id, _ := parseID(stem)
	return engine.Ref{CaseID: id}, digits(stem)
}

func (n casesFolder) list(ctx context.Context) ([]*info, error) { return allOf(ctx, n.parts()) }

func (n casesFolder) parts() parts { return n.selected(engine.Filter{OwnOnly: true}) }

// mostXattrs is how many bytes the forms of cases may have together of which a listing tells
// the XATTRs; those beyond are not told, as Resource.Unread of package dav has it.
const mostXattrs = 16 << 20

// selected describes a file and a folder for each case that the filter selects.
func (n casesFolder) selected(f engine.Filter) parts {
	left := mostXattrs
	return partsOf(n.page, f, func(r *engine.Resource) ([]*info, int, error) {
		file, dir, held := n.listed(r), folderInfo(r.Name, r.Modified), len(r.Form)
		if left -= held; left < 0 {
			file.ofCase, file.unread, dir.unread, held = nil, true, true, 0
		}
		dir.ofCase = file.ofCase
		return []*info{file, dir}, held, nil
	})
}

// caseOf returns the folder of a case that is there: child does not ask.
func (n casesFolder) caseOf(ctx context.Context, name string) (node, error) {
	id, ok := parseID(name)
	if !ok {
		return nil, absent()
	}
	_, err := n.engine.Cases.Case(ctx, n.by, engine.Ref{CaseID: id})
	return caseFolder{n.scope, id}, err
}

//nolint:unparam // sideFileFolder's method may fail
func (n casesFolder) hasMeaning(_ context.Context, name string) (bool, error) {
	return digits(name), nil
}

func (n casesFolder) filters() []string {
	return []string{
		"route", "state", "status", "role", "context", "parent", "q", "warnings", xattrParameters, "createdFrom", "createdTo", "modifiedFrom", "modifiedTo",
	}
}

func (n casesFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Cases.Cases(ctx, n.by, f)
}

func (n casesFolder) listed(r *engine.Resource) *info { return n.listedFile(r).withXattrs(r) }

// caseFile is a case under its id or a given name, or the place of one.
type caseFile struct {
	*scope
	name naming
}

func (n caseFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.name.nothing() {
		return nil, absent()
	}
	return n.engine.Cases.Case(ctx, n.by, n.name.ref)
}

// life returns the case and where it is in its life.
func (n caseFile) life(ctx context.Context) (*engine.Resource, machine.Life, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, "", err
	}
	var brief caseBrief
	if err := json.Unmarshal(r.Form, &brief); err != nil {
		return nil, "", errs.Wrap("read the form of case "+r.Name, err)
	}
	return r, brief.State, nil
}

func (n caseFile) stem() string { return n.name.stem }

func (n caseFile) folderOf(ctx context.Context, stem, ext string) (folder, error) {
	r, err := caseFile{n.scope, n.readName(stem+ext, caseIdentity)}.load(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := parseID(r.Name)
	if !ok {
		return nil, absent()
	}
	return caseFolder{n.scope, id}, nil
}

func (n caseFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return n.name.about(n.scope, r).withXattrs(r), nil
}

func (n caseFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return n.name.about(n.scope, r).withXattrs(r), n.name.content(r), nil
}

func (n caseFile) storesProperty(name xml.Name) bool { return isXattr(name) }

func (n caseFile) patch(ctx context.Context, req engine.Request, changes []dav.PropChange) (int, error) {
	return n.patchXattrs(ctx, req, n.name.ref, changes)
}

func (n caseFile) putRules() putRules { return n.name.putRules() }

func (n caseFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	if n.name.identity && n.name.nothing() {
		return nil, absent()
	}
	return n.engine.Cases.PutCase(ctx, req, n.name.ref, in.data)
}

func (n caseFile) describe(a *answer, o *engine.Outcome) {
	a.locate("dav", "Workflow", "Cases", o.Name+".json")
}

func (n caseFile) options() []string { return nil }

func (n caseFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if n.name.nothing() {
		return absent()
	}
	return n.engine.Archive.DeleteCase(ctx, req, n.name.ref)
}

// caseFolder is Cases/<id>/.
type caseFolder struct {
	*scope
	id int64
}

// caseBrief is what a case's folder shows of its form.
type caseBrief struct {
	State machine.Life `json:"state"`
}

func (n caseFolder) load(ctx context.Context) (*engine.Resource, caseBrief, error) {
	r, state, err := caseFile{n.scope, naming{ref: engine.Ref{CaseID: n.id}, identity: true}}.life(ctx)
	return r, caseBrief{state}, err
}

func (n caseFolder) stat(ctx context.Context) (*info, error) {
	r, err := n.engine.Cases.Case(ctx, n.by, engine.Ref{CaseID: n.id})
	if err != nil {
		return nil, err
	}
	return folderInfo(r.Name, r.Modified).withXattrs(r), nil
}

func (n caseFolder) storesProperty(name xml.Name) bool { return isXattr(name) }

func (n caseFolder) patch(ctx context.Context, req engine.Request, changes []dav.PropChange) (int, error) {
	return n.patchXattrs(ctx, req, engine.Ref{CaseID: n.id}, changes)
}

func (n caseFolder) child(_ context.Context, name string) (node, error) {
	switch {
	case same(name, "Actions"):
		return actionsFolder(n), nil
	case same(name, "Timers"):
		return timersFolder(n), nil
	case same(name, "Outbox"):
		return outboxFolder(n), nil
	case same(name, filesName):
		return caseFiles(n), nil
	case same(name, "Messages"):
		return messagesFolder(n), nil
	case same(name, "Labels"):
		return labelsFolder(n), nil
	case same(name, "log.json"):
		return n.log(), nil
	case same(name, "log.txt"):
		return n.logText(), nil
	case same(name, engine.RemarkFile):
		return remarkFile(n), nil
	}
	if at := n.picture(name, pictureName, n.drawn); at != nil {
		return at, nil
	}
	for _, own := range n.own() {
		if same(name, own.name) {
			return own, nil
		}
	}
	return nil, absent()
}

// own returns the messages that have files of their own in a case's folder.
func (n caseFolder) own() []messageFile {
	return []messageFile{
		{scope: n.scope, id: n.id, name: "input", label: engine.OwnInput},
		{scope: n.scope, id: n.id, name: "output", label: engine.OwnOutput},
		{scope: n.scope, id: n.id, name: "exception", label: engine.OwnException},
	}
}

func (n caseFolder) list(ctx context.Context) ([]*info, error) {
	r, brief, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	out := []*info{
		folderInfo("Actions", r.Modified), folderInfo("Timers", r.Modified), folderInfo("Messages", r.Modified), folderInfo("Labels", r.Modified),
		folderInfo("Outbox", r.Modified),
		folderInfo(filesName, r.Modified),
	}
	var files []node
	for _, own := range n.own() {
		if own.name == "input" || own.name == brief.result() {
			files = append(files, own)
		}
	}
	for _, file := range append(files, n.log(), n.logText(), remarkFile(n)) {
		about, err := file.stat(ctx)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, about)
	}
	pictures, err := n.pictures(ctx, n.drawn)
	return append(out, pictures...), err
}

// result names the file in which an ended case shows what came of it.
func (b caseBrief) result() string {
	switch {
	case b.State == machine.Failed:
		return "exception"
	case b.State.Ended(), b.State == "closed":
		return "output"
	}
	return ""
}

// log is log.json, what happened, oldest first; logText the same, a line
// each.
func (n caseFolder) log() formFile {
	return formFile{n.scope, "log.json", typeJSON, func(ctx context.Context) (*engine.Resource, error) {
		return n.engine.Cases.CaseLog(ctx, n.by, n.id, n.logRoom(ctx))
	}}
}

func (n caseFolder) logText() formFile {
	return formFile{n.scope, "log.txt", typeText, func(ctx context.Context) (*engine.Resource, error) {
		return n.engine.Cases.CaseLogText(ctx, n.by, n.id, n.logRoom(ctx))
	}}
}

// logRoom has the request hold what a log takes, with what a stream or the members of a
// folder do.
func (s *scope) logRoom(ctx context.Context) engine.LogRoom {
	return func(bytes int64) error { return s.hold(ctx, streamWeight+bytes) }
}

// casePath returns the segments of a case's folder, with what follows.
func casePath(id int64, below ...string) []string {
	return append([]string{"dav", "Workflow", "Cases", strconv.FormatInt(id, 10)}, below...)
}
