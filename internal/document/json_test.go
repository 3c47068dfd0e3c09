package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

func TestParseJSONPlaces(t *testing.T) {
	t.Parallel()
	const text = "\xef\xbb\xbf{\n  \"näme\": \"ö\", \"b\" :\t[1,\r\n true,{\"c\" : null}]}\n"
	n, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1:1 an object", "2:3 näme", "2:11 a string", "2:16 b", "2:22 a list", "2:23 a number", "3:2 true or false",
		"3:7 an object", "3:8 c", "3:14 null",
	}
	if diff := cmp.Diff(want, places(n)); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if got, want := string(n.AppendJSON(nil)), `{"näme":"ö","b":[1,true,{"c":null}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// places lists where every value of the tree begins, in order.
func places(n *document.Node) []string {
	out := []string{fmt.Sprintf("%d:%d %s", n.Line, n.Column, n.Kind)}
	for _, item := range n.Items {
		out = append(out, places(item)...)
	}
	for _, m := range n.Members {
		out = append(out, fmt.Sprintf("%d:%d %s", m.Line, m.Column, m.Key))
		out = append(out, places(m.Value)...)
	}
	return out
}

func TestParseJSONErrors(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", document.MaxDepth+1) + strings.Repeat("]", document.MaxDepth+1)
	many := `{"0":0`
	for i := 1; i < 40; i++ {
		many += fmt.Sprintf(",\n\"%d\":0", i)
	}
	tests := []struct{ text, want string }{
		{"", "line 1, column 1: the document ends too early, where a value is expected"},
		{" \n ", "line 2, column 2: the document ends too early, where a value is expected"},
		{`{"a": 1,}`, `line 1, column 9: unexpected '}' where a key in quotes is expected`},
		{`{a: 1}`, `line 1, column 2: unexpected 'a' where a key in quotes is expected`},
		{"{\"a\"\n 1}", `line 2, column 2: unexpected '1' where ':' is expected`},
		{`{"a": 1 "b": 2}`, `line 1, column 9: unexpected '"' where ',' or '}' is expected`},
		{`[1, 2`, `line 1, column 6: the document ends too early, where ',' or ']' is expected`},
		{`[1,]`, `line 1, column 4: unexpected ']' where a value is expected`},
		{`[1 2]`, `line 1, column 4: unexpected '2' where ',' or ']' is expected`},
		{`{"ä": tru }`, `line 1, column 10: unexpected ' ' in the word true`},
		{`nul`, `line 1, column 4: the document ends too early, in the word null`},
		{`01`, `line 1, column 2: unexpected '1' where the document should end`},
		{`-`, `line 1, column 2: the document ends too early, where a digit is expected`},
		{`1.e2`, `line 1, column 3: unexpected 'e' where a digit is expected`},
		{`1e+`, `line 1, column 4: the document ends too early, where a digit is expected`},
		{`.5`, `line 1, column 1: unexpected '.' where a value is expected`},
		{`"a`, `line 1, column 3: the document ends too early, inside a string`},
		{"\"a\tb\"", `line 1, column 3: unexpected '\t' in a string, where it must be escaped`},
		{"\"\\n\nb\"", `line 1, column 4: unexpected '\n' in a string, where it must be escaped`},
		{`"\q"`, `line 1, column 3: unexpected 'q' after a backslash`},
		{`"\u12x4"`, `line 1, column 6: unexpected 'x' where a hexadecimal digit is expected`},
		{`{} {}`, `line 1, column 4: unexpected '{' where the document should end`},
		{"{\"a\": 1,\n \"a\": 2}", `line 2, column 2: the key "a" appears twice`},
		{many + `, "17": 1}`, `line 40, column 9: the key "17" appears twice`},
		{"# no comments", `line 1, column 1: unexpected '#' where a value is expected`},
		{deep, `line 1, column 65: lists and objects nest deeper than 64`},
	}
	for _, tt := range tests {
		_, err := document.ParseJSON([]byte(tt.text))
		if want := "The document is not JSON: " + tt.want + "."; err == nil || err.Error() != want {
			t.Errorf("%.30q:\n got %v\nwant %s", tt.text, err, want)
		}
		if !errs.Is(err, errs.NotParseable) {
			t.Errorf("%.30q: kind %s", tt.text, errs.KindOf(err))
		}
	}
	if _, err := document.ParseJSON([]byte("\"\xff\"")); !errs.Is(err, errs.NotParseable) {
		t.Errorf("bytes that are no UTF-8: %v", err)
	}
}

func TestParseErrorCarriesPlace(t *testing.T) {
	t.Parallel()
	_, err := document.ParseJSON([]byte("{\n x"))
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(map[string]any{"line": 2, "column": 2}, e.Extra); diff != "" {
		t.Error(diff)
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{`{"a": [1, "x", null, true]}`, `{"a":[1,"x",null,true]}`, true},
		{`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, false},
		{`[1, 2]`, `[2, 1]`, false},
		{`"1"`, `1`, false},
		{`300`, `300.0`, true},
		{`300`, `3e2`, true},
		{`0.030`, `3E-2`, true},
		{`-0`, `0.00e9`, true},
		{`-1`, `1`, false},
		{`12`, `120`, false},
		{`1e99999999999999999999`, `1e99999999999999999999`, true},
		{`1e99999999999999999999`, `2e99999999999999999999`, false},
		{`100000000000000000000000000001`, `100000000000000000000000000002`, false},
	}
	for _, tt := range tests {
		if got := document.Equal(mustJSON(t, tt.a), mustJSON(t, tt.b)); got != tt.want {
			t.Errorf("Equal(%s, %s) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func mustJSON(t *testing.T, text string) *document.Node {
	t.Helper()
	n, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		`{"routeId": 70470079, "priority": 300, "repeat": 1, "type": "interval", "minutes": 2}`,
		`[1, -0, 1.5e-3, "ä😀\ud83d\ude00\ud800", {"": []}, null, true, false]`,
		`{"a": 1, "a": 2}`, "\"\x00\"", `[[[[]]]`, "\xef\xbb\xbf{}", `"\u2028\/\b"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := document.ParseJSON(data)
		plain := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		if want := acceptable(plain); (err == nil) != want {
			t.Fatalf("accepted %v, want %v: %v", err == nil, want, err)
		}
		if err != nil {
			if !errs.Is(err, errs.NotParseable) {
				t.Fatalf("kind %s", errs.KindOf(err))
			}
			return
		}
		var want any
		dec := json.NewDecoder(bytes.NewReader(plain))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, n.Any()); diff != "" {
			t.Fatalf("(-encoding/json +ParseJSON):\n%s", diff)
		}
		out := n.AppendJSON(nil)
		again, err := document.ParseJSON(out)
		if err != nil || !document.Equal(n, again) {
			t.Fatalf("%q came back as %q: %v", data, out, err)
		}
	})
}

// acceptable says what ParseJSON must accept, by encoding/json's token
// stream.
func acceptable(data []byte) bool {
	if !utf8.Valid(data) || !json.Valid(data) {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	type level struct {
		keys  map[string]bool // nil in a list
		value bool            // a value comes next, not a key
	}
	var open []level
	for {
		tok, err := dec.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			if top := &open[len(open)-1]; top.keys != nil {
				if !top.value {
					key, _ := tok.(string)
					if top.keys[key] {
						return false
					}
					top.keys[key], top.value = true, true
					continue
				}
				top.value = false
			}
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
		if len(open) > document.MaxDepth {
			return false
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"plain", "\x00\b\f\n\r\t\x1f\"\\/\x7f", "ä😀\u2028\u2029", "\xff\xc3", "<&>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got, want := string(document.AppendString(nil, s)), strings.TrimSuffix(b.String(), "\n"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

const entry = `{"routeId": 70470079, "priority": 300, "repeat": 1, "type": "interval", "minutes": 2, "name": "abc"}`

func BenchmarkParseJSON(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := document.ParseJSON([]byte(entry)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseJSONLine guards against counting columns from the beginning
// of the line for every value.
func BenchmarkParseJSONLine(b *testing.B) {
	data := []byte("[" + strings.Repeat(entry+",", 10_000) + "0]")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := document.ParseJSON(data); err != nil {
			b.Fatal(err)
		}
	}
}
