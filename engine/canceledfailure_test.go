package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
)

// TestCanceledLeavesTheLists: what has failed in a case is over when the case is canceled:
// in late.txt, on the worklist and in what people are told
// (docs/contract/routes.md#what-is-canceled).
func TestCanceledLeavesTheLists(t *testing.T) {
	t.Parallel()
	withInbox(t, strings.Replace(fmt.Sprintf(routeTrier, ""), "onError: {steps: [], to: failed}", "max: 1", 1), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		id := k.as("sam").startCase(`{"route": "job", "title": "One"}`)
		k.wait(time.Second)
		got, _ := k.news()
		same(t, "it fails", got, []string{"dora: Failed: One: disk full", "sam: Failed: One: disk full"})
		lists := func() (escalated int, late string) {
			return strings.Count(k.as("dora").work(engine.WorklistEscalated, engine.Filter{}), "run"), k.as("dora").statusPage(engine.StatusLate)
		}
		if n, late := lists(); n != 1 || !strings.Contains(late, "disk full") {
			t.Errorf("before: %d, %s", n, late)
		}
		k.as("dora").mustPutCase(ref(id), `{"state": "canceled"}`)
		k.wait(time.Second)
		got, _ = k.news()
		same(t, "it is canceled", got, []string{"sam: Canceled: One"})
		if n, late := lists(); n != 0 || strings.Contains(late, "disk full") {
			t.Errorf("afterwards: %d, %s", n, late)
		}
		if log := strings.Join(k.as("sam").logTexts(id), "\n"); !strings.Contains(log, "Given up with the case: exec of run") {
			t.Errorf("the log says\n%s", log)
		}
		k.wait(48 * time.Hour)
		got, _ = k.news()
		same(t, "nobody is told of it again", got, []string(nil))
	})
}
