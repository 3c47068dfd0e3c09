package document_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

func TestValueFaults(t *testing.T) {
	t.Parallel()
	n := mustJSON(t, `{"name": 1, "repeat": 0, "text": "x", "flag": "true", "minuts": 2, "list": [1, "2", 3.5, 3e2], "a/b": null}`)
	var faults document.Faults
	root := document.Root(n, &faults)
	root.Get("name").Str()
	root.Get("absent").Str()
	root.Get("repeat").Int(1, math.MaxInt64)
	root.Get("text").Int(0, 10)
	root.Get("flag").Truth()
	root.Get("a/b").Is(document.Object)
	list := root.Get("list")
	for i := range list.Node.Items {
		list.Item(i).Int(math.MinInt64, 100)
	}
	root.Only("name", "repeat", "text", "flag", "minutes", "list", "a/b")
	want := []errs.Fault{
		{Pointer: "/name", Detail: "must be a string, not a number", Code: errs.CodeType, Line: 1, Column: 10},
		{Pointer: "/absent", Detail: "is required and must be a string", Code: errs.CodeRequired},
		{Pointer: "/repeat", Detail: "must be 1 or more, not 0", Code: errs.CodeRange, Line: 1, Column: 23},
		{Pointer: "/text", Detail: `must be a whole number, not "x"`, Code: errs.CodeType, Line: 1, Column: 34},
		{Pointer: "/flag", Detail: "must be true or false, not a string", Code: errs.CodeType, Line: 1, Column: 47},
		{Pointer: "/a~1b", Detail: "must be an object, not null", Code: errs.CodeType, Line: 1, Column: 103},
		{Pointer: "/list/2", Detail: `must be a whole number, not "3.5"`, Code: errs.CodeType, Line: 1, Column: 85},
		{Pointer: "/list/3", Detail: "must be at most 100, not 300", Code: errs.CodeRange, Line: 1, Column: 90},
		{Pointer: "/minuts", Detail: `is not a known field; did you mean "minutes"?`, Code: errs.CodeUnknownField, Line: 1, Column: 55},
	}
	if diff := cmp.Diff(want, faults.List()); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if !errs.Is(faults.Err(), errs.Invalid) {
		t.Errorf("kind %s", errs.KindOf(faults.Err()))
	}
}

// TestAbsentValueIsLeftAsItIs: what is absent leaves a value as it is, null resets it, and
// what is wrong with it changes nothing.
func TestAbsentValueIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	n := mustJSON(t, `{"given": "ab", "null": null, "long": "abcd", "number": 1, "true": true}`)
	var faults document.Faults
	root := document.Root(n, &faults)
	for key, want := range map[string]string{"given": "ab", "null": "", "long": "was", "number": "was", "absent": "was"} {
		got := "was"
		if root.Get(key).Text(&got, 3); got != want {
			t.Errorf("the text %s: %q, want %q", key, got, want)
		}
	}
	for key, want := range map[string]bool{"true": true, "null": false, "absent": true} {
		got := key != "true"
		if root.Get(key).Flag(&got); got != want {
			t.Errorf("the flag %s: %t, want %t", key, got, want)
		}
	}
	flag := true
	if root.Get("number").Flag(&flag); !flag {
		t.Error("a number has changed a flag")
	}
	if n := len(faults.List()); n != 3 { // long and number as texts, number as flag
		t.Errorf("%d faults: %v", n, faults.List())
	}
}

func TestLineHasItsKeysInOrder(t *testing.T) {
	t.Parallel()
	if got, want := string(document.Line(map[string]int{"b": 1, "a": 2})), "{\"a\":2,\"b\":1}\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHintNamesTheNearestName(t *testing.T) {
	t.Parallel()
	known := []string{"trigger", "timeout", "to", "title"}
	for word, want := range map[string]string{
		"triger":  `; did you mean "trigger"?`,
		"Timeout": `; did you mean "timeout"?`,
		"titel":   `; did you mean "title"?`,
		"ttile":   `; did you mean "title"?`,
		"xyz":     "",
		"":        "",
		"at":      "", // one letter of two is not a slip of the finger
	} {
		if got := document.Hint(word, known); got != want {
			t.Errorf("Hint(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestPathFindsNodes(t *testing.T) {
	t.Parallel()
	n := mustJSON(t, `{"a": [1, {"b/c": "x"}], "": 2}`)
	tests := []struct {
		path []string
		want string
	}{
		{nil, `{"a":[1,{"b/c":"x"}],"":2}`},
		{[]string{"a", "1", "b/c"}, `"x"`},
		{[]string{""}, `2`},
		{[]string{"a", "2"}, ``},
		{[]string{"a", "-1"}, ``},
		{[]string{"a", "x"}, ``},
		{[]string{"a", "0", "b"}, ``},
		{[]string{"c", "d"}, ``},
	}
	for _, tt := range tests {
		got := ""
		if at := n.At(tt.path...); at != nil {
			got = string(at.AppendJSON(nil))
		}
		if got != tt.want {
			t.Errorf("At(%q) = %s, want %s", tt.path, got, tt.want)
		}
	}
}
