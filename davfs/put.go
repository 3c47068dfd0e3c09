package davfs

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// putRules says how a PUT to a node is read.
type putRules struct {
	route        bool     // as large as routes may be
	content      bool     // any bytes of any type, streamed, not a document
	action       bool     // the body is read before anything else is checked
	existing     bool     // the name never names anything new
	bodyOptional bool     // a script may send no body
	saysMore     bool     // the engine says more of a condition that is not met
	secret       bool     // body or answer hold a secret: an idempotency key would keep it
	password     bool     // what is secret is a password, in the body
	illegal      error    // why nothing can be created under the name, nil if it can
	parameters   []string // what the query may hold
}

// uncreatable is a place at which a PUT makes nothing, and says why.
type uncreatable interface{ uncreated() error }

// reserving is a folder in which nothing can be PUT under some names.
type reserving interface {
	folder
	reserved(name string) error
}

// headed is a writer whose request has headers of its own.
type headed interface{ headers(h http.Header) error }

// queried is a writer that reads the query of its request itself: it is part
// of what is written.
type queried interface {
	query(raw string) (w writer, dryRun bool, err error)
}

// guarded is a writer that says, before anything else is looked at, whether
// the caller may write there at all.
type guarded interface {
	guard(ctx context.Context) error
}

// put answers PUT. Checks run in the order of
// docs/contract/drive.md#order-of-checks; what depends on the stored version
// the engine checks again, in the transaction of the change.
func (d *drive) put(x *request) (*answer, error) {
	p, err := d.newPut(x)
	if err != nil {
		d.rejectPut(x, p, err)
		return nil, err
	}
	a, err := p.run()
	if err != nil {
		err = p.saysItIsKept(err)
		d.keepUnsaved(x, p, err)
	}
	if err != nil && p.rememberRefused(x.r.Context(), err) {
		d.rejectPut(x, p, err)
		p.restore(x.r.Context(), err)
		p.keepForRoute(err)
	}
	return a, err
}

// newPut reads a PUT but for its body. p is nil if the place takes none.
func (d *drive) newPut(x *request) (p *putRequest, err error) {
	n, err := x.place()
	if _, own := n.(queried); x.malformed != nil && !own {
		return nil, x.malformed
	}
	if reserved := x.reserved(); reserved != nil {
		return nil, reserved
	}
	if err != nil {
		return nil, x.unplaced(err)
	}
	target, ok := n.(writer)
	if !ok || x.at.Slash {
		return nil, x.putNowhere(n)
	}
	p = &putRequest{drive: d, request: x, target: target, rules: target.putRules()}
	if err := p.readQuery(); err != nil {
		return p, err
	}
	return p, p.headers()
}

// run makes the checks that come behind the headers
// (docs/contract/drive.md#order-of-checks), and what is asked.
func (p *putRequest) run() (*answer, error) {
	if err := p.readRefused(p.r.Context()); err != nil {
		return nil, err
	}
	if err := p.guard(); err != nil {
		return p.orReplayed(err)
	}
	if p.key != nil && !p.rules.content {
		// A repeated request is answered as the first one was, also if the stored
		// version has changed.
		if err := p.read(); err != nil {
			return nil, p.unless404(err)
		}
		if a, err := p.replay(); a != nil || err != nil {
			return a, err
		}
		if err := p.guard(); err != nil {
			return nil, err
		}
	}
	if err := p.admit(); err != nil {
		return nil, err
	}
	return p.perform()
}

// reserved answers a PUT to a name that its folder keeps for something else,
// if the folder is there.
func (x *request) reserved() error {
	if len(x.at.Segments) == 0 {
		return nil
	}
	parent, err := x.folderOf()
	if err != nil {
		return nil //nolint:nilerr // the walk to the whole path says so itself
	}
	dir, ok := parent.(reserving)
	if !ok {
		return nil
	}
	refusal := dir.reserved(x.at.Name())
	if refusal == nil {
		return nil
	}
	if _, err := dir.stat(x.r.Context()); err != nil {
		return err
	}
	return refusal
}

// folderOf returns the node of the folder that the address is in. place has walked
// through it, if there was a way.
func (x *request) folderOf() (node, error) {
	if x.within != nil {
		return x.within, nil
	}
	return x.walk(x.r.Context(), x.at.parent())
}

// unplaced says of a PUT or MKCOL in a folder whose members are given where else it
// could be. What is there may only be not for the caller to see, so that the kind stays
// the same. Any other error it returns as it is.
func (x *request) unplaced(err error) error {
	if !errs.Is(err, errs.NotFound) || len(x.at.Segments) == 0 {
		return err
	}
	above := x.at.parent()
	parent, missing := x.walk(x.r.Context(), above)
	if missing != nil {
		return err
	}
	const nothing = "There is nothing at this address, or you may not see it. "
	switch parent.(type) {
	case documentsFolder:
		return errs.New(errs.NotFound, "There is no such folder, or you may not see it. Documents/ has one for you and for each of your teams; save it in one of them, as in Documents/%s/.", x.by.Name)
	case fixedFolder, accountFolder:
		return errs.New(errs.NotFound, nothing+"The members of %s are given; keep files in Documents/%s/.", above.String(), x.by.Name)
	case caseFolder, messagesFolder, outboxFolder, timersFolder:
		if _, is := parent.(caseFolder); !is {
			above = above.parent()
		}
		if _, hidden := parent.stat(x.r.Context()); hidden != nil {
			return err
		}
		return errs.New(errs.NotFound, nothing+"Files of a case are kept in %s/Files/.", above.String())
	case boardFolder, stateFolder:
		return errs.New(errs.NotFound, nothing+"The board has a folder for each state, and in it the cases that are there. To start a case with a file, save it in /%s/; to attach it to a case, in Workflow/Cases/<number>/Files/; to keep it, in Documents/%s/.",
			strings.Join(above.Segments[:4], "/"), x.by.Name)
	case archiveFolder, yearFolder, monthFolder, archivedFolder:
		return errs.New(errs.NotFound, nothing+"The archive has the cases that have ended, and cannot be written; keep files in Documents/%s/.", x.by.Name)
	}
	return err
}

// putNowhere answers a PUT to what takes none.
func (x *request) putNowhere(n node) error {
	if place, ok := n.(uncreatable); ok && !x.at.Slash {
		if _, err := n.stat(x.r.Context()); errs.Is(err, errs.NotFound) {
			return place.uncreated()
		}
	}
	if _, ok := n.(writer); ok {
		return absent() // "…/name.json/" is not a folder
	}
	refusal := x.notAllowed(n)
	if _, ofBoard := n.(boardFile); ofBoard && errs.Is(refusal, errs.NotFound) {
		return x.unplaced(absent())
	}
	if !x.script && errs.Is(refusal, errs.Method) && !x.takesFiles(n) {
		return x.notSaved(n)
	}
	if x.takesFiles(n) && errs.Is(refusal, errs.Method) {
		return errs.New(errs.Method, "This is a folder. Save the file in it, under a name of its own: %s/<name>. The folder itself takes %s.", strings.TrimSuffix(x.at.String(), "/"), x.allow)
	}
	return refusal
}

// notSaved says to a person on a mount why nothing can be saved at a place.
func (x *request) notSaved(n node) error {
	if _, isFolder := n.(folder); isFolder {
		return errs.New(errs.Method, "%s is a folder of the drive, which a file cannot replace. To start a case with a file, save it in Workflow/Routes/<route>/; to attach it to a case, in Workflow/Cases/<number>/Files/; to keep it, in Documents/%s/.", x.at.String(), x.by.Name)
	}
	return errs.New(errs.Method, "%s shows how things stand and cannot be changed by saving it. Workflow/README.txt says which files can be; keep files of your own in Documents/%s/.", x.at.String(), x.by.Name)
}

// takesFiles reports whether a node is a folder in which people keep files of their own.
func (x *request) takesFiles(n node) bool {
	switch n.(type) {
	case scheduleFolder, routesFolder, casesFolder, dropFolder:
		return true
	}
	_, is := n.(folder)
	return is && x.at.inDocuments()
}

// readQuery reads the query, and checks its parameters.
func (p *putRequest) readQuery() (err error) {
	if own, ok := p.target.(queried); ok {
		p.target, p.dryRun, err = own.query(p.r.URL.RawQuery)
		return err
	}
	if err := p.query.only(append([]string{"dryRun"}, p.rules.parameters...)...); err != nil {
		return err
	}
	p.dryRun, err = p.query.flag("dryRun")
	return err
}

// putRequest is a PUT on its way.
type putRequest struct {
	*drive
	*request
	target    writer
	rules     putRules
	condition engine.Condition
	key       *engine.IdempotencyKey
	in        *upload
	echo      *echo       // that a streamed body may repeat
	refused   *refusedPut // the last PUT at the address, if it was refused
	again     bool        // it is that one again
	stays     bool        // what was refused is not looked at again
	whole     bool        // asked for the complete form (Prefer)
	dryRun    bool        // asked what would result
}

// headers reads the headers that can be wrong by themselves.
func (p *putRequest) headers() (err error) {
	h := p.r.Header
	if h.Get("Content-Range") != "" {
		return errs.New(errs.ContentRange, "A PUT with Content-Range would store a part as the whole (RFC 9110, section 14.5); send the whole.")
	}
	if p.condition, err = p.request.condition(); err != nil {
		return err
	}
	if p.condition, err = p.clientCondition(p.r.Context(), p.at, p.target, p.condition); err != nil {
		return err
	}
	if err := p.overlookUnlisted(); err != nil {
		return err
	}
	if p.key, err = p.idempotencyKey(); err != nil {
		return err
	}
	if p.rules.secret || p.dryRun { // which does nothing that could be done twice
		p.key = nil
	}
	p.whole = returnPreference(h.Values("Prefer")) == "representation"
	p.in = p.newUpload(p.r, p.limit())
	if p.rules.content && p.draftable() && p.mounted() {
		p.in.kept = &kept{limit: p.MaxDocument}
		if err := p.Weigh(p.r.Context(), keptWeight(p.r.ContentLength, p.MaxDocument)); err != nil {
			return err
		}
	}
	p.in.query = p.query
	if p.at.inDocuments() {
		p.in.readTold(h)
	}
	if t, ok := p.target.(headed); ok {
		return t.headers(h)
	}
	return nil
}

// guard asks whether the caller may write here at all. With a key the answer
// may have been given before: of a document that is known once it was read.
func (p *putRequest) guard() error {
	target, ok := p.target.(guarded)
	if !ok || p.key != nil && !p.rules.content && !p.in.read {
		return nil
	}
	return target.guard(p.r.Context())
}

// orReplayed answers what the caller may not write, unless the request repeats
// one with the same key: of a content that is known by the whole of it.
func (p *putRequest) orReplayed(refusal error) (*answer, error) {
	if p.key == nil || !p.rules.content {
		return nil, refusal
	}
	p.in.stream(p.key)
	return p.failed(refusal)
}

func (p *putRequest) limit() int64 {
	switch {
	case p.rules.content:
		return p.MaxContent
	case p.rules.route:
		return p.MaxRoute
	}
	return p.MaxDocument
}

// admit makes the checks that come before the body, as far as the headers
// tell: a client that waits for "100 Continue" need not send it.
func (p *putRequest) admit() error {
	if p.rules.action {
		return nil
	}
	if err := p.in.checkHeaders(p.rules.content); err != nil {
		return p.unless404(err)
	}
	if p.condition == nil || p.rules.saysMore || p.key != nil && p.rules.content {
		return nil // a known key comes first, and is known by the whole content
	}
	about, err := p.target.stat(p.r.Context())
	if err != nil && (!errs.Is(err, errs.NotFound) || p.rules.existing) {
		return err
	}
	version, err := p.versionOf(p.target, about)
	if err != nil {
		return err
	}
	return p.condition(version)
}

// unless404 returns the error. If the name can only name what exists, and nothing
// is there, it returns that instead, which comes first.
func (p *putRequest) unless404(err error) error {
	if !p.rules.existing {
		return err
	}
	if _, missing := p.target.stat(p.r.Context()); errs.Is(missing, errs.NotFound) {
		return missing
	}
	return err
}

// read reads the body of a document whole.
func (p *putRequest) read() error {
	if p.in.read {
		return nil
	}
	if err := p.in.readAll(); err != nil {
		return err
	}
	if p.key != nil {
		p.key.Request = sha256.Sum256(p.in.data)
	}
	return nil
}

// perform asks the engine and answers.
func (p *putRequest) perform() (*answer, error) {
	ctx := p.r.Context()
	if a, err := p.prepare(ctx); a != nil || err != nil {
		return a, err
	}
	req := p.engineRequest(p.Clock.Now())
	req.If, req.DryRun = p.condition, p.dryRun
	if p.key != nil {
		req.Key = p.key
		req.Answer = func(o *engine.Outcome) []byte { return p.kept(o).encode() }
	}
	before := p.droppedBefore()
	out, err := p.target.put(ctx, req, p.in)
	if err != nil {
		return p.failed(err)
	}
	a := p.answer(out)
	if !p.in.modified.IsZero() {
		a.add("X-OC-Mtime", "accepted")
	}
	p.updateOverlays(ctx, out, a)
	p.noteSecret(out)
	p.noteIdle(ctx)
	p.noteDraft(out)
	p.noteAnother(before, out)
	p.noteRetried(out)
	p.noteWaiting(out)
	p.noteWarned(ctx, out)
	p.noteRestarted(ctx, out)
	p.endCanceled(ctx)
	p.noteOtherName(ctx, out)
	return a, nil
}

// prepare makes the body ready. It answers what needs no more: an empty one
// that means nothing yet, one that was accepted a moment ago.
func (p *putRequest) prepare(ctx context.Context) (*answer, error) {
	if !p.rules.content {
		if err := p.document(); err != nil {
			return nil, p.unless404(err)
		}
		if len(p.in.data) == 0 && p.draftable() {
			return p.draft(ctx)
		}
		if err := p.checkRefused(sha256.Sum256(p.in.data)); err != nil {
			return nil, err
		}
		p.unhide()
		return p.replayEcho(ctx)
	}
	if p.rules.illegal != nil {
		return nil, p.rules.illegal
	}
	if p.draftable() {
		if p.in.empty() {
			return p.draft(ctx)
		}
		if err := p.expectEcho(ctx); err != nil {
			return nil, err
		}
	}
	if p.toDocuments() {
		p.in.checkSum = p.checkRefused
	}
	p.unhide()
	p.in.stream(p.key)
	return nil, nil
}

// unhide ends that a name is hidden: a PUT of it has come.
func (p *putRequest) unhide() {
	if !p.dryRun && hasOverlay(p.at, p.target) {
		p.request.overlays.hidden.forget(p.userPath())
	}
}

// updateOverlays records an accepted PUT for what its client is shown next. A
// draft at the address ends, since the document is there now.
func (p *putRequest) updateOverlays(ctx context.Context, o *engine.Outcome, a *answer) {
	if p.dryRun {
		return
	}
	p.endEmptied(ctx)
	if hasOverlay(p.at, p.target) {
		p.keepEcho(ctx, o, a)
		p.dropDraft(ctx)
	}
	if p.script || p.refused == nil {
		return
	}
	if err := p.forgetRefused(ctx); err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not forget what was refused before")
	}
}

// dropDraft drops the draft of what is stored now.
func (p *putRequest) dropDraft(ctx context.Context) {
	if p.script {
		return
	}
	if err := p.endDraft(ctx, p.target); err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not remove the draft of a stored document")
	}
}

// document reads the body, and makes the checks that do not parse it.
func (p *putRequest) document() error {
	if err := p.read(); err != nil {
		return err
	}
	if p.rules.illegal != nil {
		return p.rules.illegal
	}
	if len(p.in.data) == 0 && (p.rules.action || p.rules.bodyOptional) && p.script {
		p.in.data = []byte("{}")
	}
	return nil
}

// scriptClient reports whether the client is a script, which means what it sends.
// Mounting clients send empty files before they fill them.
func (d *drive) scriptClient(agent string) bool {
	known := []string{"curl/", "flowdrive/", "Wget/", "HTTPie/", "python-", "Go-http-client/", "PowerShell"}
	return slices.ContainsFunc(append(known, d.ScriptClients...), func(prefix string) bool {
		return prefix != "" && strings.HasPrefix(agent, prefix)
	})
}

// failed says why a PUT failed. With a key, another request may have been
// faster and have done what this one asks for: its answer is the answer.
func (p *putRequest) failed(err error) (*answer, error) {
	if errors.Is(p.in.fault, errRepeated) {
		return p.echo.answer, nil
	}
	if p.in.fault != nil {
		return nil, p.in.fault
	}
	if p.key == nil || p.rules.content && p.in.finish() != nil {
		return nil, err
	}
	first, mismatch := p.replay()
	if first != nil {
		return first, nil
	}
	if errs.Is(mismatch, errs.IdempotencyMismatch) {
		return nil, mismatch
	}
	if mismatch != nil {
		p.Log.Warn().Err(mismatch).Msg("drive: could not find the first answer to a repeated request")
	}
	return nil, err
}

// replay returns the answer to the first request with the key, nil if there
// was none. If that was another request, the refusal has the address of what it has made.
func (p *putRequest) replay() (*answer, error) {
	stored, err := p.engine.Changes.Replay(p.r.Context(), p.by, *p.key)
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.IdempotencyMismatch {
		if first, _ := decodeAnswer(stored); first != nil { // else it is refused all the same
			e.Extra = first.madeAt()
		}
	}
	if err != nil || stored == nil {
		return nil, err
	}
	a, err := decodeAnswer(stored)
	if err != nil {
		return nil, err
	}
	a.add("Idempotent-Replayed", "true")
	return a, nil
}

// idempotencyKey reads the header; nil if there is none.
func (x *request) idempotencyKey() (*engine.IdempotencyKey, error) {
	values := x.r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	key := values[0]
	if len(values) > 1 || len(key) == 0 || len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errs.New(errs.BadParameter, "The header Idempotency-Key must have 1 to 255 visible ASCII characters, and be given once.")
	}
	url := x.r.Method + " " + dav.Href(x.at.Segments...) + "?" + x.r.URL.RawQuery
	return &engine.IdempotencyKey{Key: key, URL: sha256.Sum256([]byte(url))}, nil
}

// engineRequest is what every change carries.
func (x *request) engineRequest(now time.Time) engine.Request {
	return engine.Request{By: x.by, Now: now, Tokens: x.tokens, Takes: x.moveSource, MustAct: x.script}
}
