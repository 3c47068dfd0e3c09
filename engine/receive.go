package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/internal/webhook"
	"flowdrive/store"
)

// MaxHookBody is how many bytes the body of a request to a hook may have.
const MaxHookBody = 25 << 20

// keepReceived is for how long a request to a hook is known again by its sender's
// id, beyond the time of idempotency keys: senders try for days.
const keepReceived = 6 * 24 * time.Hour

// HookRequest is a request that came to the address of a hook.
type HookRequest struct {
	Token  string
	Header http.Header
	Query  url.Values
	Body   io.Reader
	Length int64     // that the sender says the body has, -1 if it does not say
	Wall   time.Time // the machine's time

	// Hold is called before the body is read, with how many bytes it has at most. It
	// returns an error if there is no room for them; nil: there always is.
	Hold func(bytes int64) error
}

// HookAnswer is what the sender is told.
type HookAnswer struct {
	Case     int64  `json:"case"`
	Label    string `json:"label,omitempty"` // of the message that was written
	Replayed bool   `json:"-"`               // it is the first answer to the same request again
}

// Receive does what a request to a hook asks for: it starts a case of its route, or
// writes a message of one, as the hook's author. A request that is known by its
// sender's id gets the first answer again. Errors: errs.NotFound if no hook has the
// token, its author has left, or the case that is named is not one of its route;
// errs.TooMany beyond its rate; errs.TooLarge; errs.NotAllowed if the sender does
// not prove that it knows the secret, or the author may not do it any more;
// errs.Unavailable if the secret is not set; those of starting a case and of
// PutLabel.
func (e *Hooks) Receive(ctx context.Context, in HookRequest) (*HookAnswer, error) {
	h, s, err := e.byToken(ctx, in.Token)
	if err != nil {
		return nil, err
	}
	if of, ok := parseRate(s.Rate); ok {
		if err := e.admit(h.ID, of, in.Wall); err != nil {
			return nil, err
		}
	}
	secret, fault := e.secretOf(s.Verify)
	if fault != "" {
		e.noteFault(ctx, h, fault)
		return nil, errs.New(errs.Unavailable, "Requests to this address cannot be verified now; the administrators of its route are told.")
	}
	check := webhook.Check{Scheme: s.Verify.Scheme, Secret: secret, Header: s.Verify.Header}
	signed := &webhook.Incoming{Header: in.Header, Now: in.Wall}
	if err := check.Announced(signed); err != nil {
		return nil, unverified(err)
	}
	body, err := in.read(s.Most)
	if err != nil {
		return nil, err
	}
	signed.Body = body
	if err := check.Verify(signed); err != nil {
		return nil, unverified(err)
	}
	r := &received{hook: h, settings: s, in: &in, body: body, id: check.ID(signed)}
	return e.act(ctx, r)
}

func unverified(why error) error {
	return errs.New(errs.NotAllowed, "The request cannot be verified: %v.", why)
}

// read returns the body, which may have so many bytes. Whether its signature is right
// is only known when all of it is there, so nothing is read that is announced as too
// large or for which there is no room.
func (in *HookRequest) read(most int64) ([]byte, error) {
	tooLarge := errs.New(errs.TooLarge, "The body is larger than %d bytes, the most that this address takes.", most)
	if in.Length > most {
		return nil, tooLarge
	}
	if in.Length >= 0 {
		most = in.Length
	}
	if in.Hold != nil {
		if err := in.Hold(most); err != nil {
			return nil, err
		}
	}
	body, err := io.ReadAll(io.LimitReader(in.Body, most+1))
	if _, told := errors.AsType[*errs.Error](err); err != nil && !told {
		err = &errs.Error{Kind: errs.NotParseable, Detail: "The body was cut short; nothing was done.", Err: err}
	}
	if err == nil && int64(len(body)) > most {
		err = tooLarge
	}
	return body, err
}

// ErrNoHook is the errs.NotFound of a token that no hook has.
var ErrNoHook = errs.New(errs.NotFound, "There is nothing at this address; it may have been revoked.")

// received is a request whose sender is known.
type received struct {
	hook     *store.Hook
	settings hookSettings
	in       *HookRequest
	body     []byte
	id       string // the sender's, "" if it gives none
}

// byToken returns the hook with that token.
func (e *Hooks) byToken(ctx context.Context, token string) (h *store.Hook, s hookSettings, err error) {
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		h, err = store.OrNil(r.Hooks().ByToken(sha256.Sum256([]byte(token))))
		return err
	})
	if err != nil {
		return nil, s, err
	}
	if h == nil || e.routes.Load().byID[h.RouteID] == nil {
		return nil, s, ErrNoHook
	}
	s, err = hookSettingsOf(h)
	return h, s, err
}

// act does what the request asks for, once.
func (e *Hooks) act(ctx context.Context, r *received) (*HookAnswer, error) {
	by, err := e.author(r.hook)
	if err != nil {
		e.noteFault(ctx, r.hook, authorLeft)
		return nil, err
	}
	req := Request{By: by, Now: e.Clock.Now()}
	if r.id != "" {
		sum := sha256.Sum256([]byte(r.id))
		req.Key = &IdempotencyKey{Key: fmt.Sprintf("hook %d %s", r.hook.ID, hex.EncodeToString(sum[:])), Longer: keepReceived}
		req.Answer = func(o *Outcome) []byte { return document.Line(r.answer(o)) }
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
		e.noteFault(ctx, r.hook, authorMayNot+err.Error())
	case err == nil && r.hook.Fault != "":
		e.noteFault(ctx, r.hook, "")
	}
	if err != nil {
		return nil, err
	}
	return r.answer(out), nil
}

func (r *received) answer(o *Outcome) *HookAnswer {
	a := &HookAnswer{Case: o.CaseID}
	if r.settings.Deliver != nil {
		a.Label = r.settings.Deliver.Label
	}
	return a
}

// again returns the first answer to a request, nil if it has not come before.
func (e *Hooks) again(ctx context.Context, req Request) (*HookAnswer, error) {
	stored, err := e.Replay(ctx, req.By, *req.Key)
	if err != nil || stored == nil {
		return nil, err
	}
	a := &HookAnswer{Replayed: true}
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

func (e *Hooks) do(ctx context.Context, req Request, r *received) (*Outcome, error) {
	content, mediaType := r.content()
	if d := r.settings.Deliver; d != nil {
		id, err := e.caseOf(ctx, req.By, r, d.Case)
		if err != nil {
			return nil, err
		}
		out, err := e.cases.PutLabel(ctx, req, id, NewMessage{Label: d.Label, MediaType: mediaType, Body: bytes.NewReader(content)})
		if out != nil {
			out.CaseID = id
		}
		return out, err
	}
	return e.start(ctx, req, r, content, mediaType)
}

// start starts a case of the hook's route with the request as its input.
func (e *Hooks) start(ctx context.Context, req Request, r *received, content []byte, mediaType string) (*Outcome, error) {
	d := Drop{Route: e.routes.Load().byID[r.hook.RouteID].Name, Xattrs: r.xattrs()}
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
	input, err := e.contents.Read(mediaType, e.quota.Reader(bytes.NewReader(content), room), false)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.contents.StoringContent(ctx, input, func() (err error) {
		out, err = e.startWith(ctx, req, d, input, r.hook.SHA256)
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
			if current, err := store.OrNil(tx.Hooks().ByToken(token)); err != nil || current == nil {
				return nil, cmp.Or(err, error(ErrNoHook)) // revoked meanwhile
			}
			if err := e.decider.writeAsked(tx, c); err != nil {
				return nil, err
			}
			out := &Outcome{Created: true, Changed: true, Name: strconv.FormatInt(c.row.ID, 10), CaseID: c.row.ID, Modified: c.after.Modified}
			return out, e.Finish(tx, req, out)
		}, nil
	})
}

// xattrs returns the XATTRs of a case: the allowed headers that the request has.
// What strangers write is taken as it is, without labels.
func (r *received) xattrs() label.Dict {
	var dict label.Dict
	for _, name := range r.settings.Headers {
		values := r.in.Header.Values(name)
		key, err := label.NormalizeKey(name)
		if err != nil || len(values) == 0 {
			continue
		}
		dict = dict.Set(key, label.Text(strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")))
	}
	return dict
}

// content returns what the case gets of the request: a form as JSON, and what else
// came as it came. GitHub sends its JSON in a field of a form if it is told so.
func (r *received) content() (content []byte, mediaType string) {
	mediaType = r.in.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(mediaType)
	switch {
	case err != nil && json.Valid(r.body):
		return r.body, "application/json"
	case err != nil:
		return r.body, "application/octet-stream"
	case kind != "application/x-www-form-urlencoded":
		return r.body, mediaType
	}
	values, err := url.ParseQuery(string(r.body))
	if err != nil {
		return r.body, mediaType
	}
	if payload := values.Get("payload"); r.settings.Verify.Scheme == webhook.GitHub && json.Valid([]byte(payload)) {
		return []byte(payload), "application/json"
	}
	fields := make(map[string]any, len(values))
	for name, list := range values {
		if fields[name] = list; len(list) == 1 {
			fields[name] = list[0]
		}
	}
	form, err := json.Marshal(fields)
	if err != nil {
		return r.body, mediaType
	}
	return form, "application/json"
}

func errNoCase() error {
	return errs.New(errs.NotFound, "The request names no case to which a message can be delivered here.")
}

// caseOf returns the case that the request names by its id: one of the hook's route
// that its author sees.
func (e *Hooks) caseOf(ctx context.Context, by identity.Principal, r *received, at hookCase) (int64, error) {
	var name string
	switch {
	case at.Header != "":
		name = r.in.Header.Get(at.Header)
	case at.Query != "":
		name = r.in.Query.Get(at.Query)
	default:
		name = inJSON(r, at.JSON)
	}
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
		if err == nil && row != nil && row.RouteID == r.hook.RouteID {
			var sees bool
			if sees, err = e.seesCase(reader, by, row); sees {
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

// inJSON returns the text or number to which a path leads: /data/case or data.case.
func inJSON(r *received, path string) string {
	content, _ := r.content()
	var at any
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if d.Decode(&at) != nil {
		return ""
	}
	separator := "."
	if strings.HasPrefix(path, "/") {
		path, separator = path[1:], "/"
	}
	for key := range strings.SplitSeq(path, separator) {
		if separator == "/" {
			key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		}
		switch container := at.(type) {
		case map[string]any:
			at = container[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(container) {
				return ""
			}
			at = container[i]
		default:
			return ""
		}
	}
	switch value := at.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}
