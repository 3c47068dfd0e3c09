package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/identity"
)

// TestRouteWarningsOfServer: what only the server can warn of is in the answer to each PUT
// and in the complete form, with its place.
func TestRouteWarningsOfServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	doc := `roles:
  clerk: {assign: [starter]}
  cfo: {assign: ["user:ann"]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish:
    in: [open]
    role: clerk
    to: done
    onFire:
      - {mail: {to: [cfo, ann, bobb], subject: s, text: t}}
      - {start: {route: nowhere}}
      - {start: {route: told, roles: {reader: [ann]}}}
access: {start: [everyone]}
`
	sam.mustPutRoute("told", `access: {start: [everyone], read: [everyone]}
roles: {reader: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  read: {in: [open], role: reader, to: done}
`)
	want := []string{
		`12:22 /actions/finish/onFire/0/mail/to/0: there is no user or team "cfo" yet; did you mean "role:cfo"?`,
		`12:32 /actions/finish/onFire/0/mail/to/2: there is no user or team "bobb" yet: until there is one, nobody is meant; did you mean "bob"?`,
		`13:25 /actions/finish/onFire/1/start/route: there is no route "nowhere" yet`,
		`14:47 /actions/finish/onFire/2/start/roles/reader: the route "told" does not let its starter choose who plays "reader", so this fails: give that role a pick there`,
	}
	for _, what := range []string{"new", "the same"} {
		out := sam.mustPutRoute("warned", doc)
		if diff := cmp.Diff(want, out.Warnings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		w.form(out.Form).wants("warnings/0", fmt.Sprintf("%q", want[0]))
	}

	// Who may not see the other route is told what is told of one that is not there.
	w.as("ann").mustPutRoute("hidden", "access: {start: [ann], read: [ann]}\n"+plainStates)
	out := sam.mustPutRoute("curious", strings.Replace(doc, "told", "hidden", 1))
	var told []string
	for _, warning := range out.Warnings {
		if strings.Contains(warning, "hidden") {
			told = append(told, warning)
		}
	}
	same(t, "of a hidden route", strings.Join(told, "\n"), `14:25 /actions/finish/onFire/2/start/route: there is no route "hidden" yet`)

	// Who was disabled since is told of at the next PUT.
	w.as("admin").mustPutParty(identity.User, "ann", `{"disabled": true}`)
	out = sam.mustPutRoute("warned", doc)
	if !slices.Contains(out.Warnings, `3:18 /roles/cfo/assign/0: the user "ann" is disabled: whatever is for them is for nobody`) {
		t.Errorf("of a disabled user: %q", out.Warnings)
	}
}

// TestRouteWarningsOfHooks: what a hook of the route writes is known.
func TestRouteWarningsOfHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	doc := `states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish: {trigger: auto, in: [open], to: done, guard: 'xattr["x-event"] == "paid"', onFire: [{log: $Paid;}]}
access: {start: [everyone]}
`
	if out := sam.mustPutRoute("hooked", doc); len(out.Warnings) != 2 {
		t.Errorf("without hooks: %q", out.Warnings)
	}
	for name, settings := range map[string]string{
		"events":   `{"headers": ["X-Event"]}`,
		"payments": `{"deliver": {"label": "Paid", "case": {"json": "case"}}}`,
	} {
		if _, err := w.Hooks.PutHook(t.Context(), sam.request(nil), "hooked", name, []byte(settings)); err != nil {
			t.Fatal(err)
		}
	}
	if out := sam.mustPutRoute("hooked", "title: Hooked\n"+doc); len(out.Warnings) != 0 {
		t.Errorf("with hooks: %q", out.Warnings)
	}
}
