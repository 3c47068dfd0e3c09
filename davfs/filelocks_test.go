package davfs

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	davfs2Agent = "User-Agent: davfs2/1.6.1 neon/0.32.5"
	rcloneAgent = "User-Agent: rclone/v1.60.1-DEV"
)

// locker asks a drive, and wants a status.
type locker struct {
	*testing.T
	*testDrive
}

func (l locker) want(status int, line string, more ...string) (token, body string) {
	l.Helper()
	rec := l.ask(l.T, line, more...)
	if rec.Code != status {
		l.Fatalf("%s %v: %d, want %d: %s", line, more, rec.Code, status, rec.Body)
	}
	return rec.Header().Get("Lock-Token"), rec.Body.String()
}

// TestLockOfAFileOfACase: a lock on a file in Files/ keeps others from replacing and
// deleting it, by each of its names, and outlives that its holder replaces it.
func TestLockOfAFileOfACase(t *testing.T) {
	t.Parallel()
	l := locker{t, newTestDrive(t)}
	const files = "/dav/Workflow/Cases/18/Files/"
	l.want(http.StatusCreated, "eva PUT /dav/Workflow/Routes/tip.yaml",
		`> {"access": {"start": ["ops"]}, "roles": {"clerk": {"assign": ["team:ops"]}}, "states": {"open": {"type": "start"}, "done": {"type": "complete"}},`,
		`> "actions": {"report": {"trigger": "init"}, "resolve": {"type": "resolve", "in": ["open"], "role": "clerk", "to": "done"}}}`)
	l.want(http.StatusCreated, "sam PUT /dav/Workflow/Cases/a.json", `> {"route": "tip"}`)
	l.want(http.StatusCreated, "sam PUT "+files+"note.txt", "> first")

	token, _ := l.want(http.StatusOK, "sam LOCK "+files+"note.txt", lockBody)
	_, body := l.want(http.StatusMultiStatus, "sam PROPFIND "+files, "Depth: 1", `> <propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>`)
	if !strings.Contains(body, strings.Trim(token, "<>")) {
		t.Errorf("the holder is not told of the lock: %s", body)
	}
	l.want(http.StatusLocked, "ann LOCK "+files+"note.txt", lockBody)
	l.want(http.StatusLocked, "ann PUT "+files+"note.txt", "> hers")
	l.want(http.StatusLocked, "ann PUT "+files+"NOTE.TXT", "> hers")
	l.want(http.StatusLocked, "sam PUT "+files+"note.txt", "> without the token")
	l.want(http.StatusLocked, "sam DELETE "+files+"note.txt")
	l.want(http.StatusNoContent, "sam PUT "+files+"note.txt", "If: ("+token+")", "> second")
	l.want(http.StatusLocked, "ann PUT "+files+"note.txt", "> hers")
	_, contents := l.want(http.StatusOK, "sam GET /attachfs/18/.contents")
	_, rest, _ := strings.Cut(contents, `"uuid": "`)
	uuid, _, found := strings.Cut(rest, `"`)
	if !found || strings.Count(contents, `"uuid"`) != 1 {
		t.Fatalf("attached is %s", contents)
	}
	l.want(http.StatusLocked, "sam DELETE /attachfs/18/"+uuid)
	l.want(http.StatusLocked, "eva DELETE /attachfs/"+uuid)
	l.want(http.StatusOK, "sam LOCK "+files+"note.txt", "If: ("+token+")")
	l.want(http.StatusNoContent, "sam UNLOCK "+files+"note.txt", "Lock-Token: "+token)
	l.want(http.StatusNoContent, "sam DELETE /attachfs/18/"+uuid)
	l.want(http.StatusNotFound, "sam GET "+files+"note.txt")

	// What others have attached keeps its name, and the lock that is on it.
	l.want(http.StatusCreated, "ann PUT "+files+"plan.txt", "> hers")
	token, _ = l.want(http.StatusOK, "sam LOCK "+files+"plan.txt", lockBody)
	l.want(http.StatusLocked, "ann PUT "+files+"plan.txt", "> hers again")
	l.want(http.StatusCreated, "sam PUT "+files+"plan.txt", "If: ("+token+")", "> sam's")
	l.want(http.StatusOK, "sam GET "+files+"plan%20(2).txt")
	l.want(http.StatusLocked, "ann PUT "+files+"plan.txt", "> hers again")
	l.want(http.StatusLocked, "ann DELETE "+files+"plan.txt")
	l.want(http.StatusNoContent, "sam UNLOCK "+files+"plan.txt", "Lock-Token: "+token)
	l.want(http.StatusNoContent, "ann DELETE "+files+"plan.txt")

	l.want(http.StatusNotFound, "bob LOCK "+files+"plan.txt", lockBody)
	l.want(http.StatusNotFound, "sam LOCK "+files+"new.txt", lockBody) // a script makes no drafts
	l.want(http.StatusPreconditionFailed, "sam LOCK "+files+"plan.txt", `If: (["another"])`, lockBody)
	l.want(http.StatusForbidden, "sam LOCK "+files, lockBody)
}

// TestLockOfTheInputOfACase: the input stays as it is, so that it cannot be locked.
func TestLockOfTheInputOfACase(t *testing.T) {
	t.Parallel()
	l := locker{t, newTestDrive(t)}
	l.want(http.StatusCreated, "sam PUT /dav/Workflow/Routes/bug/report.txt", "> it burns")
	_, body := l.want(http.StatusForbidden, "sam LOCK /dav/Workflow/Cases/17/Files/report.txt", davfs2Agent, lockBody)
	if !strings.Contains(body, "stays as it is") {
		t.Errorf("told: %s", body)
	}
}

// TestLockOfAHook: a lock keeps other administrators of the route from changing a hook.
// Its ETag is a condition for those who are careful.
func TestLockOfAHook(t *testing.T) {
	t.Parallel()
	l := locker{t, newTestDrive(t)}
	const hook = "/dav/Workflow/Routes/own/Hooks/shop.json"
	l.want(http.StatusCreated, "sam PUT /dav/Workflow/Routes/own.yaml", "> @route")
	l.want(http.StatusCreated, "sam PUT "+hook, `> {}`)
	token, _ := l.want(http.StatusOK, "sam LOCK "+hook, lockBody)
	l.want(http.StatusLocked, "eva PUT "+hook, `> {"rate": "7/minute"}`)
	l.want(http.StatusLocked, "eva DELETE "+hook)
	l.want(http.StatusNoContent, "sam PUT "+hook, "If: ("+token+")", `> {"rate": "8/minute"}`)
	l.want(http.StatusNotFound, "ann LOCK "+hook, lockBody)
	l.want(http.StatusNotFound, "sam LOCK /dav/Workflow/Routes/own/Hooks/shop.txt", lockBody)
	l.want(http.StatusNoContent, "sam UNLOCK "+hook, "Lock-Token: "+token)

	rec := l.ask(t, "sam GET "+hook)
	etag := rec.Header().Get("Etag")
	l.want(http.StatusNoContent, "sam PUT "+hook, "If-Match: "+etag, `> {"rate": "9/minute"}`)
	l.want(http.StatusPreconditionFailed, "sam PUT "+hook, "If-Match: "+etag, `> {"rate": "7/minute"}`)
	l.want(http.StatusNoContent, "eva DELETE "+hook)
}

// TestMountInAttachfs: a mounting client finds what it has just attached under the name
// that it gave it, and an upload that it repeats is one attachment. A script finds what
// is stored.
func TestMountInAttachfs(t *testing.T) {
	t.Parallel()
	l := locker{t, newTestDrive(t)}
	attached := func() int {
		_, body := l.want(http.StatusOK, "sam GET /attachfs/.contents")
		return strings.Count(body, `"uuid"`)
	}
	l.want(http.StatusCreated, "sam PUT /attachfs/p.txt", rcloneAgent)
	l.want(http.StatusMultiStatus, "sam PROPFIND /attachfs/p.txt", rcloneAgent, "Depth: 1")
	if n := attached(); n != 0 {
		t.Errorf("an empty PUT has attached %d files", n)
	}
	for range 2 {
		l.want(http.StatusCreated, "sam PUT /attachfs/p.txt", rcloneAgent, "> pixels")
	}
	if n := attached(); n != 1 {
		t.Errorf("a repeated PUT has attached %d files", n)
	}
	if _, body := l.want(http.StatusOK, "sam GET /attachfs/p.txt", rcloneAgent); body != "pixels" {
		t.Errorf("it reads back %q", body)
	}
	if _, body := l.want(http.StatusMultiStatus, "sam PROPFIND /attachfs/", rcloneAgent, "Depth: 1"); !strings.Contains(body, "/attachfs/p.txt") {
		t.Errorf("it does not find it in the listing: %s", body)
	}
	if _, body := l.want(http.StatusMultiStatus, "ann PROPFIND /attachfs/", rcloneAgent, "Depth: 1"); strings.Contains(body, "p.txt") {
		t.Errorf("another user finds it: %s", body)
	}
	l.want(http.StatusNotFound, "sam GET /attachfs/p.txt")
	l.want(http.StatusNoContent, "sam DELETE /attachfs/p.txt", rcloneAgent)
	if n := attached(); n != 0 {
		t.Errorf("%d files are left of the one that was deleted", n)
	}
	l.want(http.StatusNotFound, "sam GET /attachfs/p.txt", rcloneAgent)
	l.want(http.StatusCreated, "sam PUT /attachfs/empty.txt")
	if n := attached(); n != 1 {
		t.Errorf("a script's empty file is %d attachments", n)
	}
	if rec := l.ask(t, "sam OPTIONS /attachfs/"); rec.Header().Get("Dav") != "1, 2, 3" {
		t.Errorf("OPTIONS: %v", rec.Header())
	}
	l.want(http.StatusNotFound, "sam LOCK /attachfs/p.txt", lockBody)
	l.want(http.StatusNotFound, "bob PUT /attachfs/99/p.txt", davfs2Agent, "> x")
	l.want(http.StatusNotFound, "bob LOCK /attachfs/99/p.txt", davfs2Agent, lockBody)
}

// TestRefreshAfterTheSave: clients refresh the lock under which they have saved. The lock
// of what has gone meanwhile lasts no longer than it would.
func TestRefreshAfterTheSave(t *testing.T) {
	t.Parallel()
	l := locker{t, newTestDrive(t)}
	l.want(http.StatusCreated, "sam PUT /dav/Workflow/Cases/a.json", `> {"route": "bug"}`)
	const task = "/dav/Workflow/Cases/17/Actions/resolve.json"
	token, _ := l.want(http.StatusOK, "sam LOCK "+task, davfs2Agent, "Timeout: Second-600", lockBody)
	l.want(http.StatusNoContent, "sam PUT "+task, davfs2Agent, "If: ("+token+")", `> {"comment": "done"}`)
	_, body := l.want(http.StatusOK, "sam LOCK "+task, davfs2Agent, "Timeout: Second-3600", "If: ("+token+")")
	if !strings.Contains(body, "Second-600") {
		t.Errorf("told: %s", body)
	}
	l.want(http.StatusNotFound, "eva LOCK "+task, davfs2Agent, "If: ("+token+")")
	l.want(http.StatusNoContent, "sam UNLOCK "+task, davfs2Agent, "Lock-Token: "+token)
	l.want(http.StatusNotFound, "sam LOCK "+task, davfs2Agent, "If: ("+token+")")
}

// TestLocksOfForms: what is in Account/ and Admin/ can be locked by who may write it, and
// the lock keeps others from changing, renaming and deleting it.
func TestLocksOfForms(t *testing.T) {
	t.Parallel()
	l := locker{t, newTestDrive(t)}
	l.want(http.StatusCreated, "eva PUT /dav/Admin/Users/adm.json", `> {"admin": true}`)
	l.want(http.StatusCreated, "eva PUT /dav/Admin/Holds/h.json", `> {"route": "bug"}`)
	l.want(http.StatusCreated, "eva PUT /dav/Admin/Users/tim.json", "> {}")
	for _, tt := range []struct{ at, body string }{
		{"/dav/Admin/Users/tim.json", `> {"fullName": "T"}`},
		{"/dav/Admin/Teams/ops.json", `> {"members": ["sam"]}`},
		{"/dav/Admin/Holds/h.json", `> {"route": "bug", "reason": "stop"}`},
	} {
		at, body := tt.at, tt.body
		token, _ := l.want(http.StatusOK, "eva LOCK "+at, lockBody)
		l.want(http.StatusLocked, "adm LOCK "+at, lockBody)
		l.want(http.StatusLocked, "adm PUT "+at, body)
		l.want(http.StatusLocked, "adm DELETE "+at)
		l.want(http.StatusNotFound, "sam LOCK "+at, lockBody)
		_, told := l.want(http.StatusMultiStatus, "eva PROPFIND "+at, "Depth: 0", `> <propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>`)
		if !strings.Contains(told, strings.Trim(token, "<>")) {
			t.Errorf("%s: the holder is not told of the lock: %s", at, told)
		}
		l.want(http.StatusNoContent, "eva PUT "+at, "If: ("+token+")", body)
		if strings.Contains(at, "Holds") {
			l.want(http.StatusNoContent, "eva DELETE "+at, "If: ("+token+")")
			continue
		}
		to := strings.Replace(at, ".json", "2.json", 1)
		l.want(http.StatusLocked, "adm MOVE "+at, "Destination: "+to)
		l.want(http.StatusCreated, "eva MOVE "+at, "Destination: "+to, "If: ("+token+")")
		l.want(http.StatusNoContent, "adm PUT "+to, body) // a lock goes with the move
	}
	token, _ := l.want(http.StatusOK, "sam LOCK /dav/Account/me.json", lockBody)
	l.want(http.StatusLocked, "sam PUT /dav/Account/me.json", `> {"fullName": "S"}`)
	l.want(http.StatusNoContent, "eva PUT /dav/Admin/Users/sam.json", `> {"fullName": "S"}`)
	l.want(http.StatusNoContent, "sam PUT /dav/Account/me.json", "If: ("+token+")", `> {"fullName": "Sam"}`)
	l.want(http.StatusOK, "ann LOCK /dav/Account/me.json", lockBody) // that is another account
	l.want(http.StatusNoContent, "sam UNLOCK /dav/Account/me.json", "Lock-Token: "+token)
	l.want(http.StatusCreated, "sam PUT /dav/Account/AppPasswords/p.json", "> {}")
	l.want(http.StatusOK, "sam LOCK /dav/Account/AppPasswords/p.json", lockBody)
	l.want(http.StatusLocked, "sam DELETE /dav/Account/AppPasswords/p.json")
}

// TestSyncOfAUser: rclone compares the size of what it finds with what it sent, and
// deletes what differs. That deletes no user, and a password is not shown again.
func TestSyncOfAUser(t *testing.T) {
	t.Parallel()
	l := locker{t, newTestDrive(t)}
	const tim = "/dav/Admin/Users/tim.json"
	length := func(size int) string { return fmt.Sprintf("getcontentlength>%d<", size) }
	finds := func(want string) bool {
		_, body := l.want(http.StatusMultiStatus, "eva PROPFIND "+tim, rcloneAgent, "Depth: 1")
		return strings.Contains(body, want)
	}
	l.want(http.StatusCreated, "eva PUT "+tim, rcloneAgent, `> {"fullName": "T"}`)
	if !finds(length(17)) {
		t.Error("it does not find what it sent")
	}
	l.want(http.StatusNoContent, "eva PUT "+tim, rcloneAgent, `> {"fullName": "Tim", "password": "a secret of tim's"}`)
	if _, body := l.want(http.StatusOK, "eva GET "+tim, rcloneAgent); strings.Contains(body, "secret") {
		t.Errorf("the password is shown: %s", body)
	}
	l.want(http.StatusNoContent, "eva DELETE "+tim, rcloneAgent)
	l.want(http.StatusOK, "eva GET "+tim, rcloneAgent)
	l.want(http.StatusNoContent, "eva DELETE "+tim, rcloneAgent)
	l.want(http.StatusNotFound, "eva GET "+tim, rcloneAgent)

	// An app password is not answered twice, and none is lost by a client that clears up.
	const phone = "/dav/Account/AppPasswords/phone.json"
	l.want(http.StatusCreated, "sam PUT "+phone, rcloneAgent, "> {}")
	l.want(http.StatusConflict, "sam PUT "+phone, rcloneAgent, "> {}")
	l.want(http.StatusNoContent, "sam DELETE "+phone, rcloneAgent)
	l.want(http.StatusOK, "sam GET "+phone)
}
