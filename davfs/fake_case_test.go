package davfs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/store"
)

type fakeForm struct {
	ID     int64        `json:"id"`
	Route  string       `json:"route"`
	State  machine.Life `json:"state"`
	Status string       `json:"status"`

	Title    string     `json:"title,omitempty"`
	Priority int        `json:"priority,omitempty"` // where it was asked for
	Xattrs   label.Dict `json:"xattrDict,omitempty"`
}

func (f *fake) Case(_ context.Context, by identity.Principal, ref engine.Ref) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls["one"]++
	return found(f.find(f.cases, by, ref))
}

func (f *fake) Cases(_ context.Context, by identity.Principal, filter engine.Filter) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.page(f.cases, by, filter, func(s *stored) bool {
		return (filter.State == "" || string(s.life) == filter.State) && (filter.Route == "" || same(s.note, filter.Route)) &&
			(filter.Status == "" || s.Status == filter.Status) && (!filter.OnBoard || s.life != machine.Canceled) &&
			filter.Archived == (s.Archived != 0) && (filter.Month == 0 || filter.Month == s.Archived)
	})
}

func (f *fake) PutCase(_ context.Context, req engine.Request, ref engine.Ref, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	s := f.find(f.cases, req.By, ref)
	if s == nil && (ref.Identity() || ref.Name != "" && ref.Author != req.By.ID) {
		return nil, notThere()
	}
	if err := cmp.Or(s.judge(req, !ref.Identity()), f.free(req)); err != nil {
		return nil, err
	}
	required := ""
	if s == nil {
		required = "route"
	}
	node, err := f.read(body, required)
	if err != nil {
		return nil, err
	}
	o := &engine.Outcome{Created: s == nil, Changed: true}
	if s == nil {
		s = &stored{context: req.By.ID, life: machine.Active, note: node.Get("route").Text}
		s.Seq, s.Created, s.AuthorID, s.Author, s.Given = f.nextID(), f.now, req.By.ID, req.By.Name, ref.Name
		s.Name = strconv.FormatInt(s.Seq, 10)
		f.cases = append(f.cases, s)
		f.write(s.Seq, "InputMessage", "text/plain", []byte("hello"))
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if v := root.Get("title"); v.Given() {
		s.title = v.Node.Text
	}
	s.xattrs = label.ReadDict(root.Get("xattrDict"))
	s.version++
	f.renderCase(s, "open")
	if s.Given != "" {
		s.setSource(body)
	}
	o.Name, o.Form, o.FormETag, o.CaseID = s.Name, s.Form, s.FormETag, s.Seq
	if ref.Name != "" {
		o.ETag = s.SourceETag
	}
	return f.keep(req, o), nil
}

func (f *fake) PatchXattrs(_ context.Context, req engine.Request, ref engine.Ref, changes []engine.XattrChange) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(f.cases, req.By, ref)
	if s == nil {
		return notThere()
	}
	if err := s.judge(req, !ref.Identity()); err != nil {
		return err
	}
	if s.AuthorID != req.By.ID {
		return errs.New(errs.NotAllowed, "It is not your case.")
	}
	for _, c := range changes {
		if s.xattrs = s.xattrs.Remove(c.Key); !c.Remove {
			s.xattrs = s.xattrs.Set(c.Key, label.Text(c.Text))
		}
	}
	s.version++
	f.renderCase(s, s.Status)
	return nil
}

func (f *fake) renderCase(s *stored, status string) {
	s.Status = status
	s.form(f.now, string(mustMarshal(fakeForm{s.Seq, s.note, s.life, status, s.title, s.priority, s.xattrs})))
}

func (f *fake) DeleteCase(_ context.Context, req engine.Request, ref engine.Ref) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(f.cases, req.By, ref)
	if s == nil {
		return notThere()
	}
	if err := s.judge(req, !ref.Identity()); err != nil {
		return err
	}
	if s.life == machine.Canceled {
		s.Archived, s.Given, s.AuthorID = store.MonthOf(f.now), "", 0
	}
	s.life = machine.Canceled
	f.renderCase(s, "open")
	return nil
}

func (f *fake) ArchiveMonths(_ context.Context, by identity.Principal, own bool) ([]store.Month, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []store.Month
	for _, s := range f.cases {
		if s.Archived != 0 && (by.In(s.context) || by.Admin() && !own) {
			out = append(out, s.Archived)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (f *fake) PurgeCase(_ context.Context, req engine.Request, month store.Month, id int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(f.cases, req.By, engine.Ref{CaseID: id})
	switch {
	case s == nil || s.Archived != month:
		return notThere()
	case !req.By.Admin():
		return errs.New(errs.NotAllowed, "Only administrators may purge.")
	}
	f.cases = slices.DeleteFunc(f.cases, func(c *stored) bool { return c == s })
	return nil
}

func (f *fake) log(by identity.Principal, id int64, text string) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(f.cases, by, engine.Ref{CaseID: id})
	if s == nil {
		return nil, notThere()
	}
	return &engine.Resource{Form: []byte(text), FormETag: contentETag([]byte(text)), Created: s.Created, Modified: s.Modified}, nil
}

func (f *fake) CaseLog(_ context.Context, by identity.Principal, id int64) (*engine.Resource, error) {
	return f.log(by, id, `[{"seq":1}]`)
}

func (f *fake) CaseLogText(_ context.Context, by identity.Principal, id int64) (*engine.Resource, error) {
	return f.log(by, id, "1 opened by sam\n")
}

// write creates or replaces a message.
func (f *fake) write(id int64, label, mediaType string, content []byte) (created bool) {
	m := message{store.Message{
		Label: label, MediaType: mediaType, Size: int64(len(content)), SHA256: sha256.Sum256(content),
		Created: f.now, Modified: f.now,
	}, content}
	for i := range f.messages[id] {
		if f.messages[id][i].Label == label {
			m.UUID = f.messages[id][i].UUID
			f.messages[id][i] = m
			return false
		}
	}
	m.UUID[0], m.UUID[7], m.UUID[15] = 0xe0, byte(id), byte(len(f.messages[id])+1)
	f.messages[id] = append(f.messages[id], m)
	return true
}

func (f *fake) Messages(_ context.Context, by identity.Principal, id int64) ([]store.Message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.find(f.cases, by, engine.Ref{CaseID: id}) == nil {
		return nil, notThere()
	}
	var out []store.Message
	for _, m := range f.messages[id] {
		out = append(out, m.Message)
	}
	return out, nil
}

func (f *fake) Message(_ context.Context, by identity.Principal, id int64, uuid store.UUID, label string) (*engine.Content, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(f.cases, by, engine.Ref{CaseID: id})
	if s == nil {
		return nil, notThere()
	}
	switch {
	case label == engine.OwnInput:
		label = "InputMessage"
	case label == engine.OwnOutput && s.life == machine.Completed:
		label = "OutputMessage"
	case label == engine.OwnOutput, label == engine.OwnException:
		return nil, notThere()
	}
	for _, m := range f.messages[id] {
		if label != "" && m.Label == label || label == "" && m.UUID == uuid {
			return &engine.Content{Message: m.Message, Body: contentOf(m.content)}, nil
		}
	}
	return nil, notThere()
}

func (f *fake) PutLabel(_ context.Context, req engine.Request, id int64, given engine.NewMessage) (*engine.Outcome, error) {
	label, mediaType, body := given.Label, given.MediaType, given.Body
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	s := f.find(f.cases, req.By, engine.Ref{CaseID: id})
	if s == nil {
		return nil, notThere()
	}
	v := engine.Version{}
	for _, m := range f.messages[id] {
		if m.Label == label {
			v = engine.Version{Exists: true, ETag: contentETag(m.content), Modified: m.Modified}
		}
	}
	if req.If != nil {
		if err := req.If(v); err != nil {
			return nil, err
		}
	}
	if s.life.Ended() {
		return nil, errs.New(errs.CaseNotOpen, "The case has ended.")
	}
	content, err := io.ReadAll(body) // only now: the first refusals need none of it
	if err != nil {
		return nil, errs.Wrap("read the body", err)
	}
	if err := f.free(req); err != nil {
		return nil, err
	}
	o := &engine.Outcome{Created: !v.Exists, Form: s.Form, FormETag: s.FormETag, Changed: true, Name: label, ETag: contentETag(content), CaseID: id}
	f.write(id, label, mediaType, content)
	return f.keep(req, o), nil
}

// task is the one action that every open case has.
func (f *fake) task(by identity.Principal, id int64, action string) (*stored, *engine.Resource, error) {
	s := f.find(f.cases, by, engine.Ref{CaseID: id})
	if s == nil || action != "resolve" {
		return nil, nil, notThere()
	}
	if s.life != machine.Active {
		return s, nil, &errs.Error{Kind: errs.ActionNotEnabled, Detail: "The action is not enabled.", Extra: map[string]any{"enabled": []string{}}}
	}
	form := fmt.Appendf(nil, `{"case":%d,"action":%q,"state":"offered"}`, id, action)
	return s, &engine.Resource{Name: action, Form: form, FormETag: contentETag(form), Created: s.Created, Modified: s.Modified}, nil
}

func (f *fake) Tasks(_ context.Context, by identity.Principal, id int64) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, task, err := f.task(by, id, "resolve")
	if s == nil {
		return nil, err
	}
	if task == nil {
		return nil, nil
	}
	return []engine.Resource{*task}, nil
}

func (f *fake) Task(_ context.Context, by identity.Principal, id int64, action string) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, task, err := f.task(by, id, action)
	if task == nil {
		if err != nil && errs.Is(err, errs.ActionNotEnabled) {
			err = notThere()
		}
		return nil, err
	}
	return task, nil
}

// Worklist has the one task of every case: Offered is whatever is there.
func (f *fake) Worklist(ctx context.Context, by identity.Principal, list engine.Worklist, filter engine.Filter) ([]engine.Resource, error) {
	cases, err := f.Cases(ctx, by, filter)
	var out []engine.Resource
	for i := range cases {
		if task, _ := f.WorklistTask(ctx, by, list, cases[i].Seq, "resolve"); task != nil {
			out = append(out, *task)
		}
	}
	return out, err
}

func (f *fake) MoveTask(_ context.Context, req engine.Request, move engine.TaskMove) (*engine.Outcome, error) {
	id := move.CaseID
	f.mu.Lock()
	defer f.mu.Unlock()
	s, task, err := f.task(req.By, id, move.Action)
	if err != nil {
		return nil, err
	}
	if move.From != engine.WorklistOffered || move.To != engine.WorklistAccepted {
		return nil, errs.New(errs.NotMovable, "From Offered to Accepted.")
	}
	if req.If != nil {
		if err := req.If(engine.Version{Exists: true, ETag: task.FormETag, Modified: task.Modified}); err != nil {
			return nil, err
		}
	}
	return &engine.Outcome{Changed: true, Name: s.Name, Form: s.Form, FormETag: s.FormETag, CaseID: id, Life: s.life, Status: s.Status, LogSeq: 4}, nil
}

func (f *fake) WorklistTask(ctx context.Context, by identity.Principal, list engine.Worklist, id int64, action string) (*engine.Resource, error) {
	task, err := f.Task(ctx, by, id, action)
	if err != nil || list != engine.WorklistOffered {
		return nil, notThere()
	}
	task.Name, task.Seq = fmt.Sprintf("%d.%s", id, action), id
	return task, nil
}

func (f *fake) Perform(_ context.Context, req engine.Request, id int64, action string, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	if _, err := f.read(body, ""); err != nil {
		return nil, err
	}
	s, task, err := f.task(req.By, id, action)
	if s == nil {
		return nil, err
	}
	if req.If != nil && task != nil {
		if err := req.If(engine.Version{Exists: true, ETag: task.FormETag, Modified: task.Modified}); err != nil {
			return nil, err
		}
	}
	if task == nil {
		return nil, err
	}
	if err := f.free(req); err != nil {
		return nil, err
	}
	s.life = machine.Completed
	s.version++
	f.renderCase(s, "done")
	f.write(id, "OutputMessage", "text/html", []byte("<b>done</b>"))
	o := &engine.Outcome{
		Changed: true, Name: s.Name, Form: s.Form, FormETag: s.FormETag,
		CaseID: id, Life: s.life, Status: "done", LogSeq: 3,
	}
	return f.keep(req, o), nil
}

func (f *fake) route(by identity.Principal, name string) *stored {
	for _, s := range f.routes {
		if same(s.Name, name) && (by.Admin() || by.In(s.context)) {
			return s
		}
	}
	return nil
}

func (f *fake) Route(_ context.Context, by identity.Principal, name string) (*engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found(f.route(by, name))
}

func (f *fake) Routes(_ context.Context, by identity.Principal, filter engine.Filter) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.page(f.routes, by, filter, func(*stored) bool { return true })
}

func (f *fake) RouteVersions(_ context.Context, by identity.Principal, name string) ([]engine.Resource, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.route(by, name)
	if s == nil {
		return nil, notThere()
	}
	return f.versions[s.Name], nil
}

func (f *fake) PutRoute(_ context.Context, req engine.Request, name string, yaml bool, body []byte) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.rehearse(req)()
	s := f.route(req.By, name)
	if s == nil && slices.ContainsFunc(f.routes, func(r *stored) bool { return same(r.Name, name) }) {
		return nil, errs.New(errs.NameTaken, "The name %q is in use; choose another.", name)
	}
	if err := cmp.Or(s.judge(req, true), f.free(req)); err != nil {
		return nil, err
	}
	if !yaml {
		if _, err := f.read(body, ""); err != nil {
			return nil, err
		}
	}
	o := &engine.Outcome{Created: s == nil, Changed: true}
	if s == nil {
		s = &stored{context: req.By.ID}
		s.Name, s.Seq, s.Created = name, f.nextID(), f.now
		f.routes = append(f.routes, s)
	}
	s.version++
	s.YAML = yaml
	s.setSource(body)
	s.form(f.now, fmt.Sprintf(`{"name":%q,"id":%d,"version":%d}`, s.Name, s.Seq, s.version))
	version := s.Resource
	version.Name = strconv.FormatInt(s.version, 10)
	f.versions[s.Name] = append(f.versions[s.Name], version)
	o.Name, o.Form, o.FormETag, o.ETag = s.Name, s.Form, s.FormETag, s.SourceETag
	return f.keep(req, o), nil
}

// MigrateRoute has no cases to move.
func (f *fake) MigrateRoute(ctx context.Context, req engine.Request, name string, yaml bool, body []byte) (*engine.Outcome, error) {
	return f.PutRoute(ctx, req, name, yaml, body)
}

func (f *fake) DeleteRoute(_ context.Context, req engine.Request, name string, force bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.route(req.By, name)
	if s == nil {
		return notThere()
	}
	if err := s.judge(req, true); err != nil {
		return err
	}
	if slices.ContainsFunc(f.cases, func(c *stored) bool { return same(c.note, name) && !c.life.Ended() }) && !force {
		return errs.New(errs.InUse, "The route has open cases.")
	}
	f.routes = slices.DeleteFunc(f.routes, func(r *stored) bool { return r == s })
	return nil
}
