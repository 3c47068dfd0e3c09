package route_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/expr"
)

// FuzzParseRoute reads whatever is YAML or JSON as a route. An accepted one
// must come back the same from its complete form.
func FuzzParseRoute(f *testing.F) {
	for _, e := range route.Examples() {
		f.Add(e.Source, true)
	}
	f.Add([]byte(base), true)
	f.Add([]byte(`{"states":{"a":{"type":"start"},"b":{"complete":true}},"actions":{"go":{"trigger":"init"},"x":{"trigger":"auto","in":["a"],"to":"b"}}}`), false)
	f.Add([]byte(`{"model": "dependency", "actions": {"a": {"role": ["b"], "after": ["a"]}}, "roles": {"b": null}}`), false)
	f.Add([]byte("actions: {a: {onFire: [{set: {a: {cel: x}}, if: y}]}}\ntransitions: [1]\nroles: []\nstates: {a: 1}\n"), true)
	f.Add([]byte(languageRoute), true)
	f.Add([]byte("model: dependency\nactions:\n  one: {allowed: everyone, form: {type: [object]}, decide: '\"x\"', outputs: {x: }}\n  two: {trigger: message, message: m, after: [one, {action: one, min: 2}], final: true}\n"), true)
	for _, pattern := range []string{`"allOf":[R,R]`, `"anyOf":[A,D]`, `"dependencies":{"a":R,"b":R}`, `"patternProperties":{"a":R,"b":R}`, `"propertyNames":R,"unevaluatedProperties":R`} {
		f.Add([]byte(withForm(bomb(6, pattern))), false)
		f.Add([]byte(withForm(bomb(26, pattern))), false)
	}
	f.Add([]byte(withForm(`{"$dynamicAnchor":"t","properties":{"a":{"$dynamicRef":"#t","multipleOf":1e-300}},"patternProperties":{"(a?b?){90}":{"format":"regex"}}}`)), false)
	f.Fuzz(func(t *testing.T, data []byte, yaml bool) {
		parse := document.ParseJSON
		if yaml {
			parse = document.ParseYAML
		}
		node, err := parse(data)
		if err != nil {
			return
		}
		r, _, err := route.Parse("x", node)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatalf("kind %s: %v", errs.KindOf(err), err)
			}
			return
		}
		for i := range r.Actions {
			if r.Actions[i].Form != nil {
				r.Actions[i].Form.Faults(sent("a", "x", "b", string(data)), "")
			}
		}
		form, err := document.ParseJSON(route.CompleteForm(node, r, meta()))
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := route.Parse("x", form)
		if err != nil {
			t.Fatalf("%v\n%s", err, form.AppendJSON(nil))
		}
		// What is absent is the owner's in the form.
		fill := func(list *[]string) {
			if *list == nil {
				*list = []string{meta().Context}
			}
		}
		fill(&r.Access.Start)
		fill(&r.Access.Read)
		if r.Access.Admin == nil {
			r.Access.Admin = []string{}
		}
		if r.Context == "" {
			r.Context = meta().Context
		}
		if diff := cmp.Diff(r, again, cmpopts.IgnoreUnexported(route.Route{}), bySource()); diff != "" {
			t.Fatalf("(-document +form):\n%s", diff)
		}
	})
}

// bySource compares what is compiled by what it is compiled from.
func bySource() cmp.Option {
	return cmp.Options{
		cmp.Comparer(func(a, b *expr.Program) bool {
			return (a == nil) == (b == nil) && (a == nil || a.Source() == b.Source())
		}),
		cmp.Comparer(func(a, b *route.Form) bool {
			return (a == nil) == (b == nil) && (a == nil || bytes.Equal(a.Source(), b.Source()))
		}),
		cmp.Comparer(func(a, b *document.Node) bool { return (a == nil) == (b == nil) && (a == nil || document.Equal(a, b)) }),
	}
}

func BenchmarkParse(b *testing.B) {
	node, err := document.ParseYAML(example(b, "bug"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := route.Parse("bug", node); err != nil {
			b.Fatal(err)
		}
	}
}
