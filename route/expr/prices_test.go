package expr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// costly are values that take long to look at.
func costly(t *testing.T) *Values {
	t.Helper()
	elements := strings.Repeat(`{"a": 1, "b": "cc"}, `, 5000) + "1"
	input, err := document.ParseJSON([]byte(`{"list": [` + elements + `], "other": [` + elements + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return &Values{
		Now:     time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Xattrs:  label.Dict{{Key: "long", Value: label.Text(strings.Repeat("x", 20_000))}, {Key: "pattern", Value: label.Text("(.?){1000}a$")}, {Key: "short", Value: label.Text("1234")}},
		Input:   "InputMessage",
		Message: func(string) *document.Node { return input },
	}
}

const tenElements = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"

// TestHiddenCost: what takes long costs accordingly, also if CEL counts it as one step.
func TestHiddenCost(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`xattr.long.matches("(.?){150}a$")`:                    "matches costs too much",
		`matches(xattr.long, "(.?){150}a$")`:                   "matches costs too much",
		`xattr.short.matches(xattr.pattern)`:                   "more than 1000",
		`xattr.short.matches(xattr.long)`:                      "longer than 2048 bytes",
		`input.list == input.other`:                            "cost limit",
		`input.list != input.other`:                            "cost limit",
		`input.list in [input.other, input.list]`:              "cost limit",
		tenElements + `.all(a, size(xattr.long) > 0)`:          "cost limit",
		tenElements + `.all(a, xattr.long + xattr.long != "")`: "cost limit",
		tenElements + `.all(a, bytes(xattr.long) != b"a")`:     "cost limit",
		tenElements + `.all(a, string(xattr.long) != "a")`:     "cost limit",
		tenElements + `.all(a, xattr.long <= xattr.long)`:      "cost limit",
		tenElements + `.all(a, ` + "now.getHours(\"Europe/Berlin\") >= 0 && now.getMinutes(\"Asia/Kolkata\") >= 0)": "cost limit",
		tenElements + `.all(a, now.getDayOfWeek("Nowhere/Land") >= 0 || true)`:                                      "cost limit",
	} {
		p, faults := Compile(source, Truth, Names{})
		if faults != nil {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		v := costly(t)
		if _, err := p.Truth(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
		again := costly(t)
		if _, err := p.Truth(again); err == nil || again.Cost != v.Cost {
			t.Errorf("%s costs %d, and then %d: %v", source, v.Cost, again.Cost, err)
		}
	}
}

// TestOrdinaryCost: what people write costs what it did.
func TestOrdinaryCost(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]uint64{
		`xattr.short == "1234"`:                             13,
		`size(xattr.short) > 3`:                             14,
		`xattr.short.matches("^[0-9]{4}$")`:                 16,
		`now.getHours("UTC") >= 3`:                          13,
		`now.getHours("+01:00") >= 4`:                       13,
		`xattr.short + "5" == "12345"`:                      14,
		`tasks.size() == 0 && input.list[0].a == 1`:         18,
		tenElements + `.all(a, a > 0) && 3 in [1, 2, 3]`:    84,
		`xattr.long.matches("[a-z]+@") || xattr.long != ""`: 4015,
	} {
		p, faults := Compile(source, Truth, Names{})
		if faults != nil {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		v := costly(t)
		if yes, err := p.Truth(v); err != nil || !yes || v.Cost != want {
			t.Errorf("%s: %v %v, costs %d, want %d", source, yes, err, v.Cost, want)
		}
	}
}

// TestPatterns: a pattern that is written out is judged when the route is stored.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`xattr.t.matches("(.?){1000}a$")`, "1:17: the regular expression has about 5008 instructions, more than 1000"},
		{`true && matches(xattr.t, "(a")`, "1:26: error parsing regexp"},
		{`xattr.t.matches("((a{10}){10}){10}")`, "more than 1000"},
	} {
		if _, faults := Compile(c.source, Truth, Names{}); !strings.Contains(fmt.Sprint(faults), c.want) {
			t.Errorf("%s: %v, want %q", c.source, faults, c.want)
		}
		p, faults := Compile(c.source, Truth, Names{Stored: true})
		if faults != nil {
			t.Errorf("%s of a stored route: %v", c.source, faults)
			continue
		}
		if _, err := p.Truth(&Values{Xattrs: label.Dict{{Key: "t", Value: label.Text("a")}}}); err == nil || !strings.Contains(err.Error(), "reg") {
			t.Errorf("%s of a stored route yields %v", c.source, err)
		}
	}
	p, faults := Compile(`xattr.t.matches("^[a-z]+$") || xattr.t.matches("x{3}")`, Truth, Names{})
	if faults != nil || p.Patterns() < 4 || p.Patterns() > 20 {
		t.Errorf("two patterns have %d instructions: %v", p.Patterns(), faults)
	}
}
