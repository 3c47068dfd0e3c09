package davfs

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// dropped is a file in the folder of a route, an alias of its case's input.
type dropped struct {
	route, name string
	author      identity.ID
	caseID      int64
}

// rehearse returns what undoes a dry run; of another request it undoes
// nothing.
func (f *fake) rehearse(req engine.Request) (undo func()) {
	if !req.DryRun {
		return func() {}
	}
	lists := []*[]*stored{&f.entries, &f.cases, &f.routes, &f.parties, &f.accounts.secrets}
	var before [][]*stored
	for _, list := range lists {
		var copies []*stored
		for _, s := range *list {
			clone := *s
			copies = append(copies, &clone)
		}
		before = append(before, copies)
	}
	last, email := f.last, f.accounts.email
	files, names := slices.Clone(f.attached), slices.Clone(f.dropped)
	versions, messages, documents := maps.Clone(f.versions), maps.Clone(f.messages), f.copyDocuments()
	for id := range messages {
		messages[id] = slices.Clone(messages[id])
	}
	return func() {
		for i, list := range lists {
			*list = before[i]
		}
		f.last, f.accounts.email, f.attached, f.dropped = last, email, files, names
		f.versions, f.messages, f.documents = versions, messages, documents
	}
}

func (f *fake) MayDrop(_ context.Context, by identity.Principal, route string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mayDrop(by, route)
}

// mayDrop lets nobody start a case of a route called "closed".
func (f *fake) mayDrop(by identity.Principal, route string) error {
	s := f.route(by, route)
	if s == nil {
		return notThere()
	}
	if s.Name == "closed" {
		return errs.New(errs.NotAllowed, "You may see the route but not start its cases.")
	}
	return nil
}

func (f *fake) Drop(_ context.Context, req engine.Request, d engine.Drop, up engine.Upload) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	if err := f.mayDrop(req.By, d.Route); err != nil {
		return nil, err
	}
	v := engine.Version{}
	if at := f.alias(req.By, d.Route, d.Name); at >= 0 {
		v = engine.Version{Exists: true, ETag: engine.MessageETag(f.input(at)), Modified: f.now}
	}
	if req.If != nil {
		if err := req.If(v); err != nil {
			return nil, err
		}
	}
	owner := req.By.ID
	if d.Context != "" {
		if owner = f.PartyID(d.Context); !req.By.In(owner) {
			return nil, errs.New(errs.ContextNotAvailable, "The context is not one of yours.")
		}
	}
	content, err := io.ReadAll(up.Body) // only now: the first refusals need none of it
	if err != nil {
		return nil, errs.Wrap("read the body", err)
	}
	if err := f.free(req); err != nil {
		return nil, err
	}
	route := f.route(req.By, d.Route).Name
	s := &stored{context: owner, life: machine.Active, note: route, title: d.Title, xattrs: d.Xattrs, version: 1}
	if d.Priority != nil {
		s.priority = *d.Priority
	}
	s.Seq, s.Created, s.AuthorID, s.Author = f.nextID(), f.now, req.By.ID, req.By.Name
	s.Name = strconv.FormatInt(s.Seq, 10)
	f.cases = append(f.cases, s)
	f.renderCase(s, "open")
	f.write(s.Seq, "InputMessage", cmp.Or(up.MediaType, mediatype.Of(d.Name)), content)
	if at := f.alias(req.By, route, d.Name); at >= 0 {
		f.dropped = slices.Delete(f.dropped, at, at+1)
	}
	f.dropped = append(f.dropped, dropped{route, d.Name, req.By.ID, s.Seq})
	o := &engine.Outcome{
		Created: true, Changed: true, Name: s.Name, Form: s.Form, FormETag: s.FormETag, ETag: contentETag(content),
		CaseID: s.Seq, Life: s.life, Status: "open", Route: route, Message: f.messages[s.Seq][0].UUID,
	}
	return f.keep(req, o), nil
}

// alias returns where the name is among what was dropped and is still open;
// -1 for nowhere.
func (f *fake) alias(by identity.Principal, route, name string) int {
	return slices.IndexFunc(f.dropped, func(a dropped) bool {
		c := f.find(f.cases, by, engine.Ref{CaseID: a.caseID})
		return a.author == by.ID && same(a.route, route) && same(a.name, name) && c != nil && !c.life.Ended()
	})
}

func (f *fake) input(at int) *store.Message { return &f.messages[f.dropped[at].caseID][0].Message }

func (f *fake) Alias(_ context.Context, by identity.Principal, route, name string) (*store.Alias, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.alias(by, route, name)
	if f.route(by, route) == nil || at < 0 {
		return nil, notThere()
	}
	return &store.Alias{Name: f.dropped[at].name, Input: *f.input(at)}, nil
}

func (f *fake) Aliases(_ context.Context, by identity.Principal, route string) ([]store.Alias, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.route(by, route) == nil {
		return nil, notThere()
	}
	f.calls["aliases"]++
	var out []store.Alias
	for _, a := range f.dropped {
		if at := f.alias(by, route, a.name); at >= 0 && f.dropped[at] == a {
			out = append(out, store.Alias{Name: a.name, Input: *f.input(at)})
		}
	}
	return out, nil
}

func (f *fake) OpenAlias(_ context.Context, by identity.Principal, route, name string) (*engine.Content, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.alias(by, route, name)
	if at < 0 {
		return nil, notThere()
	}
	return &engine.Content{Message: *f.input(at), Body: contentOf(f.messages[f.dropped[at].caseID][0].content)}, nil
}

func (f *fake) DeleteAlias(_ context.Context, req engine.Request, route, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.alias(req.By, route, name)
	if at < 0 {
		return notThere()
	}
	if req.If != nil {
		if err := req.If(engine.Version{Exists: true, ETag: engine.MessageETag(f.input(at)), Modified: f.now}); err != nil {
			return err
		}
	}
	f.dropped = slices.Delete(f.dropped, at, at+1)
	return nil
}

// Board has two states: open, and done, which is listed once a case of the
// caller's is in it.
func (f *fake) Board(_ context.Context, by identity.Principal, route string) ([]engine.BoardState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.route(by, route) == nil {
		return nil, notThere()
	}
	done := slices.ContainsFunc(f.cases, func(s *stored) bool {
		return same(s.note, route) && s.Status == "done" && (by.Admin() || by.In(s.context))
	})
	return []engine.BoardState{{Name: "open", Listed: true}, {Name: "done", Listed: done}}, nil
}

func (f *fake) BoardState(ctx context.Context, by identity.Principal, route, state string) (string, error) {
	states, err := f.Board(ctx, by, route)
	for _, s := range states {
		if same(s.Name, state) {
			return s.Name, nil
		}
	}
	return "", cmp.Or(err, notThere())
}
