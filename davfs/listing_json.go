package davfs

import (
	"net/http"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/mediatype"
)

// prefersJSON reports whether the request asks for JSON rather than for a page, as
// REST clients do. Browsers name text/html, and curl takes anything.
func prefersJSON(header http.Header) bool {
	accept := header["Accept"]
	return mediatype.Quality(accept, "application/json", "application/*") > mediatype.Quality(accept, "text/html", "text/*")
}

// member is a member of a folder, in a listing as JSON.
type member struct {
	Name     string `json:"name"`
	Href     string `json:"href"`
	Folder   bool   `json:"folder"`
	Size     int64  `json:"size,omitempty"`
	ETag     string `json:"etag,omitempty"`
	Type     string `json:"contentType,omitempty"`
	Modified string `json:"modified"`
}

// getFolderJSON answers with a folder as JSON (docs/contract/drive.md#folders-as-json):
// of a collection what .contents has, with its filters, of any other folder a line
// about each member.
func (d *drive) getFolderJSON(w http.ResponseWriter, x *request, n folder) error {
	if c, ok := n.(collection); ok {
		return d.getStream(w, x, hiddenFile{x.scope, c, contentsName})
	}
	if err := x.query.only(); err != nil {
		return err
	}
	if _, err := n.stat(x.r.Context()); err != nil {
		return err
	}
	infos, err := x.heldMembers(x.r.Context(), n)
	if err != nil {
		return err
	}
	members := make([]member, len(infos))
	for i, m := range infos {
		line := listing(x.at, m)
		members[i] = member{
			Name: m.name, Href: line.Href, Folder: m.dir, Size: m.size, ETag: m.etag, Type: m.mediaType,
			Modified: m.modified.UTC().Format(time.RFC3339),
		}
	}
	header := w.Header()
	header.Set("Content-Type", typeJSON)
	header.Set("Cache-Control", "private, no-cache")
	secure(header)
	w.WriteHeader(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return nil
	}
	_, err = w.Write(document.Line(members))
	return err
}
