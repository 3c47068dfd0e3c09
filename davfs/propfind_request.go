package davfs

import (
	"encoding/xml"
	"slices"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// mostProps bounds how many properties a request may name: each is answered
// for every member.
const mostProps = 256

const davSpace = "DAV:"

// wanted is what a PROPFIND asks for (RFC 4918, section 14.20).
type wanted struct {
	form  wantedForm
	names []xml.Name // the properties that it names, each once; of allProps those that it includes
}

type wantedForm int

const (
	allProps wantedForm = iota
	propNames
	namedProps
)

// parsePropfind reads the body of a PROPFIND. None at all asks for all
// properties (section 9.1). Elements that are not known are passed over
// (section 17).
func parsePropfind(body []byte) (*wanted, error) {
	if len(body) == 0 {
		return &wanted{form: allProps}, nil
	}
	root, err := parseXML(body)
	if err != nil {
		return nil, err
	}
	if root.name != (xml.Name{Space: davSpace, Local: "propfind"}) {
		return nil, noPropfind()
	}
	var parts [4]*xmlElement
	for i, local := range []string{"allprop", "propname", "prop", "include"} {
		if parts[i], err = root.child(local); err != nil {
			return nil, err
		}
	}
	all, names, named, include := parts[0], parts[1], parts[2], parts[3]
	switch {
	case all != nil && names == nil && named == nil:
		return readWanted(allProps, include)
	case all != nil, include != nil:
	case names != nil && named == nil:
		return &wanted{form: propNames}, nil
	case named != nil && names == nil:
		return readWanted(namedProps, named)
	}
	return nil, noPropfind()
}

func noPropfind() error {
	return errs.New(errs.NotParseable, "The body is no propfind request (RFC 4918, section 14.20): it must ask for prop, propname, or allprop with or without include.")
}

// readWanted reads the names of the properties that an element holds; nil
// holds none.
func readWanted(form wantedForm, list *xmlElement) (*wanted, error) {
	w := &wanted{form: form}
	if list == nil {
		return w, nil
	}
	for e := range list.elements() {
		if slices.Contains(w.names, e.name) {
			continue
		}
		if len(w.names) == mostProps {
			return nil, errs.New(errs.NotParseable, "The body names more than %d properties.", mostProps)
		}
		w.names = append(w.names, e.name)
	}
	return w, nil
}

// dead reports whether properties that clients have set are wanted.
func (w *wanted) dead() bool {
	return w.form != namedProps || w.asks(func(n xml.Name) bool { return !isLive(n) })
}

// under says what is wanted beside what is at the path.
func (w *wanted) under(depth string) *engine.Under {
	switch depth {
	case "1":
		return new(engine.Members(w.dead()))
	case infinite:
		return new(engine.Tree(maxTree, w.dead()))
	}
	return nil
}

// asks reports whether a property that the test holds for is asked for by
// its name.
func (w *wanted) asks(test func(xml.Name) bool) bool { return slices.ContainsFunc(w.names, test) }

// dav reports whether the DAV: property of that name is asked for by it.
func (w *wanted) dav(local string) bool {
	return w.asks(func(n xml.Name) bool { return n == xml.Name{Space: davSpace, Local: local} })
}
