package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
	"flowdrive/store"
)

// XattrChange sets an XATTR of a case to a text, or removes it.
type XattrChange struct {
	Key    string // as cases have it
	Text   string
	Remove bool
}

// PatchXattrs changes XATTRs of a case, in order, all or none: what a PUT of
// its xattrDict would do, with the same rights. Errors: errs.NotFound,
// errs.NotAllowed, errs.ReadOnly for a canceled or archived case.
func (e *Cases) PatchXattrs(ctx context.Context, req Request, ref Ref, changes []XattrChange) error {
	_, err := change.Do(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		row, given, err := e.findCase(r, req.By, ref)
		if err != nil {
			return nil, err
		}
		if row == nil {
			return nil, change.Absent("case")
		}
		next, err := e.readXattrPatch(r, req, loadedRef{ref, row, given}, changes)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) { return e.writePutCase(tx, req, next) }, nil
	})
	return err
}

func (e *Cases) readXattrPatch(r store.Reader, req Request, of loadedRef, changes []XattrChange) (*putCase, error) {
	h, err := e.loadForEdit(r, req, of)
	if err != nil {
		return nil, err
	}
	given := h.given
	dict := h.core.Xattrs
	for _, c := range changes {
		if c.Remove {
			dict = dict.Remove(c.Key)
		} else {
			dict = dict.Set(c.Key, textLike(h.route.Compiled.Xattr(c.Key), dict, c.Key, c.Text))
		}
	}
	ed := &edit{Edit: machine.Edit{Actor: e.rights.Actor(req.By, h.admin)}}
	if !slices.Equal(dict, h.core.Xattrs) {
		ed.Xattrs = &dict
	}
	if err := e.judgeEdit(req, h, ed); err != nil {
		return nil, err
	}
	change, err := e.decideEdit(r, req, h, ed)
	if err != nil {
		return nil, err
	}
	p := &putCase{change: change, given: given, byName: !of.Identity()}
	if given == nil {
		return p, nil
	}
	p.was = given.ETag
	if ed.Xattrs == nil {
		return p, nil
	}
	return p, rewriteSource(req, given, change.row.Form)
}

// rewriteSource replaces the source under a case's name by its form without the
// read-only fields, if the source has XATTRs: otherwise it would still have the
// old ones (docs/contract/drive.md#source-document-and-complete-form).
func rewriteSource(req Request, given *store.GivenName, form []byte) error {
	source, err := parseNamed(Ref{Name: given.Name}, given.Source)
	if err != nil {
		return errs.Wrap("read the source of a case", err)
	}
	if source.Get("xattrDict") == nil {
		return nil
	}
	node, err := document.ParseJSON(form)
	if err != nil {
		return errs.Wrap("read the form of a case", err)
	}
	writable := []string{"route", "title", "contextId", "priority", "roles", "stakeholders", "xattrDict", "links"}
	kept := *node
	kept.Members = slices.DeleteFunc(slices.Clone(node.Members), func(m document.Member) bool {
		return !slices.Contains(writable, m.Key)
	})
	var out bytes.Buffer
	if err := json.Indent(&out, kept.AppendJSON(nil), "", "  "); err != nil {
		return errs.Wrap("write the source of a case", err)
	}
	out.WriteByte('\n')
	setSource(given, out.Bytes(), req.Now)
	return nil
}

// textLike returns a text as the value of an XATTR. A property has no type. The
// text becomes a number or boolean if it can be read as one, and if the route
// declares that type, or declares none and the XATTR had that type before.
func textLike(declared *route.Xattr, dict label.Dict, key, text string) label.Value {
	as := label.Text(text)
	n, err := document.ParseJSON([]byte(text))
	if err != nil {
		return as
	}
	other, ok := label.ValueOf(n)
	switch was, _ := dict.Get(key); {
	case ok && declared != nil && !declared.Fits(as), ok && declared == nil && was.Kind == other.Kind:
		return other
	}
	return as
}
