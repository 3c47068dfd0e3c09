package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

func TestParseYAML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", `null`},
		{"only a comment", "# nothing\n", `null`},
		{"byte order mark", "\xef\xbb\xbfa: 1", `{"a":1}`},
		{"order of keys", "z: 1\na: 2\nm: {y: 1, b: 2}\n", `{"z":1,"a":2,"m":{"y":1,"b":2}}`},
		{"JSON", `{"a":[1,2.50,-3e+2,true,false,null,"x\u00e4\n"],"b":{}}`, `{"a":[1,2.50,-3e+2,true,false,null,"xä\n"],"b":{}}`},
		{"words that are strings", "[yes, no, on, off, y, n, Yes, nULL, tRUE]", `["yes","no","on","off","y","n","Yes","nULL","tRUE"]`},
		{"null", "[null, Null, NULL, ~]", `[null,null,null,null]`},
		{"absent value", "a:\nb: ~\nc:\n", `{"a":null,"b":null,"c":null}`},
		{"booleans", "[true, True, TRUE, false, False, FALSE]", `[true,true,true,false,false,false]`},
		{"whole numbers", "[0, 12, +12, -12, 007, -0, 0o17, 0xfF]", `[0,12,12,-12,7,-0,15,255]`},
		{"long number", "123456789012345678901234567890", `123456789012345678901234567890`},
		{"fractions", "[1.5, .5, -.5, 1., +1.e3, 00.10E-02, 1e3]", `[1.5,0.5,-0.5,1.0,1.0e3,0.10E-02,1e3]`},
		{"what YAML 1.1 took for numbers", "[1_000, 0b11, 12:30, 0x, 1e, '-', 2012-11-01]", `["1_000","0b11","12:30","0x","1e","-","2012-11-01"]`},
		{"quotes", `['it''s', "tab\tend", "\x41\u00e4\U0001F600", '1', "true"]`, `["it's","tab\tend","Aä😀","1","true"]`},
		{"block scalars", "a: |\n  one\n  two\nb: >-\n  one\n  two\nc: |+\n  x\n\n", `{"a":"one\ntwo\n","b":"one two","c":"x\n\n"}`},
		{"expression over lines", "decide: >-\n  a > 0\n  ? \"x\" : \"y\"\nnext: 1", `{"decide":"a > 0 ? \"x\" : \"y\"","next":1}`},
		{"plain over lines", "a: one\n  two\n", `{"a":"one two"}`},
		{"keys are strings", "{1: a, true: b, ~: c, 1.50: d}", `{"1":"a","true":"b","~":"c","1.50":"d"}`},
		{"explicit key", "? a\n: 1\n? \"b\"\n: 2\n", `{"a":1,"b":2}`},
		{"tags", "[!!str 12, !!int 12, !!float 1.5, !!bool true, !!null ~, ! 12, !!seq [1], !!map {a: 1}]", `["12",12,1.5,true,null,"12",[1],{"a":1}]`},
		{"one document with marks", "%YAML 1.2\n---\na: 1\n...\n", `{"a":1}`},
		{"version after a comment", "# one\r\n\r\n%YAML 1.1 # old\r\n--- \r\na: yes\r\n", `{"a":"yes"}`},
		{"tags by a directive", "%TAG ! tag:yaml.org,2002:\n---\na: !str 1\n", `{"a":"1"}`},
		{"comment before the document", "# hello\n--- # x\na: 1 # y\n", `{"a":1}`},
		{"lists below keys", "a:\n- 1\n- - 2\n  - 3\nb:\n  - c: 1\n    d: 2\n", `{"a":[1,[2,3]],"b":[{"c":1,"d":2}]}`},
		{"aliases", "a: &x {k: [1]}\nb: *x\nc: [*x, *x]\n", `{"a":{"k":[1]},"b":{"k":[1]},"c":[{"k":[1]},{"k":[1]}]}`},
		{"anchored key", "&k one: 1\ntwo: *k\n", `{"one":1,"two":"one"}`},
		{"alias as key", "a: &k one\n*k : 2\n", `{"a":"one","one":2}`},
		{"merge", "base: &b {x: 1, y: 2}\nd:\n  y: 3\n  <<: *b\n  z: 4\n", `{"base":{"x":1,"y":2},"d":{"y":3,"x":1,"z":4}}`},
		{"merge several", "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b], z: 3}\n", `{"a":{"x":1},"b":{"x":2,"y":2},"c":{"x":1,"y":2,"z":3}}`},
		{"merge key before and after", "b: &b {x: 1, y: 2, z: 3}\nd: {y: 0, <<: *b, z: 0, w: 0}\n", `{"b":{"x":1,"y":2,"z":3},"d":{"y":0,"x":1,"z":0,"w":0}}`},
		{"quoted merge key is a key", `{"<<": 1}`, `{"<<":1}`},
		{"anchor without a value", "a: &x\nb: *x\n", `{"a":null,"b":null}`},
		{"escaped line separator", `"\u2028"`, `"\u2028"`},
		{"adjacent value in braces", `{"a":b, c: {d:1}, e: x:y:z, f: [a:b:c, 1:2]}`, `{"a":"b","c":{"d:1":null},"e":"x:y:z","f":["a:b:c","1:2"]}`},
		{"address in braces", `{url: http://example.org:80/x, when: 12:30}`, `{"url":"http://example.org:80/x","when":"12:30"}`},
		{"rules in braces", `roles: {voter: {assign: ["team:core", xattr:assignee]}}`, `{"roles":{"voter":{"assign":["team:core","xattr:assignee"]}}}`},
		{"windows lines", "a: 1\r\nb:\r\n  - x\r\n", `{"a":1,"b":["x"]}`},
		{"deepest", strings.Repeat("[", document.MaxDepth) + strings.Repeat("]", document.MaxDepth), strings.Repeat("[", document.MaxDepth) + strings.Repeat("]", document.MaxDepth)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n, err := document.ParseYAML([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(n.AppendJSON(nil)); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParseYAMLPlaces(t *testing.T) {
	t.Parallel()
	const text = "# a comment\nname: bug\n" +
		"roles:\n  submitter: {assign: [starter]}\n" +
		"list:\n  - ä: \"x\"\t# tab\n    b:\t12\n  - |\n    text\n" +
		"tagged: !!str 1\nempty:\nlast: &a {x: [1,\n  2]}\nagain: *a\n"
	n, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2:1 an object", "2:1 name", "2:7 a string",
		"3:1 roles", "4:3 an object", "4:3 submitter", "4:14 an object", "4:15 assign", "4:23 a list", "4:24 a string",
		"5:1 list", "6:3 a list", "6:5 an object", "6:5 ä", "6:8 a string", "7:5 b", "7:8 a number", "8:5 a string",
		"10:1 tagged", "10:9 a string", "11:1 empty", "11:7 null",
		"12:1 last", "12:7 an object", "12:11 x", "12:14 a list", "12:15 a number", "13:3 a number",
		"14:1 again", "12:7 an object", "12:11 x", "12:14 a list", "12:15 a number", "13:3 a number",
	}
	if diff := cmp.Diff(want, places(n)); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestParseYAMLErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"key twice", "a: 1\nb: 2\na: 3\n", `line 3, column 1: the key "a" appears twice`},
		{"key twice, quoted", "{a: 1, 'a': 2}", `line 1, column 8: the key "a" appears twice`},
		{"merge key twice", "a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n", `line 4, column 3: the key "<<" appears twice`},
		{"two documents", "a: 1\n---\nb: 2\n", `line 2, column 1: a second document begins here, and only one is possible`},
		{"two documents after an end", "a: 1\n...\nb: 2\n", `line 3, column 1: a second document begins here, and only one is possible`},
		{"not closed", "a: [1, 2\n", `line 2, column 1: did not find expected ',' or ']' while parsing a flow sequence from line 1, column 4`},
		{"tab as indentation", "a:\n\tb: 1\n", `line 2, column 1: a tab may not indent a line; use spaces`},
		{"value in a value", "a: b: c\n", `line 1, column 5: mapping values are not allowed in this context; put the value in quotes`},
		{"choice in a value", "a:\n  guard: x ? 1 : 2\n", `line 2, column 16: mapping values are not allowed in this context; put the value in quotes`},
		{"value deeper than its key", "a: 1\n  b: 2\n", `line 2, column 4: mapping values are not allowed in this context; is the line indented as those that it belongs to?`},
		{"choice in braces", `{guard: x ? 1 : 2}`, `line 1, column 15: did not find expected ',' or '}' while parsing a flow mapping; put the value in quotes`},
		{"infinity", "a: -.inf", `line 1, column 4: -.inf is not a number that a document may hold`},
		{"not a number", "[.nan]", `line 1, column 2: .nan is not a number that a document may hold`},
		{"unknown alias", "a: *x\n", `line 1, column 4: unknown anchor 'x' referenced`},
		{"alias in its anchor", "a: &x [1, *x]\n", `line 1, column 11: the alias *x is inside its own anchor`},
		{"merge of a scalar", "a: {<<: 1}\n", `line 1, column 9: a merge key takes an object or a list of objects, not a number`},
		{"key between two levels", "a:\n  b: 1\n c: 2\n", `line 3, column 2: did not find expected key while parsing a block mapping from line 1, column 1; is the line indented as those that it belongs to?`},
		{"an expression with a not", "a: !has(x.y)\n", `line 1, column 4: the tag !has(x.y) is not supported; put the value in quotes if it begins with a !`},
		{"tag of our own", "a: !ruby/object {}\n", `line 1, column 4: the tag !ruby/object is not supported`},
		{"binary", "a: !!binary aGk=\n", `line 1, column 4: the tag !!binary is not supported`},
		{"tag that does not fit", "a: !!int x\n", `line 1, column 4: the tag !!int does not fit what follows it`},
		{"tag by a directive", "%TAG !x! tag:x,2000:\n---\na: !x!y 1\n", `line 3, column 4: the tag tag:x,2000:y is not supported`},
		{"directive of another version", "%YAML 2.0\n---\na: 1\n", `line 1, column 1: found incompatible YAML document`},
		{"tab before more of a text", "a: b\n\tc: d\n", `line 2, column 1: a tab may not indent a line; use spaces`},
		{"tab after Windows lines", "a: 1\r\nb:\r\n\tc: 1\r\n", `line 3, column 1: a tab may not indent a line; use spaces`},
		{"line separator", "a: x\nb: ä\u2028y\n", `line 2, column 5: the character U+2028 is allowed only as an escape in double quotes, as "\u2028"`},
		{"escape", `a: "\xZZ"`, `line 1, column 7: did not find expected hexadecimal number while scanning a quoted scalar`},
		{"escape out of range", `"\UFFFFFFFF"`, `line 1, column 4: found invalid Unicode character escape code while scanning a quoted scalar`},
		{"control character", "a: \x01\n", `line 1, column 4: the control character U+0001 is not allowed anywhere`},
		{"reserved character", "a: @b\n", `line 1, column 4: the character '@' cannot begin a text without quotes`},
		{"colon in braces", "{a: b: c}", `line 1, column 6: did not find expected ',' or '}' while parsing a flow mapping; put the value in quotes`},
		{"list as key", "[1]: 2\n", `line 1, column 1: a key must be a text`},
		{"too deep in brackets", strings.Repeat("[", 65), `line 1, column 65: lists and objects nest deeper than 64`},
		{"too deep in dashes", strings.Repeat("- ", 65) + "a", `line 1, column 129: lists and objects nest deeper than 64`},
		{"too deep by lines", steps(65), `line 65, column 66: lists and objects nest deeper than 64`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n, err := document.ParseYAML([]byte(tt.text))
			if err == nil {
				t.Fatalf("accepted as %s", n.AppendJSON(nil))
			}
			if want := "The document is not YAML: " + tt.want + "."; err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
			if !errs.Is(err, errs.NotParseable) {
				t.Errorf("kind %s", errs.KindOf(err))
			}
		})
	}
}

// steps returns mappings nested n deep, a line each.
func steps(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// TestParseYAMLBounded feeds what is made to take long. Each must be read, or
// refused by the bound that it exceeds or for what is wrong with it.
func TestParseYAMLBounded(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	laughs := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		laughs += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	var keys strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&keys, "k%d:\n", i)
	}
	// What a document is refused for is counted while it is read.
	const read, marks, aliases = "", "more than 200000 marks", "aliases stand for more than 10000 values"
	tests := map[string]struct{ text, want string }{
		"a billion laughs": {laughs, aliases},
		"merged laughs":    {strings.Replace(laughs, "[x,", "[x, {<<: {b: 1}},", 1), aliases},
		"many keys":        {keys.String(), read},
		"too many keys":    {strings.Repeat(keys.String(), 10), "appears twice"},
		"brackets":         {strings.Repeat("[", mib), marks},
		"closing brackets": {strings.Repeat("]", mib), marks},
		"flat list":        {"[" + strings.Repeat("a,", mib/2) + "]", marks},
		"dashes":           {strings.Repeat("- ", mib/2), marks},
		"lines of dashes":  {strings.Repeat("-\n", mib/2), marks},
		"question marks":   {strings.Repeat("? ", mib/2), marks},
		"colons":           {strings.Repeat("a: ", mib/3), marks},
		"tags":             {strings.Repeat("!a ", mib/3), marks},
		"anchors":          {strings.Repeat("&a ", mib/3), marks},
		"tabs in quotes":   {`"` + strings.Repeat("\t", mib) + `x"`, read},
		"documents":        {strings.Repeat("---\na\n", mib/6), marks},
		"document ends":    {strings.Repeat("...\n", mib/4), read},
		"quotes":           {strings.Repeat("'", mib), read},
		"bad escapes":      {strings.Repeat(`"\q`, mib/3), "unknown escape character"},
		"open quotes":      {strings.Repeat("\"a\n", mib/3), "did not find expected <document start>"},
		"long text":        {"a: |\n" + strings.Repeat("  some text here\n", mib/17), read},
		"stripped text":    {"a: |-\n" + strings.Repeat("  x\n", mib/4) + strings.Repeat("\n", mib), read},
		"folded text":      {"a: >\n" + strings.Repeat("  some text here\n", mib/17), read},
		"plain lines":      {"a:\n" + strings.Repeat("  some text here\n", mib/17), read},
		"blank lines":      {"a: b" + strings.Repeat("\n", mib) + " c", read},
		"blanks":           {"a: b" + strings.Repeat(" ", mib) + "c", read},
		"comments":         {strings.Repeat("# some words\n", mib/13), read},
		"one long line":    {"{" + strings.Repeat("ä: [1, 2],", 3_000) + "}", "appears twice"},
		"carriage returns": {strings.Repeat("\r", mib), read},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := document.ParseYAML([]byte(tt.text))
			if tt.want == read && err != nil || tt.want != read && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v; want %q", err, tt.want)
			}
		})
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, seed := range []string{
		"name: bug\nroles:\n  submitter: {assign: [starter]}\nactions:\n  open: {trigger: init}\n",
		"a: &x [1, *x]\n<<: {b: 0x1F}\n", "? a\n: |\n  text\n- - >-\n", "%YAML 1.2\n---\n\"\\u00e4\\xZZ\"\n...\n",
		"[!!int 1, ! x, {y: .inf}]", "'a\n\n b': 1\t# c\r\n", "a:\n\tb", "*a : &b", "!!map {a: !!str }",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := document.ParseYAML(data)
		if err != nil {
			if !errs.Is(err, errs.NotParseable) {
				t.Fatalf("kind %s", errs.KindOf(err))
			}
			return
		}
		out := n.AppendJSON(nil)
		again, err := document.ParseJSON(out)
		if err != nil || !document.Equal(n, again) {
			t.Fatalf("%q came back as %q: %v", data, out, err)
		}
		inside(t, n, strings.Count(string(data), "\n")+strings.Count(string(data), "\r")+1)
	})
}

// inside checks that every value stands in a line of the document; one that is
// absent at the end of the text may stand right behind it.
func inside(t *testing.T, n *document.Node, lines int) {
	t.Helper()
	if n.Kind == document.Null {
		lines++
	}
	if n.Line < 1 || n.Line > lines || n.Column < 1 {
		t.Fatalf("place %d:%d of %d lines", n.Line, n.Column, lines)
	}
	for _, item := range n.Items {
		inside(t, item, lines)
	}
	for _, m := range n.Members {
		inside(t, m.Value, lines)
	}
}

func BenchmarkParseYAML(b *testing.B) {
	data := []byte("name: bug\nroles:\n  submitter: {assign: [starter]}\nactions:\n  open: {trigger: init}\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := document.ParseYAML(data); err != nil {
			b.Fatal(err)
		}
	}
}
