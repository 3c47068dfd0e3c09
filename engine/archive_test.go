package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// routeLooked is of a case that a timer takes up again some time after it was
// completed.
const routeLooked = `
access: {start: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  end: {in: [open], role: clerk, to: done}
  look: {in: [done], trigger: time, timeout: P2D, to: open}
`

// archived lists the archive, that of a month or all of it.
func (u user) archived(month store.Month) string {
	return u.lists(engine.Filter{Archived: true, Month: month})
}

func (u user) purge(id int64, options ...option) error {
	month := u.caseResource(fmt.Sprint(id)).Archived
	return u.Archive.PurgeCase(u.Context(), u.request(options), month, id)
}

// mustArchive archives a case that has ended.
func (u user) mustArchive(id int64) {
	u.Helper()
	u.mustPutCase(fmt.Sprint(id, ".json"), `{"do": "archive"}`)
}

func (w *world) months(u user, own bool) string {
	w.Helper()
	return strings.Trim(fmt.Sprint(try(w.Archive.ArchiveMonths(w.Context(), u.by(), own)).must(w, "the months of the archive")), "[]")
}

func (u user) mustDeleteCase(id int64) {
	u.Helper()
	if err := u.deleteCase(fmt.Sprint(id)); err != nil {
		u.Fatalf("DELETE of case %d: %v", id, err)
	}
}

// TestRetention: however a case has ended, it stays as long as its route says.
func TestRetention(t *testing.T) {
	t.Parallel()
	end := func(sam user, id int64) { sam.mustPerform(id, "end") }
	cancel := func(sam user, id int64) { sam.mustDeleteCase(id) }
	nothing := func(user, int64) {}
	for _, test := range []struct {
		name, route string
		end         func(sam user, id int64)
		stays       time.Duration
		then        string
	}{
		{"by default", "", end, 15 * 24 * time.Hour, "archived"},
		{"canceled", "", cancel, 15 * 24 * time.Hour, "archived"},
		{"for an hour", "retention: PT1H\n", end, time.Hour, "archived"},
		{"at once", "retention: 0\n", end, 0, "archived"},
		{"a month", "retention: P1M\n", end, 30 * 24 * time.Hour, "archived"},
		{"for ever", "retention: forever\n", end, 0, ""},
		{"deleted", "retention: P1D\nthen: delete\n", end, 24 * time.Hour, "gone"},
		{"failed", "retention: P1D\n", nothing, 24 * time.Hour, "archived"},
		{"open", "retention: P1D\n", nothing, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sam := w.as("sam")
			doc := test.route + strings.Replace(routeOwn, "context: core", "access: {start: [everyone]}", 1)
			if test.name == "failed" {
				doc += "  again: {trigger: auto, in: [open], to: open}\n"
			}
			w.as("admin").mustPutRoute("kept", doc)
			id := sam.startCase(`{"route": "kept"}`)
			test.end(sam, id)
			is := func() string {
				_, err := sam.Cases.Case(t.Context(), sam.by(), engine.Ref{CaseID: id})
				switch {
				case err != nil:
					w.kind("GET", err, errs.NotFound)
					return "gone"
				case sam.caseResource(fmt.Sprint(id)).Archived != 0:
					return "archived"
				}
				return ""
			}
			if test.then == "" {
				w.advance(400 * 24 * time.Hour)
				same(t, "after long", is(), "")
				return
			}
			if test.stays > 0 {
				w.advance(test.stays - time.Second)
				same(t, "before its end", is(), "")
			}
			if done := w.advance(time.Second); done.Fired != 0 {
				t.Errorf("that was counted as %d firings", done.Fired)
			}
			same(t, "after its end", is(), test.then)
			same(t, "listed", sam.lists(engine.Filter{}), "")
			same(t, "in the archive", sam.archived(0) != "", test.then == "archived")
			w.reopen()
			same(t, "after a restart", is(), test.then)
		})
	}
}

// TestRetentionBeginsAnew: what goes on has not ended, and its next end counts.
func TestRetentionBeginsAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("timed", "retention: P3D\n"+routeLooked)
	w.as("admin").mustPutRoute("late", "retention: P1D\n"+routeLooked)
	sam := w.as("sam")
	timed, late := sam.startCase(`{"route": "timed"}`), sam.startCase(`{"route": "late"}`)
	sam.mustPerform(timed, "end")
	sam.mustPerform(late, "end")
	if done := w.advance(10 * 24 * time.Hour); done.Fired != 1 {
		t.Errorf("%d were fired", done.Fired)
	}
	sam.caseForm(timed).wants("state", `"active"`)
	sam.caseForm(late).wants("state", `"completed"`)
	same(t, "listed", sam.lists(engine.Filter{}), fmt.Sprint(timed))
	same(t, "archived", sam.archived(0), fmt.Sprint(late))

	// The route says otherwise: cases that move with it follow.
	sam.mustPerform(timed, "end")
	if _, err := w.as("admin").migrate("timed", "retention: PT1H\n"+routeLooked); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Hour)
	same(t, "archived", sam.archived(0), fmt.Sprint(timed, " ", late))
}

// TestArchived: a case in the archive resolves, is listed there alone, and
// cannot be changed.
func TestArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, bob, eve, admin := w.as("sam"), w.as("bob"), w.as("eve"), w.as("admin")
	out := sam.mustPutCase("q.json", `{"route": "ask", "title": "Holidays", "roles": {"helper": ["bob"]}, "input": "hello"}`)
	id, other := out.CaseID, sam.startCase(`{"route": "ask"}`)
	bound := sam.upload(engine.NewAttachment{Name: "a.txt", CaseID: id}, "one")
	bob.mustPerform(id, "answer")
	w.refused(bob.deleteCase(fmt.Sprint(id)), errs.NotAllowed)
	sam.mustPerform(id, "close")
	form := sam.caseForm(id)
	w.refused(sam.deleteCase("q.json", ifMatch(`"x"`)), errs.Precondition)
	w.refused(bob.deleteCase(fmt.Sprint(id)), errs.NotAllowed)
	if err := sam.deleteCase("q.json"); err != nil {
		t.Fatal(err)
	}
	month := store.MonthOf(w.clock.Now())
	same(t, "month", int64(month), 201211)
	same(t, "its form", sam.caseForm(id).text, form.text)
	w.refused(try(sam.Cases.Case(t.Context(), sam.by(), sam.ref("q.json"))).err, errs.NotFound)
	for _, u := range []user{sam, bob, admin} {
		same(t, u.name+" lists", strings.Contains(u.lists(engine.Filter{}), fmt.Sprint(id)), false)
		same(t, u.name+" lists in the archive", u.archived(0), fmt.Sprint(id))
		same(t, u.name+" lists in the month", u.archived(month), fmt.Sprint(id))
		same(t, u.name+" lists in another month", u.archived(month+1), "")
		same(t, u.name+" sees months", w.months(u, false), "201211")
		same(t, u.name+" sees the attachment", u.seesAttachment(bound), true)
	}
	same(t, "the months of a mounted folder", w.months(admin, true), "")
	same(t, "what eve sees", eve.archived(0)+w.months(eve, false), "")
	same(t, "the board", admin.board("ask"), "open answered closed")
	onBoard := admin.lists(engine.Filter{Route: "ask", Status: "closed", OnBoard: true})
	same(t, "on the board", onBoard, "")
	same(t, "the worklist", strings.Contains(admin.work(engine.WorklistOffered, engine.Filter{}), fmt.Sprint(id)), false)
	for _, c := range []struct {
		filter engine.Filter
		found  bool
	}{
		{engine.Filter{Route: "ask"}, true},
		{engine.Filter{Route: "auto"}, false},
		{engine.Filter{State: "completed"}, true},
		{engine.Filter{State: "canceled"}, false},
		{engine.Filter{Status: "closed"}, true},
		{engine.Filter{Query: "holi"}, true},
		{engine.Filter{Query: "x"}, false},
		{engine.Filter{Context: "sam"}, true},
		{engine.Filter{Role: "helper"}, false},
		{engine.Filter{Parent: 1}, false},
		{engine.Filter{After: id}, false},
		{engine.Filter{After: id - 1, Limit: 1}, true},
		{engine.Filter{OwnOnly: true}, true},
	} {
		want := ""
		if c.found {
			want = fmt.Sprint(id)
		}
		c.filter.Archived = true
		same(t, fmt.Sprintf("filtered by %+v", c.filter), sam.lists(c.filter), want)
	}

	name := fmt.Sprint(id, ".json")
	sam.mustPutCase(name, form.text) // saved as it is
	for what, err := range map[string]error{
		"title":       try(sam.putCase(name, `{"title": "x"}`)).err,
		"priority":    try(admin.putCase(name, `{"priority": 3}`)).err,
		"cancel":      try(sam.putCase(name, `{"state": "canceled"}`)).err,
		"reopen":      try(admin.putCase(name, `{"state": "active"}`)).err,
		"an XATTR":    sam.patchXattrs(name, engine.XattrChange{Key: "a", Text: "b"}),
		"perform":     try(sam.perform(id, "reopen", `{}`)).err,
		"a note":      try(bob.perform(id, "note", `{}`)).err,
		"skip":        sam.do(id, "audit", "skip"),
		"a label":     try(sam.putLabel(id, "Note", "x")).err,
		"attach":      try(sam.putAttachment(engine.NewAttachment{Name: "b", CaseID: id}, "two")).err,
		"detach":      sam.deleteAttachment(bound),
		"a lock":      try(sam.lock(engine.Target{Kind: engine.OnCase, Ref: engine.Ref{CaseID: id}, URL: "/x"}, engine.NewLock{})).err,
		"a task lock": try(admin.lock(engine.Target{Kind: engine.OnTask, Ref: engine.Ref{CaseID: id}, Name: "audit", URL: "/x"}, engine.NewLock{})).err,
		"a new name":  try(sam.Cases.RenameCase(t.Context(), sam.request(nil), engine.Ref{CaseID: id}, "r.json", true)).err,
	} {
		w.kind(what, err, errs.ReadOnly)
	}
	w.kind("a move on the board", try(sam.move("ask", "closed", id, "open")).err, errs.NotFound)
	if err := sam.deleteCase(name); err != nil {
		t.Errorf("a repeated DELETE: %v", err)
	}
	same(t, "its form", sam.caseForm(id).text, form.text)
	same(t, "another one", sam.lists(engine.Filter{}), fmt.Sprint(other))
}

// TestArchivingEndsLocks: what nobody can change needs no lock, and none keeps
// an administrator from purging it.
func TestArchivingEndsLocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("looked", routeLooked+"retention: PT1H\n")
	id := sam.startCase(`{"route": "looked"}`)
	target := engine.Target{Kind: engine.OnCase, Ref: engine.Ref{CaseID: id}, URL: "/x"}
	sam.mustLock(target, engine.NewLock{})
	sam.mustPerform(id, "end")
	same(t, "locks before", sam.locksOn(target), 1)
	w.advance(time.Hour)
	same(t, "archived", sam.caseResource(fmt.Sprint(id)).Archived, store.Month(201211))
	same(t, "locks in the archive", sam.locksOn(target), 0)
	if err := w.as("admin").purge(id); err != nil {
		t.Errorf("purging it: %v", err)
	}
}

// TestArchiveByCommand: {"do": "archive"} takes a case that has ended into the archive,
// and nothing else. A DELETE that is repeated does not.
func TestArchiveByCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask", "roles": {"helper": ["bob"]}}`)
	name := fmt.Sprint(id, ".json")
	w.refused(try(sam.putCase(name, `{"do": "archive"}`)).err, errs.InUse)
	for range 3 {
		sam.mustDeleteCase(id)
		same(t, "archived", sam.archived(0), "")
	}
	for _, body := range []string{`{"do": "burn"}`, `{"do": 1}`, `{"do": ""}`, `{"do": null}`, `{"do": "archive", "title": "x"}`} {
		w.refused(try(sam.putCase(name, body)).err, errs.Invalid)
	}
	w.refused(try(w.as("bob").putCase(name, `{"do": "archive"}`)).err, errs.NotAllowed)
	w.refused(try(w.as("eve").putCase(name, `{"do": "archive"}`)).err, errs.NotFound)
	w.refused(try(sam.putCase(name, `{"do": "archive"}`, ifMatch(`"x"`))).err, errs.Precondition)
	out := sam.mustPutCase(name, `{"do": "archive"}`)
	same(t, "archived", sam.archived(0), fmt.Sprint(id))
	if out.CaseID != id || len(out.Form) == 0 {
		t.Errorf("the outcome is %+v", out)
	}
	w.refused(try(sam.putCase(name, `{"do": "archive"}`)).err, errs.ReadOnly)
	w.refused(try(sam.putCase("new.json", `{"do": "archive"}`)).err, errs.NotFound)
}

// TestReopenFromArchive: an administrator of its route takes a canceled case
// back out of the archive.
func TestReopenFromArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	id := sam.startCase(`{"route": "ask", "roles": {"helper": ["bob"]}}`)
	sam.mustDeleteCase(id)
	sam.mustArchive(id)
	same(t, "archived", sam.archived(0), fmt.Sprint(id))
	name := fmt.Sprint(id, ".json")
	w.clock.Set(w.clock.Now().Add(engine.UndoCancel))
	w.refused(try(sam.putCase(name, `{"state": "active"}`)).err, errs.NotAllowed)
	if _, err := admin.putCase(name, `{"state": "active", "title": "Again"}`); err != nil {
		t.Fatal(err)
	}
	same(t, "archived", sam.archived(0)+w.months(sam, false), "")
	same(t, "listed", sam.lists(engine.Filter{}), fmt.Sprint(id))
	sam.caseForm(id).wants("state", `"active"`, "title", `"Again"`)
	same(t, "bob's worklist", strings.Contains(w.as("bob").work(engine.WorklistOffered, engine.Filter{}), fmt.Sprint(id, ".answer")), true)
	w.as("bob").mustPerform(id, "answer")
	w.advance(20 * 24 * time.Hour)
	same(t, "listed", sam.lists(engine.Filter{}), fmt.Sprint(id))
}

// TestArchiveOfDeputies: who stands in for somebody sees the months of what
// that one plays in, and no others.
func TestArchiveOfDeputies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, eve := w.as("sam"), w.as("eve")
	mine := sam.startCase(`{"route": "ask", "roles": {"helper": ["bob"]}}`)
	sam.mustDeleteCase(mine)
	sam.mustDeleteCase(mine)
	w.advance(40 * 24 * time.Hour)
	playing := sam.startCase(`{"route": "ask", "roles": {"helper": ["bob"]}, "title": "later"}`)
	sam.mustDeleteCase(playing)
	sam.mustDeleteCase(playing)
	w.advance(40 * 24 * time.Hour)
	w.as("bob").mustDeleteCase(w.as("bob").startCase(`{"route": "auto"}`)) // in which nobody plays
	same(t, "before", w.months(eve, false), "")
	w.standsIn("eve", "bob")
	same(t, "listed", eve.archived(0), fmt.Sprint(mine, " ", playing))
	same(t, "as a deputy", w.months(eve, false), "201211 201212")
	same(t, "of everybody", w.months(w.as("admin"), false), "201211 201212 201301")
	w.advance(3 * time.Hour)
	same(t, "after", eve.archived(0)+w.months(eve, true), "")
}

// bigTIP starts a proposal that so many vote on, and withdraws it.
func (w *world) bigTIP(voters int) (sam user, id int64) {
	w.Helper()
	var names []string
	for i := range voters {
		name := fmt.Sprintf("v%03d", i)
		w.as("admin").mustPutParty("user", name, `{}`)
		names = append(names, `"`+name+`"`)
	}
	sam = w.as("sam")
	id = sam.startCase(`{"route": "tip", "roles": {"voter": [` + strings.Join(names, ", ") + `]}}`)
	return sam, id
}

// TestArchiveOfFamily: children go with their root, however many there are.
func TestArchiveOfFamily(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	const voters = 150 // some batches
	sam, id := w.bigTIP(voters)
	kids := sam.children(id)
	w.as("v149").mustPerform(kids[99], "approve")
	w.refused(sam.deleteCase(fmt.Sprint(kids[99])), errs.InUse)
	sam.mustPerform(id, "withdraw")
	w.advance(15*24*time.Hour - time.Second)
	same(t, "before", sam.archived(0), "")
	w.advance(time.Second)
	same(t, "in the archive", len(strings.Fields(sam.archived(201211))), voters+1)
	same(t, "the children", len(strings.Fields(sam.lists(engine.Filter{Archived: true, Parent: id}))), voters)
	same(t, "in Cases/", sam.lists(engine.Filter{})+sam.lists(engine.Filter{State: "canceled"}), "")
	w.view(func(r store.Reader) error {
		due, err := r.Queue().NextDue()
		if !due.IsZero() {
			t.Errorf("something is due at %v", due)
		}
		return err
	})

	// They are purged with it.
	w.refused(sam.purge(id), errs.NotAllowed)
	admin := w.as("admin")
	w.refused(admin.Archive.PurgeCase(t.Context(), admin.request(nil), 201212, id), errs.NotFound)
	w.refused(admin.purge(id, ifMatch(`"x"`)), errs.Precondition)
	if err := admin.purge(kids[0]); err != nil { // one by itself
		t.Fatal(err)
	}
	if err := admin.purge(id); err != nil {
		t.Fatal(err)
	}
	same(t, "what is left", admin.archived(0)+w.months(admin, false), "")
	for _, gone := range append(kids, id) {
		same(t, "a purged case is seen", admin.sees(gone), false)
	}
	same(t, "failures", w.log.count(`"level":"error"`), 0)
}

// TestDeletedFamily: with then: delete nothing is left of a tree.
func TestDeletedFamily(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	w.as("admin").mustPutRoute("tip", "retention: PT1H\nthen: delete\n"+routeTIP)
	sam, id := w.bigTIP(150)
	sam.mustPerform(id, "withdraw")
	w.advance(time.Hour)
	w.view(func(r store.Reader) error {
		for _, archived := range []bool{false, true} {
			all, err := r.Cases().List(store.CaseFilter{Archived: archived})
			if err != nil || len(all) > 0 {
				t.Errorf("%d cases are left (%v)", len(all), err)
			}
		}
		return nil
	})
}

// TestInterruptedArchiving: what a process that ended has left is finished.
func TestInterruptedArchiving(t *testing.T) {
	t.Parallel()
	w := tipWorld(t)
	sam, id := w.bigTIP(100)
	sam.mustPerform(id, "withdraw")
	w.update(func(tx store.Tx) error { return tx.Write().Cases().Archive(id, 201211, time.Time{}, w.clock.Now()) })
	same(t, "archived so far", sam.archived(0), fmt.Sprint(id))
	w.reopen()
	w.load()
	w.advance(time.Second)
	same(t, "in the archive", len(strings.Fields(sam.archived(0))), 101)
	w.update(func(tx store.Tx) error {
		row, err := tx.Cases().Get(id)
		if err != nil {
			return err
		}
		c, err := machine.ReadMarking(row.Marking)
		if err != nil {
			return err
		}
		if err := tx.Write().Cases().Delete(id, store.UUID{}, c.ScheduledFor); err != nil {
			return err
		}
		return tx.Write().Cases().PutPurge(id, w.clock.Now())
	})
	w.reopen()
	w.load()
	w.advance(time.Second)
	same(t, "in the archive", sam.archived(0), "")
}

// TestPurge: with a case all goes that belongs to it; the record of what fired
// stays.
func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	used := sam.used()
	entry := sam.mustPutEntry("nightly.json", everyNight(`"repeat": 3`))
	w.advance(12 * time.Hour)
	fired := w.caseIDs()[0]
	id := sam.startCase(`{"route": "ask", "input": "` + large("i") + `"}`)
	try(sam.putLabel(id, "Note", large("n"))).must(w, "PUT of a label")
	sam.upload(engine.NewAttachment{Name: "a.txt", CaseID: id}, large("a"))
	if sam.used() == used {
		t.Error("nothing counts")
	}
	sam.mustDeleteCase(id)
	sam.mustArchive(id)
	sam.mustArchive(fired)
	before := try(w.Schedules.Entry(t.Context(), sam.by(), sam.ref(entry.Name))).must(w, "GET of the entry")
	sam.form(before.Form).wants("lastCase", fmt.Sprint(fired))
	for _, purged := range []int64{id, fired} {
		if err := admin.purge(purged); err != nil {
			t.Fatal(err)
		}
		w.refused(admin.Archive.PurgeCase(t.Context(), admin.request(nil), 201211, purged), errs.NotFound)
	}
	same(t, "used", sam.used(), used)
	w.collect()
	if files, _ := w.files(); len(files) > 0 {
		t.Errorf("contents are left: %v", files)
	}
	same(t, "occurrences", sam.occurrences(entry.Name), []string{"fired 2012-11-09T23:00:00Z"})
	res := try(w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(entry.Name).Entry)).must(w, "GET of the occurrences")
	sam.form(res.Form).wants("0/case", "null")
	after := try(w.Schedules.Entry(t.Context(), sam.by(), sam.ref(entry.Name))).must(w, "GET of the entry")
	same(t, "the entry", string(after.Form), strings.Replace(string(before.Form), fmt.Sprintf(`"lastCase": %d`, fired), `"lastCase": null`, 1))
	if after.FormETag == before.FormETag || after.Definition != before.Definition {
		t.Errorf("the entry was %s, and is %s", before.FormETag, after.FormETag)
	}
	if log := strings.Join(w.audited("2012-11-10"), "\n"); !strings.Contains(log, fmt.Sprintf("admin case-purge %d", id)) {
		t.Errorf("the audit log says:\n%s", log)
	}
	_, err := sam.perform(id, "note", `{}`)
	w.kind("an action of a purged case", err, errs.NotFound)
}
