package expr

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

func testNames() Names {
	return Names{Actions: []string{"approve", "deny"}, Timers: []string{"review", "case"}}
}

func testValues(tb testing.TB) *Values {
	tb.Helper()
	messages := map[string]string{
		"InputMessage": `{"amount": 12.5, "n": 3, "b": {"z": 1, "a": [1, "x", null, true]}}`,
		"answer":       `{"ok": true}`,
	}
	at := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	return &Values{
		Case: Case{ID: 17, Title: "A case", Status: "open", Starter: "sam", Created: at, Version: 3},
		Xattrs: label.Dict{
			{Key: "amount", Value: label.Value{Kind: document.Number, Text: "1000"}},
			{Key: "rate", Value: label.Value{Kind: document.Number, Text: "0.5"}},
			{Key: "urgent", Value: label.Value{Kind: document.Bool, Text: "true"}},
			{Key: "who", Value: label.Text("sam")},
		},
		Actor: "ann", Now: at.Add(time.Hour), Input: "InputMessage",
		Message: func(name string) *document.Node {
			if messages[name] == "" {
				return nil
			}
			n, err := document.ParseJSON([]byte(messages[name]))
			if err != nil {
				tb.Fatal(err)
			}
			return n
		},
		Instead: func(name string) string {
			if name == "plain" {
				return `text/plain: "Hello"`
			}
			return ""
		},
		Actions: 2, Action: func(i int) string { return testNames().Actions[i] },
		Task: func(name string) (Task, bool) {
			if name == "approve" {
				return Task{Count: 2, By: "bob", At: at, Resolution: "fine", Output: "yes", State: "offered"}, true
			}
			return Task{}, name == "deny"
		},
		Timers: 1, TimerAt: func(int) string { return "review" },
		Timer: func(name string) (Timer, bool) {
			if name == "review" {
				return Timer{Expired: true, Enabled: true, Date: at, Limit: "PT5M"}, true
			}
			return Timer{}, name == "case"
		},
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`xattr.amount > 999.5 && xattr.amount == 1000.0`:                                                                        `true`,
		`dyn(case).title + dyn(tasks.approve)["by"]`:                                                                            `"A casebob"`,
		`[case][0].id + case.version`:                                                                                           `20`,
		`type(case) == type(dyn(case)) && type(case) != type(tasks.approve)`:                                                    `true`,
		`dyn(xattr)["who"] + {"a": "b"}["a"] + dyn({"c": 1}).map(k, k)[0]`:                                                      `"sambc"`,
		`type(xattr) == map && size(xattr) == 4 && size(timers) == 1`:                                                           `true`,
		`[dyn(tasks.deny).state, dyn(tasks.deny).resolution, case.starter]`:                                                     `["","","sam"]`,
		`{"a": {"n": 0.5, "big": 1e16, "when": now - duration("1s")}}.a`:                                                        `{"big":1e+16,"n":0.5,"when":"2012-11-09T12:59:59Z"}`,
		`xattr == xattr && xattr != {"amount": 1000} && input.b != {"z": 1, "x": 2}`:                                            `true`,
		`has(dyn(input).b.z) && !has(input.b.q)`:                                                                                `true`,
		`timers.review.expired && timers["review"].enabled && !timers["case"].enabled`:                                          `true`,
		`[timers.review.date, timers["case"].date]`:                                                                             `["2012-11-09T12:00:00Z",null]`,
		`timers.map(k, k + string(timers[k].expired))`:                                                                          `["reviewtrue"]`,
		`type(timers.review) == type(timers["case"]) && timers.review == dyn(timers).review && timers.review != timers["case"]`: `true`,
		`[timers.review.limit, timers["case"].limit, dyn(timers).review.limit]`:                                                 `["PT5M",null,"PT5M"]`,
		`timers["case"].limit == null && timers["review"].limit == "PT5M"`:                                                      `true`,
		`xattr.amount + 1`:                                    `1001`,
		`xattr.rate * 3.0`:                                    `1.5`,
		`has(xattr.who) && !has(xattr.absent)`:                `true`,
		`"who" in xattr`:                                      `true`,
		`xattr.map(k, k)`:                                     `["amount","rate","urgent","who"]`,
		`{"b": 1, "a": {"z": 1, "y": xattr.who}}`:             `{"a":{"y":"sam","z":1},"b":1}`,
		`{"b": 1, "c": 2, "a": 3}.map(k, k)`:                  `["a","b","c"]`,
		`input.b`:                                             `{"z":1,"a":[1,"x",null,true]}`,
		`input.amount > input.n`:                              `true`,
		`input.b == {"a": [1, "x", null, true], "z": 1}`:      `true`,
		`message["answer"].ok && message.answer["ok"]`:        `true`,
		`has(message.other) || "other" in message`:            `false`,
		`case.title + " " + case.status`:                      `"A case open"`,
		`case.created + duration("1h") == now`:                `true`,
		`now`:                                                 `"2012-11-09T13:00:00Z"`,
		`now - case.created`:                                  `"PT3600S"`,
		`tasks["approve"].count + tasks.deny.count`:           `2`,
		`tasks.approve.by == "bob" && tasks.deny.at == null`:  `true`,
		`[tasks.approve.resolution, tasks["approve"].output]`: `["fine","yes"]`,
		`tasks.map(a, a)`:                                     `["approve","deny"]`,
		`tasks.exists(a, tasks[a].state == "offered")`:        `true`,
		`actor`:           `"ann"`,
		`double(1) / 3.0`: `0.3333333333333333`,
		`1e300`:           `1e+300`,
		`b"abc"`:          `"YWJj"`,
		`case == case && tasks.approve != tasks.deny`:             `true`,
		`xattr.amount > 500 ? "high" : "low"`:                     `"high"`,
		`[1, 2, 3].filter(i, i > xattr.rate).all(i, i < 1000000)`: `true`,
	} {
		p, faults := Compile(source, Any, testNames())
		if faults != nil {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		for range 3 {
			got, err := p.JSON(testValues(t))
			if err != nil || string(got) != want {
				t.Errorf("%s yields %s (%v), want %s", source, got, err, want)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		source string
		want   Want
		fault  string
	}{
		{"xattr.a +", Any, "1:10: mismatched input"},
		{"1 + 'a'", Any, "1:3: found no matching overload for '_+_' applied to '(int, string)'"},
		{"true &&\n  nobody", Truth, "2:3: undeclared reference to 'nobody'"},
		{"case.titel == 'x'", Truth, "1:5: undefined field 'titel'"},
		{"tasks['aprove'].count > 0", Truth, `"aprove" is not an action of this route`},
		{"tasks.aprove.count > 0", Truth, `"aprove" is not an action of this route`},
		{"timers.x.expired", Truth, `"x" is not a timer of this route`},
		{"message.all(m, true)", Truth, "1:1: can only be looked up by a label"},
		{"size(message) > 0", Truth, "1:6: can only be looked up by a label"},
		{"1 + 1", Truth, "must be true or false, not of type int"},
		{"1 + 1", Text, "must be a string, not of type int"},
		{"[1]", Scalar, "must be a string, a number, a boolean or null, not of type list(int)"},
		{"  ", Any, "must not be empty"},
		{strings.Repeat("1+", 1100) + "1", Any, "must not be longer than 2048 bytes"},
		{strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500), Any, "expression recursion limit exceeded"},
		{"children.size() > 0", Truth, "is available only in decide and complete of an action with children"},
	} {
		p, faults := Compile(test.source, test.want, testNames())
		var all []string
		for _, f := range faults {
			all = append(all, f.String())
		}
		if p != nil || !strings.Contains(strings.Join(all, "\n"), test.fault) {
			t.Errorf("%.40q: %q, want %q", test.source, all, test.fault)
		}
	}
}

func TestErrorsAreValues(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"xattr.absent > 1":              "no such key: absent",
		"xattr.amount / 0 > 1":          "division by zero",
		"dyn(case)[1] == 2":             "no such overload",
		"dyn(case).nothing":             "no such field",
		"xattr[dyn(1)] == 2":            "no such overload",
		"string(dyn(case)) == ''":       "no such overload",
		"string(dyn(tasks.deny)) == ''": "no such overload",
		"string(dyn(xattr)) == ''":      "no such overload",
		"xattr.who":                     "must be true or false, not of type string",
		"message.x.y == 1":              "no such key: x",
		"message.plain.y == 1":          `the message "plain" is not JSON, but text/plain: "Hello"`,
		"message.answer.x == 1":         "no such key: x",
		"[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, a+b+c+d > 0))))": "cost limit",
	} {
		p, faults := Compile(source, Truth, testNames())
		if faults != nil {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		got, err := p.Truth(testValues(t))
		if err == nil || got || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v, want %q", source, got, err, want)
		}
	}
	p, _ := Compile("input", Any, testNames())
	if got, err := p.JSON(&Values{}); err != nil || string(got) != "null" {
		t.Errorf("no input is %s %v", got, err)
	}
}

// TestBudget: evaluations add up, and end where the budget does.
func TestBudget(t *testing.T) {
	t.Parallel()
	p, faults := Compile("[1, 2, 3, 4, 5, 6, 7, 8].all(a, [1, 2, 3, 4, 5, 6, 7, 8].all(b, a + b > 0))", Truth, testNames())
	if faults != nil {
		t.Fatal(faults)
	}
	v := testValues(t)
	v.Budget = 5000
	for n := 1; ; n++ {
		if _, err := p.Truth(v); err != nil {
			if n < 3 || n > 50 || v.Cost > v.Budget+MaxCost || !strings.Contains(err.Error(), "cost too much") {
				t.Errorf("after %d evaluations of cost %d: %v", n, v.Cost, err)
			}
			return
		}
	}
}

// BenchmarkCost is what the most expensive expression takes.
func BenchmarkCost(b *testing.B) {
	ten := "[1,2,3,4,5,6,7,8,9,10]"
	p, faults := Compile(ten+".all(a, "+ten+".all(b, "+ten+".all(c, "+ten+".all(d, a+b+c+d > 0))))", Truth, testNames())
	if faults != nil {
		b.Fatal(faults)
	}
	v := testValues(b)
	for b.Loop() {
		if _, err := p.Truth(v); err == nil {
			b.Fatal("not limited")
		}
	}
}

func TestScalar(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]label.Value{
		"xattr.amount + 1":                {Kind: document.Number, Text: "1001"},
		"xattr.rate":                      {Kind: document.Number, Text: "0.5"},
		"!xattr.urgent":                   {Kind: document.Bool, Text: "false"},
		"actor":                           label.Text("ann"),
		"now":                             label.Text("2012-11-09T13:00:00Z"),
		"null":                            {},
		"dyn(xattr.who)":                  label.Text("sam"),
		`duration("90s")`:                 label.Text("PT90S"),
		"uint(7)":                         {Kind: document.Number, Text: "7"},
		"tasks.approve.count > 1 ? 1 : 0": {Kind: document.Number, Text: "1"},
	} {
		p, faults := Compile(source, Scalar, testNames())
		if faults != nil {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		got, ok, err := p.Scalar(testValues(t))
		if err != nil || got != want || ok != (want != label.Value{}) {
			t.Errorf("%s yields %v %v %v, want %v", source, got, ok, err, want)
		}
	}
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	p, faults := Compile(`xattr.amount > 1 ? "a" : (has(xattr.x) ? "b" : xattr.x)`, Text, testNames())
	if faults != nil {
		t.Fatal(faults)
	}
	if got, want := p.Literals(), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("literals %q, want %q", got, want)
	}
	if got, err := p.Text(testValues(t)); got != "a" || err != nil {
		t.Errorf("yields %q %v", got, err)
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"xattr.a > 1", "tasks['approve'].count", "{'a': 1}.map(k, k)", "message.x", "now - case.created", "[1].all(i, i in xattr)", "("} {
		f.Add(seed)
	}
	v := testValues(f)
	f.Fuzz(func(t *testing.T, source string) {
		p, faults := Compile(source, Any, testNames())
		if (p == nil) != (len(faults) > 0) {
			t.Fatalf("%v %v", p, faults)
		}
		if p == nil {
			for _, fault := range faults {
				if fault.Line < 1 || fault.Column < 1 || fault.Detail == "" {
					t.Fatalf("%+v", fault)
				}
			}
			return
		}
		first, err := p.JSON(v)
		second, again := p.JSON(v)
		if string(first) != string(second) || (err == nil) != (again == nil) {
			t.Fatalf("%s %v, then %s %v", first, err, second, again)
		}
	})
}

func BenchmarkTruth(b *testing.B) {
	p, faults := Compile("xattr.amount > 500 && tasks.approve.count > 0 && case.status == 'open'", Truth, testNames())
	if faults != nil {
		b.Fatal(faults)
	}
	v := testValues(b)
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := p.Truth(v); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
