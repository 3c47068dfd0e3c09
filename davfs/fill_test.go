package davfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// watchedStore counts the views of a store and its changes, and fails views if
// it is told to.
type watchedStore struct {
	store.Store
	base uint64 // what Changes said at first

	mu    sync.Mutex
	views int
	last  int // the last view that does not fail, 0: none fails
}

// Changes implements store.Store: it counts from 0.
func (s *watchedStore) Changes() uint64 { return s.Store.Changes() - s.base }

// ChangedCases implements store.Store.
func (s *watchedStore) ChangedCases(since uint64) ([]int64, bool) {
	return s.Store.ChangedCases(since + s.base)
}

// View implements store.Store.
func (s *watchedStore) View(ctx context.Context, f func(store.Reader) error) error {
	s.mu.Lock()
	s.views++
	failing := s.last > 0 && s.views > s.last
	s.mu.Unlock()
	if failing {
		return errs.New(errs.Unavailable, "The database is gone.")
	}
	return s.Store.View(ctx, f)
}

// asked returns how many views there were.
func (s *watchedStore) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views
}

// failAfter lets so many further views succeed, and none after them.
func (s *watchedStore) failAfter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = s.views + n
}

// behind returns the drive behind another handler.
func (d *testDrive) behind(h http.Handler) *testDrive {
	other := *d
	other.handler = h
	return &other
}

// fillSchedule adds entries of sam's, as if they were PUT to request.
func (d *testDrive) fillSchedule(t *testing.T, n int) {
	t.Helper()
	if n <= 0 {
		return
	}
	location := d.ask(t, "sam PUT /dav/Workflow/Schedule/request", `> {"route": "bug", "type": "cron", "hour": 22}`).Header().Get("Location")
	name := location[strings.LastIndex(location, "/")+1:]
	uuid, ok := store.ParseUUID(strings.TrimSuffix(name, ".json"))
	if !ok {
		t.Fatalf("the entry is at %q", location)
	}
	if err := d.db.Update(t.Context(), func(tx store.Tx) error {
		entry, err := tx.Entries().Get(uuid)
		for range n - 1 {
			if err != nil {
				return err
			}
			other := *entry
			other.UUID = store.NewUUID()
			other.Form = bytes.Replace(entry.Form, []byte(uuid.Braced()), []byte(other.UUID.Braced()), 1)
			err = tx.Write().Entries().Insert(&other)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// fillDocuments adds files to a new folder of sam's root, each as change
// leaves it.
func (d *testDrive) fillDocuments(t *testing.T, folder string, n int, change func(i int, doc *store.Document)) {
	t.Helper()
	sam, now := d.principal("sam").ID, d.clock.Now()
	if rec := d.ask(t, "sam MKCOL /dav/Documents/sam/"+folder); rec.Code != http.StatusCreated {
		t.Fatalf("MKCOL: %d %s", rec.Code, rec.Body)
	}
	if err := d.db.Update(t.Context(), func(tx store.Tx) error {
		path, err := tx.Documents().Along(sam, []string{folder})
		for i := range n {
			if err != nil {
				return err
			}
			doc := store.Document{
				ParentID: path[len(path)-1].ID, Name: fmt.Sprintf("%05d.txt", i), AuthorID: sam, Revision: 1, MediaType: "text/plain",
				Content: []byte{}, SHA256: sha256.Sum256(nil), Created: now, Modified: now,
			}
			if change != nil {
				change(i, &doc)
			}
			err = tx.Write().Documents().Insert(&doc)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// count returns how much there is in a folder of the workflow, whoever sees it.
func (d *testDrive) count(t *testing.T, folder string) int {
	t.Helper()
	return d.items(t, "/dav/Workflow/"+folder+"/.ls")
}

// documents returns how much there is below Documents/.
func (d *testDrive) documents(t *testing.T) int {
	t.Helper()
	return strings.Count(d.ask(t, "sam PROPFIND /dav/Documents/", "Depth: infinity").Body.String(), "<D:response>")
}

func (d *testDrive) items(t *testing.T, path string) int {
	t.Helper()
	var items []any
	rec := d.ask(t, "eva GET "+path)
	if err := json.Unmarshal(rec.Body.Bytes(), &items); err != nil {
		t.Fatalf("%s: %d, %v", path, rec.Code, err)
	}
	return len(items)
}

// everything returns all that is stored of what can be created, with its
// revisions.
func (d *testDrive) everything(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, path := range []string{
		"/dav/Workflow/Schedule/.ls", "/dav/Workflow/Cases/.ls", "/dav/Workflow/Routes/.ls", "/dav/Admin/Users/.ls", "/dav/Admin/Teams/.ls",
		"/attachfs/.ls", "/dav/Documents/sam/.ls", "/dav/Workflow/Cases/22/log.txt",
	} {
		user := "eva"
		if strings.Contains(path, "/sam/") || strings.HasPrefix(path, "/attachfs/") {
			user = "sam"
		}
		b.WriteString(d.ask(t, user+" GET "+path).Body.String())
	}
	return b.String()
}
