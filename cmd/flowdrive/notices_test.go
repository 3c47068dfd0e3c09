package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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
		p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/"+name+".json", `{"password": "`+name+` at work", "email": "`+name+`@example.net"}`)
	}
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone]}
roles: {clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: done, past: Checked}
`)
	path := p.as("sam", "sam at work").must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "desk", "title": "Chairs"}`).header.Get("Location")
	mails := box.Wait(t.Context(), 1)
	if len(mails) != 1 || mails[0].To[0] != "bob@example.net" || mails[0].Subject != "To do: Check it (Chairs)" || !strings.Contains(mails[0].Text, strings.TrimSuffix(path, ".json")+"/Actions/check.json") {
		t.Fatalf("got mails %+v", mails)
	}
	p.as("bob", "bob at work").must(t, http.StatusNoContent, "PUT", strings.TrimSuffix(path, ".json")+"/Actions/check.json", `{}`)
	mails = box.Wait(t.Context(), 2)
	if len(mails) != 2 || mails[1].To[0] != "sam@example.net" || mails[1].Subject != "Checked: Chairs" {
		t.Errorf("got mails %+v", mails[1:])
	}
	eventually(t, 30*time.Second, func() string {
		if n := len(s.seen()); n != 2 {
			return fmt.Sprintf("%d calls", n)
		}
		return ""
	})
	var told struct {
		Kind, Title string
		Acts        []struct{ Text, Actor string }
		People      []struct {
			Name, Why string
			Tasks     []string
		}
	}
	call := s.seen()[0]
	if err := json.Unmarshal([]byte(call.body), &told); err != nil {
		t.Fatalf("%v: %s", err, call.body)
	}
	if call.target != "/told" || told.Kind != "task" || told.Title != "Chairs" || len(told.Acts) != 1 || told.Acts[0].Text != "Begun" ||
		len(told.People) != 1 || told.People[0].Name != "bob" || told.People[0].Why != "task" || !strings.HasPrefix(call.header.Get("Webhook-Signature"), "v1,") {
		t.Errorf("told %s %s", call.header, call.body)
	}
}
