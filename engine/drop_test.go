package engine_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// drop drops a text into the folder of a route.
func (u user) drop(route, name, text string, change func(*engine.Drop), options ...option) (*engine.Outcome, error) {
	u.Helper()
	d := engine.Drop{Route: route, Name: name}
	if change != nil {
		change(&d)
	}
	return u.Drops.Drop(u.Context(), u.request(options), d, contents.Upload{Size: -1, Body: strings.NewReader(text)})
}

func (u user) mustDrop(route, name, text string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.drop(route, name, text, nil, options...)).must(u.world, "PUT of "+name)
}

// aliases returns what a user finds in the folder of a route, "name=case".
func (u user) aliases(route string) string {
	u.Helper()
	list := try(u.Drops.Aliases(u.Context(), u.by(), route)).must(u.world, "the folder of "+route)
	out := make([]string, len(list))
	for i := range list {
		out[i] = fmt.Sprintf("%s=%d", list[i].Name, list[i].CaseID)
	}
	return strings.Join(out, " ")
}

// dropped returns the type and text of a dropped file.
func (u user) dropped(route, name string) string {
	u.Helper()
	c := try(u.Drops.OpenAlias(u.Context(), u.by(), route, name)).must(u.world, "GET of "+name)
	return c.MediaType + ": " + u.readAll(c.Body)
}

func TestDrop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustDrop("ASK", "Rates.csv", "1,2")
	if !out.Created || out.Route != "ask" || out.Name != fmt.Sprint(out.CaseID) || out.ETag == "" || out.Life != "active" {
		t.Errorf("%+v", out)
	}
	c := sam.caseForm(out.CaseID)
	same(t, "the form", c.text, string(out.Form))
	c.wants("route", `"ask"`, "title", `"Rates"`, "priority", "250", "starter", `"sam"`, "context", `"sam"`, "xattrDict", "{}", "status", `"open"`)
	same(t, "input", w.input(out.CaseID), "text/csv: 1,2")
	messages := try(w.Cases.Messages(t.Context(), sam.by(), out.CaseID)).must(w, "messages")
	if len(messages) != 1 || messages[0].UUID != out.Message || messages[0].Label != store.LabelInput || messages[0].AuthorID != sam.id() {
		t.Errorf("messages %+v", messages)
	}
	same(t, "the ETag of the PUT", out.ETag, engine.MessageETag(&messages[0]))

	a := try(w.Drops.Alias(t.Context(), sam.by(), "ask", "RATES.CSV")).must(w, "alias")
	same(t, "the name as it was given", a.Name, "Rates.csv")
	same(t, "its bytes and type", sam.dropped("ask", "rates.csv"), "text/csv: 1,2")
	same(t, "the folder", sam.aliases("ask"), fmt.Sprintf("Rates.csv=%d", out.CaseID))
	for _, other := range []string{"ann", "admin"} {
		same(t, "the folder to "+other, w.as(other).aliases("ask"), "")
		w.kind("to "+other, try(w.Drops.Alias(t.Context(), w.as(other).by(), "ask", "Rates.csv")).err, errs.NotFound)
	}
	w.kind("in another folder", try(w.Drops.Alias(t.Context(), sam.by(), "auto", "Rates.csv")).err, errs.NotFound)
	w.kind("in no folder", try(w.Drops.Alias(t.Context(), sam.by(), "none", "Rates.csv")).err, errs.NotFound)
	w.kind("in no folder", try(w.Drops.Aliases(t.Context(), w.as("bob").by(), "own")).err, errs.NotFound)
}

// TestDropSays what a query can say of the case.
func TestDropSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := try(sam.drop("ask", "x.pdf", "%PDF", func(d *engine.Drop) {
		d.Title, d.Priority, d.Context = "Rates", new(0), "core"
		d.Xattrs = label.Dict{
			{Key: "day", Value: label.Text("$__TODAY__; of $__XATTR_zone__;")},
			{Key: "n", Value: label.Value{Kind: document.Number, Text: "1.50"}},
			{Key: "pid", Value: label.Text("$__PID__;/$__TITLE__;/$__ROUTE__;/$__LOGIN__;")},
			{Key: "unknown", Value: label.Text("$__NEVER__;")},
			{Key: "zone", Value: label.Text("EU")},
		}
	})).must(w, "PUT")
	sam.caseForm(out.CaseID).wants("title", `"Rates"`, "priority", "0", "context", `"core"`, "starter", `"sam"`,
		"xattrDict/day", `"2012-11-09 of EU"`, "xattrDict/n", "1.50", "xattrDict/unknown", `"$__NEVER__;"`,
		"xattrDict/pid", fmt.Sprintf(`"%d/Rates/ask/core"`, out.CaseID))
	same(t, "type by the name", w.input(out.CaseID), "application/pdf: %PDF")
	if texts := strings.Join(sam.logTexts(out.CaseID), "\n"); !strings.Contains(texts, "NEVER") {
		t.Errorf("the log says nothing of the unknown label:\n%s", texts)
	}
	if !w.as("ann").sees(out.CaseID) {
		t.Error("ann does not see the case of her team")
	}
	byID := try(sam.drop("ask", "y", "", func(d *engine.Drop) { d.Context = fmt.Sprint(w.Accounts.PartyID("core")) })).must(w, "PUT")
	sam.caseForm(byID.CaseID).wants("context", `"core"`)
	same(t, "an empty file of no type", w.input(byID.CaseID), mediatype.Unknown+": ")
	up := contents.Upload{MediaType: "text/plain; charset=utf-8", Body: strings.NewReader("x")}
	typed := try(w.Drops.Drop(t.Context(), sam.request(nil), engine.Drop{Route: "ask", Name: "z.pdf"}, up)).must(w, "PUT")
	same(t, "the type that it says", w.input(typed.CaseID), "text/plain; charset=utf-8: x")
}

func TestDropRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("ann").mustPutRoute("seen", strings.Replace(routeOwn, "context: core", "context: core\naccess: {read: [everyone]}", 1))
	for _, tt := range []struct {
		user, route string
		change      func(*engine.Drop)
		options     []option
		want        errs.Kind
	}{
		{"sam", "none", nil, nil, errs.NotFound},
		{"bob", "own", nil, nil, errs.NotFound},
		{"bob", "seen", nil, []option{ifMatch(`"x"`)}, errs.NotAllowed},
		{"bob", "ask", func(d *engine.Drop) { d.Context = "core" }, nil, errs.ContextNotAvailable},
		{"bob", "ask", func(d *engine.Drop) { d.Context = "nobody" }, nil, errs.ContextNotAvailable},
		{"bob", "ask", func(d *engine.Drop) { d.Context = "everyone" }, nil, errs.ContextNotAvailable},
		{"bob", "ask", nil, []option{ifMatch(`"x"`)}, errs.Precondition},
	} {
		body := &unread{}
		d := engine.Drop{Route: tt.route, Name: "x"}
		if tt.change != nil {
			tt.change(&d)
		}
		by := w.as(tt.user)
		_, err := w.Drops.Drop(t.Context(), by.request(tt.options), d, contents.Upload{Size: -1, Body: body})
		w.kind(fmt.Sprintf("%+v", tt), err, tt.want)
		if body.touched {
			t.Errorf("%+v: the body was read", tt)
		}
		if tt.want == errs.NotFound || tt.want == errs.NotAllowed {
			w.kind(fmt.Sprintf("asked before: %+v", tt), w.Drops.MayDrop(t.Context(), by.by(), tt.route), tt.want)
		} else {
			w.kind(fmt.Sprintf("asked before: %+v", tt), w.Drops.MayDrop(t.Context(), by.by(), tt.route), "")
		}
	}
	if n := len(w.cases()); n != 0 {
		t.Errorf("%d cases", n)
	}
}

// unread is a body that should not be read.
type unread struct{ touched bool }

func (u *unread) Read([]byte) (int, error) {
	u.touched = true
	return 0, io.EOF
}

// TestAliasLife: a dropped file is listed while its case is open, whatever
// becomes of others.
func TestAliasLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	first := sam.mustDrop("ask", "a", "first").CaseID
	b := sam.mustDrop("ask", "b", "b").CaseID
	second := sam.mustDrop("ask", "A", "second").CaseID
	if second == first {
		t.Fatal("another file of the name starts no other case")
	}
	list := func(want ...any) {
		t.Helper()
		same(t, "the folder", sam.aliases("ask"), strings.TrimSpace(fmt.Sprintln(want...)))
	}
	named := func(name string, id int64) string { return fmt.Sprintf("%s=%d", name, id) }
	list(named("A", second), named("b", b))
	same(t, "the first case's input stays", w.input(first), mediatype.Unknown+": first")

	for _, id := range []int64{first, second} {
		ann.mustPerform(id, "answer")
		sam.mustPerform(id, "close")
	}
	list(named("b", b))
	w.kind("GET", try(w.Drops.OpenAlias(t.Context(), sam.by(), "ask", "a")).err, errs.NotFound)
	w.kind("DELETE", w.Drops.DeleteAlias(t.Context(), sam.request(nil), "ask", "a"), errs.NotFound)
	sam.mustPerform(first, "reopen")
	list(named("b", b))
	sam.mustPerform(second, "reopen")
	list(named("A", second), named("b", b))

	w.kind("a new input", try(w.as("admin").putLabel(second, store.LabelInput, "replaced")).err, "")
	same(t, "an alias of the input", sam.dropped("ask", "a"), "text/plain: replaced")

	etag := try(w.Drops.Alias(t.Context(), sam.by(), "ask", "b")).must(w, "alias").Input
	w.kind("DELETE of another version", w.Drops.DeleteAlias(t.Context(), sam.request([]option{ifMatch(`"x"`)}), "ask", "b"), errs.Precondition)
	w.kind("DELETE by ann", w.Drops.DeleteAlias(t.Context(), ann.request(nil), "ask", "b"), errs.NotFound)
	w.kind("DELETE", w.Drops.DeleteAlias(t.Context(), sam.request([]option{ifMatch(engine.MessageETag(&etag))}), "ask", "B"), "")
	w.kind("DELETE again", w.Drops.DeleteAlias(t.Context(), sam.request(nil), "ask", "b"), errs.NotFound)
	w.kind("DELETE in no folder", w.Drops.DeleteAlias(t.Context(), sam.request(nil), "none", "b"), errs.NotFound)
	list(named("A", second))
	sam.caseForm(b).wants("state", `"active"`)
	w.reopen()
	same(t, "after a restart", w.as("sam").aliases("ask"), named("A", second))

	// The route is gone, and its folder with it.
	w.kind("cancel", w.as("sam").deleteCase(fmt.Sprint(second)+".json"), "")
	w.kind("cancel", w.as("sam").deleteCase(fmt.Sprint(first)+".json"), "")
	w.kind("cancel", w.as("sam").deleteCase(fmt.Sprint(b)+".json"), "")
	w.kind("delete the route", w.as("admin").deleteRoute("ask"), "")
	w.kind("the folder", try(w.Drops.Aliases(t.Context(), w.as("sam").by(), "ask")).err, errs.NotFound)
}

// TestDropEndsAtOnce: of a case that ends as it starts no file is left to be
// found, and the answer does not promise one.
func TestDropEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustDrop("auto", "a", "x")
	if out.Life != "completed" || out.ETag != "" {
		t.Errorf("%+v", out)
	}
	same(t, "the folder", sam.aliases("auto"), "")
	same(t, "its output", w.input(out.CaseID), mediatype.Unknown+": x")
}

func TestDropConditionsAndKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	key := withKey("k", "url", "once")
	out := sam.mustDrop("ask", "a", "once", ifNew(), key)
	w.kind("the key again", try(sam.drop("ask", "b", "once", nil, key)).err, errs.NameTaken)
	kept, err := w.Replay(t.Context(), sam.by(), *keyOf("k", "url", "once"))
	if err != nil || string(kept) != out.Name {
		t.Errorf("the answer is %q, %v; want %s", kept, err, out.Name)
	}
	w.kind("If-None-Match: *", try(sam.drop("ask", "A", "x", nil, ifNew())).err, errs.Precondition)
	w.kind("If-None-Match: * of ann", try(w.as("ann").drop("ask", "A", "x", nil, ifNew())).err, "")
	w.kind("If-Match of another", try(sam.drop("ask", "a", "x", nil, ifMatch(`"x"`))).err, errs.Precondition)
	w.kind("If-Match", try(sam.drop("ask", "a", "x", nil, ifMatch(out.ETag))).err, "")
	if n := len(w.cases()); n != 3 {
		t.Errorf("%d cases, want three", n)
	}
}

// TestConcurrentDrops: with If-None-Match one of many wins, without all do.
func TestConcurrentDrops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const many = 16
	var wg sync.WaitGroup
	failed := make([]error, 2*many)
	for i := range failed {
		wg.Go(func() {
			if i < many {
				_, failed[i] = sam.drop("ask", "one", "x", nil, ifNew())
			} else {
				_, failed[i] = sam.drop("ask", "many", "x", nil)
			}
		})
	}
	wg.Wait()
	won := 0
	for i, err := range failed {
		if err == nil {
			won++
		} else if i >= many || !errs.Is(err, errs.Precondition) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if won != many+1 || len(w.cases()) != many+1 {
		t.Errorf("%d succeeded and there are %d cases; want %d", won, len(w.cases()), many+1)
	}
}

// TestDropLimits: open cases, bytes, and a body that breaks off.
func TestDropLimits(t *testing.T) {
	t.Parallel()
	limited := func(w *world) {
		w.config = func(c *engine.Config) { c.Limits.OpenCases, c.Limits.Quota = 2, 20_000 }
	}
	w := newWorld(t, limited)
	sam := w.as("sam")
	large := strings.Repeat("0123456789", 1_000)
	broken := errors.New("the line is dead")
	body := io.MultiReader(strings.NewReader(large), iotest.ErrReader(broken))
	_, err := w.Drops.Drop(t.Context(), sam.request(nil), engine.Drop{Route: "ask", Name: "x"}, contents.Upload{Size: -1, Body: body})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
	one := sam.mustDrop("ask", "a", large).CaseID
	w.kind("too much, announced", try(w.Drops.Drop(t.Context(), sam.request(nil), engine.Drop{Route: "ask", Name: "x"},
		contents.Upload{Size: 10_001, Body: &unread{}})).err, errs.Full)
	w.kind("too much", try(sam.drop("ask", "x", large+"1", nil)).err, errs.Full)
	two := sam.mustDrop("ask", "b", large).CaseID
	w.kind("nothing more", try(sam.drop("ask", "x", "", nil)).err, errs.TooMany)
	w.kind("of somebody else", try(w.as("ann").drop("ask", "x", "", nil)).err, "")
	same(t, "input", w.input(one), w.input(two))
	w.collect()
	if files, spooled := w.files(); len(files) != 1 || spooled != 0 {
		t.Errorf("contents on disk: %v and %d without a name; want one", files, spooled)
	}
}

// TestDropMeanwhile: what a dropped file was decided on may go before its
// case is written.
func TestDropMeanwhile(t *testing.T) {
	t.Parallel()
	m := &meddler{}
	w := newWorld(t, overStore(func(s store.Store) store.Store { m.Store = s; return m }))
	sam := w.as("sam")
	for what, tt := range map[string]struct {
		route  string
		meddle func()
		want   errs.Kind
	}{
		"the route is deleted": {"auto", func() { w.kind("delete", w.as("admin").deleteRoute("auto"), "") }, errs.NotFound},
		"the route is no more for sam": {"ask", func() {
			w.as("admin").mustPutRoute("ask", strings.Replace(routeAsk, "start: [everyone]", "start: [ops], read: [sam]", 1))
		}, ""}, // which comes too late: the case was decided on before
		"sam leaves the team": {"own", func() { w.as("admin").mustPutParty(identity.Team, "core", `{"members": ["ann"]}`) }, errs.NotFound},
	} {
		m.meddle = tt.meddle
		_, err := sam.drop(tt.route, what, "x", nil)
		w.kind(what, err, tt.want)
	}
}
