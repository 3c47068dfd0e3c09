package engine_test

import (
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// TestLastAuthorIsTold: who had stored the version of a route before another user's is told
// by mail, as nothing tells the other one on a mount; not of an equal document.
func TestLastAuthorIsTold(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	bob, ann := w.as("bob"), w.as("ann")
	shared := func(title string) string {
		return "title: " + title + "\naccess: {admin: [bob, ann]}\n" + plainStates
	}
	bob.mustPutRoute("mine", shared("One"))
	bob.mustPutRoute("mine", shared("Two"))
	ann.mustPutRoute("mine", shared("Two")+"# as it was\n")
	ann.mustPutRoute("mine", shared("Three"))
	ann.mustPutRoute("mine", shared("Four"))
	same(t, "bob", w.sentTo("bob@example.org"), []string{"09 12:34 Changed by ann: the route mine"})
	same(t, "ann", w.sentTo("ann@example.org"), []string(nil))
	bob.mustPutRoute("mine", shared("Five"))
	same(t, "ann, after bob's", w.sentTo("ann@example.org"), []string{"09 12:34 Changed by bob: the route mine"})
}

// TestReplacedVersion: who stores a route over a version of somebody else is told whose it
// was; who sends a condition is told whose version is there.
func TestReplacedVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	shared := func(title string) string {
		return "title: " + title + "\naccess: {admin: [sam, ann], start: [everyone]}\n" + plainStates
	}
	sam.mustPutRoute("mine", shared("One"))
	sam.mustPutRoute("mine", shared("Two"))
	replaced := func(out *engine.Outcome) string { return strings.Join(out.Warnings, "; ") }
	const first = "This takes the place of version 2, which sam stored at "
	out := ann.mustPutRoute("mine", shared("Three"))
	if got := replaced(out); !strings.Contains(got, first) || !strings.Contains(got, "that version is kept as mine/Versions/2.json.") {
		t.Errorf("ann over sam: %q", got)
	}
	w.form(out.Told).wants("version", "3", "title", `"Three"`, "author", `"sam"`, "storedBy", `"ann"`)
	if strings.Contains(string(out.Form), first) || !strings.Contains(string(out.Told), first) {
		t.Errorf("the form:\n%s\nwhat is told:\n%s", out.Form, out.Told)
	}
	if got := replaced(ann.mustPutRoute("mine", shared("Four"))); strings.Contains(got, "takes the place") {
		t.Errorf("ann over ann: %q", got)
	}
	_, err := sam.putRoute("mine", shared("Two"), onlyIf("another version", func(engine.Version) bool { return false }))
	if !errs.Is(err, errs.Precondition) || !strings.Contains(err.Error(), "what is stored at this address is version 4, which ann stored at ") {
		t.Errorf("refused with %v", err)
	}
	w.reopen() // who stored it last outlives the process
	if got := replaced(w.as("sam").mustPutRoute("mine", shared("Five"))); !strings.Contains(got, "version 4, which ann stored at ") {
		t.Errorf("sam over ann: %q", got)
	}
	if got := replaced(w.as("sam").mustPutRoute("mine", shared("Six"), onlyIf("that version", func(engine.Version) bool { return true }))); got != "" {
		t.Errorf("under a condition: %q", got)
	}
}
