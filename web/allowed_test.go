package web

import (
	"regexp"
	"strings"
	"testing"
)

// TestAllowedActionsAreOffered: what somebody may do though it is nobody's task is on the
// page of the case, with its form, and others are told who may.
func TestAllowedActionsAreOffered(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "ann", 201, "PUT", "/dav/Workflow/Routes/order.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {requester: {assign: [starter]}, lead: {assign: ["user:bob"]}}
states: {asked: {type: start}, done: {type: complete}, withdrawn: {type: cancelled}}
actions:
  begin: {trigger: init}
  agree: {title: Agree, in: [asked], role: lead, to: done}
  withdraw: {title: Withdraw it, in: [asked], allowed: [requester], to: withdrawn}
  remark: {title: Leave a remark, in: [asked], allowed: [everyone]}
`)
	at := g.must(t, "cy", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "order", "title": "Chairs"}`).header.Get("Location")
	page := "/cases/" + regexp.MustCompile(`\d+`).FindString(at)

	cy := g.browse(t, "cy")
	got := cy.get(t, page).body
	for _, text := range []string{"Nothing waits for you here", `open=withdraw#todo">Withdraw it</a>`, `open=remark#todo">Leave a remark</a>`, "<b>Agree</b>: Bob Marsh can do it"} {
		if !strings.Contains(got, text) {
			t.Errorf("who has started it is not told %q", text)
		}
	}
	if strings.Contains(got, "<b>Withdraw it</b>") {
		t.Error("who may withdraw it is told that others can")
	}
	bob := g.browse(t, "bob").get(t, page).body
	if !strings.Contains(bob, "<b>Withdraw it</b>: ") || strings.Contains(bob, "open=withdraw") || strings.Contains(bob, ">nobody<") {
		t.Error("bob is not told who may withdraw it, or offered it")
	}

	form := cy.get(t, page+"?open=withdraw")
	if form.status != 200 || !strings.Contains(form.body, "/Actions/withdraw.json") || strings.Contains(form.body, "Delegate") {
		t.Fatalf("the form: %d %s", form.status, form.body)
	}
	for _, fault := range faultsOf(form.body) {
		t.Error(fault)
	}
	if done := cy.post(t, page, "action", "withdraw", "do", "perform", "comment", "Not needed", "key", "k1"); done.status != 303 {
		t.Fatalf("withdraw: %d %s", done.status, done.body)
	}
	if after := cy.get(t, page).body; !strings.Contains(after, "Nothing is left to do: the case has ended.") || strings.Contains(after, "What else you may do") {
		t.Errorf("afterwards: %s", after)
	}
}
