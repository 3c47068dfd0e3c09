package davfs

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/webdav"

	"flowdrive/davfs/dav"
	"flowdrive/internal/errs"
)

// fileInfo describes a file or folder, with the optional interfaces of x/net.
type fileInfo struct{ about *info }

var (
	_ webdav.ETager       = fileInfo{}
	_ webdav.ContentTyper = fileInfo{}
)

func (i fileInfo) Name() string       { return i.about.name }
func (i fileInfo) Size() int64        { return i.about.size }
func (i fileInfo) ModTime() time.Time { return i.about.modified }
func (i fileInfo) IsDir() bool        { return i.about.dir }
func (i fileInfo) Sys() any           { return nil }

func (i fileInfo) Mode() os.FileMode {
	if i.about.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// ETag returns the entity tag that the drive's own handler answers with. Of what
// has none, as most folders, it is webdav.ErrNotImplemented.
func (i fileInfo) ETag(context.Context) (string, error) {
	if i.about.etag == "" {
		return "", webdav.ErrNotImplemented
	}
	return i.about.etag, nil
}

// ContentType returns the media type.
func (i fileInfo) ContentType(context.Context) (string, error) {
	if i.about.mediaType == "" {
		return "", webdav.ErrNotImplemented
	}
	return i.about.mediaType, nil
}

// openFile is a file or folder that is read.
type openFile struct {
	system  *FileSystem
	x       *request
	name    string
	node    node
	about   *info
	content io.ReadSeekCloser // nil: not opened yet
	members []*info           // of a folder, those that Readdir has not returned
	listed  bool
}

var _ webdav.DeadPropsHolder = (*openFile)(nil)

// load opens the content.
func (f *openFile) load() error {
	if f.content != nil {
		return nil
	}
	ctx := f.x.r.Context()
	switch n := f.node.(type) {
	case reader:
		about, content, err := f.x.open(ctx, n)
		if err != nil {
			return err
		}
		f.about, f.content = about, content
		return nil
	case streamer:
		if err := f.x.query.only(n.parameters()...); err != nil {
			return err
		}
		write, _, err := n.start(ctx, f.x.query)
		if err != nil {
			return err
		}
		b := &boundedBuffer{}
		if err := write(ctx, b); err != nil {
			return err
		}
		about := *f.about
		about.size = int64(b.Len())
		f.about, f.content = &about, contentOf(b.Bytes())
		return nil
	}
	return errs.New(errs.Method, "This cannot be read as a file.")
}

func (f *openFile) Read(p []byte) (int, error) {
	if err := f.load(); err != nil {
		return 0, pathError("read", f.name, err)
	}
	return f.content.Read(p)
}

func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.load(); err != nil {
		return 0, pathError("seek", f.name, err)
	}
	return f.content.Seek(offset, whence)
}

func (f *openFile) Write([]byte) (int, error) {
	return 0, pathError("write", f.name, errs.New(errs.BadParameter, "A file is written as a whole: open it with O_TRUNC."))
}

func (f *openFile) Stat() (os.FileInfo, error) { return fileInfo{f.about}, nil }

func (f *openFile) Close() error {
	if f.content == nil {
		return nil
	}
	return f.content.Close()
}

// Readdir returns the next members of a folder, at most count if that is above
// zero, as os.File's does.
func (f *openFile) Readdir(count int) ([]os.FileInfo, error) {
	dir, ok := f.node.(folder)
	if !ok {
		return nil, pathError("readdir", f.name, errs.New(errs.Method, "This is not a folder."))
	}
	if !f.listed {
		members, err := f.x.shownIn(dir).all(f.x.r.Context())
		if err != nil {
			return nil, pathError("readdir", f.name, err)
		}
		f.members, f.listed = members, true
	}
	n := len(f.members)
	if count > 0 {
		if n == 0 {
			return nil, io.EOF
		}
		n = min(n, count)
	}
	out := make([]os.FileInfo, n)
	for i, about := range f.members[:n] {
		out[i] = fileInfo{about}
	}
	f.members = f.members[n:]
	return out, nil
}

// DeadProps returns the properties that clients have set of a document, and the
// XATTRs of a case.
func (f *openFile) DeadProps() (map[xml.Name]webdav.Property, error) {
	out := map[xml.Name]webdav.Property{}
	if err := f.about.readProps(); err != nil {
		return nil, err
	}
	for _, p := range f.about.dead {
		property, err := webdavProperty(p)
		if err != nil {
			return nil, err
		}
		out[property.XMLName] = property
	}
	if err := f.about.readXattrs(); err != nil {
		return nil, err
	}
	for _, p := range f.about.appendXattrs(nil) {
		name := xml.Name{Space: xattrSpace, Local: xattrPrefix + p.Key}
		out[name] = webdav.Property{XMLName: name, InnerXML: dav.AppendText(nil, p.Text)}
	}
	return out, nil
}

// Patch changes properties, all or none.
func (f *openFile) Patch(patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	return f.system.patch(f.x, f.node, patches)
}

// patch changes properties as a PROPPATCH does.
func (f *FileSystem) patch(x *request, n node, patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	var changes []dav.PropChange
	var named []webdav.Property
	for _, patch := range patches {
		for _, p := range patch.Props {
			value, err := dav.NewElement(p.XMLName, p.Lang, string(p.InnerXML))
			if err != nil {
				return nil, err
			}
			changes = append(changes, dav.PropChange{Name: p.XMLName, Remove: patch.Remove, Value: value})
			named = append(named, webdav.Property{XMLName: p.XMLName})
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	results, err := f.drive.patch(x, n, changes, nil)
	if err != nil {
		return nil, err
	}
	var out []webdav.Propstat
	for i, result := range results {
		last := len(out) - 1
		if i == 0 || result != results[i-1] {
			stat := webdav.Propstat{Status: result.Status, ResponseDescription: result.Description}
			if result.Condition != "" {
				stat.XMLError = `<D:` + result.Condition + ` xmlns:D="DAV:"/>`
			}
			out, last = append(out, stat), last+1
		}
		out[last].Props = append(out[last].Props, named[i])
	}
	return out, nil
}

// boundedBuffer gathers at most maxBuffered bytes.
type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxBuffered {
		return 0, errs.New(errs.TooLarge, "The file is larger than %d bytes, the most that can be gathered.", maxBuffered)
	}
	return b.Buffer.Write(p)
}

// writtenFile gathers what is written. Close stores it.
type writtenFile struct {
	system *FileSystem
	x      *request
	name   string
	about  *info
	data   boundedBuffer
	props  []webdav.Proppatch
	failed error
	closed bool
}

var _ webdav.DeadPropsHolder = (*writtenFile)(nil)

func (f *writtenFile) Write(p []byte) (int, error) {
	n, err := f.data.Write(p)
	if err != nil {
		f.failed = err
		return n, pathError("write", f.name, err)
	}
	f.about.size += int64(n)
	return n, nil
}

// Read is fs.ErrInvalid: what is written cannot be read before it is stored.
func (f *writtenFile) Read([]byte) (int, error) { return 0, f.unreadable("read") }

// Seek is fs.ErrInvalid: a file is written from its beginning to its end.
func (f *writtenFile) Seek(int64, int) (int64, error) { return 0, f.unreadable("seek") }

// Readdir is fs.ErrInvalid.
func (f *writtenFile) Readdir(int) ([]os.FileInfo, error) { return nil, f.unreadable("readdir") }

func (f *writtenFile) unreadable(op string) error {
	return pathError(op, f.name, errs.New(errs.BadParameter, "The file is being written."))
}

// Stat describes what has been written; after Close its ETag is the stored
// version's.
func (f *writtenFile) Stat() (os.FileInfo, error) { return fileInfo{f.about}, nil }

// DeadProps returns none.
func (f *writtenFile) DeadProps() (map[xml.Name]webdav.Property, error) { return nil, nil }

// Patch changes properties once the file is stored: Close does.
func (f *writtenFile) Patch(patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	f.props = append(f.props, patches...)
	stat := webdav.Propstat{Status: http.StatusOK}
	for _, patch := range patches {
		for _, p := range patch.Props {
			stat.Props = append(stat.Props, webdav.Property{XMLName: p.XMLName})
		}
	}
	return []webdav.Propstat{stat}, nil
}

// Close stores what was written, as a PUT does. If a part could not be written,
// or the body that it comes from was cut short, nothing is stored.
func (f *writtenFile) Close() error {
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.closed = true
	ctx := f.x.r.Context()
	if v, _ := ctx.Value(clientRequestKey{}).(*clientRequest); v != nil {
		v.mu.Lock()
		f.failed = errors.Join(f.failed, v.broken)
		v.mu.Unlock()
	}
	if f.failed != nil {
		return pathError("close", f.name, f.failed)
	}
	r := f.x.r
	r.Body, r.ContentLength = io.NopCloser(&f.data), f.about.size
	if _, err := f.system.drive.answer(f.x); err != nil {
		return pathError("close", f.name, err)
	}
	_, n, about, err := f.system.look(ctx, f.name)
	if errs.Is(err, errs.NotFound) {
		return nil // it was an action, or is kept under another name
	}
	if err != nil {
		return pathError("close", f.name, err)
	}
	*f.about = *about
	if _, stores := n.(patcher); !stores || len(f.props) == 0 {
		return nil
	}
	_, err = f.system.patch(f.x, n, f.props)
	return pathError("close", f.name, err)
}
