package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// File is a member of a folder of the drive.
type File struct {
	Document `json:"-"`

	Name     string    `json:"name"`
	Href     string    `json:"href"`
	Folder   bool      `json:"folder"`
	Size     int64     `json:"size"`
	ETag     string    `json:"etag"`
	Type     string    `json:"contentType"`
	Modified time.Time `json:"modified"`
}

// drivePath returns the path of the URL of a place on the drive, which is given from its
// root, with or without a slash before it: "Workflow/Routes".
func drivePath(name string) string {
	name = strings.TrimPrefix(name, "/")
	if name == "dav" || strings.HasPrefix(name, "dav/") {
		name = strings.TrimPrefix(name[3:], "/")
	}
	if name == "" {
		return "/dav/"
	}
	// A path that leads out of the drive would be a request for something else.
	clean := path.Clean("/" + name)
	if strings.HasSuffix(name, "/") && clean != "/" {
		clean += "/"
	}
	return "/dav" + clean
}

// Files returns the members of a folder.
func (c *Client) Files(ctx context.Context, folder string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		where := drivePath(folder)
		where = strings.TrimSuffix(where, "/") + "/"
		body, err := c.propfind(ctx, where)
		if err != nil {
			yield(File{}, err)
			return
		}
		for _, f := range body {
			if f.Href != "" && !yield(f, nil) {
				return
			}
		}
	}
}

// Open returns the content of a file and its size, which is -1 if it is not known.
func (c *Client) Open(ctx context.Context, name string) (content io.ReadCloser, size int64, err error) {
	where := drivePath(name)
	return c.open(ctx, where)
}

func (c *Client) open(ctx context.Context, where string) (content io.ReadCloser, size int64, err error) {
	resp, err := c.send(ctx, request{method: http.MethodGet, path: where}) //nolint:bodyclose // the caller closes it
	if err != nil {
		return nil, 0, err
	}
	return c.counted(resp.Body, resp.ContentLength), resp.ContentLength, nil
}

// Stored is what became of bytes that were stored.
type Stored struct {
	Location string   // the identity of what was stored
	ETag     string   // empty if a GET does not give those bytes back
	Warnings []string // what is allowed and may not be meant
	Secret   string   // what is told this once: an app password, the address of a hook or calendar
	Draft    int64    // the case if it is a draft: it starts once its task "start" is done; else 0
	Lacks    []string // the XATTRs that the draft asks for
}

// Put stores a file. The size is that of the content, or -1 if it is not known. If the
// content is an io.ReadSeeker the request can be repeated. In the folders of the workflow it
// does what the drive does there: a file in Cases/ starts a case.
func (c *Client) Put(ctx context.Context, name string, content io.Reader, size int64) (Stored, error) {
	where := drivePath(name)
	return c.put(ctx, request{path: where, body: c.counting(content, size), size: size})
}

func (c *Client) put(ctx context.Context, r request) (Stored, error) {
	r.method = http.MethodPut
	if strings.HasPrefix(r.path, account) || strings.HasPrefix(r.path, "/dav/Admin/") {
		r.once = true
	}
	body, header, err := c.read(ctx, r.keyed())
	if err != nil {
		return Stored{}, err
	}
	s := Stored{Location: header.Get("Location"), ETag: header.Get("ETag")}
	var said struct {
		Warnings []string       `json:"warnings"`
		Secret   string         `json:"secret"`
		URL      string         `json:"url"`
		Case     int64          `json:"case"`
		XAttrs   map[string]any `json:"xattrDict"`
	}
	if len(body) > 0 && strings.Contains(header.Get("Content-Type"), "json") && json.Unmarshal(body, &said) == nil {
		s.Warnings, s.Secret = said.Warnings, cmp.Or(said.Secret, said.URL)
		if strings.HasSuffix(header.Get("Content-Location"), "/Actions/start.json") { // the task of a draft
			s.Draft, s.Lacks = said.Case, slices.Sorted(maps.Keys(said.XAttrs))
		}
	}
	return s, nil
}

// MakeFolder makes a folder in Documents/.
func (c *Client) MakeFolder(ctx context.Context, name string) error {
	where := drivePath(name)
	return c.do(ctx, request{method: "MKCOL", path: where, once: true})
}

// Move moves or renames a file or folder on the drive. What is there is overwritten.
func (c *Client) Move(ctx context.Context, from, to string) error {
	return c.transfer(ctx, "MOVE", from, to)
}

// Copy copies a file or folder on the drive. What is there is overwritten.
func (c *Client) Copy(ctx context.Context, from, to string) error {
	return c.transfer(ctx, "COPY", from, to)
}

func (c *Client) transfer(ctx context.Context, method, from, to string) error {
	source := drivePath(from)
	target := drivePath(to)
	destination := *c.base
	destination.Path = strings.TrimSuffix(destination.Path, "/") + target
	return c.do(ctx, request{method: method, path: source, header: http.Header{"Destination": {destination.String()}}, once: true})
}

// Delete deletes a file or folder, or does what DELETE does there: it cancels a case.
func (c *Client) Delete(ctx context.Context, name string, query url.Values) error {
	_, err := DeleteKept(ctx, c, name, query)
	return err
}

// DeleteKept does what Delete of the client does. If the disk of the server is full, and what was deleted goes
// on taking room, it returns the folder that keeps it, as a path below /dav/; else "".
func DeleteKept(ctx context.Context, c *Client, name string, query url.Values) (kept string, err error) {
	where := drivePath(name)
	_, header, err := c.read(ctx, request{method: http.MethodDelete, path: where, query: query, once: true})
	if err != nil {
		return "", err
	}
	at, err := url.PathUnescape(header.Get("X-Flowdrive-Kept"))
	if err != nil {
		return "", fmt.Errorf("read where what was deleted is kept: %w", err)
	}
	return strings.TrimPrefix(at, "/dav/"), nil
}

// do sends a request whose answer has nothing to read.
func (c *Client) do(ctx context.Context, r request) error {
	_, _, err := c.read(ctx, r)
	return err
}

// counting calls Progress for what is read. It keeps a seeker a seeker.
func (c *Client) counting(r io.Reader, all int64) io.Reader {
	if c.progress == nil {
		return r
	}
	count := &counter{Reader: r, all: all, tell: c.progress}
	if s, ok := r.(io.ReadSeeker); ok {
		return &seekingCounter{counter: count, seeker: s}
	}
	return count
}

func (c *Client) counted(body io.ReadCloser, all int64) io.ReadCloser {
	if c.progress == nil {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{&counter{Reader: body, all: all, tell: c.progress}, body}
}

type counter struct {
	io.Reader

	done, all int64
	tell      func(done, all int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	c.tell(c.done, c.all)
	return n, err
}

type seekingCounter struct {
	*counter

	seeker io.Seeker
}

func (c *seekingCounter) Seek(offset int64, whence int) (int64, error) {
	at, err := c.seeker.Seek(offset, whence)
	c.done = at
	return at, err
}

// propfind lists the members of a folder.
func (c *Client) propfind(ctx context.Context, where string) (files []File, err error) {
	header := http.Header{"Depth": {"1"}, "Content-Type": {"application/xml"}}
	body, _, err := c.read(ctx, request{method: "PROPFIND", path: where, header: header, body: []byte(propfindBody)})
	if err != nil {
		return nil, err
	}
	files, err = readMultistatus(body, c.base.Path)
	if err != nil {
		return nil, fmt.Errorf("the listing of %s cannot be read: %w", where, err)
	}
	for i, f := range files {
		// The folder itself is a member of the answer.
		if strings.TrimSuffix(f.Href, "/") == strings.TrimSuffix(where, "/") {
			if !f.Folder {
				return nil, errors.New(path.Base(where) + " is a file, not a folder")
			}
			return append(files[:i:i], files[i+1:]...), nil
		}
	}
	return files, nil
}
