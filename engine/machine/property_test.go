package machine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// drawRoute draws a route of a few states and actions; loops and actions
// that cannot be reached are likely.
func drawRoute(t *rapid.T) *route.Route {
	states := "a"
	names := []string{"a"}
	for i := range rapid.IntRange(0, 3).Draw(t, "more states") {
		name := string(rune('b' + i))
		names = append(names, name)
		states += " " + name
		if rapid.Bool().Draw(t, name+" complete") {
			states += "!"
		}
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID)
	kinds := []route.RuleKind{
		route.RuleStarter, route.RuleUser, route.RuleTeam, route.RuleEveryone, route.RuleRole, route.RuleStakeholders, route.RuleAdmins, route.RuleXattr,
	}
	var roles []route.Role
	for i := range rapid.IntRange(0, 3).Draw(t, "roles") {
		var rules []route.Rule
		for _, kind := range rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 3).Draw(t, "rules") {
			of := []string{"sam", "core", "nobody"}
			if kind == route.RuleRole {
				of = []string{"r0", "r1", "r2"}
			} else if kind == route.RuleXattr {
				of = []string{"who", "absent"}
			}
			rules = append(rules, rule(kind, rapid.SampledFrom(of).Draw(t, "of")))
		}
		roles = append(roles, role(fmt.Sprintf("r%d", i), rules...))
	}
	var acts []act
	for i := range rapid.IntRange(0, 6).Draw(t, "actions") {
		a := act{name: fmt.Sprintf("x%d", i), allowed: everybody()}
		a.trigger = rapid.SampledFrom([]route.Trigger{route.TriggerUser, route.TriggerUser, route.TriggerTime, route.TriggerAuto}).Draw(t, "trigger")
		a.always = rapid.IntRange(0, 5).Draw(t, "always") == 0
		for _, s := range some.Draw(t, "in") {
			if rapid.Bool().Draw(t, "assigned") {
				a.in += " " + s
			} else {
				a.enabledIn += " " + s
			}
		}
		a.to = rapid.SampledFrom(append([]string{""}, names...)).Draw(t, "to")
		if a.trigger == route.TriggerTime || a.trigger == route.TriggerUser && rapid.Bool().Draw(t, "timed") {
			a.timeout = rapid.SampledFrom([]string{"PT0S", "PT1S", "PT5S", "P1M"}).Draw(t, "timeout")
		}
		if len(roles) > 0 && rapid.Bool().Draw(t, "for a role") {
			a.roles, a.allowed = []string{"r0"}, nil
		}
		acts = append(acts, a)
	}
	return makeRoute(t, roles, states, acts...)
}

func drawEvent(t *rapid.T, r *route.Route) Event {
	actor := actorNamed(rapid.SampledFrom([]string{"sam", "bob", "admin"}).Draw(t, "actor"))
	switch rapid.SampledFrom([]string{"perform", "perform", "perform", "perform", "perform", "due", "due", "due", "edit", "wake", "cancel", "start", "suspend", "resume", "resume", "reopen", "reopen"}).Draw(t, "event") {
	case "perform":
		action := rapid.SampledFrom(r.Actions).Draw(t, "action").Name
		return Perform{Action: action, Actor: actor, Comment: rapid.SampledFrom([]string{"", " ", "well"}).Draw(t, "comment")}
	case "due":
		return Due{}
	case "edit":
		e := Edit{Actor: actor}
		if rapid.Bool().Draw(t, "title") {
			e.Title = new(rapid.SampledFrom([]string{"", "x", "ü"}).Draw(t, "to"))
		}
		if rapid.Bool().Draw(t, "xattrs") {
			e.Xattrs = &label.Dict{{Key: "who", Value: label.Text(rapid.SampledFrom([]string{"sam", "core", "nobody"}).Draw(t, "who"))}}
		}
		if len(r.Roles) > 0 && rapid.Bool().Draw(t, "roles") {
			e.Roles = &[]Players{{Role: "r0", Parties: rapid.SliceOfN(rapid.SampledFrom([]string{"sam", "bob", PartyAdmins}), 0, 3).Draw(t, "players")}}
		}
		if rapid.Bool().Draw(t, "stakeholders") {
			e.Stakeholders = new(rapid.SliceOfN(rapid.SampledFrom([]string{"sam", "core"}), 0, 2).Draw(t, "stakeholders"))
		}
		return e
	case "wake":
		return Wake{Actor: actor, Label: "x"}
	case "cancel":
		return Cancel{Actor: actor}
	case "suspend":
		return Suspend{Actor: actor, Until: drawDate(t)}
	case "resume":
		return Resume{Actor: actor}
	case "reopen":
		return Reopen{Actor: actor}
	}
	return Start{}
}

// drawDate draws until when a case is suspended; zero for no date.
func drawDate(t *rapid.T) time.Time {
	return rapid.SampledFrom([]time.Time{{}, startOfTests(), startOfTests().Add(30 * time.Second), startOfTests().AddDate(0, 2, 0)}).Draw(t, "until")
}

// twice decides two times and checks that equal inputs give byte-equal
// outputs and leave the case they were given alone.
func twice(t *rapid.T, in Input) (*Output, error) {
	t.Helper()
	before := string(in.Case.Marking())
	out, needs, err := Decide(in)
	if needs != nil {
		t.Fatalf("needs %v", needs)
	}
	render := func(out *Output) string {
		if out == nil {
			return ""
		}
		return string(out.Case.Marking()) + string(Form(out.Case, in.Route)) + string(AppendLog(nil, out.Log))
	}
	first := render(out)
	again, _, errAgain := Decide(in)
	if second := render(again); first != second || fmt.Sprint(err) != fmt.Sprint(errAgain) {
		t.Fatalf("the same input twice:\n%s %v\n%s %v", first, err, second, errAgain)
	}
	if after := string(in.Case.Marking()); after != before {
		t.Fatalf("%T changed its input:\n%s\n%s", in.Event, before, after)
	}
	return out, err
}

// TestProperties walks random routes by random events
// (docs/contract/engine.md#7-what-must-hold).
func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRoute(t)
		now := startOfTests()
		first := Input{Route: r, Case: seed(), Event: Create{}, Now: now, Facts: factsOfTests()}
		recorded := []Input{first}
		out, err := twice(t, first)
		if err != nil {
			t.Fatal(err)
		}
		c := out.Case
		for _, e := range append([]Event{Start{}}, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Event { return drawEvent(t, r) }), 0, 20).Draw(t, "events")...) {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Second, 7 * time.Second, -time.Second, 40 * 24 * time.Hour}).Draw(t, "later"))
			in := Input{Route: r, Case: c, Event: e, Now: now, Facts: factsOfTests()}
			out, err := twice(t, in)
			if err != nil {
				checkRefusal(t, e, err)
				continue
			}
			checkOutput(t, in, out)
			recorded = append(recorded, in)
			c = out.Case
		}
		replayed := seed()
		for _, in := range recorded {
			in.Case = replayed
			out, _, err := Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			replayed = out.Case
		}
		if string(replayed.Marking()) != string(c.Marking()) {
			t.Fatalf("replayed\n got %s\nwant %s", replayed.Marking(), c.Marking())
		}
	})
}

func checkRefusal(t *rapid.T, e Event, err error) {
	t.Helper()
	switch errs.KindOf(err) {
	case errs.NotFound, errs.CaseNotOpen, errs.ActionNotEnabled, errs.NotAllowed:
	case errs.EndlessLoop:
		if _, sweeps := e.(Due); sweeps {
			t.Fatalf("a sweep was refused: %v", err)
		}
	default:
		t.Fatalf("%T: %v", e, err)
	}
}

func checkOutput(t *rapid.T, in Input, out *Output) {
	t.Helper()
	r, c := in.Route, out.Case
	if wrong := consistent(r, in.Case, out); wrong != "" {
		t.Fatalf("after %#v: %s\n%s", in.Event, wrong, c.Marking())
	}
	if due := c.NextDue(); !due.IsZero() && (!due.After(in.Now) || !due.After(c.Modified)) {
		t.Fatalf("after %#v something is due still: %s", in.Event, c.Marking())
	}
	for _, again := range []Event{Due{}, Wake{}} {
		second, _, err := Decide(Input{Route: r, Case: c, Event: again, Now: in.Now, Facts: in.Facts})
		if err != nil {
			t.Fatalf("%T after %T: %v", again, in.Event, err)
		}
		if diff := cmp.Diff(c, second.Case); diff != "" || second.Log != nil {
			t.Fatalf("a second pass by %T changed %s", again, diff)
		}
	}
	for _, p := range c.Roles {
		if len(p.Parties) == 0 || r.Role(p.Role) == nil {
			t.Fatalf("role %+v", p)
		}
	}
	for i := range c.Enabled {
		if TaskForm(c, r, c.Enabled[i].Action, Beside{}) == nil {
			t.Fatalf("%s has no task", c.Enabled[i].Action)
		}
	}
}
