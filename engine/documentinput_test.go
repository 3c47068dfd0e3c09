package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// TestDocumentAsInput: each firing reads the document as it is then, with its
// media type, whether it is small or large.
func TestDocumentAsInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	sam.mustMakeFolder("core/in put")
	sam.mustPutDocument("core/in put/rates.csv", "a;1\n")
	const at = "/dav/Documents/core/in put/rates.csv"
	entry := sam.mustPutEntry("nightly.json", everyNight(`"context": "core", "document": "/dav/Documents/core/in%20put/rates.csv"`)).Name
	sam.entry(entry).wants("document", `"`+at+`"`, "attachmentUUID", "null")
	contents := []string{"a;1\n", "a;2\n", large("a;3\n"), large("a;3\n"), ""}
	for i, text := range contents {
		if i > 0 {
			sam.mustPutDocument("core/in put/rates.csv", text)
		}
		w.advance(24 * time.Hour)
	}
	ids := w.caseIDs()
	if len(ids) != len(contents) {
		t.Fatalf("%d cases", len(ids))
	}
	sam.mustPutDocument("core/in put/rates.csv", "after all")
	w.collect()
	for i, id := range ids {
		same(t, fmt.Sprintf("the input of case %d", i), w.input(id), "text/csv: "+contents[i])
	}
	if names, _ := w.files(); len(names) != 1 {
		t.Errorf("equal contents lie on disk %d times", len(names))
	}
	if want := slices.Repeat([]string{"fired"}, len(contents)); !slices.Equal(outcomes(sam, entry), want) {
		t.Errorf("outcomes: %v", outcomes(sam, entry))
	}
}

// outcomes returns what became of each instant, newest first.
func outcomes(u user, entry string) []string {
	u.Helper()
	var out []string
	for _, line := range u.occurrences(entry) {
		outcome, _, _ := strings.Cut(line, " ")
		out = append(out, outcome)
	}
	return out
}

// TestDocumentGoneAtFiring: no case, an occurrence that says why, and the
// entry goes on: with the document when it is there again.
func TestDocumentGoneAtFiring(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam, bob := w.as("sam"), w.as("bob")
	for _, tt := range []struct {
		what        string
		gone, again func()
	}{
		{"deleted", func() { w.kind("MOVE", sam.moveAway("core/rates.csv"), "") }, func() { sam.mustPutDocument("core/rates.csv", "x") }},
		{"a folder now", func() {
			w.kind("MOVE", sam.moveAway("core/rates.csv"), "")
			sam.mustMakeFolder("core/rates.csv")
		}, func() {
			w.kind("MOVE", sam.moveAway("core/rates.csv"), "")
			sam.mustPutDocument("core/rates.csv", "x")
		}},
	} {
		sam.mustPutDocument("core/rates.csv", "x")
		entry := sam.mustPutEntry("", everyNight(`"context": "core", "document": "/dav/Documents/core/rates.csv"`)).Name
		other := bob.mustPutEntry("", everyNight(`"note": "without input"`)).Name
		tt.gone()
		w.advance(24 * time.Hour)
		sam.entry(entry).wants("lastCase", "null", "lastError",
			`"There is no document \"/dav/Documents/core/rates.csv\" that core may use."`)
		tt.again()
		w.advance(24 * time.Hour)
		same(t, tt.what, outcomes(sam, entry), []string{"fired", "failed"})
		same(t, tt.what+": another entry", outcomes(bob, other), []string{"fired", "fired"})
		w.kind("DELETE of the entry", sam.deleteEntry(entry), "")
		w.kind("DELETE of the other", bob.deleteEntry(other), "")
	}
}

// TestDocumentWithoutRight: the entry's context reads the document, at PUT
// and at each firing; leaving the team ends that at once.
func TestDocumentWithoutRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam, admin := w.as("sam"), w.as("admin")
	sam.mustPutDocument("core/rates.csv", "x")
	sam.mustPutDocument("sam/own.csv", "x")
	admin.mustPutDocument("everyone/all.csv", "x")
	entry := sam.mustPutEntry("", everyNight(`"document": "/dav/Documents/core/rates.csv"`)).Name
	for doc, context := range map[string]string{"sam/own.csv": "core", "staff/x": "core", "bob/x": "sam"} {
		_, err := sam.putEntry("", everyNight(`"context": "`+context+`", "document": "/dav/Documents/`+doc+`"`))
		w.refused(err, errs.Invalid, "/document not-found")
	}
	_, err := sam.putEntry("", everyNight(`"context": "core", "document": "/dav/Documents/everyone/all.csv"`))
	w.kind("everyone's, by a team", err, "")
	admin.mustPutParty("team", "core", `{"members": ["ann"]}`)
	w.advance(24 * time.Hour)
	same(t, "after sam has left", outcomes(sam, entry), []string{"failed"})
}

// TestDocumentRefs: what the "document" of an entry or a start may be.
func TestDocumentRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	sam.mustMakeFolder("sam/folder")
	sam.mustPutDocument("sam/100%.csv", "percent")
	sam.mustPutDocument("sam/caf\u00e9", "nfc")
	for _, tt := range []struct{ text, fault, want string }{
		{`"/dav/Documents/sam/100%.csv"`, "", "/dav/Documents/sam/100%.csv"},
		{`"/dav/Documents/sam/100%25.csv"`, "", "/dav/Documents/sam/100%.csv"},
		{`"/dav/Documents/SAM/cafe\u0301"`, "", "/dav/Documents/sam/caf\u00e9"},
		{`null`, "", ""},
		{`"/dav/Documents/sam/gone"`, "not-found", ""},
		{`"/dav/Documents/sam/folder"`, "not-found", ""},
		{`"/dav/Documents/sam/folder/"`, "not-found", ""},
		{`"/dav/Documents/sam"`, "not-found", ""},
		{`"/dav/Documents/bob/x"`, "not-found", ""},
		{`"/dav/Documents/nobody/x"`, "not-found", ""},
		{`"/dav/Documents/../Documents/sam/caf\u00e9"`, "not-found", ""},
		{`"sam/100%.csv"`, "not-found", ""},
		{`17`, "type", ""},
	} {
		_, err := sam.putEntry("e.json", everyNight(`"document": `+tt.text))
		_, started := sam.putCase("", `{"route": "ask", "document": `+tt.text+`}`)
		if tt.fault != "" {
			w.refused(err, errs.Invalid, "/document "+tt.fault)
			w.refused(started, errs.Invalid, "/document "+tt.fault)
			continue
		}
		w.kind(tt.text, err, "")
		w.kind(tt.text+" at a start", started, "")
		want := `"` + tt.want + `"`
		if tt.want == "" {
			want = "null"
		}
		sam.entry("e.json").wants("document", want)
	}
	// GET, edit, PUT of the complete form keeps it.
	sam.mustPutEntry("f.json", everyNight(`"document": "/dav/Documents/sam/100%25.csv"`))
	uuid := sam.entryResource("f.json").Name
	sam.mustPutEntry(uuid, string(sam.entryResource(uuid).Form))
	sam.entry(uuid).wants("document", `"/dav/Documents/sam/100%.csv"`)
	_, err := sam.putCase("", `{"route": "ask", "document": "/dav/Documents/sam/100%25.csv", "input": "x"}`)
	w.refused(err, errs.Invalid, "/input conflict")
}

// TestStartWithDocument: the input of a case that is started by a document.
func TestStartWithDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	for _, text := range []string{"small", large("large"), ""} {
		sam.mustPutDocument("core/order.json", text)
		id := sam.startCase(`{"route": "ask", "document": "/dav/Documents/core/order.json"}`)
		sam.mustPutDocument("core/order.json", "changed")
		w.collect()
		same(t, "the input", w.input(id), "application/json: "+text)
	}
}

// TestDocumentChangesMeanwhile: what was decided on a document that changes
// before the case is written is decided again; its old content may be gone.
func TestDocumentChangesMeanwhile(t *testing.T) {
	t.Parallel()
	m := &meddler{}
	w := newWorld(t, overStore(func(s store.Store) store.Store { m.Store = s; return m }))
	sam := w.as("sam")
	sam.mustPutDocument("sam/a.txt", large("old"))
	m.meddle = func() {
		sam.mustPutDocument("sam/a.txt", large("new"))
		w.collect()
	}
	id := sam.startCase(`{"route": "ask", "document": "/dav/Documents/sam/a.txt"}`)
	same(t, "the input", w.input(id), "text/plain: "+large("new"))
	m.meddle = func() { w.kind("DELETE", sam.deleteDocument("sam/a.txt"), "") }
	_, err := sam.putCase("", `{"route": "ask", "document": "/dav/Documents/sam/a.txt"}`)
	w.refused(err, errs.Invalid, "/document not-found")
}

// TestDocumentQuotaAtFiring: a firing stores what it reads in the name of the
// entry's context; without room for it there is no case.
func TestDocumentQuotaAtFiring(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon, withQuota(25_000))
	sam := w.as("sam")
	sam.mustPutDocument("sam/a", strings.Repeat("x", 10_000))
	entry := sam.mustPutEntry("", everyNight(`"document": "/dav/Documents/sam/a"`)).Name
	w.advance(48 * time.Hour)
	same(t, "outcomes", outcomes(sam, entry), []string{"failed", "fired"})
	if got := sam.used(); got != 20_000 {
		t.Errorf("%d bytes are used", got)
	}
}
