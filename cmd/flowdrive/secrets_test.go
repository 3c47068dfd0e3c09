package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/internal/mailbox"
)

// secretRoute uses secrets in every place that takes one.
const secretRoute = `
states:
  begun: {type: start}
  done: {type: complete}
roles: {clerk: {assign: [starter]}}
actions:
  begin:
    trigger: init
    onFire:
      - {http: {url: {secret: slack}, headers: {Authorization: {secret: api-key}}, value: {n: 1}, into: Chat}}
      - {http: {url: "SERVICE/orders/$__XATTR_order__;", headers: {Authorization: {secret: api-key}}, into: Order}}
      - {http: {url: {secret: unset}}}
      - {exec: {command: tell, into: Told}}
      - {exec: {command: complain}}
      - {mail: {to: {secret: team}, subject: Code, text: {secret: words}}}
  finish: {in: [begun], role: clerk, to: done}
`

// TestSecretsStayHidden: secrets are sent to where they are meant for, and are
// nowhere else: in no answer, file, log or event, of what fails and of what
// succeeds, whatever those who were told say.
func TestSecretsStayHidden(t *testing.T) { //nolint:paralleltest // it sets variables of the environment
	const path, key, variable = "/services/T0SECRET/B0SECRET/XXSECRETXX", "Bearer KEYSECRETKEY", "VARSECRETVAR"
	hidden := []string{"T0SECRET", "B0SECRET", "XXSECRETXX", "KEYSECRETKEY", variable, "WORDSECRETWORD", "teamsecret@partner.example"}
	var s *service
	s = startService(t, func(w http.ResponseWriter, _ string) {
		calls := s.seen()
		last := calls[len(calls)-1]
		if strings.HasPrefix(last.target, "/orders/") {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = fmt.Fprintf(w, "no such place: %s for %s", last.target, last.header.Get("Authorization"))
	})
	box := mailbox.Start(t, mailbox.Options{})
	folder := t.TempDir()
	config := filepath.Join(folder, "flowdrive.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, `
allow-host: %q
smtp: smtp://%s
mail-from: Flowdrive <flow@example.org>
secrets: {words: WORDSECRETWORD, team: teamsecret@partner.example, slack: to be replaced}
commands:
  tell: {path: /bin/sh, args: [-c, 'echo "it is $IT"'], env: {IT: {secret: variable}}}
  complain: {path: /bin/sh, args: [-c, 'echo "not with $IT" >&2; exit 3'], env: {IT: {secret: variable}}}
`, strings.TrimPrefix(s.URL, "http://"), box.Address), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(folder, "data")
	cmd := childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", data, "--log-level", "debug", "--config", config)
	t.Setenv("FLOWDRIVE_SECRET_SLACK", s.URL+path)
	t.Setenv("FLOWDRIVE_SECRET_API_KEY", key)
	t.Setenv("FLOWDRIVE_SECRET_VARIABLE", variable)
	p := startServe(t, cmd)

	told := p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/secret.yaml", strings.ReplaceAll(secretRoute, "SERVICE", s.URL))
	form := p.must(t, http.StatusOK, "GET", "/dav/Workflow/Routes/secret.json", "")
	if !strings.Contains(string(form.body), `there is no secret \"unset\"`) || strings.Count(string(form.body), "there is no secret") != 1 {
		t.Errorf("the warnings: %s", form.body)
	}
	at := p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "secret", "xattrDict": {"order": "A-1"}}`).header.Get("Location")
	folderOf := strings.TrimSuffix(at, ".json")
	eventually(t, func() string {
		log := string(p.must(t, http.StatusOK, "GET", folderOf+"/log.txt", "").body)
		if n := strings.Count(log, "Delivered:") + strings.Count(log, "Not delivered:"); n < 6 {
			return log
		}
		return ""
	})
	log := string(p.must(t, http.StatusOK, "GET", folderOf+"/log.txt", "").body)
	for _, want := range []string{
		"To be sent: http POST {secret: slack}", "To be sent: http POST " + s.URL + "/orders/$__XATTR_order__;",
		"mail to {secret: team}: Code", `there is no secret "unset"`, "[secret]",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	chat := string(p.must(t, http.StatusOK, "GET", folderOf+"/Labels/Chat", "").body)
	if !strings.HasPrefix(chat, "no such place: [secret]") {
		t.Errorf("the answer: %s", chat)
	}

	// They were sent.
	calls := s.seen()
	if len(calls) != 2 || calls[0].target != path && calls[1].target != path || calls[0].header.Get("Authorization") != key {
		t.Errorf("got calls %+v", calls)
	}
	mails := box.Wait(t.Context(), 1)
	if len(mails) != 1 || !strings.Contains(mails[0].Text, "WORDSECRETWORD") || mails[0].To[0] != "teamsecret@partner.example" {
		t.Errorf("got mails %+v", mails)
	}

	var said bytes.Buffer
	said.Write(told.body)
	for _, address := range []string{at, folderOf + "/log.json", "/dav/Workflow/Worklist/Escalated/.contents", "/dav/Workflow/Routes/.contents", "/metrics"} {
		said.Write(p.must(t, http.StatusOK, "GET", address, "").body)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(&said, p.complaints.String()+p.greeting.String())
	for _, secret := range hidden {
		if strings.Contains(said.String(), secret) {
			t.Errorf("%s was told:\n%s", secret, said.String())
		}
	}
	err = filepath.WalkDir(data, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		for _, secret := range hidden {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s is in the file %s", secret, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
