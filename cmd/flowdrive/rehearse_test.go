package main

import (
	"encoding/json"
	"net/http"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
)

// TestOutboxOfMails: in a sandbox the mails that would be sent lie in Admin/Outbox/ as
// messages that mail programs read, at the time at which they would be sent. No mail
// server needs to be set.
func TestOutboxOfMails(t *testing.T) {
	t.Parallel()
	p := startConfigured(t, "sandbox: 2012-11-09T12:34:56Z\npublic-url: https://flow.example.org\n")
	for _, name := range []string{"ann", "bob"} {
		p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/"+name+".json", `{"password": "`+name+` at work", "email": "`+name+`@example.org"}`)
	}
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone]}
notify: {remind: P1D}
xattrs: {amount: {title: Amount}}
roles: {clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {title: Check it, in: [open], role: clerk, to: done, past: Checked, sideEffects: [{mail: {to: [starter], subject: "Äh, done", text: Well.}}]}
`)
	ann := p.as("ann", "ann at work")
	path := ann.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "desk", "title": "Chairs", "xattrDict": {"amount": "90"}}`).header.Get("Location")
	p.must(t, http.StatusOK, "POST", "/clock", `{"advance": "P1DT1H"}`, "Content-Type", "application/json")
	p.as("bob", "bob at work").must(t, http.StatusNoContent, "PUT", strings.TrimSuffix(path, ".json")+"/Actions/check.json", `{"do": "perform"}`)

	const folder = "/dav/Admin/Outbox/"
	names := func() (names []string) {
		var listed []struct{ Name string }
		if err := json.Unmarshal(p.must(t, http.StatusOK, "GET", folder+".ls", "").body, &listed); err != nil {
			t.Fatal(err)
		}
		for _, l := range listed {
			names = append(names, l.Name)
		}
		return names
	}
	got := names()
	want := []string{
		"2012-11-09 12.34.56 bob@example.org.eml",                                                // to do
		"2012-11-10 12.34.56 bob@example.org.eml",                                                // the reminder
		"2012-11-10 13.34.56 ann@example.org.eml", "2012-11-10 13.34.56 ann@example.org (2).eml", // checked, and the step
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the outbox has %q", got)
	}
	at := func(name string) string { return folder + strings.ReplaceAll(name, " ", "%20") }
	subjects := map[string]bool{}
	for _, name := range got {
		answer := p.must(t, http.StatusOK, "GET", at(name), "")
		m, err := netmail.ReadMessage(strings.NewReader(string(answer.body)))
		if err != nil {
			t.Fatal(err)
		}
		if answer.header.Get("Content-Type") != "message/rfc822" || !strings.HasPrefix(name, mustDate(t, m)) || !strings.Contains(name, strings.Trim(m.Header.Get("To"), "<>")) {
			t.Errorf("%s: %v, %v", name, answer.header, m.Header)
		}
		subjects[m.Header.Get("Subject")] = true
	}
	for _, subject := range []string{"To do: Check it (Chairs)", "Reminder: Check it (Chairs)", "=?UTF-8?q?=C3=84h,_done?="} {
		if !subjects[subject] {
			t.Errorf("there is no mail %q among %v", subject, subjects)
		}
	}
	ann.must(t, http.StatusNotFound, "GET", at(got[0]), "")
	ann.must(t, http.StatusNotFound, "DELETE", at(got[0]), "")
	p.must(t, http.StatusNoContent, "DELETE", at(got[0]), "")
	p.must(t, http.StatusNotFound, "GET", at(got[0]), "")
	if left := names(); !slices.Equal(left, want[1:]) {
		t.Errorf("left are %q", left)
	}

	// Nothing of the kind is there where mails are sent.
	startConfigured(t, "").must(t, http.StatusNotFound, "GET", folder, "")
}

// mustDate returns the date of a mail as the names of the outbox begin.
func mustDate(t *testing.T, m *netmail.Message) string {
	t.Helper()
	at, err := m.Header.Date()
	if err != nil {
		t.Error(err)
	}
	return at.UTC().Format("2006-01-02 15.04.05")
}
