package engine_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// confirming is a world in which users confirm the addresses that they give themselves, but
// none may be at example.net.
func confirming(t *testing.T) *world {
	t.Helper()
	return newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Sandbox = false
			cfg.Channels = engine.Channels{Mail: true}
			cfg.OwnAddress = func(address string) (refused string, confirm bool) {
				if strings.HasSuffix(address, "@example.net") {
					return "must be elsewhere", true
				}
				return "", true
			}
		}
	})
}

// codes returns the codes of the mails to an address, in order.
func (w *world) codes(address string) (out []string) {
	w.Helper()
	for _, row := range w.outboxRows(outbox.MailLane) {
		var r machine.Request
		if err := json.Unmarshal(row.Request, &r); err != nil {
			w.Fatal(err)
		}
		if code := regexp.MustCompile(`Code: (\S+)\n`).FindStringSubmatch(r.Mail.Text); r.Mail.To[0] == address && code != nil {
			out = append(out, code[1])
		}
	}
	return out
}

// TestOwnAddressIsConfirmed: an address that a user gives themselves is used once the code
// is stored that was mailed there (docs/contract/drive.md#own-addresses).
func TestOwnAddressIsConfirmed(t *testing.T) {
	t.Parallel()
	w := confirming(t)
	sam := w.as("sam")
	const to = "stranger@example.com"

	sam.mustPutMe(`{"email": "stranger@example.com", "fullName": "Click http://evil.example"}`, dryRun())
	same(t, "a dry run mails", len(w.codes(to)), 0)
	sam.mustPutMe(`{"email": "stranger@example.com", "fullName": "Click http://evil.example"}`)
	sam.me().wants("email", `"sam@example.org"`, "emailPending", `"stranger@example.com"`,
		"warnings", `["email: stranger@example.com is used once you confirm it with the code of the mail that was sent there (emailCode); mails go to sam@example.org until then."]`)
	same(t, "the stranger", len(w.sentTo(to)), 1)
	for _, row := range w.outboxRows(outbox.MailLane) {
		if strings.Contains(string(row.Request), "evil") {
			t.Errorf("a stranger is sent what a user has written: %s", row.Request)
		}
	}
	sam.mustPutMe(`{"email": "stranger@example.com"}`) // as clients repeat requests
	same(t, "after a repeated request", len(w.codes(to)), 1)
	sam.mustPutMe(`{"email": "sam@example.org", "emailPending": "stranger@example.com"}`) // as it was read

	_, err := sam.putMe(`{"emailCode": "AAAA-AAAA-AAAA"}`)
	w.refused(err, errs.Invalid, "/emailCode conflict")
	_, err = w.as("ann").putMe(`{"emailCode": "` + w.codes(to)[0] + `"}`)
	w.refused(err, errs.Invalid, "/emailCode conflict")
	_, err = sam.putMe(`{"emailPending": "other@example.com"}`)
	w.refused(err, errs.Invalid, "/emailPending read-only")
	w.reopen()
	sam.mustPutMe(`{"emailCode": " ` + strings.ToLower(w.codes(to)[0]) + `"}`)
	sam.me().wants("email", `"stranger@example.com"`, "emailPending", "null", "warnings", "[]")
	_, err = sam.putMe(`{"emailCode": "` + w.codes(to)[0] + `"}`)
	w.refused(err, errs.Invalid, "/emailCode conflict")

	_, err = sam.putMe(`{"email": "sam@example.net"}`)
	w.refused(err, errs.Invalid, "/email range")
	sam.mustPutMe(`{"email": ""}`) // none is not confirmed
	sam.me().wants("email", `""`)
	w.as("admin").mustPutMe(`{"email": "root@example.net"}`)
	w.as("admin").me().wants("email", `"root@example.net"`, "emailPending", "null")
}

// TestCodesAreBounded: nobody has more than three mails with codes written in an hour, and a
// code is valid for a day.
func TestCodesAreBounded(t *testing.T) {
	t.Parallel()
	w := confirming(t)
	sam := w.as("sam")
	for _, address := range []string{"a@example.com", "b@example.com", "a@example.com"} {
		w.advance(5 * time.Minute)
		sam.mustPutMe(`{"email": "` + address + `"}`)
	}
	first := w.codes("a@example.com")[0]
	_, err := sam.putMe(`{"emailCode": "` + first + `"}`)
	w.refused(err, errs.Invalid, "/emailCode conflict")
	sam.mustPutMe(`{"emailPending": null}`)
	sam.me().wants("email", `"sam@example.org"`, "emailPending", "null")
	_, err = sam.putMe(`{"email": "c@example.com"}`)
	w.refused(err, errs.Invalid, "/email conflict")
	w.as("admin").mustPutParty(identity.User, "sam", `{"email": "d@example.com"}`)
	sam.me().wants("email", `"d@example.com"`)
	w.advance(50 * time.Minute)
	sam.mustPutMe(`{"email": "c@example.com"}`)
	w.advance(24 * time.Hour)
	_, err = sam.putMe(`{"emailCode": "` + w.codes("c@example.com")[0] + `"}`)
	w.refused(err, errs.Invalid, "/emailCode conflict")
	sam.me().wants("warnings", `["email: c@example.com was not confirmed within a day. Store it again for another code."]`)
	w.as("admin").mustPutParty(identity.User, "sam", `{"email": "e@example.com"}`)
	sam.me().wants("email", `"e@example.com"`, "emailPending", "null")
}
