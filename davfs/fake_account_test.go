package davfs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// fakeAccounts is what the fake knows of accounts: secrets as stored
// resources, and the text of one day of the audit log.
type fakeAccounts struct {
	secrets []*stored // title is the kind
	email   string    // everybody's
}

func (f *fake) me(by identity.Principal) *stored {
	s := &stored{version: 1}
	s.Seq, s.Created = int64(by.ID), f.now
	s.form(f.now, fmt.Sprintf(`{"name":%q,"email":%q}`, by.Name, f.accounts.email))
	s.FormETag = contentETag(s.Form)
	s.Definition = ""
	return s
}

func (f *fake) Me(_ context.Context, by identity.Principal) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found(f.me(by))
}

func (f *fake) PutMe(_ context.Context, req engine.Request, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	if req.Key != nil {
		return nil, errs.New(errs.Internal, "A key was passed on with a secret.")
	}
	if err := f.me(req.By).judge(req, false); err != nil {
		return nil, err
	}
	node, err := parse(body)
	if err != nil {
		return nil, err
	}
	if email := node.Get("email"); email != nil {
		f.accounts.email = email.Text
	}
	me := f.me(req.By)
	return &engine.Outcome{Changed: true, Name: "me", Form: me.Form, FormETag: me.FormETag}, nil
}

func (f *fake) People(context.Context, identity.Principal) (*engine.Resource, error) {
	form := []byte(`{"users":[],"teams":[]}`)
	return &engine.Resource{Name: "people", Form: form, FormETag: contentETag(form), Modified: f.now}, nil
}

func (f *fake) secret(by identity.Principal, kind store.SecretKind, label string) *stored {
	for _, s := range f.accounts.secrets {
		if s.context == by.ID && s.title == string(kind) && same(s.Name, label) {
			return s
		}
	}
	return nil
}

func (f *fake) Secrets(_ context.Context, by identity.Principal, kind store.SecretKind) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []engine.Resource
	for _, s := range f.accounts.secrets {
		if s.context == by.ID && s.title == string(kind) {
			out = append(out, s.Resource)
		}
	}
	return out, nil
}

func (f *fake) Secret(_ context.Context, by identity.Principal, kind store.SecretKind, label string) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found(f.secret(by, kind, label))
}

func (f *fake) PutSecret(_ context.Context, req engine.Request, kind store.SecretKind, label string, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	if req.Key != nil {
		return nil, errs.New(errs.Internal, "A key was passed on with a secret.")
	}
	s := f.secret(req.By, kind, label)
	if err := s.judge(req, false); err != nil {
		return nil, err
	}
	if _, err := parse(body); err != nil {
		return nil, err
	}
	if s != nil {
		return nil, errs.New(errs.NameTaken, "There is one already.")
	}
	s = &stored{context: req.By.ID, version: 1, title: string(kind)}
	s.Name, s.Seq, s.Created = label, f.nextID(), f.now
	s.form(f.now, fmt.Sprintf(`{"label":%q}`, label))
	f.accounts.secrets = append(f.accounts.secrets, s)
	once := fmt.Appendf(nil, "{\"label\":%q,\"secret\":\"fd-1\"}\n", label)
	if kind == store.CalendarLink {
		once = fmt.Appendf(nil, "{\"label\":%q,\"url\":\"/calendar/1.ics\"}\n", label)
	}
	return &engine.Outcome{Created: true, Changed: true, Name: label, Form: s.Form, Once: once}, nil
}

func (f *fake) DeleteSecret(_ context.Context, req engine.Request, kind store.SecretKind, label string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.secret(req.By, kind, label)
	if s == nil {
		return notThere()
	}
	if err := s.judge(req, false); err != nil {
		return err
	}
	f.accounts.secrets = slices.DeleteFunc(f.accounts.secrets, func(a *stored) bool { return a == s })
	return nil
}

// auditOfFake is the text of the one day that the fake has.
const auditOfFake = "{\"action\":\"log-in\"}\n{\"action\":\"request\"}\n"

func (f *fake) auditDay() *engine.Resource {
	return &engine.Resource{
		Name: "2012-11-09", Seq: 15653, Form: []byte(`{"date":"2012-11-09"}` + "\n"), FormETag: `"audit"`, SourceETag: `"audit"`,
		SourceSize: int64(len(auditOfFake)), Created: f.now, Modified: f.now,
	}
}

func (f *fake) AuditDays(_ context.Context, by identity.Principal) ([]engine.Resource, error) {
	if !by.Admin() {
		return nil, notThere()
	}
	return []engine.Resource{*f.auditDay()}, nil
}

func (f *fake) AuditDay(_ context.Context, by identity.Principal, date string) (*engine.Resource, io.ReadSeekCloser, error) {
	day := f.auditDay()
	if date != day.Name || !by.Admin() {
		return nil, nil, notThere()
	}
	return day, inMemory{bytes.NewReader([]byte(auditOfFake))}, nil
}

func (f *fake) Upcoming(_ context.Context, by identity.Principal) (*engine.Resource, error) {
	form := []byte("BEGIN:VCALENDAR\r\nNAME:" + string(by.Name) + "\r\nEND:VCALENDAR\r\n")
	return &engine.Resource{Name: "upcoming", Form: form, FormETag: contentETag(form), Modified: f.now}, nil
}
