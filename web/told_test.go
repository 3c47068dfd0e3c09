package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/server"
)

// TestRefusalOnPage: why a form was refused stands on the page also if the form is not drawn
// for who has sent it, with what was typed.
func TestRefusalOnPage(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, "ann", `{"route": "expense", "title": "T", "xattrDict": {"amount": 50}}`)
	ann := g.browse(t, "ann")
	for _, test := range []struct {
		path   string
		status int
		want   string
		fields []string
	}{
		{"/cases/" + id, 403, "priority", []string{"do", "priority", "priority", "300"}},
		{"/cases/" + id, 422, "65535", []string{"do", "priority", "priority", "99999"}},
		{"/cases/" + id, 403, "administrators", []string{"do", "timer", "timer", "escalate.timeout", "limit", "P1D"}},
		{"/mount", 422, "A name is needed", []string{"do", "device", "label", ""}},
		{"/routes/bug", 403, "", []string{"do", "delete"}},
	} {
		got := ann.post(t, test.path, test.fields...)
		if got.status != test.status {
			t.Errorf("%v: got %d, want %d", test.fields, got.status, test.status)
		}
		told := textOf(got.body, "refused")
		if told == "" || !strings.Contains(told, test.want) {
			t.Errorf("%v: refused is %q, want %q in it", test.fields, told, test.want)
		}
		if strings.Count(got.body, `id="refused"`) != 1 {
			t.Errorf("%v: told %d times", test.fields, strings.Count(got.body, `id="refused"`))
		}
	}
	typed := g.browse(t, "admin").post(t, "/cases/"+id, "do", "fields", "x.amount", "much")
	if told := textOf(typed.body, "refused"); typed.status != 422 || !strings.Contains(told, "must be a number") || strings.Contains(told, "not a string") {
		t.Errorf("a word for a number: %d %q", typed.status, told)
	}
	got := ann.post(t, "/cases/"+id, "do", "priority", "priority", "300")
	if kept := textOf(got.body, "kept"); !strings.Contains(kept, "300") {
		t.Errorf("what was typed: %q", kept)
	}
	// As soon as ann may, the very form is taken.
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Users/ann.json", `{"admin": true}`)
	_, form, _ := strings.Cut(got.body, `<section class="card" id="kept"`)
	form, _, _ = strings.Cut(form, "</form>")
	fields := []string{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(form, -1) {
		fields = append(fields, m[1], m[2])
	}
	if !strings.Contains(form, "Send it again</button>") || !strings.Contains(form, `action="/cases/`+id+`"`) {
		t.Errorf("the form cannot be sent again: %s", form)
	}
	if again := ann.post(t, "/cases/"+id, fields...); again.status != 303 {
		t.Errorf("sent again, with %v: got %d %s", fields, again.status, textOf(again.body, "refused"))
	}
}

// TestBoardFromBefore: a move from a board that is older than what somebody else did is
// refused, and nothing that was typed is lost. The same form twice is one move.
func TestBoardFromBefore(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, "bob", `{"route": "bug", "title": "Board"}`)
	ann, bob := g.browse(t, "ann"), g.browse(t, "bob")
	move := func(b *browser, fields ...string) *answer {
		return b.post(t, "/routes/bug/board", append([]string{"do", "move", "case", id, "from", "open", "to", "resolved"}, fields...)...)
	}
	if got := move(ann, "comment", "FIRST", "key", "k1"); got.status != 303 {
		t.Fatalf("ann: %d %s", got.status, textOf(got.body, "refused"))
	}
	if log := g.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/"+id+"/log.json", "").body; !strings.Contains(log, "FIRST") {
		t.Errorf("the comment of a move is lost: %s", log)
	}
	if got := move(ann, "comment", "FIRST", "key", "k1"); got.status != 303 {
		t.Errorf("ann again: %d %s", got.status, textOf(got.body, "refused"))
	}
	got := move(bob, "comment", "MINE")
	if got.status != http.StatusConflict {
		t.Errorf("bob: got %d, want 409", got.status)
	}
	for _, want := range []string{"Ann Lindqvist was faster", "Board is in Resolved now"} {
		if told := textOf(got.body, "refused"); !strings.Contains(told, want) {
			t.Errorf("refused is %q, want %q", told, want)
		}
	}
	if !strings.Contains(got.body, "MINE") {
		t.Errorf("the comment is lost: %s", got.body)
	}
	if got := move(ann, "comment", "OTHER"); got.status != http.StatusConflict || !strings.Contains(got.body, "You have moved it yourself") {
		t.Errorf("ann with another comment: %d %s", got.status, textOf(got.body, "refused"))
	}
}

// TestWordsOfRefusals: what is said instead of nothing, or of words for programs.
func TestWordsOfRefusals(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	ann, admin := g.browse(t, "ann"), g.browse(t, "admin")
	for path, status := range map[string]int{"/tasks?part=zzz": 404, "/tasks?part=list&sort=zzz": 400} {
		if got := ann.get(t, path); got.status != status || !strings.Contains(got.body, `role="alert"`) {
			t.Errorf("%s: %d %q", path, got.status, got.body)
		}
	}
	if got := g.browse(t, "").get(t, "/tasks?part=list"); got.status != 401 || !strings.Contains(got.body, "Log in to see this page.") {
		t.Errorf("part without a session: %d %q", got.status, got.body)
	}

	taken := admin.post(t, "/routes/new", "do", "store", "name", "bug", "source", emptyRoute)
	if told := textOf(taken.body, "refused"); taken.status != 412 || !strings.Contains(told, "The name bug is taken. Choose another one.") || strings.Contains(told, "Somebody") {
		t.Errorf("taken name of a route: %d %q", taken.status, told)
	}
	user := admin.post(t, "/admin/users", "do", "user-add", "name", "ann", "password", "velvet otter seven")
	if told := textOf(user.body, "refused"); user.status != 412 || !strings.Contains(told, "The name ann is taken.") {
		t.Errorf("taken name of a user: %d %q", user.status, told)
	}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, g.http.URL+"/documents/ann/x.txt", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "fd", Value: ann.token})
	r.Header.Set("Content-Type", "text/plain")
	if got := send(t, ann.client, r); got.status != 201 || got.header.Get("ETag") == "" || got.header.Get("Location") != "/dav/Documents/ann/x.txt" {
		t.Errorf("upload: %d %v", got.status, got.header)
	}

	if got := ann.post(t, "/account", "do", "end", "session", "zzz"); !strings.Contains(got.body, "session is the number of one of your sessions, not &#34;zzz&#34;.") {
		t.Errorf("session zzz: %s", got.body)
	}
	for want, fields := range map[string][]string{
		"Your password is needed, and the code that the device shows.": {"do", "set"},
		"The code that the device shows is needed.":                    {"do", "set", "password", password},
		"The password is wrong.":                                       {"do", "set", "password", "zzz", "code", "123456"},
		"A code is needed":                                             {"do", "remove"},
	} {
		if got := ann.post(t, "/account/totp", fields...); got.status != 422 || !strings.Contains(got.body, want) || strings.Contains(got.body, "user name") {
			t.Errorf("%v: %d, want %q", fields, got.status, want)
		}
	}

	id := g.start(t, "ann", `{"route": "bug", "title": "B"}`)
	if told := noticeAfter(t, ann, ann.post(t, "/cases/"+id, "do", "resume")); !strings.Contains(told, "goes on already") {
		t.Errorf("resume of an active case: %q", told)
	}
	if got := ann.post(t, "/cases/"+id, "do", "perform", "action", "resolve"); got.status != 303 {
		t.Fatalf("perform: %d", got.status)
	}
	if got := ann.post(t, "/cases/"+id, "do", "perform", "action", "close"); got.status != 303 {
		t.Fatalf("perform: %d", got.status)
	}
	again := ann.post(t, "/cases/"+id, "do", "perform", "action", "close")
	if again.status != 409 || !strings.Contains(again.body, "You have done that already") {
		t.Errorf("performed twice: %d %s", again.status, textOf(again.body, "refused"))
	}

	ann.post(t, "/account", "do", "deputy", "user", "bob", "from", "2012-11-20", "to", "2012-11-21")
	if page := admin.get(t, "/admin/users").body; !strings.Contains(page, "bob will stand in from 20 Nov to 21 Nov") {
		t.Errorf("a deputy to come: %s", page)
	}
}

// noticeAfter returns what the page says to which a form has led.
func noticeAfter(t *testing.T, b *browser, done *answer) string {
	t.Helper()
	if done.status != http.StatusSeeOther {
		t.Errorf("got %d, want 303", done.status)
		return ""
	}
	return textOf(b.get(t, done.header.Get("Location")).body, "notice")
}

// TestLogInHeldUp: a log-in that a directory or a provider holds up says when it may work, and
// nothing of tries; a wrong password says that of tries.
func TestLogInHeldUp(t *testing.T) {
	t.Parallel()
	p := &pages{Config: Config{Status: server.Status}}
	for _, test := range []struct {
		err         *errs.Error
		status      int
		after       string
		pause, busy bool
	}{
		{errs.New(errs.Unavailable, "The directory does not answer."), 503, "5", false, true},
		{errs.New(errs.LogIn, "The user name or the password is wrong."), 401, "", true, false},
		{&errs.Error{Kind: errs.TooMany, Detail: "Too many.", Extra: map[string]any{errs.ExtraRetryAfter: 7}}, 429, "7", false, false},
	} {
		w, v := httptest.NewRecorder(), loginView{}
		x := &visit{pages: p, w: w}
		v.refuse(x, test.err)
		if x.status != test.status || w.Header().Get("Retry-After") != test.after || v.Pause != test.pause || v.Busy != test.busy {
			t.Errorf("%s: status %d, Retry-After %q, %+v", test.err.Kind, x.status, w.Header().Get("Retry-After"), v)
		}
	}
}
