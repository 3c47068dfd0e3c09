package jqworker

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/route/jq"
)

const workerArgument = "jq-worker-of-this-test"

// TestMain makes this test binary the worker, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == workerArgument {
		os.Exit(Serve(os.Args[2], os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func filter(source, input string) machine.Filter {
	return machine.Filter{Filter: source, Input: input, Xattr: `{"n":1.50}`, Case: `{"id":7}`}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	p := New(ShareOf(0), workerArgument)
	for _, test := range []struct{ filter, input, want string }{
		{`{a: .x, n: $xattr.n, id: $case.id, html: "<&>"}`, `{"x": [1.0, "é\u2028"]}`, `{"a":[1.0,"é` + "\u2028" + `"],"html":"<&>","id":7,"n":1.50}`},
		{`.a.b.c`, `{"a": 1}`, `fault: expected an object but got: number (1)`},
		{`"` + strings.Repeat("x", 10) + `" * 100000 | error`, `1`, `fault: error: xxxxxxxxxxxx`},
		{`now`, `1`, `fault: cannot use now`}, // which no route can hold
		{`.`, `"` + strings.Repeat("x", jq.MaxJSON-2) + `"`, `"xxxxxxxx`},
		{`sort | length`, `[{"name": "ann"}` + strings.Repeat(`,{"name": "Lindqvist", "amount": "12.50", "city": "Bern"}`, tableRows-1) + `]`, strconv.Itoa(tableRows)},
		{`.`, `nonsense`, `fault: the input is not JSON`},
		{`localtime2`, `1`, `fault: is not a valid jq filter`},
	} {
		got, err := p.Filter(t.Context(), 1, filter(test.filter, test.input))
		text := string(got.Output)
		if got.Fault != "" {
			text = "fault: " + got.Fault
		}
		if err != nil || !strings.HasPrefix(text, test.want) || len(got.Fault) > 2000 {
			t.Errorf("%s: got %.200s, %v; want %s", test.filter, text, err, test.want)
		}
	}
}

// TestBombs: what a hostile author can think of ends within its second and its
// memory, and says which of both.
func TestBombs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each takes a second")
	}
	p := New(ShareOf(0), workerArgument)
	for _, source := range []string{
		`last(range(1e18))`,                                     // time
		`[range(1e18)]`,                                         // memory, element by element
		`def f: 1 + f; f`,                                       // a stack
		`reduce range(60) as $i ("x"; . + .)`,                   // doubling a text
		`"x" * 1e9 | . + . | length`,                            // a long text at once
		`null | .[5e8] = 1`,                                     // a sparse list
		`reduce range(60) as $i ([0]; . + .)`,                   // doubling a list
		`reduce range(60) as $i (0; [., .])`,                    // a small graph that is large as a tree
		`reduce range(60) as $i (0; [., .]) | flatten`,          // the same within one function
		`reduce range(60) as $i (0; [., .]) | tojson | length`,  // the same
		`reduce range(60) as $i (0; [., .]) | . == (. | [.[]])`, // the same
		`reduce range(40) as $i (2; . * .) | tostring | length`, // numbers without bound
		`[limit(1e9; repeat("x"))] | add`,                       // both
		`[range(1000)] | combinations(1000)`,                    // combinatorics
		`"` + strings.Repeat("a", 50) + `" * 20000 | [match("(a*)*(a*)*(a*)*b"; "g")]`,
		`reduce range(1e7) as $i (0; [.]) | tojson`, // depth
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			got, err := p.Filter(t.Context(), 1, filter(source, "0"))
			if err != nil || got.Output != nil && len(got.Output) > jq.MaxJSON {
				t.Errorf("got %.100s, %v", got.Output, err)
			}
			t.Logf("%s%.60s", got.Fault, got.Output)
		})
	}
}

// TestCanceled: who waits for a filter need not.
func TestCanceled(t *testing.T) {
	t.Parallel()
	p := New(ShareOf(0), workerArgument)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := p.Filter(ctx, 1, filter(`last(range(1e18))`, "0")); !errs.Is(err, errs.Unavailable) {
			t.Errorf("got %v", err)
		}
	})
	cancel()
	wg.Wait()
	if _, err := p.Filter(ctx, 1, filter(".", "0")); !errs.Is(err, errs.Unavailable) {
		t.Errorf("got %v", err)
	}
}

// TestNoWorker: a program that is no worker answers nothing that is taken for
// an answer.
func TestNoWorker(t *testing.T) {
	t.Parallel()
	for _, argument := range []string{"-test.run=^$", "-test.nonsense"} {
		got, err := New(ShareOf(0), argument).Filter(t.Context(), 1, filter(".", "1"))
		if got.Output != nil || err == nil && got.Fault == "" {
			t.Errorf("%s: got %+v, %v", argument, got, err)
		}
	}
}
