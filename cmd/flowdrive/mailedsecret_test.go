package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/internal/mailbox"
)

// TestMailedSecrets: who is not an administrator of the server has no secret mailed
// by a route of their own, unless the settings say that its readers may have it.
func TestMailedSecrets(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{})
	folder := t.TempDir()
	config := filepath.Join(folder, "flowdrive.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, `
smtp: smtp://%s
mail-from: Flowdrive <flow@example.org>
secrets:
  tok: PLAINSECRET
  door: {value: DOORSECRET, mail: [mallory@example.org]}
`, box.Address), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p := startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--config", config))
	const word = "a long word of mallory 4711"
	p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/mallory.json", `{"password": "`+word+`", "email": "mallory@example.org"}`)
	const text = `
states: {open: {type: start}, done: {type: complete}}
roles: {me: {assign: [starter]}}
actions:
  begin: {trigger: init, to: open, onFire: [{mail: {to: [mallory], subject: SECRET, text: {secret: SECRET}}}]}
  fin: {in: [open], to: done, role: me}
`
	as := p.as("mallory", word)
	log := func(q *program, secret, routeName string) string {
		t.Helper()
		q.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/"+routeName+".yaml", strings.ReplaceAll(text, "SECRET", secret))
		at := q.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "`+routeName+`"}`).header.Get("Location")
		var told string
		eventually(t, func() string {
			told = string(q.must(t, http.StatusOK, "GET", strings.TrimSuffix(at, ".json")+"/log.txt", "").body)
			if !strings.Contains(told, "elivered") {
				return told
			}
			return ""
		})
		return told
	}
	const why = `the secret "tok" cannot be the text of a mail, because the route was not stored by an administrator of the server`
	if got := log(as, "tok", "steal"); !strings.Contains(got, why) {
		t.Errorf("the log does not say why:\n%s", got)
	}
	if form := p.must(t, http.StatusOK, "GET", "/dav/Workflow/Routes/steal.json", ""); !strings.Contains(string(form.body), `cannot be the text of a mail`) {
		t.Errorf("the route has no warning: %s", form.body)
	}
	if got := log(as, "door", "enter"); !strings.Contains(got, "Delivered:") {
		t.Errorf("the reader of the settings did not get it:\n%s", got)
	}
	if got := log(p, "tok", "tell"); !strings.Contains(got, "Delivered:") {
		t.Errorf("the administrator could not mail it:\n%s", got)
	}
	for _, m := range box.Wait(t.Context(), 2) {
		if strings.Contains(m.Text, "PLAINSECRET") != (m.Subject == "tok") {
			t.Errorf("got the mail %+v", m)
		}
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
}
