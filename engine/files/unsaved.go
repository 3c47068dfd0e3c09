package files

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// Unsaved is what a lock, a condition or a limit refused to somebody who may write a document.
type Unsaved struct {
	MediaType string // "": by the name
	Body      []byte // nil if it is not known
	Reasons   string
}

// KeepUnsaved keeps what was refused among the versions of the folder, with a text that
// says why. It keeps nothing if the caller may not write there, or if the name is that
// of a temporary file. Errors: errs.NotFound for the root, errs.Full.
func (e *Files) KeepUnsaved(ctx context.Context, req change.Request, path change.DocumentPath, u Unsaved) error {
	if u.MediaType == "" {
		u.MediaType = mediatype.Of(path[len(path)-1])
	}
	if u.Body == nil {
		return e.Update(ctx, func(tx store.Tx) error { return e.keepUnsaved(tx, req, path, nil, u.Reasons) })
	}
	content, err := e.contents.Read(u.MediaType, bytes.NewReader(u.Body), false)
	if err != nil {
		return err
	}
	return e.contents.StoringContent(ctx, content, func() error {
		return e.Update(ctx, func(tx store.Tx) error { return e.keepUnsaved(tx, req, path, content, u.Reasons) })
	})
}

func (e *Files) keepUnsaved(tx store.Tx, req change.Request, path change.DocumentPath, c *contents.Content, reasons string) error {
	at, err := e.PlaceAt(tx, req.By, path)
	if err != nil {
		return err
	}
	if at.Placeable() != nil || e.Writable(req.By, at.Root) != nil || e.retention.Lasts <= 0 || at.temporary() {
		return nil //nolint:nilerr // who may not write there is told so already
	}
	name := unsavedName(at.Path[len(at.Path)-1])
	if same, err := e.keptAlready(tx, at, name, c); err != nil || same {
		return err
	}
	texts := map[string]*contents.Content{name + ".txt": {MediaType: "text/plain; charset=utf-8", Inline: []byte(reasons)}}
	if c != nil {
		texts[name] = c
	}
	for _, name := range []string{name, name + ".txt"} {
		if texts[name] == nil {
			continue
		}
		if err := e.keepText(tx, req, at, name, texts[name]); err != nil {
			return err
		}
	}
	return e.makeRoom(tx, req.By.ID)
}

// keptAlready reports whether the content was refused before: programs send it again
// and again.
func (e *Files) keptAlready(r store.Reader, at *Place, name string, c *contents.Content) (bool, error) {
	if c == nil {
		name += ".txt"
	}
	all, err := r.Documents().Versions().Of(at.versions(), name)
	return slices.ContainsFunc(all, func(v store.Version) bool { return c == nil || v.SHA256 == c.Sum() }), err
}

// unsavedName is the name of what was not saved under the name.
func unsavedName(name string) string {
	const mark = " (not saved)"
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i] + mark + name[i:]
	}
	return name + mark
}

// keepText keeps a content as a version of a document of that name in the folder of the
// place, which was never there.
func (e *Files) keepText(tx store.Tx, req change.Request, at *Place, name string, c *contents.Content) error {
	d := &store.Document{
		Name: name, AuthorID: req.By.ID, Revision: 1, MediaType: c.MediaType, Size: c.Size(), SHA256: c.Sum(),
		InFile: c.InFile(), Content: c.Inline, Created: req.Now, Modified: req.Now,
	}
	if err := tx.Write().Documents().Insert(d); err != nil {
		return err
	}
	never := &Place{Root: at.Root, Path: append(at.Path[:len(at.Path)-1:len(at.Path)-1], name), Found: d}
	v, err := e.newVersion(tx, req, never)
	if err == nil {
		err = tx.Write().Documents().Versions().Keep(v)
	}
	if err == nil {
		err = e.bound(tx, req, never)
	}
	return err
}
