package dav

import (
	"encoding/xml"
	"slices"

	"flowdrive/internal/errs"
)

// maxProps bounds how many properties a request may name: each is answered
// for every member.
const maxProps = 256

// Propfind is what a PROPFIND asks for (RFC 4918, section 14.20).
type Propfind struct {
	Form  PropfindForm
	Names []xml.Name // the properties that it names, each once; of AllProps those that it includes
}

// PropfindForm is one of the three forms of a PROPFIND.
type PropfindForm int

// The forms of a PROPFIND.
const (
	AllProps   PropfindForm = iota // all properties, and what Names includes
	PropNames                      // the names of all properties
	NamedProps                     // the properties in Names
)

// ParsePropfind reads the body of a PROPFIND. An empty one asks for all
// properties (section 9.1). Elements that are not known are passed over
// (section 17). Anything else is errs.NotParseable.
func ParsePropfind(body []byte) (*Propfind, error) {
	if len(body) == 0 {
		return &Propfind{Form: AllProps}, nil
	}
	root, err := ParseXML(body)
	if err != nil {
		return nil, err
	}
	if root.Name != (xml.Name{Space: Space, Local: "propfind"}) {
		return nil, notPropfind()
	}
	var parts [4]*Element
	for i, local := range []string{"allprop", "propname", "prop", "include"} {
		if parts[i], err = root.Child(local); err != nil {
			return nil, err
		}
	}
	all, names, named, include := parts[0], parts[1], parts[2], parts[3]
	switch {
	case all != nil && names == nil && named == nil:
		return readWanted(AllProps, include)
	case all != nil, include != nil:
	case names != nil && named == nil:
		return &Propfind{Form: PropNames}, nil
	case named != nil && names == nil:
		return readWanted(NamedProps, named)
	}
	return nil, notPropfind()
}

func notPropfind() error {
	return errs.New(errs.NotParseable, "The body is not a propfind request (RFC 4918, section 14.20): it must ask for prop, propname, or allprop with or without include.")
}

// readWanted reads the names of the properties that an element holds; nil
// holds none.
func readWanted(form PropfindForm, list *Element) (*Propfind, error) {
	w := &Propfind{Form: form}
	if list == nil {
		return w, nil
	}
	for e := range list.Elements() {
		if slices.Contains(w.Names, e.Name) {
			continue
		}
		if len(w.Names) == maxProps {
			return nil, errs.New(errs.NotParseable, "The body names more than %d properties.", maxProps)
		}
		w.Names = append(w.Names, e.Name)
	}
	return w, nil
}

// Dead reports whether properties that clients have set are wanted.
func (w *Propfind) Dead() bool {
	return w.Form != NamedProps || w.Asks(func(n xml.Name) bool { return !IsLive(n) })
}

// Asks reports whether a property that passes the test is asked for by
// its name.
func (w *Propfind) Asks(test func(xml.Name) bool) bool { return slices.ContainsFunc(w.Names, test) }

// DAV reports whether the DAV: property of that name is asked for by it.
func (w *Propfind) DAV(local string) bool {
	return w.Asks(func(n xml.Name) bool { return n == xml.Name{Space: Space, Local: local} })
}
