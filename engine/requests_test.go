package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

const routeRequest = `
access: {start: [everyone], read: ["ops"]}
roles: {requester: {assign: [starter]}, executives: {assign: ["team:executives"]}}
states: {a: {type: start}, b: {}, c: {type: denied}}
actions:
  begin: {trigger: init}
  approve-requester: {role: requester, type: approve}
  approve-executives: {role: executives, type: approve}
  deny-executives: {role: executives, type: deny}
transitions:
  - {name: T1, from: a, to: b, requires: [approve-requester, approve-executives]}
  - {name: T2, from: a, to: c, requires: [deny-executives]}
`

// TestConformanceRequests plays the rows on requests that need a directory
// and a store; the others are the core's.
func TestConformanceRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutParty(identity.Team, "executives", `{"members": ["ann", "bob"]}`)
	admin.mustPutRoute("request", routeRequest)
	t.Run("RQ-14", func(t *testing.T) {
		w := w.in(t)
		id := sam.startCase(`{"route": "request"}`)
		_, err := w.as("eve").perform(id, "approve", `{}`)
		w.refused(err, errs.NotFound) // eve does not see the case
		_, err = w.as("ann").perform(id+1000, "approve", `{}`)
		w.refused(err, errs.NotFound)
		sam.caseForm(id).wants("visit/actions/1/state", `"waiting"`, "version", "2")
	})
	t.Run("RQ-36", func(t *testing.T) {
		w := w.in(t)
		for range 20 {
			id := sam.startCase(`{"route": "request"}`)
			sam.mustPerform(id, "approve")
			var wg sync.WaitGroup
			results := make([]error, 2)
			for i, who := range []string{"ann", "bob"} {
				wg.Go(func() { _, results[i] = w.as(who).perform(id, "approve", `{}`) })
			}
			wg.Wait()
			won, lost := results[0], results[1]
			if won != nil {
				won, lost = lost, won
			}
			if won != nil || !errs.Is(lost, errs.ActionNotEnabled) || !strings.Contains(lost.Error(), "performed it at") {
				t.Fatalf("results %v", results)
			}
			same(t, "log", fmt.Sprint(len(sam.logTexts(id))), "4")
		}
	})
	t.Run("RQ-18", func(t *testing.T) {
		w := w.in(t)
		id := sam.startCase(`{"route": "request"}`)
		admin.mustPutParty(identity.Team, "executives", `{"members": ["bob"]}`)
		_, err := w.as("ann").perform(id, "approve-executives", `{}`)
		if !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.NotAllowed) {
			t.Errorf("ann: %v", err)
		}
	})
	t.Run("RQ-19", func(t *testing.T) {
		id := sam.startCase(`{"route": "request"}`)
		admin.mustPutParty(identity.Team, "executives", `{"members": ["bob", "eve"]}`)
		try(w.as("eve").perform(id, "approve-executives", `{}`)).must(w.in(t), "eve approves")
	})
}
