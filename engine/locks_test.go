package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// walled is a clock on the wall that a test moves.
type walled struct {
	mu  sync.Mutex
	now time.Time
}

func (c *walled) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *walled) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// withWall gives the engine a clock on the wall.
func withWall(c *walled) func(*world) {
	return func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Wall = c.Now }
	}
}

func onDocument(at string) engine.Target {
	return engine.Target{Kind: engine.OnDocument, Document: path(at), URL: "/dav/Documents/" + at}
}

func onEntry(u user, name string) engine.Target {
	return engine.Target{Kind: engine.OnEntry, Ref: engine.Ref{Author: u.by().ID, Name: name}, URL: "/dav/Workflow/Schedule/" + name}
}

func (u user) lock(t engine.Target, want engine.NewLock, options ...option) (*store.Lock, error) {
	l, _, err := u.Locks.Lock(u.Context(), u.request(options), t, want)
	return l, err
}

func (u user) mustLock(t engine.Target, want engine.NewLock, options ...option) *store.Lock {
	u.Helper()
	return try(u.lock(t, want, options...)).must(u.world, "LOCK of "+t.URL)
}

// holding submits the tokens of locks.
func holding(locks ...*store.Lock) option {
	return func(r *engine.Request) {
		for _, l := range locks {
			r.Tokens = append(r.Tokens, l.Token)
		}
	}
}

func (u user) locksOn(t engine.Target) int {
	u.Helper()
	return len(try(u.Locks.LocksCovering(u.Context(), u.by(), t)).must(u.world, "the locks on "+t.URL))
}

// TestLocksExclude is what a second lock may be beside a first (RFC 4918,
// section 6.1), sam's and ann's in the folder of their team.
func TestLocksExclude(t *testing.T) {
	t.Parallel()
	exclusive, shared := engine.NewLock{}, engine.NewLock{Shared: true}
	deep, deepShared := engine.NewLock{Deep: true}, engine.NewLock{Deep: true, Shared: true}
	for _, tt := range []struct {
		first       string
		has         engine.NewLock
		second      string
		asks        engine.NewLock
		conflicting bool
	}{
		{"a/b", exclusive, "a/b", exclusive, true},
		{"a/b", exclusive, "a/b", shared, true},
		{"a/b", shared, "a/b", exclusive, true},
		{"a/b", shared, "a/b", shared, false},
		{"a", exclusive, "a/b", exclusive, false},
		{"a", deep, "a/b", exclusive, true},
		{"a", deep, "a/b", shared, true},
		{"a", deepShared, "a/b", shared, false},
		{"a", deepShared, "a/b", exclusive, true},
		{"a/b", exclusive, "a", exclusive, false},
		{"a/b", exclusive, "a", deep, true},
		{"a/b", shared, "a", deep, true},
		{"a/b", shared, "a", deepShared, false},
		{"a/b", exclusive, "", deep, true},
		{"a/b", exclusive, "c", deep, false},
	} {
		w := newWorld(t)
		sam, admin := w.as("sam"), w.as("admin")
		admin.mustMakeFolder("everyone/a")
		admin.mustMakeFolder("everyone/c")
		admin.mustPutDocument("everyone/a/b", "x")
		place := func(at string) engine.Target { return onDocument(strings.TrimSuffix("everyone/"+at, "/")) }
		admin.mustLock(place(tt.first), tt.has)
		_, err := admin.lock(place(tt.second), tt.asks)
		if errs.Is(err, errs.Locked) != tt.conflicting || !tt.conflicting && err != nil {
			t.Errorf("%+v on %q after %+v on %q: got %v", tt.asks, tt.second, tt.has, tt.first, err)
		}
		w.kind("a lock where one may only read", func() error { _, err := sam.lock(place("a/b"), shared); return err }(), errs.NotAllowed)
	}
}

// TestLocksKeepOthersOut is what a lock forbids, and to whom its token opens
// (RFC 4918, section 7).
func TestLocksKeepOthersOut(t *testing.T) {
	t.Parallel()
	type change = func(u user, options ...option) error
	put := func(at string) change {
		return func(u user, options ...option) error {
			_, err := u.putDocument(at, "new", options...)
			return err
		}
	}
	remove := func(at string) change {
		return func(u user, options ...option) error { return u.deleteDocument(at, options...) }
	}
	folder := func(at string) change {
		return func(u user, options ...option) error { return u.makeFolder(at, options...) }
	}
	transfer := func(move bool, from, to string) change {
		return func(u user, options ...option) error {
			do := u.Files.CopyDocument
			if move {
				do = u.Files.MoveDocument
			}
			_, err := do(u.Context(), u.request(options), path(from), path(to), files.Transfer{Overwrite: true})
			return err
		}
	}
	for _, tt := range []struct {
		what   string
		on     string
		lock   engine.NewLock
		change change
		locked bool
	}{
		{"PUT", "core/a/b", engine.NewLock{}, put("core/a/b"), true},
		{"PUT beside it", "core/a/b", engine.NewLock{}, put("core/a/c"), false},
		{"DELETE", "core/a/b", engine.NewLock{}, remove("core/a/b"), true},
		{"DELETE of the folder", "core/a/b", engine.NewLock{}, remove("core/a"), true},
		{"COPY from it", "core/a/b", engine.NewLock{}, transfer(false, "core/a/b", "core/c"), false},
		{"COPY over it", "core/a/b", engine.NewLock{}, transfer(false, "core/d", "core/a/b"), true},
		{"MOVE of it", "core/a/b", engine.NewLock{}, transfer(true, "core/a/b", "core/c"), true},
		{"MOVE over it", "core/a/b", engine.NewLock{}, transfer(true, "core/d", "core/a/b"), true},
		{"MOVE of its folder", "core/a/b", engine.NewLock{}, transfer(true, "core/a", "core/c"), true},
		{"COPY over its folder", "core/a/b", engine.NewLock{}, transfer(false, "core/d", "core/a"), true},
		{"PUT of a member, depth 0", "core/a", engine.NewLock{}, put("core/a/b"), false},
		{"PUT of a new member, depth 0 [section 7.4]", "core/a", engine.NewLock{}, put("core/a/new"), true},
		{"MKCOL of a member, depth 0", "core/a", engine.NewLock{}, folder("core/a/new"), true},
		{"MKCOL below a member, depth 0", "core/a", engine.NewLock{}, folder("core/a/sub/new"), false},
		{"DELETE of a member, depth 0", "core/a", engine.NewLock{}, remove("core/a/b"), true},
		{"MOVE into it, depth 0", "core/a", engine.NewLock{}, transfer(true, "core/d", "core/a/d"), true},
		{"PUT of a member, deep", "core/a", engine.NewLock{Deep: true}, put("core/a/b"), true},
		{"PUT far below, deep", "core/a", engine.NewLock{Deep: true}, put("core/a/sub/new"), true},
		{"PUT beside, deep", "core/a", engine.NewLock{Deep: true}, put("core/d"), false},
		{"PUT, shared", "core/a/b", engine.NewLock{Shared: true}, put("core/a/b"), true},
	} {
		w := newWorld(t)
		sam, ann := w.as("sam"), w.as("ann")
		sam.mustMakeFolder("core/a")
		sam.mustMakeFolder("core/a/sub")
		sam.mustPutDocument("core/a/b", "old")
		sam.mustPutDocument("core/d", "old")
		l := sam.mustLock(onDocument(tt.on), tt.lock)
		want := errs.Kind("")
		if tt.locked {
			want = errs.Locked
		}
		w.kind(tt.what+" by another", tt.change(ann), want)
		if !tt.locked {
			continue
		}
		w.kind(tt.what+" without the token", tt.change(sam), errs.Locked)
		w.kind(tt.what+" with another's token", tt.change(ann, holding(l)), errs.Locked)
		same(t, tt.what+": the document", sam.readDocument("core/a/b"), "application/octet-stream: old")
		w.kind(tt.what+" with the token", tt.change(sam, holding(l)), "")
	}
}

// TestLocksGo: a lock ends with its time, by the clock on the wall, with
// UNLOCK, with what it is on, with a MOVE, and with its holder.
func TestLocksGo(t *testing.T) {
	t.Parallel()
	wall := &walled{now: instant(start)}
	w := newWorld(t, withWall(wall))
	// Ann administers core, and so may break locks there; sam may not.
	admin, holder, other := w.as("admin"), w.as("ann"), w.as("sam")
	holder.mustPutDocument("core/a", "x")
	l := holder.mustLock(onDocument("core/a"), engine.NewLock{Lasts: 5 * time.Hour})
	same(t, "how long it lasts", l.Lasts, time.Hour)
	w.advance(30 * 24 * time.Hour)
	w.kind("PUT while the sandbox's clock runs", func() error { _, err := other.putDocument("core/a", "y"); return err }(), errs.Locked)
	wall.move(59 * time.Minute)
	if _, err := w.Locks.RefreshLock(t.Context(), other.request([]option{holding(l)}), onDocument("core/a"), time.Hour); !errs.Is(err, errs.Precondition) {
		t.Errorf("another refreshes it: %v", err)
	}
	l = try(w.Locks.RefreshLock(t.Context(), holder.request([]option{holding(l)}), onDocument("core/a"), 10*time.Minute)).must(w, "refresh")
	wall.move(9 * time.Minute)
	same(t, "after a refresh", holder.locksOn(onDocument("core/a")), 1)
	w.reopen()
	same(t, "after a restart", holder.locksOn(onDocument("core/a")), 1)
	w.kind("PUT with the token after a restart", func() error { _, err := holder.putDocument("core/a", "y", holding(l)); return err }(), "")
	wall.move(time.Minute)
	same(t, "when its time is over", holder.locksOn(onDocument("core/a")), 0)
	w.kind("PUT then", func() error { _, err := other.putDocument("core/a", "z"); return err }(), "")

	l = holder.mustLock(onDocument("core/a"), engine.NewLock{})
	unlock := func(u user, at string, l *store.Lock) error {
		return u.Locks.Unlock(u.Context(), u.request(nil), onDocument(at), l.Token)
	}
	w.kind("UNLOCK by another", unlock(other, "core/a", l), errs.NotAllowed)
	holder.mustPutDocument("core/b", "x")
	w.kind("UNLOCK of something else", unlock(holder, "core/b", l), errs.InUse)
	w.kind("UNLOCK", unlock(holder, "core/a", l), "")
	w.kind("UNLOCK again", unlock(holder, "core/a", l), errs.InUse)

	l = holder.mustLock(onDocument("core/a"), engine.NewLock{})
	w.kind("an administrator breaks it by its token", unlock(admin, "core/a", l), "")
	holder.mustLock(onDocument("core/a"), engine.NewLock{})
	w.kind("sam breaks it", other.Locks.BreakLocks(t.Context(), other.request(nil), onDocument("core/a")), errs.NotAllowed)
	w.kind("an administrator breaks it", admin.Locks.BreakLocks(t.Context(), admin.request(nil), onDocument("core/a")), "")
	same(t, "broken", holder.locksOn(onDocument("core/a")), 0)
	var broken []string
	for _, row := range w.audited("2012-12-09") {
		if strings.Contains(row, "lock-break") {
			broken = append(broken, row)
		}
	}
	if len(broken) != 2 || !strings.Contains(broken[0], "admin lock-break") || !strings.Contains(broken[0], "of ") {
		t.Errorf("the audit log has of broken locks: %q", broken)
	}

	l = holder.mustLock(onDocument("core/a"), engine.NewLock{})
	_, err := w.Files.MoveDocument(t.Context(), holder.request([]option{holding(l)}), path("core/a"), path("core/c"), files.Transfer{})
	w.kind("MOVE", err, "")
	same(t, "a lock does not move [RFC 4918, section 7.5]", holder.locksOn(onDocument("core/c")), 0)
	l = holder.mustLock(onDocument("core/c"), engine.NewLock{})
	w.kind("DELETE", holder.deleteDocument("core/c", holding(l)), "")
	holder.mustPutDocument("core/c", "x")
	same(t, "a lock ends with DELETE", holder.locksOn(onDocument("core/c")), 0)

	holder.mustLock(onDocument("core/c"), engine.NewLock{})
	try(w.Accounts.PutParty(t.Context(), admin.request(nil), identity.User, "ann", []byte(`{"disabled": true}`))).must(w, "disable ann")
	same(t, "a lock ends with its holder", other.locksOn(onDocument("core/c")), 0)
}

// TestLockMakes: a LOCK of a name that nothing has makes an empty document
// (RFC 4918, section 7.3), and one where nothing can be nothing.
func TestLockMakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	l, created, err := w.Locks.Lock(t.Context(), sam.request(nil), onDocument("sam/new.csv"), engine.NewLock{Deep: true})
	if err != nil || !created || l.Deep {
		t.Fatalf("LOCK of a new name: %+v, %v, %v", l, created, err)
	}
	same(t, "what it has made", sam.readDocument("sam/new.csv"), "text/csv: ")
	for _, tt := range []struct {
		at      string
		options []option
		want    errs.Kind
	}{
		{"sam/gone/new", nil, errs.MissingParent},
		{"sam/a\x00b", nil, errs.NameNotAllowed},
		{"bob/new", nil, errs.NotFound},
		{"sam/x", []option{ifMatch(`"x"`)}, errs.Precondition},
		{"sam/new.csv", []option{ifMatch(`"x"`)}, errs.Precondition},
	} {
		_, err := sam.lock(onDocument(tt.at), engine.NewLock{}, tt.options...)
		w.kind("LOCK of "+tt.at, err, tt.want)
	}
	same(t, "what is there", sam.members("sam"), []string{"new.csv"})
	_, err = sam.lock(onDocument("sam/new.csv"), engine.NewLock{Shared: true, Owner: strings.Repeat("x", 5000)})
	w.kind("a long owner", err, errs.TooLarge)
}

// TestLocksAreBounded: one user has no more than so many.
func TestLocksAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/a", "x")
	w.update(func(tx store.Tx) error {
		for range change.DefaultLocks {
			l := &store.Lock{Token: store.NewUUID(), On: "case/1", HolderID: sam.by().ID, Lasts: time.Hour, Expires: time.Now().Add(time.Hour)}
			if err := tx.Write().Locks().Insert(l); err != nil {
				return err
			}
		}
		return nil
	})
	_, err := sam.lock(onDocument("sam/a"), engine.NewLock{})
	w.kind("one lock too many", err, errs.TooMany)
}

// TestLockedEntry: in the workflow a lock is on the document, whatever it is
// found under, and does not hinder the engine.
func TestLockedEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	const nightly = `{"route": "auto", "type": "cron", "hour": "23", "minute": "0"}`
	named := engine.Ref{Author: sam.by().ID, Name: "nightly.json"}
	out := try(w.Schedules.PutEntry(t.Context(), sam.request(nil), named, []byte(nightly))).must(w, "PUT")
	uuid, _ := store.ParseUUID(out.Name)
	byID := engine.Ref{Entry: uuid}
	l := sam.mustLock(onEntry(sam, "nightly.json"), engine.NewLock{})
	for name, ref := range map[string]engine.Ref{"its name": named, "its identity": byID} {
		_, err := w.Schedules.PutEntry(t.Context(), sam.request(nil), ref, []byte(nightly))
		w.kind("PUT under "+name, err, errs.Locked)
		w.kind("DELETE under "+name, w.Schedules.DeleteEntry(t.Context(), sam.request(nil), ref), errs.Locked)
		_, err = w.Schedules.RenameEntry(t.Context(), sam.request(nil), ref, "other.json", true)
		w.kind("MOVE under "+name, err, errs.Locked)
		_, err = w.Schedules.PutEntry(t.Context(), sam.request([]option{holding(l)}), ref, []byte(nightly))
		w.kind("PUT with the token under "+name, err, "")
	}
	before := len(w.cases())
	w.advance(48 * time.Hour)
	if len(w.cases()) <= before {
		t.Error("a locked entry does not fire")
	}
	w.kind("DELETE with the token", w.Schedules.DeleteEntry(t.Context(), sam.request([]option{holding(l)}), named), "")
}

// TestWritersWithoutLocks: writers of one document are served one after the
// other; on a condition one of them is.
func TestWritersWithoutLocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/a", "x")
	race := func(options ...option) map[errs.Kind]int {
		var mu sync.Mutex
		var wg sync.WaitGroup
		kinds := map[errs.Kind]int{}
		for i := range 32 {
			wg.Go(func() {
				// Not what is there already: it would be the same document afterwards.
				_, err := sam.putDocument("sam/a", fmt.Sprint(len(options), " ", i), options...)
				mu.Lock()
				defer mu.Unlock()
				kinds[errs.KindOf(err)]++
			})
		}
		wg.Wait()
		return kinds
	}
	same(t, "without condition", race(), map[errs.Kind]int{"": 32})
	same(t, "with If-Match", race(ifMatch(sam.mustDocument("sam/a").ETag())), map[errs.Kind]int{"": 1, errs.Precondition: 31})
}

// TestLocksEndWithMembership: who has left a team keeps nobody out of what it has.
func TestLocksEndWithMembership(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "kim", `{}`)
	admin.mustPutParty(identity.Team, "hr", `{"members": ["kim", "ann"]}`)
	admin.mustPutParty(identity.Team, "all", `{"members": ["hr"]}`)
	write := func(name, at string) error {
		_, err := w.Files.PutDocument(t.Context(), w.as(name).request(nil), path(at), contents.Upload{Body: strings.NewReader("x"), Size: 1})
		return err
	}
	for _, at := range []string{"hr", "all"} { // in the second as a member of the first
		w.as("kim").mustLock(onDocument(at), engine.NewLock{Deep: true})
		w.kind("while locked", write("ann", at+"/a.txt"), errs.Locked)
	}
	admin.mustPutParty(identity.Team, "hr", `{"members": ["ann", "kim"], "admins": ["ann"]}`)
	w.kind("after another change", write("ann", "hr/a.txt"), errs.Locked)
	admin.mustPutParty(identity.Team, "hr", `{"members": ["ann"]}`)
	for _, at := range []string{"hr", "all"} {
		w.kind("once it has left", write("ann", at+"/a.txt"), "")
	}
}
