package plaintext

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ content, mediaType, want string }{
		{"Grüße", "text/plain", "Grüße"},
		{"Grüße", "", "Grüße"},
		{"Grüße", "text/plain; charset=UTF-8", "Grüße"},
		{"Gr\xfc\xdfe", "text/csv; charset=iso-8859-1", "Grüße"},
		{"Gr\xfc\xdfe \x80", "text/csv; charset=windows-1252", "Grüße €"},
		{"\ufeffa,b", "text/csv", "a,b"},
		{"\xff\xfea\x00b\x00", "text/csv", "ab"},
		{"\xfe\xff\x00a\x00b", "text/csv; charset=utf-16", "ab"},
		{"\x83\x65", "text/plain; charset=Shift_JIS", "テ"},
		{"", "text/plain", ""},
		{"Gr\xfc\xdfe", "text/csv", "error: it is not UTF-8, and its media type names no other charset"},
		{"x", "text/csv; charset=klingon", `error: the charset "klingon" is not known`},
	} {
		got, err := Decode([]byte(test.content), test.mediaType)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != test.want {
			t.Errorf("%q as %s: got %q, want %q", test.content, test.mediaType, got, test.want)
		}
	}
}

// TestSearch: words are found wherever the parts of a text are cut.
func TestSearch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 3_000_000)
	for _, test := range []struct {
		text  string
		s     Search
		found bool
	}{
		{"an urgent case", Search{Words: []string{"asap", "urgent"}}, true},
		{"an Urgent case", Search{Words: []string{"urgent"}}, false},
		{"an ÜRGENT case", Search{Words: []string{"Ürgent"}, IgnoreCase: true}, true},
		{"", Search{Words: []string{"x"}}, false},
		{"x", Search{}, false},
		{long + " urgent", Search{Words: []string{"urgent"}}, true},
		{long, Search{Words: []string{"urgent"}}, false},
		{strings.Repeat("x", 64<<10-3) + "urgent", Search{Words: []string{"urgent"}}, true},
		{strings.Repeat("x", 64<<10-1) + "ÄRGER", Search{Words: []string{"ärger"}, IgnoreCase: true}, true},
		{"un cafe\u0301 noir", Search{Words: []string{"caf\u00e9"}}, true},
		{"un caf\u00e9 noir", Search{Words: []string{"cafe\u0301"}}, true},
		{"un CAFE\u0301 noir", Search{Words: []string{"caf\u00e9"}, IgnoreCase: true}, true},
		{"un cafe\u0301 noir", Search{Words: []string{"cafe"}}, false},
		{strings.Repeat("x", 64<<10-1) + "cafe\u0301", Search{Words: []string{"caf\u00e9"}}, true},
		{strings.Repeat("x", 64<<10-4) + "cafe\u0301", Search{Words: []string{"caf\u00e9"}}, true},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader} {
			if got, err := test.s.In(wrap(strings.NewReader(test.text))); err != nil || got != test.found {
				t.Errorf("%.20q (%d bytes), %s: got %v, %v", test.text, len(test.text), name, got, err)
			}
		}
	}
	if got, err := (Search{Words: []string{"ärger"}, IgnoreCase: true}).In(iotest.OneByteReader(strings.NewReader("großer ÄRGER"))); err != nil || !got {
		t.Errorf("byte by byte: got %v, %v", got, err)
	}
	gone := errors.New("gone")
	if _, err := (Search{Words: []string{"x"}}).In(iotest.ErrReader(gone)); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		t    Table
		want string
	}{
		{"name,amount\nann,5\n\"b, c\",\"6\"\"\"\n", Table{Header: true}, `[{"name":"ann","amount":"5"},{"name":"b, c","amount":"6\""}]`},
		{"name;amount\r\nann;5,50\r\n", Table{Header: true}, `[{"name":"ann","amount":"5,50"}]`},
		{"a\tb\n1\t2", Table{Header: true}, `[{"a":"1","b":"2"}]`},
		{"a|b\n1|2", Table{}, `[["a","b"],["1","2"]]`},
		{"sep=;\r\na;b\r\n1;2\r\n", Table{Header: true}, `[{"a":"1","b":"2"}]`},
		{"a,b;c\n1,2;3\n", Table{Delimiter: ';', Header: true}, `[{"a,b":"1,2","c":"3"}]`},
		{"a\n1\n\n2\n", Table{Header: true}, `[{"a":"1"},{"a":"2"}]`},
		{"a,b\n", Table{Header: true}, `[]`},
		{"a,b\n", Table{Header: true, Min: 1}, "error: which has no row below the names of the columns, and must have at least 1"},
		{"a,b\n1,2\n", Table{Header: true, Min: 2}, "error: which has only 1 of at least 2 rows"},
		{"a,b\n1,2\n", Table{Header: true, Min: 1}, `[{"a":"1","b":"2"}]`},
		{"", Table{Header: true}, "error: which has no row, not even one that names the columns"},
		{"\n\n", Table{Header: true}, "error: which has no row, not even one that names the columns"},
		{"sep=;\n", Table{Header: true}, "error: which has no row, not even one that names the columns"},
		{"", Table{}, `[]`},
		{"", Table{Min: 1}, "error: which has no row, and must have at least 1"},
		{"PK\x03\x04\x00\x00", Table{Header: true}, "error: which is not a text: it has the character NUL"},
		{"a;b\n1;2\n3\n", Table{Header: true}, "error: line 3: it has more or fewer columns than the first row"},
		{"note\nto do; at once\nlater\n", Table{Header: true}, `[{"note":"to do; at once"},{"note":"later"}]`},
		{"a,b\n\"x\ny\",2\n", Table{Header: true}, `[{"a":"x\ny","b":"2"}]`},
		{"a,b\n1,2\n3\n", Table{Delimiter: ',', Header: true}, "error: line 3: it has more or fewer columns than the first row"},
		{"a,a\n1,2\n", Table{Header: true}, `error: line 1: the columns 1 and 2 are both called "a"`},
		{"a, \n1,2\n", Table{Header: true}, "error: line 1: the column 2 has no name"},
		{"a,b\n\"1,2\n", Table{Delimiter: ',', Header: true}, "error: line 2: a quoted value does not end, or goes on behind its quote"},
		{"a,b\nx\"y,2\n", Table{Delimiter: ',', Header: true}, "error: line 2: a quote stands in the middle of a value"},
	} {
		out, err := test.t.JSON(test.text)
		got := string(out)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != test.want {
			t.Errorf("%q: got %s, want %s", test.text, got, test.want)
		}
	}
}
