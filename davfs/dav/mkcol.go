package dav

import "encoding/xml"

// MakesFolder reports whether a MKCOL with the body makes a plain folder: the body is
// no mkcol element (RFC 5689), or one that sets only the type of a folder.
func MakesFolder(body []byte) bool {
	root, err := ParseXML(body)
	if err != nil || root.Name != (xml.Name{Space: Space, Local: "mkcol"}) {
		return true
	}
	for set := range root.Elements() {
		for prop := range set.Elements() {
			for p := range prop.Elements() {
				if p.Name != (xml.Name{Space: Space, Local: resourceType}) {
					return false
				}
				for kind := range p.Elements() {
					if kind.Name != (xml.Name{Space: Space, Local: "collection"}) {
						return false
					}
				}
			}
		}
	}
	return true
}
