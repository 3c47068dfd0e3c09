package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"flowdrive/store/sqlite"
)

// TestPropfindStatements: a listing of documents takes at most three statements besides
// those that begin and end a snapshot, and no more for many members than for few. One of
// schedule entries or cases, whose forms may be large, is read in parts, and takes no more
// for many members of a part than for few.
func TestPropfindStatements(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("MKCOL", "/dav/Documents/admin/files", "")
		made := 0
		fill := func(to int) {
			for ; made < to; made++ {
				s.must("PUT", fmt.Sprintf("/dav/Documents/admin/files/%d.txt", made), "text")
				s.must("PUT", fmt.Sprintf("/dav/Workflow/Schedule/%d.json", made), `{"route": "bug", "type": "cron", "year": "2099"}`)
				s.must("PUT", fmt.Sprintf("/dav/Workflow/Cases/%d-a.json", made), `{"route": "bug"}`)
			}
		}
		count := func(path, depth, body string, members int) (statements int64) {
			db, ok := s.db.(*sqlite.DB)
			if !ok {
				t.Fatalf("the database is a %T", s.db)
			}
			before := db.Stats()
			w := s.as("admin", "PROPFIND", path, body, "Depth", depth)
			after := db.Stats()
			if n := strings.Count(w.Body.String(), "<D:response>"); w.Code != http.StatusMultiStatus || n <= members {
				t.Errorf("%s: %d, %d members", path, w.Code, n)
			}
			return after.Statements - before.Statements - 2*(after.Views-before.Views)
		}
		// What the server does by itself meanwhile, such as to tell of the cases that were started,
		// is counted, too: the least of some counts is what the request needs.
		ask := func(path, depth, body string, members int) int64 {
			least := count(path, depth, body, members)
			for range 2 {
				least = min(least, count(path, depth, body, members))
			}
			return least
		}
		const (
			ofAPart = 4  // statements for a part of a listing whose forms are read some at a time, however many members it has
			parts   = 13 // of 600 members: 4, 8, 16, 32, and then 64 at once
		)
		const locks = `<propfind xmlns="DAV:"><prop><getetag/><lockdiscovery/><quota-used-bytes/><x xmlns="urn:x"/></prop></propfind>`
		for _, tt := range []struct {
			path, depth, body string
			most              int64
		}{
			{"/dav/Documents/admin/files/", "1", "", 1},
			{"/dav/Documents/admin/files/", "1", locks, 3},
			{"/dav/Documents/admin/", "infinity", "", 1},
			{"/dav/Documents/admin/", "infinity", locks, 3},
			{"/dav/Workflow/Schedule/", "1", "", ofAPart + 1},
			{"/dav/Workflow/Cases/", "1", "", ofAPart + 1},
		} {
			fill(3)
			few := ask(tt.path, tt.depth, tt.body, 3)
			if few > tt.most {
				t.Errorf("PROPFIND %s, depth %s, %s: %d statements, want at most %d", tt.path, tt.depth, tt.body, few, tt.most)
			}
		}
		fill(600) // more than any part of a listing that is read by itself
		for path, most := range map[string]int64{
			"/dav/Documents/admin/files/": 3, "/dav/Workflow/Schedule/": 1 + parts*ofAPart, "/dav/Workflow/Cases/": 1 + parts*ofAPart,
		} {
			if many := ask(path, "1", "", 600); many > most {
				t.Errorf("PROPFIND %s: %d statements for 600 members, want at most %d", path, many, most)
			}
		}
	})
}

// TestFolderTags: a folder's ETag is another once something in it has changed.
func TestFolderTags(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		seen := map[string]bool{}
		look := func(after string) {
			w := s.as("admin", "PROPFIND", "/dav/Workflow/Schedule/", `<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>`, "Depth", "0")
			_, tag, _ := strings.Cut(w.Body.String(), "<D:getetag>")
			tag, _, found := strings.Cut(tag, "</D:getetag>")
			if !found || seen[tag] || !strings.HasPrefix(tag, `"`) {
				t.Errorf("after %s the ETag is %s: %s", after, tag, w.Body)
			}
			seen[tag] = true
		}
		look("the start")
		const entry = `{"route": "bug", "type": "cron", "year": "2099"}`
		s.must("PUT", "/dav/Workflow/Schedule/a.json", entry)
		look("a PUT")
		s.must("PUT", "/dav/Workflow/Schedule/a.json", strings.Replace(entry, "2099", "2098", 1))
		look("another PUT")
		s.must("DELETE", "/dav/Workflow/Schedule/a.json", "")
		look("a DELETE")
	})
}

// TestLocksOfDrafts: a draft and a side file show that they are locked as
// documents do, in their folder too, to their author.
func TestLocksOfDrafts(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		const (
			lock = `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`
			ask  = `<propfind xmlns="DAV:"><prop><lockdiscovery/><supportedlock/></prop></propfind>`
		)
		for _, name := range []string{"draft.json", "~$side.json"} {
			if w := s.as("admin", "LOCK", "/dav/Workflow/Schedule/"+name, lock, "User-Agent", "gvfs/1.50"); w.Code != http.StatusCreated {
				t.Fatalf("LOCK of %s: %d %s", name, w.Code, w.Body)
			}
			w := s.as("admin", "PROPFIND", "/dav/Workflow/Schedule/"+name, ask, "Depth", "0", "User-Agent", "gvfs/1.50")
			if text := w.Body.String(); !strings.Contains(text, "<D:href>urn:uuid:") || !strings.Contains(text, "<D:lockentry>") {
				t.Errorf("PROPFIND of %s: %s", name, text)
			}
		}
		w := s.as("admin", "PROPFIND", "/dav/Workflow/Schedule/", ask, "Depth", "1", "User-Agent", "gvfs/1.50")
		if n := strings.Count(w.Body.String(), "<D:href>urn:uuid:"); n != 2 {
			t.Errorf("PROPFIND of the folder shows %d locks: %s", n, w.Body)
		}
	})
}
