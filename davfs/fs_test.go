package davfs

import (
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/net/webdav"
)

// TestView: the file system that a PROPFIND sees reads what GET reads and
// changes nothing.
func TestView(t *testing.T) {
	t.Parallel()
	d := newTestDrive()
	furnish(t, d)
	s := &scope{engine: d.fake, by: d.directory.Principal(samID), since: d.now}
	const at = "/dav/Workflow/Schedule/night ly.json"
	n := scheduleFolder{s}
	file, err := n.child(t.Context(), "night ly.json")
	if err != nil {
		t.Fatal(err)
	}
	about, err := file.stat(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := &view{files: map[string]viewed{at: {about, file}}}
	open, err := v.OpenFile(t.Context(), at, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if end, err := open.Seek(-7, io.SeekEnd); err != nil || end != about.size-7 {
		t.Errorf("Seek: %d, %v", end, err)
	}
	if got, err := io.ReadAll(open); err != nil || string(got) != `"cron"}` {
		t.Errorf("Read: %q, %v", got, err)
	}
	if err := open.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	_, write := open.Write([]byte("x"))
	props, ok := open.(webdav.DeadPropsHolder)
	if !ok {
		t.Fatal("an open file has no properties of its own")
	}
	_, patch := props.Patch(nil)
	_, members := open.Readdir(0)
	_, rw := v.OpenFile(t.Context(), at, os.O_RDWR, 0)
	_, missing := v.OpenFile(t.Context(), "/else", os.O_RDONLY, 0)
	_, stat := v.Stat(t.Context(), "/else")
	_, lock := noLocks{}.Create(time.Time{}, webdav.LockDetails{})
	_, refresh := noLocks{}.Refresh(time.Time{}, "x", time.Hour)
	_, confirm := noLocks{}.Confirm(time.Time{}, at, "")
	for name, err := range map[string]error{
		"Write": write, "Patch": patch, "Readdir of a file": members, "OpenFile for writing": rw, "OpenFile": missing, "Stat": stat,
		"Mkdir": v.Mkdir(t.Context(), "/x", 0), "RemoveAll": v.RemoveAll(t.Context(), at), "Rename": v.Rename(t.Context(), at, "/x"),
		"Create": lock, "Refresh": refresh, "Confirm": confirm, "Unlock": noLocks{}.Unlock(time.Time{}, "x"),
	} {
		if err == nil {
			t.Errorf("%s: succeeded, want it refused", name)
		}
	}
	if about.Mode().IsDir() || !folderInfo("x", d.now).Mode().IsDir() || about.Sys() != nil {
		t.Errorf("mode %v", about.Mode())
	}
	member, err := (&view{files: map[string]viewed{at: {info: about}}}).OpenFile(t.Context(), at, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := member.Read(nil); err == nil {
		t.Error("a member, which was not walked to, can be read")
	}
}
