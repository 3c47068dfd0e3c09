package davfs

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/net/webdav"

	"flowdrive/engine"
)

// The media types of what the drive itself writes.
const (
	typeJSON = "application/json"
	typeYAML = "application/yaml"
	typeText = "text/plain; charset=utf-8"
	typeHTML = "text/html; charset=utf-8"
)

// info is what a listing, a PROPFIND and the head of a GET say about a node.
// Size and ETag are those of the bytes that GET gives.
type info struct {
	name        string
	dir         bool
	size        int64
	etag        string // quoted; "" for folders and streams
	definition  string // see engine.Version
	mediaType   string
	disposition string // Content-Disposition; "": by the media type
	created     time.Time
	modified    time.Time
	caseForm    []byte // of a case: its XATTRs are properties
}

var (
	_ fs.FileInfo         = (*info)(nil)
	_ webdav.ETager       = (*info)(nil)
	_ webdav.ContentTyper = (*info)(nil)
)

// Name returns the last segment of the path under which it is listed.
func (i *info) Name() string { return i.name }

// Size returns the length of what GET gives, in bytes.
func (i *info) Size() int64 { return i.size }

// Mode tells folders and files apart; rights are not told by it.
func (i *info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// ModTime returns when it was changed last.
func (i *info) ModTime() time.Time { return i.modified }

// IsDir reports whether it is a folder.
func (i *info) IsDir() bool { return i.dir }

// Sys returns nil: there is nothing below.
func (i *info) Sys() any { return nil }

// ETag returns the entity tag that GET answers, for PROPFIND.
func (i *info) ETag(context.Context) (string, error) { return escapeXML(i.etag), nil }

// ContentType returns the media type for PROPFIND, which writes it into XML
// as it is: a type that a client gave may hold anything.
func (i *info) ContentType(context.Context) (string, error) { return escapeXML(i.mediaType), nil }

// escapeXML escapes what cannot stand in text. Quotes can, and some clients
// look for ETags with them.
func escapeXML(s string) string {
	if !strings.ContainsAny(s, "<>&") && !strings.ContainsFunc(s, unwritable) {
		return s
	}
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}

// version returns what a condition judges.
func (i *info) version() engine.Version {
	return engine.Version{Exists: true, ETag: i.etag, Definition: i.definition, Modified: i.modified}
}

// folderInfo describes a folder.
func folderInfo(name string, modified time.Time) *info {
	return &info{name: name, dir: true, modified: modified}
}

// ofCase adds that what is described is a case.
func (i *info) ofCase(r *engine.Resource) *info {
	i.caseForm = r.Form
	return i
}

// formInfo describes the complete form of a resource.
func formInfo(name string, r *engine.Resource) *info {
	return &info{
		name: name, size: int64(len(r.Form)), etag: r.FormETag, definition: r.Definition,
		mediaType: typeJSON, created: r.Created, modified: r.Modified,
	}
}

// sourceInfo describes what was PUT under a resource's name.
func sourceInfo(name, mediaType string, r *engine.Resource) *info {
	size := r.SourceSize
	if r.Source != nil {
		size = int64(len(r.Source))
	}
	return &info{
		name: name, size: size, etag: r.SourceETag, definition: r.Definition,
		mediaType: mediaType, created: r.Created, modified: r.Modified,
	}
}

// inMemory is a content that is held whole.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

func contentOf(data []byte) io.ReadSeekCloser { return inMemory{bytes.NewReader(data)} }
