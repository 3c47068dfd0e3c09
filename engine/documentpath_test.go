package engine_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"flowdrive/engine/change"
)

func TestParseDocumentPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"/dav/Documents/ops/rates.csv":       {"ops", "rates.csv"},
		"/dav/Documents/ops/a/b c/%20":       {"ops", "a", "b c", "%20"},
		"/dav/Documents/ops/cafe\u0301":      {"ops", "caf\u00e9"},
		"/dav/Documents/ops":                 nil,
		"/dav/Documents/ops/":                nil,
		"/dav/Documents//ops/x":              nil,
		"/dav/Documents/ops//x":              nil,
		"/dav/Documents/ops/./x":             nil,
		"/dav/Documents/ops/../x":            nil,
		"/dav/Documents/ops/a\nb":            nil,
		"/dav/Documents":                     nil,
		"/dav/documents/ops/x":               nil,
		"dav/Documents/ops/x":                {"ops", "x"},
		"/Documents/ops/x":                   {"ops", "x"},
		"Documents/ops/x":                    {"ops", "x"},
		"Documents/ops":                      nil,
		"ops/x":                              nil,
		"http://host/dav/Documents/ops/file": nil,
		"":                                   nil,
	} {
		got, err := change.ParseDocumentPath(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// FuzzParseDocumentPath: a path that is read is written so that it reads the
// same, and none of its names could leave the folder it is in.
func FuzzParseDocumentPath(f *testing.F) {
	f.Add("/dav/Documents/ops/rates.csv")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := change.ParseDocumentPath(text)
		if err != nil {
			return
		}
		if len(p) < 2 {
			t.Fatalf("%q has %d names", text, len(p))
		}
		for _, name := range p {
			if name == "" || name == "." || name == ".." || strings.Contains(name, "/") || strings.ContainsFunc(name, unicode.IsControl) {
				t.Errorf("%q holds the name %q", text, name)
			}
		}
		again, err := change.ParseDocumentPath(p.String())
		if err != nil || !slices.Equal(p, again) {
			t.Errorf("%q is written %q, which reads %q, %v", text, p.String(), again, err)
		}
	})
}
