package engine_test

import (
	"strings"
	"testing"
)

// TestEntryThatCannotStart: an entry that lacks what its route requires is warned of when it is
// stored, and as long as no case of it has started.
func TestEntryThatCannotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutRoute("purchase", "access: {start: [everyone]}\nxattrs: {amount: {type: number, required: true}, supplier: {required: true}, currency: {required: true, default: EUR}}\n"+plainStates)
	const doc = `{"type": "interval", "minutes": 2, "route": "purchase", "xattrDict": {DICT}}`
	const want = `No case of this entry can start: xattrDict lacks what the route "purchase" needs: amount, supplier`
	out := sam.mustPutEntry("soon.json", strings.Replace(doc, "DICT", "", 1))
	if got := strings.Join(out.Warnings, "; "); got != want {
		t.Errorf("the answer warns of %q", got)
	}
	if got := w.form(out.Form).get("warnings"); !strings.Contains(got, "amount, supplier") {
		t.Errorf("the form warns of %s", got)
	}
	if says := try(sam.statusEntry("soon.json")).must(w, "the status"); !strings.Contains(says, "which fails as long as the entry is as the warning says") || strings.Contains(says, "It starts a case") {
		t.Errorf("the status file says %s", says)
	}
	sam.mustPutEntry(out.Name+".json", `{"do": "pause"}`)
	if got := w.form(sam.mustPutEntry(out.Name+".json", `{"do": "resume"}`).Form).get("warnings"); !strings.Contains(got, "amount, supplier") {
		t.Errorf("later the form warns of %s", got)
	}
	out = sam.mustPutEntry("soon.json", strings.Replace(doc, "DICT", `"Amount": 5, "supplier": "Sit"`, 1))
	if len(out.Warnings) > 0 {
		t.Errorf("with all that is needed: %q", out.Warnings)
	}
	for amount, want := range map[string]string{`"lots"`: `/xattrDict/amount must be a number, not a string`, `true`: `/xattrDict/amount must be a number`, `"5"`: "", `"$__XATTR_supplier__;"`: ""} {
		out = sam.mustPutEntry("soon.json", strings.Replace(doc, "DICT", `"amount": `+amount+`, "supplier": "Sit"`, 1))
		if got := strings.Join(out.Warnings, "; "); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("an amount of %s: %q", amount, got)
		}
	}
}

// TestRoleThatIsAllowedAndEmpty: a task is nobody's also if its role may perform it by allowed.
func TestRoleThatIsAllowedAndEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const doc = "access: {start: [everyone]}\nroles: {clerk: {pick: [everyone]}}\nstates: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, finish: {in: [a], to: b, role: clerk, allowed: [ALLOWED]}}\n"
	for allowed, warns := range map[string]bool{"clerk": true, "everyone": false, "readers": false, "user:ann": false} {
		sam.mustPutRoute("empty", strings.Replace(doc, "ALLOWED", `"`+allowed+`"`, 1))
		got := sam.caseForm(sam.startCase(`{"route": "empty"}`)).get("warnings")
		if strings.Contains(got, "Nobody can do it: ") != warns {
			t.Errorf("allowed: %s: the case warns of %s", allowed, got)
		}
	}
}

// TestUnknownTeamOfRole: the warning of a team that there is not says what becomes of open cases.
func TestUnknownTeamOfRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.as("sam").mustPutRoute("typo", "roles: {clerk: {assign: [\"team:everyon\"]}}\naccess: {start: [everybody]}\nstates: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [a], to: b, role: clerk}}\n")
	got := strings.Join(out.Warnings, "\n")
	for _, want := range []string{
		`there is no user or team "everyon" yet: until there is one, nobody is meant; an open case in which nobody can do a task looks again then, any other after the next action in it; did you mean "everyone"?`,
		`/access/start/0: there is no user or team "everybody" yet; did you mean "everyone"?`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
