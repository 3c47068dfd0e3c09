package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// TestRefusalsSayWhatToDo sends forms that the drive refuses in each way: the page has the
// status, says what to do, and has what was typed.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	at := g.must(t, "sam", http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "It smokes"}`).header.Get("Location")
	id := strings.TrimSuffix(strings.TrimPrefix(at, "/dav/Workflow/Cases/"), ".json")
	ann := g.browse(t, "ann")
	typed := "Typed <b>& kept</b>"
	forms := []struct {
		path   string
		field  string
		fields []string
	}{
		{"/tasks?open=" + id + ".resolve", "comment", []string{"do", "perform", "case", id, "action", "resolve", "comment", typed}},
		{"/cases/" + id + "?open=resolve", "comment", []string{"do", "perform", "case", id, "action", "resolve", "comment", typed}},
		{"/routes/bug/start", "title", []string{"do", "start", "title", typed}},
		{"/schedule/new", "title", []string{"do", "store", "route", "bug", "title", typed, "type", "cron", "minute", "0", "hour", "8"}},
	}
	for _, refusal := range []struct {
		err    *errs.Error
		status int
		advice string
	}{
		{errs.New(errs.InUse, "It is in use."), http.StatusConflict, "how it stands now"},
		{errs.New(errs.Precondition, "It has changed."), http.StatusPreconditionFailed, ""},
		{&errs.Error{Kind: errs.Invalid, Detail: "It is wrong.", Faults: []errs.Fault{{Pointer: "/title", Detail: "It is too long."}}}, http.StatusUnprocessableEntity, "Mend what is marked"},
		{errs.New(errs.Locked, "It is locked."), http.StatusLocked, "until it is closed there"},
		{errs.New(errs.TooMany, "Too many."), http.StatusTooManyRequests, "Wait 60 seconds, then send it again"},
		{errs.New(errs.Unavailable, "Not now."), http.StatusServiceUnavailable, "Wait 5 seconds, then send it again"},
		{errs.New(errs.Full, "The disk is full."), http.StatusInsufficientStorage, "ask an administrator for room"},
	} {
		g.refuses.Store(refusal.err)
		for _, form := range forms {
			for i := range refusal.err.Faults {
				refusal.err.Faults[i].Pointer = "/" + form.field
			}
			got := ann.post(t, form.path, form.fields...)
			what := fmt.Sprintf("%d of %s", refusal.status, form.path)
			if got.status != refusal.status {
				t.Errorf("%s: got %d", what, got.status)
			}
			if said := textOf(got.body, "refused"); !strings.Contains(said, refusal.advice) || said == "" {
				t.Errorf("%s says %q, not what to do: %q", what, said, refusal.advice)
			}
			if !strings.Contains(got.body, "Typed &lt;b&gt;&amp; kept&lt;/b&gt;") {
				t.Errorf("%s: what was typed is gone", what)
			}
			if wait := got.header.Get("Retry-After"); (wait != "") != (refusal.status == 429 || refusal.status == 503) {
				t.Errorf("%s: Retry-After %q", what, wait)
			}
			if faults := faultsOf(got.body); faults != nil {
				t.Errorf("%s: %s", what, faults)
			}
		}
	}
}

// TestWhatWasTypedOutlivesTheSession sends a form after the session has ended, and one for
// which there is no room: the page that says so has what was typed, and sends it again.
func TestWhatWasTypedOutlivesTheSession(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	typed := []string{"do", "start", "title", "Typed & kept", "key", "k1"}
	ended := g.browse(t, "")
	got := ended.post(t, "/routes/bug/start", typed...)
	kept := textOf(got.body, "kept")
	if got.status != http.StatusUnauthorized || !strings.Contains(kept, "Typed & kept") || !strings.Contains(kept, "Log in in another tab") {
		t.Errorf("after the session: got %d, kept %q", got.status, kept)
	}
	if faults := faultsOf(got.body); faults != nil {
		t.Error(faults)
	}

	ann := g.browse(t, "ann")
	g.full.Store(errs.New(errs.Unavailable, "There is no room."))
	got = ann.post(t, "/routes/bug/start", typed...)
	if kept = textOf(got.body, "kept"); got.status != http.StatusServiceUnavailable || !strings.Contains(kept, "Typed & kept") || !strings.Contains(kept, "Send it again") {
		t.Errorf("without room: got %d, kept %q", got.status, kept)
	}
	for i := 0; i+1 < len(typed); i += 2 {
		if field := fmt.Sprintf(`<input type="hidden" name="%s" value="%s">`, typed[i], strings.ReplaceAll(typed[i+1], "&", "&amp;")); !strings.Contains(got.body, field) {
			t.Errorf("it does not send %s again", field)
		}
	}
	g.full.Store(nil)
	if got = ann.post(t, "/routes/bug/start", typed...); got.status != http.StatusSeeOther {
		t.Errorf("sent again: got %d", got.status)
	}

	for what, fields := range map[string][]string{
		"a password": {"do", "password", "old", "x", "password", "hunter2hunter2"}, "nothing": nil,
	} {
		if got := ended.post(t, "/account", fields...); got.status != http.StatusUnauthorized || textOf(got.body, "kept") != "" || strings.Contains(got.body, "hunter2") {
			t.Errorf("%s is kept: %d %s", what, got.status, textOf(got.body, "kept"))
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.http.URL+"/routes/bug/start", strings.NewReader("do=start&title=From+elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if got := send(t, ended.client, r); strings.Contains(got.body, "From elsewhere") {
		t.Errorf("what another site has sent is kept: %d", got.status)
	}
}
