package diagram_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/route"
	"flowdrive/route/diagram"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// parsed compiles a route document.
func parsed(t *testing.T, name string, source []byte) *route.Route {
	t.Helper()
	node, err := document.Parse(source, true)
	if err != nil {
		t.Fatal(err)
	}
	r, faults, err := route.Parse(name, node)
	if err != nil {
		t.Fatalf("%s: %v %v", name, faults, err)
	}
	return r
}

// The pictures of the examples are those in testdata, which were looked at.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, e := range route.Examples() {
		p := diagram.Draw(diagram.Of(parsed(t, e.Name, e.Source)))
		for name, got := range map[string][]byte{
			".svg": p.SVG(diagram.Options{}), ".tall.svg": p.SVG(diagram.Options{Down: true}), ".txt": p.Text(nil), ".mmd": p.Mermaid(nil), ".dot": p.DOT(),
		} {
			file := filepath.Join("testdata", e.Name+name)
			if *update {
				if err := os.WriteFile(file, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs: look at it, then run with -update", file)
			}
		}
	}
}

// Each action of the examples is in the picture, or in what stands below it.
func TestEveryActionIsDrawn(t *testing.T) {
	t.Parallel()
	for _, e := range route.Examples() {
		r := parsed(t, e.Name, e.Source)
		g := diagram.Of(r)
		drawn := map[string]bool{}
		note := func(labels []diagram.Label) {
			for _, l := range labels {
				drawn[l.Action] = true
			}
		}
		note(g.Below)
		for i := range g.Nodes {
			drawn[g.Nodes[i].Action] = true
			note(g.Nodes[i].Lines)
		}
		for i := range g.Edges {
			note(g.Edges[i].Labels)
		}
		for i := range r.Actions {
			if !drawn[r.Actions[i].Name] {
				t.Errorf("%s: the action %s is not drawn", e.Name, r.Actions[i].Name)
			}
		}
		if len(g.Rows) != len(r.Actions) {
			t.Errorf("%s: %d rows for %d actions", e.Name, len(g.Rows), len(r.Actions))
		}
	}
}

const hostile = `
title: '<script>alert(1)</script> & "quotes"'
states:
  a: {title: "a<b>&\"'", type: start}
  b: {title: "]]> --> {x}; y: z", type: complete}
roles:
  r: {title: "<r>", assign: [starter]}
actions:
  begin: {title: "</title><script>", trigger: init}
  go: {title: "%%{init}%%\n\"|<b>", in: [a], to: b, role: r}
  shout: {title: "</text><a href='javascript:x'>", always: true, role: r}
  decided: {title: "<d>", in: [a], role: r, decide: '"one"', outputs: {one: b, two: null}}
`

// What people have written shows as text, whatever it is.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	p := diagram.Draw(diagram.Of(parsed(t, "hostile", []byte(hostile))))
	marks := &diagram.Marks{
		Title: "<x onload=1>", Text: "</desc><script>", Flag: "<now>", States: map[string]diagram.Mark{"a": diagram.Here},
		Stacks: map[string]string{"go": "<s>"},
	}
	for _, m := range []*diagram.Marks{nil, marks} {
		svg := p.SVG(diagram.Options{Marks: m, ID: `"><script>`})
		elements := map[string]bool{}
		d := xml.NewDecoder(bytes.NewReader(svg))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, svg)
			}
			if e, ok := token.(xml.StartElement); ok {
				elements[e.Name.Local] = true
			}
		}
		for name := range elements {
			if !strings.Contains(" svg title desc g path rect circle text ", " "+name+" ") {
				t.Errorf("the picture has an element %s", name)
			}
		}
	}
	for i, l := range strings.Split(string(p.Mermaid(nil)), "\n") {
		if strings.ContainsAny(l, "<>|{}%") && !strings.Contains(l, "-->") && !strings.Contains(l, "<<choice>>") {
			t.Errorf("line %d: %s", i, l)
		}
	}
	if n := strings.Count(string(p.Text(nil)), "\n"); n != 7 {
		t.Errorf("the table has %d lines:\n%s", n, p.Text(nil))
	}
}

// A case marks where it is, the way it took and where it can go.
func TestMarks(t *testing.T) {
	t.Parallel()
	var source []byte
	for _, e := range route.Examples() {
		if e.Name == "expense" {
			source = e.Source
		}
	}
	p := diagram.Draw(diagram.Of(parsed(t, "expense", source)))
	svg := string(p.SVG(diagram.Options{Marks: &diagram.Marks{
		States: map[string]diagram.Mark{"claimed": diagram.Been, "approved-once": diagram.Here},
		Flag:   "now, 2 days",
		Went: []diagram.Way{
			{Action: "claim", To: "claimed"},
			{Action: "approve", From: "claimed", To: "approved-once"},
		},
		Can:    []diagram.Way{{Action: "approve-again", From: "approved-once"}, {Action: "refuse", From: "approved-once"}},
		Counts: map[string]diagram.Count{"paid": {Cases: 9, Late: 1}},
	}}))
	// Of seven arrows with tips and one to the rhombus: three were taken, two can be.
	for class, want := range map[string]int{`<g class="edge went"><path`: 3, `<g class="edge can"><path`: 2, `<g class="edge"><path`: 3, `"node start been"`: 1, `"node normal here"`: 1, "now, 2 days": 1, "1 late": 1} {
		if got := strings.Count(svg, class); got != want {
			t.Errorf("%s: %d times, want %d", class, got, want)
		}
	}
}

// Counts that are listed somewhere lead there, and the picture is a group then: nobody gets
// to the links of an image.
func TestCounts(t *testing.T) {
	t.Parallel()
	p := diagram.Draw(diagram.Of(parsed(t, "one", []byte("states: {s0: {type: start, title: 'New & old'}, s1: {type: complete}}\nroles: {r: {assign: [starter]}}\nactions: {begin: {trigger: init}, end: {in: [s0], to: s1, role: r}}\n"))))
	counts := map[string]diagram.Count{"s0": {Cases: 3, Late: 1, More: true, Href: "/cases?a=1&b=2"}, "s1": {Cases: 1}}
	svg := string(p.SVG(diagram.Options{Marks: &diagram.Marks{Counts: counts}}))
	for _, want := range []string{`role="group"`, `<a href="/cases?a=1&amp;b=2" aria-label="New &amp; old: 3+ cases, 1 late">`, ">3+</text>", ">1 late</text>", ">1</text>"} {
		if strings.Count(svg, want) != 1 {
			t.Errorf("%s is not there once:\n%s", want, svg)
		}
	}
	if svg := string(p.SVG(diagram.Options{})); !strings.Contains(svg, `role="img"`) {
		t.Errorf("a picture without links is not an image:\n%s", svg)
	}
	if got, want := diagram.CountWords(p.Graph(), counts), "New & old: 3+ cases, 1 late. s1: 1 case."; got != want {
		t.Errorf("in words it is %q, want %q", got, want)
	}
}

// A route that nobody could read as a picture says so instead.
func TestTooLargeToDraw(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("states:\n  s0: {type: start}\n")
	for i := 1; i < 900; i++ {
		fmt.Fprintf(&b, "  s%d: {}\n", i)
	}
	b.WriteString("roles: {r: {assign: [starter]}}\nactions:\n  begin: {trigger: init}\n  away: {role: r, to: s899, in: [s0")
	for i := 1; i < 899; i++ {
		fmt.Fprintf(&b, ", s%d", i)
	}
	b.WriteString("]}\n")
	for i := range 899 {
		fmt.Fprintf(&b, "  a%d: {role: r, in: [s%d], to: s%d}\n", i, i, i+1)
	}
	p := diagram.Draw(diagram.Of(parsed(t, "large", []byte(b.String()))))
	if svg := p.SVG(diagram.Options{}); !bytes.Contains(svg, []byte("too many")) {
		t.Errorf("%.300s", svg)
	}
}

// A route in which everything can be done everywhere is not drawn, and says so in little
// room.
func TestEverythingEverywhere(t *testing.T) {
	t.Parallel()
	var states, b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&states, "s%d, ", i)
	}
	b.WriteString("states:\n  s0: {type: start}\n")
	for i := 1; i < 300; i++ {
		fmt.Fprintf(&b, "  s%d: {}\n", i)
	}
	b.WriteString("roles: {r: {assign: [starter]}}\nactions:\n  begin: {trigger: init}\n")
	for i := range 300 {
		fmt.Fprintf(&b, "  a%d: {role: r, to: s%d, in: [%s]}\n", i, i, strings.TrimSuffix(states.String(), ", "))
	}
	p := diagram.Draw(diagram.Of(parsed(t, "all", []byte(b.String()))))
	for what, data := range map[string][]byte{"svg": p.SVG(diagram.Options{}), "txt": p.Text(nil), "mmd": p.Mermaid(nil)} {
		if len(data) > 200_000 {
			t.Errorf("%s has %d bytes", what, len(data))
		}
	}
	if svg := p.SVG(diagram.Options{}); !bytes.Contains(svg, []byte("too many")) {
		t.Errorf("%.300s", svg)
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, e := range route.Examples() {
		if e.Name != "leiden" {
			continue
		}
		node, err := document.Parse(e.Source, true)
		if err != nil {
			b.Fatal(err)
		}
		r, _, err := route.Parse(e.Name, node)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			diagram.Draw(diagram.Of(r))
		}
	}
}
