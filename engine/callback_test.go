package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine/outbox"
)

// Callbacks say who plays a role, outside the writer, and each change asks
// anew; as steps they have what they say used once, and their panics are
// errors.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	var asked []string
	callbacks := map[string]outbox.CallbackFunc{
		"who": func(ctx context.Context, in outbox.CallbackInput) (json.RawMessage, error) {
			if _, bounded := ctx.Deadline(); !bounded || in.Key != "" || in.Value != nil {
				t.Errorf("asked with %+v", in)
			}
			var of struct {
				Route string
				Xattr map[string]string
			}
			if err := json.Unmarshal(in.Case, &of); err != nil {
				t.Error(err)
			}
			asked = append(asked, of.Route+" "+of.Xattr["who"])
			switch who := of.Xattr["who"]; who {
			case "panic":
				panic(who)
			case "number":
				return json.RawMessage("5"), nil
			case "nothing":
				return nil, nil
			case "no JSON":
				return json.RawMessage("{"), nil
			default:
				return json.Marshal(strings.Fields(who))
			}
		},
		"one": func(context.Context, outbox.CallbackInput) (json.RawMessage, error) {
			return json.RawMessage(`"ann"`), nil
		},
	}
	w := newWorld(t, reaching(&outsideWorld{}, callbacks))
	w.as("admin").mustPutRoute("who", `
access: {start: [everyone], read: [everyone]}
xattrs: {who: {}}
roles: {clerk: {assign: ["call:who", starter]}, other: {assign: ["call:one"]}}
states: {open: {type: start}}
actions: {begin: {trigger: init}, again: {in: [open], role: clerk}}
`)
	sam := w.as("sam")
	for who, want := range map[string]string{
		"bob ann": `["bob","ann"]`, "nobody": `["sam"]`, "panic": `["sam"]`, "number": `["sam"]`, "nothing": `["sam"]`, "no JSON": `["sam"]`,
	} {
		asked = nil
		id := sam.startCase(fmt.Sprintf(`{"route": "who", "xattrDict": {"who": %q}}`, who))
		sam.caseForm(id).wants("roles/clerk", want, "roles/other", `["ann"]`)
		same(t, "asked about "+who, asked, []string{"who " + who})
		if log := strings.Join(sam.logTexts(id), "\n"); strings.Contains(log, "The callback who") == (who == "bob ann" || who == "nothing") {
			t.Errorf("%s: the log is\n%s", who, log)
		}
	}
	same(t, "panics in the log", w.log.count("callback: panicked"), 1)

	// Whom a schedule starts a case for, likewise.
	asked = nil
	sam.mustPutEntry("", `{"type": "simple", "date": "2012-11-09T13:00", "route": "who", "xattrDict": {"who": "bob"}}`)
	w.advanceTo("2012-11-09T13:00:00Z")
	same(t, "asked", asked, []string{"who bob"})
}
