package dav

import (
	"encoding/xml"
	"maps"
	"slices"
	"strings"
)

// Fragment returns the element as XML that is well-formed by itself: with the
// namespaces that it uses, and the language that is said around it (RFC 4918,
// section 4.3). Prefixes stay as they are, since values may hold names.
func (e *Element) Fragment() string {
	uses := map[string]bool{}
	e.collect(uses)
	declared := map[string]string{}
	for scope := e.scope; scope != nil; scope = scope.outer {
		for prefix, space := range scope.prefixes {
			if _, nearer := declared[prefix]; !nearer && prefix != "xml" {
				declared[prefix] = space
			}
		}
	}
	maps.DeleteFunc(declared, func(prefix, space string) bool { return !uses[prefix] || space == "" })
	attrs := e.attrs
	named := slices.ContainsFunc(attrs, func(a xmlAttr) bool { return a.prefix == "xml" && a.name.Local == "lang" })
	if !named && e.scope.lang != "" {
		attrs = append(slices.Clip(attrs), xmlAttr{prefix: "xml", name: xml.Name{Space: xmlSpace, Local: "lang"}, value: e.scope.lang})
	}
	return string(e.appendTo(nil, declared, attrs))
}

// collect notes the prefixes that the element may mean: in its names, and in
// text that looks like them.
func (e *Element) collect(uses map[string]bool) {
	uses[e.prefix] = true
	for _, a := range e.attrs {
		uses[a.prefix] = uses[a.prefix] || a.prefix != ""
		collectNames(a.value, uses)
	}
	for _, item := range e.in {
		if item.element != nil {
			item.element.collect(uses)
		}
		collectNames(item.text, uses)
	}
}

// collectNames notes what stands before colons in a text.
func collectNames(text string, uses map[string]bool) {
	for {
		before, after, found := strings.Cut(text, ":")
		if !found {
			return
		}
		begin := strings.LastIndexFunc(before, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"()[]/@,|", r) })
		if word := before[begin+1:]; word != "" {
			uses[word] = true
		}
		text = after
	}
}

func (e *Element) appendTo(dst []byte, declared map[string]string, attrs []xmlAttr) []byte {
	tag := qualified(e.prefix, e.Name.Local)
	dst = append(append(dst, '<'), tag...)
	for _, prefix := range slices.Sorted(maps.Keys(declared)) {
		name := "xmlns"
		if prefix != "" {
			name += ":" + prefix
		}
		dst = appendAttr(dst, name, declared[prefix])
	}
	for _, a := range attrs {
		dst = appendAttr(dst, qualified(a.prefix, a.name.Local), a.value)
	}
	if len(e.in) == 0 {
		return append(dst, "/>"...)
	}
	dst = append(dst, '>')
	for _, item := range e.in {
		if item.element != nil {
			dst = item.element.appendTo(dst, item.element.scope.prefixes, item.element.attrs)
		} else {
			dst = AppendText(dst, item.text)
		}
	}
	return append(append(append(dst, "</"...), tag...), '>')
}

func qualified(prefix, local string) string {
	if prefix == "" {
		return local
	}
	return prefix + ":" + local
}

func appendAttr(dst []byte, name, value string) []byte {
	dst = append(append(append(dst, ' '), name...), `="`...)
	return append(append(dst, escapeAttr(value)...), '"')
}

// Text returns the text of an element; ok is false if it holds an element.
func (e *Element) Text() (text string, ok bool) {
	var b strings.Builder
	for _, item := range e.in {
		if item.element != nil {
			return "", false
		}
		b.WriteString(item.text)
	}
	return b.String(), true
}

// Lang returns the language of the element, "" if none is said.
func (e *Element) Lang() string {
	for _, a := range e.attrs {
		if a.prefix == "xml" && a.name.Local == "lang" {
			return a.value
		}
	}
	return e.scope.lang
}

// InnerXML returns what is in the element, as XML that needs no prefix that is
// bound around it. Of attributes it keeps those without a namespace.
func (e *Element) InnerXML() string { return string(appendInner(nil, e)) }

// NewElement returns an element of that name and language, which holds inner.
// If inner is not XML that can stand in an element the error is
// errs.NotParseable.
func NewElement(name xml.Name, lang, inner string) (*Element, error) {
	tag, space := name.Local, ""
	switch name.Space {
	case "":
	case xmlSpace:
		tag = "xml:" + tag
	default:
		tag, space = "p:"+tag, ` xmlns:p="`+escapeAttr(name.Space)+`"`
	}
	if lang != "" {
		space += ` xml:lang="` + escapeAttr(lang) + `"`
	}
	return ParseXML([]byte("<" + tag + space + ">" + inner + "</" + tag + ">"))
}
