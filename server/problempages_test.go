package server

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"flowdrive/docs"
	"flowdrive/internal/errs"
	"flowdrive/internal/manual"
)

// TestProblemPages wants a page of the manual for each type of problem, and none for what
// is no type.
func TestProblemPages(t *testing.T) {
	told := manual.Problems(docs.Files())
	for kind, p := range problems {
		text, ok := told[string(kind)]
		if !ok {
			t.Errorf("docs/reference/problems.md has nothing of %s", kind)
			continue
		}
		delete(told, string(kind))
		if begin := fmt.Sprintf("Status %d. ", p.status); !strings.HasPrefix(strings.TrimSpace(text), begin) {
			t.Errorf("%s: the page does not begin with %q", kind, begin)
		}
		for _, part := range []string{"\n**What to do.** ", "\n**Example.** "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the page has no %q", kind, strings.TrimSpace(part))
			}
		}
	}
	for slug := range told {
		t.Errorf("docs/reference/problems.md has %s, which is no type of problem", slug)
	}
}

func TestProblemsLinkTheirPage(t *testing.T) {
	for _, method := range []string{"GET", "PUT", "PROPFIND"} {
		w := httptest.NewRecorder()
		WriteError(w, httptest.NewRequest(method, "/dav/Workflow/", nil), errs.New(errs.InUse, "It is in use."))
		if got, want := w.Header().Get("Link"), `</docs/problems/in-use>; rel="help"`; got != want {
			t.Errorf("%s: Link is %q, want %q", method, got, want)
		}
	}
	w := httptest.NewRecorder()
	WriteError(w, httptest.NewRequest("GET", "/dav/", nil), errors.New("a disk is broken"))
	if got, want := w.Header().Get("Link"), `</docs/problems/internal>; rel="help"`; got != want {
		t.Errorf("Link is %q, want %q", got, want)
	}
}
