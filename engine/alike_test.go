package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine/outbox"
)

// alikeInbox is an inbox with an entry that fires each hour, and of which two cases have failed
// for the same reason, of which people were told once.
func alikeInbox(t *testing.T, do func(k *inbox, ids []int64)) {
	t.Helper()
	withInbox(t, fmt.Sprintf(routeTrier, ""), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		k.as("sam").mustPutEntry("e.json", `{"type": "crontab", "spec": "0 * * * *", "route": "job", "title": "Hourly"}`)
		k.wait(time.Hour + time.Minute)
		k.as("sam").mustPutEntry("e.json", `{"do": "pause"}`)
		got, _ := k.news()
		same(t, "two fail alike", got, []string{"dora: Failed: Hourly: disk full", "sam: Failed: Hourly: disk full"})
		ids := k.caseIDs()
		slices.Sort(ids)
		same(t, "cases", len(ids), 2)
		do(k, ids)
	})
}

// TestEndOfAlikeFailures: who was told that cases of an entry fail alike is told once that it is
// over, with the last of them, in whatever order they end, before and after a daily mail.
func TestEndOfAlikeFailures(t *testing.T) {
	t.Parallel()
	for _, daily := range []bool{false, true} {
		for first, do := range []string{"retry", "abort"} { // that a later case goes well would end both
			t.Run(fmt.Sprintf("case %d first, daily mail %t", first, daily), func(t *testing.T) {
				t.Parallel()
				alikeInbox(t, func(k *inbox, ids []int64) {
					if daily {
						k.wait(24 * time.Hour)
						got, _ := k.news()
						same(t, "a day later", got, []string{"dora: Still failed: Hourly (2 cases): disk full", "sam: Still failed: Hourly (2 cases): disk full"})
					}
					k.works(nil)
					k.as("admin").mustDo(ids[first], "run", do)
					k.wait(time.Minute)
					got, _ := k.news()
					same(t, "one is over", strings.Join(slices.DeleteFunc(got, isDone), ", "), "")
					k.as("admin").mustDo(ids[1-first], "run", "retry")
					k.wait(time.Minute)
					got, texts := k.news()
					same(t, "the last is mended", got, []string{"dora: Mended: Hourly (2 cases)", "sam: Done: Hourly"})
					want := fmt.Sprintf("It was wrong in another case of its schedule entry as well: %d%s.", ids[first], map[string]string{"abort": " (given up)"}[do])
					if text := texts["dora: Mended: Hourly (2 cases)"]; !strings.Contains(text, want) {
						t.Errorf("no %q in %s", want, text)
					}
					k.wait(72 * time.Hour)
					got, _ = k.news()
					same(t, "afterwards", got, []string(nil))
				})
			})
		}
	}
}

func isDone(line string) bool { return line == "sam: Done: Hourly" }

// TestAlikeFailureGoesOn: if the case that people were told of is mended, and the other is not,
// they are told of that one day by day, and not at once of one that fails now.
func TestAlikeFailureGoesOn(t *testing.T) {
	t.Parallel()
	alikeInbox(t, func(k *inbox, ids []int64) {
		k.as("dora").mustDo(ids[0], "run", "abort")
		k.wait(time.Minute)
		got, _ := k.news()
		same(t, "the first is given up", got, []string(nil))
		k.wait(23 * time.Hour)
		got, texts := k.news()
		same(t, "a day later", got, []string{"dora: Still failed: Hourly: disk full", "sam: Still failed: Hourly: disk full"})
		if text, want := texts["dora: Still failed: Hourly: disk full"], fmt.Sprintf("flowdrive resume %d", ids[1]); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
		k.as("sam").mustPutEntry("e.json", `{"do": "trigger"}`)
		k.wait(24*time.Hour + time.Minute)
		got, _ = k.news()
		same(t, "another one fails", got, []string{"dora: Still failed: Hourly (2 cases): disk full", "sam: Still failed: Hourly (2 cases): disk full"})
		k.as("dora").mustDo(ids[1], "run", "abort")
		k.wait(time.Minute)
		got, _ = k.news()
		same(t, "the second is given up, too", got, []string(nil))
		k.works(nil)
		k.as("admin").mustDo(slices.Max(k.caseIDs()), "run", "retry")
		k.wait(time.Minute)
		got, _ = k.news()
		same(t, "the last is mended", got, []string{"dora: Mended: Hourly (3 cases)", "sam: Done: Hourly"})
	})
}

// TestLaterCaseMendsAlikeOnes: a later case that goes well ends all of them, in one mail.
func TestLaterCaseMendsAlikeOnes(t *testing.T) {
	t.Parallel()
	alikeInbox(t, func(k *inbox, ids []int64) {
		k.works(nil)
		k.as("sam").mustPutEntry("e.json", `{"do": "trigger"}`)
		k.wait(time.Minute)
		got, texts := k.news()
		same(t, "a later one goes well", got, []string{"dora: Mended: Hourly (2 cases)", "sam: Mended: Hourly (2 cases)"})
		const want = " itself is failed still, and so are those of the others that nobody has mended"
		if text := texts["dora: Mended: Hourly (2 cases)"]; !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	})
}
