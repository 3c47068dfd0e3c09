package machine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
)

func TestForm(t *testing.T) {
	t.Parallel()
	p := startedByCore(t)
	p.now = p.now.Add(90*time.Minute + 250*time.Millisecond)
	if err := p.do("bob resolve"); err != nil {
		t.Fatal(err)
	}
	c := p.c.clone()
	c.ScheduleUUID, c.ScheduledFor = "C658993ADCF1410B80035DC134FEB564", startOfTests()
	c.Xattrs = label.Dict{{Key: "n", Value: label.Value{Kind: document.Number, Text: "1.50"}}, {Key: "t", Value: label.Text("a\"ü")}}
	c.Warnings = []Warning{{Timer: "nag", Time: startOfTests(), Text: "late"}, {Time: startOfTests(), Text: "later"}}
	c.Stakeholders = []string{"ann"}
	want := `{"id":17,"guid":"5d3c0123456789abcdef0123456789ab","route":"test","routeId":12,"routeVersion":3,"title":"A case","state":"active","status":"resolved",` +
		`"contextId":10100,"context":"sam","starter":"sam","priority":200,"parent":null,"parentAction":null,"children":[],` +
		`"roles":{"submitter":["sam"],"assignee":["core","@admins"],"reviewer":[]},"stakeholders":["ann"],` +
		`"xattrDict":{"n":1.50,"t":"a\"ü"},"links":{},"linkedFrom":{},"enabledActions":["comment","edit","reopen","close"],"pendingActions":["nag"],` +
		`"warnings":[{"timer":"nag","time":"2012-11-09T12:34:56Z","text":"late"},{"timer":"","time":"2012-11-09T12:34:56Z","text":"later"}],` +
		`"suspendedUntil":null,"startAt":null,"childrenCount":0,"visit":null,"scheduleUUID":"{c658993a-dcf1-410b-8003-5dc134feb564}","scheduledFor":"2012-11-09T12:34:56Z",` +
		`"resolution":null,"created":"2012-11-09T12:34:56Z","started":"2012-11-09T12:34:56Z","modified":"2012-11-09T14:04:56Z","completed":null,"version":4}` + "\n"
	if got := string(Form(c, p.r)); got != string(document.Indent([]byte(want))) {
		t.Errorf("form\n got %s\nwant %s", got, want)
	}
	queued := compact(t, Form(newPlay(t, p.r).c, p.r))
	if !strings.Contains(queued, `"state":"queued","status":null`) || !strings.Contains(queued, `"started":null`) || !strings.Contains(queued, `"scheduleUUID":null,"scheduledFor":null`) {
		t.Errorf("form of a queued case %s", queued)
	}
}

func startedByCore(t *testing.T) *play {
	t.Helper()
	p := newPlay(t, timedBug(t))
	if err := p.event(Edit{Actor: actorNamed("admin"), Roles: &[]Players{{Role: "assignee", Parties: []string{"core", PartyAdmins}}}}); err != nil {
		t.Fatal(err)
	}
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	return p
}

// timedBug is bug with a timed action and a role that nobody can fill.
func timedBug(tb testing.TB) *route.Route {
	tb.Helper()
	return makeRoute(tb, []route.Role{
		role("submitter", rule(route.RuleStarter, "")), role("assignee"), role("reviewer", rule(route.RuleXattr, "reviewer")),
	},
		"open resolved closed!",
		act{name: "open", trigger: route.TriggerInit, to: "open"},
		act{name: "comment", title: "Comment on it", always: true, allowed: allowRoles("submitter", "assignee")},
		act{name: "edit", always: true, allowed: allowRoles("submitter", "assignee")},
		act{name: "resolve", past: "Resolved", in: "open", roles: []string{"assignee", "submitter"}, timeout: "P1D", to: "resolved"},
		act{name: "nag", past: "Nagged", enabledIn: "open resolved", trigger: route.TriggerTime, timeout: "PT5M"},
		act{name: "reopen", enabledIn: "resolved closed", allowed: allowRoles("submitter"), to: "open"},
		act{name: "close", in: "resolved", roles: []string{"submitter"}, to: "closed"},
	)
}

func TestParties(t *testing.T) {
	t.Parallel()
	c := seed()
	c.Context, c.Stakeholders = "ops", []string{"zoe", "everyone"}
	c.Roles = []Players{{Role: "a", Parties: []string{"sam", PartyAdmins}}, {Role: "b", Parties: []string{PartyStakeholders, "ann"}}}
	if diff := cmp.Diff([]string{"ann", "everyone", "ops", "sam", "zoe"}, Parties(c)); diff != "" {
		t.Error(diff)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	entries := []LogEntry{
		{Seq: 1, Time: startOfTests(), Kind: LogAction, Action: new("resolve"), Actor: new("sam"), OnBehalfOf: new("ann"), From: new("open"), To: new("resolved"), Resolution: new("fixed"), Comment: new("by\nhand\u2028x"), Trigger: new(ByUser), Text: "Resolved"},
		{Seq: 2, Time: startOfTests().Add(time.Second / 2), Kind: LogAction, Action: new("tick"), Trigger: new(ByAuto), Text: "Tick"},
	}
	const text = "2012-11-09T12:34:56Z sam for ann Resolved (open → resolved) [fixed]: by hand x\n2012-11-09T12:34:56Z - Tick\n"
	if got := string(LogText(entries)); got != text {
		t.Errorf("log.txt\n got %s\nwant %s", got, text)
	}
	got := AppendLog(nil, entries)
	var read []LogEntry
	if err := json.Unmarshal(got, &read); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	entries[1].Time = startOfTests() // shown with seconds
	if diff := cmp.Diff(entries, read); diff != "" {
		t.Errorf("log.json (-entries +read): %s", diff)
	}
	if got := string(AppendLog(nil, nil)); got != "[]" {
		t.Errorf("an empty log is %s", got)
	}
}
