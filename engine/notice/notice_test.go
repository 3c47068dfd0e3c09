package notice_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
)

var update = flag.Bool("update", false, "write the golden files anew")

func noon() time.Time { return time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC) }

// sampleEvent is an approval in a case that is the child of another one.
func sampleEvent() *notice.Notice {
	return &notice.Notice{
		Kind: notice.KindTask, Time: noon(), Word: "Approved",
		Case: &machine.Case{ID: 7, GUID: "g7", RouteName: "desk", Title: "Child", Life: machine.Active, Status: "open", Modified: noon()},
		Acts: []machine.LogEntry{{
			Text: "Approved\nTo: x", Action: new("approve"), Actor: new("ann"), OnBehalfOf: new("bob"),
			From: new("open"), To: new("done"), Comment: new(" looks right\nTo: x "), Time: noon(),
		}},
		Title: func(task machine.TaskRef) string { return "Do " + task.Action },
	}
}

func samplePerson(why machine.Reason, tasks ...machine.TaskRef) *notice.Person {
	return &notice.Person{
		Notice: machine.Notice{Person: "eve", Case: 7, Why: why, Tasks: tasks},
		Name:   "eve", Email: "eve@example.org", At: &machine.Case{ID: 7, GUID: "g7", Title: "Child"}, Sees: true,
	}
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestMail(t *testing.T) {
	t.Parallel()
	mail := sampleEvent().Mail(samplePerson(machine.ReasonTask, machine.TaskRef{Case: 7, Action: "sign"}))
	want(t, "to whom", strings.Join(mail.To, " "), "eve@example.org")
	want(t, "thread", mail.Thread, "g7")
	want(t, "subject", mail.Subject, "To do: Do sign (Child)")
	want(t, "text", mail.Text, `There is something for you to do in case 7, Child:

  Do sign
    /cases/7?open=sign#todo

  Approved To: x by ann for bob (open → done), 2012-11-09 12:34 UTC
  > looks right
  > To: x

Case:         7, Child

The case:     /cases/7
Its log:      /cases/7#log
On the drive: /dav/Workflow/Cases/7.json

A link opens the form of its task. On the drive each task has a file in
/dav/Workflow/Cases/7/Actions/: save {} to it to do it, {"comment": "…"} to
say something with it, {"do": "accept"} to take it on first.

You get this because the task is yours. This mail is of the kind "New tasks".
To get no more of that kind, untick it at /account, or leave "task" out of
mail.kinds in /dav/Account/me.json. Mails of failures are another kind and go
on. {"notify": false} there would end all mails, those of failures, too.
`)
}

// TestMailOfWhatIsNotSeen: who may not see the case in which something was done is
// told nothing of what was said in it.
func TestMailOfWhatIsNotSeen(t *testing.T) {
	t.Parallel()
	p := samplePerson(machine.ReasonPlayer)
	n := sampleEvent()
	n.Case = &machine.Case{ID: 5, GUID: "g5", Title: "Parent"}
	p.At, p.Sees = n.Case, false
	mail := n.Mail(p)
	want(t, "subject", mail.Subject, "Approved: Parent")
	if strings.Contains(mail.Text, "looks right") || strings.Contains(mail.Text, "ann") {
		t.Errorf("the text is %s", mail.Text)
	}
}

// TestSentences: what is told in a line.
func TestSentences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(n *notice.Notice)
		want   string
	}{
		{"what was done", func(*notice.Notice) {}, "Approved: Child"},
		{"a vote", func(n *notice.Notice) {
			n.Child = &machine.ChildNews{ParentTitle: "TIP 42", Verb: "Voted", Action: "Approve", Done: 2, Total: 3}
		}, "Ann voted Approve: TIP 42 (2 of 3)"},
		{"one child", func(n *notice.Notice) {
			n.Child = &machine.ChildNews{ParentTitle: "Welcome", Action: "Hand over", Done: 1, Total: 1}
		}, "Ann approved: Child (1 of 1)"},
		{"a child that goes on", func(n *notice.Notice) { n.Child = &machine.ChildNews{ParentTitle: "Welcome"} }, "Ann approved: Child"},
		{"what a timer did in a child", func(n *notice.Notice) {
			n.Acts[0].Actor, n.Word = new(machine.ActorTimer), "Did not vote"
			n.Child = &machine.ChildNews{ParentTitle: "TIP 42", Verb: "Voted", Action: "No vote", Done: 3, Total: 3}
		}, "Did not vote: Child (3 of 3)"},
		{"a timer", func(n *notice.Notice) { n.Word = "Overdue: Check it" }, "Overdue: Check it (Child)"},
	}
	for _, tt := range tests {
		n := sampleEvent()
		tt.change(n)
		want(t, tt.name, n.Sentence(nil), tt.want)
	}
}

func TestMailReasons(t *testing.T) {
	t.Parallel()
	for why, because := range map[machine.Reason]string{
		machine.ReasonTask: "the task is yours", machine.ReasonReminder: "the task is yours", machine.ReasonPlayer: "you play a role in the case",
		machine.ReasonStakeholder: "you are a stakeholder of the case", machine.ReasonStarter: "you started the case", machine.ReasonWatcher: "you watch the route",
		machine.ReasonContext: "the case is yours", machine.ReasonOwner: "the schedule entry is yours", machine.ReasonTeam: "you administer the team that this belongs to",
		machine.ReasonAdmin: "you administer the route", machine.ReasonServer: "you administer the server", machine.ReasonTold: "you were told when it went wrong", machine.ReasonDeputy: "you stand in for a user who has the task",
	} {
		if text := sampleEvent().Mail(samplePerson(why)).Text; !strings.Contains(text, "You get this because "+because+".") {
			t.Errorf("%s: %s", why, text)
		}
	}
	task := machine.TaskRef{Case: 7, Action: "sign"}
	want(t, "a reminder", sampleEvent().Mail(samplePerson(machine.ReasonReminder, task)).Subject, "Reminder: Do sign (Child)")
	deputy := samplePerson(machine.ReasonTask, task)
	deputy.Behalf, deputy.Lent = []string{"bob"}, map[machine.TaskRef]string{task: "bob"}
	text := sampleEvent().Mail(deputy).Text
	for _, part := range []string{"There is something to do for bob in case 7", "because you stand in for bob."} {
		if !strings.Contains(text, part) {
			t.Errorf("a deputy is not told %q: %s", part, text)
		}
	}
}

// TestSubjects: a subject is one line, and not a long one.
func TestSubjects(t *testing.T) {
	t.Parallel()
	n := sampleEvent()
	n.Case.Title = "ä\nBcc: x" + strings.Repeat("ö", 200)
	subject := n.Mail(samplePerson(machine.ReasonWatcher)).Subject
	if n := len([]rune(subject)); n != 121 || strings.Contains(subject, "\n") || !strings.HasSuffix(subject, "…") {
		t.Errorf("%d characters: %q", n, subject)
	}
}

// TestPayload: what services are told, in testdata/payload.
func TestPayload(t *testing.T) {
	t.Parallel()
	task := sampleEvent()
	task.Links, task.ActsCase = "https://flow.example.org", 7
	task.People = []notice.Person{*samplePerson(machine.ReasonTask, machine.TaskRef{Case: 7, Action: "sign"}), *samplePerson(machine.ReasonTask, machine.TaskRef{Case: 7, Action: "sign"})}
	task.People[0].Behalf = []string{"bob"}
	outcome := sampleEvent()
	outcome.Kind, outcome.Case.Life, outcome.ActsCase = notice.KindOutcome, machine.Completed, 7
	entry := &notice.Notice{
		Kind: notice.KindFailure, Time: noon(), Entry: &notice.Entry{UUID: "0123", Title: "Nightly", Route: "rates"},
		Trouble: &notice.Trouble{What: notice.WhatUnstarted, Text: "there is no route", Since: noon(), Instant: noon()},
	}
	way := sampleWay(notice.KindMended)
	for name, n := range map[string]*notice.Notice{"task-offered": task, "completed": outcome, "schedule-failed": entry, "destination-mended": way} {
		golden(t, filepath.Join("payload", name+".json"), n.Body())
	}
}

// golden compares a JSON document with a file of testdata, or writes that.
func golden(t *testing.T, name string, document []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, bytes.TrimSpace(document), "", "  "); err != nil {
		t.Fatal(err)
	}
	goldenText(t, name, got.String()+"\n")
}

// goldenText compares a text with a file of testdata, or writes that.
func goldenText(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want(t, name, got, string(file))
}

// TestLetters: mails as people get them, in testdata/mails: with the data of the
// case, who asked, what can be done and what it leads to, dates in the zone of the
// recipient, and links that can be followed. What people have written is text.
func TestLetters(t *testing.T) {
	t.Parallel()
	lamp := &machine.Case{ID: 42, GUID: "g42", RouteName: "purchase", Title: `A lamp <script>alert(1)</script> & "more"`, Life: machine.Active, Starter: "ann"}
	berlin := time.FixedZone("Europe/Berlin", 60*60)
	bob := notice.Person{
		Notice: machine.Notice{Person: "bob", Case: 42, Why: machine.ReasonTask, Tasks: []machine.TaskRef{{Case: 42, Action: "approve"}, {Case: 42, Action: "refuse"}}},
		Name:   "bob", Email: "bob@example.org", At: lamp, Sees: true, Zone: berlin,
	}
	of := func(kind notice.Kind) *notice.Notice {
		return &notice.Notice{
			Kind: kind, Time: noon(), Case: lamp, ActsCase: 42, Links: "https://flow.example.org", Word: "Approved",
			Acts: []machine.LogEntry{{
				Text: "Requested", Action: new("request"), Actor: new("ann"), To: new("requested"), Time: noon(),
				Comment: new("For the desk.\n\nhttps://evil.example/<b>\r\nBcc: eve@example.org"),
			}},
			Title: func(task machine.TaskRef) string {
				return map[string]string{"approve": "Approve", "refuse": "Refuse it"}[task.Action]
			},
			Name: func(user string) string { return map[string]string{"ann": "Ann Example"}[user] },
			Brief: func(task machine.TaskRef) (machine.Brief, bool) {
				b := machine.Brief{Title: "Approve", Description: "Is it worth its price?", Outlook: `The case goes to "approved", which completes it.`, Due: noon().Add(48 * time.Hour), AcceptBy: noon().Add(24 * time.Hour), AcceptFirst: true}
				state := machine.TimeLimit{Kind: machine.StateTimer, At: noon().Add(72 * time.Hour), Then: `The role "Desk" is given to dora.`}
				b.Limits = []machine.TimeLimit{
					{Kind: machine.CaseTimer, At: noon(), Then: "It has come."},
					state,
					{Kind: machine.DueTimer, At: noon().Add(48 * time.Hour), Then: "The case is canceled."},
				}
				if task.Action == "refuse" {
					return machine.Brief{Limits: []machine.TimeLimit{state}}, true
				}
				return b, task.Action == "approve"
			},
			Facts: func(*machine.Case) []machine.Fact {
				return []machine.Fact{{Name: "amount", Title: "Amount", Text: "9000"}, {Name: "supplier", Title: "Supplier", Text: "Müller & Söhne\nX: y"}}
			},
		}
	}
	watcher := bob
	watcher.Why, watcher.Tasks, watcher.Zone = machine.ReasonWatcher, nil, nil
	failure := of(notice.KindFailure)
	failure.Trouble = &notice.Trouble{What: notice.WhatFailed, Text: "exec: backup ended with exit status 3", Output: "copying\n<b>disk full</b>\n", Task: "run.3-1", Since: noon()}
	entry := &notice.Notice{
		Kind: notice.KindFailure, Time: noon(), Links: "https://flow.example.org", Entry: &notice.Entry{UUID: "0123", Title: "Nightly"},
		Trouble: &notice.Trouble{What: notice.WhatUnstarted, Text: "there is no route", Since: noon(), Instant: noon()},
	}
	for name, mail := range map[string]*machine.Mail{
		"task": of(notice.KindTask).Mail(&bob), "outcome": of(notice.KindOutcome).Mail(&watcher), "failure": failure.Mail(&watcher), "entry": entry.Mail(&watcher),
	} {
		text := "Subject: " + mail.Subject + "\n\n" + mail.Text
		goldenText(t, filepath.Join("mails", name+".txt"), text)
		goldenText(t, filepath.Join("mails", name+".html"), mail.HTML)
		if strings.Contains(mail.HTML, "<script>") || strings.Contains(mail.HTML, "<b>d") || strings.ContainsAny(mail.Subject, "\r\n") {
			t.Errorf("%s: what people have written is not text: %s", name, mail.HTML)
		}
	}
	paths := of(notice.KindTask)
	paths.Links = ""
	if mail := paths.Mail(&bob); mail.HTML != "" || !strings.Contains(mail.Text, "\n    /cases/42?open=approve#todo\n") {
		t.Errorf("without the server's address it is %+v", mail)
	}
}

func sampleWay(kind notice.Kind) *notice.Notice {
	return &notice.Notice{
		Kind: kind, Time: noon(), Way: &notice.Way{ID: "slack-1", Name: "slack at hooks.slack.com", Lost: 2},
		Trouble: &notice.Trouble{Text: "POST https://hooks.slack.com answered 404 Not Found: no_service", Since: noon().Add(-time.Hour)},
	}
}

// TestWays: administrators are told of a way of telling people that fails, and
// neither by that way nor twice of a mailbox by itself.
func TestWays(t *testing.T) {
	t.Parallel()
	admin := &notice.Person{Email: "root@example.org", Notice: machine.Notice{Why: machine.ReasonServer}}
	failed, mended := sampleWay(notice.KindFailure).Mail(admin), sampleWay(notice.KindMended).Mail(admin)
	want(t, "subject", failed.Subject, "Notices do not arrive: slack at hooks.slack.com")
	want(t, "text", failed.Text, `Slack at hooks.slack.com has not taken notices since 2012-11-09 11:34 UTC:

  POST https://hooks.slack.com answered 404 Not Found: no_service

Notices that were given up meanwhile: 2. They are not sent again.

What has not been given up is tried again for a day. You are told again once a
day as long as notices are refused, and once when it works again.

You get this because you administer the server.
`)
	want(t, "subject when it is mended", mended.Subject, "Notices arrive again: slack at hooks.slack.com (2 were given up)")
	if mended.Thread != failed.Thread || !strings.Contains(mended.Text, "takes notices again. It did not since 2012-11-09 11:34 UTC.") {
		t.Errorf("the mail of the mending is %+v", mended)
	}
	again, left := sampleWay(notice.KindFailure), sampleWay(notice.KindMended)
	again.Trouble.Again = true
	want(t, "subject a day later", again.Mail(admin).Subject, "Notices still do not arrive: slack at hooks.slack.com")
	left.Way.Name, left.Trouble.Over, left.Trouble.By = "the mailbox ann@example.org", notice.EndPassed, "ann"
	mail := left.Mail(admin)
	want(t, "subject when nobody has the mailbox", mail.Subject, "Notices are not sent any more: the mailbox ann@example.org")
	if !strings.Contains(mail.Text, "No user gets mails at ann@example.org any more, as changed by ann. It had refused") {
		t.Errorf("the mail of a mailbox that nobody has is %+v", mail)
	}
	var none *notice.Way
	box, server := &notice.Way{ID: notice.Mailbox("ann@example.org")}, &notice.Way{ID: notice.MailServer}
	for _, test := range []struct {
		way       *notice.Way
		ann, root bool
	}{{none, false, false}, {box, true, false}, {server, true, true}} {
		if test.way.IsMailTo("ann@example.org") != test.ann || test.way.IsMailTo("root@example.org") != test.root {
			t.Errorf("%+v is another way", test.way)
		}
	}
}

// TestDestinationsChoose: a destination is told of what it asks for.
func TestDestinationsChoose(t *testing.T) {
	t.Parallel()
	task := sampleEvent()
	failure := &notice.Notice{Kind: notice.KindFailure, Entry: &notice.Entry{Route: "rates"}}
	way := sampleWay(notice.KindFailure)
	for _, test := range []struct {
		d    notice.Destination
		want string
	}{
		{notice.Destination{}, "task failure way mended"},
		{notice.Destination{Kinds: []notice.Kind{notice.KindTask, notice.KindOutcome}}, "task"},
		{notice.Destination{Routes: []string{"Desk"}}, "task"},
		{notice.Destination{Routes: []string{"rates", "other"}}, "failure"},
		{notice.Destination{Least: notice.Info}, "task failure way mended"},
		{notice.Destination{Least: notice.Warning}, "failure way mended"},
		{notice.Destination{Least: notice.Serious, Kinds: []notice.Kind{notice.KindFailure}, Routes: []string{"desk"}}, ""},
	} {
		var got []string
		for _, n := range []struct {
			name string
			*notice.Notice
		}{{"task", task}, {"failure", failure}, {"way", way}, {"mended", sampleWay(notice.KindMended)}} {
			if test.d.Wants(n.Notice) {
				got = append(got, n.name)
			}
		}
		want(t, fmt.Sprintf("%+v", test.d), strings.Join(got, " "), test.want)
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	f := &notice.Notice{
		Kind: notice.KindFailure, Time: noon(), Entry: &notice.Entry{UUID: "0123", Title: "Nightly"},
		Trouble: &notice.Trouble{What: notice.WhatUnstarted, Text: "there is no route", Since: noon(), Instant: noon()},
	}
	mail := f.Mail(&notice.Person{Email: "root@example.org", Notice: machine.Notice{Why: machine.ReasonAdmin}})
	want(t, "to whom", strings.Join(mail.To, " "), "root@example.org")
	want(t, "subject", mail.Subject, "Not started: Nightly: there is no route")
	want(t, "text", mail.Text, `The schedule entry "Nightly" should have started a case at 2012-11-09 12:34 UTC, and could not:

  there is no route

The entry:    /schedule/0123
Its history:  /schedule/0123#history
On the drive: /dav/Workflow/Schedule/0123.json

It tries again at its next instant, which fails, too, unless the cause is
mended. Who may change the entry can also have it try at once or pause it, on
its page or by saving {"do": "trigger"} or {"do": "pause"} to it on the drive.
You are told once a day until it has started a case, and once when it has.

You get this because you administer the route.
`)
	f.Trouble.Ended = true
	if mail := f.Mail(&notice.Person{}); strings.Contains(mail.Text, "0123.json") || !strings.Contains(mail.Text, "That was its last instant") {
		t.Errorf("of the last instant: %s", mail.Text)
	}
}

// TestTroubleSentences: what is wrong, still wrong, and mended.
func TestTroubleSentences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		trouble           notice.Trouble
		once, again, over string
	}{
		{notice.Trouble{What: notice.WhatFailed, Text: "exit status 3"}, "Failed: Child: exit status 3", "Still failed: Child: exit status 3", "Mended: Child"},
		{notice.Trouble{What: notice.WhatUnstarted}, "Not started: Child", "Still not started: Child", "Started: Child"},
		{notice.Trouble{What: notice.WhatUnstarted, Text: "no route"}, "Not started: Child: no route", "Still not started: Child: no route", "Started: Child"},
		{notice.Trouble{What: notice.WhatFailed, Text: "x", Over: notice.EndLater}, "Failed: Child: x", "Still failed: Child: x", "Mended: Child"},
		{notice.Trouble{What: notice.WhatUnstarted, Text: "x", Over: notice.EndLater}, "Not started: Child: x", "Still not started: Child: x", "Mended: Child"},
		{notice.Trouble{What: notice.WhatOverdue, Word: "Overdue: Sign"}, "Overdue: Sign (Child)", "Still overdue: Sign (Child)", "No longer overdue: Sign (Child)"},
		{notice.Trouble{What: notice.WhatOverdue, Word: "Overdue"}, "Overdue: Child", "Still overdue: Child", "No longer overdue: Child"},
		{notice.Trouble{What: notice.WhatUnstaffed, Word: "Nobody can do it: Sign"}, "Nobody can do it: Sign (Child)", "Still nobody can do it: Sign (Child)", "Somebody can do it: Sign (Child)"},
		{notice.Trouble{What: notice.WhatFailed, Text: "x", Over: notice.EndCanceled}, "Failed: Child: x", "Still failed: Child: x", "Canceled: Child"},
		{notice.Trouble{What: notice.WhatFailed, Text: "x", Over: notice.EndGivenUp}, "Failed: Child: x", "Still failed: Child: x", "Given up: Child"},
		{notice.Trouble{What: notice.WhatFailed, Text: "x", Over: notice.EndPassed}, "Failed: Child: x", "Still failed: Child: x", "No longer failed: Child"},
		{notice.Trouble{What: notice.WhatDelayed, Text: "503"}, "Not delivered yet: Child: 503", "Still not delivered yet: Child: 503", "Delivered: Child"},
		{notice.Trouble{What: notice.WhatHandler, Text: "onError of pay: x"}, "Failed: Child: onError of pay: x", "Still failed: Child: onError of pay: x", "Mended: Child"},
		{notice.Trouble{What: notice.WhatSlow, Text: "x"}, "Takes longer than usual: Child", "Still takes longer than usual: Child", "Ended after all: Child"},
		{notice.Trouble{What: notice.WhatSlow, Text: "x", Over: notice.EndCanceled}, "Takes longer than usual: Child", "Still takes longer than usual: Child", "Canceled: Child"},
	} {
		n := sampleEvent()
		n.Trouble = &tt.trouble
		n.Kind = tt.trouble.What.Kind()
		want(t, "once", n.Sentence(nil), tt.once)
		n.Trouble.Again = true
		want(t, "again", n.Sentence(nil), tt.again)
		n.Kind = notice.KindMended
		want(t, "mended", n.Sentence(nil), tt.over)
	}
}

// TestFullStopsOfPeople: what people have ended with a full stop is followed by none.
func TestFullStopsOfPeople(t *testing.T) {
	t.Parallel()
	for _, kind := range []notice.Kind{notice.KindFailure, notice.KindMended} {
		n := sampleEvent()
		n.Kind, n.Trouble = kind, &notice.Trouble{What: notice.WhatFailed, Text: "There is no table.", Since: noon(), Again: true}
		if mail := n.Mail(&notice.Person{Email: "sam@example.org"}); strings.Contains(mail.Text, "..") || strings.Contains(mail.Subject, "..") {
			t.Errorf("%s: %s\n%s", kind, mail.Subject, mail.Text)
		}
	}
}

// TestMailsSayHowTheirKindEnds: a mail tells how to end its own kind, not only all mails. Who
// took the advice to store {"notify": false} got no mails of failures either.
func TestMailsSayHowTheirKindEnds(t *testing.T) {
	t.Parallel()
	p := samplePerson(machine.ReasonStarter)
	for _, kind := range []notice.Kind{notice.KindTask, notice.KindReminder, notice.KindAct, notice.KindOutcome} {
		n := sampleEvent()
		n.Kind, n.Links = kind, "https://flow.example.org"
		text := strings.Join(strings.Fields(n.Mail(p).Text), " ")
		for _, says := range []string{
			fmt.Sprintf("This mail is of the kind %q.", kind.Title()),
			fmt.Sprintf("untick it at https://flow.example.org/account, or leave %q out of mail.kinds in https://flow.example.org/dav/Account/me.json.", kind),
			"Mails of failures are another kind and go on.",
			"would end all mails, those of failures, too.",
		} {
			if !strings.Contains(text, says) {
				t.Errorf("a mail of %s does not say %q: %s", kind, says, text)
			}
		}
	}
	for _, kind := range notice.Kinds() {
		if kind.Title() == "" {
			t.Errorf("%s has no title", kind)
		}
	}
}
