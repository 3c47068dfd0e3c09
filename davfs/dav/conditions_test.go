package dav

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

func TestParseTagList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string // nil: no list
		any  bool
	}{
		{text: `"a"`, want: []string{`"a"`}},
		{text: `"a","b" , W/"c"`, want: []string{`"a"`, `"b"`, `W/"c"`}},
		{text: `, "a",, "b,c" ,`, want: []string{`"a"`, `"b,c"`}},
		{text: `""`, want: []string{`""`}},
		{text: ` * `, any: true},
		{text: `"*"`, want: []string{`"*"`}},
		{text: ``},
		{text: `,`},
		{text: `a`},
		{text: `"a`},
		{text: `"a" "b"`},
		{text: `"a", *`},
		{text: `w/"a"`},
		{text: `W/ "a"`},
		{text: `"a b"`},
		{text: "\"a\x7f\""},
	}
	for _, tt := range tests {
		got, ok := parseTagList(tt.text)
		if want := tt.any || tt.want != nil; ok != want || got.any != tt.any {
			t.Errorf("parseTagList(%q): ok %v, any %v", tt.text, ok, got.any)
		}
		if diff := cmp.Diff(tt.want, got.tags); diff != "" {
			t.Errorf("parseTagList(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func FuzzTagList(f *testing.F) {
	f.Add(`"a", W/"b"`)
	f.Add(`*`)
	f.Fuzz(func(t *testing.T, text string) {
		list, ok := parseTagList(text)
		if !ok || list.any {
			return
		}
		again, ok := parseTagList(strings.Join(list.tags, ", "))
		if !ok || !slices.Equal(again.tags, list.tags) {
			t.Errorf("parseTagList(%q) = %q, and again %q", text, list.tags, again.tags)
		}
		for _, tag := range list.tags {
			v := Version{Exists: true, ETag: tag}
			if list.matches(v) == strings.HasPrefix(tag, "W/") {
				t.Errorf("If-Match: %s holds for %s: %v", text, tag, list.matches(v))
			}
			if !list.names(v) {
				t.Errorf("If-None-Match: %s does not name %s", text, tag)
			}
		}
	})
}

// TestConditionsHoldAsTheRFCSays has a row for what RFC 9110, section 13.1, says of each header,
// and for the rule of the drive that counters do not fail an If-Match.
func TestConditionsHoldAsTheRFCSays(t *testing.T) {
	t.Parallel()
	noon := time.Date(2012, 11, 9, 12, 0, 0, 999e6, time.UTC)
	stored := Version{Exists: true, ETag: `"7-3.9"`, Definition: `"7-3.`, Modified: noon}
	strict := Version{Exists: true, ETag: `"7-3.9"`, Modified: noon}
	none := Version{}
	tests := []struct {
		name    string
		header  string
		value   string
		version Version
		holds   bool
	}{
		{"the same", "If-Match", `"7-3.9"`, stored, true},
		{"only counters moved", "If-Match", `"7-3.2"`, stored, true},
		{"another definition", "If-Match", `"7-2.9"`, stored, false},
		{"a longer number", "If-Match", `"7-33.9"`, stored, false},
		{"strict", "If-Match", `"7-3.2"`, strict, false},
		{"weak [RFC9110:S13.1.1]", "If-Match", `W/"7-3.9"`, stored, false},
		{"one of several", "If-Match", `"a", "7-3.9"`, stored, true},
		{"anything", "If-Match", `*`, stored, true},
		{"anything, but there is nothing", "If-Match", `*`, none, false},
		{"nothing there", "If-Match", `"7-3.9"`, none, false},
		{"new", "If-None-Match", `*`, none, true},
		{"not new", "If-None-Match", `*`, stored, false},
		{"the same", "If-None-Match", `"7-3.9"`, stored, false},
		{"weakly the same [RFC9110:S13.1.2]", "If-None-Match", `W/"7-3.9"`, stored, false},
		{"counters count here", "If-None-Match", `"7-3.2"`, stored, true},
		{"nothing there", "If-None-Match", `"7-3.9"`, none, true},
		{"unmodified, to the second", "If-Unmodified-Since", "Fri, 09 Nov 2012 12:00:00 GMT", stored, true},
		{"modified", "If-Unmodified-Since", "Fri, 09 Nov 2012 11:59:59 GMT", stored, false},
		{"no date [RFC9110:S13.1.4]", "If-Unmodified-Since", "noon", stored, true},
		{"nothing there", "If-Unmodified-Since", "Fri, 09 Nov 2012 11:59:59 GMT", none, true},
		{"a token of no lock", "If", "(<urn:uuid:1>)", stored, false},
		{"no such token", "If", "(Not <urn:uuid:1>)", stored, true},
		{"the state of nothing [RFC4918:S10.4.8]", "If", `(Not ["x"])`, none, true},
		{"all of a list", "If", `(["7-3.9"] <urn:uuid:1>)`, stored, false},
		{"one of the lists", "If", `(<urn:uuid:1>) (["7-3.9"])`, stored, true},
		{"only counters moved", "If", `(["7-3.1"])`, stored, true},
		{"weak", "If", `([W/"7-3.9"])`, stored, false},
	}
	for _, tt := range tests {
		c, err := ReadConditions(http.Header{tt.header: {tt.value}})
		if err != nil {
			t.Errorf("%s: %s: %v", tt.header, tt.name, err)
			continue
		}
		err = c.Check(tt.version)
		if (err == nil) != tt.holds || err != nil && !errs.Is(err, errs.Precondition) {
			t.Errorf("%s: %s: %q: got %v, want it to hold: %v", tt.header, tt.name, tt.value, err, tt.holds)
		}
		if tt.header == "If-None-Match" && err != nil && strings.Contains(err.Error(), "another version") {
			t.Errorf("%s: %s: %q: got %v of what is the very version", tt.header, tt.name, tt.value, err)
		}
	}
}

// TestIfMatchBeforeDate: with If-Match the date is not looked at (RFC 9110,
// section 13.1.4).
func TestIfMatchBeforeDate(t *testing.T) {
	t.Parallel()
	c, err := ReadConditions(http.Header{"If-Match": {`"a"`}, "If-Unmodified-Since": {"Fri, 09 Nov 2012 12:00:00 GMT"}})
	if err != nil {
		t.Fatal(err)
	}
	v := Version{Exists: true, ETag: `"a"`, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := c.Check(v); err != nil {
		t.Errorf("got %v, want it to hold", err)
	}
}

func TestParseIf(t *testing.T) {
	t.Parallel()
	term := func(terms ...ifTerm) []ifTerm { return terms }
	at := func(segments ...string) *Path { return &Path{Segments: segments} }
	tests := []struct {
		text string
		want []ifList // nil: cannot be read
	}{
		{`(<urn:a>)`, []ifList{{terms: term(ifTerm{token: "urn:a"})}}},
		{`(<urn:a> ["b"])(Not<urn:c>not[W/"d"])`, []ifList{
			{terms: term(ifTerm{token: "urn:a"}, ifTerm{etag: `"b"`})},
			{terms: term(ifTerm{not: true, token: "urn:c"}, ifTerm{not: true, etag: `W/"d"`})},
		}},
		{`<http://u:p@h:80/dav/x%20y> (["a"]) ( ["b"] ) </z/>(<c>)`, []ifList{
			{tag: at("dav", "x y"), terms: term(ifTerm{etag: `"a"`})},
			{tag: at("dav", "x y"), terms: term(ifTerm{etag: `"b"`})},
			{tag: &Path{Segments: []string{"z"}, Slash: true}, terms: term(ifTerm{token: "c"})},
		}},
		{`(["]"])`, []ifList{{terms: term(ifTerm{etag: `"]"`})}}},
		{`()`, nil},
		{`(<>)`, nil},
		{`(`, nil},
		{`(<a>`, nil},
		{`(<a)`, nil},
		{`(["a")`, nil},
		{`([a])`, nil},
		{`(Not)`, nil},
		{`(Not Not <a>)`, nil},
		{`<a> (<b>)`, nil},
		{`</a>`, nil},
		{`</a> </b> (<c>)`, nil},
		{`(<a>) </b> (<c>)`, nil},
		{`</a/../b> (<c>)`, nil},
		{`<a>`, nil},
		{`["a"]`, nil},
		{`(<a>) x`, nil},
		{strings.Repeat(`(<a>)`, maxIfLists+1), nil},
	}
	for _, tt := range tests {
		got, err := parseIf(tt.text)
		if (err == nil) != (tt.want != nil) {
			t.Errorf("parseIf(%q): %v", tt.text, err)
			continue
		}
		if err != nil {
			if !errs.Is(err, errs.BadParameter) {
				t.Errorf("parseIf(%q): got %v, want a bad parameter", tt.text, err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(ifList{}, ifTerm{})); diff != "" {
			t.Errorf("parseIf(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func FuzzIf(f *testing.F) {
	f.Add(`(<urn:a> ["b"])(Not<urn:c>not[W/"d"])`)
	f.Add(`<http://h/dav/x%20y> (["a"]) </z> (<c>)`)
	f.Fuzz(func(t *testing.T, text string) {
		lists, err := parseIf(text)
		if err != nil {
			return
		}
		if strings.Trim(text, " \t") != "" && len(lists) == 0 {
			t.Fatalf("parseIf(%q): no list and no error", text)
		}
		for _, l := range lists {
			if len(l.terms) == 0 {
				t.Errorf("parseIf(%q): an empty list", text)
			}
			for _, term := range l.terms {
				one := ifList{terms: []ifTerm{term}}
				other := ifList{terms: []ifTerm{{not: !term.not, token: term.token, etag: term.etag}}}
				if v := (Version{Exists: true, ETag: `"b"`}); one.matches(v) == other.matches(v) {
					t.Errorf("parseIf(%q): %+v and its contrary both hold or both fail", text, term)
				}
			}
		}
	})
}
