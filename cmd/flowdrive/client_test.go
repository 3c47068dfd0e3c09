package main

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	flow "flowdrive/client"
	"flowdrive/internal/document"
	"flowdrive/schema"
)

// described is a transport that compares each request and its answer with the OpenAPI
// document.
type described struct {
	*testing.T
	api     *openAPI
	checked map[string]int // successes by method and path of the document
}

// webDAV are the methods that OpenAPI cannot describe.
var webDAV = []string{"PROPFIND", "MKCOL", "COPY", "MOVE"}

func (d *described) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || slices.Contains(webDAV, r.Method) {
		return resp, err
	}
	path := d.pathOf(r)
	if path == "" {
		d.Errorf("%s %s is not described", r.Method, r.URL.Path)
		return resp, nil
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		d.checked[r.Method+" "+path]++
	}
	for _, name := range sortedNames(r.URL.Query()) {
		if !d.takes(path, r.Method, name) {
			d.Errorf("%s %s: the parameter %s is not described", r.Method, path, name)
		}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp, nil // it does not end
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err := d.api.judge(path, r.Method, &httptest.ResponseRecorder{Code: resp.StatusCode, HeaderMap: resp.Header, Body: bytes.NewBuffer(body)}); err != nil { //nolint:staticcheck // a recorder that has been written
		d.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return resp, nil
}

// pathOf returns the path of the document that the request is for: the one with the
// fewest parameters, and of these the longest.
func (d *described) pathOf(r *http.Request) (best string) {
	for _, path := range d.api.paths() {
		form := "^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$"
		if strings.HasSuffix(path, "{path}") {
			form = strings.TrimSuffix(form, "[^/]+$") + ".+$"
		}
		if regexp.MustCompile(form).MatchString(r.URL.Path) && closer(path, best) {
			best = path
		}
	}
	return best
}

// closer reports whether a path is nearer to a request than another that matches it, too.
func closer(path, best string) bool {
	if n, m := strings.Count(path, "{"), strings.Count(best, "{"); best != "" && n != m {
		return n < m
	}
	return len(path) > len(best)
}

// takes reports whether an operation, or its path, has the query parameter.
func (d *described) takes(path, method, name string) bool {
	item := d.api.doc.At("paths", path)
	for _, list := range []*document.Node{item.Get("parameters"), item.Get(strings.ToLower(method)).Get("parameters")} {
		if list == nil {
			continue
		}
		for _, p := range list.Items {
			p, _ = d.api.follow(p, "")
			known := p.Get("name").Text
			if known == name || strings.HasPrefix(known, "xattr") && strings.HasPrefix(name, "xattr") {
				return true
			}
		}
	}
	return false
}

// all reads a sequence to its end.
func all[V any](t *testing.T, seq iter.Seq2[V, error]) []V {
	t.Helper()
	values, err := flow.Collect(seq)
	if err != nil {
		t.Error(err)
	}
	return values
}

// TestClientAndOpenAPI calls every method of the Go client against a server, and with them every
// operation of the OpenAPI document: each request that the client makes, and each answer that it
// takes, is as the document says.
func TestClientAndOpenAPI(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		f := s.furnish()
		server := httptest.NewServer(s.server.Handler())
		defer server.Close()
		d := &described{T: t, api: newOpenAPI(t, schema.OpenAPI()), checked: map[string]int{}}
		c, err := flow.New(flow.Profile{URL: server.URL, User: "admin", Password: s.passwords["admin"]}, flow.Options{HTTP: &http.Client{Transport: d}})
		if err != nil {
			t.Fatal(err)
		}
		k := &clientCalls{T: t, Client: c, tried: map[string]bool{}}
		k.account(t.Context())
		id := k.cases(t.Context())
		k.work(t.Context(), id)
		k.schedule(t.Context())
		k.drive(t.Context())
		k.changes(t.Context(), s, &f)
		k.reads(t.Context(), d, &f)
		k.ends(t.Context(), &f)
		of := reflect.TypeOf(c)
		for i := range of.NumMethod() {
			if name := of.Method(i).Name; !k.tried[name] {
				t.Errorf("%s was not tried", name)
			}
		}
		for _, op := range d.api.operations() {
			if why := alwaysRefused[op]; d.checked[op] == 0 && why == "" {
				t.Errorf("the client has not performed %s", op)
			}
		}
	})
}

// clientCalls calls the methods of a client, and knows which.
type clientCalls struct {
	*testing.T
	*flow.Client
	tried map[string]bool
}

// ok notes that a method was called, and fails if it has.
func (k *clientCalls) ok(name string, err error) {
	k.T.Helper()
	k.tried[name] = true
	if err != nil {
		k.Errorf("%s: %v", name, err)
	}
}

func (k *clientCalls) account(ctx context.Context) {
	k.tried["URL"], k.tried["User"] = k.URL() != "", k.User() == "admin"
	_, err := k.About(ctx)
	k.ok("About", err)
	k.ok("Ready", k.Ready(ctx))
	_, err = k.Me(ctx)
	k.ok("Me", err)
	_, err = k.People(ctx)
	k.ok("People", err)
	_, err = k.Now(ctx)
	k.ok("Now", err)
	_, err = k.NewSecret(ctx, "laptop")
	k.ok("NewSecret", err)
	k.ok("DeleteSecret", k.DeleteSecret(ctx, "laptop"))
	_, err = k.Overview(ctx)
	k.ok("Overview", err)
	for _, page := range []string{"overview", "week", "late"} {
		_, err = k.Text(ctx, page)
		k.ok("Text", err)
	}
}

func (k *clientCalls) cases(ctx context.Context) int64 {
	input, err := k.Attach(ctx, "plan.txt", strings.NewReader("plan"), 4)
	k.ok("Attach", err)
	started, err := k.Start(ctx, flow.NewCase{Route: "bug", Title: "Lamp", XAttrs: map[string]any{"room": "7"}, Attachment: input})
	k.ok("Start", err)
	id := started.ID
	k.ok("Detach", k.Detach(ctx, input))
	found, err := k.Case(ctx, id)
	k.ok("Case", err)
	if found.Title != "Lamp" {
		k.Errorf("the case is %+v", found)
	}
	_, err = k.FindCase(ctx, "fire")
	k.ok("FindCase", err)
	_, err = k.CaseStatus(ctx, id)
	k.ok("CaseStatus", err)
	_, err = k.WhyQueued(ctx, id)
	k.ok("WhyQueued", err)
	if len(all(k.T, k.Cases(ctx, flow.CaseFilter{Route: "bug", State: "active", Query: "lamp", XAttrs: map[string]string{"room": "7"}}))) != 1 {
		k.Error("the case is not found")
	}
	k.tried["Cases"] = true
	all(k.T, k.Log(ctx, id))
	k.tried["Log"] = true
	content, _, err := k.CaseFile(ctx, id, "input")
	k.ok("CaseFile", err)
	if err == nil {
		k.ok("CaseFile", content.Close())
	}
	k.ok("AddFile", k.AddFile(ctx, id, "note.txt", strings.NewReader("note"), 4))
	k.ok("Change", k.Change(ctx, id, map[string]any{"title": "A lamp", "priority": 300}))
	k.ok("SetTimer", k.SetTimer(ctx, id, "case", "P3D"))
	_, err = k.Timer(ctx, id, "case")
	k.ok("Timer", err)
	return id
}

func (k *clientCalls) work(ctx context.Context, id int64) {
	_, err := k.Actions(ctx, id)
	k.ok("Actions", err)
	_, err = k.Task(ctx, id, "comment")
	k.ok("Task", err)
	all(k.T, k.Tasks(ctx, flow.Offered, flow.TaskFilter{Route: "bug"}))
	k.tried["Tasks"] = true
	all(k.T, k.TeamTasks(ctx, "ops"))
	k.tried["TeamTasks"] = true
	_, err = k.Do(ctx, id, "comment", flow.Do{Comment: "It flickers."})
	k.ok("Do", err)
	ended, err := k.Start(ctx, flow.NewCase{Route: "copy"})
	k.ok("Start", err)
	ended, err = k.Wait(ctx, ended.ID)
	k.ok("Wait", err)
	all(k.T, k.Deliveries(ctx, ended.ID))
	k.tried["Deliveries"] = true
	_, err = k.Denied(ctx, ended)
	k.ok("Denied", err)
	_, err = k.StateType(ctx, ended)
	k.ok("StateType", err)
	k.ok("FollowCase", k.FollowCase(ctx, ended.ID, func(flow.Case) (bool, error) { return false, nil }))
	for _, err := range k.Follow(ctx) {
		k.ok("Follow", err)
		break
	}
	if _, err := k.Case(ctx, 999_999); !flow.IsSlug(err, "not-found") {
		k.Errorf("a case that is not there: %v", err)
	}
	if _, err := k.Do(ctx, id, "close", flow.Do{}); !flow.IsSlug(err, "action-not-enabled") {
		k.Errorf("an action that is not enabled: %v", err)
	}
}

func (k *clientCalls) schedule(ctx context.Context) {
	r, err := k.PutRoute(ctx, "lamp.yaml", []byte("access: {start: [everyone]}\nstates: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [a], to: b, allowed: everyone}}\n"), flow.PutOptions{})
	k.ok("PutRoute", err)
	_, err = k.PutRoute(ctx, "lamp.scenario.yaml", []byte("as: admin\nsteps: [{start: {title: A}, expect: {status: a}}]\n"), flow.PutOptions{})
	k.ok("PutRoute", err)
	k.ok("KeepScenario", k.KeepScenario(ctx, "lamp.scenario.yaml", []byte("as: admin\nsteps: [{start: {title: A}, expect: {status: b}}]\n")))
	_, err = k.Route(ctx, "lamp")
	k.ok("Route", err)
	source, err := k.RouteSource(ctx, "lamp")
	if err != nil || source.File != "lamp.yaml" {
		k.Errorf("the route %s is in %q: %v", r.Name, source.File, err)
	}
	_, err = k.PutRoute(ctx, "lamp.yaml", source.Text, flow.PutOptions{Match: `"another"`})
	if !flow.IsSlug(err, "precondition") {
		k.Errorf("another version: %v", err)
	}
	_, err = k.RouteVersion(ctx, "lamp", 1)
	k.ok("RouteVersion", err)
	k.tried["RouteSource"] = true
	all(k.T, k.Routes(ctx))
	k.tried["Routes"] = true
	entry, err := k.PutEntry(ctx, "new.json", []byte(`{"route": "lamp", "type": "interval", "hours": 1}`), flow.PutOptions{})
	k.ok("PutEntry", err)
	_, err = k.FindEntry(ctx, "nightly")
	k.ok("FindEntry", err)
	all(k.T, k.Entries(ctx))
	k.tried["Entries"] = true
	_, err = k.EntryNames(ctx)
	k.ok("EntryNames", err)
	k.ok("CommandEntry", k.CommandEntry(ctx, entry.ID(), "trigger", nil))
	k.ok("CommandEntry", k.CommandEntry(ctx, entry.ID(), "pause", map[string]string{"note": "for now"}))
	resumed, err := k.ResumeEntry(ctx, entry.ID(), true)
	if k.ok("ResumeEntry", err); resumed.Paused {
		k.Errorf("an entry that was resumed is paused: %s", resumed.Raw())
	}
	form, err := k.EntryForm(ctx, entry.ID())
	if k.ok("EntryForm", err); form.ETag == "" {
		k.Errorf("the form of an entry has no ETag")
	}
	_, err = k.LeftOut(ctx, entry.ID())
	k.ok("LeftOut", err)
	_, err = k.EntryStatus(ctx, entry.ID())
	k.ok("EntryStatus", err)
	_, err = k.LastOccurrences(ctx, entry.ID())
	k.ok("LastOccurrences", err)
	now, err := k.Now(ctx)
	k.ok("Now", err)
	report, err := k.BackfillEntry(ctx, entry.ID(), now.Add(-time.Hour), now.Add(-time.Minute), true)
	if k.ok("BackfillEntry", err); report.List == nil {
		k.Errorf("the report of a backfill has no list: %v", report)
	}
	all(k.T, k.Occurrences(ctx, entry.UUID))
	k.tried["Occurrences"] = true
	k.ok("DeleteEntry", k.DeleteEntry(ctx, entry.ID()))
	_, err = k.DeletedEntry(ctx, entry.ID())
	k.ok("DeletedEntry", err)
}

func (k *clientCalls) drive(ctx context.Context) {
	k.ok("MakeFolder", k.MakeFolder(ctx, "Documents/admin/new"))
	_, err := k.Put(ctx, "Documents/admin/new/a.txt", strings.NewReader("a"), 1)
	k.ok("Put", err)
	k.ok("Copy", k.Copy(ctx, "Documents/admin/new/a.txt", "Documents/admin/new/b.txt"))
	k.ok("Move", k.Move(ctx, "Documents/admin/new/b.txt", "Documents/admin/new/c.txt"))
	if files := all(k.T, k.Files(ctx, "Documents/admin/new")); len(files) != 2 {
		k.Errorf("the folder has %v", files)
	}
	k.tried["Files"] = true
	content, _, err := k.Open(ctx, "Documents/admin/new/c.txt")
	k.ok("Open", err)
	if err == nil {
		k.ok("Open", content.Close())
	}
	k.ok("Delete", k.Delete(ctx, "Documents/admin/new/c.txt", nil))
}
