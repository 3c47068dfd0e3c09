package dav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"flowdrive/internal/errs"
)

// maxXMLDepth bounds how deep elements are nested. Real bodies have a few
// levels.
const maxXMLDepth = 64

// Space is the namespace of WebDAV.
const Space = "DAV:"

const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace" // of the prefix xml
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"        // of the prefix xmlns
)

// Element is an element of a request's body, with what is in it.
type Element struct {
	Name   xml.Name // with the namespace itself
	prefix string   // as it was written
	attrs  []xmlAttr
	scope  *xmlScope
	in     []xmlItem
}

// xmlItem is what an element holds: an element, or text.
type xmlItem struct {
	element *Element
	text    string
}

// xmlAttr is an attribute that declares no namespace.
type xmlAttr struct {
	name   xml.Name
	prefix string
	value  string
}

// xmlScope is what prefixes mean where an element stands, and its language.
type xmlScope struct {
	outer    *xmlScope
	prefixes map[string]string // what the element itself binds; "" is the default
	lang     string
}

// bound returns the namespace of a prefix.
func (s *xmlScope) bound(prefix string) (space string, ok bool) {
	for ; s != nil; s = s.outer {
		if space, ok := s.prefixes[prefix]; ok {
			return space, true
		}
	}
	return "", prefix == ""
}

// Child returns the only element of that DAV: name, nil if there is none. More
// than one is errs.NotParseable.
func (e *Element) Child(local string) (found *Element, err error) {
	for c := range e.Elements() {
		if c.Name != (xml.Name{Space: Space, Local: local}) {
			continue
		}
		if found != nil {
			return nil, errs.New(errs.NotParseable, "The element %s has more than one %s.", e.Name.Local, local)
		}
		found = c
	}
	return found, nil
}

// Elements returns the elements that it holds.
func (e *Element) Elements() func(yield func(*Element) bool) {
	return func(yield func(*Element) bool) {
		for _, item := range e.in {
			if item.element != nil && !yield(item.element) {
				return
			}
		}
	}
}

// ParseXML reads a body as XML with namespaces (Namespaces in XML 1.0). A
// document type is refused (docs/contract/drive.md#limits), so that there are
// no entities but the five of XML itself. The decoder reads raw tokens: what it
// makes of undeclared prefixes and of bindings to nothing is not what the
// standard says, and their spelling is wanted for values that are kept. A body in
// UTF-16 is read as well: XML processors must take it (XML 1.0, section 2.2).
func ParseXML(body []byte) (*Element, error) {
	decoder := xml.NewDecoder(bytes.NewReader(fromUTF16(body)))
	decoder.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		if wide(body) != nil && strings.HasPrefix(strings.ToLower(charset), "utf-16") {
			return input, nil // which fromUTF16 has made UTF-8
		}
		return nil, errors.New("it must be in UTF-8 or UTF-16, not " + charset)
	}
	p := &xmlParser{decoder: decoder, scope: &xmlScope{prefixes: map[string]string{"xml": xmlSpace}}}
	for {
		token, err := p.decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.take(token)
		}
		if err != nil {
			return nil, p.failed(err)
		}
	}
	switch {
	case len(p.open) > 0:
		return nil, p.failed(errors.New("it ends before the end of the element " + p.open[len(p.open)-1].Name.Local))
	case p.root == nil:
		return nil, p.failed(errors.New("it has no element"))
	}
	return p.root, nil
}

type xmlParser struct {
	decoder *xml.Decoder
	scope   *xmlScope
	open    []*Element
	names   []xml.Name // of what is open, as they were written
	root    *Element
}

func (p *xmlParser) failed(err error) error {
	line, column := p.decoder.InputPos()
	text := err.Error()
	if e, ok := errors.AsType[*xml.SyntaxError](err); ok {
		text, line = e.Msg, e.Line
	}
	return errs.New(errs.NotParseable, "The body cannot be read as XML, line %d column %d: %s.", line, column, text)
}

func (p *xmlParser) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		return p.end(t)
	case xml.CharData:
		if len(p.open) > 0 {
			top := p.open[len(p.open)-1]
			top.in = append(top.in, xmlItem{text: string(t)})
		} else if len(bytes.TrimLeft(t, " \t\r\n\ufeff")) > 0 {
			return errors.New("there is text outside of the element")
		}
	case xml.Directive:
		return errors.New("it has a document type declaration; remove that")
	}
	return nil // comments and processing instructions say nothing
}

func (p *xmlParser) start(t xml.StartElement) error {
	switch {
	case len(p.open) == maxXMLDepth:
		return errors.New("it is nested too deeply")
	case len(p.open) == 0 && p.root != nil:
		return errors.New("a second element follows the first")
	}
	scope, err := p.inner(t)
	if err != nil {
		return err
	}
	e := &Element{prefix: t.Name.Space, scope: scope}
	if e.Name, err = scope.expand(t.Name, true); err != nil {
		return err
	}
	for _, a := range t.Attr {
		if declares(a.Name) {
			continue
		}
		name, err := scope.expand(a.Name, false)
		if err != nil {
			return err
		}
		for _, other := range e.attrs {
			if other.name == name {
				return errors.New("an attribute appears twice: " + name.Local)
			}
		}
		e.attrs = append(e.attrs, xmlAttr{name: name, prefix: a.Name.Space, value: a.Value})
	}
	if len(p.open) == 0 {
		p.root = e
	} else {
		top := p.open[len(p.open)-1]
		top.in = append(top.in, xmlItem{element: e})
	}
	p.open, p.names, p.scope = append(p.open, e), append(p.names, t.Name), scope
	return nil
}

func (p *xmlParser) end(t xml.EndElement) error {
	last := len(p.open) - 1
	if last < 0 || p.names[last] != t.Name {
		return errors.New("an element ends that was not begun: " + t.Name.Local)
	}
	p.open, p.names, p.scope = p.open[:last], p.names[:last], p.scope.outer
	return nil
}

// declares reports whether an attribute declares a namespace.
func declares(name xml.Name) bool {
	return name.Space == "xmlns" || name.Space == "" && name.Local == "xmlns"
}

// inner returns the scope of an element that begins.
func (p *xmlParser) inner(t xml.StartElement) (*xmlScope, error) {
	scope := &xmlScope{outer: p.scope, lang: p.scope.lang}
	for _, a := range t.Attr {
		if a.Name.Space == "xml" && a.Name.Local == "lang" {
			scope.lang = a.Value
		}
		if !declares(a.Name) {
			continue
		}
		prefix := a.Name.Local
		if a.Name.Space == "" {
			prefix = ""
		}
		if _, twice := scope.prefixes[prefix]; twice {
			return nil, errors.New("a prefix is bound twice: " + prefix)
		}
		if err := mayBind(prefix, a.Value); err != nil {
			return nil, err
		}
		if scope.prefixes == nil {
			scope.prefixes = map[string]string{}
		}
		scope.prefixes[prefix] = a.Value
	}
	return scope, nil
}

// mayBind says why a prefix cannot be bound to the namespace (Namespaces in
// XML 1.0, section 3).
func mayBind(prefix, space string) error {
	switch {
	case prefix != "" && space == "":
		return errors.New("a prefix is bound to no namespace: " + prefix)
	case prefix == "xmlns", space == xmlnsSpace, (prefix == "xml") != (space == xmlSpace):
		return errors.New("this prefix cannot be bound: " + prefix)
	}
	return nil
}

// expand returns a name with its namespace instead of its prefix. What has no
// prefix has the default one, if it is an element's.
func (s *xmlScope) expand(name xml.Name, element bool) (xml.Name, error) {
	if strings.Contains(name.Local, ":") {
		return xml.Name{}, errors.New("a name has more than one colon, or nothing on one side of it: " + name.Local)
	}
	if name.Space == "" && !element {
		return name, nil
	}
	space, ok := s.bound(name.Space)
	if !ok {
		return xml.Name{}, errors.New("a prefix is not declared: " + name.Space)
	}
	return xml.Name{Space: space, Local: name.Local}, nil
}
