package machine

import (
	"fmt"
	"testing"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// typical is a case of the bug route in the middle of its life.
func typical(b *testing.B) *play {
	b.Helper()
	p := newPlay(b, bug(b))
	xattrs := label.Dict{{Key: "component", Value: label.Text("sessions")}, {Key: "start", Value: label.Text("2012-11-01")}, {Key: "urgent", Value: label.Text("yes")}}
	if err := p.event(Edit{Actor: actorNamed("sam"), Xattrs: &xattrs, Stakeholders: &[]string{"ann", "core"}}); err != nil {
		b.Fatal(err)
	}
	for _, s := range []string{"start", "sam comment", "admin resolve", "sam reopen"} {
		if err := p.do(s); err != nil {
			b.Fatal(err)
		}
	}
	p.now = p.now.Add(time.Hour)
	return p
}

func BenchmarkDecide(b *testing.B) {
	p := typical(b)
	in := Input{Route: p.r, Case: p.c, Event: Perform{Action: "resolve", Actor: actorNamed("admin"), Comment: "done"}, Now: p.now, Facts: factsOfTests()}
	b.ReportAllocs()
	for b.Loop() {
		if out, _, err := Decide(in); err != nil || out.Case.Status != "resolved" {
			b.Fatal(err)
		}
	}
}

func BenchmarkForm(b *testing.B) {
	p := typical(b)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(Form(p.c, p.r))))
	}
}

func BenchmarkMarking(b *testing.B) {
	p := typical(b)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(p.c.Marking())))
	}
}

func BenchmarkReadMarking(b *testing.B) {
	data := typical(b).c.Marking()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadMarking(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendLog(b *testing.B) {
	p := typical(b)
	b.ReportAllocs()
	for b.Loop() {
		AppendLog(nil, p.log[:1])
	}
}

// BenchmarkDecideWide is what a route made to be slow costs: twenty thousand
// actions enabled at once, and a loop.
func BenchmarkDecideWide(b *testing.B) {
	acts := []act{{name: "go", in: "s", allowed: everybody(), to: "a"}}
	for i := range 20_000 {
		acts = append(acts, act{name: fmt.Sprintf("self%05d", i), in: "a", trigger: route.TriggerTime, timeout: "PT0S"})
	}
	r := makeRoute(b, nil, "s a", acts...)
	in := Input{Route: r, Case: seed(), Event: Create{}, Now: startOfTests()}
	for _, e := range []Event{Start{}, Perform{Action: "go", Actor: actorNamed("sam")}} {
		out, _, err := Decide(in)
		if err != nil {
			b.Fatal(err)
		}
		in.Case, in.Event = out.Case, e
	}
	for b.Loop() {
		if _, _, err := Decide(in); err == nil {
			b.Fatal("no loop")
		}
	}
}

// BenchmarkDecideLanguage is a performance in a route that uses expressions:
// three guards, a decision, a form and a step.
func BenchmarkDecideLanguage(b *testing.B) {
	p := newPlay(b, parsed(b, `
roles: {claimant: {assign: [starter]}, boss: {assign: ["user:bob"]}}
states: {open: {type: start}, checked: {}, paid: {type: complete}, refused: {type: denied}}
actions:
  submit: {trigger: init}
  comment: {always: true, allowed: everyone}
  approve-small: {in: [open], role: boss, guard: xattr.amount <= 100, distinct: [submit], form: {properties: {note: {type: string}}}, decide: 'xattr.amount > 50 ? "check" : "pay"', outputs: {check: checked, pay: paid}, onFire: [{set: {count: {cel: 'has(xattr.count) ? xattr.count + 1 : 1'}}}]}
  approve-large: {in: [open], role: boss, guard: xattr.amount > 100, to: checked}
  withdraw: {in: [open, checked], role: claimant, guard: 'tasks["approve-small"].count == 0', to: refused}
  pay: {in: [checked], role: boss, to: paid}
`))
	xattrs := label.Dict{{Key: "amount", Value: label.Value{Kind: document.Number, Text: "70"}}, {Key: "iban", Value: label.Text("DE1")}}
	if err := p.event(Edit{Actor: actorNamed("sam"), Xattrs: &xattrs}); err != nil {
		b.Fatal(err)
	}
	if err := p.do("start"); err != nil {
		b.Fatal(err)
	}
	in := Input{
		Route: p.r, Case: p.c, Now: p.now.Add(time.Hour), Facts: factsOfTests(),
		Event: Perform{Action: "approve-small", Actor: actorNamed("bob"), Xattrs: []Change{{Key: "note", Value: label.Text("fine")}}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if out, _, err := Decide(in); err != nil || out.Case.Status != "checked" {
			b.Fatal(err)
		}
	}
}

// benchmarkVote is a vote on a proposal of so many voters, all but the last
// of whom have voted already where it is the last.
func benchmarkVote(b *testing.B, last bool) {
	b.Helper()
	w := tipOf(b, "")
	w.start("tip", nil)
	voters := []string{"ann", "bob", "cy"}
	if last {
		for i, who := range voters[1:] {
			if err := w.perform(int64(19+i), who, "approve"); err != nil {
				b.Fatal(err)
			}
		}
	}
	in := w.input(18, Perform{Action: "approve", Actor: actorNamed("ann")})
	for {
		_, needs, err := Decide(in)
		if err != nil {
			b.Fatal(err)
		}
		if needs == nil {
			break
		}
		for _, need := range needs {
			w.answer(&in.Facts, need)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		out, _, err := Decide(in)
		if err != nil || len(out.Others) == 0 || (out.Others[0].Case.Life == Completed) != last {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecideVote is a child's performance that its parent hears of.
func BenchmarkDecideVote(b *testing.B) { benchmarkVote(b, false) }

// BenchmarkDecideLastVote is one upon which the parent decides, and closes its
// children.
func BenchmarkDecideLastVote(b *testing.B) { benchmarkVote(b, true) }
