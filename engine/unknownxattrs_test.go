package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/label"
)

// TestUnknownXattrs repeats a start, an edit, a task, a dropped file and a schedule entry
// with a mistyped XATTR, which were taken without a word.
func TestUnknownXattrs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutRoute("buy", `
access: {start: [everyone]}
roles: {owner: {assign: [starter, "xattr:deputy"]}}
xattrs: {amount: {type: number, default: 1}, colour: {}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [open], role: owner, form: {properties: {question: {type: string}}}, onFire: [{if: 'has(xattr.urgent) || xattr["Rush"] == 1 || "late" in xattr', set: {found: true}}]}
  end: {in: [open], role: owner, to: done, onFire: [{log: "$__XATTR_extra__;"}]}
`)
	const of, kept = `The route "buy" neither declares nor uses an XATTR `, " The case has it all the same"
	amuont := of + `"amuont"; did you mean "amount"?` + kept
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Errorf("%s: told\n%s\nwant\n%s", what, g, w)
		}
	}

	out := sam.mustPutCase("a.json", `{"route": "buy", "xattrDict": {"amuont": 3, "Amount": 4, "urgent": true, "rush": 1, "late": 1, "deputy": "lou", "extra": 1, "found": false, "question": "why"}}`)
	check("a start", out.Warnings, amuont)
	log := sam.logTexts(out.CaseID)
	if !strings.Contains(strings.Join(log, "\n"), "warning: The route") {
		t.Errorf("log %q", log)
	}
	name := fmt.Sprint(out.CaseID)
	check("an edit", sam.mustPutCase(name+".json", `{"xattrDict": {"colur": "red", "amuont": 5}}`).Warnings, of+`"colur"; did you mean "colour"?`+kept)
	check("an edit of what is there", sam.mustPutCase(name+".json", `{"xattrDict": {"colur": "blue"}}`).Warnings)
	done, err := sam.Cases.Perform(t.Context(), sam.request(nil), out.CaseID, "ask", []byte(`{"xattrDict": {"qestion": "why", "wholly": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	check("a task", done.Warnings, of+`"qestion"; did you mean "question"?`+kept, of+`"wholly".`+kept)

	dropped, err := sam.Drops.Drop(t.Context(), sam.request(nil), engine.Drop{Route: "buy", Name: "in.txt", Xattrs: label.Dict{{Key: "amuont", Value: label.Text("3")}, {Key: "xattr.colour", Value: label.Text("red")}}}, contents.Upload{Body: strings.NewReader("x"), Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	check("a dropped file", dropped.Warnings, amuont, of+`"xattr.colour"; did you mean "colour"?`+kept)

	entry := sam.mustPutEntry("soon.json", `{"type": "interval", "minutes": 2, "route": "buy", "xattrDict": {"Amuont": 3, "colour": "red"}}`)
	check("an entry", entry.Warnings, "May be mistyped: "+amuont)
	sam.mustPutEntry(entry.Name+".json", `{"do": "pause"}`)
	if got := w.form(sam.mustPutEntry(entry.Name+".json", `{"do": "resume"}`).Form).get("warnings"); !strings.Contains(got, "amuont") {
		t.Errorf("later the form warns of %s", got)
	}
	check("an entry that is mended", sam.mustPutEntry("soon.json", `{"type": "interval", "minutes": 2, "route": "buy", "xattrDict": {"amount": 3}}`).Warnings)

	var many []string
	for i := range 25 {
		many = append(many, fmt.Sprintf(`"n%02d": 1`, i))
	}
	told := sam.mustPutCase("b.json", `{"route": "buy", "xattrDict": {`+strings.Join(many, ", ")+`}}`).Warnings
	if len(told) != 21 || told[20] != "5 further XATTRs are not declared either" {
		t.Errorf("of 25 unknown ones %d sentences are told: %q", len(told), told)
	}

	sam.mustPutRoute("any", "access: {start: [everyone]}\n"+plainStates)
	check("a route that takes any", sam.mustPutCase("c.json", `{"route": "any", "xattrDict": {"amuont": 3}}`).Warnings)
}

// TestEntryWarningsFollowTheRoute: an entry was warned of an XATTR, and of one that it lacks,
// when its route had declared the one and asked for the other no longer.
func TestEntryWarningsFollowTheRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	put := func(xattrs string) {
		sam.mustPutRoute("buy", "access: {start: [everyone]}\nxattrs: {"+xattrs+"}\n"+plainStates)
	}
	const mistyped = `May be mistyped: The route "buy" neither declares nor uses an XATTR "amuont"; did you mean "amount"? The case has it all the same`
	const lacks = `No case of this entry can start: xattrDict lacks what the route "buy" needs: amount`
	put("amount: {type: number, required: true}")
	out := sam.mustPutEntry("soon.json", `{"type": "interval", "minutes": 2, "route": "buy", "xattrDict": {"amuont": 3}}`)
	file := out.Name + ".json"
	check := func(what string, wants ...string) *engine.Resource {
		t.Helper()
		res := sam.entryResource(file)
		views := try(sam.Schedules.EntryViews(t.Context(), sam.by(), engine.EntryQuery{Limit: 9})).must(w, "the page")
		listed := try(sam.Schedules.Entries(t.Context(), sam.by(), engine.Filter{})).must(w, "the list")
		want := strings.Join(wants, "\n")
		if got := strings.Join(views.Entries[0].Warnings(), "\n"); got != want {
			t.Errorf("%s: the page warns of\n%s\nwant\n%s", what, got, want)
		}
		if string(listed[0].Form) != string(res.Form) || listed[0].FormETag != res.FormETag {
			t.Errorf("%s: the list has %s %s, GET %s %s", what, listed[0].FormETag, listed[0].Form, res.FormETag, res.Form)
		}
		for _, text := range []string{mistyped, lacks} {
			shown := strings.Contains(string(res.Form), strings.ReplaceAll(text, `"`, `\"`))
			said := strings.Contains(string(try(sam.Status.Entry(t.Context(), sam.by(), []engine.Ref{sam.ref(file)})).must(w, "the status").Text), text)
			if want := strings.Contains(want, text); shown != want || said != want {
				t.Errorf("%s: %q is in the form: %v, in the status: %v; want %v", what, text, shown, said, want)
			}
		}
		return res
	}
	first := check("as it was stored", mistyped, lacks)
	put("amount: {type: number, required: true}, other: {}")
	if again := check("a route that says the same of it", mistyped, lacks); again.FormETag != first.FormETag {
		t.Errorf("the ETag was %s and is %s, of the same form", first.FormETag, again.FormETag)
	}
	put("amount: {type: number}")
	optional := check("a route that does not ask for it", mistyped)
	put("amount: {type: number}, amuont: {}")
	known := check("a route that declares it")
	same(t, "three forms have three ETags", first.FormETag != optional.FormETag && optional.FormETag != known.FormETag && known.FormETag != first.FormETag, true)
	told := sam.mustPutEntry(file, `{"do": "pause"}`, ifMatch(known.FormETag))
	paused := check("a command")
	same(t, "the answer to a command", string(told.Form)+told.FormETag, string(paused.Form)+paused.FormETag)
	put("amount: {type: number}")
	check("a route that has dropped it again", mistyped)
	put("amount: {type: number}, amuont: {}")
	sam.mustPutEntry(file, string(sam.entryResource(file).Form), ifMatch(sam.entryResource(file).FormETag))
	check("saved as it is shown")
}
