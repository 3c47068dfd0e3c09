package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/internal/identity"
)

// routeUnreadable fails in each case at once: what it reads is no JSON.
const routeUnreadable = `
title: Import
context: dora
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  run: {in: [open], trigger: auto, to: done, onFire: [{jq: {from: InputMessage, filter: .x, to: Rows}}]}
`

// TestCasesOfAnEntryFailAlike: of a job that fails every five minutes people are told
// once a day, and again when it has been mended in between.
func TestCasesOfAnEntryFailAlike(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	w.as("admin").mustPutRoute("import", routeUnreadable)
	w.as("ann").mustPutEntry("", `{"type": "crontab", "spec": "*/5 * * * *", "route": "import", "title": "Import"}`)
	const what = "Import: The route is at fault: jq: the message \"InputMessage\" is not JSON; the step csv makes rows of a table."
	w.advance(3 * time.Hour) // from 12:34:56
	want := []string{"09 12:35 Failed: " + what}
	for _, address := range []string{"ann@example.org", "dora@example.org"} {
		same(t, address, w.sentTo(address), want)
	}
	w.as("dora").mustDo(w.caseIDs()[0], "run", "abort")
	w.advance(5 * time.Minute)
	same(t, "mended, and failed again", w.sentTo("ann@example.org"), append(want, "09 15:34 Given up: Import", "09 15:35 Failed: "+what))
	w.advance(25 * time.Hour)
	var second []string
	for _, line := range w.sentTo("dora@example.org")[2:] {
		line, _, _ = strings.Cut(line, ": Import")
		second = append(second, line)
	}
	same(t, "in the second day", second, []string{"10 12:00 35 things are still wrong: Still failed", "10 15:00 Still failed", "10 15:35 Failed"})
}
