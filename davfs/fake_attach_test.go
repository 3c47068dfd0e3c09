package davfs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// attached is an attachment of the fake with its content.
type attached struct {
	store.Attachment
	content []byte
	used    bool // by a schedule entry
}

func (f *fake) attachment(by identity.Principal, uuid store.UUID) *attached {
	for _, a := range f.attached {
		if a.UUID == uuid && f.seesAttached(by, a) {
			return a
		}
	}
	return nil
}

func (f *fake) seesAttached(by identity.Principal, a *attached) bool {
	if a.CaseID != 0 {
		return f.find(f.cases, by, engine.Ref{CaseID: a.CaseID}) != nil
	}
	return by.Admin() || by.In(a.ContextID)
}

func (f *fake) Attachment(_ context.Context, by identity.Principal, uuid store.UUID) (*store.Attachment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.attachment(by, uuid)
	if a == nil {
		return nil, notThere()
	}
	return &a.Attachment, nil
}

func (f *fake) OpenAttachment(_ context.Context, by identity.Principal, uuid store.UUID) (*engine.OpenAttachment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.attachment(by, uuid)
	if a == nil {
		return nil, notThere()
	}
	return &engine.OpenAttachment{Attachment: a.Attachment, Body: inMemory{bytes.NewReader(a.content)}}, nil
}

func (f *fake) Attachments(_ context.Context, by identity.Principal, filter engine.Filter) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if filter.CaseID != 0 && f.find(f.cases, by, engine.Ref{CaseID: filter.CaseID}) == nil {
		return nil, notThere()
	}
	var out []engine.Resource
	for _, a := range f.attached {
		own := a.CaseID == 0 && by.In(a.ContextID)
		if a.Seq <= filter.After || !f.seesAttached(by, a) || filter.OwnOnly && !own || filter.CaseID != 0 && a.CaseID != filter.CaseID {
			continue
		}
		out = append(out, engine.Resource{
			Name: a.UUID.String(), Given: a.Name, Seq: a.Seq, SourceSize: a.Size, MediaType: a.MediaType, Created: a.Created, Modified: a.Created,
			Form: fmt.Appendf(nil, `{"uuid":%q,"name":%q,"boundTo":%d}`, a.UUID, a.Name, a.CaseID),
		})
		if len(out) == filter.Limit {
			break
		}
	}
	return out, nil
}

func (f *fake) PutAttachment(_ context.Context, req engine.Request, given engine.NewAttachment, body io.Reader) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	if given.CaseID != 0 && f.find(f.cases, req.By, engine.Ref{CaseID: given.CaseID}) == nil {
		return nil, notThere()
	}
	owner := req.By.ID
	if given.Context != "" {
		if owner = f.PartyID(given.Context); !req.By.In(owner) {
			return nil, errs.New(errs.ContextNotAvailable, "The context is not one of yours.")
		}
	}
	if err := cmp.Or((*stored)(nil).judge(req, false), f.free(req)); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	a := &attached{Attachment: store.Attachment{
		Seq: f.nextID(), ContextID: owner, AuthorID: req.By.ID, CaseID: given.CaseID, Name: given.Name, MediaType: given.MediaType,
		Size: int64(len(content)), SHA256: sha256.Sum256(content), Created: f.now,
	}, content: content}
	a.UUID[0], a.UUID[15] = 0xa7, byte(a.Seq)
	if a.MediaType == "" {
		a.MediaType = mediatype.Of(a.Name)
	}
	if given.Lifetime == (clock.Duration{Exact: time.Hour}) {
		a.used = true
	}
	f.attached = append(f.attached, a)
	o := &engine.Outcome{
		Created: true, Changed: true, Name: a.UUID.String(), ETag: a.ETag(), FormETag: a.ETag(),
		Form: fmt.Appendf(nil, `{"uuid":%q}`, a.UUID),
	}
	return f.keep(req, o), nil
}

func (f *fake) DeleteAttachment(_ context.Context, req engine.Request, uuid store.UUID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.attachment(req.By, uuid)
	if a == nil {
		return notThere()
	}
	if req.If != nil {
		if err := req.If(engine.Version{Exists: true, ETag: a.ETag(), Modified: a.Created}); err != nil {
			return err
		}
	}
	if a.used {
		return errs.New(errs.InUse, "A schedule entry takes it.")
	}
	f.attached = slices.DeleteFunc(f.attached, func(o *attached) bool { return o == a })
	return nil
}
