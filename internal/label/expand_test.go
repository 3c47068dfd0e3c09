package label

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
)

// dict makes a dictionary of strings from keys and values in turn.
func dict(pairs ...string) Dict {
	var d Dict
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, XAttr{Key: pairs[i], Value: Text(pairs[i+1])})
	}
	return d
}

func TestExpand(t *testing.T) {
	t.Parallel()
	yes := Value{Kind: document.Bool, Text: "true"}
	tests := []struct {
		name    string
		in      Dict
		want    Dict
		unknown []string
	}{
		{"nothing", nil, nil, nil},
		{"the article's entry", dict("start", "$__MONTHSTART__;", "end", "$__TODAY__;"), dict("end", "2012-11-09", "start", "2012-11-01"), nil},
		{"keys are normalised", dict("Batch ID", "v", "Z", "z", "a", "b"), dict("a", "b", "batchid", "v", "z", "z"), nil},
		{"what is no string stays", Dict{{"n", Value{document.Number, "1e3"}}, {"y", yes}}, Dict{{"n", Value{document.Number, "1e3"}}, {"y", yes}}, nil},
		{"references", dict("a", "<$__XATTR_B__;>", "b", "$__TODAY__;"), dict("a", "<2012-11-09>", "b", "2012-11-09"), nil},
		{"references to other kinds", Dict{{"a", Text("$__XATTR_y__;")}, {"y", yes}}, Dict{{"a", Text("true")}, {"y", yes}}, nil},
		{"chains, either way round", dict("a", "$__XATTR_b__;1", "b", "$__XATTR_c__;2", "c", "3", "d", "$__XATTR_b__;4"), dict("a", "321", "b", "32", "c", "3", "d", "324"), nil},
		{"itself", dict("a", "x$__XATTR_a__;"), dict("a", "x$__XATTR_a__;"), []string{"$__XATTR_a__;"}},
		{
			"a cycle stays verbatim, what refers to it gets it so",
			dict("a", "A$__XATTR_b__;", "b", "B$__XATTR_A__;$__XATTR_z__;", "c", "C$__XATTR_a__;", "z", "Z"),
			dict("a", "A$__XATTR_b__;", "b", "B$__XATTR_A__;Z", "c", "CA$__XATTR_b__;", "z", "Z"),
			[]string{"$__XATTR_b__;", "$__XATTR_A__;"},
		},
		{"absent", dict("a", "$__XATTR_b__;"), dict("a", "$__XATTR_b__;"), []string{"$__XATTR_b__;"}},
		{"unknown, once", dict("a", "$__FOO__;", "b", "$__FOO__;$__TODAY__;"), dict("a", "$__FOO__;", "b", "$__FOO__;2012-11-09"), []string{"$__FOO__;"}},
		{"results are not scanned", dict("a", "$__TITLE__;", "b", "$__XATTR_a__;"), dict("a", "$__XATTR_b__;", "b", "$__XATTR_b__;"), nil},
		{"what slipped through", dict("a b", "1", "ab", "2", "ä", "3"), dict("ab", "1"), nil},
	}
	v := values()
	v.Title = "$__XATTR_b__;"
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before := fmt.Sprint(test.in)
			got, unknown, _ := Expand(test.in, v)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.unknown, unknown); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if fmt.Sprint(test.in) != before {
				t.Errorf("Expand changed what it was given: %v", test.in)
			}
		})
	}
}

// Every key doubles the one before: without a bound, 2^200 bytes.
func TestExpandBoundsGrowth(t *testing.T) {
	t.Parallel()
	d := dict("k000", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
	size := 0
	for i := 1; i < 200; i++ {
		ref := fmt.Sprintf("$__XATTR_k%03d__;", i-1)
		d = append(d, XAttr{Key: fmt.Sprintf("k%03d", i), Value: Text(ref + ref)})
		size += 2 * len(ref)
	}
	out, _, long := Expand(d, values())
	total := 0
	for _, x := range out {
		total += len(x.Value.Text)
	}
	if total > size+MaxGrowth+64 {
		t.Errorf("%d bytes became %d", size, total)
	}
	if len(long) == 0 {
		t.Error("nothing is reported")
	}
}

// A chain as long as a document can hold must neither overflow the stack nor
// take quadratic time.
func TestExpandLongChain(t *testing.T) {
	t.Parallel()
	const n = 40_000
	var d Dict
	for i := range n {
		d = append(d, XAttr{Key: fmt.Sprint(i), Value: Text(fmt.Sprintf("$__XATTR_%d__;", i+1))})
	}
	d = append(d, XAttr{Key: fmt.Sprint(n), Value: Text("end")})
	out, unknown, _ := Expand(d, values())
	if v, _ := out.Get("0"); v.Text != "end" || unknown != nil {
		t.Errorf("the first is %q, unknown %.3q; want the last one's value", v.Text, unknown)
	}
}

func TestNormalizeKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", MaxKey)
	for key, want := range map[string]string{
		"start": "start", "Batch ID": "batchid", "A.b-C_9": "a.b-c_9", "0": "0", " x ": "x", long: long, long + " ": long,
	} {
		if got, err := NormalizeKey(key); got != want || err != nil {
			t.Errorf("NormalizeKey(%q) = %q, %v; want %q", key, got, err, want)
		}
	}
	for _, key := range []string{"", " ", long + "k", "ä", "a+b", "a/b", "a\tb", "a:b", "a\x00", "\xff", "a$b"} {
		if got, err := NormalizeKey(key); err == nil {
			t.Errorf("NormalizeKey(%q) = %q; want an error", key, got)
		}
	}
}

func TestDict(t *testing.T) {
	t.Parallel()
	d := dict("b", "1", "d", "2")
	set := d.Set("c", Text("3")).Set("a", Text("4")).Set("b", Text("5")).Remove("d").Remove("absent")
	if got, want := string(set.AppendJSON(nil)), `{"a":"4","b":"5","c":"3"}`; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	if got, want := string(d.AppendJSON(nil)), `{"b":"1","d":"2"}`; got != want {
		t.Errorf("the original became %s; want %s", got, want)
	}
	var back Dict
	text := `{"z":"q\"\u0001","a":1.0,"m":false}`
	if err := back.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if got := string(back.AppendJSON(nil)); got != text {
		t.Errorf("round trip gave %s; want %s", got, text)
	}
	if err := back.UnmarshalJSON([]byte(`{"a":null}`)); err == nil {
		t.Error("null was taken for a value")
	}
	if err := back.UnmarshalJSON([]byte(`[]`)); err == nil {
		t.Error("a list was taken for a dictionary")
	}
}
