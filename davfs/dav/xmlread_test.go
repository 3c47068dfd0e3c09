package dav

import (
	"encoding/binary"
	"encoding/xml"
	"strings"
	"testing"
	"unicode/utf16"

	"flowdrive/internal/errs"
)

// TestParseXML: a body is XML with namespaces, or it is refused.
func TestParseXML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		want string // part of the error, "" for none
	}{
		{`<a/>`, ""},
		{"\ufeff" + `<?xml version="1.0" encoding="utf-8"?>` + "\r\n<!-- so --><a><?b c?></a>\n", ""},
		{`<a xmlns="urn:x" b="1" xml:lang="de"><c xmlns=""/></a>`, ""},
		{`<p:a xmlns:p="urn:x"><p:b xmlns:p="urn:y"/></p:a>`, ""},
		{`<a>&lt;&#65;<![CDATA[<]]></a>`, ""},
		{``, "no element"},
		{`<!-- -->`, "no element"},
		{`text`, "outside"},
		{`<a/>text`, "outside"},
		{`<a/><b/>`, "second element"},
		{`<a>`, "ends before"},
		{`<a><b></a></b>`, "ends that was not begun"},
		{`</a>`, "ends that was not begun"},
		{`<p:a xmlns:p="urn:x" xmlns:q="urn:x"></q:a>`, "ends that was not begun"},
		{`<!DOCTYPE a><a/>`, "document type"},
		{`<a>&other;</a>`, "entity"},
		{`<p:a/>`, "not declared: p"},
		{`<a p:b=""/>`, "not declared: p"},
		{`<p:a xmlns:p="urn:x"/><p:b/>`, "second element"},
		{`<a><b xmlns:p="urn:x"/><p:c/></a>`, "not declared: p"},
		{`<a xmlns:p=""/>`, "bound to no namespace: p"},
		{`<a xmlns:xml="urn:x"/>`, "cannot be bound: xml"},
		{`<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>`, "cannot be bound: p"},
		{`<a xmlns:xmlns="urn:x"/>`, "cannot be bound: xmlns"},
		{`<a xmlns="http://www.w3.org/2000/xmlns/"/>`, "cannot be"},
		{`<a xmlns:p="urn:x" xmlns:p="urn:y"/>`, "bound twice"},
		{`<a b="" b=""/>`, "appears twice: b"},
		{`<a xmlns:p="urn:x" xmlns:q="urn:x" p:b="" q:b=""/>`, "appears twice: b"},
		{`<a b="" xmlns:p="urn:x" p:b=""/>`, ""},
		{`<a:b:c xmlns:a="urn:x"/>`, "line 1"},
		{`<a:/>`, "colon"},
		{"<a>\x01</a>", "line 1"},
		{`<?xml version="1.0" encoding="utf-16"?><a/>`, "must be in UTF-8"},
		{`<?xml version="1.0" encoding="iso-8859-1"?><a/>`, "must be in UTF-8 or UTF-16, not iso-8859-1"},
		{inUTF16(`<?xml version="1.0" encoding="UTF-16"?><ä/>`, "\xff\xfe"), ""},
		{inUTF16(`<?xml version="1.0" encoding="utf-16be"?><ф/>`, "\xfe\xff"), ""},
		{inUTF16(`<a/>`, ""), ""},
		{inUTF16(`<a/>`, "\xff\xfe") + "x", "text outside"},
		{inUTF16(`<a>`, "\xff\xfe"), "ends before"},
		{"\xff\xfe", "no element"},
		{strings.Repeat("<a>", maxXMLDepth) + strings.Repeat("</a>", maxXMLDepth), ""},
		{strings.Repeat("<a>", maxXMLDepth+1), "nested too deeply"},
	} {
		_, err := ParseXML([]byte(tt.body))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%.80s: %v", tt.body, err)
		case tt.want != "" && (!errs.Is(err, errs.NotParseable) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%.80s: %v, want %q", tt.body, err, tt.want)
		}
	}
}

// inUTF16 returns the text in UTF-16 in the order of the mark, which may be none.
func inUTF16(text, mark string) string {
	b := []byte(mark)
	for _, unit := range utf16.Encode([]rune(text)) {
		if mark == "\xfe\xff" {
			b = binary.BigEndian.AppendUint16(b, unit)
		} else {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
	}
	return string(b)
}

// FuzzParseXML: nothing that is sent does harm, and what is taken is XML to
// the decoder of the library as well.
func FuzzParseXML(f *testing.F) {
	for _, body := range []string{
		`<propfind xmlns="DAV:"><prop><getetag/><x:y xmlns:x="urn:x"/></prop></propfind>`,
		`<D:propfind xmlns:D="DAV:"><D:allprop/><D:include><D:supportedlock/></D:include></D:propfind>`,
		`<a xmlns="" xml:lang="x">t<b/>&amp;<![CDATA[c]]></a>`, `<a b="1" b="2">`, `<a:b/>`, ``,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		root, err := ParseXML(body)
		if err != nil {
			if !errs.Is(err, errs.NotParseable) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		var got struct{ XMLName xml.Name }
		if err := xml.Unmarshal(body, &got); err != nil {
			t.Errorf("%q is taken, but: %v", body, err)
		}
		if got.XMLName != root.Name {
			t.Errorf("%q: got %v, want %v", body, root.Name, got.XMLName)
		}
		if want, err := ParsePropfind(body); err == nil && len(want.Names) > maxProps {
			t.Errorf("%d names", len(want.Names))
		}
	})
}
