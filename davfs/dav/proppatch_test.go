package dav

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

// TestFragment: a property is kept with all that it needs to be read again by
// itself (RFC 4918, section 4.3).
func TestFragment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ prop, want string }{
		{`<a/>`, `<a/>`},
		{`<a></a>`, `<a/>`},
		{`<D:a/>`, `<D:a xmlns:D="DAV:"/>`},
		{`<a xmlns="urn:a">1</a>`, `<a xmlns="urn:a">1</a>`},
		{`<x:a>&lt;&amp;&gt;]]&gt;<![CDATA[<]]>"'</x:a>`, `<x:a xmlns:x="urn:x">&lt;&amp;&gt;]]&gt;&lt;"'</x:a>`},
		{`<a b='"' c="&#10;&#9;&lt;"/>`, `<a b="&quot;" c="&#xA;&#x9;&lt;"/>`},
		{`<a x:b=""/>`, `<a xmlns:x="urn:x" x:b=""/>`},
		{`<a><x:b/><x:c xmlns:x="urn:other"/></a>`, `<a xmlns:x="urn:x"><x:b/><x:c xmlns:x="urn:other"/></a>`},
		{`<a type="x:int">y:b</a>`, `<a xmlns:x="urn:x" xmlns:y="urn:y" type="x:int">y:b</a>`},
		{`<a xmlns="urn:a"><b xmlns=""/></a>`, `<a xmlns="urn:a"><b xmlns=""/></a>`},
		{`<a xml:lang="de"/>`, `<a xml:lang="de"/>`},
		{`<a xml:space="preserve"> <b/> </a>`, `<a xml:space="preserve"> <b/> </a>`},
		{`<a>é` + "\U00010000" + `&#x10001;</a>`, `<a>é` + "\U00010000\U00010001" + `</a>`},
		{`<a><!-- a --><?b c?></a>`, `<a/>`},
	} {
		for _, around := range []string{"", ` xml:lang="fr"`} {
			body := `<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x" xmlns:y="urn:y" xmlns:z="urn:z"` + around + `><D:set><D:prop>` +
				tt.prop + `</D:prop></D:set></D:propertyupdate>`
			changes, err := ParseProppatch([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			got := changes[0].Value.Fragment()
			if around == "" && got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.prop, got, tt.want)
			}
			again, err := ParseXML([]byte(got))
			if err != nil {
				t.Fatalf("%s: %v", got, err)
			}
			if (again.scope.lang == "") != (around == "" && !strings.Contains(tt.prop, "lang")) {
				t.Errorf("%s within%s: the language is %q in %s", tt.prop, around, again.scope.lang, got)
			}
			if diff := cmp.Diff(names(changes[0].Value), names(again)); diff != "" {
				t.Errorf("%s: (-sent +kept)\n%s", tt.prop, diff)
			}
		}
	}
}

// names lists the names in an element, with what stands around them.
func names(e *Element) (out []string) {
	out = append(out, e.Name.Space+" "+e.Name.Local)
	for _, a := range e.attrs {
		if a.name.Local != "lang" {
			out = append(out, "@"+a.name.Space+" "+a.name.Local+"="+a.value)
		}
	}
	for _, item := range e.in {
		if item.element != nil {
			out = append(out, names(item.element)...)
		} else if last := len(out) - 1; strings.HasPrefix(out[last], "text ") {
			out[last] += item.text
		} else {
			out = append(out, "text "+item.text)
		}
	}
	return append(out, "end")
}

// FuzzProppatch: whatever is taken can be kept, read again and answered.
func FuzzProppatch(f *testing.F) {
	for _, prop := range []string{
		`<a/>`, `<x:a b="1" x:b="2">t<c xmlns="urn:c">x:y</c></x:a>`, `<a xml:lang="de">&#13;&amp;</a>`, `</prop></set><remove><prop><a/>`,
	} {
		f.Add(`<propertyupdate xmlns="DAV:" xmlns:x="urn:x"><set><prop>` + prop + `</prop></set></propertyupdate>`)
	}
	f.Fuzz(func(t *testing.T, body string) {
		changes, err := ParseProppatch([]byte(body))
		if err != nil {
			if !errs.Is(err, errs.NotParseable) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		for _, c := range changes {
			text := c.Value.Fragment()
			again, err := ParseXML([]byte(text))
			if err != nil {
				t.Fatalf("%q is kept as %q: %v", body, text, err)
			}
			if diff := cmp.Diff(names(c.Value), names(again)); diff != "" {
				t.Errorf("%q is kept as %q: (-sent +kept)\n%s", body, text, diff)
			}
			if kept := again.Fragment(); kept != text {
				t.Errorf("%q becomes %q", text, kept)
			}
			answer := appendForeign([]byte(`<D:prop xmlns:D="DAV:">`), c.Name)
			if err := xml.Unmarshal(append(answer, "</D:prop>"...), new(struct{})); err != nil {
				t.Errorf("%q: %v", answer, err)
			}
		}
	})
}

// TestNewElement: a property that comes as a name and what is in it becomes an
// element by itself, or is refused.
func TestNewElement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		space, local, lang, inner string
		want                      string // "": refused
	}{
		{"urn:x", "a", "", "1 &amp; 2", `<p:a xmlns:p="urn:x">1 &amp; 2</p:a>`},
		{"urn:x", "a", "de", "", `<p:a xmlns:p="urn:x" xml:lang="de"/>`},
		{"", "a", "", "", `<a/>`},
		{`urn:"<`, "a", "", "", `<p:a xmlns:p="urn:&quot;&lt;"/>`},
		{"urn:x", "a", "", `<b xmlns="urn:b" c="d">e</b>`, `<p:a xmlns:p="urn:x"><b xmlns="urn:b" c="d">e</b></p:a>`},
		{"urn:x", "a", "", `</p:a><p:a>`, ""},
		{"urn:x", "a", "", `<q:b/>`, ""},
		{"urn:x", "a", "", `<!DOCTYPE a>`, ""},
		{"urn:x", "a", "", "\x01", ""},
		{"urn:x", "a b", "", "", ""},
	} {
		e, err := NewElement(xml.Name{Space: tt.space, Local: tt.local}, tt.lang, tt.inner)
		if tt.want == "" {
			if !errs.Is(err, errs.NotParseable) {
				t.Errorf("%+v: got %v, %v, want it refused", tt, e, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		if got := e.Fragment(); got != tt.want || e.Lang() != tt.lang || e.Name != (xml.Name{Space: tt.space, Local: tt.local}) {
			t.Errorf("%+v: got %s of %v in %q, want %s", tt, got, e.Name, e.Lang(), tt.want)
		}
	}
}
