package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/hook"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/webhook"
	"flowdrive/store"
)

// keepReceived is for how long a request to a hook is known again by its sender's
// id, beyond the time of idempotency keys: senders try for days.
const keepReceived = 6 * 24 * time.Hour

// Receive does what a request to a hook asks for: it starts a case of its route, or
// writes a message of one, as the hook's author. A request that is known by its
// sender's id gets the first answer again. Errors: errs.NotFound if no hook has the
// token, its author has left, or the case that is named is not one of its route;
// errs.TooMany beyond its rate; errs.TooLarge; errs.NotAllowed if the sender does
// not prove that it knows the secret, or the author may not do it any more;
// errs.Unavailable if the secret is not set; those of starting a case and of
// PutLabel.
func (e *Hooks) Receive(ctx context.Context, in hook.Request) (*hook.Answer, error) {
	at, err := e.byToken(ctx, in.Token)
	if err != nil {
		return nil, err
	}
	if of, ok := hook.ParseRate(at.Rate); ok {
		if err := e.rates.Admit(at.hook.ID, of, in.Wall); err != nil {
			e.noteRefusal(ctx, at, troubleRate, "more requests came than "+at.Rate+", the rate that it takes")
			return nil, err
		}
	}
	secret, fault := e.secrets.Of(at.Verify)
	if fault != "" {
		e.noteFault(ctx, at.hook, fault)
		return nil, errs.New(errs.Unavailable, "Requests to this address cannot be verified now; the administrators of its route are told.")
	}
	check := webhook.Check{Scheme: at.Verify.Scheme, Secret: secret, Header: at.Verify.Header}
	signed := &webhook.Incoming{Header: in.Header, Now: in.Wall}
	if err := check.Announced(signed); err != nil {
		e.noteRefusal(ctx, at, troubleSignature, "a request cannot be verified: "+err.Error())
		return nil, unverified(err)
	}
	body, err := in.ReadBody(at.Most)
	if err != nil {
		if errs.Is(err, errs.TooLarge) {
			e.noteRefusal(ctx, at, troubleUnusable, err.Error())
		}
		return nil, err
	}
	signed.Body = body
	if err := check.Verify(signed); err != nil {
		e.noteRefusal(ctx, at, troubleSignature, "a request cannot be verified: "+err.Error())
		return nil, unverified(err)
	}
	e.noteTaken(ctx, at, troubleSignature)
	r := &hook.Received{Hook: at.hook, Settings: at.Settings, In: &in, Body: body, ID: check.ID(signed)}
	return e.act(ctx, at, r)
}

func unverified(why error) error {
	return errs.New(errs.NotAllowed, "The request cannot be verified: %v.", why)
}

// ErrNoHook is the errs.NotFound of a token that no hook has.
var ErrNoHook = errs.New(errs.NotFound, "There is nothing at this address; it may have been revoked.")

// addressed is a hook to which a request came.
type addressed struct {
	hook.Settings

	hook  *store.Hook
	wrong []store.Trouble // what is known to be wrong with it
}

// byToken returns the hook with that token.
func (e *Hooks) byToken(ctx context.Context, token string) (*addressed, error) {
	at := &addressed{}
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		if at.hook, err = store.OrNil(r.Routes().Hooks().ByToken(sha256.Sum256([]byte(token)))); err == nil && at.hook != nil {
			at.wrong, err = r.Troubles().OfHook(at.hook.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if at.hook == nil || e.rights.Route(at.hook.RouteID) == nil {
		return nil, ErrNoHook
	}
	at.Settings, err = hook.SettingsOf(at.hook)
	return at, err
}

// act does what the request asks for, once.
func (e *Hooks) act(ctx context.Context, at *addressed, r *hook.Received) (*hook.Answer, error) {
	by, err := e.author(r.Hook)
	if err != nil {
		e.noteFault(ctx, r.Hook, authorLeft)
		return nil, err
	}
	req := Request{By: by, Now: e.Clock.Now()}
	if r.ID != "" {
		sum := sha256.Sum256([]byte(r.ID))
		req.Key = &IdempotencyKey{Key: fmt.Sprintf("hook %d %s", r.Hook.ID, hex.EncodeToString(sum[:])), Longer: keepReceived}
		req.Answer = func(o *Outcome) []byte { return document.Line(r.Answer(o)) }
		if first, err := e.again(ctx, req); first != nil || err != nil {
			return first, err
		}
	}
	out, err := e.do(ctx, req, r)
	if err != nil && req.Key != nil {
		// The same request may have come twice at the same time.
		if first, _ := e.again(ctx, req); first != nil {
			return first, nil
		}
	}
	switch {
	case errs.Is(err, errs.NotAllowed):
		e.noteFault(ctx, r.Hook, authorMayNot+err.Error())
	case err == nil && r.Hook.Fault != "":
		e.noteFault(ctx, r.Hook, "")
	}
	if err != nil {
		if isRequests(err) {
			e.noteRefusal(ctx, at, troubleUnusable, err.Error())
		}
		return nil, err
	}
	e.noteTaken(ctx, at, troubleUnusable)
	return r.Answer(out), nil
}

// again returns the first answer to a request, nil if it has not come before.
func (e *Hooks) again(ctx context.Context, req Request) (*hook.Answer, error) {
	stored, err := e.Replay(ctx, req.By, *req.Key)
	if err != nil || stored == nil {
		return nil, err
	}
	a := &hook.Answer{Replayed: true}
	return a, errs.Wrap("read the answer of a hook", json.Unmarshal(stored, a))
}

// author returns the user as whom a hook acts.
func (e *Hooks) author(h *store.Hook) (identity.Principal, error) {
	p := e.directory().ByID(h.Author)
	if p == nil || p.Kind != identity.User || p.Disabled {
		return identity.Principal{}, errs.New(errs.NotFound, "There is nobody any more as whom this address could act; the administrators of its route are told.")
	}
	return e.directory().Principal(p.ID), nil
}

func (e *Hooks) do(ctx context.Context, req Request, r *hook.Received) (*Outcome, error) {
	if err := r.Readable(); err != nil {
		return nil, err
	}
	content, mediaType := r.Content()
	if d := r.Settings.Deliver; d != nil {
		id, err := e.caseOf(ctx, req.By, r)
		if err != nil {
			return nil, err
		}
		out, err := e.cases.PutLabel(ctx, req, id, NewMessage{Label: d.Label, MediaType: mediaType, Body: bytes.NewReader(content), Hook: r.Hook.Name})
		if out != nil {
			out.CaseID = id
		}
		return out, err
	}
	return e.start(ctx, req, r, content, mediaType)
}

// start starts a case of the hook's route with the request as its input.
func (e *Hooks) start(ctx context.Context, req Request, r *hook.Received, content []byte, mediaType string) (*Outcome, error) {
	d := Drop{Route: e.rights.Route(r.Hook.RouteID).Name, Xattrs: r.Xattrs()}
	var room int64
	err := e.Store.View(ctx, func(reader store.Reader) (err error) {
		if _, err = e.readStart(reader, req, d, nil); err == nil {
			room, err = e.roomInQuota(reader, req.By.ID, 0, int64(len(content)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	input, err := e.contents.Read(mediaType, e.quota.Reader(req.By.ID, bytes.NewReader(content), room), false)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.contents.StoringContent(ctx, input, func() (err error) {
		out, err = e.startWith(ctx, req, d, input, r.Hook.SHA256)
		return err
	})
	if err == nil {
		e.runDueNow(ctx)
	}
	return out, err
}

// readStart returns the case that is to be started, if the author may start it.
func (e *Hooks) readStart(r store.Reader, req Request, d Drop, input *contents.Content) (*newCase, error) {
	b, err := e.drops.readDrop(r, req, d, input)
	if errs.Is(err, errs.NotFound) {
		err = errs.New(errs.NotAllowed, "The author of this address may not see its route any more.")
	}
	if b != nil {
		b.literal, b.from = true, r
	}
	return b, err
}

func (e *Hooks) startWith(ctx context.Context, req Request, d Drop, input *contents.Content, token store.Digest) (*Outcome, error) {
	return change.Make(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		b, err := e.readStart(r, req, d, input)
		if err != nil {
			return nil, err
		}
		b.id = e.NewID(req)
		now, err := e.decider.startsNow(r, b.startable(), req.Now)
		if err != nil {
			return nil, err
		}
		c, err := e.decider.createCase(*b, req.Now, now)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) {
			if _, err := tx.Routes().CurrentVersion(c.row.RouteID); err != nil {
				return nil, staleIfGone(err)
			}
			if current, err := store.OrNil(tx.Routes().Hooks().ByToken(token)); err != nil || current == nil {
				return nil, cmp.Or(err, error(ErrNoHook)) // revoked meanwhile
			}
			if err := e.decider.writeAsked(tx, c); err != nil {
				return nil, err
			}
			out := &Outcome{Created: true, Changed: true, Name: strconv.FormatInt(c.row.ID, 10), CaseID: c.row.ID, Life: c.after.Shown(), Modified: c.after.Modified}
			if c.after.IsDraft() {
				for _, x := range machine.Lacks(c.route, c.after.Xattrs) {
					out.Lacks = append(out.Lacks, x.Key)
				}
			}
			return out, e.Finish(tx, req, out)
		}, nil
	})
}

func errNoCase() error {
	return errs.New(errs.NotFound, "The request names no case to which a message can be delivered here.")
}

// caseOf returns the case that the request names by its id: one of the hook's route
// that its author sees.
func (e *Hooks) caseOf(ctx context.Context, by identity.Principal, r *hook.Received) (int64, error) {
	name := r.CaseName()
	if name == "" {
		return 0, errs.New(errs.BadParameter, "The request does not say which case it is for.")
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return 0, errNoCase()
	}
	var row *store.Case
	err = e.Store.View(ctx, func(reader store.Reader) (err error) {
		row, err = store.OrNil(reader.Cases().Get(id))
		if err == nil && row != nil && row.RouteID == r.Hook.RouteID {
			var sees bool
			if sees, err = e.rights.SeesCase(reader, by, row); sees {
				return err
			}
		}
		row = nil
		return err
	})
	if err == nil && row == nil {
		err = errNoCase()
	}
	return id, err
}
