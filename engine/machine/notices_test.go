package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// showNotices says who is told of what, as in
// "Approved: bob task 17.pay, sam starter 17".
func showNotices(n *Notices) string {
	if n == nil {
		return ""
	}
	var acts, to []string
	for i := range n.Acts {
		acts = append(acts, n.Acts[i].Text)
	}
	for _, notice := range n.To {
		text := notice.Person + " " + string(notice.Why)
		if len(notice.Tasks) == 0 {
			text += fmt.Sprintf(" %d", notice.Case)
		}
		for _, task := range notice.Tasks {
			text += fmt.Sprintf(" %d.%s", task.Case, task.Action)
		}
		to = append(to, text)
	}
	for _, news := range n.News {
		if news.Ended {
			acts = append(acts, fmt.Sprintf("%d ended %q", news.Case, news.Word))
		}
	}
	if c := n.Child; c != nil && c.Done > 0 {
		acts = append(acts, fmt.Sprintf("%s %s of %q, %d of %d", c.Verb, c.Action, c.ParentTitle, c.Done, c.Total))
	}
	return strings.Join(acts, "; ") + ": " + strings.Join(to, ", ")
}

// told returns the notices since it was last asked.
func (w *world) told() []string {
	out := w.notices
	w.notices = nil
	return out
}

const deskRoute = `
access: {start: [everyone]}
notify: {remind: P2D}
roles:
  clerk: {assign: ["team:core"]}
  boss: {assign: [admins]}
  reader: {assign: ["user:ann"]}
  all: {assign: [everyone]}
states: {open: {type: start}, checked: {}, signed: {}, done: {type: complete}}
actions:
  begin: {trigger: init, past: Begun}
  check: {in: [open], role: clerk, to: checked, past: Checked, choice: c, dueIn: P9D}
  pass: {in: [open], role: clerk, to: checked, choice: c}
  help: {enabledIn: [open], allowed: [everyone]}
  cheer: {in: [open], role: all}
  sign: {in: [checked], role: boss, to: signed, past: Signed}
  file: {trigger: auto, in: [signed], to: done, past: Filed}
`

// TestNotices: who is told of an event, in which order, and once
// (docs/contract/routes.md#6-notifications). Team core is bob and cy; the
// starter is sam.
func TestNotices(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	do := func(event Event) func(*world, int64) error {
		return func(w *world, id int64) error { return w.event(id, event) }
	}
	perform := func(who, action string) func(*world, int64) error {
		return do(Perform{Action: action, Actor: actorNamed(who)})
	}
	wait := func(d time.Duration) func(*world, int64) error {
		return func(w *world, _ int64) error { w.pass(d); return nil }
	}
	tests := []struct {
		name  string
		steps []func(*world, int64) error
		want  []string // of the last step
	}{
		{"a start", nil, []string{"Begun: bob task 17.check 17.pass, cy task 17.check 17.pass, admin player 17, ann player 17, dora stakeholder 17, eve watcher 17"}},
		{
			"who did it is not told of it",
			[]func(*world, int64) error{perform("cy", "check")},
			[]string{"Checked, which withdrew pass: admin task 17.sign, bob player 17, ann player 17, dora stakeholder 17, sam starter 17, eve watcher 17"},
		},
		{
			"what follows by itself is not told of, unless it ends the case",
			[]func(*world, int64) error{perform("cy", "check"), perform("admin", "sign")},
			[]string{`Signed; 17 ended "Done": bob player 17, cy player 17, admin player 17, ann player 17, dora stakeholder 17, sam starter 17, eve watcher 17`},
		},
		{"accepting", []func(*world, int64) error{do(Accept{Action: "check", Actor: actorNamed("bob")})}, nil},
		{
			"releasing offers again",
			[]func(*world, int64) error{do(Accept{Action: "check", Actor: actorNamed("bob")}), do(Release{Action: "check", Actor: actorNamed("bob")})},
			[]string{": bob task 17.check 17.pass, cy task 17.check 17.pass"},
		},
		{"delegating", []func(*world, int64) error{do(Delegate{Action: "check", Actor: actorNamed("bob"), To: "ann"})}, []string{": ann task 17.check"}},
		{
			"another player of a role",
			[]func(*world, int64) error{do(Edit{Actor: actorNamed("admin"), Roles: new([]Players{{Role: "clerk", Parties: []string{"bob", "dora"}}})})},
			[]string{": dora task 17.check 17.pass"},
		},
		{
			"the same players of a role",
			[]func(*world, int64) error{do(Edit{Actor: actorNamed("admin"), Roles: new([]Players{{Role: "clerk", Parties: []string{"cy", "bob"}}})})},
			nil,
		},
		{
			"a timer that the route does not deal with is told as what is wrong",
			[]func(*world, int64) error{wait(day)},
			nil,
		},
		{"reminders", []func(*world, int64) error{wait(day), wait(day)}, []string{": bob reminder 17.check 17.pass, cy reminder 17.check 17.pass"}},
		{"a reminder of what was accepted", []func(*world, int64) error{do(Accept{Action: "check", Actor: actorNamed("bob")}), wait(day), wait(day)}, []string{": bob reminder 17.check"}},
		{
			"suspending",
			[]func(*world, int64) error{do(Suspend{Actor: actorNamed("ann")})},
			[]string{"Suspended: bob player 17, cy player 17, admin player 17, dora stakeholder 17, sam starter 17, eve watcher 17"},
		},
		{
			"a remark",
			[]func(*world, int64) error{do(Edit{Actor: actorNamed("ann"), Remark: "Is it urgent?"})},
			[]string{"Remarked: bob player 17, cy player 17, admin player 17, dora stakeholder 17, sam starter 17, eve watcher 17"},
		},
		{
			"a remark that is sent again",
			[]func(*world, int64) error{do(Edit{Actor: actorNamed("ann"), Remark: "Is it urgent?"}), do(Edit{Actor: actorNamed("ann"), Remark: "Is it urgent? "})},
			nil,
		},
		{"an edit", []func(*world, int64) error{do(Edit{Actor: actorNamed("sam"), Title: new("Other")})}, nil},
		{
			"being given a role",
			[]func(*world, int64) error{do(Edit{Actor: actorNamed("sam"), Stakeholders: new([]string{"bob"})}), perform("cy", "check")},
			[]string{"Checked, which withdrew pass: admin task 17.sign, bob player 17, ann player 17, sam starter 17, eve watcher 17"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, named(t, "desk", deskRoute))
			w.tells, w.watchers = true, map[string][]string{"desk": {"eve", "bob"}}
			id := w.start("desk", func(c *Case) { c.Stakeholders = []string{"dora", "CY"} })
			for i, step := range tt.steps {
				w.told()
				if err := step(w, id); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			if diff := cmp.Diff(tt.want, w.told()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoticesNobodyAsks: nothing is worked out where nobody could be told.
func TestNoticesNobodyAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, named(t, "desk", deskRoute))
	w.start("desk", nil)
	if told := w.told(); told != nil {
		t.Errorf("told: %q", told)
	}
}

// TestNoticesOfTrees: what happens to a child happens to its parent's people,
// and everybody is told once (facts: the vote, T6).
func TestNoticesOfTrees(t *testing.T) {
	t.Parallel()
	w := tip(t)
	w.tells, w.watchers = true, map[string][]string{"tip": {"eve"}, "tip-vote": {"eve", "fay"}}
	id := w.start("tip", nil)
	want := []string{"propose: bob task 18.approve 18.reject 18.abstain, cy task 19.approve 19.reject 19.abstain, eve watcher 17"}
	if diff := cmp.Diff(want, w.told()); diff != "" {
		t.Error(diff)
	}
	vote := func(who string, child int64, want string) {
		t.Helper()
		if err := w.perform(child, who, "approve"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, w.told()); diff != "" {
			t.Errorf("%s votes: %s", who, diff)
		}
	}
	vote("bob", id+1, "approve; 18 ended \"approve\";  approve of \"A case\", 1 of 2: sam player 17, cy player 17, eve watcher 18, fay watcher 18")
	// The last vote decides, and closes the children: that follows from it.
	vote("cy", id+2, "approve; 19 ended \"approve\"; 17 ended \"Approved\";  approve of \"A case\", 2 of 2: sam player 17, bob player 17, cy player 17, eve watcher 19, fay watcher 19")
}
