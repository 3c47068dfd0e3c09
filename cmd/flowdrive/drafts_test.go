package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const routePurchase = `
access: {start: [sam, ann]}
roles: {clerk: {assign: [starter]}}
xattrs:
  amount: {type: number, required: true, title: Amount in euros, edit: []}
  supplier: {type: string, required: true}
  note: {type: string}
  urgent: {type: boolean, required: true, default: false}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish: {in: [open], role: clerk, to: done}
`

// drafted is what the tests of drafts look at of a case.
type drafted struct {
	State, Title, Starter, Context string
	Status                         *string
	EnabledActions                 []string
	XattrDict                      map[string]any
}

func (s *inProcess) draftedCase(user, id string) (c drafted) {
	s.Helper()
	w := s.as(user, "GET", "/dav/Workflow/Cases/"+id+".json", "")
	if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || w.Code != http.StatusOK {
		s.Fatalf("case %s as %s: %d %s", id, user, w.Code, w.Body)
	}
	return c
}

// TestDraftCase: a drop without the XATTRs that its route requires is a draft, which its
// author alone sees and completes (docs/contract/drive.md#draft-cases).
func TestDraftCase(t *testing.T) {
	t.Parallel()
	const mount = "davfs2/1.6.1 neon/0.32.5"
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/purchase.yaml", routePurchase)
		code := func(what string, w *httptest.ResponseRecorder, want int) {
			t.Helper()
			if got := w.Code; got != want {
				t.Errorf("%s: %d, want %d", what, got, want)
			}
		}

		// A script is told what is missing, in the form that it can fill in.
		w := s.as("sam", "PUT", "/dav/Workflow/Routes/purchase/Quote.pdf?note=x", "PDF")
		code("drop", w, http.StatusAccepted)
		at, task := w.Header().Get("Location"), w.Header().Get("Content-Location")
		id := strings.TrimSuffix(at[strings.LastIndexByte(at, '/')+1:], ".json")
		if at != "/dav/Workflow/Cases/"+id+".json" || task != "/dav/Workflow/Cases/"+id+"/Actions/start.json" {
			t.Fatalf("the draft is at %q, its task at %q", at, task)
		}
		form := w.Body.String()
		for _, want := range []string{
			`"xattrDict": {` + "\n    \"amount\": null,\n    \"supplier\": null\n  }", `"title": "Say what is missing: Amount in euros, supplier"`,
			`"due": "2012-12-09T12:34:56Z"`, `"assignees": ["sam"]`, `"required": ["amount", "supplier"]`,
		} {
			if !strings.Contains(form, want) {
				t.Errorf("the task has no %q: %s", want, form)
			}
		}
		if got := s.must("GET", task, "").Body.String(); got != form {
			t.Errorf("the task is %s, the answer said %s", got, form)
		}
		c := s.draftedCase("sam", id)
		if c.State != "draft" || c.Status != nil || c.Title != "Quote" || strings.Join(c.EnabledActions, " ") != "start" || c.XattrDict["urgent"] != false {
			t.Errorf("the draft is %+v", c)
		}

		// It is its author's alone, and the administrators'.
		for _, path := range []string{".json", "/", "/input", "/Actions/start.json", "/log.txt"} {
			code("ann "+path, s.as("ann", "GET", "/dav/Workflow/Cases/"+id+path, ""), http.StatusNotFound)
			code("sam "+path, s.as("sam", "GET", "/dav/Workflow/Cases/"+id+path, ""), http.StatusOK)
			code("admin "+path, s.as("admin", "GET", "/dav/Workflow/Cases/"+id+path, ""), http.StatusOK)
		}
		code("ann performs", s.as("ann", "PUT", task, `{"xattrDict": {"amount": 1, "supplier": "x"}}`), http.StatusNotFound)
		for user, want := range map[string]string{"sam": id + ".start Quote.json", "ann": "", "admin": ""} {
			if got := s.taskNames(user, "Offered"); got != want {
				t.Errorf("%s is offered %q, want %q", user, got, want)
			}
		}
		for query, want := range map[string]bool{"state=draft": true, "state=queued": false, "q=quote": true, "": true} {
			if got := strings.Contains(s.as("sam", "GET", "/dav/Workflow/Cases/.contents?"+query, "").Body.String(), `"id": `+id); got != want {
				t.Errorf("listed with %q: %t, want %t", query, got, want)
			}
		}
		if got := s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/input", "").Body.String(); got != "PDF" {
			t.Errorf("the input is %q", got)
		}
		status := s.as("sam", "GET", "/dav/Workflow/Status/cases/"+id+".txt", "").Body.String()
		for _, want := range []string{"a draft", "amount, supplier", "waits for sam", "due 2012-12-09", "Canceled: it was a draft"} {
			if !strings.Contains(status, want) {
				t.Errorf("its status has no %q: %s", want, status)
			}
		}

		// A deputy of the author does not see it either.
		if w := s.as("sam", "PUT", "/dav/Account/me.json", `{"deputy": {"user": "ann", "to": "2013-01-01T00:00:00Z"}}`); w.Code >= http.StatusMultipleChoices {
			t.Fatalf("the deputy: %d %s", w.Code, w.Body)
		}
		code("the deputy", s.as("ann", "GET", "/dav/Workflow/Cases/"+id+".json", ""), http.StatusNotFound)
		if got := s.taskNames("ann", "Offered") + s.as("ann", "GET", "/dav/Workflow/Cases/.ls", "").Body.String(); strings.Contains(got, id) {
			t.Errorf("the deputy is listed %s", got)
		}
		if got := s.as("sam", "GET", "/dav/Workflow/Status/overview.txt", "").Body.String(); !strings.Contains(got, "of these drafts             1") {
			t.Errorf("the overview: %s", got)
		}

		// What is wrong or still missing leaves it a draft, and says so.
		for body, want := range map[string]string{
			`{"xattrDict": {"amount": "much", "supplier": "x"}}`: "/xattrDict/amount", `{"xattrDict": {"amount": 5}}`: "/xattrDict/supplier", `{}`: "/xattrDict/amount",
			`{"do": "delegate", "to": "ann"}`: "/do", `{"do": ""}`: "/do",
		} {
			if w := s.as("sam", "PUT", task, body); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
				t.Errorf("PUT %s: %d %s, want 422 about %s", body, w.Code, w.Body, want)
			}
		}
		code("saved unchanged on a mount", s.as("sam", "PUT", task, form, "User-Agent", mount), http.StatusNoContent)
		code("another action", s.as("sam", "PUT", "/dav/Workflow/Cases/"+id+"/Actions/finish.json", `{}`), http.StatusConflict)
		code("suspend", s.as("sam", "PUT", "/dav/Workflow/Cases/"+id+".json", `{"state": "suspended"}`), http.StatusConflict)
		if c := s.draftedCase("sam", id); c.State != "draft" {
			t.Errorf("the draft is %+v", c)
		}

		// The task that is filled in starts it as the drop would have.
		filled := strings.Replace(strings.Replace(form, `"amount": null`, `"amount": "9000"`, 1), `"supplier": null`, `"supplier": "Acme of $__TODAY__;"`, 1)
		w = s.as("sam", "PUT", "/dav/Workflow/Worklist/Offered/"+id+".start%20Quote.json", filled, "User-Agent", mount)
		code("filled in", w, http.StatusNoContent)
		c = s.draftedCase("sam", id)
		if c.State != "active" || c.XattrDict["amount"] != 9000.0 || c.XattrDict["supplier"] != "Acme of 2012-11-09" || strings.Join(c.EnabledActions, " ") != "finish" {
			t.Errorf("the case is %+v", c)
		}
		code("once more", s.as("sam", "PUT", task, `{"xattrDict": {"amount": 1, "supplier": "x"}}`), http.StatusNotFound)
		log := s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/log.txt", "").Body.String()
		for _, want := range []string{"Created as a draft: it lacks amount, supplier", "Gave amount, supplier"} {
			if !strings.Contains(log, want) {
				t.Errorf("the log has no %q: %s", want, log)
			}
		}
	})
}

// TestDraftCaseByItsXattrs: the XATTRs may be given to the case itself, in parts.
func TestDraftCaseByItsXattrs(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/purchase.yaml", routePurchase)
		draft := func() (id string) {
			t.Helper()
			at := s.as("sam", "PUT", "/dav/Workflow/Routes/purchase/Quote.pdf", "PDF").Header().Get("Location")
			return strings.TrimSuffix(at[strings.LastIndexByte(at, '/')+1:], ".json")
		}
		put := func(id, body string, want int) {
			t.Helper()
			if w := s.as("sam", "PUT", "/dav/Workflow/Cases/"+id+".json", body); w.Code != want {
				t.Errorf("PUT %s: %d %s, want %d", body, w.Code, w.Body, want)
			}
		}
		id := draft()
		put(id, `{"xattrDict": {"amount": "much"}}`, http.StatusUnprocessableEntity)
		put(id, `{"xattrDict": {"amount": 5}, "title": "Chairs"}`, http.StatusNoContent)
		if c := s.draftedCase("sam", id); c.State != "draft" || c.XattrDict["amount"] != 5.0 || c.Title != "Chairs" {
			t.Errorf("with a part: %+v", c)
		}
		if form := s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/Actions/start.json", "").Body.String(); !strings.Contains(form, `"xattrDict": {`+"\n    \"supplier\": null\n  }") {
			t.Errorf("the task asks for more than is missing: %s", form)
		}
		put(id, `{"xattrDict": {"supplier": "Acme"}, "title": "Chairs of $__XATTR_supplier__;"}`, http.StatusNoContent)
		if c := s.draftedCase("sam", id); c.State != "active" || c.Title != "Chairs of Acme" {
			t.Errorf("with all: %+v", c)
		}

		// Given up, by the task or by deleting the case.
		for _, end := range []func(id string) int{
			func(id string) int {
				return s.as("sam", "PUT", "/dav/Workflow/Cases/"+id+"/Actions/start.json", `{"do": "abort"}`).Code
			},
			func(id string) int { return s.as("sam", "DELETE", "/dav/Workflow/Cases/"+id+".json", "").Code },
		} {
			id := draft()
			if got := end(id); got != http.StatusNoContent {
				t.Errorf("to give it up: %d", got)
			}
			if c := s.draftedCase("sam", id); c.State != "canceled" {
				t.Errorf("given up: %+v", c)
			}
			if got := s.taskNames("sam", "Offered"); strings.Contains(got, id) {
				t.Errorf("given up, and still offered: %s", got)
			}
			if got := s.as("ann", "GET", "/dav/Workflow/Cases/"+id+".json", "").Code; got != http.StatusNotFound {
				t.Errorf("given up, ann: %d", got)
			}
		}
	})
}

// TestDraftCaseIsJudgedAgain: what the route says and who may start it count when the
// draft is completed.
func TestDraftCaseIsJudgedAgain(t *testing.T) {
	t.Parallel()
	const routes = "/dav/Workflow/Routes/"
	withServer(t, func(s *inProcess) {
		s.must("PUT", routes+"purchase.yaml", routePurchase)
		// A wrong value is refused as ever, with what is missing; so is a drop by who may not start.
		w := s.as("sam", "PUT", routes+"purchase/a.pdf?amount=much", "PDF")
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "/xattrDict/amount") || !strings.Contains(w.Body.String(), "/xattrDict/supplier") {
			t.Errorf("a wrong value: %d %s", w.Code, w.Body)
		}
		if w := s.as("admin", "PUT", routes+"purchase/a.pdf", "PDF"); w.Code != http.StatusForbidden {
			t.Errorf("who may not start: %d", w.Code)
		}
		if w := s.as("sam", "PUT", routes+"purchase/a.pdf?.dryRun", "PDF"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"state": "draft"`) {
			t.Errorf("a dry run: %d %s", w.Code, w.Body)
		}
		if w := s.as("sam", "PUT", "/dav/Workflow/Cases/new.json", `{"route": "purchase"}`); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("a document: %d", w.Code)
		}
		at := s.as("sam", "PUT", routes+"purchase/a.pdf?amount=5", "PDF").Header().Get("Location")
		id := strings.TrimSuffix(at[strings.LastIndexByte(at, '/')+1:], ".json")
		task := "/dav/Workflow/Cases/" + id + "/Actions/start.json"

		s.must("PUT", routes+"purchase.yaml", strings.Replace(strings.Replace(routePurchase, "note: {type: string}", "note: {type: string, required: true}", 1), "supplier: {type: string, required: true}", "supplier: {type: string}", 1))
		if form := s.as("sam", "GET", task, "").Body.String(); !strings.Contains(form, `"xattrDict": {`+"\n    \"note\": null\n  }") {
			t.Errorf("the task of a changed route: %s", form)
		}
		if w := s.as("sam", "DELETE", routes+"purchase.yaml", ""); w.Code != http.StatusForbidden && w.Code != http.StatusConflict {
			t.Errorf("deleting the route: %d", w.Code)
		}
		s.must("PUT", routes+"purchase.yaml", strings.Replace(routePurchase, "start: [sam, ann]", "start: [ann]", 1))
		if w := s.as("sam", "PUT", task, `{"xattrDict": {"supplier": "x"}}`); w.Code != http.StatusForbidden {
			t.Errorf("without the right to start: %d %s", w.Code, w.Body)
		}
		s.must("PUT", routes+"purchase.yaml", routePurchase)
		if w := s.as("sam", "PUT", task, `{"xattrDict": {"supplier": "x"}}`); w.Code != http.StatusNoContent {
			t.Errorf("with it again: %d %s", w.Code, w.Body)
		}
	})
}

// TestDraftCaseOnAMount: who has dropped the file by a mounted drive finds in Rejected/
// what to do. The author is reminded; what nobody completes ends.
func TestDraftCaseOnAMount(t *testing.T) {
	t.Parallel()
	const mount, folder = "davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Routes/purchase/"
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"email": "sam@example.org"}`)
		s.must("PUT", "/dav/Workflow/Routes/purchase.yaml", routePurchase)
		if w := s.as("sam", "PUT", folder+"Quote.pdf", "PDF", "User-Agent", mount); w.Code != http.StatusCreated || w.Body.Len() > 0 {
			t.Errorf("drop: %d %s", w.Code, w.Body)
		}
		list := s.as("sam", "GET", folder+"Rejected/", "", "User-Agent", mount, "Accept", "application/json")
		var members []struct{ Name, Href string }
		if err := json.Unmarshal(list.Body.Bytes(), &members); err != nil || len(members) != 1 {
			t.Fatalf("Rejected/: %d %s", list.Code, list.Body)
		}
		note := s.as("sam", "GET", members[0].Href, "", "User-Agent", mount).Body.String()
		for _, want := range []string{"is a draft", "Worklist/Offered/", ".start Quote.json", "Say what is missing: Amount in euros, supplier"} {
			if !strings.Contains(note, want) {
				t.Errorf("the note has no %q: %s", want, note)
			}
		}
		if got := s.as("sam", "GET", folder+"Quote.pdf", "", "User-Agent", mount).Body.String(); got != "PDF" {
			t.Errorf("the file is %q", got)
		}
		if want := "Case " + strings.TrimSuffix(s.taskNames("sam", "Offered"), ".start Quote.json") + " is a draft.txt"; members[0].Name != want {
			t.Errorf("the note is %q, want %q", members[0].Name, want)
		}
		id := strings.TrimSuffix(s.taskNames("sam", "Offered"), ".start Quote.json")
		s.must("POST", "/clock", `{"advance": "P29D"}`, "Content-Type", "application/json")
		if log := s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/log.txt", "").Body.String(); strings.Count(log, "Reminded sam") != 5 {
			t.Errorf("reminders: %s", log)
		}
		if got := s.taskNames("sam", "Today"); got != "" {
			t.Errorf("due a day before its end: %s", got)
		}
		s.must("POST", "/clock", `{"advance": "PT6H"}`, "Content-Type", "application/json")
		if c := s.draftedCase("sam", id); c.State != "draft" {
			t.Errorf("before its end: %+v", c)
		}
		s.must("POST", "/clock", `{"advance": "PT18H"}`, "Content-Type", "application/json")
		if c := s.draftedCase("sam", id); c.State != "canceled" {
			t.Errorf("at its end: %+v", c)
		}
		if log := s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/log.txt", "").Body.String(); !strings.Contains(log, "nobody has given amount, supplier") {
			t.Errorf("why it has ended: %s", log)
		}
	})
}
