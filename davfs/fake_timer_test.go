package davfs

import (
	"context"
	"fmt"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// timer returns the one timer that every case of the fake has; only its
// author may set it.
func (f *fake) timer(by identity.Principal, id int64, name string) (*stored, *engine.Resource, error) {
	s := f.find(f.cases, by, engine.Ref{CaseID: id})
	if s == nil || name != "review" {
		return nil, nil, notThere()
	}
	form := fmt.Appendf(nil, `{"name":"review","limit":%q}`, s.limit)
	return s, &engine.Resource{Name: name, Seq: 1, Form: form, FormETag: contentETag(form), Created: s.Created, Modified: s.Modified}, nil
}

func (f *fake) Timers(_ context.Context, by identity.Principal, id int64) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, timer, err := f.timer(by, id, "review")
	if err != nil {
		return nil, err
	}
	return []engine.Resource{*timer}, nil
}

func (f *fake) Timer(_ context.Context, by identity.Principal, id int64, name string) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, timer, err := f.timer(by, id, name)
	return timer, err
}

func (f *fake) MaySetTimer(_ context.Context, by identity.Principal, id int64, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, _, err := f.timer(by, id, name)
	if err == nil && s.AuthorID != by.ID {
		err = errs.New(errs.NotAllowed, "Not yours.")
	}
	return err
}

func (f *fake) PutTimer(_ context.Context, req engine.Request, id int64, name string, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	s, timer, err := f.timer(req.By, id, name)
	if err != nil {
		return nil, err
	}
	if req.If != nil {
		if err := req.If(engine.Version{Exists: true, ETag: timer.FormETag, Modified: timer.Modified}); err != nil {
			return nil, err
		}
	}
	node, err := f.read(body, "limit")
	if err != nil {
		return nil, err
	}
	if err := f.free(req); err != nil {
		return nil, err
	}
	o := &engine.Outcome{Changed: true, Name: name, CaseID: id}
	if s.limit = node.Get("limit").Text; s.limit == "PT0S" {
		o.Name = "" // its task is over
	}
	s.version++
	_, timer, _ = f.timer(req.By, id, name)
	o.Form, o.FormETag = timer.Form, timer.FormETag
	return f.keep(req, o), nil
}
