package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// unpack returns the body of an answer as it was before compression.
func unpack(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	var from io.Reader = w.Body
	switch w.Header().Get("Content-Encoding") {
	case "":
	case "gzip":
		r, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = r
	case "zstd":
		r, err := zstd.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		from = r
	default:
		t.Fatalf("the encoding %q", w.Header().Get("Content-Encoding"))
	}
	out, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// etagOf returns the ETag of an answer.
func etagOf(w *httptest.ResponseRecorder) string { return w.Header().Get("ETag") }

// TestCompression: texts are compressed for clients that take it, and say so to
// caches. A compressed copy has an ETag of its own, and conditions take either.
func TestCompression(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		f := s.furnish()
		long := strings.Repeat("All work and no play makes Jack a dull boy.\n", 100)
		s.must("PUT", "/dav/Documents/admin/long.txt", long)
		s.must("PUT", "/dav/Documents/admin/long.zip", long)
		s.must("PUT", "/dav/Documents/admin/short.txt", "short")
		s.must("PUT", "/dav/Workflow/Cases/"+f.id+".json", `{"xattrDict": {"story": "`+strings.Repeat("dull ", 400)+`"}}`)
		for _, test := range []struct {
			method, path string
			packed       bool
		}{
			{"GET", "/dav/Workflow/Cases/.contents", true},
			{"GET", "/dav/Workflow/Cases/" + f.id + ".json", true},
			{"GET", "/dav/Documents/admin/long.txt", true},
			{"GET", "/dav/Documents/admin/long.zip", false},
			{"GET", "/dav/Documents/admin/short.txt", false},
			{"GET", "/dav/Workflow/", true},
			{"GET", "/openapi.json", true},
			{"PROPFIND", "/dav/Workflow/", true},
		} {
			plain := s.must(test.method, test.path, "", "Depth", "1")
			if plain.Header().Get("Content-Encoding") != "" {
				t.Errorf("%s %s is %s although nobody asked", test.method, test.path, plain.Header().Get("Content-Encoding"))
			}
			for _, encoding := range []string{"gzip", "zstd"} {
				w := s.must(test.method, test.path, "", "Depth", "1", "Accept-Encoding", encoding)
				if got := w.Header().Get("Content-Encoding"); (got == encoding) != test.packed || !test.packed && got != "" {
					t.Errorf("%s %s for %s: %q", test.method, test.path, encoding, got)
				}
				if test.packed && (!strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Accept-Encoding") || w.Body.Len() >= plain.Body.Len()) {
					t.Errorf("%s %s: Vary %q, %d bytes of %d", test.method, test.path, w.Header().Values("Vary"), w.Body.Len(), plain.Body.Len())
				}
				if got := unpack(t, w); !bytes.Equal(got, plain.Body.Bytes()) {
					t.Errorf("%s %s by %s is something else: %.200s", test.method, test.path, encoding, got)
				}
			}
		}
		s.etagsOfCopies("/dav/Documents/admin/long.txt", long+"The end.\n")
		s.etagsOfCopies("/dav/Workflow/Cases/"+f.id+".json", `{"title": "Done"}`)

		part := s.as("admin", "GET", "/dav/Documents/admin/long.txt", "", "Range", "bytes=4-7", "Accept-Encoding", "gzip")
		if part.Code != http.StatusPartialContent || part.Body.String() != "work" || part.Header().Get("Content-Encoding") != "" {
			t.Errorf("a part: %d %q %s", part.Code, part.Body, part.Header())
		}
		if w := s.as("admin", "GET", "/dav/Documents/admin/absent.txt", "", "Accept-Encoding", "gzip"); w.Code != http.StatusNotFound || !bytes.Contains(unpack(t, w), []byte("urn:flowdrive:problem:not-found")) {
			t.Errorf("what is absent: %d %s", w.Code, w.Body)
		}
	})
}

// etagsOfCopies tries the ETags of a compressed copy as conditions.
func (s *inProcess) etagsOfCopies(path, change string) {
	s.Helper()
	plain := s.must("GET", path, "")
	packed := s.must("GET", path, "", "Accept-Encoding", "gzip")
	if etagOf(packed) == etagOf(plain) || etagOf(packed) == "" {
		s.Errorf("%s: the ETag %s of both", path, etagOf(plain))
	}
	for _, accepted := range []string{"gzip", "identity"} {
		w := s.as("admin", "GET", path, "", "Accept-Encoding", accepted, "If-None-Match", etagOf(packed))
		if w.Code != http.StatusNotModified || etagOf(w) != etagOf(packed) {
			s.Errorf("%s, which is known: %d %s; want 304 %s", path, w.Code, etagOf(w), etagOf(packed))
		}
	}
	if w := s.as("admin", "PUT", path, change, "If-Match", strings.Replace(etagOf(packed), `"`, `"x`, 1)); w.Code != http.StatusPreconditionFailed {
		s.Errorf("%s on an ETag that is none: %d", path, w.Code)
	}
	s.must("PUT", path, change, "If-Match", etagOf(packed))
	if w := s.as("admin", "PUT", path, change, "If-Match", etagOf(packed)); w.Code != http.StatusPreconditionFailed {
		s.Errorf("%s on an old ETag: %d", path, w.Code)
	}
}
