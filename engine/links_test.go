package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// TestLinks: a case is related to another one that its starter may see; the other
// shows it to those who may see the first (docs/contract/drive.md#relations).
func TestLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("run", routeRun())
	sam, bob := w.as("sam"), w.as("bob")
	first := sam.startCase(`{"route": "run", "title": "first"}`)
	mine := sam.startCase(fmt.Sprintf(`{"route": "run", "links": {"follows": %d, "none": null}}`, first))
	sam.caseForm(mine).wants("links", fmt.Sprintf(`{"follows":%d}`, first), "linkedFrom", `{}`)
	sam.caseForm(first).wants("links", `{}`, "linkedFrom", fmt.Sprintf(`{"follows":[%d]}`, mine))

	name := fmt.Sprint(mine) + ".json"
	sam.mustPutCase(name, fmt.Sprintf(`{"links": {"duplicateOf": "%d"}}`, first))
	sam.caseForm(mine).wants("links", fmt.Sprintf(`{"duplicateOf":%d,"follows":%d}`, first, first))
	sam.caseForm(first).wants("linkedFrom", fmt.Sprintf(`{"duplicateOf":[%d],"follows":[%d]}`, mine, mine))
	sam.mustPutCase(name, `{"links": {"follows": null, "absent": null}}`)
	log := strings.Join(sam.logTexts(mine), "\n")
	for _, line := range []string{
		fmt.Sprintf("life: Set the relation follows to case %d", first),
		fmt.Sprintf("life: Set the relation duplicateOf to case %d", first), fmt.Sprintf("life: Removed the relation follows to case %d", first),
	} {
		if !strings.Contains(log, line) {
			t.Errorf("the log lacks %q:\n%s", line, log)
		}
	}

	// A form that is saved again, by anyone who may change the case, is right.
	form := sam.caseForm(mine).text
	if out := try(bob.putCase(name, form)).must(w, "the form"); out.Changed {
		t.Error("the form, saved again, changed the case")
	}

	for _, test := range []struct{ links, fault string }{
		{fmt.Sprintf(`{"duplicateOf": %d}`, mine), "/links/duplicateOf conflict"},
		{`{"duplicateOf": 99999}`, "/links/duplicateOf not-found"},
		{`{"duplicateOf": -1}`, "/links/duplicateOf range"},
		{`{"duplicateOf": "x"}`, "/links/duplicateOf type"},
		{`{"duplicate of": 1}`, "/links/duplicate of format"},
		{`{"1st": 1}`, "/links/1st format"},
		{`{"": 1}`, "/links/ format"},
		{`[]`, "/links type"},
	} {
		_, err := sam.putCase(name, `{"links": `+test.links+`}`)
		w.refused(err, errs.Invalid, test.fault)
	}
	_, err := sam.putCase("new.json", `{"route": "run", "links": {"a": 99999}}`)
	w.refused(err, errs.Invalid, "/links/a not-found")

	// A case that the caller may not see is as one that is not there.
	hidden := w.as("ann").startCase(`{"route": "own"}`)
	_, err = bob.putCase(name, fmt.Sprintf(`{"links": {"duplicateOf": %d}}`, hidden))
	w.refused(err, errs.Invalid, "/links/duplicateOf not-found")
	w.as("ann").mustPutCase(fmt.Sprint(hidden)+".json", fmt.Sprintf(`{"links": {"blocks": %d}}`, mine))
	w.as("ann").caseForm(mine).wants("linkedFrom", fmt.Sprintf(`{"blocks":[%d]}`, hidden))
	bob.caseForm(mine).wants("linkedFrom", `{}`)
	if ann, bobs := w.as("ann").caseResource(name).FormETag, bob.caseResource(name).FormETag; ann == bobs {
		t.Errorf("both see the ETag %s", ann)
	}

	_, err = w.as("ann").putCase(fmt.Sprint(first)+".json", fmt.Sprintf(`{"links": {"a": %d}}`, hidden))
	w.refused(err, errs.NotAllowed)

	sam.mustPutCase(name, `{"links": null}`)
	sam.caseForm(mine).wants("links", `{}`)
	sam.caseForm(first).wants("linkedFrom", `{}`)
}

// A case that is deleted for good is not shown any more; a relation to it stays.
func TestLinksOfDeletedCases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	kept := sam.startCase(`{"route": "ask"}`)
	gone := sam.startCase(fmt.Sprintf(`{"route": "ask", "links": {"follows": %d}}`, kept))
	admin.mustPutCase(fmt.Sprint(kept)+".json", fmt.Sprintf(`{"links": {"before": %d}}`, gone))
	sam.mustDeleteCase(gone)
	sam.caseForm(kept).wants("linkedFrom", fmt.Sprintf(`{"follows":[%d]}`, gone)) // canceled
	w.update(func(tx store.Tx) error { return tx.Write().Cases().Delete(gone, store.UUID{}, w.clock.Now()) })
	sam.caseForm(kept).wants("linkedFrom", `{}`, "links", fmt.Sprintf(`{"before":%d}`, gone))
	sam.mustPutCase(fmt.Sprint(kept)+".json", sam.caseForm(kept).text)
}

// Expressions of routes see the relations of a case.
func TestLinksInExpressions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("dup", `{"states": {"open": {"type": "start"}, "double": {"type": "complete"}}, "roles": {"r": {"assign": ["starter"]}},
		"actions": {"i": {"trigger": "init"}, "close": {"in": ["open"], "trigger": "auto", "enableIf": "has(links.duplicateOf) && links.duplicateOf != case.id", "to": "double"}},
		"access": {"start": ["everyone"]}}`)
	sam := w.as("sam")
	first := sam.startCase(`{"route": "dup"}`)
	second := sam.startCase(`{"route": "dup"}`)
	sam.caseForm(second).wants("status", `"open"`)
	sam.mustPutCase(fmt.Sprint(second)+".json", fmt.Sprintf(`{"links": {"duplicateOf": %d}}`, first))
	sam.caseForm(second).wants("status", `"double"`)
	w.reopen()
	w.as("sam").caseForm(first).wants("linkedFrom", fmt.Sprintf(`{"duplicateOf":[%d]}`, second))
}
