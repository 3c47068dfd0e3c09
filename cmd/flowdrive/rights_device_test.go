package main

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// guardedFromDevices are the documents that say who may log in and what they
// may do: an app password reads them and changes none.
var guardedFromDevices = regexp.MustCompile(`^/dav/(Admin/(Users|Teams)/\w+\.json|Account/(me|\w+/\w+)\.json)$`)

// TestRightsOfDevices makes the requests of the table below Admin/ and Account/
// as the administrator with an app password. What the administrator may change
// there by the own password is refused if it is about who may do what;
// everything else is answered as it is to the own password.
func TestRightsOfDevices(t *testing.T) {
	t.Parallel()
	f := furnishForAll(t)
	admin := slices.Index(actors(), "admin")
	f.asDevice(t)
	var asked []right
	guarded := 0
	for _, r := range allRights(t) {
		if !strings.HasPrefix(r.path, "/dav/Admin/") && !strings.HasPrefix(r.path, "/dav/Account/") {
			continue
		}
		path := strings.NewReplacer("{user}", "owner", "{team}", "ops", "{phone}", "phone").Replace(r.path)
		if (r.method == "PUT" || r.method == "DELETE") && guardedFromDevices.MatchString(path) {
			guarded++
			// Of the account it is told first what is not there, or cannot be deleted.
			if r.want[admin] < http.StatusBadRequest || strings.HasPrefix(path, "/dav/Admin/") {
				r.want[admin] = http.StatusForbidden
			}
		}
		if r.method == "LOCK" && guardedFromDevices.MatchString(path) {
			r.want[admin] = http.StatusForbidden // there is nothing to write under it
		}
		asked = append(asked, r)
	}
	if guarded == 0 || guarded == len(asked) {
		t.Errorf("%d of %d requests are about who may do what; want some, and some others", guarded, len(asked))
	}
	for len(asked) > 0 {
		f.open(t, func(s *inProcess) {
			before := s.all()
			for changed := false; len(asked) > 0 && !changed; asked = asked[1:] {
				r := &asked[0]
				w := s.ask("admin", r, f.names)
				s.undone("admin", r, f.names, w)
				if w.Code != r.want[admin] {
					t.Errorf("%v: got %d, want %d: %.300s", r, w.Code, r.want[admin], w.Body)
				}
				changed = r.changes(w.Code)
			}
			if diff := gocmp.Diff(before, s.all()); diff != "" {
				t.Errorf("users, teams or contents were changed: %s", diff)
			}
		})
	}
}

// asDevice gives the administrator of the furnishing an app password, by which
// it asks from now on.
func (f *furnishing) asDevice(t *testing.T) {
	t.Helper()
	onFolder(t, f.data, f.passwords, func(s *inProcess) {
		s.must("PUT", "/dav/Account/AppPasswords/tablet.json", `{}`)
		made := s.must("PUT", "/dav/Account/AppPasswords/laptop.json", `{}`).Body.String()
		f.passwords["admin"] = regexp.MustCompile(`fd-[a-z2-7]+`).FindString(made)
	})
}

// TestFoundDevice: with an administrator's app password nobody gets a way in
// that outlasts it.
func TestFoundDevice(t *testing.T) {
	t.Parallel()
	f := furnishForAll(t)
	own := f.passwords["admin"]
	f.asDevice(t)
	f.open(t, func(s *inProcess) {
		before := s.all()
		for _, try := range []struct{ method, path, body, destination string }{
			{"PUT", "/dav/Admin/Users/admin.json", `{"password": "another password"}`, ""},
			{"PUT", "/dav/Admin/Users/backdoor.json", `{"password": "another password", "admin": true}`, ""},
			{"PUT", "/dav/Admin/Users/owner.json", `{"password": "another password"}`, ""},
			{"PUT", "/dav/Admin/Users/owner.json", `{"admin": true}`, ""},
			{"PUT", "/dav/Admin/Users/owner.json", `{"disabled": true}`, ""},
			{"PUT", "/dav/Admin/Users/owner.json?dryRun", `{"admin": true}`, ""},
			{"PUT", "/dav/Admin/Users/owner.json", `{`, ""},
			{"DELETE", "/dav/Admin/Users/stranger.json", "", ""},
			{"PUT", "/dav/Admin/Teams/ops.json", `{"members": ["stranger"]}`, ""},
			{"PUT", "/dav/Admin/Teams/more.json", `{"members": ["stranger"]}`, ""},
			{"DELETE", "/dav/Admin/Teams/ops.json", "", ""},
			{"COPY", "/dav/Admin/Users/owner.json", "", "/dav/Admin/Users/copy.json"},
			{"MOVE", "/dav/Admin/Users/owner.json", "", "/dav/Admin/Users/moved.json"},
			{"PUT", "/dav/Account/me.json", `{"email": "found@example.org"}`, ""},
			{"PUT", "/dav/Account/AppPasswords/second.json", `{}`, ""},
			{"PUT", "/dav/Account/CalendarLinks/second.json", `{}`, ""},
			{"DELETE", "/dav/Account/AppPasswords/tablet.json", "", ""}, // itself it may delete
		} {
			w := s.as("admin", try.method, try.path, try.body, "Destination", try.destination)
			if w.Code != http.StatusForbidden {
				t.Errorf("%s %s %s: got %d, want 403: %.300s", try.method, try.path, try.body, w.Code, w.Body)
			}
			if try.method == "PUT" && !strings.Contains(w.Body.String(), "log in with your own password") {
				t.Errorf("%s %s: the answer does not say what to do: %s", try.method, try.path, w.Body)
			}
		}
		if diff := gocmp.Diff(before, s.all()); diff != "" {
			t.Errorf("something was changed: %s", diff)
		}
		s.passwords["admin"] = own
		s.must("DELETE", "/dav/Account/AppPasswords/laptop.json", "")
		s.must("PUT", "/dav/Admin/Users/owner.json", `{"admin": true}`)
	})
}
