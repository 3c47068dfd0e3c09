package dav

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

// TestParsePropfind: the three forms of a propfind, and what is none.
func TestParsePropfind(t *testing.T) {
	t.Parallel()
	dav := func(locals ...string) (names []xml.Name) {
		for _, local := range locals {
			names = append(names, xml.Name{Space: Space, Local: local})
		}
		return names
	}
	wrap := func(inner string) string {
		return `<?xml version="1.0"?><D:propfind xmlns:D="DAV:" xmlns:x="urn:x">` + inner + `</D:propfind>`
	}
	for _, tt := range []struct {
		body string
		want *Propfind // nil: refused
	}{
		{"", &Propfind{Form: AllProps}},
		{wrap(`<D:allprop/>`), &Propfind{Form: AllProps}},
		{
			wrap(`<D:allprop/><D:include><D:supportedlock/><x:a/></D:include>`),
			&Propfind{Form: AllProps, Names: append(dav("supportedlock"), xml.Name{Space: "urn:x", Local: "a"})},
		},
		{wrap(`<D:include/><D:allprop/>`), &Propfind{Form: AllProps}},
		{wrap(`<D:propname/>`), &Propfind{Form: PropNames}},
		{
			wrap(`<D:prop><D:getetag/><x:a/><a/><D:getetag/></D:prop>`),
			&Propfind{Form: NamedProps, Names: append(dav("getetag"), xml.Name{Space: "urn:x", Local: "a"}, xml.Name{Local: "a"})},
		},
		{wrap(`<D:prop/>`), &Propfind{Form: NamedProps}},
		{wrap(`<x:new/><D:prop><D:getetag/></D:prop><D:new/>`), &Propfind{Form: NamedProps, Names: dav("getetag")}},
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
		got, err := ParsePropfind([]byte(tt.body))
		if tt.want == nil && !errs.Is(err, errs.NotParseable) {
			t.Errorf("%s: %v, %v", tt.body, got, err)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.body, err, diff)
		}
	}
}

// TestPropsAreBounded: a request cannot make each line of a listing long.
func TestPropsAreBounded(t *testing.T) {
	t.Parallel()
	for n, ok := range map[int]bool{maxProps: true, maxProps + 1: false} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<p%d/>", i)
		}
		_, err := ParsePropfind([]byte(`<propfind xmlns="DAV:"><prop>` + b.String() + `</prop></propfind>`))
		if ok != (err == nil) {
			t.Errorf("%d properties: %v", n, err)
		}
	}
}
