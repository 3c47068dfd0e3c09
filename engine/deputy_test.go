package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// standsIn makes the deputy of a user, for the next two hours.
func (w *world) standsIn(deputy, absent string) {
	w.Helper()
	to := w.clock.Now().Add(2 * time.Hour).Format(time.RFC3339)
	w.as(absent).mustPutMe(fmt.Sprintf(`{"deputy": {"user": %q, "to": %q}}`, deputy, to))
}

func (u user) sees(id int64) bool {
	u.Helper()
	_, err := u.Cases.Case(u.Context(), u.by(), engine.Ref{CaseID: id})
	if err != nil && !errs.Is(err, errs.NotFound) {
		u.Fatal(err)
	}
	return err == nil
}

func (u user) lists(f engine.Filter) string {
	return names(u.Cases.Cases(u.Context(), u.by(), f))
}

func TestDeputyDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "sam", `{"deputy": {"user": "ANN", "from": "2012-11-10", "to": "2012-11-12T10:00:00+02:00"}}`)
	want := `{"user":"ann","from":"2012-11-10T00:00:00Z","to":"2012-11-12T08:00:00Z"}`
	sam := w.as("sam")
	sam.me().wants("deputy", want)
	res := try(w.Accounts.Party(t.Context(), admin.by(), identity.User, "sam")).must(w, "GET of a user")
	w.form(res.Form).wants("deputy", want)
	if out := admin.mustPutParty(identity.User, "sam", string(res.Form)); out.Changed {
		t.Error("saving a user back changes it")
	}

	for doc, fault := range map[string]string{
		`"ann"`:                       "/deputy type",
		`{}`:                          "/deputy/user required|/deputy/to required",
		`{"user": "ann"}`:             "/deputy/to required",
		`{"user": "ann", "to": null}`: "/deputy/to type",
		`{"user": "ann", "to": "2012-11-10", "why": 1}`:             "/deputy/why unknown-field",
		`{"user": "nobody", "to": "2012-11-10"}`:                    "/deputy/user not-found",
		`{"user": "core", "to": "2012-11-10"}`:                      "/deputy/user not-found",
		`{"user": "Sam", "to": "2012-11-10"}`:                       "/deputy/user conflict",
		`{"user": "ann", "to": "2012-11-08"}`:                       "/deputy/to range",
		`{"user": "ann", "from": "2012-11-10", "to": "2012-11-09"}`: "/deputy/to range",
		`{"user": "ann", "to": "9999-12-31"}`:                       "/deputy/to range",
		`{"user": "ann", "from": "someday", "to": "2012-11-10"}`:    "/deputy/from format",
		`{"user": "ann", "from": "2012-11-10", "to": "2012-11-31"}`: "/deputy/to range",
	} {
		for _, put := range []func() error{
			func() error { _, err := sam.putMe(`{"deputy": ` + doc + `}`); return err },
			func() error {
				_, err := admin.putParty(identity.User, "sam", `{"deputy": `+doc+`}`)
				return err
			},
		} {
			got := ""
			for i, f := range faultsOf(put()) {
				if i > 0 {
					got += "|"
				}
				got += f
			}
			if got != fault {
				t.Errorf("%s: %q; want %q", doc, got, fault)
			}
		}
	}
	sam.me().wants("deputy", want)
	if _, err := sam.putMe(`{"deputy": "ann"}`); err == nil || !strings.Contains(err.Error(), `must be an object, not a string, such as {"user": "carla", "to": "2012-12-09"}`) {
		t.Errorf("a deputy that is a name: %v", err)
	}

	w.refused(w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.User, "ann", ""), errs.InUse)
	sam.mustPutMe(`{"deputy": null}`)
	sam.me().wants("deputy", "null")
	w.standsIn("eve", "sam")
	sam.me().wants("deputy", `{"user":"eve","from":"2012-11-09T12:34:56Z","to":"2012-11-09T14:34:56Z"}`)
	w.reopen()
	sam.me().wants("deputy/user", `"eve"`)
}

// TestDeputyDays: a plain date is a whole day of the absent user's time zone, and the last
// one is included. Instants are taken as they are.
func TestDeputyDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withZones)
	sam, admin := w.as("sam"), w.as("admin")
	sam.mustPutMe(`{"timezone": "Europe/Berlin"}`)
	for doc, want := range map[string]string{
		`{"user": "ann", "from": "2013-03-30", "to": "2013-03-31"}`:                     `{"user":"ann","from":"2013-03-29T23:00:00Z","to":"2013-03-31T22:00:00Z"}`, // a day of 23 hours
		`{"user": "ann", "from": "2012-11-10", "to": "2012-11-10"}`:                     `{"user":"ann","from":"2012-11-09T23:00:00Z","to":"2012-11-10T23:00:00Z"}`,
		`{"user": "ann", "from": "2012-11-10 08:00", "to": "2012-11-10 17:00"}`:         `{"user":"ann","from":"2012-11-10T07:00:00Z","to":"2012-11-10T16:00:00Z"}`,
		`{"user": "ann", "from": "2012-11-10T00:00:00Z", "to": "2012-11-11T00:00:00Z"}`: `{"user":"ann","from":"2012-11-10T00:00:00Z","to":"2012-11-11T00:00:00Z"}`,
		`{"user": "ann", "from": 1352505600, "to": "1352592000"}`:                       `{"user":"ann","from":"2012-11-10T00:00:00Z","to":"2012-11-11T00:00:00Z"}`,
	} {
		sam.mustPutMe(`{"deputy": ` + doc + `}`)
		sam.me().wants("deputy", want)
		sam.mustPutMe(`{"deputy": null}`)
		admin.mustPutParty(identity.User, "sam", `{"deputy": `+doc+`}`)
		sam.me().wants("deputy", want)
	}
}

// TestDeputySees: a deputy sees the cases in which those it stands in for
// play a role, and no others of theirs.
func TestDeputySees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, eve := w.as("sam"), w.as("eve")
	byName := sam.startCase(`{"route": "ask", "xattrDict": {"helper": "bob"}}`)
	byTeam := sam.startCase(`{"route": "ask", "xattrDict": {"helper": "ops"}}`)
	others := sam.startCase(`{"route": "ask"}`) // core's
	w.as("bob").mustPutCase("started.json", `{"route": "auto"}`)
	started := w.as("bob").startCase(`{"route": "auto"}`)
	stake := w.as("ann").startCase(`{"route": "own", "context": "ann", "stakeholders": ["bob"]}`)
	all := []int64{byName, byTeam, others, started, stake}
	check := func(when string, want ...int64) {
		t.Helper()
		listed := ""
		for _, id := range all {
			seen := false
			for _, w := range want {
				seen = seen || w == id
			}
			if seen {
				listed += fmt.Sprint(" ", id)
			}
			if got := eve.sees(id); got != seen {
				t.Errorf("%s: eve sees %d: %v; want %v", when, id, got, seen)
			}
		}
		for _, f := range []engine.Filter{{}, {OwnOnly: true}, {Limit: 10}} {
			if got := " " + eve.lists(f); got != listed && got != " "+listed {
				t.Errorf("%s: eve lists%s; want%s", when, got, listed)
			}
		}
		for i, id := range want { // page by page
			after := int64(0)
			if i > 0 {
				after = want[i-1]
			}
			same(t, when+": a page of one", eve.lists(engine.Filter{After: after, Limit: 1}), fmt.Sprint(id))
		}
	}
	check("before")
	w.standsIn("eve", "bob")
	check("meanwhile", byName, byTeam)
	if !w.as("bob").sees(byName) || !w.as("bob").sees(started) {
		t.Error("bob no longer sees what is his")
	}
	_, err := w.Cases.CaseLog(t.Context(), eve.by(), byTeam, nil)
	if err != nil {
		t.Error(err)
	}
	w.advance(2 * time.Hour)
	check("after")
}

func TestDeputySeesAttachments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, bob, eve := w.as("sam"), w.as("bob"), w.as("eve")
	id := sam.startCase(`{"route": "ask", "xattrDict": {"helper": "bob"}}`)
	attach := func(u user, caseID int64) string {
		given := engine.NewAttachment{Name: "plan.csv", CaseID: caseID}
		return try(w.Attachments.PutAttachment(t.Context(), u.request(nil), given, strings.NewReader("1,2"))).must(w, "PUT of an attachment").Name
	}
	bound := attach(sam, id)
	attach(bob, 0)
	list := func(f engine.Filter) string { return names(w.Attachments.Attachments(t.Context(), eve.by(), f)) }
	same(t, "before", list(engine.Filter{}), "")
	w.standsIn("eve", "bob")
	same(t, "meanwhile", list(engine.Filter{}), bound)
	same(t, "of the case", list(engine.Filter{CaseID: id}), bound)
	same(t, "one's own", list(engine.Filter{OwnOnly: true}), "")
}

// An administrator who stands in for somebody has those cases in the mounted
// folder too, and not what its being administrator would show.
func TestDeputyWhoIsAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := w.as("sam").startCase(`{"route": "ask", "xattrDict": {"helper": "bob"}}`)
	w.as("bob").startCase(`{"route": "auto"}`)
	same(t, "before", w.as("admin").lists(engine.Filter{OwnOnly: true}), "")
	w.standsIn("admin", "bob")
	same(t, "meanwhile", w.as("admin").lists(engine.Filter{OwnOnly: true}), fmt.Sprint(mine))
}

func TestDeputyPerforms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, eve := w.as("sam"), w.as("eve")
	id := sam.startCase(`{"route": "ask", "xattrDict": {"helper": "ops"}}`)
	w.standsIn("eve", "bob")
	_, err := eve.perform(id, "audit", `{}`) // the boss's
	w.refused(err, errs.NotAllowed)
	_, err = eve.Cases.PutCase(t.Context(), eve.request(nil), engine.Ref{CaseID: id}, []byte(`{"title": "Eve's"}`))
	w.refused(err, errs.NotAllowed)
	if _, err := eve.putLabel(id, "remark", "hello"); err != nil { // who may perform an action may write labels
		t.Error(err)
	}
	eve.mustPerform(id, "answer")
	res := try(w.Cases.CaseLog(t.Context(), sam.by(), id, nil)).must(w, "GET of the log")
	log := w.form(res.Form)
	found := false
	for i := range log.node.Items {
		at := fmt.Sprintf("%d/", i)
		if log.get(at+"action") == `"answer"` {
			found = true
			log.wants(at+"actor", `"eve"`, at+"onBehalfOf", `"bob"`)
		} else {
			log.wants(at+"onBehalfOf", "null")
		}
	}
	if !found {
		t.Error("the log does not have the performance")
	}

	// Without the deputy's time, and of a disabled user, nothing is lent.
	second := sam.startCase(`{"route": "ask", "xattrDict": {"helper": "ops"}}`)
	w.as("admin").mustPutParty(identity.User, "bob", `{"disabled": true}`)
	_, err = eve.perform(second, "answer", `{}`)
	w.refused(err, errs.NotFound)
	w.as("admin").mustPutParty(identity.User, "bob", `{"disabled": false}`)
	w.advance(2 * time.Hour)
	_, err = eve.perform(second, "answer", `{}`)
	w.refused(err, errs.NotFound)
	w.as("bob").mustPerform(second, "answer")
}

// TestDeputyIsToldForWhom: the file of a task says for whom a deputy would do it and which
// files the case has, and what a deputy has done is in the list of that user, too.
func TestDeputyIsToldForWhom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("buy", `{access: {start: [everyone]}, roles: {boss: {assign: ["user:bob"]}}, states: {a: {type: start}, b: {type: complete}},
		actions: {begin: {trigger: init}, approve: {type: approve, in: [a], role: boss, to: b}}}`)
	w.standsIn("ann", "bob")
	ann, bob := w.as("ann"), w.as("bob")
	id := w.as("sam").startCase(`{"route": "buy"}`)
	w.as("sam").upload(engine.NewAttachment{CaseID: id, Name: "q.pdf"}, "x")
	w.as("sam").upload(engine.NewAttachment{CaseID: id, Name: "q.pdf"}, "x")
	form := func(u user, list engine.Worklist) form {
		return w.form(try(u.Worklists.WorklistTask(t.Context(), u.by(), list, id, "approve")).must(w, "the task").Form)
	}
	form(ann, engine.WorklistOffered).wants("for", `"bob"`, "files", `["q (2).pdf","q.pdf"]`)
	form(bob, engine.WorklistOffered).wants("for", `null`)
	res := try(ann.Cases.Task(t.Context(), ann.by(), id, "approve")).must(w, "the action")
	w.form(res.Form).wants("for", `"bob"`)
	if out := try(ann.perform(id, "approve", string(res.Form), ifMatch(res.FormETag))).must(w, "a file that is saved as it is"); !out.Idle || out.ETag != res.FormETag {
		t.Errorf("saving the file as it is: %+v", out)
	}
	status := try(bob.Status.Case(t.Context(), bob.by(), id)).must(w, "the status")
	if !strings.Contains(string(status.Text), "q (2).pdf, q.pdf") {
		t.Errorf("the status has\n%s", status.Text)
	}
	ann.mustPerform(id, "approve")
	for _, u := range []user{ann, bob} {
		form(u, engine.WorklistDone).wants("actor", `"ann"`, "onBehalfOf", `"bob"`)
	}
}
