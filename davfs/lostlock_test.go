package davfs

import (
	"strings"
	"testing"
)

// TestRefreshOfALostLock: who wants to hold a lock longer that has ended is told that,
// and not that another version is stored.
func TestRefreshOfALostLock(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Documents/sam/a.txt", "> text")
	rec := d.ask(t, "sam LOCK /dav/Documents/sam/a.txt", `> <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`)
	token := rec.Header().Get("Lock-Token")
	if rec := d.ask(t, "sam LOCK /dav/Documents/sam/a.txt", "If: ("+token+")"); rec.Code != 200 {
		t.Errorf("refreshed: %d %s", rec.Code, rec.Body)
	}
	if rec := d.ask(t, "sam UNLOCK /dav/Documents/sam/a.txt", "Lock-Token: "+token); rec.Code != 204 {
		t.Fatal(rec.Code, rec.Body)
	}
	rec = d.ask(t, "sam LOCK /dav/Documents/sam/a.txt", "If: ("+token+")")
	if rec.Code != 412 || !strings.Contains(rec.Body.String(), "may have expired") {
		t.Errorf("after it has ended: %d %s", rec.Code, rec.Body)
	}
}
