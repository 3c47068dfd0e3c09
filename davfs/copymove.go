package davfs

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// transfer is a COPY or MOVE on its way (RFC 4918, sections 9.8 and 9.9).
type transfer struct {
	*drive
	*request
	move      bool
	to        address
	overwrite bool
	shallow   bool // a folder without what is in it

	source          node
	about           *info            // of the source
	sourceCondition engine.Condition // of the request: it is about the source
	sent            bool             // a PUT was made of it, which tells of its refusal itself
}

// movable is a node that MOVE moves to places of its own kind: a name to another
// name, a case to another state. to is the node of the destination. If the source
// cannot be moved there, the error is notMovable's.
type movable interface {
	node
	moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error)
}

// moveSource is a file whose MOVE to a place for documents or contents is a PUT
// there. The transaction of the PUT deletes the source.
type moveSource interface {
	reader
	// moveSource checks that the source may be deleted.
	moveSource(ctx context.Context, req engine.Request) (*engine.Taken, error)
}

// canCopy reports whether COPY has something to copy there.
func canCopy(n node) bool {
	switch n.(type) {
	case reader, streamer, documentFolder, pastFolder:
		return true
	}
	return false
}

// canMove reports whether MOVE can move it anywhere.
func canMove(n node) bool {
	switch n.(type) {
	case movable, moveSource, documentFolder, scratchFolder, pastFile, pastFolder:
		return true
	}
	return false
}

// notMovable says of a source that cannot be moved to the destination where it can be, and
// what is done instead. To copy and then delete is not the same as a MOVE of everything: a
// case is canceled by it, and what .history/ keeps is not deleted.
func notMovable(source node) error {
	says := "This cannot be moved there; copy it instead."
	switch n := source.(type) {
	case boardFile:
		says = "On the board a case is moved to the folder of another state of its own route, which performs the action that leads there. To have its document elsewhere, copy it: to delete it here would cancel the case."
	case caseFile:
		says = "A case is moved to another name in Cases/ and nowhere else. To have its document elsewhere, copy it: to delete it here would cancel the case."
	case worklistFile:
		says = "A task is moved to Worklist/Accepted/, which accepts it, or back to Worklist/Offered/, which releases it, and nowhere else. To do it, write \"perform\" into \"do\" in its file and save it."
	case entryFile:
		says = "A schedule entry is moved to another name in Schedule/ and nowhere else. To have its document elsewhere, copy it: to delete it here would end its schedule."
	case routeFile:
		says = "A route is moved to another name in Routes/ and nowhere else. To have its document elsewhere, copy it."
	case scenarioFile:
		says = "A scenario is moved beside another route in Routes/ and nowhere else. To have it elsewhere, copy it."
	case partyFile:
		says = "A user is moved to another name in Admin/Users/ and nowhere else. For a team, make one in Admin/Teams/ with a document of its own."
		if n.kind == identity.Team {
			says = "A team is moved to another name in Admin/Teams/ and nowhere else. For a user, make one in Admin/Users/ with a document of its own."
		}
	case pastFile, pastFolder:
		says = "What .history/ keeps stays there until it expires. To bring it back, copy it."
	case documentFolder:
		says = "A folder of Documents/ is moved within Documents/. To have its files elsewhere, copy them one by one."
	}
	return errs.New(errs.NotMovable, "%s", says)
}

// copyOrMove answers COPY and MOVE.
func (d *drive) copyOrMove(x *request) (*answer, error) {
	t := &transfer{drive: d, request: x, move: x.r.Method == "MOVE"}
	if err := t.headers(); err != nil {
		return nil, err
	}
	a, err := t.run()
	if err != nil {
		t.rejectMove(err)
	}
	return a, err
}

// run looks at both ends and copies or moves.
func (t *transfer) run() (*answer, error) {
	if err := t.find(); err != nil {
		return nil, err
	}
	put := t.asPut()
	to, err := t.destination(put)
	if err != nil {
		return nil, err
	}
	if from, within := documentAt(t.source); within {
		if to, within := documentAt(to); within {
			return t.withinDocuments(from, to)
		}
	}
	if from, is := pastAt(t.source); is {
		if to, within := documentAt(to); within {
			return t.restoreVersion(from, to)
		}
	}
	if a, done, err := t.moveSideFile(put, to); done || err != nil {
		return a, err
	}
	if aTask(t.source) && aTask(to) && !t.move {
		return nil, errs.New(errs.NotAllowed, "A copy of a task would perform it; to accept or release one, move it from one worklist to the other.")
	}
	if m, ok := t.source.(movable); ok && t.move {
		return t.moveBy(m, to)
	}
	return t.put(put, to)
}

// destination returns the node of the destination. A task that is moved to another worklist
// keeps its name there: the name in the destination is ignored unless it is that of a task,
// as on the board.
func (t *transfer) destination(put *request) (node, error) {
	to, err := put.place()
	if !errs.Is(err, errs.NotFound) {
		return to, err
	}
	if task, is := t.source.(worklistFile); is && t.to.inWorkflow() {
		folder := request{scope: put.scope, r: put.r, at: t.to.parent()}
		if list, err := folder.place(); err == nil {
			if list, is := list.(worklistFolder); is && !list.readOnly() {
				return worklistFile{task.actionFile, list.name}, nil
			}
		}
	}
	return nil, noPlace()
}

// headers reads the headers of a COPY or MOVE.
func (t *transfer) headers() error {
	to, err := dav.ReadDestination(t.r.Header.Values("Destination"), t.ownHost)
	if err != nil {
		return err
	}
	t.to = address{to}
	if t.overwrite, err = dav.ReadOverwrite(t.r.Header.Get("Overwrite")); err != nil {
		return err
	}
	deep, err := dav.ReadDepth(t.r.Method, t.r.Header.Get("Depth"))
	t.shallow = !deep
	return err
}

// ownHost reports whether a host is one of the configured names of the
// server; without any, every host is taken for its own.
func (d *drive) ownHost(host string) bool {
	return len(d.PublicNames) == 0 || slices.ContainsFunc(d.PublicNames, func(name string) bool { return dav.SameHost(name, host) })
}

// find looks at the source.
func (t *transfer) find() (err error) {
	if err := t.query.only(); err != nil {
		return err
	}
	if t.sourceCondition, err = t.condition(); err != nil {
		return err
	}
	if t.source, err = t.place(); err != nil {
		return err
	}
	if t.about, err = t.statOverlay(t.r.Context(), t.at, t.source); err != nil {
		return err
	}
	if err := t.asDraft(); err != nil {
		return err
	}
	switch {
	case t.move && t.shallow && t.about.dir:
		return errs.New(errs.BadParameter, "MOVE of a folder moves everything in it: Depth must be infinity or absent (RFC 4918, section 9.9.2).")
	case t.to.equal(t.at) && !t.changesCase():
		return errs.New(errs.NotAllowed, "The destination is the same as the source.")
	case !t.move && !canCopy(t.source):
		return errs.New(errs.NotAllowed, "A folder of the workflow cannot be copied; copy what is in it, one by one.")
	case t.move && !canMove(t.source) && !hasOverlay(t.at, t.source):
		return t.staysHere()
	}
	return nil
}

// staysHere says of a place that MOVE moves nowhere what can be done instead.
func (t *transfer) staysHere() error {
	switch n := t.source.(type) {
	case caseFolder:
		return errs.New(errs.NotMovable, "The folder of a case has the number of the case as its name. To call the case something else, change \"title\" in its file %s; to go on with it, perform one of its tasks.", t.fileOfCase(t.r.Context(), n.id))
	case dropFolder:
		return errs.New(errs.NotMovable, "The folder of a route has the name of the route. To call the route something else, rename its file.")
	case reader, streamer:
		return errs.New(errs.NotMovable, "This file is always here under this name; copy it instead.")
	case folder:
		return errs.New(errs.NotMovable, "This folder is always here under this name; copy what is in it instead.")
	}
	return notMovable(t.source)
}

// changesCase reports whether a MOVE gives a resource of the workflow the same name in
// other letters, which is another way to write it and no other place.
func (t *transfer) changesCase() bool {
	_, named := t.source.(movable)
	return t.move && named && t.to.String() != t.at.String() && !t.to.Slash
}

// noPlace says that the folder of the destination does not exist, or is not
// visible to the caller: the same words for both.
func noPlace() error {
	return errs.New(errs.MissingParent, "There is no folder for the destination, or you may not see it.")
}

// documentAt returns where in Documents/ a node lies, if it does.
func documentAt(n node) (engine.DocumentPath, bool) {
	switch n := n.(type) {
	case documentFile:
		return n.path, true
	case documentFolder:
		return n.path, true
	case newDocument:
		return n.path, true
	}
	return nil, false
}

// withinDocuments copies or moves within Documents/: in one transaction of the
// engine, which reads no content.
func (t *transfer) withinDocuments(from, to engine.DocumentPath) (*answer, error) {
	transfer := t.engine.Documents.CopyDocument
	if t.move {
		transfer = t.engine.Documents.MoveDocument
	}
	return t.transferred(func(ctx context.Context, req engine.Request, how files.Transfer) (*engine.Outcome, error) {
		return transfer(ctx, req, from, to, how)
	})
}

// transferred lets the engine copy or move into Documents/, and makes the answer.
func (t *transfer) transferred(run func(context.Context, engine.Request, files.Transfer) (*engine.Outcome, error)) (*answer, error) {
	req := t.engineRequest(t.Clock.Now())
	req.If = t.sourceCondition
	out, err := run(t.r.Context(), req, files.Transfer{Overwrite: t.overwrite, Shallow: t.shallow})
	if err != nil {
		return nil, err
	}
	a := &answer{Status: http.StatusNoContent}
	if out.Created {
		a.Status = http.StatusCreated
	}
	where := dav.Href(strings.Split(strings.TrimPrefix(out.Name, "/"), "/")...)
	if t.about.dir {
		where = dav.FolderHref(where)
	} else {
		a.add("ETag", out.ETag)
	}
	a.add("Location", where)
	return a, nil
}

// moveBy lets the source move in its own way.
func (t *transfer) moveBy(m movable, to node) (*answer, error) {
	req := t.engineRequest(t.Clock.Now())
	req.If = t.sourceCondition
	a, err := m.moveTo(t.r.Context(), req, to, t)
	if err != nil {
		return nil, err
	}
	t.request.overlays.echoes.forget(t.userPath())
	t.request.overlays.echoes.forget(userPathOf(t.by.ID, t.to))
	return a, nil
}

// asPut returns this COPY or MOVE as a PUT to its destination. Headers that concern
// the source or the response are dropped.
func (t *transfer) asPut() *request {
	r := t.r.Clone(t.r.Context())
	r.Method, r.Body, r.ContentLength = http.MethodPut, http.NoBody, 0
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = t.to.String(), "", ""
	r.Header = http.Header{}
	for _, kept := range []string{"User-Agent", "Accept"} {
		r.Header[kept] = t.r.Header[kept]
	}
	if !t.overwrite {
		r.Header.Set("If-None-Match", "*")
	}
	scope := *t.scope
	scope.writes = true
	return &request{scope: &scope, r: r, at: t.to, overlays: t.request.overlays, tokens: t.tokens, transferBy: t.r.Method, fromSecrets: t.at.holdsSecrets()}
}

// put copies or moves by a PUT of the source's bytes to the destination, which
// makes all the checks that it would make of any other.
func (t *transfer) put(put *request, to node) (*answer, error) {
	if _, ok := to.(writer); !ok {
		if _, err := to.stat(t.r.Context()); errs.Is(err, errs.NotFound) {
			return nil, noPlace()
		} else if err != nil {
			return nil, err
		}
		return nil, errs.New(errs.NotAllowed, "The destination cannot be written.")
	}
	if t.to.inAdmin() && !t.move {
		return nil, errs.New(errs.NotMovable, "Nothing is copied into Admin/: a copy of a user would have the e-mail address of that user and get the same mails. Send a new document instead.")
	}
	if err := t.checkSource(put); err != nil {
		return nil, err
	}
	a, err := t.send(put)
	if err == nil && t.move {
		err = t.leaveNothing()
	}
	return a, err
}

// leaveNothing deletes a side file that was moved and is still there, as it is if the PUT
// repeats one that was accepted a moment ago: nothing was stored then that would have
// deleted it.
func (t *transfer) leaveNothing() error {
	from, isSideFile := scratchOf(t.source)
	if !isSideFile {
		return nil
	}
	err := t.engine.Scratch.Delete(t.r.Context(), engine.Request{By: t.by, Now: t.wall, Tokens: t.tokens}, from.place())
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

// send sends the source's bytes to the destination.
func (t *transfer) send(put *request) (*answer, error) {
	put.at.Slash = false
	about, content, err := t.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // what was only read is whole
	put.r.Body, put.r.ContentLength = io.NopCloser(content), about.size
	put.r.Header.Set("Content-Type", about.mediaType)
	t.sent = true
	a, err := t.drive.put(put)
	t.allow = put.allow
	switch {
	case errs.Is(err, errs.NotFound):
		return nil, noPlace()
	case errs.Is(err, errs.Precondition) && !t.overwrite:
		return nil, errs.New(errs.Precondition, "There is something at the destination already, and Overwrite is F.")
	}
	return a, err
}

// checkSource checks the conditions about the source, and of a MOVE whether the source
// may be deleted, which the transaction of the PUT does.
func (t *transfer) checkSource(put *request) (err error) {
	if t.move {
		source, ok := t.source.(moveSource)
		if !ok {
			return notMovable(t.source)
		}
		req := t.engineRequest(t.Clock.Now())
		req.If = t.sourceCondition
		put.moveSource, err = source.moveSource(t.r.Context(), req)
		return err
	}
	return t.checkSourceCondition()
}

// checkSourceCondition checks the conditions about a source that stays.
func (t *transfer) checkSourceCondition() error {
	if t.sourceCondition == nil {
		return nil
	}
	version, err := t.versionOf(t.source, t.about)
	if err != nil {
		return err
	}
	return t.sourceCondition(version)
}

// open opens the source. A stream is written while it is read.
func (t *transfer) open() (*info, io.ReadCloser, error) {
	switch n := t.source.(type) {
	case reader:
		return t.request.open(t.r.Context(), n)
	case streamer:
		write, _, err := n.start(t.r.Context(), nil)
		if err != nil {
			return nil, nil, err
		}
		from, to := io.Pipe()
		go func() { to.CloseWithError(write(t.r.Context(), to)) }() // ends at the latest when from is closed
		about := *t.about
		about.size = -1
		return &about, from, nil
	}
	return nil, nil, errs.New(errs.NotAllowed, "A folder can only be copied within Documents/; copy what is in it, one by one.")
}

func (n documentFile) moveSource(ctx context.Context, req engine.Request) (*engine.Taken, error) {
	return n.engine.Documents.MayTake(ctx, req, n.path)
}

// renamed makes the answer to a MOVE that gave a resource another name.
func (t *transfer) renamed(o *engine.Outcome, at ...string) *answer {
	a := &answer{Status: http.StatusNoContent}
	if o.Created {
		a.Status = http.StatusCreated
	}
	a.locate(at...)
	a.add("ETag", o.ETag)
	return a
}

// givenTo returns the name that a MOVE gives: one that is kept, and of the
// caller (docs/contract/drive.md#identity-and-given-name).
func (n naming) givenTo(s *scope) (string, error) {
	switch {
	case n.illegal != nil:
		return "", n.illegal
	case n.identity:
		return "", errs.New(errs.NotMovable, "That name is the number of a case or entry, which the server gives; choose another name.")
	case !n.nothing() && n.ref.Author != s.by.ID:
		return "", errs.New(errs.NotMovable, "That name is another user's for a case or entry; choose another name.")
	case n.nothing():
		return "", errs.New(errs.NameNotAllowed, "Names that end with .json, .yaml or .yml are kept; choose one that does, and is not new.json.")
	}
	return n.ref.Name, nil
}

func (n entryFile) moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error) {
	place, ok := to.(entryFile)
	if !ok {
		return nil, notMovable(n)
	}
	name, err := place.name.givenTo(n.scope)
	if err != nil {
		return nil, err
	}
	out, err := n.engine.Schedules.RenameEntry(ctx, req, n.name.ref, name, t.overwrite)
	if err != nil {
		return nil, err
	}
	return t.renamed(out, "dav", "Workflow", "Schedule", out.Name+".json"), nil
}

func (n caseFile) moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error) {
	place, ok := to.(caseFile)
	if !ok {
		return nil, notMovable(n)
	}
	name, err := place.name.givenTo(n.scope)
	if err != nil {
		return nil, err
	}
	out, err := n.engine.Cases.RenameCase(ctx, req, n.name.ref, name, t.overwrite)
	if err != nil {
		return nil, err
	}
	return t.renamed(out, "dav", "Workflow", "Cases", out.Name+".json"), nil
}
