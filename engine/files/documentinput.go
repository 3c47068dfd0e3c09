package files

import (
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Documents as the input of cases
// (docs/contract/labels-attachments.md#documents-as-input): read when the case
// is created, so that they can be edited in place between two firings of an
// entry.

// ReadRef resolves the "document" of a schedule entry, as who the entry
// acts as, and returns its path as the store spells it. One that does not
// resolve is a fault at v.
func (e *Files) ReadRef(r store.Reader, as identity.Principal, v document.Value, text string) (string, error) {
	d, path, err := e.Named(r, as, text)
	if err != nil {
		return "", err
	}
	if d == nil {
		v.Fail(errs.CodeNotFound, "there is no document %q that %s may use", text, as.Name)
		return text, nil
	}
	if !as.Scope.Reads(path.String()) {
		v.Fail(errs.CodeNotFound, "%s", as.Scope.Outside())
		return text, nil
	}
	return path.String(), nil
}

// Named returns the document at the path in text, and its path as the
// store spells it, or nil if as may not see it.
func (e *Files) Named(r store.Reader, as identity.Principal, text string) (*store.Document, change.DocumentPath, error) {
	path, err := change.ParseDocumentPath(text)
	if errs.Is(err, errs.NameNotAllowed) {
		return nil, nil, nil // nothing can be there
	}
	if err != nil {
		return nil, nil, err
	}
	at, err := e.PlaceAt(r, as, path)
	if errs.Is(err, errs.NotFound) {
		return nil, nil, nil
	}
	if err != nil || at.Found == nil || at.Found.Folder {
		return nil, nil, err
	}
	return at.Found, at.Path, nil
}

// Input returns the document that a start document names as the input
// of its case, or nil if the caller may not see it. The content is that of the
// moment at which the case is decided. It must not have changed when the case
// is written.
func (e *Files) Input(r store.Reader, req change.Request, v document.Value) (*contents.Content, error) {
	text, ok := v.Str()
	if !ok {
		return nil, nil
	}
	text = change.DecodedPath(text)
	d, path, err := e.Named(r, req.By, text)
	if err != nil {
		return nil, err
	}
	if d == nil {
		v.Fail(errs.CodeNotFound, "there is no document %q that %s may use", text, req.By.Name)
		return nil, nil
	}
	if !req.By.Scope.Reads(path.String()) {
		v.Fail(errs.CodeNotFound, "%s", req.By.Scope.Outside())
		return nil, nil
	}
	c := documentContent(d)
	c.Holds = func(tx store.Tx) error {
		again, _, err := e.Named(tx, req.By, path.String())
		if err == nil && (again == nil || again.ID != d.ID || again.Revision != d.Revision) {
			err = change.ErrStale
		}
		return err
	}
	return c, nil
}

// FiringInput returns what the document of an entry holds at this moment,
// as who the entry acts as.
func (e *Files) FiringInput(tx store.Tx, as identity.Principal, path string) (*contents.Content, error) {
	d, _, err := e.Named(tx, as, path)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errs.New(errs.NotFound, "There is no document %q that %s may use.", path, as.Name)
	}
	return documentContent(d), nil
}

// documentContent returns the document as the input of a case: the same content, and
// the same media type.
func documentContent(d *store.Document) *contents.Content {
	if d.InFile {
		return &contents.Content{Name: d.Name, MediaType: d.MediaType, File: &contents.File{Sum: d.SHA256, Size: d.Size}}
	}
	return &contents.Content{Name: d.Name, MediaType: d.MediaType, Inline: d.Content}
}
