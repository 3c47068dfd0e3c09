package davfs

import (
	"net/http"
	"strings"
	"time"

	"flowdrive/errs"
)

// How long a refusal is remembered, and how many are at most. Some clients,
// rclone above all, clear up after an upload that failed by a DELETE of its
// URL, which would take away what was stored there before: the first one
// after a refusal is answered and not obeyed (design: the drive, section 4).
const (
	refusalLasts = 10 * time.Second
	mostRefusals = 10_000
)

// clearsUp reports whether the client is one whose DELETE may be meant for
// what it failed to store: a script means what it says, and davfs2 keeps its
// user's text and asks no DELETE. Documents/ is as any other file server.
func (d *drive) clearsUp(x *exchange) bool {
	agent := x.r.UserAgent()
	return len(x.at.segments) > 0 && x.at.segments[0] == "dav" && !x.at.inDocuments() &&
		!d.scriptClient(agent) && !strings.HasPrefix(agent, "davfs2/")
}

// noteRefusal remembers that a PUT failed, until one is accepted. A condition that
// does not hold and a limit that is reached say nothing about what was sent.
func (d *drive) noteRefusal(x *exchange, failure error) {
	if !d.clearsUp(x) {
		return
	}
	switch errs.KindOf(failure) {
	case "":
		d.memory.refused.forget(spotOf(x.by.ID, x.at))
	case errs.LogIn, errs.TooMany, errs.Precondition:
	default:
		d.memory.refused.add(spotOf(x.by.ID, x.at), struct{}{}, 0)
	}
}

// keeps answers a DELETE that follows a refusal as if it were done, if what
// it is about is there; its conditions count all the same.
func (d *drive) keeps(x *exchange, target node) (kept bool, err error) {
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
func (x *exchange) judgeShown(n node, about *info) error {
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
func (d *drive) removeShown(x *exchange, n node) (done bool, err error) {
	if done, err := d.removeKept(x, n); done || err != nil || !shaded(x.at, n) {
		return done, err
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
		if err := x.engine.EndDraft(ctx, x.by, x.at.scratch(), nil); err != nil {
			return false, err
		}
	}
	x.memory.echoes.forget(at)
	x.w.WriteHeader(http.StatusNoContent)
	return true, nil
}

// removeKept answers a DELETE that follows a refusal.
func (d *drive) removeKept(x *exchange, n node) (done bool, err error) {
	if kept, err := d.keeps(x, n); !kept || err != nil {
		return false, err
	}
	x.w.WriteHeader(http.StatusNoContent)
	return true, nil
}
