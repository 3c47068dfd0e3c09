package jq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
)

func TestFilterYieldsWhatJqWould(t *testing.T) {
	t.Parallel()
	const xattr, about = `{"limit": 3, "who": "ann"}`, `{"id": 7, "title": "Rates"}`
	for _, test := range []struct{ filter, input, want string }{
		{".", `{"b": 1, "a": [1, 2.50, 12345678901234567890, "<x>"]}`, `{"a":[1,2.50,12345678901234567890,"<x>"],"b":1}`},
		{".items | map(select(.n > $xattr.limit) | .name)", `{"items": [{"n": 2, "name": "a"}, {"n": 5, "name": "b"}]}`, `["b"]`},
		{`"\($case.title) for \($xattr.who)"`, `null`, `"Rates for ann"`},
		{`[.[] | tostring] | join(",")`, `{"z": 1, "a": true}`, `"true,1"`},
		{`def total: map(.n) | add; {total: total}`, `[{"n": 1.5}, {"n": 2}]`, `{"total":3.5}`},
		{`.when | strptime("%Y-%m-%d") | mktime | todate`, `{"when": "2026-03-02"}`, `"2026-03-02T00:00:00Z"`},
		{`try error("x") catch .`, `1`, `"x"`},
		{`now2`, `1`, `error: is not a valid jq filter: function not defined: now2/0`},
		{`.a.b`, `{"a": 3}`, `error: expected an object but got: number (3)`},
		{`empty`, `1`, `error: the filter yields nothing; it must yield one value`},
		{`.[]`, `[1, 2]`, `error: the filter yields several values; put it into [ ] to make them one`},
		{`1, error("x")`, `1`, `error: error: x`},
		{`1, null`, `1`, `error: the filter yields several values; put it into [ ] to make them one`},
		{`.`, `{`, `error: the input is not JSON: unexpected EOF`},
		{`.`, `1 2`, `error: the input is more than one JSON value`},
		{`"x" * 2000000`, `1`, `error: the filter yields more than 1048576 bytes`},
	} {
		for range 3 { // equal inputs, equal results
			got, err := Run(test.filter, []byte(test.input), []byte(xattr), []byte(about))
			if err != nil {
				got = []byte("error: " + err.Error())
			}
			if string(got) != test.want {
				t.Errorf("%s of %s:\ngot  %s\nwant %s", test.filter, test.input, got, test.want)
			}
		}
	}
}

// TestFiltersSeeNothingButTheirInput: what is no filter, and what would look at more than its input.
func TestFiltersSeeNothingButTheirInput(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{
		"now", ".a | now", "{a: now}", "{(now | tostring): 1}", "[limit(3; now)]", "def f: now; f", "def f(g): g; f(now)", "reduce now as $x (0; .)",
		"foreach .[] as $x (now; .)", "if now > 1 then 1 else 2 end", "if . then 1 elif now then 2 end", "try now", "try 1 catch now", `"\(now)"`, `@json "\(now)"`,
		".[now]", ".[now:]", ".[1:now]", ". as {a: $x, (now | tostring): $y} | $x", ". as [$a] | now", "label $out | now", "-now", "now?", ".a |= now",
		"1 as $x | 2 as $y | now", "def now: 1; now", "$ENV", "$ENV.HOME", "env", "input", "inputs", "debug", `debug("x")`, "stderr", "halt", "halt_error(1)",
		"localtime", `strflocaltime("%H")`, "$__loc__", "$__prog_args", "builtins", "input_line_number", "input_filename", "get_search_list", `"a" | modulemeta`,
		".. |= now", ".a.b[now]", ".a[].b | now // 1", "(1, now)", "[.[] | select(now)]", `.["\(now)"]`, `{"\(now)": 1}`, "path(now)", "$xattr | now",
	} {
		err := Check(filter)
		if err == nil || !strings.Contains(err.Error(), "cannot use ") {
			t.Errorf("%s: %v", filter, err)
		}
	}
	for _, test := range []struct {
		filter string
		offset int
		want   string
	}{
		{".a |", 4, "unexpected EOF"},
		{".a ]", 4, `unexpected token "]"`},
		{`"a`, 2, "unterminated string"},
		{"", -1, "missing query"},
		{".", -1, ""},
		{"$x", -1, "variable not defined: $x"},
		{"f(1)", -1, "function not defined: f/1"},
		{`import "a" as a; .`, -1, "cannot import"},
		{`include "a"; .`, -1, "cannot import"},
		{`module {}; .`, -1, "cannot import"},
	} {
		err := Check(test.filter)
		fault, ok := errors.AsType[*Fault](err)
		if test.want == "" {
			if err != nil {
				t.Errorf("%q: %v", test.filter, err)
			}
			continue
		}
		if !ok || fault.Offset != test.offset || !strings.Contains(fault.Detail, test.want) {
			t.Errorf("%q: got %+v, want %s at %d", test.filter, err, test.want, test.offset)
		}
	}
}

// TestBuiltins: every function that the library has was judged. One that a
// later version brings stands in the difference: is it pure?
func TestBuiltins(t *testing.T) {
	t.Parallel()
	query, err := gojq.Parse("builtins | sort | .[]")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for results := query.Run(nil); ; {
		v, ok := results.Next()
		if !ok {
			break
		}
		name, _, _ := strings.Cut(fmt.Sprint(v), "/")
		if !slices.Contains(got, name) && !slices.Contains(refused(), name) {
			got = append(got, name)
		}
	}
	want := strings.Fields(pure)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions that a filter can use (-judged +there are):\n%s", diff)
	}
}

// pure are the functions that yield the same from the same, wherever and
// whenever they are called.
const pure = `
IN INDEX JOIN abs acos acosh add all any arrays ascii_downcase ascii_upcase asin asinh atan atan2 atanh
booleans bsearch capture cbrt ceil combinations contains copysign cos cosh del delpaths drem empty endswith
erf erfc error exp exp10 exp2 explode expm1 fabs fdim finites first flatten floor fma fmax fmin fmod format
frexp from_entries fromdate fromdateiso8601 fromjson fromstream gamma getpath gmtime group_by gsub has hypot
implode in index indices infinite inside isempty isfinite isinfinite isnan isnormal iterables j0 j1 jn join
keys last ldexp length lgamma limit log log10 log1p log2 logb ltrim ltrimstr map map_values match max max_by
min min_by mktime modf nan nearbyint nextafter nexttoward normals not nth nulls numbers objects path paths
pick pow range recurse remainder repeat reverse rindex rint round rtrim rtrimstr scalars scalb scalbln scan
select setpath significand sin sinh skip sort sort_by split splits sqrt startswith strftime strings strptime
sub tan tanh test tgamma to_entries toboolean todate todateiso8601 tojson tonumber tostream tostring transpose
trim trimstr trunc truncate_stream type unique unique_by until utf8bytelength values walk while with_entries
y0 y1 yn
`

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{".", "now", `.a[1:2] | "x\(.)" as [$a, {b: $c}] ?// $a | $a`, "def f(x; $y): x | f(.; 1); f(.; 2)", "reduce .[] as $i (0; . + $i)", "@base64 \"x\"", "import \"a\" as $a; ."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		if len(filter) > 2048 {
			return
		}
		err := Check(filter)
		if fault, ok := errors.AsType[*Fault](err); err != nil && (!ok || fault.Offset < -1 || fault.Offset > len(filter) || fault.Detail == "") {
			t.Errorf("%q: %+v", filter, err)
		}
	})
}

func TestXattrs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		filter string
		want   []string
		ok     bool
	}{
		{`.a`, nil, true},
		{`[.[] | select(.date >= $xattr.start and .date <= $xattr["end"])] | {rows: ., count: length, a: $xattr.start}`, []string{"start", "end"}, true},
		{`$xattr | keys`, nil, true},
		{`$xattr[.key]`, nil, true},
		{`$xattr."a b"`, []string{"a b"}, true},
		{`$xattr.a // 3`, []string{"a"}, false},
		{`"$xattr.a"`, nil, true},
		{`"\($xattr.a)"`, []string{"a"}, true},
		{`.[`, nil, false},
	}
	for _, tt := range tests {
		if got, ok := Xattrs(tt.filter); !slices.Equal(got, tt.want) || ok != tt.ok {
			t.Errorf("%s: got %q, %v, want %q, %v", tt.filter, got, ok, tt.want, tt.ok)
		}
	}
}
