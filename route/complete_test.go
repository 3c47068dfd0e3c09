package route_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/route"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func meta() route.Meta {
	return route.Meta{
		ID: 12, Version: 3, Context: "sam", Author: "ann", StoredBy: "bob", Warnings: []string{`/roles/a: "so"`, "b"},
		Created:  time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC),
		Modified: time.Date(2012, 11, 10, 1, 2, 3, 999, time.FixedZone("", 3600)),
	}
}

// TestCompleteForm compares the complete forms of routes with golden files,
// and makes sure that each is a document of the same route.
func TestCompleteForm(t *testing.T) {
	t.Parallel()
	sources := map[string]string{
		"seconds": "timeout: 86400\nretention: 0\nnotify: {remind: 3600}\ntimers: {t: {limit: 90}}\nstates: {a: {type: start, timeout: 30}, timeout: {type: complete}}\nroles: {r: {assign: [starter]}}\nactions: {begin: {trigger: init}, go: {in: [a], role: r, to: timeout, timeout: 0, dueIn: 300, offerTimeout: PT1M, max: 3}}\n",
		"small":   "actions: {go: {trigger: init}}\nstates: {a: {type: complete}, b: {type: start}}\naccess: {read: [core]}\noutput: ~\ntitle:\nid: 5\nversion: what\n",
	}
	for _, e := range route.Examples() {
		sources[e.Name] = string(e.Source)
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := readYAML(t, source)
			r, _, err := route.Parse(name, node)
			if err != nil {
				t.Fatal(err)
			}
			got := route.CompleteForm(node, r, meta())
			golden := filepath.Join("testdata", name+".form.json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(readFile(t, golden)), string(got)); diff != "" {
				t.Errorf("form (-want +got):\n%s", diff)
			}
			form, err := document.ParseJSON(got)
			if err != nil {
				t.Fatal(err)
			}
			again, _, err := route.Parse(name, form)
			if err != nil {
				t.Fatal(err)
			}
			if second := route.CompleteForm(form, again, meta()); string(second) != string(got) {
				t.Errorf("the form of the form differs:\n%s%s", got, second)
			}
			if !route.SameContent(node, form) || !route.SameContent(form, node) {
				t.Error("the form is not the same content")
			}
		})
	}
}

func TestSameContent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{`{"a": 1}`, `{"a": 1}`, true},
		{`{"name": "x", "priority": 200}`, `{"priority": 2e2, "name": "x"}`, false}, // the order of keys is kept, so it counts
		{`{"priority": 200}`, `{"priority": 2e2}`, true},
		{`{"priority": 200}`, `{}`, true},
		{`{"priority": 200}`, `{"priority": null}`, true},
		{`{"priority": 201}`, `{}`, false},
		{`{"name": "x"}`, `{"name": "x", "title": "x"}`, true},
		{`{"name": "x"}`, `{"name": "x", "title": "y"}`, false},
		{`{"context": "sam"}`, `{"access": {"start": ["sam"]}}`, true},
		{`{"context": "sam"}`, `{"access": {"start": []}}`, false},
		{`{"context": "sam"}`, `{"access": {"admin": ["sam"]}}`, false},
		{`{"id": 1, "version": 2, "warnings": ["x"], "author": "y", "storedBy": "z"}`, `{"modified": "z"}`, true},
		{`{"states": {"a": {}, "b": {}}}`, `{"states": {"b": {}, "a": {}}}`, false},
		{`{"roles": {}}`, `{}`, true},
		{`{"timeout": 300}`, `{"timeout": "PT5M"}`, true},
		{`{"timeout": 300}`, `{"timeout": "PT6M"}`, false},
		{`{"unknown": 1}`, `{}`, false},
	}
	for _, tt := range tests {
		var nodes [2]*document.Node
		for i, text := range []string{tt.a, tt.b} {
			n, err := document.ParseJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			nodes[i] = n
		}
		if got := route.SameContent(nodes[0], nodes[1]); got != tt.want {
			t.Errorf("SameContent(%s, %s) = %v", tt.a, tt.b, got)
		}
		if got := route.SameContent(nodes[1], nodes[0]); got != tt.want {
			t.Errorf("SameContent(%s, %s) = %v", tt.b, tt.a, got)
		}
	}
}
