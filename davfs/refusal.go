package davfs

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// How long a refusal is remembered, and how many are at most. Some clients,
// rclone above all, clear up after an upload that failed by a DELETE of its
// URL, which would take away what was stored there before: the first one
// after a refusal is answered and not obeyed
// (docs/contract/drive.md#a-refusal-never-destroys-anything).
const (
	refusalLifetime = 10 * time.Second
	pendingLifetime = 10 * time.Minute // rclone waits 5 minutes at most before it sends a save again
	maxRefusals     = 10_000
)

// clearsUp reports whether the client is one whose DELETE may be meant for
// what it failed to store: rclone and Windows. Others mean what they say. In Documents/
// it is rclone alone, after a lock has refused its PUT.
func (d *drive) clearsUp(x *request) bool {
	agent := x.r.UserAgent()
	if x.at.inDocuments() {
		return x.repeatsRefused()
	}
	return d.savesInSteps(x) && (strings.HasPrefix(agent, rclone) || strings.HasPrefix(agent, miniRedirector))
}

// savesInSteps reports whether the client may delete a document to store another
// version in its place: a script means what it says, and davfs2 keeps its user's text
// and asks no DELETE. Documents/ is as any other file server.
func (d *drive) savesInSteps(x *request) bool {
	agent := x.r.UserAgent()
	return len(x.at.Segments) > 0 && x.at.Segments[0] == "dav" && !x.at.inDocuments() &&
		!d.scriptClient(agent) && !strings.HasPrefix(agent, "davfs2/")
}

// noteRefusal records that a PUT failed, until one is accepted. A failed condition
// and a reached limit say nothing about the body. An empty PUT that has left the
// stored version in force did not fail, nor did one with a secret, of which there is no
// echo. But rclone takes them for failures, because it finds another size than it sent.
func (d *drive) noteRefusal(x *request, failure error) {
	if !d.clearsUp(x) {
		return
	}
	kind := errs.KindOf(failure)
	d.overlays.pending.forget(x.userPath())
	if kind != "" && x.repeatsRefused() {
		d.overlays.pending.add(x.userPath(), struct{}{}, 0)
	}
	if x.at.inDocuments() && kind != "" && kind != errs.Locked {
		return
	}
	switch kind {
	case "":
		d.overlays.refused.forget(x.userPath())
		if x.differs {
			d.overlays.refused.add(x.userPath(), struct{}{}, 0)
		}
	case errs.LogIn, errs.TooMany, errs.Precondition:
	default:
		d.overlays.refused.add(x.userPath(), struct{}{}, 0)
	}
}

// keepsAfterRefusal answers a DELETE that follows a refusal as if it were done,
// if the resource exists. Its conditions are checked all the same.
func (d *drive) keepsAfterRefusal(x *request, target node) (kept bool, err error) {
	at := x.userPath()
	if !d.clearsUp(x) || !d.overlays.refused.has(at) {
		return d.dropsPending(x, target)
	}
	var options []string
	if r, ok := target.(remover); ok {
		options = r.options()
	}
	if err := x.query.only(options...); err != nil {
		return false, err
	}
	about, err := target.stat(x.r.Context())
	if errs.Is(err, errs.NotFound) {
		d.overlays.refused.forget(at)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := x.checkClientCondition(target, about); err != nil {
		return false, err
	}
	d.overlays.refused.forget(at)
	return true, nil
}

// dropsPending answers a DELETE of an open case by a client that is still sending a save of it
// which was refused: a person deletes the file to be rid of that save, which the client gives
// up with it, and does not mean to cancel the case. A note says so.
func (d *drive) dropsPending(x *request, target node) (dropped bool, err error) {
	file, isCase := target.(caseFile)
	if !isCase || !x.repeatsRefused() || !d.overlays.pending.has(x.userPath()) || x.query.only() != nil {
		return false, nil //nolint:nilerr // the DELETE itself says which parameter it does not take
	}
	r, state, err := file.life(x.r.Context())
	if err != nil || state.Ended() {
		return false, nil //nolint:nilerr // the DELETE itself says so
	}
	d.overlays.pending.forget(x.userPath())
	text := fmt.Sprintf("%s was deleted on %s. A save of it had been refused, and your mount was still sending that. So only that save was given up: the case %s goes on, and nothing of it has changed.\n\n", x.at.String(), x.when(x.wall), r.Name)
	text += "Your mount shows the file again in a moment. To cancel the case, delete it then once more.\n\nThis note is deleted after a day.\n"
	d.keepRefusal(x, scratch.Refusal{Name: fmt.Sprintf("Case %s goes on.txt", r.Name), Reasons: text}, x.at)
	return true, nil
}

// checkClientCondition checks the request's conditions against what the caller
// was shown. about describes the stored version, nil if there is none.
func (x *request) checkClientCondition(n node, about *info) error {
	condition, err := x.condition()
	if err == nil {
		condition, err = x.clientCondition(x.r.Context(), x.at, n, condition)
	}
	if err != nil || condition == nil {
		return err
	}
	return x.checkVersion(n, about, condition)
}

// checkVersion checks a condition against the stored version that about describes,
// nil if there is none.
func (x *request) checkVersion(n node, about *info, condition engine.Condition) error {
	version, err := x.versionOf(n, about)
	if err != nil {
		return err
	}
	return condition(version)
}

// removeOverlay answers a DELETE of something that is shown and not stored: an
// echo, a draft, or a resource whose PUT was just refused.
func (d *drive) removeOverlay(x *request, n node) (done bool, err error) {
	if kept, err := d.keepsAfterRefusal(x, n); kept || err != nil || !hasOverlay(x.at, n) {
		return kept, err
	}
	ctx := x.r.Context()
	if _, err := x.statStored(ctx, x.at, n); !errs.Is(err, errs.NotFound) {
		return false, err
	}
	s, err := x.overlayAt(ctx, x.at, n)
	if err != nil || s.echo == nil && s.draft == nil {
		if err == nil && s.hidden {
			err = absent()
		}
		return false, err
	}
	if err := x.query.only(); err != nil {
		return false, err
	}
	if err := x.checkClientCondition(n, nil); err != nil {
		return false, err
	}
	if s.draft != nil {
		if err := x.engine.Locks.EndDraft(ctx, x.by, x.at.scratch(), nil); err != nil {
			return false, err
		}
	}
	if s.echo != nil && s.echo.attachment != (store.UUID{}) {
		req := engine.Request{By: x.by, Now: d.Clock.Now()}
		if err := x.engine.Attachments.DeleteAttachment(ctx, req, s.echo.attachment); err != nil && !errs.Is(err, errs.NotFound) {
			return false, err
		}
	}
	return true, x.forgetEcho(ctx)
}

// deletedSource returns the source that a DELETE is about to delete, nil if there
// is none. rclone deletes a file before it renames another onto it: if that is
// refused, nothing would be left to stay in force.
func (d *drive) deletedSource(x *request, n node) ([]byte, error) {
	if !d.savesInSteps(x) || x.r.URL.RawQuery != "" {
		return nil, nil
	}
	var source reader // nil if a PUT would not bring it back
	switch n := n.(type) {
	case entryFile:
		if !n.name.identity {
			source = n
		}
	case routeFile:
		source = n
	case scenarioFile:
		source = n
	}
	if source == nil {
		return nil, nil
	}
	_, content, err := source.open(x.r.Context())
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // what was only read is whole
	return io.ReadAll(content)
}

// restore stores again what the caller deleted just before the PUT was refused,
// with its identity and counters: a refused save destroys nothing, in whatever
// steps a client saves.
func (p *putRequest) restore(ctx context.Context, refusal error) {
	if !p.draftable() || !ofDocument(refusal) {
		return
	}
	at := p.userPath()
	source, found := p.request.overlays.recentlyDeleted.find(at)
	if !found {
		return
	}
	p.request.overlays.recentlyDeleted.forget(at)
	if _, err := p.target.stat(ctx); !errs.Is(err, errs.NotFound) {
		return // something has come in its place
	}
	req := engine.Request{By: p.by, Now: p.Clock.Now()}
	_, err := p.target.put(context.WithoutCancel(ctx), req, &upload{mediaType: p.in.mediaType, data: source, r: p.r, read: true})
	if err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not restore what was deleted before a refused save; its history has it")
	}
}

// ofDocument reports whether a refusal says something about the request body.
func ofDocument(refusal error) bool {
	switch errs.KindOf(refusal) {
	case errs.Internal, errs.Unavailable, errs.NotFound, errs.Precondition, errs.Locked, errs.TooMany:
		return false
	default:
		return true
	}
}
