package machine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tipOf is the proposal with these voters: ann, bob and cy unless others are
// named. complete is when it is decided early, "" for never.
func tipOf(tb testing.TB, complete string, voters ...string) *world {
	tb.Helper()
	if voters == nil {
		voters = []string{"ann", "bob", "cy"}
	}
	if complete != "" {
		complete = `, complete: "` + complete + `"`
	}
	w := newWorld(tb, named(tb, "tip", strings.Replace(tipRoute, "COMPLETE", complete, 1)), named(tb, "tip-vote", voteRoute))
	w.teams["voters"] = voters
	return w
}

const tipRoute = `
roles: {submitter: {assign: [starter]}, voter: {assign: ["team:voters"]}}
states: {proposed: {type: start}, voting: {}, withdrawn: {type: cancelled}, approved: {type: complete}, rejected: {type: denied}}
actions:
  propose: {trigger: init}
  vote:
    in: [proposed]
    child: {route: tip-vote, roles: {voter: {from: voter, each: per_user}}, while: votingCOMPLETE}
    decide: >-
      tally.status.approved > 0 && (tally.status.rejected == 0 || 3 * tally.status.approved >= 2 * (tally.total - tally.canceled))
      ? "approved" : "rejected"
    outputs: {approved: approved, rejected: rejected}
  withdraw: {in: [proposed, voting], role: submitter, to: withdrawn}
`

const voteRoute = `
access: {start: [], read: []}
roles: {voter: {}}
states: {open: {type: start}, approved: {type: complete}, rejected: {type: denied}, abstained: {type: complete}}
actions:
  open: {trigger: init}
  approve: {in: [open], role: voter, to: approved, type: approve}
  reject: {in: [open], role: voter, to: rejected, type: deny}
  abstain: {in: [open], role: voter, to: abstained}
  no-vote: {in: [open], trigger: time, timeout: P7D, to: abstained}
`

// do carries out a step on a tree whose root is 17: "ann approve 18", "+24h",
// "admin !cancel 18", "admin !reopen 18".
func (w *world) do(step string) error {
	w.t.Helper()
	words := strings.Fields(step)
	if wait, is := strings.CutPrefix(words[0], "+"); is {
		d, err := time.ParseDuration(wait)
		if err != nil {
			w.t.Fatal(err)
		}
		w.pass(d)
		return nil
	}
	id := int64(17)
	if len(words) > 2 {
		id, _ = strconv.ParseInt(words[2], 10, 64)
	}
	actor := actorNamed(words[0])
	var err error
	switch words[1] {
	case "!cancel":
		err = w.event(id, Cancel{Actor: actor})
	case "!reopen":
		err = w.event(id, Reopen{Actor: actor})
	case "!suspend":
		err = w.event(id, Suspend{Actor: actor})
	case "!resume":
		err = w.event(id, Resume{Actor: actor})
	default:
		return w.perform(id, words[0], words[1])
	}
	if err == nil {
		w.run()
	}
	return err
}

// script runs the steps; want is what show says of the root, "=" for what it
// said before, or a kind of error after "!".
func (w *world) script(steps []step) {
	w.t.Helper()
	last := w.show(17)
	for i, s := range steps {
		err := w.do(s.do)
		got, want := w.show(17), s.want
		if want == "=" || strings.HasPrefix(want, "!") && got == last {
			want = strings.Replace(want, "=", last, 1)
		}
		if err != nil || strings.HasPrefix(want, "!") {
			if got != last {
				w.t.Fatalf("step %d, %q was refused (%v), and now it is %s", i+1, s.do, err, got)
			}
			got = "!" + refusal(err)
		} else {
			last = got
		}
		if got != want {
			w.t.Fatalf("step %d, %q:\n got %s\nwant %s\n err %v", i+1, s.do, got, want, err)
		}
	}
}

// tasks returns what the person is an assignee of, as "approve 18".
func (w *world) tasks(who string) (all []string) {
	actor := actorNamed(who)
	for _, id := range slices.Sorted(maps.Keys(w.cases)) {
		c := w.cases[id]
		r := w.definitionOf(c)
		for i := range c.Enabled {
			e := &c.Enabled[i]
			if action := r.Action(e.Action); e.State.forPeople() && actor.assigned(c, r.State(c.Status), &r.Actions[action], e) {
				all = append(all, fmt.Sprintf("%s %d", e.Action, id))
			}
		}
	}
	return all
}

// count returns how often an action was performed.
func (w *world) count(id int64, action string) int64 { return w.cases[id].count(action) }

const voting = "active voting | vote; 18 active open, 19 active open, 20 active open"

// TestConformanceTIP plays the rows on a proposal whose voters each get a child
// case with a deadline, and the rows on hierarchies of the tables on time and on
// states.
func TestConformanceTIP(t *testing.T) {
	t.Parallel()
	const early = "3 * tally.status.approved >= 2 * tally.total || 3 * tally.status.rejected > tally.total"
	all := func(parent string, children ...string) string {
		for i := range children {
			children[i] = fmt.Sprintf("%d %s", 18+i, children[i])
		}
		return parent + "; " + strings.Join(children, ", ")
	}
	const one, two = "active voting | vote; 18 completed approved, 19 active open, 20 active open", "active voting | vote; 18 completed approved, 19 completed approved, 20 active open"
	withdrawn := all("completed withdrawn", "canceled open", "canceled open", "canceled open")
	abstained := all("completed rejected", "closed abstained", "closed abstained", "closed abstained")
	for id, test := range map[string]struct {
		complete string
		voters   []string
		steps    []step
	}{
		"T3": {"", nil, []step{{"bob approve 18", "!not-allowed"}}},
		"T4": {"", nil, []step{{"sam approve 18", "!not-allowed"}, {"ann withdraw", "!not-allowed"}}},
		"T5": {"", nil, []step{{"ann approve 18", one}, {"ann reject 18", "!action-not-enabled"}}},
		"T6": {"", nil, []step{
			{"ann approve 18", one},
			{"bob approve 19", two},
			{"cy approve 20", all("completed approved", "closed approved", "closed approved", "closed approved")},
			{"sam withdraw", "!action-not-enabled"},
		}},
		"T7": {"", nil, []step{
			{"ann approve 18", one},
			{"bob abstain 19", all("active voting | vote", "completed approved", "completed abstained", "active open")},
			{"cy abstain 20", all("completed approved", "closed approved", "closed abstained", "closed abstained")},
		}},
		"T8": {"", nil, []step{
			{"ann abstain 18", all("active voting | vote", "completed abstained", "active open", "active open")},
			{"bob abstain 19", all("active voting | vote", "completed abstained", "completed abstained", "active open")},
			{"cy abstain 20", abstained},
		}},
		"T9": {"", nil, []step{
			{"ann approve 18", one}, {"bob approve 19", two}, {"cy reject 20", all("completed approved", "closed approved", "closed approved", "closed rejected")},
		}},
		"T11": {"", nil, []step{{"+604799s", voting}}},
		"T12": {"", nil, []step{{"+604799s", voting}, {"+1s", abstained}}},
		"T13": {"", nil, []step{{"+24h", voting}, {"ann approve 18", one}, {"+144h", all("completed approved", "closed approved", "closed abstained", "closed abstained")}}},
		"T15": {"", nil, []step{
			{"ann approve 18", one}, {"+168h", all("completed approved", "closed approved", "closed abstained", "closed abstained")}, {"bob approve 19", "!case-not-open"},
		}},
		"T16": {"", nil, []step{{"sam withdraw", withdrawn}, {"+168h", withdrawn}}},
		"T18": {"", nil, []step{{"sam withdraw", withdrawn}, {"ann approve 18", "!case-not-open"}, {"admin !reopen 18", "!case-not-open"}}},
		"T19": {"", []string{"ann"}, []step{
			{"ann approve 18", all("completed approved", "closed approved")}, {"ann reject 18", "!case-not-open"}, {"admin !reopen 18", "!case-not-open"},
		}},
		"CS4": {"", []string{"ann"}, []step{
			{"ann reject 18", all("completed rejected", "closed rejected")},
			{"ann approve 18", "!case-not-open"},
			{"admin !reopen 18", "!case-not-open"},
			{"admin !cancel 18", "!case-not-open"},
			{"admin !suspend 18", "!case-not-open"},
		}},
		"T20":         {early, nil, []step{{"ann approve 18", one}, {"bob approve 19", all("completed approved", "closed approved", "closed approved", "canceled open")}}},
		"T20/without": {"", nil, []step{{"ann approve 18", one}, {"bob approve 19", two}}},
		"T21": {early, nil, []step{
			{"ann reject 18", all("active voting | vote", "completed rejected", "active open", "active open")},
			{"bob reject 19", all("completed rejected", "closed rejected", "closed rejected", "canceled open")},
		}},
		"T25": {"", []string{}, []step{{"+0s", "completed rejected"}}},
		"T27": {"", []string{"ann", "sam"}, []step{
			{"sam approve 19", all("active voting | vote", "active open", "completed approved")}, {"sam withdraw", all("completed withdrawn", "canceled open", "closed approved")},
		}},
		"T29": {"", nil, []step{
			{"admin !cancel 18", all("active voting | vote", "canceled open", "active open", "active open")},
			{"bob approve 19", all("active voting | vote", "canceled open", "completed approved", "active open")},
			{"cy reject 20", all("completed rejected", "canceled open", "closed approved", "closed rejected")},
		}},
		"T29/all": {"", []string{"ann"}, []step{{"admin !cancel 18", all("completed rejected", "canceled open")}}},
		"D7": {"", []string{"ann", "bob"}, []step{
			{"admin !cancel 18", all("active voting | vote", "canceled open", "active open")},
			{"admin !reopen 18", all("active voting | vote", "active open", "active open")},
			{"ann approve 18", all("active voting | vote", "completed approved", "active open")},
			{"bob approve 19", all("completed approved", "closed approved", "closed approved")},
		}},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := tipOf(t, test.complete, test.voters...)
			if test.voters != nil {
				w.teams["voters"] = test.voters
			}
			w.start("tip", nil)
			w.script(test.steps)
			if n := w.count(17, "vote"); n > 1 {
				t.Errorf("the vote was counted %d times", n)
			}
		})
	}
}

// TestConformanceVoters plays the rows that look at more than the states.
func TestConformanceVoters(t *testing.T) {
	t.Parallel()
	run := func(id string, f func(t *testing.T, w *world)) {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := tipOf(t, "")
			w.start("tip", nil)
			f(t, w)
		})
	}
	run("T1", func(t *testing.T, w *world) {
		t.Helper()
		if got := w.show(17); got != voting {
			t.Errorf("%s", got)
		}
		var log []string
		for _, e := range w.logs[17] {
			log = append(log, e.Text)
		}
		if got, want := strings.Join(log, "; "), "Created; propose; 3 of the route tip-vote; vote begins"; got != want {
			t.Errorf("log %q, want %q", got, want)
		}
		if got, want := fmt.Sprint(w.tasks("sam")), "[withdraw 17]"; got != want {
			t.Errorf("tasks of sam %s, want %s", got, want)
		}
		for id := int64(18); id <= 20; id++ {
			if due := w.cases[id].NextDue(); !due.Equal(w.now.Add(604800 * time.Second)) {
				t.Errorf("case %d is due at %v", id, due)
			}
		}
	})
	run("T2", func(t *testing.T, w *world) {
		t.Helper()
		if got, want := fmt.Sprint(w.tasks("bob")), "[approve 19 reject 19 abstain 19]"; got != want {
			t.Errorf("tasks of bob %s, want %s", got, want)
		}
	})
	run("T26", func(t *testing.T, w *world) {
		t.Helper()
		if err := w.event(17, Edit{Actor: actorNamed("admin"), Roles: &[]Players{{Role: "voter", Parties: []string{"ann", "dan"}}}}); err != nil {
			t.Fatal(err)
		}
		w.run()
		w.script([]step{{"cy approve 20", "active voting | vote; 18 active open, 19 active open, 20 completed approved"}})
		if got := w.tasks("dan"); got != nil {
			t.Errorf("tasks of dan %v; children are fixed when they are created", got)
		}
	})
	run("T28", func(t *testing.T, w *world) {
		t.Helper()
		deputy := actorNamed("dan")
		deputy.DeputyFor = []Absent{{Name: "ann", Contexts: []string{"ann", "everyone"}}}
		if err := w.event(18, Perform{Action: "approve", Actor: deputy}); err != nil {
			t.Fatal(err)
		}
		e := w.logs[18][len(w.logs[18])-2]
		if e.Actor == nil || *e.Actor != "dan" || e.OnBehalfOf == nil || *e.OnBehalfOf != "ann" {
			t.Errorf("log %s", LogText([]LogEntry{e}))
		}
	})
	run("T12/log", func(t *testing.T, w *world) {
		t.Helper()
		w.pass(8 * 24 * time.Hour)
		for id := int64(18); id <= 20; id++ {
			if !slices.ContainsFunc(w.logs[id], func(e LogEntry) bool { return e.Kind == LogAction && *e.Actor == ActorTimer && *e.To == "abstained" }) {
				t.Errorf("log\n%s", LogText(w.logs[id]))
			}
		}
	})
	t.Run("T30", func(t *testing.T) {
		t.Parallel()
		w := tipOf(t, "")
		faulty := named(t, "faulty", strings.NewReplacer("COMPLETE", "", "tally.status.approved > 0", "tally.status.none > 0").Replace(tipRoute))
		w.routes["faulty"] = &Definition{ID: 3, Version: 1, Route: faulty}
		first, second := w.start("faulty", nil), w.start("tip", nil)
		w.pass(7 * 24 * time.Hour)
		if got := w.show(second); !strings.HasPrefix(got, "completed rejected") {
			t.Errorf("the second is %s", got)
		}
		if c := w.cases[first]; c.Life != Active || c.Enabled[w.cases[first].placeOf(1)].State != Escalated {
			t.Errorf("the first is %s", w.show(first))
		}
	})
}

// family plays routes by steps.
func family(t *testing.T, steps []step, texts ...string) *world {
	t.Helper()
	w := newWorld(t)
	for i := 0; i < len(texts); i += 2 {
		w.routes[texts[i]] = &Definition{ID: int64(i + 1), Version: 1, Route: named(t, texts[i], texts[i+1])}
	}
	w.start(texts[0], nil)
	w.script(steps)
	return w
}

const askInfo = `
roles: {informer: {}, recipient: {}}
states: {asked: {type: start}, given: {type: complete}}
actions:
  ask: {trigger: init}
  give: {in: [asked], role: informer, to: given}
`

// counsel is a consultation of two lawyers, each of whom asks the other side's
// client, the other lawyer and the library. Each question is a child case.
const counsel = `
model: dependency
roles: {l1: {assign: ["user:bob"]}, l2: {assign: ["user:cy"]}, c1: {assign: ["user:ann"]}, c2: {assign: ["user:dan"]}, library: {}}
actions:
  a1: {child: {route: ask-info, roles: {recipient: {from: l1}, informer: {from: c2}}}}
  a2: {after: [a1], child: {route: ask-info, roles: {recipient: {from: l1}, informer: {from: l2}}}}
  a3: {child: {route: ask-info, roles: {recipient: {from: l1}, informer: {from: library}}}}
  a4: {after: [a2, a3], role: l1}
  b1: {child: {route: ask-info, roles: {recipient: {from: l2}, informer: {from: c1}}}}
  done: {after: [a4, b1], role: l1, final: true}
`

// TestConformanceHierarchy plays the rows of the reference's own tests, and
// those of the lawyers that have cases for questions.
func TestConformanceHierarchy(t *testing.T) {
	t.Parallel()
	const asks = "states: {asking: {type: start}, giving: {}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n  ask: {in: [asking], allowed: everyone, to: giving}\n  give: {in: [giving], allowed: everyone, to: done}\n"
	t.Run("HW", func(t *testing.T) {
		t.Parallel()
		family(t, []step{
			{"+0s", "active asking_client | lac; 18 active asking"},
			{"sam ask 18", "active asking_client | lac; 18 active giving"},
			{"sam give 18", "active asking_lawyer | cal; 18 closed done, 19 active asking"},
			{"sam ask 19", "active asking_lawyer | cal; 18 closed done, 19 active giving"},
			{"sam give 19", "completed done; 18 closed done, 19 closed done"},
		}, "outer", `
states: {asking_client: {type: start}, asking_lawyer: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  lac: {in: [asking_client], child: {route: asks, roles: {}}, to: asking_lawyer}
  cal: {in: [asking_lawyer], child: {route: asks, roles: {}}, to: done}
`, "asks", asks)
	})
	t.Run("PS", func(t *testing.T) {
		t.Parallel()
		w := family(t, []step{
			{"sam para_b 18", "active s1 | both; 18 active"},
			{"sam para_b 18", "!action-not-enabled"},
			{"sam para_a 18", "active s2; 18 closed"},
			{"sam task_two", "completed done; 18 closed"},
		}, "outer", `
states: {s1: {type: start}, s2: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  both: {in: [s1], child: {route: parallel, roles: {}}, to: s2}
  task_two: {in: [s2], allowed: everyone, to: done}
`, "parallel", "model: dependency\nactions:\n  para_a: {allowed: everyone}\n  para_b: {allowed: everyone}\n")
		if got := w.tasks("sam"); got != nil {
			t.Errorf("tasks %v", got)
		}
	})
	t.Run("DY", func(t *testing.T) {
		t.Parallel()
		w := family(t, nil, "outer", `
roles: {role1: {assign: ["team:core"]}, role2: {assign: ["user:ann"]}}
states: {s1: {type: start}, s2: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  dyn: {in: [s1], child: {route: task, roles: {who: {from: role1, each: per_user}}}, to: s2}
  task_two: {in: [s2], role: role2, to: done}
`, "task", "roles: {who: {}}\nstates: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n  do: {in: [open], role: who, to: done}\n")
		sees := func(want string) {
			t.Helper()
			if got := fmt.Sprint(w.tasks("bob"), w.tasks("cy"), w.tasks("ann")); got != want {
				t.Errorf("tasks %s, want %s", got, want)
			}
		}
		sees("[do 18] [do 19] []")
		w.script([]step{{"cy do 19", "active s1 | dyn; 18 active open, 19 completed done"}})
		sees("[do 18] [] []")
		w.script([]step{{"bob do 18", "active s2; 18 closed done, 19 closed done"}})
		sees("[] [] [task_two 17]")
		w.script([]step{{"ann task_two", "completed done; 18 closed done, 19 closed done"}})
		sees("[] [] []")
	})
	t.Run("RC", func(t *testing.T) {
		t.Parallel()
		const child = "roles: {asker: {}, giver: {}}\nstates: {open: {type: start}, asked: {}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n" +
			"  ask: {in: [open], role: asker, to: asked}\n  give: {in: [asked], role: giver, to: done}\n"
		w := family(t, []step{
			{"+0s", "active open | do; 18 active open"},
			{"ann ask 18", "!not-allowed"},
			{"bob ask 18", "active open | do; 18 active asked"},
			{"bob give 18", "!not-allowed"},
			{"ann give 18", "completed done; 18 closed done"},
		}, "outer", `
roles: {lawyer: {assign: ["user:bob"]}, client: {assign: ["user:ann"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  do: {in: [open], child: {route: inner, roles: {asker: {from: lawyer}, giver: {from: client}}}, to: done}
`, "inner", child)
		if len(w.cases[17].Enabled)+len(w.cases[18].Enabled) > 0 {
			t.Error("something is enabled still")
		}
	})
	for _, id := range []string{"TM15", "SIM-timeouts"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := family(t, []step{
				{"sam ask 18", "active open | do; 18 active giving"},
				{"+59m", "active open | do; 18 active giving"},
				{"+1m", "completed late; 18 canceled giving"},
				{"sam give 18", "!case-not-open"},
			}, "outer", `
states: {open: {type: start}, late: {type: denied}, done: {type: complete}}
actions:
  begin: {trigger: init}
  do: {in: [open], timeout: PT1H, child: {route: asks, roles: {}}, decide: 'tally.open > 0 ? "late" : "done"', outputs: {late: late, done: done}}
`, "asks", asks)
			fired := func(e LogEntry) bool {
				return e.Kind == LogAction && *e.Action == "do" && *e.Actor == ActorTimer && *e.Trigger == ByTime
			}
			if !slices.ContainsFunc(w.logs[17], fired) {
				t.Errorf("log\n%s", LogText(w.logs[17]))
			}
		})
	}
	t.Run("CS6", func(t *testing.T) {
		t.Parallel()
		const chain = "states: {open: {type: start}, done: {type: complete}}\nactions:\n  begin: {trigger: init}\n  do: {in: [open], child: {route: NEXT, roles: {}}, to: done}\n"
		w := family(t, []step{{"admin !cancel", "canceled open; 18 canceled open"}},
			"first", strings.Replace(chain, "NEXT", "second", 1), "second", strings.Replace(chain, "NEXT", "asks", 1), "asks", asks)
		for id, c := range w.cases {
			if c.Life != Canceled || len(c.Enabled) > 0 {
				t.Errorf("case %d is %s", id, w.show(id))
			}
		}
	})
}

func TestConformanceLawyers(t *testing.T) {
	t.Parallel()
	const begun = "active | a1 a3 b1; 18 active asked, 19 active asked, 20 active asked"
	t.Run("L16", func(t *testing.T) {
		t.Parallel()
		family(t, []step{
			{"+0s", begun},
			{"bob give 18", "!not-allowed"},
			{"ann give 18", "!not-allowed"},
			{"dan give 18", "active | a2 a3 b1; 18 closed given, 19 active asked, 20 active asked, 21 active asked"},
		}, "counsel", counsel, "ask-info", askInfo)
	})
	t.Run("L17", func(t *testing.T) {
		t.Parallel()
		family(t, []step{{"ann give 20", "active | a1 a3; 18 active asked, 19 active asked, 20 closed given"}}, "counsel", counsel, "ask-info", askInfo)
	})
	t.Run("L19", func(t *testing.T) {
		t.Parallel()
		family(t, []step{
			{"dan give 18", "active | a1 a2 a3 b1; 18 closed given, 19 active asked, 20 active asked, 21 active asked, 22 active asked"},
			{"cy give 22", "active | a1 a3 b1; 18 closed given, 19 active asked, 20 active asked, 21 active asked, 22 closed given"},
			{"dan give 21", "active | a1 a3 b1; 18 closed given, 19 active asked, 20 active asked, 21 closed given, 22 closed given, 23 active asked"},
		}, "counsel", strings.Replace(counsel, "a1: {", "a1: {max: unlimited, ", 1), "ask-info", askInfo)
	})
	t.Run("L21", func(t *testing.T) {
		t.Parallel()
		w := family(t, []step{
			{"dan give 18", "active | a2 a3 b1; 18 closed given, 19 active asked, 20 active asked, 21 active asked"},
			{"cy give 21", "active | a3 b1; 18 closed given, 19 active asked, 20 active asked, 21 closed given"},
			{"bob a4", "!action-not-enabled"},
		},
			"counsel", counsel, "ask-info", askInfo)
		for _, id := range []int64{17, 19} {
			if c := w.cases[id]; len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Text, `Nobody plays "informer"`) {
				t.Errorf("warnings of case %d: %+v", id, c.Warnings)
			}
		}
	})
}
