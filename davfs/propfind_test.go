package davfs

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

// TestParsePropfind: the three forms of a propfind, and what is none.
func TestParsePropfind(t *testing.T) {
	t.Parallel()
	dav := func(locals ...string) (names []xml.Name) {
		for _, local := range locals {
			names = append(names, xml.Name{Space: davSpace, Local: local})
		}
		return names
	}
	wrap := func(inner string) string {
		return `<?xml version="1.0"?><D:propfind xmlns:D="DAV:" xmlns:x="urn:x">` + inner + `</D:propfind>`
	}
	for _, tt := range []struct {
		body string
		want *wanted // nil: refused
	}{
		{"", &wanted{form: allProps}},
		{wrap(`<D:allprop/>`), &wanted{form: allProps}},
		{
			wrap(`<D:allprop/><D:include><D:supportedlock/><x:a/></D:include>`),
			&wanted{form: allProps, names: append(dav("supportedlock"), xml.Name{Space: "urn:x", Local: "a"})},
		},
		{wrap(`<D:include/><D:allprop/>`), &wanted{form: allProps}},
		{wrap(`<D:propname/>`), &wanted{form: propNames}},
		{
			wrap(`<D:prop><D:getetag/><x:a/><a/><D:getetag/></D:prop>`),
			&wanted{form: namedProps, names: append(dav("getetag"), xml.Name{Space: "urn:x", Local: "a"}, xml.Name{Local: "a"})},
		},
		{wrap(`<D:prop/>`), &wanted{form: namedProps}},
		{wrap(`<x:new/><D:prop><D:getetag/></D:prop><D:new/>`), &wanted{form: namedProps, names: dav("getetag")}},
		{wrap(``), nil},
		{wrap(`<x:prop/>`), nil},
		{wrap(`<D:include><D:getetag/></D:include>`), nil},
		{wrap(`<D:allprop/><D:propname/>`), nil},
		{wrap(`<D:allprop/><D:prop/>`), nil},
		{wrap(`<D:propname/><D:prop/>`), nil},
		{wrap(`<D:propname/><D:include/>`), nil},
		{wrap(`<D:prop/><D:prop/>`), nil},
		{`<propfind><allprop/></propfind>`, nil},
		{`<D:prop xmlns:D="DAV:"/>`, nil},
		{" ", nil},
	} {
		got, err := parsePropfind([]byte(tt.body))
		if tt.want == nil && !errs.Is(err, errs.NotParseable) {
			t.Errorf("%s: %v, %v", tt.body, got, err)
		} else if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(wanted{})); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.body, err, diff)
		}
	}
}

// TestPropsAreBounded: a request cannot make each line of a listing long.
func TestPropsAreBounded(t *testing.T) {
	t.Parallel()
	for n, ok := range map[int]bool{mostProps: true, mostProps + 1: false} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<p%d/>", i)
		}
		_, err := parsePropfind([]byte(`<propfind xmlns="DAV:"><prop>` + b.String() + `</prop></propfind>`))
		if ok != (err == nil) {
			t.Errorf("%d properties: %v", n, err)
		}
	}
}

// TestListingSize: a member has about 400 bytes in an answer to allprop.
func TestListingSize(t *testing.T) {
	t.Parallel()
	d := newTestDrive()
	d.fillDocuments("reports", 1000)
	for i := range d.documents {
		d.documents[i].Size, d.documents[i].MediaType = 500, "application/json"
	}
	body := d.ask(t, "sam PROPFIND /dav/Documents/sam/reports/", "Depth: 1").Body.String()
	if got := len(body) / 1000; got > 400 {
		t.Errorf("%d bytes a member:\n%.2000s", got, body)
	}
}

// TestWindowsIsShownWhatItTakes: no more than 2,000 members, the newest, and
// never more bytes than it reads.
func TestWindowsIsShownWhatItTakes(t *testing.T) {
	t.Parallel()
	const windows = "User-Agent: Microsoft-WebDAV-MiniRedir/10.0.22631"
	d := newTestDrive()
	d.fillDocuments("many", 2100)
	for i, doc := range d.documents {
		if !doc.Folder {
			doc.Modified = d.now.Add(time.Duration(i) * time.Second)
		}
	}
	all := d.ask(t, "sam PROPFIND /dav/Documents/sam/many/", "Depth: 1").Body.String()
	if n := strings.Count(all, "<D:response>"); n != 2101 {
		t.Errorf("others are shown %d", n)
	}
	shown := d.ask(t, "sam PROPFIND /dav/Documents/sam/many/", "Depth: 1", windows).Body.String()
	if n := strings.Count(shown, "<D:response>"); n != 2001 {
		t.Errorf("Windows is shown %d members, want 2000 and the folder", n)
	}
	for name, want := range map[string]bool{"00099.txt": false, "00100.txt": true, "02099.txt": true} {
		if got := strings.Contains(shown, name); got != want {
			t.Errorf("%s is shown: %v", name, got)
		}
	}
	for _, doc := range d.documents {
		if !doc.Folder {
			doc.Name = strings.Repeat("x", 180) + doc.Name
		}
	}
	rec := d.ask(t, "sam PROPFIND /dav/Documents/sam/many/", "Depth: 1", windows)
	if n := rec.Body.Len(); n > 1_000_000 || n < 990_000 {
		t.Errorf("Windows is shown %d bytes", n)
	}
	if outline(t, rec.Body.String()) == "" {
		t.Error("the answer is empty")
	}
}
