package davfs

import (
	"context"
	"encoding/xml"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"time"

	"golang.org/x/net/webdav"

	"flowdrive/engine"
)

// view is the webdav.FileSystem of one PROPFIND: a node and, for depth 1,
// its members, as they were at one moment. webdav.Handler opens every member
// several times; here that costs a look into a map.
type view struct {
	files   map[string]viewed
	members map[string][]fs.FileInfo // of the folders
	named   bool                     // the request names its properties
	xattrs  bool                     // it may name XATTRs, or ask for all there is
	quota   *engine.Quota            // nil: not asked for
}

func newView(at string, top viewed, named bool) *view {
	return &view{files: map[string]viewed{at: top}, members: map[string][]fs.FileInfo{}, named: named}
}

// viewed is a file of the view; node is nil for a member.
type viewed struct {
	info *info
	node node
}

var _ webdav.FileSystem = (*view)(nil)

// fetch adds the members of the folder at the path.
func (v *view) fetch(ctx context.Context, dir folder, at string) error {
	members, err := dir.list(ctx)
	if err != nil {
		return err
	}
	v.add(at, members)
	return nil
}

// fetchAll adds all that is below the folder at the path.
func (v *view) fetchAll(ctx context.Context, dir tree, at string) error {
	below, err := dir.below(ctx)
	for folder, members := range below {
		v.add(path.Join(at, folder), members)
	}
	return err
}

func (v *view) add(at string, members []*info) {
	list := make([]fs.FileInfo, len(members))
	for i, m := range members {
		list[i] = m
		v.files[path.Join(at, m.name)] = viewed{info: m}
	}
	v.members[at] = list
}

// Stat describes what was fetched.
func (v *view) Stat(_ context.Context, name string) (os.FileInfo, error) {
	file, found := v.files[name]
	if !found {
		return nil, fs.ErrNotExist
	}
	return file.info, nil
}

// OpenFile opens what was fetched, for reading.
func (v *view) OpenFile(ctx context.Context, name string, flag int, _ os.FileMode) (webdav.File, error) {
	file, found := v.files[name]
	switch {
	case !found:
		return nil, fs.ErrNotExist
	case flag&(os.O_WRONLY|os.O_RDWR) != 0:
		return nil, fs.ErrPermission
	}
	open := &openFile{view: v, name: name, viewed: file}
	if r, ok := file.node.(reader); ok {
		open.content = func() (io.ReadSeekCloser, error) {
			_, content, err := r.open(ctx)
			return content, err
		}
	}
	return open, nil
}

// Mkdir refuses: what changes anything has handlers of its own.
func (v *view) Mkdir(context.Context, string, os.FileMode) error { return fs.ErrPermission }

// RemoveAll refuses, as Mkdir does.
func (v *view) RemoveAll(context.Context, string) error { return fs.ErrPermission }

// Rename refuses, as Mkdir does.
func (v *view) Rename(context.Context, string, string) error { return fs.ErrPermission }

// openFile is an open file of a view. Its content is fetched by the first
// Read: a PROPFIND never reads.
type openFile struct {
	viewed
	view    *view
	name    string
	content func() (io.ReadSeekCloser, error)
	body    io.ReadSeekCloser
}

var (
	_ webdav.File            = (*openFile)(nil)
	_ webdav.DeadPropsHolder = (*openFile)(nil)
)

// Stat describes the file.
func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Readdir returns the members of a folder, those that were fetched; it is
// asked for all of them at once.
func (f *openFile) Readdir(int) ([]fs.FileInfo, error) {
	if !f.info.dir {
		return nil, fs.ErrInvalid
	}
	return f.view.members[f.name], nil
}

func (f *openFile) load() (err error) {
	if f.body != nil {
		return nil
	}
	if f.content == nil {
		return fs.ErrInvalid
	}
	f.body, err = f.content()
	return err
}

// Read reads the content.
func (f *openFile) Read(p []byte) (int, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.body.Read(p)
}

// Seek seeks in the content.
func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.body.Seek(offset, whence)
}

// Write refuses.
func (f *openFile) Write([]byte) (int, error) { return 0, fs.ErrPermission }

// Close closes the content, if it was fetched.
func (f *openFile) Close() error {
	if f.body == nil {
		return nil
	}
	return f.body.Close()
}

// The properties of RFC 4331. They are the caller's, whatever the folder, and
// only told to who names them, as section 3 there has it.
const (
	quotaUsed      = "quota-used-bytes"
	quotaAvailable = "quota-available-bytes"
)

// DeadProps returns properties that webdav.Handler does not know, or says
// wrongly: a property that is found here is taken from here. supportedlock
// must be empty while there are no locks; in an answer to allprop, where the
// library adds its own, it would stand twice.
func (f *openFile) DeadProps() (map[xml.Name]webdav.Property, error) {
	props := map[xml.Name]webdav.Property{}
	add := func(local, value string) {
		name := xml.Name{Space: davSpace, Local: local}
		props[name] = webdav.Property{XMLName: name, InnerXML: []byte(value)}
	}
	if !f.info.created.IsZero() {
		add("creationdate", f.info.created.UTC().Format(time.RFC3339))
	}
	if f.info.dir && f.info.etag != "" {
		add("getetag", escapeXML(f.info.etag))
	}
	if q := f.view.quota; q != nil && f.info.dir {
		add(quotaUsed, strconv.FormatInt(q.Used, 10))
		add(quotaAvailable, strconv.FormatInt(q.Available, 10))
	}
	if f.view.named {
		add("lockdiscovery", "")
		add("supportedlock", "")
	}
	if f.view.xattrs {
		return props, f.info.addXattrs(props)
	}
	return props, nil
}

// Patch refuses: properties cannot be set yet.
func (f *openFile) Patch([]webdav.Proppatch) ([]webdav.Propstat, error) {
	return nil, fs.ErrPermission
}

// noLocks is the webdav.LockSystem of a drive without locks. A PROPFIND asks
// it nothing.
type noLocks struct{}

var _ webdav.LockSystem = noLocks{}

// Confirm confirms nothing: no token is of any lock.
func (noLocks) Confirm(time.Time, string, string, ...webdav.Condition) (func(), error) {
	return nil, webdav.ErrConfirmationFailed
}

// Create refuses a lock.
func (noLocks) Create(time.Time, webdav.LockDetails) (string, error) {
	return "", webdav.ErrForbidden
}

// Refresh finds no lock.
func (noLocks) Refresh(time.Time, string, time.Duration) (webdav.LockDetails, error) {
	return webdav.LockDetails{}, webdav.ErrNoSuchLock
}

// Unlock finds no lock.
func (noLocks) Unlock(time.Time, string) error { return webdav.ErrNoSuchLock }
