package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine/machine"
)

// TestLabelsInTheZoneOfTheEntry: a label stands for the day that clocks of the entry's
// zone show when it fires, in XATTRs, in titles, and in what the case does as it starts.
func TestLabelsInTheZoneOfTheEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withZones)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("dated", `
access: {start: [everyone]}
states: {open: {type: start}}
actions:
  begin: {trigger: init, onFire: [{set: {done: "$__TODAY__; $__DATETIME__;"}}]}
`)
	const entry = `{"type": "cron", "hour": 8, "minute": 0, "day": 1, "route": "dated", "title": "Daily $__TODAY__; of $__XATTR_who__;",
		"xattrDict": {"day": "$__TODAY__;", "from": "$__MONTHSTART__;", "who": "us", "at": "$__SCHEDULEDFOR__;", "as": "$__TITLE__;"}`
	sam.mustPutEntry("tokyo.json", entry+`, "timezone": "Asia/Tokyo"}`)
	sam.mustPutEntry("utc.json", entry+`}`)
	w.advanceTo("2012-12-01T08:00:00Z")
	ids := w.caseIDs()
	same(t, "cases", len(ids), 2)
	sam.caseForm(ids[0]).wants("title", `"Daily 2012-12-01 of us"`, "xattrDict/day", `"2012-12-01"`, "xattrDict/from", `"2012-12-01"`,
		"xattrDict/at", `"2012-11-30T23:00:00Z"`, "xattrDict/done", `"2012-12-01 20121201T08:00"`, "xattrDict/as", `"Daily 2012-12-01 of $__XATTR_who__;"`)
	sam.caseForm(ids[1]).wants("title", `"Daily 2012-12-01 of us"`, "xattrDict/done", `"2012-12-01 20121201T08:00"`, "xattrDict/at", `"2012-12-01T08:00:00Z"`)
}

// TestTitleWithLabels: a title keeps a label that is not known, which the log says, and
// one that would grow too long stays as it was written.
func TestTitleWithLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "ask", "title": "$__FOO__; $__TODAY__; $5__"}`)
	sam.caseForm(id).wants("title", `"$__FOO__; `+w.clock.Now().UTC().Format(time.DateOnly)+` $5__"`)
	if log := strings.Join(sam.logTexts(id), "\n"); !strings.Contains(log, "$__FOO__;") {
		t.Errorf("the log does not speak of the label: %s", log)
	}
	long := sam.startCase(`{"route": "ask", "title": "$__XATTR_a__;", "xattrDict": {"a": "` + strings.Repeat("x", 2000) + `"}}`)
	sam.caseForm(long).wants("title", `"$__XATTR_a__;"`, "state", `"`+string(machine.Active)+`"`)
}
