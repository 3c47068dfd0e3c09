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
