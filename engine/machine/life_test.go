package machine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	s := seed()
	s.Xattrs = label.Dict{{Key: "b", Value: label.Text("2")}, {Key: "a", Value: label.Text("1")}}
	s.Roles = []Players{{Role: "assignee", Parties: []string{"ann", "Ann", "core"}}, {Role: "submitter"}}
	s.Stakeholders = []string{"bob", "bob"}
	s.Version, s.LogSeq, s.Life, s.Status = 9, 9, Failed, "open" // a clone's: the server counts afresh
	out, needs, err := Decide(Input{Route: bug(t), Case: s, Event: Create{Warnings: []string{"no label X"}}, Now: startOfTests()})
	if err != nil || needs != nil {
		t.Fatal(err, needs)
	}
	c := out.Case
	got := fmt.Sprint(c.Life, c.Status, c.Version, c.Revision, c.LogSeq, c.Roles, c.Stakeholders, c.Xattrs, c.Enabled)
	want := fmt.Sprint(Queued, "", 1, 1, 2, []Players{{Role: "assignee", Parties: []string{"ann", "core"}}}, []string{"bob"},
		label.Dict{{Key: "a", Value: label.Text("1")}, {Key: "b", Value: label.Text("2")}}, []Enabled{})
	if got != want {
		t.Errorf("created\n got %s\nwant %s", got, want)
	}
	if !c.Created.Equal(startOfTests()) || !c.Modified.Equal(startOfTests()) || !c.Started.IsZero() || !c.NextDue().IsZero() {
		t.Errorf("times %v %v %v %v", c.Created, c.Modified, c.Started, c.NextDue())
	}
	const log = "2012-11-09T12:34:56Z sam Created (→ queued)\n2012-11-09T12:34:56Z - no label X\n"
	if got := string(LogText(out.Log)); got != log || out.Log[0].Kind != LogLife || out.Log[1].Kind != LogWarning {
		t.Errorf("log\n%s", got)
	}

	s.ScheduleUUID = "c658993adcf1410b80035dc134feb564"
	s.ScheduledFor = startOfTests().In(time.FixedZone("CET", 3600))
	out, _, _ = Decide(Input{Route: bug(t), Case: s, Event: Create{}, Now: startOfTests()})
	if got := out.Case.ScheduledFor; got != startOfTests() {
		t.Errorf("scheduled for %v, want %v", got, startOfTests())
	}
	if e := out.Log[0]; *e.Actor != ActorTimer || *e.Trigger != ByTime {
		t.Errorf("a scheduled case was created by %s, %s", *e.Actor, *e.Trigger)
	}
	s.Roles = []Players{{Role: "asignee", Parties: []string{"ann"}}}
	_, _, err = Decide(Input{Route: bug(t), Case: s, Event: Create{}, Now: startOfTests()})
	if e := asError(t, err); e.Kind != errs.Invalid || e.Faults[0].Pointer != "/roles/asignee" || e.Faults[0].Code != errs.CodeNotFound {
		t.Errorf("unknown role: %v", err)
	}
}

func asError(t *testing.T, err error) *errs.Error {
	t.Helper()
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatalf("err %v, want an errs.Error", err)
	}
	return e
}

func TestStart(t *testing.T) {
	t.Parallel()
	p := newPlay(t, bug(t))
	p.now = p.now.Add(time.Minute)
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	if !p.c.Started.Equal(p.now) || p.c.Version != 2 || p.c.Visit != 1 {
		t.Errorf("started %v, version %d, visit %d", p.c.Started, p.c.Version, p.c.Visit)
	}
	want := `[{"seq":2,"time":"2012-11-09T12:35:56Z","kind":"action","action":"open","actor":"sam","onBehalfOf":null,"from":null,"to":"open",` +
		`"comment":null,"resolution":null,"trigger":"init","text":"Opened"}]`
	if got := string(AppendLog(nil, p.log[1:])); got != want {
		t.Errorf("log\n got %s\nwant %s", got, want)
	}
	if diff := cmp.Diff([]Performed{{Action: "open", Count: 1, By: "sam", At: p.now, Seq: 2}}, p.c.Performed); diff != "" {
		t.Error(diff)
	}
	if err := p.do("start"); !errs.Is(err, errs.CaseNotOpen) {
		t.Errorf("started twice: %v", err)
	}
}

func TestStartLeadsToStart(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, nil, "a b", act{name: "begin", trigger: route.TriggerInit})
	newPlay(t, r).script([]step{{"start", "active a:"}})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p := started(t, bug(t))
	if err := p.event(Cancel{Actor: actorNamed("sam"), Comment: " no\nmore "}); err != nil {
		t.Fatal(err)
	}
	if got, want := p.state(), "canceled open:"; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
	if got, want := string(LogText(p.log[2:])), "2012-11-09T12:34:56Z sam Canceled (active → canceled):  no more \n"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
	p.script([]step{{"cancel", "!case-not-open"}, {"due", "canceled open:"}, {"wake", "canceled open:"}})
	newPlay(t, bug(t)).script([]step{{"cancel", "canceled :"}, {"start", "!case-not-open"}})
	p = started(t, bug(t))
	p.script([]step{{"admin resolve", "active resolved: comment edit resolve reopen close"}, {"sam close", "completed closed: comment edit reopen"}, {"cancel", "!case-not-open"}})
}

// TestEditSaysWhatChanged repeats an edit of XATTRs, of which the log said no more than
// "Changed xattrDict".
func TestEditSaysWhatChanged(t *testing.T) {
	t.Parallel()
	number := func(text string) label.Value { return label.Value{Kind: document.Number, Text: text} }
	one := func(key string, v label.Value) label.Dict { return label.Dict{{Key: key, Value: v}} }
	long := strings.Repeat("a long text, ", 40)
	var many label.Dict
	for i := range 25 {
		many = append(many, label.XAttr{Key: fmt.Sprintf("k%02d", i), Value: number("1")})
	}
	var wide label.Dict
	for i := range 25 {
		wide = append(wide, label.XAttr{Key: fmt.Sprintf("k%02d", i), Value: label.Text(strings.Repeat("ä", 100))})
	}
	for _, test := range []struct {
		before, after label.Dict
		want          string
	}{
		{one("supplier", label.Text("Sit")), one("supplier", label.Text("Other Ltd")), "Changed supplier: Sit → Other Ltd"},
		{one("supplier", label.Text("Sit")), label.Dict{}, "Changed supplier removed, was Sit"},
		{nil, one("supplier", label.Text("")), `Changed supplier: ""`},
		{one("a", label.Text("5")), one("a", number("5")), `Changed a: "5" → 5`},
		{one("a", number("5")), label.Dict{{Key: "b", Value: number("6")}, {Key: "0", Value: number("7")}}, "Changed 0: 7; a removed, was 5; b: 6"},
		{one("note", label.Text("x")), one("note", label.Text("x; paid: no → yes")), `Changed note: x → "x; paid: no → yes"`},
		{one("note", label.Text("x")), one("note", label.Text("x\ny")), `Changed note: x → "x\ny"`},
		{one("priority", number("1")), one("priority", number("2")), "Changed xattr.priority: 1 → 2"},
		{one("note", label.Text(long)), one("note", label.Text(long+"end")), `Changed note: "… text, a long text, " → … text, a long text, end`},
		{nil, many, "Changed k00: 1; "},
		{nil, wide, "Changed k00: "},
	} {
		p := started(t, bug(t))
		if test.before != nil {
			if err := p.event(Edit{Actor: actorNamed("ann"), Xattrs: &test.before}); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.event(Edit{Actor: actorNamed("ann"), Xattrs: &test.after}); err != nil {
			t.Fatal(err)
		}
		got := p.log[len(p.log)-1].Text
		switch {
		case len(test.after) == 25:
			if !strings.HasPrefix(got, test.want) || !regexp.MustCompile(`; and \d+ more$`).MatchString(got) || len(got) > MaxLogText {
				t.Errorf("log of %d bytes: %q", len(got), got)
			}
		case got != test.want:
			t.Errorf("log %q, want %q", got, test.want)
		}
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	p := started(t, bug(t))
	title, same, priority, context := "Another", "A case", 300, int64(7)
	for _, test := range []struct {
		edit Edit
		kind LogKind
		want string
	}{
		{Edit{Title: &title}, LogLife, "Changed title: A case → Another"},
		{Edit{Title: &same, Priority: &priority, ContextID: &context, Context: "core"}, LogLife, "Changed title: Another → A case; priority: 200 → 300; context"},
		{Edit{Xattrs: &label.Dict{{Key: "z", Value: label.Text("1")}, {Key: "a", Value: label.Text("2")}}}, LogLife, "Changed a: 2; z: 1"},
		{Edit{Roles: &[]Players{{Role: "assignee", Parties: []string{"bob"}}}, Title: &title}, LogRoles, "Changed title: A case → Another; roles"},
		{Edit{Stakeholders: &[]string{"ann"}}, LogRoles, "Changed stakeholders"},
	} {
		test.edit.Actor = actorNamed("ann")
		version := p.c.Version
		if err := p.event(test.edit); err != nil {
			t.Fatal(err)
		}
		e := p.log[len(p.log)-1]
		if e.Text != test.want || e.Kind != test.kind || *e.Actor != "ann" || p.c.Version != version+1 {
			t.Errorf("log %s %q by %s, version %d; want %s %q", e.Kind, e.Text, *e.Actor, p.c.Version, test.kind, test.want)
		}
	}
	if p.c.Title != title || p.c.Priority != 300 || p.c.ContextID != 7 || p.c.Context != "core" || p.c.Xattrs[0].Key != "a" ||
		fmt.Sprint(p.c.Roles, p.c.Stakeholders) != "[{assignee [bob]}] [ann]" {
		t.Errorf("case %s", p.c.Marking())
	}
	before, entries := p.c, len(p.log)
	p.now = p.now.Add(time.Hour)
	all := Edit{
		Actor: actorNamed("ann"), Title: &title, Priority: &priority, ContextID: &context, Context: "core",
		Roles: &[]Players{{Role: "assignee", Parties: []string{"bob"}}, {Role: "submitter"}}, Stakeholders: &before.Stakeholders,
		Xattrs: &label.Dict{{Key: "z", Value: label.Text("1")}, {Key: "a", Value: label.Text("2")}},
	}
	if err := p.event(all); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, p.c); diff != "" || len(p.log) != entries {
		t.Errorf("an edit that changes nothing changed %s", diff)
	}
	if err := p.event(Edit{Roles: &[]Players{{Role: "x/y"}}}); !errs.Is(err, errs.Invalid) {
		t.Errorf("an unknown role: %v", err)
	}
	p.script([]step{{"cancel", "canceled open:"}})
	if err := p.event(Edit{Actor: actorNamed("ann"), Title: &same}); err != nil || p.c.Title != same {
		t.Errorf("edit of an ended case: %v", err)
	}
}

// A text is taken as the number that it should be, if a double holds it.
func TestTextAsNumber(t *testing.T) {
	t.Parallel()
	r := parsed(t, "xattrs: {n: {type: number}}\nstates: {a: {type: start}}\nactions: {open: {trigger: init}}\n")
	for text, want := range map[string]errs.Kind{"5": "", "1e308": "", "1e400": errs.Invalid, "five": errs.Invalid} {
		s := seed()
		s.Xattrs = label.Dict{{Key: "n", Value: label.Text(text)}}
		_, _, err := Decide(Input{Route: r, Case: s, Event: Create{}, Now: startOfTests()})
		if errs.KindOf(err) != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
