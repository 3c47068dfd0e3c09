package davfs

import (
	"context"
	"io"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// How long a refusal is remembered, and how many are at most. Some clients,
// rclone above all, clear up after an upload that failed by a DELETE of its
// URL, which would take away what was stored there before: the first one
// after a refusal is answered and not obeyed
// (docs/contract/drive.md#a-refusal-never-destroys-anything).
const (
	refusalLasts = 10 * time.Second
	mostRefusals = 10_000
)

// clearsUp reports whether the client is one whose DELETE may be meant for
// what it failed to store: a script means what it says, and davfs2 keeps its
// user's text and asks no DELETE. Documents/ is as any other file server.
func (d *drive) clearsUp(x *request) bool {
	agent := x.r.UserAgent()
	return len(x.at.Segments) > 0 && x.at.Segments[0] == "dav" && !x.at.inDocuments() &&
		!d.scriptClient(agent) && !strings.HasPrefix(agent, "davfs2/")
}

// noteRefusal remembers that a PUT failed, until one is accepted. A condition that
// does not hold and a limit that is reached say nothing about what was sent. An
// empty PUT that has left in force what is stored is no failure, but rclone
// takes it for one: it finds another size than it sent.
func (d *drive) noteRefusal(x *request, failure error) {
	if !d.clearsUp(x) {
		return
	}
	switch errs.KindOf(failure) {
	case "":
		d.memory.refused.forget(spotOf(x.by.ID, x.at))
		if x.ignored {
			d.memory.refused.add(spotOf(x.by.ID, x.at), struct{}{}, 0)
		}
	case errs.LogIn, errs.TooMany, errs.Precondition:
	default:
		d.memory.refused.add(spotOf(x.by.ID, x.at), struct{}{}, 0)
	}
}

// keeps answers a DELETE that follows a refusal as if it were done, if what
// it is about is there; its conditions count all the same.
func (d *drive) keeps(x *request, target node) (kept bool, err error) {
	at := spotOf(x.by.ID, x.at)
	if !d.clearsUp(x) || !d.memory.refused.has(at) {
		return false, nil
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
		d.memory.refused.forget(at)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := x.judgeShown(target, about); err != nil {
		return false, err
	}
	d.memory.refused.forget(at)
	return true, nil
}

// judgeShown judges the request's conditions by what the caller was shown in
// the place of what is stored, nil for nothing.
func (x *request) judgeShown(n node, about *info) error {
	condition, err := x.condition()
	if err == nil {
		condition, err = x.asShown(x.r.Context(), x.at, n, condition)
	}
	if err != nil || condition == nil {
		return err
	}
	version, err := x.versionOf(n, about)
	if err != nil {
		return err
	}
	return condition(version)
}

// removeShown answers a DELETE that is about what is shown and not stored: an
// echo, a draft, what follows a refusal.
func (d *drive) removeShown(x *request, n node) (done bool, err error) {
	if kept, err := d.keeps(x, n); kept || err != nil || !shaded(x.at, n) {
		return kept, err
	}
	ctx, at := x.r.Context(), spotOf(x.by.ID, x.at)
	if _, err := x.unhidden(ctx, x.at, n); !errs.Is(err, errs.NotFound) {
		return false, err
	}
	s, err := x.shade(ctx, x.at, n)
	if err != nil || s.echo == nil && s.draft == nil {
		if err == nil && s.hidden {
			err = absent()
		}
		return false, err
	}
	if err := x.query.only(); err != nil {
		return false, err
	}
	if err := x.judgeShown(n, nil); err != nil {
		return false, err
	}
	if s.draft != nil {
		if err := x.engine.Scratch.EndDraft(ctx, x.by, x.at.scratch(), nil); err != nil {
			return false, err
		}
	}
	x.memory.echoes.forget(at)
	return true, nil
}

// withdrawn returns the source that a DELETE is about to take away, nil for
// none: rclone deletes what it is about to rename a file onto, so that a refusal
// of that would come when there is nothing left to stay in force.
func (d *drive) withdrawn(x *request, n node) ([]byte, error) {
	if !d.clearsUp(x) || x.r.URL.RawQuery != "" {
		return nil, nil
	}
	var source reader // nil for what does not come back by a PUT
	switch n := n.(type) {
	case entryFile:
		if !n.name.identity {
			source = n
		}
	case routeFile:
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

// restore stores again what the caller has deleted for the sake of what was
// now refused, with its identity and counters: a save that is refused destroys
// nothing, in whatever steps a client saves.
func (p *putRequest) restore(ctx context.Context, refusal error) {
	if !p.draftable() || !ofDocument(refusal) {
		return
	}
	at := spotOf(p.by.ID, p.at)
	source, found := p.request.memory.withdrawn.find(at)
	if !found {
		return
	}
	p.request.memory.withdrawn.forget(at)
	if _, err := p.target.stat(ctx); !errs.Is(err, errs.NotFound) {
		return // something has come in its place
	}
	req := engine.Request{By: p.by, Now: p.Clock.Now()}
	_, err := p.target.put(context.WithoutCancel(ctx), req, &upload{mediaType: p.in.mediaType, data: source, r: p.r, read: true})
	if err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not restore what was deleted before a refused save; its history has it")
	}
}
