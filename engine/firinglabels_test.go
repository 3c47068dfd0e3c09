package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine/machine"
)

// TestLabelsOfAFiring: the occurrence of an entry says which labels nothing has filled.
func TestLabelsOfAFiring(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	entry := w.as("sam").mustPutEntry("often.json", `{"type": "cron", "minute": "0", "route": "desk", "title": "Often", "xattrDict": {"day": "$__NOPE__;"}}`)
	w.advance(2 * time.Hour)
	res := try(w.Schedules.Occurrences(t.Context(), w.as("sam").by(), w.as("sam").ref(entry.Name).Entry)).must(w, "GET of the occurrences")
	if text := string(res.Form); !strings.Contains(text, "The label $__NOPE__; has no value here") {
		t.Errorf("the occurrences are\n%s", text)
	}
}

// TestLabelsThatNothingHasFilledAreTold: whose schedule entry creates cases with labels as
// they are written is told so, again a day later, and once when a case has none
// (docs/contract/routes.md#labels-that-nothing-has-filled).
func TestLabelsThatNothingHasFilledAreTold(t *testing.T) {
	t.Parallel()
	w, letters, _ := deedsWorld(t)
	of := func(address string) (out []*machine.Mail) {
		return slices.DeleteFunc(letters(address), func(m *machine.Mail) bool {
			return !strings.Contains(m.Subject, "Often") || strings.HasPrefix(m.Subject, "Done")
		})
	}
	sam := w.as("sam")
	sam.mustPutEntry("often.json", `{"type": "cron", "minute": "0", "route": "auto", "title": "Often", "xattrDict": {"day": "$__NOPE__;"}}`)
	const what = "Often: The label $__NOPE__; has no value here and was left as it is"
	w.advance(2 * time.Hour)
	wantsMail(t, "at once", of("sam@example.org"), "Labels are not filled: "+what,
		`The schedule entry "Often" has created its case of 2012-11-09 13:00 UTC with labels as they are written:`, "its route may decide by it", "You get this because the schedule entry is yours.")
	wantsMail(t, "the administrator", of("root@example.org"), "Labels are not filled: "+what)
	if late := sam.late(); !strings.Contains(late, "schedule entry often.json: Often") && !strings.Contains(late, "schedule entry often: Often") || !strings.Contains(late, "The last case of this entry has labels as they are written: The label $__NOPE__;") {
		t.Errorf("late.txt says %s", late)
	}
	if late := w.as("bob").late(); strings.Contains(late, "Often") {
		t.Errorf("late.txt tells others: %s", late)
	}
	w.reopen()
	w.advance(23 * time.Hour)
	wantsMail(t, "a day later", of("sam@example.org"), "Still labels are not filled: "+what)

	sam.mustPutEntry("often.json", `{"type": "cron", "minute": "0", "route": "auto", "title": "Often", "xattrDict": {"day": "$__TODAY__;"}}`)
	same(t, "not yet", len(of("sam@example.org")), 0)
	w.advance(time.Hour)
	wantsMail(t, "mended", of("sam@example.org"), "Mended: Often", "has all its labels filled")
	if late := sam.late(); strings.Contains(late, "Often") {
		t.Errorf("late.txt still says %s", late)
	}
	same(t, "warnings", sam.entry("often.json").get("warnings"), "[]")
	w.advance(48 * time.Hour)
	same(t, "no more", len(of("sam@example.org")), 0)

	sam.mustPutEntry("often.json", `{"type": "cron", "minute": "0", "route": "auto", "title": "Often", "xattrDict": {"day": "$__NOPE__;"}}`)
	w.advance(time.Hour)
	of("root@example.org")
	if err := sam.deleteEntry("often.json"); err != nil {
		t.Fatal(err)
	}
	wantsMail(t, "deleted", of("root@example.org"), "Deleted: Often")
}

// TestDeclaredTypesRefuseLabels: a route that declares the type of an XATTR does not begin
// with a label that nothing has filled.
func TestDeclaredTypesRefuseLabels(t *testing.T) {
	t.Parallel()
	w, letters, _ := deedsWorld(t)
	w.as("admin").mustPutRoute("typed", `
access: {start: [everyone], read: [everyone]}
xattrs: {amount: {type: number}}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}}
`)
	sam := w.as("sam")
	sam.mustPutEntry("typed.json", `{"type": "cron", "minute": "0", "route": "typed", "title": "Typed", "xattrDict": {"amount": "$__NOPE__;"}}`)
	letters("sam@example.org")
	w.advance(time.Hour)
	wantsMail(t, "at once", letters("sam@example.org"), "Not started: Typed: /xattrDict/amount: must be a number, not a string", "Typed")
	for _, c := range w.cases() {
		if c.get("route") == `"typed"` {
			t.Errorf("there is a case of %s", c.get("title"))
		}
	}
}
