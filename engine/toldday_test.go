package engine_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"flowdrive/engine"
	"flowdrive/engine/notice"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
)

// TestDayOfTheExamples plays a day of the example routes: a claim, a vote and a bug.
// The golden file has what everybody is told.
func TestDayOfTheExamples(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside, c.Zones = outside, new(clock.Zones).Zone
				c.Channels = engine.Channels{Mail: true, Destinations: []notice.Destination{{ID: "chat", Name: "a chat"}}}
			}
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		k := &diary{world: w, outside: outside, shown: map[string]bool{}}
		admin := w.as("admin")
		for _, name := range []string{"kim", "lea"} {
			admin.mustPutParty(identity.User, name, fmt.Sprintf(`{"email": "%s@example.org", "password": "%[1]s %[1]s %[1]s"}`, name))
		}
		admin.mustPutParty(identity.Team, "core", `{"members": ["ann", "bob", "kim"]}`)
		for _, name := range []string{"expense", "tip-vote", "tip", "bug"} {
			admin.mustPutRoute(name, exampleRoute(t, name))
		}
		k.told.WriteString("What people are told in a day of the example routes, with the whole of the first mail\nof each kind. ann, bob and kim are the team core.\n")
		k.until(3, 6, 0)
		k.note("bob wants one mail a day, at 17:00 in Berlin, and failures at once.")
		w.as("bob").mustPutMe(`{"timezone": "Europe/Berlin", "mail": {"digest": "17:00", "kinds": ["task", "outcome", "failure:now"]}}`)
		k.claim()
		k.vote()
		k.bug()
		k.until(6, 18, 0)
		k.told.WriteString("\nThat is all that anybody was told.\n")
		k.compare("day.txt", k.told.String())
		k.compare("day.jsonl", k.news())
	})
}

// news returns what a service is told, a line for each notice, in order of time. package
// notify has it as chats show it.
func (k *diary) news() string {
	const byMinute = "2006-01-02 15:04"
	guid := regexp.MustCompile(`"guid":"[0-9a-f]{32}"`)
	var lines []string
	for i, d := range k.outside.seen() {
		if d.News != nil {
			lines = append(lines, k.outside.at[i].UTC().Format(byMinute)+guid.ReplaceAllString(string(d.News.Body), `"guid":"<guid>"`)+"\n")
		}
	}
	slices.Sort(lines)
	for i := range lines {
		lines[i] = lines[i][len(byMinute):]
	}
	return strings.Join(lines, "")
}

func (k *diary) claim() {
	k.note("sam claims 180 for a train.")
	id := k.as("sam").startCase(`{"route": "expense", "title": "A train", "xattrDict": {"amount": 180, "reason": "to the fair"}}`)
	k.until(3, 8, 0)
	k.note("ann approves it.")
	k.as("ann").mustPerform(id, "approve")
	k.until(3, 9, 0)
	k.note("sam claims 12 for a stamp, which is paid at once, and 1400 for a desk, which nobody looks at for three days.")
	k.as("sam").startCase(`{"route": "expense", "title": "A stamp", "xattrDict": {"amount": 12}}`)
	k.as("sam").startCase(`{"route": "expense", "title": "A desk", "xattrDict": {"amount": 1400}}`)
	k.until(3, 10, 0)
}

func (k *diary) vote() {
	k.note("lea proposes TIP 42; sam has a stake in it. Each of core votes.")
	id := k.as("lea").startCase(`{"route": "tip", "title": "TIP 42", "stakeholders": ["sam"]}`)
	votes := k.as("lea").children(id)
	k.until(3, 11, 0)
	k.note("ann approves.")
	k.as("ann").mustPerform(votes[0], "approve")
	k.until(3, 12, 0)
	k.note("bob rejects.")
	k.as("bob").mustPerform(votes[1], "reject")
	k.until(3, 13, 0)
	k.note("kim approves: two of three.")
	k.as("kim").mustPerform(votes[2], "approve")
	k.until(3, 14, 0)
}

func (k *diary) bug() {
	k.note("sam reports a bug.")
	id := k.as("sam").startCase(`{"route": "bug", "title": "The lamp is dark"}`)
	k.until(3, 15, 0)
	k.note("ann resolves it with a comment.")
	if _, err := k.as("ann").perform(id, "resolve", `{"comment": "a new bulb"}`); err != nil {
		k.Fatal(err)
	}
	k.until(3, 15, 30)
	k.note("sam closes it.")
	k.as("sam").mustPerform(id, "close")
	k.until(3, 18, 0)
}
