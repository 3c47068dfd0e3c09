package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// remarks returns the remarks in the log of a case, as "<who>: <what>".
func (u user) remarks(id int64) (out []string) {
	log, err := u.Cases.CaseLog(u.Context(), u.by(), id, nil)
	if err != nil {
		u.Fatal(err)
	}
	var entries []machine.LogEntry
	if err := json.Unmarshal(log.Form, &entries); err != nil {
		u.Fatal(err)
	}
	for i := range entries {
		if e := &entries[i]; e.Kind == machine.LogRemark {
			out = append(out, *e.Actor+": "+*e.Comment)
		}
	}
	return out
}

// TestRemarks: who sees a case may say something about it. Nothing else changes, and it is
// said once, however often a client sends it.
func TestRemarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutParty(identity.User, "zoe", `{}`)
	w.as("admin").mustPutRoute("buy", `{access: {start: [everyone]}, roles: {boss: {assign: ["user:ann"]}}, states: {a: {type: start}, b: {type: complete}},
		actions: {begin: {trigger: init}, approve: {type: approve, in: [a], role: boss, to: b}}}`)
	sam, eve := w.as("sam"), w.as("eve")
	source := "route: buy # a desk\nstakeholders: [eve]\n"
	id := sam.mustPutCase("buy.yaml", source).CaseID
	name := fmt.Sprintf("%d.json", id)
	before := sam.caseForm(id)

	try(sam.putCase(name, `{"comment": "When is it due?"}`)).must(w, "the starter")
	try(sam.putCase("buy.yaml", `comment: It is blue.`)).must(w, "the starter, by the given name")
	for range 2 {
		try(eve.putCase(name, `{"comment": "Ask IT first.\n"}`)).must(w, "a stakeholder")
	}
	try(w.as("ann").Cases.Remark(t.Context(), w.as("ann").request(nil), id, "I will.\n")).must(w, "a player, as a text")
	try(w.as("ann").Cases.Remark(t.Context(), w.as("ann").request(nil), id, "I will.\nTomorrow.\n")).must(w, "a text that was added to")
	want := "sam: When is it due?|sam: It is blue.|eve: Ask IT first.|ann: I will.|ann: Tomorrow."
	if got := strings.Join(sam.remarks(id), "|"); got != want {
		t.Errorf("the log has %s", got)
	}
	after := sam.caseForm(id)
	for _, key := range []string{"version", "title", "state", "status", "enabledActions", "xattrDict"} {
		if before.get(key) != after.get(key) {
			t.Errorf("%s has changed", key)
		}
	}
	if got := string(sam.caseResource("buy.yaml").Source); got != source {
		t.Errorf("the file of the case is\n%s", got)
	}

	w.refused(try(w.as("zoe").putCase(name, `{"comment": "x"}`)).err, errs.NotFound)
	w.refused(try(sam.putCase(name, `{"comment": "`+strings.Repeat("x", machine.MaxRemark+1)+`"}`)).err, errs.Invalid)
	w.refused(try(sam.putCase("other.json", `{"route": "buy", "comment": "x"}`)).err, errs.Invalid)
	w.refused(try(sam.Cases.Remark(t.Context(), sam.request(nil), id, " \n")).err, errs.EmptyDocument)

	task, err := w.as("ann").Cases.Task(t.Context(), w.as("ann").by(), id, "approve")
	if err != nil || !strings.Contains(string(task.Form), `"text": "Tomorrow."`) {
		t.Errorf("the task has\n%s", task.Form)
	}
	status, err := sam.Status.Case(t.Context(), sam.by(), id)
	if err != nil || !strings.Contains(string(status.Text), "“Tomorrow.” by ann") {
		t.Errorf("the status has\n%s", status.Text)
	}

	w.advance(2 * time.Hour)
	try(sam.putCase(name, `{"comment": "Tomorrow."}`)).must(w, "the same words by another")
	try(sam.putCase(name, `{"state": "canceled", "comment": "Not any more."}`)).must(w, "the end")
	w.refused(try(sam.putCase(name, `{"comment": "x"}`)).err, errs.ReadOnly)
	log, err := sam.Cases.CaseLogText(t.Context(), sam.by(), id, nil)
	if err != nil || !strings.Contains(string(log.Form), "anceled: Not any more.") && !strings.Contains(string(log.Form), "canceled): Not any more.") {
		t.Errorf("the log has\n%s", log.Form)
	}
}
