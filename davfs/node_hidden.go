package davfs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/document"
)

// pageSize is how many resources a stream asks for at once at most: no transaction
// is held while they are sent.
const pageSize = 500

// special returns what every collection has besides its members: the hidden
// keys. It is nil for any other name.
func special(s *scope, c collection, name string) node {
	switch {
	case same(name, contentsName):
		return hiddenFile{s, c, contentsName}
	case same(name, lsName):
		return hiddenFile{s, c, lsName}
	}
	return nil
}

// The hidden keys: they resolve and are never listed.
const (
	contentsName = ".contents" // the complete forms
	lsName       = ".ls"       // a line about each
)

// The folders that a folder of the workflow has besides.
const (
	historyName  = ".history" // what was overwritten and deleted
	rejectedName = "Rejected" // what was refused
)

// hiddenFile is a hidden key of a collection.
type hiddenFile struct {
	*scope
	folder collection
	name   string
}

func (n hiddenFile) parameters() []string { return append(n.folder.filters(), "after", "limit") }

// stat counts what GET would give: the size is not stored.
func (n hiddenFile) stat(ctx context.Context) (*info, error) {
	write, _, err := n.start(ctx, nil)
	if err != nil {
		return nil, err
	}
	sum, size := sha256.New(), &counter{}
	if err := write(ctx, io.MultiWriter(sum, size)); err != nil {
		return nil, err
	}
	return &info{
		name: n.name, size: size.n, etag: fmt.Sprintf("\"%x\"", sum.Sum(nil)[:16]),
		mediaType: typeJSON, created: n.since, modified: n.since,
	}, nil
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// start fetches the first page, or the one that the limit asks for, with one
// resource more to know whether another follows.
func (n hiddenFile) start(ctx context.Context, q query) (stream, string, error) {
	f, err := q.filter()
	if err != nil {
		return nil, "", err
	}
	if err := n.hold(ctx, streamWeight); err != nil {
		return nil, "", err
	}
	limit := f.Limit
	if f.Limit = firstPage; limit > 0 {
		f.Limit = limit + 1
	}
	page, more, err := n.part(ctx, f)
	if err != nil {
		return nil, "", err
	}
	if bytes := formsOf(page); bytes > streamWeight/2 { // of a list that is not read in parts
		if err := n.hold(ctx, 2*bytes); err != nil {
			return nil, "", err
		}
	}
	if limit == 0 {
		return func(ctx context.Context, w io.Writer) error { return n.writeAll(ctx, w, f, page, more) }, "", nil
	}
	next := ""
	if page = page[:min(len(page), limit)]; more {
		next = q.following(page[len(page)-1].Seq)
	}
	return func(_ context.Context, w io.Writer) error { return n.array(w).write(page).end() }, next, nil
}

// The pages of a stream: the first is small, and each is at most twice as long as the one
// before, and ends when its resources have that many bytes.
const (
	firstPage = 16
	pageBytes = 1 << 20
)

// part returns resources that the filter selects, and whether there may be more.
func (n hiddenFile) part(ctx context.Context, f engine.Filter) (page []engine.Resource, more bool, err error) {
	left := pageBytes
	f.Each = func(r *engine.Resource) (enough bool) {
		left -= len(r.Form)
		return left <= 0
	}
	page, err = n.folder.page(ctx, f)
	return page, len(page) > 0 && (len(page) >= f.Limit || left <= 0), err
}

// nextPage returns how many resources the page after one with that limit has.
func nextPage(page []engine.Resource, limit int) int {
	largest := 1
	for i := range page {
		largest = max(largest, len(page[i].Form))
	}
	return max(1, min(pageSize, 2*limit, pageBytes/largest))
}

// writeAll writes the page and all that follow.
func (n hiddenFile) writeAll(ctx context.Context, w io.Writer, f engine.Filter, page []engine.Resource, more bool) error {
	array := n.array(w)
	for array.write(page); array.err == nil && more; array.write(page) {
		f.After, f.Limit = page[len(page)-1].Seq, nextPage(page, f.Limit)
		var err error
		if page, more, err = n.part(ctx, f); err != nil {
			return err
		}
	}
	return array.end()
}

func (n hiddenFile) array(w io.Writer) *arrayWriter {
	item := func(dst []byte, r *engine.Resource) []byte { return append(dst, r.Form...) }
	if n.name == lsName {
		item = n.appendLine
	}
	return &arrayWriter{w: w, item: item}
}

// arrayWriter writes resources as a JSON array, an item a line.
type arrayWriter struct {
	w    io.Writer
	item func(dst []byte, r *engine.Resource) []byte
	some bool
	buf  []byte
	err  error // the first
}

func (a *arrayWriter) write(page []engine.Resource) *arrayWriter {
	for i := range page {
		a.buf = append(a.buf[:0], "[\n"...)
		if a.some {
			a.buf = append(a.buf[:0], ",\n"...)
		}
		a.some = true
		a.send(a.item(a.buf, &page[i]))
	}
	return a
}

func (a *arrayWriter) send(p []byte) {
	if a.buf = p; a.err == nil {
		_, a.err = a.w.Write(p)
	}
}

func (a *arrayWriter) end() error {
	if a.some {
		a.send([]byte("\n]\n"))
	} else {
		a.send([]byte("[]\n"))
	}
	return a.err
}

// homeOf returns the segments of the folder in which a resource is found: not
// every collection has all of its own in one.
func (n hiddenFile) homeOf(r *engine.Resource) []string {
	if spread, ok := n.folder.(interface {
		homeOf(r *engine.Resource) []string
	}); ok {
		return spread.homeOf(r)
	}
	return n.folder.home()
}

// appendLine appends what .ls says of a resource.
func (n hiddenFile) appendLine(dst []byte, r *engine.Resource) []byte {
	about := n.folder.listed(r)
	dst = document.AppendString(append(dst, `{"name":`...), about.name)
	dst = append(dst, `,"id":`...)
	switch n.folder.(type) {
	case scheduleFolder, attachFolder, caseAttachments, worklistFolder:
		dst = document.AppendString(dst, r.Name)
	default:
		dst = strconv.AppendInt(dst, r.Seq, 10)
	}
	dst = document.AppendString(append(dst, `,"href":`...), dav.Href(append(n.homeOf(r), about.name)...))
	dst = document.AppendString(append(dst, `,"etag":`...), about.etag)
	dst = document.AppendString(append(dst, `,"modified":`...), about.modified.UTC().Format(time.RFC3339))
	return append(dst, '}')
}
