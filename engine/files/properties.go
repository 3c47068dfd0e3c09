package files

import (
	"context"
	"slices"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// The limits of the properties of one document.
const (
	mostProperties     = 256
	mostPropertyBytes  = 64 << 10
	propertiesInMemory = 16 << 20 // of all members of a listing
)

// propertiesOf returns them as they are stored.
func propertiesOf(list []store.Property) store.Properties {
	if len(list) == 0 {
		return ""
	}
	return store.Properties(document.Line(list))
}

// Members asks for the members of a folder. If properties is set, it asks for
// their properties too, unless these are too many.
func Members(properties bool) store.Under { return under(store.Under{Limit: -1}, properties) }

// Tree asks for what is below a folder at any depth, at most limit.
func Tree(limit int, properties bool) store.Under {
	return under(store.Under{Deep: true, Limit: limit}, properties)
}

func under(o store.Under, properties bool) store.Under {
	if properties {
		o.Properties = propertiesInMemory
	}
	return o
}

// Patch is what a client changes of what a document is kept with.
type Patch struct {
	Properties []store.Property // without XML: removed
	Modified   time.Time        // when the client says that it was changed last; zero: as it is
}

// PatchDocument sets and removes properties of the document or folder at the
// path, in order, all of them or none (RFC 4918, section 9.2). If one of them
// fails, failed is its index.
func (e *Files) PatchDocument(ctx context.Context, req change.Request, path change.DocumentPath, p Patch) (failed int, err error) {
	err = e.Store.Update(ctx, func(tx store.Tx) error {
		failed = -1
		at, err := e.PlaceAt(tx, req.By, path)
		if err != nil {
			return err
		}
		if at.Found == nil {
			return change.Absent("document")
		}
		if err := e.CheckRequest(tx.Locks(), req, DocumentVersion(at.Found), at.LockScope(false)); err != nil {
			return err
		}
		if err := e.Writable(req.By, at.Root); err != nil {
			failed = 0
			return err
		}
		before, timed := at.Found.Properties, !p.Modified.IsZero() && !p.Modified.Equal(at.Found.Modified)
		var after store.Properties
		if after, failed, err = patched(before, p.Properties); err != nil || after == before && !timed {
			return err
		}
		if timed {
			if err := tx.Write().Documents().SetModified(at.Found.ID, p.Modified); err != nil {
				return err
			}
		}
		if err := tx.Write().Documents().SetProperties(at.Found.ID, after); err != nil {
			return err
		}
		if err := e.publishDocument(tx, at, at.Found, Changed, req.Now); err != nil {
			return err
		}
		if at.folder != nil { // whose ETag tells that a member was changed
			if err := tx.Write().Documents().TouchFolder(at.folder.ID, req.Now); err != nil {
				return err
			}
		}
		if more := len(after) - len(before); more > 0 {
			if err := e.MakeRoom(tx, at.Found.AuthorID, 0); err != nil {
				failed = slices.IndexFunc(p.Properties, func(c store.Property) bool { return c.XML != "" })
				return err
			}
		}
		return nil
	})
	return failed, err
}

// patched returns the properties after the changes; failed is the change
// after which they are too many or too large.
func patched(before store.Properties, changes []store.Property) (after store.Properties, failed int, err error) {
	list, err := before.List()
	if err != nil {
		return "", -1, err
	}
	for i, c := range changes {
		at := slices.IndexFunc(list, func(p store.Property) bool { return p.Space == c.Space && p.Name == c.Name })
		switch {
		case c.XML == "" && at >= 0:
			list = slices.Delete(list, at, at+1)
		case c.XML == "": // what is not there is removed already
		case at >= 0:
			list[at] = c
		default:
			list = append(list, c)
		}
		if after = propertiesOf(list); len(list) > mostProperties || len(after) > mostPropertyBytes {
			return "", i, errs.New(errs.Full, "A document can have %d properties of %d bytes in all; remove some first.", mostProperties, mostPropertyBytes)
		}
	}
	return after, -1, nil
}
