package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// every is a document of an entry that comes every two minutes.
const every = `{"type": "interval", "minutes": 2, "route": "auto"}`

// far is a document of an entry that is not due for long.
const far = `{"type": "simple", "date": "2099-01-01", "route": "auto"}`

func TestEntryByGivenNameAndIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	source := `{"type": "interval", "minutes": 2,   "route": "auto"}`
	out := sam.mustPutEntry("nightly.json", source)
	identity := out.Name + ".json"
	if !out.Created || len(out.Name) != 32 || out.ETag == "" || out.FormETag == "" || out.ETag == out.FormETag {
		t.Errorf("created: %+v", out)
	}
	byName, byID := sam.entryResource("nightly.json"), sam.entryResource(identity)
	same(t, "source", string(byName.Source), source)
	same(t, "size", byName.SourceSize, int64(len(source)))
	same(t, "the ETag of the PUT", out.ETag, byName.SourceETag)
	same(t, "the form under both names", string(byName.Form), string(byID.Form))
	same(t, "given", byID.Given+" of "+string(byID.Author), "nightly.json of sam")
	sam.entry(identity).wants("route", `"auto"`, "context", `"sam"`, "nextIteration", `"2012-11-09T12:36:56"`,
		"iterationsPerformed", "0", "iterationsRemaining", "-1")

	// Case does not count in names, and a replaced entry keeps the first.
	if again := sam.mustPutEntry("NIGHTLY.json", every); again.Created || again.Name != out.Name {
		t.Errorf("the same name in capitals: %+v", again)
	}
	same(t, "the name", sam.entryResource(identity).Given, "nightly.json")

	// A PUT to the identity stores its bytes under the name.
	other := `{"type": "interval", "minutes": 3, "route": "auto"}`
	if byID := sam.mustPutEntry(identity, other); byID.Created || byID.ETag != "" {
		t.Errorf("PUT to the identity: %+v; its GET gives other bytes", byID)
	}
	same(t, "source", string(sam.entryResource("nightly.json").Source), other)

	// GET-edit-PUT of the complete form; its own bytes come back.
	form := sam.entry(identity).text
	edited := strings.Replace(form, `"note": ""`, `"note": "by hand"`, 1)
	sam.mustPutEntry(identity, edited)
	sam.entry("nightly.json").wants("note", `"by hand"`, "interval", "180")

	if err := sam.deleteEntry("nightly.json"); err != nil {
		t.Fatal(err)
	}
	w.refused(try(sam.Schedules.Entry(t.Context(), sam.by(), sam.ref(identity))).err, errs.NotFound)
	w.refused(try(sam.Schedules.Entry(t.Context(), sam.by(), sam.ref("nightly.json"))).err, errs.NotFound)
	w.refused(sam.deleteEntry("nightly.json"), errs.NotFound)
	if again := sam.mustPutEntry("nightly.json", every); !again.Created || again.Name != out.Name {
		t.Errorf("the name of an entry that was just deleted: %+v", again)
	}
}

// A name that is not kept makes another entry each time; one in the form of
// an identity never makes one.
func TestEntryWithoutName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	one, two := sam.mustPutEntry("", every), sam.mustPutEntry("", every)
	if one.Name == two.Name || !two.Created || two.ETag != "" {
		t.Errorf("two PUTs without name: %+v, %+v", one, two)
	}
	same(t, "given", sam.entryResource(one.Name+".json").Given, "")
	unknown := strings.Repeat("ab", 16) + ".json"
	_, err := sam.putEntry(unknown, every)
	w.refused(err, errs.NotFound)

	// The bytes of the complete form itself come back under the identity.
	form := sam.entry(one.Name + ".json").text
	if out := sam.mustPutEntry(one.Name+".json", form); out.ETag != "" && string(out.Form) != form {
		t.Errorf("an ETag for other bytes: %+v", out)
	}
}

func TestEntryInYAML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	source := "# Every night\ntype: cron\nroute: auto\nhour: 23\nminute: 0\n"
	sam.mustPutEntry("nightly.yaml", source)
	res := sam.entryResource("nightly.yaml")
	same(t, "source", string(res.Source), source)
	sam.entry("nightly.yaml").wants("type", `"cron"`, "hour", `"23"`)
	_, err := sam.putEntry("other.json", source)
	w.refused(err, errs.NotParseable)
}

func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann, bob := w.as("sam"), w.as("ann"), w.as("bob")
	shared := `{"type": "interval", "minutes": 2, "route": "auto", "context": "core"}`
	out := sam.mustPutEntry("shared.json", shared)

	// Equal names of two authors are two entries.
	if own := ann.mustPutEntry("shared.json", every); !own.Created || own.Name == out.Name {
		t.Errorf("ann's own: %+v", own)
	}
	// Who sees it uses it under its author's name, and the name stays his.
	if changed := ann.mustPutEntry("shared@sam.json", strings.Replace(shared, "2", "3", 1)); changed.Created || changed.Name != out.Name {
		t.Errorf("ann's change of sam's: %+v", changed)
	}
	same(t, "the author", string(sam.entryResource("shared.json").Author), "sam")
	sam.entry("shared.json").wants("interval", "180", "context", `"core"`)

	// Nobody makes anything under the name of another, seen or not.
	for _, name := range []string{"new@sam.json", "shared@sam.json", "new@eve.json"} {
		_, err := bob.putEntry(name, every)
		w.refused(err, errs.NotFound)
	}
	if err := ann.deleteEntry("shared@sam.json"); err != nil {
		t.Error(err)
	}
	w.refused(try(sam.Schedules.Entry(t.Context(), sam.by(), sam.ref("shared.json"))).err, errs.NotFound)
}

// The name of an entry that its author no longer sees is neither found nor
// free.
func TestHiddenName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	out := sam.mustPutEntry("nightly.json", `{"type": "interval", "minutes": 2, "route": "auto", "context": "core"}`)
	admin.mustPutParty(identity.Team, "core", `{"members": ["ann"]}`)

	w.refused(try(sam.Schedules.Entry(t.Context(), sam.by(), sam.ref("nightly.json"))).err, errs.NotFound)
	w.refused(sam.deleteEntry("nightly.json"), errs.NotFound)
	_, err := sam.putEntry("nightly.json", every)
	w.refused(err, errs.NameTaken)
	_, err = sam.putEntry("nightly.json", `{"type": "interval"}`)
	w.refused(err, errs.Invalid) // faults come first
	same(t, "what sam sees", names(sam.Schedules.Entries(t.Context(), sam.by(), engine.Filter{})), "")
	w.as("ann").entry(out.Name+".json").wants("context", `"core"`)
	w.as("ann").mustPutEntry("nightly@sam.json", `{"type": "interval", "minutes": 5, "route": "auto", "context": "core"}`)
}

func TestEntryContexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := func(context string) string {
		return `{"type": "interval", "minutes": 2, "route": "auto", ` + context + `}`
	}
	id := func(name string) string { return fmt.Sprint(w.Accounts.PartyID(name)) }
	for _, test := range []struct {
		who, context string
		want         string // the context, or the kind of the refusal
	}{
		{"sam", `"context": null`, "sam"},
		{"sam", `"context": "SAM"`, "sam"},
		{"sam", `"contextId": ` + id("core"), "core"},
		{"sam", `"contextId": "` + id("core") + `"`, "core"},
		{"sam", `"context": "staff"`, "staff"}, // through core
		{"sam", `"contextId": ` + id("core") + `, "context": "core"`, "core"},
		{"sam", `"contextId": ` + id("core") + `, "context": "sam"`, "invalid"},
		{"bob", `"context": "core"`, "context-not-available"},
		{"bob", `"context": "nothere"`, "context-not-available"},
		{"bob", `"contextId": ` + id("core"), "context-not-available"},
		{"bob", `"contextId": 987654`, "context-not-available"},
		{"admin", `"context": "core"`, "context-not-available"},
		{"sam", `"context": "everyone"`, "context-not-available"},
		{"admin", `"context": "everyone"`, "everyone"},
		// Neither does a pair tell whether the other one exists.
		{"bob", `"contextId": ` + id("core") + `, "context": "core"`, "context-not-available"},
		{"bob", `"contextId": ` + id("core") + `, "context": "nothere"`, "context-not-available"},
		{"bob", `"contextId": 987654, "context": "core"`, "context-not-available"},
		{"bob", `"contextId": 987654, "context": "bob"`, "invalid"},
		{"bob", `"contextId": ` + id("core") + `, "context": "bob"`, "invalid"},
	} {
		out, err := w.as(test.who).putEntry("", doc(test.context))
		got := string(errs.KindOf(err))
		if err == nil {
			got = unquote(w.form(out.Form).get("context"))
		}
		if got != test.want {
			t.Errorf("%s with %s: %s; want %s", test.who, test.context, got, test.want)
		}
	}
	// What is refused is told in the same words whether or not it exists.
	_, one := w.as("bob").putEntry("", doc(`"context": "core"`))
	_, two := w.as("bob").putEntry("", doc(`"context": "nothere"`))
	same(t, "the words", one.Error(), two.Error())
	// Faults come before the context.
	_, err := w.as("bob").putEntry("", `{"type": "interval", "route": "auto", "context": "core"}`)
	w.refused(err, errs.Invalid, "/minutes required")
	same(t, "entries stored", len(w.entries()), 7)
}

// An administrator changes what others own and leaves it theirs.
func TestEntryKeepsItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.as("sam").mustPutEntry("mine.json", every)
	admin := w.as("admin")
	form := admin.entry(out.Name + ".json").text
	admin.mustPutEntry(out.Name+".json", strings.Replace(form, `"priority": 200`, `"priority": 9`, 1))
	w.as("sam").entry("mine.json").wants("priority", "9", "context", `"sam"`)
	// What is everyone's is changed by its author and administrators alone.
	out = admin.mustPutEntry("all.json", `{"type": "interval", "minutes": 2, "route": "auto", "context": "everyone"}`)
	eve := w.as("eve")
	eve.entry("all@admin.json").wants("context", `"everyone"`)
	_, err := eve.putEntry(out.Name+".json", every)
	w.refused(err, errs.NotAllowed)
	w.refused(eve.deleteEntry(out.Name+".json"), errs.NotAllowed)
}

func TestEntryRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bob, ann := w.as("bob"), w.as("ann")
	w.as("admin").mustPutRoute("shown", "access: {start: [ann], read: [everyone]}"+routeAuto[len("\ntitle: Automatic\naccess: {start: [everyone]}"):])
	auto, own, shown := w.as("admin").routeID("auto"), w.as("admin").routeID("own"), w.as("admin").routeID("shown")
	doc := func(route string) string { return `{"type": "interval", "minutes": 2, ` + route + `}` }

	// Absent, invisible and not permitted, at the key that was given.
	words := map[string]bool{}
	for _, route := range []string{"nothere", "own", "shown"} {
		_, err := bob.putEntry("", doc(`"route": "`+route+`"`))
		w.refused(err, errs.Invalid, "/route not-found")
		words[strings.ReplaceAll(err.Error(), route, "X")] = true
	}
	for _, id := range []string{"987654", own, shown} {
		_, err := bob.putEntry("", doc(`"routeId": `+id))
		w.refused(err, errs.Invalid, "/routeId not-found")
		words[strings.ReplaceAll(strings.ReplaceAll(err.Error(), id, "X"), "routeId", "route")] = true
	}
	same(t, "sentences", len(words), 2)

	// The context must be permitted, not only whoever asks.
	ann.mustPutEntry("", doc(`"route": "shown"`))
	_, err := ann.putEntry("", doc(`"route": "shown", "context": "core"`))
	w.refused(err, errs.Invalid, "/route not-found")

	// Both, alike and different.
	out := bob.mustPutEntry("", doc(`"route": "AUTO", "routeId": `+auto))
	w.form(out.Form).wants("route", `"auto"`, "routeId", auto)
	_, err = bob.putEntry("", doc(`"route": "ask", "routeId": `+auto))
	w.refused(err, errs.Invalid, "/route conflict")
	_, err = bob.putEntry("", doc(`"route": ""`))
	w.refused(err, errs.Invalid)
	_, err = bob.putEntry("", doc(`"title": "x"`))
	w.refused(err, errs.Invalid, "/routeId required")
}

func TestEntryFaultsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("nightly.json", every)
	before := sam.entryResource("nightly.json")
	wrong := `{"type": "interval", "minuts": 2, "minutes": "x", "route": "nothere", "priority": 70000, "repeat": 0, "attachmentUUID": 5}`
	faults := []string{
		"/minuts unknown-field", "/priority range", "/attachmentUUID type", "/minutes type", "/repeat range", "/route not-found",
	}
	for _, name := range []string{"nightly.json", out.Name + ".json", "another.json", ""} {
		_, err := sam.putEntry(name, wrong)
		w.refused(err, errs.Invalid, faults...)
	}
	after := sam.entryResource("nightly.json")
	same(t, "what is stored", string(after.Form)+string(after.Source)+after.FormETag, string(before.Form)+string(before.Source)+before.FormETag)
	same(t, "entries", len(w.entries()), 1)
	for _, broken := range []string{"{", `[]`, `"x"`, `{"type": "interval"} x`, "\xff"} {
		_, err := sam.putEntry("broken.json", broken)
		if kind := errs.KindOf(err); kind != errs.NotParseable && kind != errs.Invalid {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

func TestEntryLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.config = func(c *engine.Config) { c.Limits.Entries = 2 } })
	sam := w.as("sam")
	sam.mustPutEntry("one.json", every)
	sam.mustPutEntry("two.json", every)
	_, err := sam.putEntry("three.json", every)
	w.refused(err, errs.TooMany)
	sam.mustPutEntry("two.json", every) // a change is none more
	w.as("ann").mustPutEntry("three.json", every)
	if err := sam.deleteEntry("one.json"); err != nil {
		t.Fatal(err)
	}
	sam.mustPutEntry("three.json", `{"type": "interval", "seconds": 1, "repeat": 1, "route": "auto"}`)
	_, err = sam.putEntry("four.json", every)
	w.refused(err, errs.TooMany)
	w.advanceTo("2012-11-09T12:34:57Z") // three.json deletes itself
	sam.mustPutEntry("four.json", every)
	w.reopen()
	_, err = w.as("sam").putEntry("five.json", every)
	w.refused(err, errs.TooMany)
}

func TestEntryConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	_, err := sam.putEntry("nightly.json", every, ifMatch(`"x"`))
	w.refused(err, errs.Precondition)
	_, err = sam.putEntry("nightly.json", `{`, ifMatch(`"x"`))
	w.refused(err, errs.Precondition) // before the body is parsed
	out := sam.mustPutEntry("nightly.json", every, ifNew())
	_, err = sam.putEntry("nightly.json", every, ifNew())
	w.refused(err, errs.Precondition)
	w.refused(sam.deleteEntry("nightly.json", ifMatch(`"x"`)), errs.Precondition)

	// A firing counts; it does not change what the entry is.
	w.advanceTo("2012-11-09T12:36:56Z")
	fired := sam.entryResource(out.Name + ".json")
	if fired.FormETag == out.FormETag {
		t.Error("a firing leaves the ETag of the form as it was")
	}
	sam.mustPutEntry(out.Name+".json", every, ifMatch(out.FormETag))
	_, err = sam.putEntry(out.Name+".json", every, ifMatch(out.FormETag))
	w.refused(err, errs.Precondition) // a PUT does
	byName := sam.entryResource("nightly.json")
	sam.mustPutEntry("nightly.json", every, ifMatch(byName.SourceETag))
	if err := sam.deleteEntry("nightly.json", ifMatch(byName.SourceETag)); err != nil {
		t.Error(err) // the same bytes again
	}
	same(t, "performed", len(w.cases()), 1)
}

// A replaced entry keeps its identity, counters and history.
func TestEntryReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("nightly.json", every)
	w.advanceTo("2012-11-09T12:38:56Z")
	again := sam.mustPutEntry("nightly.json", `{"type": "cron", "hour": 5, "minute": 0, "route": "auto"}`)
	same(t, "identity", again.Name, out.Name)
	sam.entry("nightly.json").wants("type", `"cron"`, "iterationsPerformed", "2", "nextIteration", `"2012-11-10T05:00:00"`, "priority", "200")
	same(t, "history", sam.occurrences(out.Name), []string{"fired 2012-11-09T12:38:56Z", "fired 2012-11-09T12:36:56Z"})
	_, err := sam.putEntry("nightly.json", `{"type": "cron", "hour": 5, "repeat": 2, "route": "auto"}`)
	w.refused(err, errs.Invalid, "/repeat range")
	_, err = sam.putEntry("nightly.json", `{"type": "cron", "hour": 5, "route": "auto", "UUID": "`+strings.Repeat("ab", 16)+`"}`)
	w.refused(err, errs.Invalid, "/UUID read-only")
}

// PUTs of one name at once are serialised: one creates, the others replace,
// and none is refused but by its own condition.
func TestConcurrentPutsOfOneName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const writers = 32
	outs, errors := make([]*engine.Outcome, writers), make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			var options []option
			if i%4 == 0 {
				options = append(options, ifNew())
			}
			doc := fmt.Sprintf(`{"type": "interval", "minutes": %d, "route": "auto"}`, i+1)
			outs[i], errors[i] = sam.putEntry("nightly.json", doc, options...)
		})
	}
	wg.Wait()
	created := 0
	for i := range writers {
		switch {
		case errors[i] == nil && outs[i].Created:
			created++
		case errors[i] == nil && i%4 == 0:
			t.Errorf("writer %d replaced what it wanted to create", i)
		case errors[i] != nil && (i%4 != 0 || !errs.Is(errors[i], errs.Precondition)):
			t.Errorf("writer %d: %v", i, errors[i])
		}
	}
	same(t, "created", created, 1)
	same(t, "entries", len(w.entries()), 1)
	res := sam.entryResource("nightly.json")
	minutes := w.form(res.Source).get("minutes")
	w.form(res.Form).wants("minutes", minutes) // source and form are of one PUT
}

func TestEntryListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	put := func(who, name, more string) string {
		return w.as(who).mustPutEntry(name, `{"type": "interval", "minutes": 2, "route": "auto"`+more+`}`).Name
	}
	one := put("sam", "one.json", `, "note": "Invoices"`)
	two := put("ann", "two.json", `, "context": "core", "title": "the INVOICES of core"`)
	put("bob", "three.json", "")
	four := sam.mustPutEntry("", `{"type": "crontab", "spec": "@daily", "route": "ask"}`).Name
	w.as("ann").mustPutEntry("two.json", `{"do": "pause"}`)
	for _, test := range []struct {
		who    string
		filter engine.Filter
		want   []string
	}{
		{"sam", engine.Filter{}, []string{one, two, four}},
		{"sam", engine.Filter{Query: "invoices"}, []string{one, two}},
		{"sam", engine.Filter{Route: "ask"}, []string{four}},
		{"sam", engine.Filter{Route: "nothere"}, nil},
		{"sam", engine.Filter{Type: "interval"}, []string{one, two}},
		{"sam", engine.Filter{Context: "core"}, []string{two}},
		{"sam", engine.Filter{Paused: "true"}, []string{two}},
		{"sam", engine.Filter{Paused: "false"}, []string{one, four}},
		{"sam", engine.Filter{Context: fmt.Sprint(w.Accounts.PartyID("core"))}, []string{two}},
		{"sam", engine.Filter{Context: "mine"}, []string{one, two, four}},
		{"sam", engine.Filter{Context: "bob"}, nil},
		{"sam", engine.Filter{Context: "nothere"}, nil},
		{"eve", engine.Filter{}, nil},
		{"admin", engine.Filter{OwnOnly: true}, nil},
		{"admin", engine.Filter{Context: "mine"}, nil},
		{"admin", engine.Filter{Context: "core"}, []string{two}},
		{"admin", engine.Filter{Route: "own"}, nil},
	} {
		by := w.as(test.who)
		got := names(w.Schedules.Entries(t.Context(), by.by(), test.filter))
		if want := strings.Join(test.want, " "); got != want {
			t.Errorf("%s with %+v: %q; want %q", test.who, test.filter, got, want)
		}
	}
	all := try(w.Schedules.Entries(t.Context(), admin.by(), engine.Filter{})).must(w, "listing")
	same(t, "all", len(all), 4)
	same(t, "given", all[0].Given+" of "+string(all[0].Author), "one.json of sam")
	if all[0].Own || all[0].SourceSize == 0 {
		t.Errorf("sam's, as the administrator sees it: %+v", all[0])
	}
	// Pages, also where a filter lets few pass.
	var paged []string
	for after := int64(0); ; {
		page := try(w.Schedules.Entries(t.Context(), sam.by(), engine.Filter{Limit: 1, After: after, Query: "invoices"})).must(w, "a page")
		if len(page) == 0 {
			break
		}
		paged, after = append(paged, page[0].Name), page[0].Seq
	}
	same(t, "page by page", paged, []string{one, two})
}

func TestOccurrencesAreVisibleWithTheirEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := sam.mustPutEntry("once.json", `{"type": "interval", "minutes": 2, "repeat": 1, "route": "auto"}`)
	uuid := sam.ref(out.Name + ".json").Entry
	for range 2 { // before and after the entry has ended
		for who, sees := range map[string]bool{"sam": true, "admin": true, "bob": false, "ann": false} {
			_, err := w.Schedules.Occurrences(t.Context(), w.as(who).by(), uuid)
			if sees != (err == nil) {
				t.Errorf("%s: %v", who, err)
			}
		}
		w.advanceTo("2012-11-09T12:36:56Z")
	}
	res := try(w.Schedules.Occurrences(t.Context(), sam.by(), uuid)).must(w, "occurrences")
	form := w.form(res.Form)
	form.wants("0/instant", `"2012-11-09T12:36:56Z"`, "0/outcome", `"fired"`, "0/reason", "null", "0/lagSeconds", "0",
		"0/firedAt", `"2012-11-09T12:36:56Z"`, "0/case", w.cases()[0].get("id"), "1", "absent")
}
