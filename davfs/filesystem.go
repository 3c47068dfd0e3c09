package davfs

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/webdav"

	"flowdrive/davfs/dav"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// maxBuffered bounds what a file of a FileSystem holds in memory: what is
// written until it is closed, and what is read of a file whose size is not known
// beforehand.
const maxBuffered = 64 << 20

// FileSystem is the drive as a file system of golang.org/x/net/webdav, for
// programs that embed it. Names are paths as clients have them, "/dav/Workflow".
// The caller is Config.Principal's of the context, and has the same rights as
// over HTTP: every operation here is the method of the drive's own Handler.
//
// What is written is gathered, up to 64 MiB, and stored by Close, as a PUT:
// its error says why a document was refused. Errors match fs.ErrNotExist,
// fs.ErrExist, fs.ErrPermission and fs.ErrInvalid, and have an *errs.Error in
// their chain unless they are fs.ErrNotExist.
//
// A program that calls it is taken at its word, as script clients are. What a
// request of a client says beyond its path, Begin makes known.
type FileSystem struct{ drive *drive }

var _ webdav.FileSystem = (*FileSystem)(nil)

// NewFileSystem returns the drive as a file system.
func NewFileSystem(cfg Config) *FileSystem { return &FileSystem{newDrive(cfg)} }

// Handler returns the drive's own handler, which needs Config.WriteError. Both
// show mounting clients the same.
func (f *FileSystem) Handler() http.Handler { return f.drive }

// clientRequest is a request that another handler answers by the file system.
type clientRequest struct {
	method string
	header http.Header // of the request, without what is about other paths
	query  string
	host   string
	tls    *tls.ConnectionState // nil: without TLS

	mu     sync.Mutex
	tokens []store.UUID // that its conditions submit
	broken error        // its body could not be read to its end
}

type clientRequestKey struct{}

// Begin prepares a request for a handler of x/net, which must be made for it
// with the LockSystem: so the file system knows what kind of client asks, its
// lock tokens and conditions, and whether the body has come whole.
func (f *FileSystem) Begin(r *http.Request) (*http.Request, *LockSystem) {
	v := &clientRequest{method: r.Method, header: r.Header.Clone(), query: r.URL.RawQuery, host: r.Host, tls: r.TLS}
	for _, name := range []string{"If", "Depth", "Destination", "Overwrite", "Lock-Token", "Range"} {
		v.header.Del(name)
	}
	out := r.WithContext(context.WithValue(r.Context(), clientRequestKey{}, v))
	out.Body = &watchedBody{ReadCloser: r.Body, client: v, left: r.ContentLength}
	return out, &LockSystem{drive: f.drive, httpRequest: out, client: v}
}

// watchedBody notes whether a body ends before its end.
type watchedBody struct {
	io.ReadCloser
	client *clientRequest
	left   int64 // negative: not known
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left >= 0 {
		b.left = max(b.left-int64(n), 0)
	}
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF), b.left > 0:
		b.client.mu.Lock()
		b.client.broken = cutShort(err, 0)
		b.client.mu.Unlock()
	}
	return n, err
}

// submit adds lock tokens to those that the request submits.
func (v *clientRequest) submit(tokens []store.UUID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tokens = append(v.tokens, tokens...)
}

// newRequest returns the request of a method on a name. Of the headers of the
// client's request those that are about the same method hold.
func (f *FileSystem) newRequest(ctx context.Context, method, name string) (*request, error) {
	return requestOf(ctx, f.drive, method, name)
}

func requestOf(ctx context.Context, d *drive, method, name string) (*request, error) {
	v, _ := ctx.Value(clientRequestKey{}).(*clientRequest)
	r := (&http.Request{Method: method, URL: &url.URL{Path: name}, Header: http.Header{}, Body: http.NoBody}).WithContext(ctx)
	if v != nil {
		r.Host, r.TLS = v.host, v.tls
		r.Header.Set("User-Agent", v.header.Get("User-Agent"))
		if v.method == method {
			r.Header, r.URL.RawQuery = v.header.Clone(), v.query
		}
	}
	x, err := d.newRequest(r)
	if err != nil {
		return nil, err
	}
	// A slash at the end says nothing to a file system: x/net copies a file onto
	// the path of a folder with it. A client that PUTs there is mistaken.
	x.at.Slash = x.at.Slash && v != nil && v.method == http.MethodPut
	if v == nil {
		x.script = true
		return x, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	x.tokens = slices.Clone(v.tokens)
	return x, nil
}

// look returns the node of a name, and what the caller is shown of it.
func (f *FileSystem) look(ctx context.Context, name string) (*request, node, *info, error) {
	x, err := f.newRequest(ctx, http.MethodGet, name)
	if err != nil {
		return nil, nil, nil, err
	}
	n, err := x.place()
	if err != nil {
		return nil, nil, nil, err
	}
	about, err := x.statOverlay(ctx, x.at, n)
	return x, n, about, err
}

// Stat describes what is at the name. What the caller may not see is
// fs.ErrNotExist.
func (f *FileSystem) Stat(ctx context.Context, name string) (os.FileInfo, error) {
	_, _, about, err := f.look(ctx, name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return fileInfo{about}, nil
}

// Mkdir makes a folder in Documents/ or a scratch area; the permissions are not
// looked at. Without the folder around it the error is fs.ErrNotExist.
func (f *FileSystem) Mkdir(ctx context.Context, name string, _ os.FileMode) error {
	return f.change(ctx, opMkdir, "MKCOL", name, nil)
}

// RemoveAll deletes a file, or a folder with all that is in it, as DELETE does:
// a case is canceled by it. If nothing is there it returns nil.
func (f *FileSystem) RemoveAll(ctx context.Context, name string) error {
	err := f.change(ctx, "remove", http.MethodDelete, name, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Rename moves a file or folder, as MOVE does: it performs an action if that is
// what a MOVE there does. It replaces a file, and no folder.
func (f *FileSystem) Rename(ctx context.Context, oldName, newName string) error {
	_, _, there, err := f.look(ctx, newName)
	if err == nil && there.dir {
		return pathError("rename", newName, errs.New(errs.Precondition, "There is a folder at the destination already."))
	}
	to, err := dav.ParsePath((&url.URL{Path: newName}).EscapedPath())
	if err != nil {
		return pathError("rename", newName, err)
	}
	return f.change(ctx, "rename", "MOVE", oldName, func(x *request) { x.r.Header.Set("Destination", dav.Href(to.Segments...)) })
}

// change has the drive answer a method that changes something.
func (f *FileSystem) change(ctx context.Context, op, method, name string, prepare func(x *request)) error {
	x, err := f.newRequest(ctx, method, name)
	if err == nil {
		if prepare != nil {
			prepare(x)
		}
		_, err = f.drive.answer(x)
	}
	return pathError(op, name, err)
}

// OpenFile opens a file or folder for reading, or a file to be written as a
// whole, with O_CREATE or O_TRUNC: Close stores what was written. With O_EXCL
// there must be nothing at the name. O_APPEND and writing without O_TRUNC are
// fs.ErrInvalid; the permissions are not looked at.
func (f *FileSystem) OpenFile(ctx context.Context, name string, flag int, _ os.FileMode) (webdav.File, error) {
	if flag&os.O_APPEND != 0 {
		return nil, pathError("open", name, errs.New(errs.BadParameter, "A file is written as a whole."))
	}
	x, n, about, err := f.look(ctx, name)
	switch {
	case flag&os.O_TRUNC != 0 || flag&os.O_CREATE != 0 && errs.Is(err, errs.NotFound):
		return f.create(ctx, name, flag&os.O_EXCL != 0)
	case err == nil && flag&os.O_EXCL != 0:
		return nil, pathError("open", name, errs.New(errs.Precondition, "There is something at this address already."))
	case err != nil:
		return nil, pathError("open", name, err)
	}
	file := &openFile{system: f, x: x, name: name, node: n, about: about}
	v, _ := ctx.Value(clientRequestKey{}).(*clientRequest)
	if about.dir || v != nil && strings.HasPrefix(v.method, "PROP") {
		return file, nil // its content is not read: reading another user's document is audited
	}
	if err := file.load(); err != nil {
		return nil, pathError("open", name, err)
	}
	return file, nil
}

// create returns a file to be written.
func (f *FileSystem) create(ctx context.Context, name string, fresh bool) (webdav.File, error) {
	x, err := f.newRequest(ctx, http.MethodPut, name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	n, err := x.place()
	if err != nil {
		return nil, pathError("open", name, err)
	}
	if _, ok := n.(writer); !ok {
		return nil, pathError("open", name, x.putNowhere(n))
	}
	if err := x.inFolder(ctx); err != nil {
		return nil, pathError("open", name, err)
	}
	if fresh {
		x.r.Header.Set("If-None-Match", "*")
	}
	w := &writtenFile{system: f, x: x, name: name}
	w.about = &info{name: x.at.Name(), modified: x.wall}
	return w, nil
}

// refusal is an error of the drive that also is one of package fs.
type refusal struct {
	error
	is error
}

func (r refusal) Unwrap() []error { return []error{r.error, r.is} }

// opMkdir is the operation that is not for what exists.
const opMkdir = "mkdir"

// pathError returns an error as file systems have it; nil for nil.
func pathError(op, name string, err error) error {
	var is error
	switch kind := errs.KindOf(err); kind {
	case "":
		return nil
	case errs.NotFound, errs.MissingParent:
		// os.IsNotExist, by which x/net goes, sees no wrapped error.
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case errs.Precondition, errs.NameTaken:
		is = fs.ErrExist
	case errs.BadParameter, errs.NotParseable, errs.Invalid, errs.ScenarioBroken, errs.EmptyDocument, errs.NameNotAllowed, errs.MediaType, errs.TooLarge:
		is = fs.ErrInvalid
	case errs.Internal, errs.Unavailable, errs.Full:
		return &fs.PathError{Op: op, Path: name, Err: err}
	default:
		is = fs.ErrPermission
		if kind == errs.Method && op == opMkdir {
			is = fs.ErrExist
		}
	}
	return &fs.PathError{Op: op, Path: name, Err: refusal{err, is}}
}

// webdavProperty returns a property as x/net has it.
func webdavProperty(p dav.Property) (webdav.Property, error) {
	e, err := dav.ParseXML([]byte(p.XML))
	if err != nil {
		return webdav.Property{}, errs.Wrap("read a stored property", err)
	}
	return webdav.Property{XMLName: e.Name, Lang: e.Lang(), InnerXML: []byte(e.InnerXML())}, nil
}
