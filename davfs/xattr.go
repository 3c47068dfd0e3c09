package davfs

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// XATTRs of cases are WebDAV properties of this namespace, in which clients of
// OpenGroupware Coils look for them: "xattr_" and the key
// (docs/contract/labels-attachments.md#2-xattrs). Their keys are such that they
// are names in XML.
const (
	xattrSpace  = "http://www.opengroupware.us/oie"
	xattrPrefix = "xattr_"
)

// caseProps are the properties that a case has of its own: they are read from
// its form when they are asked for.
type caseProps struct {
	form []byte
	dict label.Dict
	read bool
}

// withXattrs adds that what is described is a case.
func (i *info) withXattrs(r *engine.Resource) *info {
	i.ofCase = &caseProps{form: r.Form}
	return i
}

// readXattrs makes the XATTRs of a case ready to be told.
func (i *info) readXattrs() error {
	if i.ofCase == nil || i.ofCase.read {
		return nil
	}
	var form struct {
		Xattrs label.Dict `json:"xattrDict"`
	}
	if err := json.Unmarshal(i.ofCase.form, &form); err != nil {
		return errs.Wrap("read the XATTRs of case "+i.name, err)
	}
	i.ofCase.dict, i.ofCase.read, i.ofCase.form = form.Xattrs, true, nil
	return nil
}

// appendXattrs appends the XATTRs of a case that were read, none for anything
// else.
func (i *info) appendXattrs(dst []dav.TextProperty) []dav.TextProperty {
	if i.ofCase == nil {
		return dst
	}
	for _, x := range i.ofCase.dict {
		dst = append(dst, dav.TextProperty{Key: x.Key, Text: x.Value.Text})
	}
	return dst
}

// isXattr reports whether a property is an XATTR.
func isXattr(name xml.Name) bool {
	return name.Space == xattrSpace && strings.HasPrefix(name.Local, xattrPrefix)
}

// patchXattrs changes XATTRs of a case.
func (s *scope) patchXattrs(ctx context.Context, req engine.Request, ref engine.Ref, changes []dav.PropChange) (failed int, err error) {
	xattrs := make([]engine.XattrChange, len(changes))
	for i, c := range changes {
		key, err := label.NormalizeKey(strings.TrimPrefix(c.Name.Local, xattrPrefix))
		if err != nil {
			return i, errs.New(errs.Invalid, "This is not a valid XATTR: %v.", err)
		}
		xattrs[i] = engine.XattrChange{Key: key, Remove: c.Remove}
		if c.Remove {
			continue
		}
		text, ok := c.Value.Text()
		if !ok {
			return i, errs.New(errs.Invalid, "An XATTR must be a text, without elements.")
		}
		xattrs[i].Text = text
	}
	err = s.engine.Cases.PatchXattrs(ctx, req, ref, xattrs)
	if slices.Contains([]errs.Kind{errs.NotAllowed, errs.ReadOnly, errs.Invalid, errs.Full}, errs.KindOf(err)) {
		return 0, err
	}
	return -1, err
}
