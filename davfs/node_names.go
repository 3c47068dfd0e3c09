package davfs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/internal/document"
)

// namesFile is .ls of a folder that is not a folder of resources, as Status/ and Actions/:
// a line about each of its members, so that a program finds .ls in every folder of the
// workflow (docs/contract/drive.md#hidden-keys).
type namesFile struct {
	*scope
	folder folder
	path   []string // of the folder
}

// namesOf returns .ls of a folder that has none of its own, nil for other names.
func (s *scope) namesOf(dir folder, path []string, name string) node {
	if !same(name, lsName) || !scratchArea(path) {
		return nil
	}
	switch dir.(type) {
	case collection, sideFileNode:
		return nil
	}
	return namesFile{s, dir, path}
}

// nameLine is what .ls says of a member that is not a resource with an id.
type nameLine struct {
	Name     string  `json:"name"`
	ID       *int64  `json:"id"`
	Href     string  `json:"href"`
	ETag     *string `json:"etag"`
	Modified string  `json:"modified"`
}

func (n namesFile) load(ctx context.Context) (*info, []byte, error) {
	about, err := n.folder.stat(ctx)
	if err != nil {
		return nil, nil, err
	}
	members, err := n.folder.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	data := []byte("[")
	for i, m := range members {
		line := nameLine{Name: m.name, Modified: m.modified.UTC().Format(time.RFC3339)}
		line.Href = dav.Href(append(n.path[:len(n.path):len(n.path)], m.name)...)
		if m.dir {
			line.Href = dav.FolderHref(line.Href)
		} else {
			line.ETag = &m.etag
		}
		if i > 0 {
			data = append(data, ',')
		}
		data = append(append(data, '\n'), trimLine(document.Line(line))...)
	}
	if len(members) > 0 {
		data = append(data, '\n')
	}
	data = append(data, "]\n"...)
	sum := sha256.Sum256(data)
	return &info{
		name: lsName, size: int64(len(data)), etag: fmt.Sprintf("%q", fmt.Sprintf("%x", sum[:16])), mediaType: typeJSON, created: about.created, modified: about.modified,
	}, data, nil
}

// trimLine returns a line without its end.
func trimLine(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

func (n namesFile) stat(ctx context.Context) (*info, error) {
	about, _, err := n.load(ctx)
	return about, err
}

func (n namesFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	about, data, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return about, contentOf(data), nil
}
