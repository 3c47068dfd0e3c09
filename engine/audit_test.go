package engine_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// audited returns the rows of a day of the audit log, "actor action target
// outcome: detail" each, but for those of the founding.
func (w *world) audited(date string) []string {
	w.Helper()
	var rows []string
	for _, line := range strings.Split(strings.TrimSuffix(w.auditText(date), "\n"), "\n") {
		row := w.form([]byte(line))
		if row.get("actor") == "null" && strings.HasSuffix(unquote(row.get("action")), "-add") {
			continue
		}
		for i, key := range []string{"time", "actor", "address", "action", "target", "outcome", "detail", "number", "previous"} {
			if m := row.node.Members; len(m) != 9 || m[i].Key != key {
				w.Fatalf("the keys of %s", line)
			}
		}
		rows = append(rows, fmt.Sprintf("%s %s %s %s: %s", unquote(row.get("actor")), unquote(row.get("action")),
			unquote(row.get("target")), unquote(row.get("outcome")), unquote(row.get("detail"))))
	}
	return rows
}

func (w *world) auditText(date string) string {
	w.Helper()
	_, body, err := w.AuditDay(w.Context(), w.as("admin").by(), date)
	if err != nil {
		w.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

func TestAuditOfChanges(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, checksPasswords)
	before := len(w.audited("2012-11-09"))
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "sam", `{"password": "old", "admin": true, "email": "s@example.org"}`)
	admin.mustPutParty(identity.User, "sam", `{"admin": false, "fullName": "Sam", "email": "t@example.org"}`)
	admin.mustPutParty(identity.User, "sam", `{"fullName": "Sam"}`) // changes nothing
	admin.mustPutParty(identity.User, "sam", `{"disabled": true}`)
	admin.mustPutParty(identity.User, "sam", `{"disabled": false}`)
	admin.mustPutParty(identity.Team, "ops", `{"members": ["sam"]}`)
	admin.mustPutParty(identity.Team, "ops", `{"members": []}`)
	if err := w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.Team, "ops", ""); err != nil {
		t.Fatal(err)
	}
	sam := w.as("sam")
	sam.mustPutMe(`{"password": "new", "oldPassword": "old", "email": "u@example.org"}`)
	sam.mustPutMe(`{"deputy": {"user": "admin", "from": "2012-11-10", "to": "2012-11-11"}}`)
	sam.mustPutMe(`{"deputy": null}`)
	sam.newApp("phone")
	if err := sam.deleteApp("PHONE"); err != nil {
		t.Fatal(err)
	}
	sam.mustPutRoute("auto", routeAuto)
	sam.mustPutRoute("auto", routeAsk)
	if err := sam.deleteRoute("auto"); err != nil {
		t.Fatal(err)
	}
	_, err := admin.putParty(identity.User, "sam", `{"disabled": true, "x": 1}`)
	w.refused(err, errs.Invalid)
	if err := w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.User, "sam", ""); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"admin user-add sam done: null",
		"admin password-change sam done: null",
		"admin administrator-change sam done: given",
		"admin user-change sam done: fullName, email",
		"admin administrator-change sam done: taken away",
		"admin user-disable sam done: null",
		"admin user-enable sam done: null",
		"admin team-add ops done: members sam; no administrators",
		"admin team-change ops done: no members; no administrators",
		"admin team-delete ops done: null",
		"sam user-change sam done: email",
		"sam password-change sam done: null",
		"sam deputy-change sam done: admin from 2012-11-10T00:00:00Z to 2012-11-12T00:00:00Z",
		"sam deputy-change sam done: nobody",
		"sam app-password-add sam/phone done: null",
		"sam app-password-revoke sam/phone done: null",
		"sam route-add auto done: version 1",
		"sam route-change auto done: version 2",
		"sam route-delete auto done: version 2",
		"admin user-delete sam done: null",
	}
	if diff := cmp.Diff(want, w.audited("2012-11-09")[before:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := w.auditText("2012-11-09")
	for _, secret := range []string{"hash of", "old\"", "fd-"} {
		if strings.Contains(text, secret) {
			t.Errorf("the audit log has %q:\n%s", secret, text)
		}
	}
}

// TestAuditOfRefusals: what changed nothing is written soon, from whatever
// address it came, and at the latest when the engine stops.
func TestAuditOfRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, checksPasswords)
	before := len(w.audited("2012-11-09"))
	sam := w.as("sam")
	stop := w.running()
	w.LogInRefused(sam.id(), "192.0.2.1", "wrong password")
	w.LogInRefused(0, "192.0.2.1", "no such user")
	w.RequestRefused(sam.by(), "192.0.2.1", "PUT /dav/x", errs.NotAllowed, strings.Repeat("ä", 1000))
	_, err := sam.putMe(`{"password": "new", "oldPassword": "guess"}`)
	w.refused(err, errs.Invalid)
	_, err = sam.putMe(`{"password": "new", "oldPassword": "throttled"}`)
	w.refused(err, errs.TooMany)
	stop()
	want := []string{
		"sam log-in sam refused: wrong password",
		"null log-in null refused: no such user",
		"sam request PUT /dav/x refused: not-allowed: " + strings.Repeat("ä", (1000-len("not-allowed: "))/2) + "…",
		"sam password-change sam refused: the old password was wrong",
		"sam password-change sam refused: too many failures before",
	}
	if diff := cmp.Diff(want, w.audited("2012-11-09")[before:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := strings.Count(w.auditText("2012-11-09"), `"address":"192.0.2.1"`); n != 3 {
		t.Errorf("%d rows have the address; want 3", n)
	}
}

// TestAuditOfLooks: an administrator who reads what is another's leaves a row
// for each look; whoever reads their own leaves none.
func TestAuditOfLooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := func(text string) engine.DocumentPath { return strings.Split(text, "/") }
	write := func(u user, at string) {
		t.Helper()
		_, err := w.Files.PutDocument(t.Context(), u.request(nil), path(at), contents.Upload{Body: strings.NewReader("hello"), Size: 5})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(w.as("sam"), "sam/a b.txt")
	write(w.as("sam"), "core/c.txt")
	write(w.as("admin"), "everyone/e.txt")
	write(w.as("admin"), "admin/d.txt")
	before := len(w.audited("2012-11-09"))
	stop := w.running()
	for _, who := range []string{"admin", "sam"} {
		for _, at := range []string{"sam/a b.txt", "core/c.txt", "everyone/e.txt", "admin/d.txt", "sam/none.txt"} {
			if doc, err := w.Files.OpenDocument(t.Context(), w.as(who).by(), path(at)); err == nil {
				_ = doc.Body.Close()
			}
		}
	}
	admin := w.as("admin").by()
	for range 2 * 10 { // more than of what is refused
		if _, err := w.Files.DocumentListing(t.Context(), admin, path("sam"), files.Members(false)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Files.DocumentListing(t.Context(), admin, path("core"), files.Tree(10, false)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Files.Documents(t.Context(), admin, path("core"), engine.Filter{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Files.Documents(t.Context(), admin, nil, engine.Filter{}); err != nil {
		t.Fatal(err)
	}
	stop()
	want := []string{"admin document-read Documents/sam/a b.txt done: null", "admin document-read Documents/core/c.txt done: null"}
	for range 20 {
		want = append(want, "admin document-read Documents/sam done: null")
	}
	want = append(want, "admin document-read Documents/core done: null", "admin document-read Documents/core done: null")
	if diff := cmp.Diff(want, w.audited("2012-11-09")[before:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAuditOfContents: an administrator who reads a message of a case, an attachment or an
// overwritten document that only administering the server shows leaves a row for each look.
// So does a move of a sandbox's clock.
func TestAuditOfContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	a := sam.upload(engine.NewAttachment{Name: "rates.csv"}, "EUR,1")
	own := admin.upload(engine.NewAttachment{Name: "own.csv"}, "EUR,2")
	sam.mustPutEntry("a.json", everyDays("1"))
	sam.mustPutEntry("a.json", everyDays("2"))
	sam.mustPutRoute("idle", strings.Replace(routeIdle, "everyone", "sam", 1))
	theirs := number(t, sam.mustDrop("idle", "x.txt", "hello").Name)
	mine := number(t, admin.mustDrop("auto", "y.txt", "hello").Name)
	before := len(w.audited("2012-11-09"))
	stop := w.running()
	for _, u := range []user{sam, admin} {
		for _, id := range []int64{theirs, mine} {
			if c, err := w.Cases.Message(t.Context(), u.by(), id, store.UUID{}, engine.OwnInput); err == nil {
				_ = c.Body.Close()
			}
		}
		for _, uuid := range []store.UUID{a, own} {
			if open, err := w.Attachments.OpenAttachment(t.Context(), u.by(), uuid); err == nil {
				_ = open.Body.Close()
			}
		}
		u.past(store.FolderSchedule)
	}
	w.NoteClock(t.Context(), admin.by(), instant("2012-11-10T00:00:00Z"))
	stop()
	want := []string{
		fmt.Sprintf("admin message-read Cases/%d/%s done: null", theirs, store.LabelInput),
		"admin attachment-read attachfs/" + a.String() + " done: null",
		"admin history-read Schedule/.history/20121109T123456Z a@sam.json done: null",
		"admin clock-set 2012-11-10T00:00:00Z done: null",
	}
	if diff := cmp.Diff(want, w.audited("2012-11-09")[before:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAuditHasTheAddress(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Address = func(context.Context) string { return "2001:db8::1" }
		}
	})
	w.as("admin").mustPutParty(identity.User, "sam", `{}`)
	if text := w.auditText("2012-11-09"); !strings.Contains(text, `"actor":"admin","address":"2001:db8::1","action":"user-add","target":"sam","outcome":"done","detail":null,"number":`) {
		t.Errorf("the audit log ends with\n%s", text[strings.LastIndex(strings.TrimSpace(text), "\n")+1:])
	}
}

func TestAuditDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.auditText("2012-11-09")
	w.advanceTo("2012-11-11T23:59:59Z")
	w.as("admin").mustPutParty(identity.User, "zoe", `{}`)
	w.advance(time.Second)
	w.as("admin").mustPutParty(identity.User, "yan", `{}`)
	days, err := w.AuditDays(t.Context(), w.as("admin").by())
	same(t, "days", names(days, err), "2012-11-09 2012-11-11 2012-11-12")
	same(t, "size", days[0].SourceSize, int64(len(first)))
	w.form(days[1].Form).wants("date", `"2012-11-11"`, "size", fmt.Sprint(days[1].SourceSize), "modified", `"2012-11-11T23:59:59Z"`)
	same(t, "the second day", w.audited("2012-11-11"), []string{"admin user-add zoe done: null"})

	_, err = w.AuditDays(t.Context(), w.as("sam").by())
	w.refused(err, errs.NotFound)
	for who, dates := range map[string][]string{
		"sam":   {"2012-11-09"},
		"admin": {"2012-11-10", "2012-11-9", "20121109", "", "9999999-01-01", "2012-13-01", "now"},
	} {
		for _, date := range dates {
			_, _, err := w.AuditDay(t.Context(), w.as(who).by(), date)
			if !errs.Is(err, errs.NotFound) {
				t.Errorf("%s reads %q: %v; want %s", who, date, err, errs.NotFound)
			}
		}
	}
}

// A day is read in parts, wherever they begin; what is added while it is
// read is not part of it.
func TestAuditIsReadInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mayBeUnsound = true // the lines are no rows
	w.update(func(tx store.Tx) error {
		for i := range 2500 {
			if err := tx.Write().Audit().Append(w.clock.Now(), []byte(`{"n":`+strconv.Itoa(i)+"}\n")); err != nil {
				return err
			}
		}
		return nil
	})
	text := w.auditText("2012-11-09")
	if !strings.HasSuffix(text, `{"n":2499}`+"\n") {
		t.Fatalf("the text ends with %q", text[len(text)-20:])
	}
	_, body, err := w.AuditDay(t.Context(), w.as("admin").by(), "2012-11-09")
	if err != nil {
		t.Fatal(err)
	}
	w.as("admin").mustPutParty(identity.User, "zoe", `{}`)
	if err := iotest.TestReader(body, []byte(text)); err != nil {
		t.Error(err)
	}
	if _, err := body.Seek(-1, io.SeekStart); err == nil {
		t.Error("a position before the beginning")
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
}
