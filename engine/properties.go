package engine

import (
	"context"
	"encoding/json"
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// Property is a dead property: what a client has stored with a document for
// itself (RFC 4918, section 4). The store knows nothing of what it means.
type Property struct {
	Space string `json:"s"`
	Name  string `json:"n"`
	XML   string `json:"x"` // the whole element, well-formed by itself; "" in a change: remove it
}

// Properties are the dead properties of a document, as they are stored: a
// JSON array of Property, "" for none.
type Properties string

// The limits of the properties of one document.
const (
	mostProperties     = 256
	mostPropertyBytes  = 64 << 10
	propertiesInMemory = 16 << 20 // of all members of a listing
)

// List returns the properties, in the order in which they were set first.
func (p Properties) List() ([]Property, error) {
	if p == "" {
		return nil, nil
	}
	var out []Property
	err := json.Unmarshal([]byte(p), &out)
	return out, errs.Wrap("read the properties of a document", err)
}

// propertiesOf returns them as they are stored.
func propertiesOf(list []Property) Properties {
	if len(list) == 0 {
		return ""
	}
	return Properties(document.Line(list))
}

// Members asks for what is in a folder, and where properties is set for the
// properties of that, as far as they are not too many.
func Members(properties bool) Under { return under(Under{Limit: -1}, properties) }

// Tree asks for what is below a folder at any depth, at most limit.
func Tree(limit int, properties bool) Under {
	return under(Under{Deep: true, Limit: limit}, properties)
}

func under(o Under, properties bool) Under {
	if properties {
		o.Properties = propertiesInMemory
	}
	return o
}

// PatchDocument sets and removes properties of the document or folder at the
// path, in order, all of them or none (RFC 4918, section 9.2). Where it is one
// of them that fails, failed says which.
func (e *Engine) PatchDocument(ctx context.Context, req Request, path DocumentPath, changes []Property) (failed int, err error) {
	err = e.store.Update(ctx, func(tx Tx) error {
		failed = -1
		at, err := e.documentAt(tx, req.By, path)
		if err != nil {
			return err
		}
		if at.found == nil {
			return absent("document")
		}
		if err := e.admit(tx, req, documentVersion(at.found), at.scene(false)); err != nil {
			return err
		}
		if err := e.writable(req.By, at.root); err != nil {
			failed = 0
			return err
		}
		before := at.found.Properties
		var after Properties
		if after, failed, err = patched(before, changes); err != nil || after == before {
			return err
		}
		if err := tx.SetProperties(at.found.ID, after); err != nil {
			return err
		}
		e.tellDocument(tx, at, at.found, ChangeChanged, req.Now)
		if at.folder != nil { // whose ETag tells that a member was changed
			if err := tx.TouchFolder(at.folder.ID, req.Now); err != nil {
				return err
			}
		}
		if more := len(after) - len(before); more > 0 {
			if err := e.checkQuota(tx, at.found.AuthorID, 0); err != nil {
				failed = slices.IndexFunc(changes, func(c Property) bool { return c.XML != "" })
				return err
			}
		}
		return nil
	})
	return failed, err
}

// patched returns the properties after the changes; failed is the change
// after which they are too many or too large.
func patched(before Properties, changes []Property) (after Properties, failed int, err error) {
	list, err := before.List()
	if err != nil {
		return "", -1, err
	}
	for i, c := range changes {
		at := slices.IndexFunc(list, func(p Property) bool { return p.Space == c.Space && p.Name == c.Name })
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
