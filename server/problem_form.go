package server

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"

	"flowdrive/internal/document"
)

// problemType begins the URI of a problem's type.
const problemType = "urn:flowdrive:problem:"

// appendJSON appends the problem document of RFC 9457, a member a line and
// the detail first, so that what curl prints begins with what matters.
func (a *answer) appendJSON(dst []byte) []byte {
	dst = append(dst, "{\n  \"detail\": "...)
	dst = document.AppendString(dst, a.detail())
	dst = appendMember(dst, "type")
	dst = document.AppendString(dst, problemType+string(a.err.Kind))
	dst = appendMember(dst, "title")
	dst = document.AppendString(dst, a.title)
	dst = strconv.AppendInt(appendMember(dst, "status"), int64(a.status), 10)
	if a.id != "" {
		dst = document.AppendString(appendMember(dst, "instance"), a.id)
	}
	if len(a.err.Faults) > 0 {
		dst = append(appendMember(dst, "errors"), '[')
		for i := range a.err.Faults {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, "\n    "...), plainJSON(a.err.Faults[i])...)
		}
		dst = append(dst, "\n  ]"...)
	}
	for _, name := range slices.Sorted(maps.Keys(a.err.Extra)) {
		switch name {
		case "detail", "type", "title", "status", "instance", "errors", ExtraCondition:
			continue
		}
		if value := plainJSON(a.err.Extra[name]); value != nil {
			dst = append(appendMember(dst, name), value...)
		}
	}
	return append(dst, "\n}\n"...)
}

func appendMember(dst []byte, name string) []byte {
	dst = append(dst, ",\n  "...)
	return append(document.AppendString(dst, name), ": "...)
}

// plainJSON returns v as JSON without HTML escapes, or nil if it cannot be
// written.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendText appends the detail and a line for every fault, but no fault that
// the detail consists of a second time.
func (a *answer) appendText(dst []byte) []byte {
	dst = append(append(dst, a.detail()...), '\n')
	for _, f := range a.err.Untold() {
		dst = append(append(dst, f.String()...), '\n')
	}
	return dst
}

// appendHTML appends a page for a person who has come here with a browser.
func (a *answer) appendHTML(dst []byte) []byte {
	b := bytes.NewBuffer(dst)
	title := html.EscapeString(a.title)
	b.WriteString(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<title>` + title + ` · Flowdrive</title><style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}</style>` +
		"\n<main><h1>" + title + "</h1>\n<p>" + html.EscapeString(a.detail()) + "</p>\n")
	if faults := a.err.Untold(); len(faults) > 0 {
		b.WriteString("<ul>")
		for _, f := range faults {
			b.WriteString("<li>" + html.EscapeString(f.String()) + "</li>\n")
		}
		b.WriteString("</ul>\n")
	}
	if a.request.Method == "POST" {
		b.WriteString("<p>Nothing was done. Go back in the browser: what you wrote is still there. Then send it again.</p>\n")
	}
	fmt.Fprintf(b, "<p>%d, request %s. <a href=\"/\">To the first page</a></p></main></html>\n", a.status, html.EscapeString(a.id))
	return b.Bytes()
}

// appendXML appends the DAV:error element of RFC 4918, section 14.5.
func (a *answer) appendXML(dst []byte) []byte {
	b := bytes.NewBuffer(dst)
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>` + "\n" + `<D:error xmlns:D="DAV:">`)
	switch condition := a.davCondition(); condition {
	case "":
		b.WriteString("<F:" + string(a.err.Kind) + ` xmlns:F="` + problemType + `"/>`)
	case "lock-token-submitted": // section 16: it must say which resource is locked
		b.WriteString("<D:lock-token-submitted><D:href>")
		_ = xml.EscapeText(b, []byte(a.href()))
		b.WriteString("</D:href></D:lock-token-submitted>")
	default:
		b.WriteString("<D:" + condition + "/>")
	}
	b.WriteString("<D:responsedescription>")
	_ = xml.EscapeText(b, bytes.TrimSuffix(a.appendText(nil), []byte("\n")))
	b.WriteString("</D:responsedescription></D:error>\n")
	return b.Bytes()
}

// davCondition returns the local name of the DAV: condition, "" for none.
func (a *answer) davCondition() string {
	if name, ok := a.err.Extra[ExtraCondition].(string); ok && isName(name) {
		return name
	}
	if a.condition == "lock-token-submitted" && a.request.Method == "LOCK" {
		return "no-conflicting-lock"
	}
	return a.condition
}

// isName reports whether s has only characters that names of conditions have.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

func (a *answer) href() string {
	if href, ok := a.err.Extra[ExtraHref].(string); ok {
		return href
	}
	return a.request.URL.EscapedPath()
}
