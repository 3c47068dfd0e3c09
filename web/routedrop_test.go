package web

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// TestRouteDrop: a file that is sent with the page of a route starts a case, once however often
// the form is sent. Without one, and for who may not start cases, nothing is made.
func TestRouteDrop(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	drop := func(route, key, file, text string) *answer {
		t.Helper()
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for _, field := range [][2]string{{"do", "drop"}, {"key", key}} {
			if err := form.WriteField(field[0], field[1]); err != nil {
				t.Fatal(err)
			}
		}
		w, err := form.CreateFormFile("attachmentUUID", file)
		if err == nil && file != "" {
			_, err = w.Write([]byte(text))
		}
		if err == nil {
			err = form.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.http.URL+"/routes/"+route, &body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.AddCookie(&http.Cookie{Name: "fd", Value: b.token})
		return send(t, b.client, r)
	}
	const key = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	first := drop("bug", key, "screen.txt", "on fire")
	at := first.header.Get("Location")
	if first.status != http.StatusSeeOther || !strings.HasPrefix(at, "/cases/") {
		t.Fatalf("got %d to %q: %s", first.status, at, textOf(first.body, "refused"))
	}
	if again := drop("bug", key, "screen.txt", "on fire").header.Get("Location"); again != at {
		t.Errorf("sent twice it leads to %s, first to %s", again, at)
	}
	if got := g.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/"+strings.TrimPrefix(at, "/cases/")+"/Labels/InputMessage", "").body; got != "on fire" {
		t.Errorf("the input is %q", got)
	}
	draft := drop("expense", "BCDEFGHIJKLMNOPQRSTUVWXYZA", "bill.txt", "12")
	if body := b.get(t, draft.header.Get("Location")).body; draft.status != http.StatusSeeOther || !strings.Contains(body, "This case is a draft.") {
		t.Errorf("without an amount: got %d to %s", draft.status, draft.header.Get("Location"))
	}
	if none := b.post(t, "/routes/bug", "do", "drop"); none.status != http.StatusUnprocessableEntity || !strings.Contains(none.body, "Choose a file.") {
		t.Errorf("without a file: got %d", none.status)
	}
	if body := b.get(t, "/routes/tip-vote").body; strings.Contains(body, "Start with a file") {
		t.Error("who may not start a case is offered to")
	}
	if not := drop("tip-vote", "CDEFGHIJKLMNOPQRSTUVWXYZAB", "x.txt", "x"); not.status != http.StatusForbidden {
		t.Errorf("who may not start a case: got %d", not.status)
	}
}
