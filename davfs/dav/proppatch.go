package dav

import (
	"encoding/xml"
	"fmt"
	"slices"

	"flowdrive/internal/errs"
)

// PropChange sets a property, or removes it.
type PropChange struct {
	Name   xml.Name
	Remove bool
	Value  *Element // the whole property
}

// ParseProppatch reads the body of a PROPPATCH (RFC 4918, section 14.19): what
// it sets and removes, in order. What cannot be read, changes nothing, or names
// too many properties, is errs.NotParseable.
func ParseProppatch(body []byte) ([]PropChange, error) {
	root, err := ParseXML(body)
	if err != nil {
		return nil, err
	}
	refuse := func(why string) error {
		return errs.New(errs.NotParseable, "The body is not a propertyupdate (RFC 4918, section 14.19): %s.", why)
	}
	if root.Name != (xml.Name{Space: Space, Local: "propertyupdate"}) {
		return nil, refuse("it is another element")
	}
	var out []PropChange
	for step := range root.Elements() {
		set := step.Name == xml.Name{Space: Space, Local: "set"}
		if !set && step.Name != (xml.Name{Space: Space, Local: "remove"}) {
			continue // what is not known is passed over (section 17)
		}
		prop, err := step.Child("prop")
		if err != nil {
			return nil, err
		}
		if prop == nil {
			return nil, refuse("what it sets and removes must be in prop")
		}
		for e := range prop.Elements() {
			if len(out) == maxProps {
				return nil, refuse(fmt.Sprintf("it names more than %d properties", maxProps))
			}
			out = append(out, PropChange{Name: e.Name, Remove: !set, Value: e})
		}
	}
	if len(out) == 0 {
		return nil, refuse("it must set or remove a property")
	}
	return out, nil
}

// PropResult is what became of a change of a property.
type PropResult struct {
	Status      int    // of HTTP
	Condition   string // the DAV: condition, "" for none
	Description string // for people, "" for none
}

// AppendPropResults appends the answer to a PROPPATCH of the resource at the
// address href: the properties by what became of them, in the order of changes.
func AppendPropResults(dst []byte, href string, changes []PropChange, results []PropResult) []byte {
	dst = append(dst, `<?xml version="1.0" encoding="utf-8"?>`+"\n"+`<D:multistatus xmlns:D="DAV:"><D:response><D:href>`...)
	dst = append(AppendText(dst, href), "</D:href>"...)
	for done := make([]bool, len(changes)); ; {
		first := slices.Index(done, false)
		if first < 0 {
			break
		}
		dst = append(dst, "<D:propstat><D:prop>"...)
		var names []xml.Name
		for i, c := range changes {
			if done[i] || results[i] != results[first] {
				continue
			}
			done[i] = true
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
				dst = appendForeign(dst, c.Name)
			}
		}
		dst = append(results[first].append(append(dst, "</D:prop>"...)), "</D:propstat>"...)
	}
	return append(append(dst, "</D:response>"...), multistatusEnd...)
}

func (r PropResult) append(dst []byte) []byte {
	dst = fmt.Appendf(dst, "<D:status>HTTP/1.1 %d %s</D:status>", r.Status, statusText(r.Status))
	if r.Condition != "" {
		dst = append(dst, "<D:error><D:"+r.Condition+"/></D:error>"...)
	}
	if r.Description != "" {
		dst = append(AppendText(append(dst, "<D:responsedescription>"...), r.Description), "</D:responsedescription>"...)
	}
	return dst
}

// statusText returns the words of the statuses that a change of a property has.
func statusText(status int) string {
	switch status {
	case 200:
		return "OK"
	case 403:
		return "Forbidden"
	case 404:
		return "Not Found"
	case 409:
		return "Conflict"
	case 422:
		return "Unprocessable Entity"
	case 423:
		return "Locked"
	case 424:
		return "Failed Dependency"
	case 507:
		return "Insufficient Storage"
	}
	return "Refused"
}

// The namespaces of the properties in which systems keep times and flags of
// their own files.
const (
	microsoftSpace = "urn:schemas-microsoft-com:"
	appleSpace     = "http://www.apple.com/webdav_fs/props/"
)

// IsTimestamp reports whether a property is of those that Windows and macOS
// set with everything they store.
func IsTimestamp(name xml.Name) bool {
	return name.Space == microsoftSpace || name.Space == appleSpace
}
