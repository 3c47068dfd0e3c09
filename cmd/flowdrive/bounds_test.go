package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeysOfUsers: a PUT of a user has a password in it, of which no fast hash is
// kept, as the record of an idempotency key would be.
func TestKeysOfUsers(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		for i, want := range []int{http.StatusCreated, http.StatusNoContent} {
			body := `{"password": "correct horse battery` + strings.Repeat("!", i) + `"}`
			w := s.as("admin", http.MethodPut, "/dav/Admin/Users/eva.json", body, "Idempotency-Key", "k")
			if w.Code != want || w.Header().Get("Idempotent-Replayed") != "" {
				t.Errorf("%d %v %s; want %d", w.Code, w.Header(), w.Body, want)
			}
		}
	})
}

// TestPasswordsThatAreTriedFirst: a server that is not a sandbox takes no password that
// others guess, neither from administrators nor from users.
func TestPasswordsThatAreTriedFirst(t *testing.T) {
	t.Setenv("FLOWDRIVE_ADMIN_PASSWORD", adminPassword)
	settings := &settings{data: t.TempDir(), logLevel: "error"}
	withSettings(t, settings, map[string]string{"eva": "correct horse battery"}, func(s *inProcess) {
		for password, want := range map[string]int{"a": 422, "password1234": 422, "eva.adams.1987": 422, "tooshort#17": 422, "": 422, "correct horse battery": 201} {
			body := `{"fullName": "Eva Adams", "password": "` + password + `"}`
			w := s.as("admin", http.MethodPut, "/dav/Admin/Users/eva.json", body)
			if w.Code != want || want == 422 && !strings.Contains(w.Body.String(), `"pointer": "/password"`) && !strings.Contains(w.Body.String(), `"pointer":"/password"`) {
				t.Errorf("%q: %d %s; want %d", password, w.Code, w.Body, want)
			}
			if want == 201 {
				s.must(http.MethodPut, "/dav/Admin/Users/eva.json", `{"password": "correct horse battery"}`)
				for _, own := range []struct {
					password string
					want     int
				}{{"eva eva eva eva", 422}, {"staple of horses", 204}} { // in this order: the second ends what the first logs in with
					w := s.as("eva", http.MethodPut, "/dav/Account/me.json", `{"password": "`+own.password+`", "oldPassword": "correct horse battery"}`)
					if w.Code != own.want {
						t.Errorf("eva's own %q: %d %s; want %d", own.password, w.Code, w.Body, own.want)
					}
				}
				s.must(http.MethodDelete, "/dav/Admin/Users/eva.json", "")
			}
		}
	})
}

// TestLockWithoutItsFile: a second server does not open a data folder because the
// file that the first has locked was deleted.
func TestLockWithoutItsFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	unlock, err := lockFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, remove := range []bool{false, true} {
		if remove {
			if err := os.Remove(filepath.Join(folder, lockName)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := lockFolder(folder); !errors.Is(err, errLocked) {
			t.Errorf("a second lock, the file deleted %t: %v", remove, err)
		}
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := lockFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

// TestETagsOfHolds: a hold that is made after another was deleted has another ETag.
func TestETagsOfHolds(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		known := map[string]bool{}
		const path = "/dav/Admin/Holds/all.json"
		for i := range 6 {
			s.must(http.MethodPut, path, fmt.Sprintf(`{"engine": true, "reason": "r%d"}`, i))
			etag := s.must(http.MethodGet, path, "").Header().Get("ETag")
			if known[etag] {
				t.Errorf("the ETag %s comes again", etag)
			}
			if known[etag] = true; i%2 == 1 {
				s.must(http.MethodDelete, path, "")
			}
		}
	})
}
