package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// TestAttachmentAsInput: an entry with an attachment gives each of its cases
// the same bytes and media type, without a copy and without consuming it.
func TestAttachmentAsInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	const text = "currency,rate\nEUR,1\n"
	a := sam.upload(engine.NewAttachment{Name: "rates.csv"}, text)
	entry := sam.mustPutEntry("", everyNight(`"attachmentUUID": "`+a.Braced()+`"`)).Name
	if done := w.advance(48 * time.Hour); done.Fired != 2 {
		t.Errorf("fired %d", done.Fired)
	}
	ids := w.caseIDs()
	if len(ids) != 2 {
		t.Fatalf("cases %v, want two", ids)
	}
	for _, id := range ids {
		same(t, fmt.Sprintf("input of case %d", id), w.input(id), "text/csv: "+text)
	}
	same(t, "occurrences", sam.occurrences(entry), []string{"fired 2012-11-10T23:00:00Z", "fired 2012-11-09T23:00:00Z"})
	if files, _ := w.files(); len(files) != 1 {
		t.Errorf("contents on disk: %v, want one", files)
	}

	w.kind("deleting what an entry names", sam.deleteAttachment(a), errs.InUse)
	w.kind("deleting the entry", sam.deleteEntry(entry), "")
	w.kind("deleting it afterwards", sam.deleteAttachment(a), "")
	w.collect()
	for _, id := range ids { // the messages still refer to the content
		same(t, fmt.Sprintf("input of case %d, without the attachment", id), w.input(id), "text/csv: "+text)
	}
}

// TestAttachmentGoneAtFiring: no case, the instant failed with its reason,
// and the entry goes on.
func TestAttachmentGoneAtFiring(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam, admin := w.as("sam"), w.as("admin")
	a := w.as("ann").upload(engine.NewAttachment{Name: "ours.txt", Context: "core"}, "ours")
	entry := sam.mustPutEntry("", everyNight(attached(a))).Name
	admin.mustPutParty(identity.Team, "core", `{"members": ["ann"]}`)
	w.advance(24 * time.Hour)
	if ids := w.caseIDs(); len(ids) != 0 {
		t.Errorf("cases %v, want none", ids)
	}
	reason := fmt.Sprintf(`"There is no attachment %s that sam may use."`, a)
	sam.entry(entry).wants("iterationsPerformed", "1", "lastCase", "null", "lastError", reason, "nextIteration", `"2012-11-10T23:00:00"`)
	admin.mustPutParty(identity.Team, "core", `{"members": ["sam", "ann"]}`)
	w.advance(24 * time.Hour)
	ids := w.caseIDs()
	if len(ids) != 1 || w.input(ids[0]) != "text/plain: ours" {
		t.Errorf("cases %v", ids)
	}
	list := try(w.Schedules.Occurrences(t.Context(), sam.by(), sam.ref(entry).Entry)).must(w, "GET of the occurrences")
	w.form(list.Form).wants(
		"0/outcome", `"fired"`, "0/case", fmt.Sprint(ids[0]), "0/reason", "null",
		"1/outcome", `"failed"`, "1/case", "null", "1/reason", reason, "1/instant", `"2012-11-09T23:00:00Z"`)
}

// TestQuotaAtFiring: who has no room left makes no case, and keeps nobody
// else's from being made.
func TestQuotaAtFiring(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon, withQuota(12))
	sam, ann := w.as("sam"), w.as("ann")
	entry := sam.mustPutEntry("", everyNight(attached(sam.upload(engine.NewAttachment{}, "12345")))).Name
	other := ann.mustPutEntry("", everyNight(`"note": "without input"`)).Name
	w.advance(48 * time.Hour)
	same(t, "hers", ann.occurrences(other), []string{"fired 2012-11-10T23:00:00Z", "fired 2012-11-09T23:00:00Z"})
	same(t, "his", sam.occurrences(entry), []string{"failed 2012-11-10T23:00:00Z", "fired 2012-11-09T23:00:00Z"})
}

// TestAttachmentRefs: what a document may name, and what is said of the rest.
func TestAttachmentRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	own := sam.upload(engine.NewAttachment{}, "own")
	bobs := w.as("bob").upload(engine.NewAttachment{}, "bob's")
	ours := w.as("ann").upload(engine.NewAttachment{Context: "core"}, "ours")
	const notFound, format, wrongType = "/attachmentUUID not-found", "/attachmentUUID format", "/attachmentUUID type"
	for _, test := range []struct{ rest, entry, start string }{ // the fault of an entry, of a start document
		{attached(own), "", ""},
		{`"attachmentUUID": "` + strings.ToUpper(own.Braced()) + `"`, "", ""},
		{`"attachmentUUID": null`, "", ""},
		{attached(ours), "", ""},
		{`"context": "core", ` + attached(ours), "", ""},
		// Sam sees it and the team does not: an entry needs its context's right.
		{`"context": "core", ` + attached(own), notFound, ""},
		{attached(bobs), notFound, notFound},
		{`"attachmentUUID": "00000000000000000000000000000001"`, notFound, notFound},
		{`"attachmentUUID": "rates.csv"`, format, format},
		{`"attachmentUUID": 7`, wrongType, wrongType},
	} {
		for _, doc := range []struct {
			put  func() (*engine.Outcome, error)
			want string
		}{
			{func() (*engine.Outcome, error) { return sam.putEntry("", everyNight(test.rest)) }, test.entry},
			{func() (*engine.Outcome, error) { return sam.putCase("", `{"route": "auto", `+test.rest+`}`) }, test.start},
		} {
			_, err := doc.put()
			if doc.want == "" {
				w.kind(test.rest, err, "")
			} else {
				w.refused(err, errs.Invalid, doc.want)
			}
		}
	}
	id := sam.startCase(`{"route": "auto", ` + attached(own) + `}`)
	same(t, "input of the started case", w.input(id), "application/octet-stream: own")
	_, err := sam.putCase("", `{"route": "auto", "input": "x", `+attached(own)+`}`)
	w.refused(err, errs.Invalid, "/input conflict")
}

// TestAttachmentRights: who sees, who binds, who deletes
// (docs/contract/labels-attachments.md#who-sees-an-attachment).
func TestAttachmentRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	id := w.as("sam").startCase(`{"route": "auto", "stakeholders": ["bob"]}`)
	core := fmt.Sprint(w.Accounts.PartyID("core"))
	for i, test := range []struct {
		given engine.NewAttachment
		by    string
		sees  string // for whom it exists
		may   string // delete it
	}{
		{engine.NewAttachment{}, "sam", "sam admin", "sam admin"},
		{engine.NewAttachment{Context: "core"}, "sam", "sam ann admin", "sam ann admin"},
		{engine.NewAttachment{Context: core}, "ann", "sam ann admin", "sam ann admin"},
		{engine.NewAttachment{Context: "everyone"}, "admin", "sam ann bob eve admin", "admin"},
		{engine.NewAttachment{CaseID: id}, "sam", "sam bob admin", "sam admin"},
		{engine.NewAttachment{CaseID: id}, "bob", "sam bob admin", "bob admin"},
	} {
		for _, name := range []string{"sam", "ann", "bob", "eve", "admin"} {
			who, what := w.as(name), fmt.Sprintf("%d, %s", i, name)
			a := w.as(test.by).upload(test.given, "x")
			seen := slices.Contains(strings.Fields(test.sees), name)
			if got := who.seesAttachment(a); got != seen {
				t.Errorf("%s: sees it %t, want %t", what, got, seen)
			}
			all := names(w.Attachments.Attachments(t.Context(), who.by(), engine.Filter{}))
			if got := strings.Contains(all, a.String()); got != seen {
				t.Errorf("%s: has it listed %t, want %t", what, got, seen)
			}
			want := errs.NotFound
			if seen {
				want = errs.NotAllowed
			}
			if slices.Contains(strings.Fields(test.may), name) {
				want = ""
			}
			w.kind(what+" deletes it", who.deleteAttachment(a), want)
		}
	}
}

// TestAttachmentsOfCase: what is bound to a case is listed with it, for who
// sees the case, and not among the uploader's own.
func TestAttachmentsOfCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam, bob, eve := w.as("sam"), w.as("bob"), w.as("eve")
	id := sam.startCase(`{"route": "auto", "stakeholders": ["bob"]}`)
	own := sam.upload(engine.NewAttachment{}, "x")
	bound := sam.upload(engine.NewAttachment{CaseID: id}, "x")
	same(t, "bound to the case", names(w.Attachments.Attachments(t.Context(), bob.by(), engine.Filter{CaseID: id})), bound.String())
	same(t, "sam's own", names(w.Attachments.Attachments(t.Context(), sam.by(), engine.Filter{OwnOnly: true})), own.String())
	same(t, "all that sam sees", names(w.Attachments.Attachments(t.Context(), sam.by(), engine.Filter{})), own.String()+" "+bound.String())
	_, err := w.Attachments.Attachments(t.Context(), eve.by(), engine.Filter{CaseID: id})
	w.kind("of a case that is not seen", err, errs.NotFound)
}

// TestAttachmentRefused: what may not be stored is refused before the body is
// read.
func TestAttachmentRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	id := w.as("sam").startCase(`{"route": "auto"}`)
	for what, test := range map[string]struct {
		who   string
		given engine.NewAttachment
		want  errs.Kind
	}{
		"to another's context":       {"sam", engine.NewAttachment{Context: "bob"}, errs.ContextNotAvailable},
		"to a team of others":        {"eve", engine.NewAttachment{Context: "core"}, errs.ContextNotAvailable},
		"to nobody":                  {"sam", engine.NewAttachment{Context: "nobody"}, errs.ContextNotAvailable},
		"to everyone":                {"sam", engine.NewAttachment{Context: "everyone"}, errs.ContextNotAvailable},
		"to a case that is not seen": {"eve", engine.NewAttachment{CaseID: id}, errs.NotFound},
		"to no case":                 {"eve", engine.NewAttachment{CaseID: 999}, errs.NotFound},
		"for longer than there is":   {"eve", engine.NewAttachment{Lifetime: clock.Duration{Months: 12 * 9000}}, errs.BadParameter},
		"more than there is room":    {"eve", engine.NewAttachment{Size: 1 << 40}, errs.Full},
	} {
		test.given.Name = "x"
		body := iotest.ErrReader(errors.New("the body was read"))
		_, err := w.Attachments.PutAttachment(t.Context(), w.as(test.who).request(nil), test.given, body)
		w.kind(what, err, test.want)
	}
}

// TestAttachmentForm is what .contents says.
func TestAttachmentForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "auto"}`)
	first := sam.upload(engine.NewAttachment{Name: "a <b>.json"}, "{}")
	second := sam.upload(engine.NewAttachment{Name: "p.jpg", CaseID: id, MediaType: "image/x-mine"}, "")
	all := try(w.Attachments.Attachments(t.Context(), sam.by(), engine.Filter{})).must(w, "the list")
	if len(all) != 2 {
		t.Fatalf("%d attachments", len(all))
	}
	same(t, "the first", string(all[0].Form), indented(`{"uuid":"`+first.String()+`","name":"a \u003cb\u003e.json","type":"application/json","size":2,`+
		`"sha256":"`+hexOf("{}")+`","created":"2012-11-09T12:00:00Z","expires":"2012-12-09T12:00:00Z","boundTo":null}`))
	same(t, "the second", string(all[1].Form), indented(`{"uuid":"`+second.String()+`","name":"p.jpg","type":"image/x-mine","size":0,`+
		`"sha256":"`+hexOf("")+`","created":"2012-11-09T12:00:00Z","expires":null,"boundTo":`+fmt.Sprint(id)+"}"))
	for context, want := range map[string]int{"": 2, "sam": 2, "mine": 2, "core": 0} {
		list := try(w.Attachments.Attachments(t.Context(), sam.by(), engine.Filter{Context: context, Limit: 10})).must(w, "the list")
		if len(list) != want {
			t.Errorf("context %q: %d attachments, want %d", context, len(list), want)
		}
	}
}

// TestAttachmentPages: a filter that the store does not know does not make a
// page short, which would look like the last one.
func TestAttachmentPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	var want []string
	for i := range 7 {
		a := sam.upload(engine.NewAttachment{Context: []string{"sam", "core"}[i%2]}, "x")
		if i%2 == 1 {
			want = append(want, a.String())
		}
	}
	f := engine.Filter{Context: "core", Limit: 2}
	first := try(w.Attachments.Attachments(t.Context(), sam.by(), f)).must(w, "the first page")
	same(t, "first page", names(first, nil), strings.Join(want[:2], " "))
	f.After = first[1].Seq
	same(t, "second page", names(w.Attachments.Attachments(t.Context(), sam.by(), f)), want[2])
}

// TestAttachmentExpiry: gone from view at the instant, then from disk; not
// while an entry names it; and its lifetime after none does any more.
func TestAttachmentExpiry(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	usual := sam.upload(engine.NewAttachment{}, "usual")
	short := sam.upload(engine.NewAttachment{Lifetime: clock.Duration{Exact: 2 * day}}, "short")
	used := sam.upload(engine.NewAttachment{Lifetime: clock.Duration{Exact: day}}, "used")
	bound := sam.upload(engine.NewAttachment{CaseID: sam.startCase(`{"route": "auto"}`)}, "bound")
	entry := sam.mustPutEntry("", everyNight(attached(used))).Name
	expect := func(what string, want map[store.UUID]bool) {
		t.Helper()
		for a, want := range want {
			if got := sam.seesAttachment(a); got != want {
				t.Errorf("%s: %s is seen %t, want %t", what, a, got, want)
			}
		}
	}
	w.advance(2*day - time.Second)
	expect("before", map[store.UUID]bool{usual: true, short: true, used: true, bound: true})
	w.clock.Set(noon().Add(2 * day)) // and nothing is swept
	expect("at the instant", map[store.UUID]bool{usual: true, short: false, used: true, bound: true})
	w.kind("deleting what has expired", sam.deleteAttachment(short), errs.NotFound)
	_, err := sam.putEntry("", everyNight(attached(short)))
	w.refused(err, errs.Invalid, "/attachmentUUID not-found")
	if list := try(w.Attachments.Attachments(t.Context(), sam.by(), engine.Filter{})).must(w, "the list"); len(list) != 3 {
		t.Errorf("%d are listed, want 3", len(list))
	}
	if done := w.advance(0); done.Fired != 0 {
		t.Errorf("what expires counts as %d firings", done.Fired)
	}
	w.collect()
	if files, _ := w.files(); len(files) != 3 || files[hexOf("short")] {
		t.Errorf("on disk: %v", files)
	}
	w.advance(38 * day)
	expect("after forty days", map[store.UUID]bool{usual: false, used: true, bound: true})
	if n := len(sam.occurrences(entry)); n != 40 {
		t.Errorf("%d occurrences, want 40", n)
	}

	// Another one takes its place.
	next := sam.upload(engine.NewAttachment{}, "next")
	sam.mustPutEntry(entry, everyNight(attached(next)))
	w.advance(day - time.Second)
	expect("no longer named", map[store.UUID]bool{used: true, next: true})
	w.advance(time.Second)
	expect("a day later", map[store.UUID]bool{used: false, next: true})

	// An entry that ends lets go as well.
	sam.mustPutEntry(entry, everyNight(`"repeat": 42, `+attached(next)))
	w.advanceTo("2012-12-20T23:00:00Z")
	expect("when the entry ends", map[store.UUID]bool{next: true})
	w.advance(30*day - time.Second)
	expect("and almost thirty days later", map[store.UUID]bool{next: true})
	w.advance(time.Second)
	expect("and thirty days later", map[store.UUID]bool{next: false, bound: true})
}

// TestQuota: what somebody has stored bounds what may come, though equal
// contents are stored once.
func TestQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon, withQuota(10))
	sam := w.as("sam")
	put := func(u user, text string) error {
		_, err := u.putAttachment(engine.NewAttachment{}, text)
		return err
	}
	first := sam.upload(engine.NewAttachment{}, "12345")
	w.kind("a byte too many", put(sam, "123456"), errs.Full)
	unknown := engine.NewAttachment{Name: "x", Size: -1}
	_, err := w.Attachments.PutAttachment(t.Context(), sam.request(nil), unknown, strings.NewReader("123456"))
	w.kind("a byte too many, unannounced", err, errs.Full)
	w.kind("as many as are left", put(sam, "12345"), "")
	w.kind("one more", put(sam, "1"), errs.Full)
	w.kind("of somebody else", put(w.as("ann"), "1"), "")
	w.kind("deleting", sam.deleteAttachment(first), "")
	w.kind("once there is room", put(sam, "1"), "")
	w.sound("after refusals")
}

// TestBrokenUpload: a body that breaks off leaves nothing behind.
func TestBrokenUpload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	broken := errors.New("the line is dead")
	body := io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), iotest.ErrReader(broken))
	_, err := w.Attachments.PutAttachment(t.Context(), w.as("sam").request(nil), engine.NewAttachment{Name: "x"}, body)
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
	same(t, "attachments", names(w.Attachments.Attachments(t.Context(), w.as("admin").by(), engine.Filter{})), "")
	if files, spooled := w.files(); len(files)+spooled != 0 {
		t.Errorf("left behind: %v, and %d without a name", files, spooled)
	}
}

// TestAttachmentRequests: the answer to a request with a key is kept, a
// second request with it stores nothing, and conditions are judged against
// nothing, since no PUT replaces an attachment.
func TestAttachmentRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam := w.as("sam")
	key := withKey("k", "url", "once")
	a := try(sam.putAttachment(engine.NewAttachment{}, "once", key)).must(w, "PUT")
	_, err := sam.putAttachment(engine.NewAttachment{}, "twice", key)
	w.kind("the key again", err, errs.NameTaken)
	kept, err := w.Replay(t.Context(), sam.by(), *keyOf("k", "url", "once"))
	if err != nil || string(kept) != a.String() {
		t.Errorf("the answer is %q, %v; want %s", kept, err, a)
	}
	_, err = sam.putAttachment(engine.NewAttachment{}, "new", ifNew())
	w.kind("If-None-Match: *", err, "")
	_, err = sam.putAttachment(engine.NewAttachment{}, "another", ifMatch(`"`+a.String()+`"`))
	w.kind("If-Match", err, errs.Precondition)
	w.kind("DELETE of another version", w.Attachments.DeleteAttachment(t.Context(), sam.request([]option{ifMatch(`"else"`)}), a), errs.Precondition)
	w.kind("DELETE of this one", w.Attachments.DeleteAttachment(t.Context(), sam.request([]option{ifMatch(`"` + a.String() + `"`)}), a), "")
	w.sound("after all requests")
}

// meddler is a store that does something between a decision and its unit.
type meddler struct {
	store.Store
	meddle func()
}

func (m *meddler) Update(ctx context.Context, f func(store.Tx) error) error {
	if meddle := m.meddle; meddle != nil {
		m.meddle = nil
		meddle()
	}
	return m.Store.Update(ctx, f)
}

// TestAttachmentGoesMeanwhile: what was decided on an attachment that goes
// before it is written is decided again.
func TestAttachmentGoesMeanwhile(t *testing.T) {
	t.Parallel()
	m := &meddler{}
	w := newWorld(t, atNoon, overStore(func(s store.Store) store.Store { m.Store = s; return m }))
	sam := w.as("sam")
	for what, put := range map[string]func(a store.UUID) error{
		"a case": func(a store.UUID) error {
			_, err := sam.putCase("", `{"route": "auto", `+attached(a)+`}`)
			return err
		},
		"an entry": func(a store.UUID) error {
			_, err := sam.putEntry("", everyNight(attached(a)))
			return err
		},
	} {
		a := sam.upload(engine.NewAttachment{}, "x")
		m.meddle = func() {
			w.kind("deleting", sam.deleteAttachment(a), "")
			w.collect()
		}
		w.kind(what, put(a), errs.Invalid)
	}
	if ids := w.caseIDs(); len(ids) != 0 {
		t.Errorf("cases %v", ids)
	}
}
