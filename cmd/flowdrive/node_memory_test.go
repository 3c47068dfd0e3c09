package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"flowdrive/internal/pgtest"
)

const lockBody = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`

// TestWhatIsKnownIsTakenOver: what the active node knows in its memory is right on the one that
// takes over (docs/contract/storage.md): here each is changed at one node, which
// is killed, and asked for at the other.
func TestWhatIsKnownIsTakenOver(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	one := startNode(t, address, "one")
	one.awaitReady(t)
	two := startNode(t, address, "two")
	two.awaitReady(t)

	const before, after = "sam works upstairs", "sam works downstairs"
	one.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/sam.json", `{"password": "`+before+`"}`)
	one.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/eve.json", `{"password": "`+before+`"}`)
	one.as("sam", before).must(t, http.StatusOK, "GET", "/dav/Account/me.json", "") // it is remembered as right
	one.as("eve", before).must(t, http.StatusOK, "GET", "/dav/Account/me.json", "")
	var device struct{ Secret string }
	if err := json.Unmarshal(one.must(t, http.StatusCreated, "PUT", "/dav/Account/AppPasswords/phone.json", ``).body, &device); err != nil || device.Secret == "" {
		t.Fatalf("an app password: %v", err)
	}
	one.as("admin", device.Secret).must(t, http.StatusOK, "GET", "/dav/Documents/admin/", "")
	one.must(t, http.StatusCreated, "PUT", "/dav/Documents/admin/locked.txt", "x")
	token := one.must(t, http.StatusOK, "LOCK", "/dav/Documents/admin/locked.txt", lockBody, "Timeout", "Second-3600").header.Get("Lock-Token")
	session := one.openSession(t)
	made := one.must(t, http.StatusCreated, "PUT", casesFolder+"new.json", `{"route": "bug"}`, "Idempotency-Key", "once").header.Get("Location")
	one.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/flip.json", flipRoute)
	stay := one.must(t, http.StatusCreated, "PUT", casesFolder+"new.json", `{"route": "flip"}`).header.Get("Location")

	one.must(t, http.StatusNoContent, "PUT", "/dav/Admin/Users/sam.json", `{"password": "`+after+`"}`)
	one.must(t, http.StatusNoContent, "PUT", "/dav/Admin/Users/eve.json", `{"disabled": true}`)
	one.must(t, http.StatusNoContent, "DELETE", "/dav/Account/AppPasswords/phone.json", "")
	one.must(t, http.StatusOK, "PUT", "/dav/Workflow/Routes/flip.json", strings.ReplaceAll(flipRoute, `"to": "b"`, `"to": "end"`))
	one.kill()
	two.awaitReady(t)

	two.as("sam", before).must(t, http.StatusUnauthorized, "GET", "/dav/Account/me.json", "")
	two.as("sam", after).must(t, http.StatusOK, "GET", "/dav/Account/me.json", "")
	two.as("eve", before).must(t, http.StatusUnauthorized, "GET", "/dav/Account/me.json", "")
	two.as("admin", device.Secret).must(t, http.StatusUnauthorized, "GET", "/dav/Documents/admin/", "")
	two.must(t, http.StatusLocked, "PUT", "/dav/Documents/admin/locked.txt", "y")
	two.must(t, http.StatusNoContent, "PUT", "/dav/Documents/admin/locked.txt", "y", "If", "("+token+")")
	if status := two.withSession(t, session); status != http.StatusOK {
		t.Errorf("the session is answered with %d", status)
	}
	again := two.must(t, http.StatusCreated, "PUT", casesFolder+"new.json", `{"route": "bug"}`, "Idempotency-Key", "once")
	if again.header.Get("Location") != made || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a request under a known key made %s, not %s", again.header.Get("Location"), made)
	}
	if fresh := two.must(t, http.StatusCreated, "PUT", casesFolder+"new.json", `{"route": "bug"}`).header.Get("Location"); fresh == made || fresh == stay {
		t.Errorf("the id of %s was given again", fresh)
	}
	flip := two.must(t, http.StatusCreated, "PUT", casesFolder+"new.json", `{"route": "flip"}`).header.Get("Location")
	two.must(t, http.StatusNoContent, "PUT", strings.TrimSuffix(flip, ".json")+"/Actions/there.json", `{}`)
	if c := get[struct{ Status string }](t, two, flip); c.Status != "end" {
		t.Errorf("a case of the changed route is in %q", c.Status)
	}
	two.resets(t)
}

// openSession logs in at the pages, and returns the cookie.
func (p *program) openSession(t *testing.T) *http.Cookie {
	t.Helper()
	form := url.Values{"name": {p.user}, "password": {p.password}}.Encode()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/login", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w, err := p.client.Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if len(w.Cookies()) == 0 {
		t.Fatalf("a log-in is answered with %s and no cookie", w.Status)
	}
	return w.Cookies()[0]
}

// withSession asks for a page with the cookie of a session.
func (p *program) withSession(t *testing.T, session *http.Cookie) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/cases", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(session)
	w, err := p.client.Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	return w.StatusCode
}

// resets wants a reader of events who comes from another node to be told to look at everything
// again.
func (p *program) resets(t *testing.T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(p.user, p.password)
	r.Header.Set("Last-Event-ID", "7")
	w, err := p.client.Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	lines := bufio.NewScanner(w.Body)
	for lines.Scan() {
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			if event != "reset" {
				t.Errorf("the first event is %s", event)
			}
			return
		}
	}
	t.Error("there was no event")
}
