package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// routeOfEve names eve wherever a route names users.
const routeOfEve = `{"title": "Of eve", "access": {"start": ["everyone"], "admin": ["eve"]},
	"roles": {"boss": {"assign": ["user:eve"]}, "own": {"assign": ["xattr:owner"]}},
	"states": {"open": {"type": "start"}, "done": {"type": "complete"}},
	"actions": {"i": {"trigger": "init"}, "go": {"in": ["open"], "role": "boss"}, "look": {"in": ["open"], "allowed": "user:eve"},
		"end": {"in": ["open"], "role": "own", "to": "done"}}}`

// usedBy returns what an error says something is used by, "kind title" each.
func usedBy(err error) (out []string) {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok || e.Kind != errs.InUse {
		return nil
	}
	uses, _ := e.Extra["usedBy"].([]change.Use)
	for _, u := range uses {
		if !strings.HasPrefix(u.Href, "/dav/") {
			out = append(out, "no address: "+u.Href)
		}
		out = append(out, u.Kind+" "+u.Title)
	}
	return out
}

func (u user) deleteParty(kind identity.Kind, name, handOver string) error {
	return u.Accounts.DeleteParty(u.Context(), u.request(nil), kind, name, handOver)
}

// TestUsersInUse: a user whom a route names, who owns an entry or takes part in a
// case is not deleted, and the answer says by what they are used.
func TestUsersInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, eve := w.as("admin"), w.as("eve")
	admin.mustPutRoute("of-eve", routeOfEve)
	same(t, "named by a route", usedBy(admin.deleteParty(identity.User, "eve", "")), []string{"route Of eve"})
	eve.mustPutEntry("e.json", every)
	w.as("sam").mustPutCase("", `{"route": "of-eve", "title": "One"}`)
	same(t, "and by more", usedBy(admin.deleteParty(identity.User, "eve", "")), []string{"route Of eve", "schedule entry e.json", "case One"})
	same(t, "a team", usedBy(admin.deleteParty(identity.Team, "ops", "")), []string(nil)) // bob is in it, nothing names it
	err := admin.deleteParty(identity.Team, "core", "")
	if uses := strings.Join(usedBy(err), ", "); !strings.Contains(uses, "team staff") || !strings.Contains(err.Error(), "handOver") {
		t.Errorf("%v, used by %s", err, uses)
	}
}

// TestAnotherEve: a later user of the name of one who was deleted inherits
// nothing: neither rights in routes, nor cases, nor tasks.
func TestAnotherEve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("of-eve", routeOfEve)
	id := sam.startCase(`{"route": "of-eve", "xattrDict": {"owner": "eve"}, "stakeholders": ["eve"]}`)
	if err := admin.deleteParty(identity.User, "eve", "bob"); err != nil {
		t.Fatal(err)
	}
	sam.caseForm(id).wants("roles", `{"boss":["bob"],"own":["bob"]}`, "stakeholders", `["bob"]`, "xattrDict", `{"owner":"bob"}`)
	log := sam.logTexts(id)
	same(t, "log", log[len(log)-1], "roles: Handed over from eve to bob")

	admin.mustPutParty(identity.User, "eve", `{}`)
	eve := w.as("eve")
	w.refused(try(w.Cases.Case(t.Context(), eve.by(), eve.ref(fmt.Sprint(id)+".json"))).err, errs.NotFound)
	w.refused(eve.deleteCase(fmt.Sprint(id)+".json"), errs.NotFound)
	later := sam.startCase(`{"route": "of-eve"}`)
	sam.caseForm(later).wants("roles", `{"boss":["bob"],"own":[]}`)
	w.refused(eve.deleteCase(fmt.Sprint(later)+".json"), errs.NotFound)
	if err := w.as("bob").deleteCase(fmt.Sprint(later) + ".json"); err != nil {
		t.Errorf("bob administers the route now: %v", err)
	}
	w.reopen()
	w.refused(w.as("eve").deleteCase(fmt.Sprint(id)+".json"), errs.NotFound)

	// The author's file goes on to mean bob while it names eve. Without her name
	// it forgets; then the name is that of the other eve.
	text := strings.Replace(routeOfEve, "Of eve", "Another", 1)
	w.as("admin").mustPutRoute("of-eve", text)
	w.as("sam").caseForm(w.as("sam").startCase(`{"route": "of-eve"}`)).wants("roles", `{"boss":["bob"],"own":[]}`)
	w.as("admin").mustPutRoute("of-eve", strings.ReplaceAll(text, "eve", "ann"))
	w.as("admin").mustPutRoute("of-eve", text)
	w.as("sam").caseForm(w.as("sam").startCase(`{"route": "of-eve"}`)).wants("roles", `{"boss":["eve"],"own":[]}`)
}

// TestDeletedNameIsNobody: routes of old versions that named a deleted user do not
// mean a later one.
func TestDeletedNameIsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("of-eve", routeOfEve)
	admin.mustPutRoute("of-eve", strings.ReplaceAll(routeOfEve, "eve", "ann"))
	if err := admin.deleteParty(identity.User, "eve", ""); err != nil {
		t.Fatal(err)
	}
	admin.mustPutParty(identity.User, "eve", `{}`)
	admin.mustPutRoute("of-eve", routeOfEve)
	w.as("sam").caseForm(w.as("sam").startCase(`{"route": "of-eve"}`)).wants("roles", `{"boss":["eve"],"own":[]}`)
}

// TestHandOver: all that a user has goes to another one.
func TestHandOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, ann, bob := w.as("admin"), w.as("ann"), w.as("bob")
	ann.mustPutDocument("ann/in.csv", "x")
	ann.mustPutEntry("n.json", `{"route": "own", "type": "interval", "days": 2}`)
	entry := ann.mustPutEntry("n.json", `{"route": "own", "type": "interval", "days": 1, "document": "/dav/Documents/ann/in.csv"}`)
	started := ann.startCase(`{"route": "own"}`)
	ask := w.as("sam").startCase(`{"route": "ask"}`)
	if _, err := ann.perform(ask, "answer", `{"do": "accept"}`); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"nobody", "ann", "everyone"} {
		w.refused(admin.deleteParty(identity.User, "ann", bad), errs.BadParameter)
	}
	if err := admin.deleteParty(identity.User, "ann", "nobody"); !strings.Contains(err.Error(), `/handOver: must be the name of another user or team; there is no "nobody"`) {
		t.Errorf("to nobody: %v", err)
	}
	admin.mustPutParty(identity.User, "gone", `{"fullName": "Gone", "disabled": true}`)
	w.refused(admin.deleteParty(identity.User, "ann", "gone"), errs.BadParameter)
	w.refused(w.as("sam").deleteParty(identity.User, "ann", "bob"), errs.NotFound)
	if err := admin.deleteParty(identity.User, "ann", "bob"); err != nil {
		t.Fatal(err)
	}
	w.form(try(w.Schedules.Entry(t.Context(), bob.by(), bob.ref(entry.Name+".json"))).must(w, "the entry").Form).
		wants("context", `"bob"`, "document", `"/dav/Documents/bob/ann/in.csv"`)
	same(t, "the document", bob.readDocument("bob/ann/in.csv"), "text/csv: x")
	same(t, "what was stored before", strings.Contains(strings.Join(bob.past(store.FolderSchedule), "\n"), `"days": 2`), true)
	bob.caseForm(started).wants("starter", `"bob"`, "context", `"bob"`)
	w.form(try(w.Cases.Task(t.Context(), bob.by(), ask, "answer")).must(w, "the task").Form).wants("acceptedBy", `"bob"`)
	w.form(try(w.Accounts.Party(t.Context(), admin.by(), identity.Team, "core")).must(w, "core").Form).wants("members", `["sam","bob"]`, "admins", `["bob"]`)
	w.reopen()
	w.advanceTo("2012-11-11T12:34:56Z")
	bob = w.as("bob")
	same(t, "what is fired", bob.occurrences(entry.Name), []string{"fired 2012-11-11T12:34:56Z", "fired 2012-11-10T12:34:56Z"})
	if _, err := bob.perform(ask, "answer", `{}`); err != nil {
		t.Errorf("the task that was handed over: %v", err)
	}
}

// TestRenameParty: everything that names a user follows when they are renamed.
func TestRenameParty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam, eve := w.as("admin"), w.as("sam"), w.as("eve")
	admin.mustPutRoute("of-eve", routeOfEve)
	entry := eve.mustPutEntry("e.json", every)
	id := sam.startCase(`{"route": "of-eve", "xattrDict": {"owner": "eve"}}`)
	eve.mustPerform(id, "go")
	rename := func(u user, kind identity.Kind, name, to string) error {
		_, err := w.Accounts.RenameParty(t.Context(), u.request(nil), kind, name, to)
		return err
	}
	w.refused(rename(sam, identity.User, "eve", "eva"), errs.NotFound)
	w.refused(rename(admin, identity.User, "eve", "sam"), errs.NameTaken)
	w.refused(rename(admin, identity.User, "eve", "CORE"), errs.NameTaken)
	w.refused(rename(admin, identity.User, "eve", "a b"), errs.NameNotAllowed)
	w.refused(rename(admin, identity.User, "nobody", "x"), errs.NotFound)
	w.refused(rename(admin, identity.Team, "everyone", "all"), errs.NotDeletable)
	before := sam.caseResource(fmt.Sprint(id) + ".json").FormETag
	if err := rename(admin, identity.User, "eve", "eva"); err != nil {
		t.Fatal(err)
	}
	eva := w.as("eva")
	sam.caseForm(id).wants("roles", `{"boss":["eva"],"own":["eva"]}`, "xattrDict", `{"owner":"eva"}`)
	if before == sam.caseResource(fmt.Sprint(id)+".json").FormETag {
		t.Error("the ETag of the case stays")
	}
	eva.mustPerform(id, "look")
	w.form(try(w.Schedules.Entry(t.Context(), eva.by(), eva.ref(entry.Name+".json"))).must(w, "the entry").Form).wants("context", `"eva"`)
	if err := rename(admin, identity.User, "eva", "Eva"); err != nil { // capitals
		t.Fatal(err)
	}
	if err := rename(admin, identity.Team, "core", "kern"); err != nil {
		t.Fatal(err)
	}
	w.form(try(w.Accounts.Party(t.Context(), admin.by(), identity.Team, "staff")).must(w, "staff").Form).wants("members", `["kern"]`)

	admin.mustPutParty(identity.User, "eve", `{}`) // another eve
	w.refused(w.as("eve").deleteCase(fmt.Sprint(id)+".json"), errs.NotFound)
	w.reopen()
	later := w.as("sam").startCase(`{"route": "of-eve"}`)
	w.as("sam").caseForm(later).wants("roles", `{"boss":["Eva"],"own":[]}`)
	w.as("Eva").mustPerform(later, "go")
	w.as("sam").caseForm(w.as("sam").startCase(`{"route": "ask"}`)).wants("roles/helper", `["kern"]`)
}

// TestRenameRoute: cases, entries, holds and other routes follow.
func TestRenameRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("child", `{"states": {"open": {"type": "start"}, "done": {"type": "complete"}}, "roles": {"r": {}}, "access": {"start": ["everyone"]},
		"actions": {"i": {"trigger": "init"}, "end": {"in": ["open"], "allowed": "everyone", "to": "done"}}}`)
	admin.mustPutRoute("parent", `{"states": {"open": {"type": "start"}}, "roles": {"r": {"assign": ["starter"]}}, "access": {"start": ["everyone"]},
		"actions": {"i": {"trigger": "init"}, "ask": {"in": ["open"], "child": {"route": "child", "roles": {"r": {"from": "r"}}}}}}`)
	id := sam.startCase(`{"route": "child"}`)
	entry := sam.mustPutEntry("e.json", `{"route": "child", "type": "interval", "days": 1}`)
	admin.mustPutHold("h", `{"route": "child"}`)
	admin.mustDeleteHold("h")
	rename := func(u user, name, to string) error {
		_, err := w.Routes.RenameRoute(t.Context(), u.request(nil), name, to)
		return err
	}
	w.refused(rename(sam, "child", "kind"), errs.NotAllowed)
	w.refused(rename(admin, "child", "parent"), errs.NameTaken)
	w.refused(rename(admin, "nothing", "kind"), errs.NotFound)
	if err := rename(admin, "child", "kind"); err != nil {
		t.Fatal(err)
	}
	sam.caseForm(id).wants("route", `"kind"`)
	w.form(try(w.Schedules.Entry(t.Context(), sam.by(), sam.ref(entry.Name+".json"))).must(w, "the entry").Form).wants("route", `"kind"`)
	parent := sam.startCase(`{"route": "parent"}`)
	sam.caseForm(parent).wants("children/0/route", `"kind"`)
	admin.mustPutRoute("child", `{"states": {"other": {"type": "start"}}, "actions": {"i": {"trigger": "init"}}, "access": {"start": ["everyone"]}}`)
	w.reopen()
	sam = w.as("sam")
	sam.caseForm(sam.startCase(`{"route": "parent"}`)).wants("children/0/route", `"kind"`)
	same(t, "used by", usedBy(w.Routes.DeleteRoute(t.Context(), w.as("admin").request(nil), "kind", false))[:2], []string{"route parent", "schedule entry e.json"})
}

// TestDocumentsInUse: a document that a schedule entry needs is not deleted.
func TestDocumentsInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustMakeFolder("sam/in")
	sam.mustPutDocument("sam/in/ä 1.csv", "x")
	sam.mustPutEntry("e.json", `{"route": "auto", "type": "interval", "days": 1, "document": "/dav/Documents/sam/in/ä 1.csv"}`)
	same(t, "the document", usedBy(sam.deleteDocument("sam/in/ä 1.csv")), []string{"schedule entry e.json"})
	same(t, "its folder", usedBy(sam.deleteDocument("sam/in")), []string{"schedule entry e.json"})
	sam.mustPutEntry("e.json", `{"title": "Read it", "route": "auto", "type": "interval", "days": 1, "document": "/dav/Documents/sam/in/ä 1.csv"}`)
	same(t, "by an entry with a title", usedBy(sam.deleteDocument("sam/in")), []string{"schedule entry Read it"})
	sam.mustPutDocument("sam/in/ä", "x")
	if err := sam.deleteDocument("sam/in/ä"); err != nil {
		t.Errorf("another document: %v", err)
	}
	if err := sam.deleteEntry("e.json"); err != nil {
		t.Fatal(err)
	}
	if err := sam.deleteDocument("sam/in"); err != nil {
		t.Errorf("once nothing needs it: %v", err)
	}
}

// TestEntryKeepsItsOwner: a PUT of an entry that names no context leaves it to whom
// it belongs, and an administrator may give it to any team.
func TestEntryKeepsItsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, admin := w.as("sam"), w.as("ann"), w.as("admin")
	name := sam.mustPutEntry("e.json", strings.Replace(every, "{", `{"context": "core", `, 1)).Name + ".json"
	ann.mustPutEntry(name, every)
	sam.entry(name).wants("context", `"core"`)
	admin.mustPutEntry(name, every)
	sam.entry(name).wants("context", `"core"`)
	admin.mustPutEntry(name, strings.Replace(every, "{", `{"context": "ops", `, 1)) // admin is not in ops
	w.as("bob").entry(name).wants("context", `"ops"`)
	_, err := w.as("bob").putEntry(name, strings.Replace(every, "{", `{"context": "core", `, 1))
	w.refused(err, errs.ContextNotAvailable)
	_, err = admin.putEntry("new.json", strings.Replace(every, "{", `{"context": "ops", `, 1))
	w.refused(err, errs.ContextNotAvailable)

	// The owner has left the team: the administrator repairs the entry.
	mine := sam.mustPutEntry("mine.json", every).Name + ".json"
	admin.mustPutParty(identity.User, "sam", `{"disabled": true}`)
	admin.mustPutEntry(mine, strings.Replace(every, "{", `{"context": "ann", `, 1))
	ann.entry(mine).wants("context", `"ann"`)
}
