package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/engine/notice"
	"flowdrive/internal/mailbox"
)

// TestNotices: on a real server who gets a task has a mail of it, and a
// service is told of the event, signed.
func TestNotices(t *testing.T) {
	t.Parallel()
	s := startService(t, func(http.ResponseWriter, string) {})
	box := mailbox.Start(t, mailbox.Options{})
	p := startConfigured(t, fmt.Sprintf(`
allow-host: %q
smtp: smtp://%s
mail-from: Flowdrive <flow@example.org>
secrets: {default: %s}
notify-webhook: %s/told
`, strings.TrimPrefix(s.URL, "http://"), box.Address, webhookSecret, s.URL))
	for _, name := range []string{"sam", "bob"} {
		p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/"+name+".json", `{"password": "`+name+` works upstairs", "email": "`+name+`@example.net"}`)
	}
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone]}
roles: {clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: done, past: Checked}
`)
	path := p.as("sam", "sam works upstairs").must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "desk", "title": "Chairs"}`).header.Get("Location")
	mails := box.Wait(t.Context(), 1)
	if len(mails) != 1 || mails[0].To[0] != "bob@example.net" || mails[0].Subject != "To do: Check it (Chairs)" || !strings.Contains(mails[0].Text, "/cases/"+strings.TrimSuffix(filepath.Base(path), ".json")+"?open=check#todo\n") ||
		!strings.Contains(mails[0].Text, strings.TrimSuffix(path, ".json")+"/Actions/: save") {
		t.Fatalf("got mails %+v", mails)
	}
	p.as("bob", "bob works upstairs").must(t, http.StatusNoContent, "PUT", strings.TrimSuffix(path, ".json")+"/Actions/check.json", `{}`)
	mails = box.Wait(t.Context(), 2)
	if len(mails) != 2 || mails[1].To[0] != "sam@example.net" || mails[1].Subject != "Checked: Chairs" {
		t.Errorf("got mails %+v", mails[1:])
	}
	eventually(t, func() string {
		if n := len(s.seen()); n != 2 {
			return fmt.Sprintf("%d calls", n)
		}
		return ""
	})
	var told notice.Payload
	call := s.seen()[0]
	if err := json.Unmarshal([]byte(call.body), &told); err != nil {
		t.Fatalf("%v: %s", err, call.body)
	}
	d := &told.Data
	if call.target != "/told" || told.Type != "case.task-offered" || d.Kind != notice.KindTask || d.Text != "To do: Check it (Chairs)" || len(d.Acts) != 1 || d.Acts[0].Text != "Begun" ||
		len(d.People) != 1 || d.People[0].Name != "bob" || d.People[0].Why != "task" || !strings.HasPrefix(call.header.Get("Webhook-Signature"), "v1,") {
		t.Errorf("told %s %s", call.header, call.body)
	}
}

// TestDestinations: several services are told, each in its form and of what it asks
// for.
func TestDestinations(t *testing.T) {
	t.Parallel()
	s := startService(t, func(http.ResponseWriter, string) {})
	p := startConfigured(t, fmt.Sprintf(`
allow-host: %q
public-url: https://flow.example.org
notify:
  - {webhook: "%[2]s/services/T0/B0/xyz", template: slack, kinds: [task, failure]}
  - {webhook: "%[2]s/ops", template: ntfy, severity: failure}
  - {webhook: "%[2]s/message", template: gotify, kinds: outcome, routes: [desk]}
  - {webhook: "%[2]s/other", routes: [other]}
`, strings.TrimPrefix(s.URL, "http://"), s.URL))
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone]}
roles: {clerk: {assign: ["user:admin"]}}
states: {open: {type: start}, done: {type: complete, title: Closed well}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: done, past: Checked}
`)
	p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/sam.json", `{"password": "sam works upstairs"}`)
	path := p.as("sam", "sam works upstairs").must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "desk", "title": "Chairs"}`).header.Get("Location")
	p.must(t, http.StatusNoContent, "PUT", strings.TrimSuffix(path, ".json")+"/Actions/check.json", `{"comment": "well"}`)
	eventually(t, func() string {
		if n := len(s.seen()); n < 2 {
			return fmt.Sprintf("%d calls", n)
		}
		return ""
	})
	got := map[string]string{}
	for _, call := range s.seen() {
		got[call.target] += call.body
	}
	if len(got) != 2 || !strings.Contains(got["/services/T0/B0/xyz"], `"url":"https://flow.example.org/cases/`+strings.TrimSuffix(filepath.Base(path), ".json")+`?open=check#todo"`) || !strings.Contains(got["/message"], `"title":"Closed well: Chairs"`) {
		t.Errorf("told %v", got)
	}
}
