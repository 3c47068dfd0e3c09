package web

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/engine/machine"
)

// TestFoldAttempts: of attempts that fail for the same reason the newest is left, of others
// all are.
func TestFoldAttempts(t *testing.T) {
	t.Parallel()
	message := func(text string) machine.LogEntry { return machine.LogEntry{Kind: machine.LogMessage, Text: text} }
	entries := []machine.LogEntry{
		message("Attempt 4 failed: mail: refused; again at 2012-11-09T13:00:00Z"),
		message("Attempt 3 failed: mail: refused; again at 2012-11-09T12:50:00Z"),
		message("Attempt 2 failed: mail: no route to it; again at 2012-11-09T12:40:00Z"),
		message("To be sent: mail to bob"),
		message("Attempt 1 failed: mail: no route to it; again at 2012-11-09T12:36:00Z"),
		{Kind: machine.LogTask, Text: "Attempt 1 failed: mail: no route to it; again at 2012-11-09T12:36:00Z"},
	}
	var got []string
	for _, e := range foldAttempts(entries) {
		got = append(got, string(e.Kind)+" "+strings.TrimSuffix(e.Text[:9], " "))
	}
	want := []string{"message Attempt 4", "message Attempt 2", "message To be sen", "message Attempt 1", "task Attempt 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestExpiriesInTheLog: the log of a page says in words which timers have expired.
func TestExpiriesInTheLog(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/slow.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {owner: {assign: [starter]}}
timers: {review: {limit: P3D}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{enableTimer: review}]}
  mend: {title: Mend it, in: [open], role: owner, to: done, dueIn: P2D}
`)
	id := g.start(t, "bob", `{"route": "slow", "title": "Lift"}`)
	g.advance(t, "2012-12-20T08:00:00Z")
	got := g.browse(t, "bob").get(t, "/cases/"+id)
	for _, part := range []string{"Mend it is due", "The timer review has expired", "started by "} {
		if !strings.Contains(got.body, part) {
			t.Errorf("there is no %q in\n%s", part, got.body)
		}
	}
	if strings.Contains(got.body, "TimerExpired") {
		t.Errorf("the log has what is meant for programs:\n%s", got.body)
	}
}

// TestLogOfAPage: what the log says for programs is said for people on the page: who made the case,
// which fields its route does not have, and how many cases of which route were started.
func TestLogOfAPage(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	buy := g.start(t, "bob", `{"route": "expense", "title": "Chairs", "xattrDict": {"amount": 12, "amuont": 13, "why": "Broken"}}`)
	vote := g.start(t, "sam", `{"route": "tip", "title": "TIP 42: sessions"}`)
	for _, test := range []struct {
		user, id string
		want     []string
	}{
		{"bob", buy, []string{"</b> created the case", "The route has no field &#34;why&#34;. The case has it all the same", "The route has no field &#34;amuont&#34;; did you mean &#34;amount&#34;? The case has it all the same", "</svg></span>the route&#39;s administrators"}},
		{"sam", vote, []string{"Started 3 cases of Vote", "3 cases of Vote</span>"}},
	} {
		got := g.browse(t, test.user).get(t, "/cases/"+test.id).body
		for _, part := range test.want {
			if !strings.Contains(got, part) {
				t.Errorf("the page of %s has no %q in\n%s", test.id, part, got)
			}
		}
		for _, part := range []string{"XATTR", "of the route tip-vote"} {
			if strings.Contains(got, part) {
				t.Errorf("the page of %s has %q", test.id, part)
			}
		}
	}
	if got := childRoute(&engine.CaseDetail{}, "tip-vote"); got != "tip-vote" {
		t.Errorf("of children that are not seen: got %q", got)
	}
}
