package engine_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

const routeExpense = `
access: {start: [everyone], read: [everyone]}
xattrs: {amount: {type: number, required: true}, checked: {type: boolean, edit: [boss]}, closed: {edit: []}}
roles: {claimant: {assign: [starter]}, boss: {assign: ["user:bob"]}}
states: {open: {type: start}, waiting: {}, paid: {type: complete}, refused: {type: denied}}
actions:
  submit: {trigger: init}
  approve-small: {in: [open], role: boss, type: approve, guard: xattr.amount <= 100, distinct: [submit], form: {properties: {note: {type: string}}, additionalProperties: false}, to: waiting}
  approve-large: {in: [open], role: boss, type: approve, guard: xattr.amount > 100, to: waiting}
  refuse: {in: [open], role: boss, type: deny, resolutions: {late: Too late, wrong: Wrong}, to: refused}
  bank:
    trigger: message
    message: answer
    in: [waiting]
    decide: 'message["answer"].ok == true && input.iban != "" ? "paid" : "not"'
    outputs: {paid: paid, not: refused}
    onFire: [{message: {label: OutputMessage, value: {cel: '{"ok": message["answer"].ok, "amount": xattr.amount}'}}}]
`

func (u user) content(id int64, label string) string {
	u.Helper()
	c := try(u.Cases.Message(u.Context(), u.by(), id, store.UUID{}, label)).must(u.world, "GET of "+label)
	defer func() { _ = c.Body.Close() }()
	data, err := io.ReadAll(c.Body)
	if err != nil {
		u.Fatal(err)
	}
	return string(data)
}

// TestLanguage drives a route of the whole language through the store: facts
// are looked up, messages that steps write are stored.
func TestLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("expense", routeExpense)
	sam, bob := w.as("sam"), w.as("bob")
	for _, large := range []string{"", strings.Repeat(" ", 10_000)} { // one in the database, one in a file
		_, err := sam.putCase("", `{"route": "expense", "xattrDict": {"amount": "much"}}`)
		w.refused(err, errs.Invalid, "/xattrDict/amount type")
		id := sam.startCase(`{"route": "expense", "xattrDict": {"amount": 50}, "input": {"iban": "DE1", "pad": "` + large + `"}}`)
		sam.caseForm(id).wants("enabledActions", `["approve-small","refuse"]`, "pendingActions", `["approve-large"]`, "visit", "null", "resolution", "null")
		_, err = bob.perform(id, "approve", `{"xattrDict": {"other": 1}}`)
		w.refused(err, errs.Invalid, "/xattrDict/other unknown-field")
		_, err = sam.perform(id, "approve", `{}`)
		w.refused(err, errs.NotAllowed)
		_, err = bob.perform(id, "cancel", `{}`)
		w.refused(err, errs.NotFound)
		_, err = bob.perform(id, "refuse", `{"resolution": "never"}`)
		w.refused(err, errs.Invalid, "/resolution range")
		out := try(bob.perform(id, "approve", `{"xattrDict": {"note": "fine"}}`)).must(w, "approve")
		same(t, "performed", out.Action+" "+out.Status, "approve-small waiting")
		sam.caseForm(id).wants("xattrDict", `{"amount":50,"note":"fine"}`, "pendingActions", `["bank"]`)
		_, err = bob.perform(id, "approve", `{}`)
		w.refused(err, errs.ActionNotEnabled)

		try(sam.putLabel(id, "answer", `{"ok": true`+large+`}`)).must(w, "the answer")
		sam.caseForm(id).wants("status", `"paid"`, "state", `"completed"`)
		same(t, "output", sam.content(id, "OutputMessage"), `{"amount":50,"ok":true}`)
		same(t, "shown as output", sam.content(id, engine.OwnOutput), `{"amount":50,"ok":true}`)
	}
}

// TestEscalated: what the engine cannot do waits for an administrator of the
// route.
func TestEscalated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("expense", routeExpense)
	sam, bob, admin := w.as("sam"), w.as("bob"), w.as("admin")
	id := sam.startCase(`{"route": "expense", "xattrDict": {"amount": 500}, "input": "no JSON"}`)
	try(bob.perform(id, "approve-large", `{}`)).must(w, "approve")
	try(sam.putLabel(id, "answer", `{"ok": true}`)).must(w, "the answer")
	task := w.form(try(w.Cases.Task(t.Context(), admin.by(), id, "bank")).must(w, "the task").Form)
	task.wants("state", `"escalated"`, "fireAt", "null")
	_, err := bob.perform(id, "bank", `{"do": "retry"}`)
	w.refused(err, errs.NotAllowed)
	_, err = admin.perform(id, "bank", `{"do": "skip"}`)
	w.refused(err, errs.Invalid, "/output required")
	_, err = admin.perform(id, "bank", `{"do": "skip", "output": "paid", "resolution": "x"}`)
	w.refused(err, errs.Invalid, "/resolution conflict")
	out := try(admin.perform(id, "bank", `{"do": "skip", "output": "paid"}`)).must(w, "skip")
	same(t, "skipped", fmt.Sprint(out.Action, " ", out.Status, " ", out.LogSeq > 0), "bank paid true")
}

// TestXattrRights: a declared XATTR is changed by the roles that it names.
func TestXattrRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("expense", routeExpense)
	id := w.as("sam").startCase(`{"route": "expense", "xattrDict": {"amount": 5}}`)
	for _, test := range []struct{ who, dict, want string }{
		{"sam", `{"amount": 6}`, ""},
		{"sam", `{"amount": "x"}`, "invalid"},
		{"sam", `{"amount": 6, "checked": true}`, "not-allowed"},
		{"bob", `{"amount": 6, "checked": true}`, ""},
		{"bob", `{"amount": 7, "checked": true}`, "not-allowed"},
		{"bob", `{"amount": 6, "checked": "yes"}`, "invalid"},
		{"bob", `{"amount": 6, "checked": true, "closed": 1}`, "not-allowed"},
		{"admin", `{"amount": 6, "checked": true, "closed": 1}`, ""},
	} {
		_, err := w.as(test.who).putCase(fmt.Sprint(id), `{"xattrDict": `+test.dict+`}`)
		if got := string(errs.KindOf(err)); got != test.want {
			t.Errorf("%s: %s: got %q (%v), want %q", test.who, test.dict, got, err, test.want)
		}
	}
}
