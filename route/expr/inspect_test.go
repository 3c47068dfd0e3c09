package expr_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/route/expr"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	declared := []expr.Declared{{Key: "amount", Kind: document.Number}, {Key: "reason", Kind: document.String}, {Key: "urgent", Kind: document.Bool}}
	tests := []struct {
		source string
		want   expr.Want
		misfit string // "" for none
	}{
		{`xattr.amount > 5000`, expr.Truth, ""},
		{`xattr.amount > 0.5 && xattr["amount"] < 7`, expr.Truth, ""},
		{`xattr.amount > "5000"`, expr.Truth, `1:14: does not fit the declared type of xattr.amount: > does not take values of these types: (number, string)`},
		{`xattr["amount"] > "5000"`, expr.Truth, `1:17: does not fit the declared type of xattr.amount: > does not take values of these types: (number, string)`},
		{`xattr.urgent == "true"`, expr.Truth, `1:14: does not fit the declared type of xattr.urgent: values of these types are never equal: (boolean, string)`},
		{`xattr.amount != null`, expr.Truth, `1:14: does not fit the declared type of xattr.amount, which is never null: has(xattr.amount) says whether there is one`},
		{`xattr.reason in [1, 2]`, expr.Truth, `1:14: does not fit the declared type of xattr.reason: it is never in a list of another type: (string, list(number))`},
		{`xattr.amount.contains("x")`, expr.Truth, `1:22: does not fit the declared type of xattr.amount: contains does not take values of these types: number.(string)`},
		{`xattr.amount.size`, expr.Truth, `1:13: does not fit the declared type of xattr.amount: type 'number' does not support field selection`},
		{`xattr.amount`, expr.Truth, `1:1: must be true or false, not of type number: so the route declares the XATTR`},
		{`xattr.amount`, expr.Scalar, ""},
		{`xattr.urgent`, expr.Truth, ""},
		{`!xattr.reason`, expr.Truth, `1:1: does not fit the declared type of xattr.reason: ! does not take values of these types: (string)`},
		{`xattr.amount * 1.19 > 3.0`, expr.Truth, `1:14: xattr.amount is an integer if it has no fraction, and * does not take an integer and a double: write double(xattr.amount)`},
		{`double(xattr.amount) * 1.19 > 3.0`, expr.Truth, ""},
		{`xattr.amount + 1`, expr.Scalar, ""},
		{`xattr.amount in [1, 2.5]`, expr.Truth, ""},
		{`xattr.urgent ? xattr.amount : xattr.reason`, expr.Scalar, ""},
		{`has(xattr.amount) && "amount" in xattr`, expr.Truth, ""},
		{`xattr.other > "x" && xattr.other > 3`, expr.Truth, ""},
		{`[1].exists(x, xattr.amount == x)`, expr.Truth, ""},
		{`xattr.reason + string(xattr.amount)`, expr.Text, ""},
		{`case.title == xattr.reason`, expr.Truth, ""},
	}
	inspector := expr.NewInspector(declared)
	for _, tt := range tests {
		got := ""
		for _, m := range inspector.Inspect(tt.source, tt.want).Misfits {
			got += m.String()
		}
		if got != tt.misfit {
			t.Errorf("%s: got %q, want %q", tt.source, got, tt.misfit)
		}
	}
}

func TestInspectUses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		source string
		want   expr.Uses
	}{
		{`xattr.a > 1 && has(xattr.b) && "c" in xattr && xattr["d"] == xattr[case.title]`, expr.Uses{Yields: document.Bool, OfCase: true, Xattrs: []expr.Use{
			{Name: "a", Line: 1, Column: 1},
			{Name: "b", Line: 1, Column: 20, Tested: true},
			{Name: "c", Line: 1, Column: 39, Tested: true},
			{Name: "d", Line: 1, Column: 48},
		}}},
		{"message[\"Answer\"].ok\n|| message.Other", expr.Uses{Yields: document.Bool, OfCase: true, Messages: []expr.Use{{Name: "Answer", Line: 1, Column: 1}, {Name: "Other", Line: 2, Column: 4}}}},
		{`tally.status.yes > 1 ? "a" : "b"`, expr.Uses{Yields: document.String, Statuses: []expr.Use{{Name: "yes", Line: 1, Column: 6}}}},
		{`tally.total == 0`, expr.Uses{Yields: document.Bool, CountsChildren: true}},
		{`tally.total == tally.open`, expr.Uses{Yields: document.Bool}},
		{`children.all(c, c.xattr.a == 1)`, expr.Uses{Yields: document.Bool}},
		{`this is wrong`, expr.Uses{}},
	}
	inspector := expr.NewInspector(nil)
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, inspector.Inspect(tt.source, expr.Any)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.source, diff)
		}
	}
}

// TestInspectTogether looks at expressions of several routes at once, while others
// are compiled: the environments share what they are made of. It is for -race.
func TestInspectTogether(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			inspector := expr.NewInspector([]expr.Declared{{Key: "amount", Kind: document.Number}})
			if got := inspector.Inspect(`xattr.amount > "5" || nothing == 1`, expr.Truth); got.Misfits != nil {
				t.Errorf("of what does not compile: %v", got)
			}
			if got := inspector.Inspect(`xattr.amount > "5" || xattr.other`, expr.Truth); len(got.Misfits) != 1 {
				t.Errorf("misfits %v", got.Misfits)
			}
			if _, faults := expr.Compile("unknown > 1", expr.Truth, expr.Names{}); len(faults) != 1 {
				t.Errorf("faults %v", faults)
			}
		})
	}
	wg.Wait()
}

func TestSignsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"actor == 'a' and actor == 'b'": "1:14: mismatched input 'and' expecting <EOF>; write &&",
		"actor == 'a' or actor == 'b'":  "1:14: mismatched input 'or' expecting <EOF>; write ||",
		"actor = 'a'":                   "1:7: token recognition error at: '= '; write == to compare",
	} {
		_, faults := expr.Compile(source, expr.Truth, expr.Names{})
		if len(faults) == 0 || faults[0].String() != want {
			t.Errorf("%s: got %v, want %s", source, faults, want)
		}
	}
}
