package main

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	flow "flowdrive/client"
)

// call performs an operation of the OpenAPI document that has to succeed.
func (k *clientCalls) call(ctx context.Context, method, path, body string) flow.Answer {
	k.T.Helper()
	c := flow.Call{Method: method, Path: path}
	if body != "" {
		c.Body = []byte(body)
	}
	if method == http.MethodOptions {
		c.Header = http.Header{"Origin": {"https://example.org"}}
	}
	answer, err := k.Call(ctx, c)
	if k.ok("Call", err); err != nil {
		k.Errorf("%s %s", method, path)
	}
	return answer
}

// alwaysRefused are the operations that never succeed for a program, with what the document says.
var alwaysRefused = map[string]string{
	"DELETE /dav/Workflow/Worklist/{list}/{task}.json": "a task is rejected, not deleted; only a program that mounts the drive is told that it was, and nothing is done",
}

// changes performs what stores something and has no method of its own. It leaves something of
// each kind to be read.
func (k *clientCalls) changes(ctx context.Context, s *inProcess, f *furnished) {
	const workflow = "/dav/Workflow/"
	oneOf := `{"states": {"a": {"type": "start", "complete": true}}, "actions": {"begin": {"trigger": "init"}}}`
	story := `{"as": "admin", "steps": [{"start": {"title": "A"}}]}`
	for _, c := range []struct{ method, path, body string }{
		{"OPTIONS", "/", ""},
		{"OPTIONS", "/dav", ""},
		{"POST", "/clock", `{"advance": "PT1S"}`},
		{"POST", workflow + "Schedule", `{"type": "interval", "route": "bug", "hours": 1}`},
		{"POST", workflow + "Cases", `{"route": "bug", "title": "Posted"}`},
		{"PUT", workflow + "Routes/copy.scenario.yaml", story},
		{"GET", workflow + "Routes/copy.scenario.yaml", ""},
		{"DELETE", workflow + "Routes/copy.scenario.yaml", ""},
		{"PUT", workflow + "Routes/copy.scenario.json", story},
		{"PUT", workflow + "Routes/passing.json", oneOf},
		{"DELETE", workflow + "Routes/passing.json", ""},
		{"PUT", workflow + "Routes/passing.yaml", oneOf},
		{"DELETE", workflow + "Routes/passing.yaml", ""},
		{"PUT", workflow + "Routes/bug/drop.txt", "hello"},
		{"GET", workflow + "Routes/bug/drop.txt", ""},
		{"PUT", workflow + "Cases/" + f.id + "/Files/plan.txt", "hello"},
		{"GET", workflow + "Cases/" + f.id + "/Files/plan.txt", ""},
		{"PUT", workflow + "Cases/" + f.id + "/Labels/remark", "bye"},
		{"PUT", workflow + "Cases/" + f.id + "/comment.txt", "Still warm?"},
		{"GET", workflow + "Cases/" + f.id + "/comment.txt", ""},
		{"POST", workflow + "Cases/" + f.id + "/Actions/comment.json", `{"comment": "Still warm."}`},
		{"PUT", workflow + "Archive/2012/11/" + f.past + ".json", `{"state": "active"}`},
		{"DELETE", workflow + "Cases/" + f.past + ".json", ""},
		{"PUT", workflow + "Cases/" + f.past + ".json", `{"do": "archive"}`},
		{"PUT", "/attachfs/more.csv", "1,2"},
		{"PUT", "/attachfs/" + f.id + "/more.csv", "3,4"},
		{"PUT", "/dav/Account/me.json", `{"email": "admin@example.org"}`},
		{"PUT", "/dav/Account/AppPasswords/tablet.json", `{}`},
		{"PUT", "/dav/Account/CalendarLinks/tablet.json", `{}`},
		{"PUT", "/dav/Admin/Users/ben.json", `{"password": "a password of ben"}`},
		{"PUT", "/dav/Admin/Teams/night.json", `{"members": ["ben"]}`},
		{"PUT", "/dav/Admin/Holds/night.json", `{"group": "night"}`},
	} {
		k.call(ctx, c.method, c.path, c.body)
	}
	var hook struct {
		URL string `json:"url"`
	}
	made := k.call(ctx, "PUT", workflow+"Routes/bug/Hooks/night.json", `{}`)
	if err := json.Unmarshal(made.Body, &hook); err != nil {
		k.Fatal(err)
	}
	_, token, _ := strings.Cut(hook.URL, "/hook/")
	k.call(ctx, "POST", "/hook/"+token, `{"a": 1}`)
	k.call(ctx, "PUT", "/hook/"+token, `{"a": 2}`)
	k.tasks(ctx)
	k.call(ctx, "GET", workflow+"Routes/bug/Hooks/night.json", "")
	k.call(ctx, "GET", k.firstOf(ctx, "/dav/Admin/Nodes/"), "")
	k.call(ctx, "GET", k.firstOf(ctx, workflow+"Cases/"+s.delivering()+"/Outbox/"), "")
	mail := k.firstOf(ctx, "/dav/Admin/Outbox/")
	k.call(ctx, "GET", mail, "")
	k.call(ctx, "DELETE", mail, "")
	k.call(ctx, "PUT", workflow+"Routes/fails.json", `{"states": {"a": {"type": "start", "complete": true}}, "actions": {"begin": {"trigger": "init", "onFire": [{"set": {"n": {"cel": "int(\"x\")"}}}]}}}`)
	k.call(ctx, "GET", k.begin(ctx, `{"route": "fails"}`)+"/exception", "")
	k.call(ctx, "GET", k.begin(ctx, `{"route": "collector", "input": {"a": 1}}`)+"/output", "")
}

// begin starts a case, and returns its folder.
func (k *clientCalls) begin(ctx context.Context, document string) string {
	k.T.Helper()
	made := k.call(ctx, "PUT", "/dav/Workflow/Cases/new.json", document)
	return strings.TrimSuffix(made.Header.Get("Location"), ".json")
}

// firstOf returns the path of a file of a folder.
func (k *clientCalls) firstOf(ctx context.Context, folder string) string {
	k.T.Helper()
	for _, file := range all(k.T, k.Files(ctx, folder)) {
		if !file.Folder && strings.Contains(file.Name, ".") {
			return folder + file.Name
		}
	}
	k.Fatalf("%s is empty", folder)
	return ""
}

// tasks accepts a task, offers it again and rejects it, as files of the worklist.
func (k *clientCalls) tasks(ctx context.Context) {
	const list = "/dav/Workflow/Worklist/"
	task := path.Base(k.begin(ctx, `{"route": "bug", "roles": {"assignee": ["admin"]}}`)) + ".resolve.json"
	k.call(ctx, "PUT", list+"Offered/"+task, `{"do": "accept"}`)
	k.call(ctx, "POST", list+"Accepted/"+task, `{"do": "release"}`)
	if _, err := k.Call(ctx, flow.Call{Method: http.MethodDelete, Path: list + "Offered/" + task}); !flow.IsSlug(err, "not-deletable") {
		k.Errorf("a task is deleted: %v", err)
	}
}

// reads performs every GET that has not been performed.
func (k *clientCalls) reads(ctx context.Context, d *described, f *furnished) {
	for _, op := range d.api.operations() {
		method, path, _ := strings.Cut(op, " ")
		if method == http.MethodGet && d.checked[op] == 0 {
			k.call(ctx, method, strings.ReplaceAll(f.target(path), "%20", " "), "")
		}
	}
}

// ends deletes something of each kind.
func (k *clientCalls) ends(ctx context.Context, f *furnished) {
	const workflow = "/dav/Workflow/"
	for _, path := range []string{
		workflow + "Routes/bug/drop.txt", workflow + "Routes/copy.scenario.json", workflow + "Routes/bug/Hooks/night.json", workflow + "Cases/" + f.id + "/Files/plan.txt",
		workflow + "Archive/2012/11/" + f.past + ".json", "/attachfs/" + f.attachment, "/dav/Account/AppPasswords/tablet.json", "/dav/Account/CalendarLinks/tablet.json",
		"/dav/Account/Sessions/1.json", "/dav/Admin/Sessions/2.json",
		"/dav/Admin/Teams/night.json", "/dav/Admin/Users/ben.json", "/dav/Admin/Holds/night.json", "/dav/Workflow/Cases/" + f.id + ".json",
	} {
		k.call(ctx, http.MethodDelete, path, "")
	}
}
