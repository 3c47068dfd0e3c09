package engine_test

import (
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestQuotaOfOneUser: a quota of one's own holds in place of that of the settings from the
// next request on, and deletes nothing.
func TestQuotaOfOneUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon, withQuota(10))
	sam, admin := w.as("sam"), w.as("admin")
	put := func(text string) error {
		_, err := sam.putAttachment(engine.NewAttachment{}, text)
		return err
	}
	own := func(quota string) form {
		return w.form(try(admin.putParty(identity.User, "sam", `{"quota": `+quota+`}`)).must(w, "a quota of "+quota).Form)
	}
	w.kind("as the settings say", put("12345678901"), errs.Full)
	own("20").wants("quota", "20")
	w.kind("more than the settings say", put("12345678901"), "")
	w.kind("more than sam has", put("1234567890"), errs.Full)
	_, err := w.as("ann").putAttachment(engine.NewAttachment{}, "12345678901")
	w.kind("of another user", err, errs.Full)
	w.form(try(w.as("admin").putParty(identity.User, "sam", `{"fullName": "Sam"}`)).must(w, "another field").Form).wants("quota", "20")
	own("5").wants("quota", "5")
	w.kind("once there is less", put("1"), errs.Full)
	used, err := w.Files.Quota(t.Context(), sam.by())
	w.kind("the quota", err, "")
	same(t, "nothing is deleted", used, engine.Quota{Used: 11, Available: 0})
	own("null").wants("quota", "absent")
	for _, wrong := range []string{"0", "-1", `"much"`, "1.5", "[]"} {
		_, err := admin.putParty(identity.User, "sam", `{"quota": `+wrong+`}`)
		w.kind("a quota of "+wrong, err, errs.Invalid)
	}
	_, err = admin.putParty(identity.Team, "core", `{"quota": 5}`)
	w.kind("of a team", err, errs.Invalid)
}

// TestUsage: administrators are told who holds how much, those who hold most first, and
// nothing that is secret.
func TestUsage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atNoon)
	sam, admin := w.as("sam"), w.as("admin")
	sam.upload(engine.NewAttachment{}, "12345")
	sam.mustPutEntry("nightly.json", `{"route": "ask", "type": "cron", "hour": 3, "minute": 0}`)
	sam.startCase(`{"route": "ask"}`)
	secret := try(sam.putApp("laptop", `{}`)).must(w, "an app password")
	w.as("ann").upload(engine.NewAttachment{}, "123")
	try(admin.putParty(identity.User, "sam", `{"quota": 4096}`)).must(w, "a quota")

	res := try(w.Server.Usage(t.Context(), admin.by(), false)).must(w, "usage")
	all := w.form(res.Form)
	all.wants("quota", "10737418240", "users/0/user", `"sam"`, "users/0/bytes", "5", "users/0/quota", "4096", "users/0/entries", "1", "users/0/openCases", "1",
		"users/0/files", "0", "users/0/appPasswords/0/label", `"laptop"`, "users/0/lastSeen", "null", "users/1/user", `"ann"`, "users/1/bytes", "3", "users/1/quota", "10737418240")
	if made := unquote(w.form(secret.Once).get("secret")); made == "" || strings.Contains(all.text, made) {
		t.Errorf("the app password %q is told: %s", made, all.text)
	}
	text := string(try(w.Server.Usage(t.Context(), admin.by(), true)).must(w, "usage as a text").Form)
	if !strings.Contains(text, "sam") || !strings.Contains(text, "4.0 KiB") || strings.Index(text, "sam") > strings.Index(text, "ann") {
		t.Errorf("the text: %s", text)
	}
	w.kind("to other users", try(w.Server.Usage(t.Context(), sam.by(), false)).err, errs.NotFound)
}
