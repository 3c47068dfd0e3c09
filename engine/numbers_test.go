package engine_test

import (
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// TestBoundsOfNumbers: a declared number has bounds at the start, in an edit and with an
// action; a comma is explained; an action without a form says what was changed.
func TestBoundsOfNumbers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("claims", `
access: {start: [everyone], read: [everyone], admin: [sam]}
xattrs: {amount: {type: number, minimum: 0.01, maximum: 1000, required: true}}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  correct: {in: [open], role: clerk, form: {type: object, properties: {amount: {type: number}}}}
  finish: {in: [open], role: clerk, to: done}
`)
	wants := func(what string, err error, kind errs.Kind, text string) {
		t.Helper()
		w.kind(what, err, kind)
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want %q", what, err, text)
		}
	}
	start := func(amount string) error {
		return try(sam.putCase("", `{"route": "claims", "xattrDict": {"amount": `+amount+`}}`)).err
	}
	wants("negative", start("-3"), errs.Invalid, "must be at least 0.01, not -3")
	wants("as text", start(`"-3"`), errs.Invalid, "must be at least 0.01, not -3")
	wants("too much", start("1e30"), errs.Invalid, "must be at most 1000")
	wants("a comma", start(`"12,50"`), errs.Invalid, "must be a number, not a string; write it with a point: 12.50")
	wants("three digits after a comma", start(`"1,200"`), errs.Invalid, "must be a number, not a string; write 1200, or 1.2")
	wants("a currency", start(`"300 EUR"`), errs.Invalid, "must be a number, not a string; write 300, without currency or spaces")
	wants("a space", start(`"1 200"`), errs.Invalid, "must be a number, not a string; write 1200, without currency or spaces")
	wants("a list", start(`"12,50,60"`), errs.Invalid, "must be a number, not a string")
	id := sam.startCase(`{"route": "claims", "xattrDict": {"amount": 5}}`)
	wants("an edit", try(sam.putCase(ref(id), `{"xattrDict": {"amount": 0}}`)).err, errs.Invalid, "must be at least 0.01, not 0")
	wants("an action", try(sam.perform(id, "correct", `{"xattrDict": {"amount": 0}}`)).err, errs.Invalid, "must be at least 0.01, not 0")
	wants("an action and a comma", try(sam.perform(id, "correct", `{"xattrDict": {"amount": "7,5"}}`)).err, errs.Invalid, "write it with a point: 7.5")
	wants("no form", try(sam.perform(id, "finish", `{"comment": "x", "xattrDict": {"amount": 6}}`)).err, errs.Invalid, `must be as it was, absent or empty: the action "finish" changes no XATTRs, and you have changed amount`)
	if _, err := sam.perform(id, "finish", `{"comment": "x", "xattrDict": {"amount": 5}}`); err != nil {
		t.Errorf("unchanged: %v", err)
	}
}
