package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestFoldersAsJSON: a folder of resources is what .contents is, with its filters and
// pages; others list their members; browsers and curl get the page.
func TestFoldersAsJSON(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		f := s.furnish()
		get := func(path, accept string) *httptest.ResponseRecorder {
			t.Helper()
			w := s.as("admin", "GET", path, "", "Accept", accept)
			if w.Code != http.StatusOK || !slices.Contains(w.Header()["Vary"], "Accept") {
				t.Errorf("GET %s as %s: %d %v", path, accept, w.Code, w.Header())
			}
			return w
		}
		for _, test := range []struct{ folder, query string }{
			{"/dav/Workflow/Cases/", ""},
			{"/dav/Workflow/Cases", "?route=bug&limit=1"},
			{"/dav/Workflow/Schedule/", "?type=cron"},
			{"/dav/Documents/admin/plans/", ""},
			{"/dav/Admin/Users/", ""},
		} {
			want := s.must("GET", strings.TrimSuffix(test.folder, "/")+"/.contents"+test.query, "")
			for _, accept := range []string{"application/json", "text/html;q=0.4, application/json;q=0.5"} {
				got := get(test.folder+test.query, accept)
				if got.Body.String() != want.Body.String() || got.Header().Get("Content-Type") != "application/json" {
					t.Errorf("%s%s as JSON: %s; want %s", test.folder, test.query, got.Body, want.Body)
				}
				next := strings.Replace(want.Header().Get("Link"), "/.contents", "", 1)
				if got.Header().Get("Link") != next {
					t.Errorf("%s%s: the next page is %q; want %q", test.folder, test.query, got.Header().Get("Link"), next)
				}
			}
			for _, accept := range []string{"*/*", "", "text/html,application/xhtml+xml,*/*;q=0.8"} {
				if kind := get(test.folder, accept).Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
					t.Errorf("%s for %q is %s", test.folder, accept, kind)
				}
			}
		}
		var members []struct {
			Name, Href string
			Folder     bool
		}
		if err := json.Unmarshal(get("/dav/Workflow/Cases/"+f.id+"/", "application/json").Body.Bytes(), &members); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, m := range members {
			names[m.Name] = m.Folder
			if w := s.as("admin", "GET", m.Href, ""); w.Code != http.StatusOK {
				t.Errorf("the link %s: %d", m.Href, w.Code)
			}
		}
		if !names["Actions"] || names["log.txt"] || len(names) < 4 {
			t.Errorf("members of the case: %v", names)
		}
		if w := s.as("admin", "GET", "/dav/Workflow/Cases/"+f.id+"/?limit=1", "", "Accept", "application/json"); w.Code != http.StatusBadRequest {
			t.Errorf("a page of a folder that has none: %d", w.Code)
		}
		if w := s.as("sam", "GET", "/dav/Admin/", "", "Accept", "application/json"); w.Code != http.StatusNotFound && w.Code != http.StatusForbidden {
			t.Errorf("the folder of administrators for others: %d", w.Code)
		}
	})
}
