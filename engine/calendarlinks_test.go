package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

func (u user) putLink(label, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Accounts.PutSecret(u.Context(), u.request(options), store.CalendarLink, label, []byte(doc))
}

// newLink makes a calendar link and returns the token of its address.
func (u user) newLink(label string) string {
	u.Helper()
	out := try(u.putLink(label, `{}`)).must(u.world, "PUT of a calendar link")
	address := unquote(u.form(out.Once).get("url"))
	token, ok := strings.CutPrefix(strings.TrimSuffix(address, ".ics"), "/calendar/")
	if !ok || len(token) != 32 || strings.Contains(string(out.Form), token) {
		u.Fatalf("the address %q, the form %s", address, out.Form)
	}
	return token
}

func (u user) deleteLink(label string, options ...option) error {
	return u.Accounts.DeleteSecret(u.Context(), u.request(options), store.CalendarLink, label)
}

// A calendar link shows its maker's calendar to whoever knows it, until it is
// revoked or its maker is disabled (docs/contract/drive.md#the-calendar).
func TestCalendarLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, admin := w.as("sam"), w.as("ann"), w.as("admin")
	sam.mustPutEntry("a.json", `{"route": "auto", "type": "simple", "date": "2012-11-12T08:00:00", "title": "Mine"}`)
	phone, wall := sam.newLink("phone"), sam.newLink("wall")
	theirs := ann.newLink("phone")
	opens := func(token string, whose *user) {
		t.Helper()
		res, err := w.Calendars.CalendarAt(t.Context(), token)
		if whose == nil {
			w.refused(err, errs.NotFound)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if feed := whose.feed(); !bytes.Equal(res.Form, feed.Form) || res.FormETag != feed.FormETag {
			t.Errorf("the address of %s shows\n%s", whose.name, res.Form)
		}
	}
	opens(phone, &sam)
	opens(wall, &sam)
	opens(theirs, &ann)
	for _, token := range []string{"", phone[1:], phone + "a", strings.ToUpper(phone), "fd-" + phone, strings.Repeat("a", 32)} {
		opens(token, nil)
	}
	_, one := w.Accounts.UseAppPassword(sam.id(), phone)
	_, other := w.Accounts.UseAppPassword(sam.id(), "fd-"+phone)
	if one || other {
		t.Error("a calendar link logs in")
	}
	opens(strings.TrimPrefix(sam.newApp("phone"), "fd-"), nil)

	same(t, "listed", names(w.Accounts.Secrets(t.Context(), sam.by(), store.CalendarLink)), "phone wall")
	_, err := w.Accounts.Secret(t.Context(), ann.by(), store.CalendarLink, "wall")
	w.refused(err, errs.NotFound)
	_, err = sam.putLink("PHONE", `{}`)
	w.refused(err, errs.NameTaken)
	_, err = sam.putLink("tablet", `{"url": "/calendar/x.ics"}`)
	w.refused(err, errs.Invalid)
	_, err = sam.putLink("tablet", `{}`, onDevice())
	w.refused(err, errs.NotAllowed)
	w.refused(sam.deleteLink("wall", onDevice()), errs.NotAllowed)
	try(sam.putLink("tablet", `{}`, dryRun())).must(w, "a dry run")
	same(t, "after a dry run", names(w.Accounts.Secrets(t.Context(), sam.by(), store.CalendarLink)), "phone wall")

	w.running()() // what waits to be written is written at the end
	res := try(w.Accounts.Secret(t.Context(), sam.by(), store.CalendarLink, "phone")).must(w, "GET of a link")
	w.form(res.Form).wants("label", `"phone"`, "lastUsed", `"2012-11-09T12:34:56Z"`)
	w.reopen()
	opens(phone, &sam)

	if err := sam.deleteLink("phone"); err != nil {
		t.Fatal(err)
	}
	w.refused(sam.deleteLink("phone"), errs.NotFound)
	opens(phone, nil)
	opens(wall, &sam)
	admin.mustPutParty(identity.User, "sam", `{"disabled": true}`)
	opens(wall, nil)
	opens(theirs, &ann)
	admin.mustPutParty(identity.User, "sam", `{"disabled": false}`)
	opens(wall, &sam)

	var log []byte
	w.view(func(r store.Reader) (err error) {
		log, err = r.Audit().Text(store.AuditDayOf(w.clock.Now()), 0, 1000)
		return err
	})
	for action, n := range map[string]int{"calendar-link-add": 3, "calendar-link-revoke": 1} {
		if got := bytes.Count(log, []byte(`"action":"`+action+`"`)); got != n {
			t.Errorf("%d rows %s, want %d", got, action, n)
		}
	}
	for _, token := range []string{phone, wall, theirs} {
		if bytes.Contains(log, []byte(token)) || w.log.count(token) > 0 {
			t.Error("the log has a token")
		}
	}
}
