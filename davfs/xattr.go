package davfs

import (
	"encoding/json"
	"encoding/xml"

	"golang.org/x/net/webdav"

	"flowdrive/errs"
	"flowdrive/label"
)

// XATTRs of cases are WebDAV properties of this namespace, as in the original
// system: "xattr_" and the key (design: labels, section 2).
const (
	xattrSpace  = "http://www.opengroupware.us/oie"
	xattrPrefix = "xattr_"
)

// addXattrs adds the XATTRs of a case to its properties. Their keys are such
// that they are names in XML.
func (i *info) addXattrs(props map[xml.Name]webdav.Property) error {
	if i.caseForm == nil {
		return nil
	}
	var form struct {
		Xattrs label.Dict `json:"xattrDict"`
	}
	if err := json.Unmarshal(i.caseForm, &form); err != nil {
		return errs.Wrap("read the XATTRs of case "+i.name, err)
	}
	for _, x := range form.Xattrs {
		name := xml.Name{Space: xattrSpace, Local: xattrPrefix + x.Key}
		props[name] = webdav.Property{XMLName: name, InnerXML: []byte(escapeXML(x.Value.Text))}
	}
	return nil
}
