package davfs

import (
	"bytes"
	"io"
	"strings"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/store"
)

// The media types of what the drive itself writes.
const (
	typeJSON = "application/json"
	typeYAML = "application/yaml"
	typeText = "text/plain; charset=utf-8"
	typeHTML = "text/html; charset=utf-8"
	typeXML  = "application/xml; charset=utf-8"

	typeCalendar = "text/calendar; charset=utf-8"
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
	lockKey     store.LockKey // the key of its locks, "" if it cannot be locked
	ofCase      *caseProps    // of a case: its XATTRs are properties

	stored store.Properties // of a document, by clients
	unread bool             // it has properties that were too many to read
	dead   []dav.Property   // the stored properties, once they were asked for
}

// version returns the version for conditions.
func (i *info) version() engine.Version {
	return engine.Version{Exists: true, ETag: i.etag, Definition: i.definition, Modified: i.modified}
}

// byName is the order of infos by name.
func byName(a, b *info) int { return strings.Compare(a.name, b.name) }

// folderInfo describes a folder.
func folderInfo(name string, modified time.Time) *info {
	return &info{name: name, dir: true, modified: modified}
}

// formInfo describes the complete form of a resource.
func formInfo(name string, r *engine.Resource) *info {
	return &info{
		name: name, size: int64(len(r.Form)), etag: r.FormETag, definition: r.Definition,
		mediaType: typeJSON, created: r.Created, modified: r.Modified, lockKey: r.Lock,
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
		mediaType: mediaType, created: r.Created, modified: r.Modified, lockKey: r.Lock,
	}
}

// inMemory is a content that is held whole.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

func contentOf(data []byte) io.ReadSeekCloser { return inMemory{bytes.NewReader(data)} }
