package dav

import (
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// flushAt is how much of an answer is gathered before it is sent.
const flushAt = 32 << 10

// Resource is what an answer tells of a file or folder.
type Resource struct {
	Name      string
	Folder    bool
	Size      int64
	ETag      string // "" if it has none
	MediaType string
	Created   time.Time // zero: not told
	Modified  time.Time

	Lockable bool
	Locks    []ActiveLock
	Quota    *Quota // for a PROPFIND that names its properties

	Texts  []TextProperty
	Dead   []Property
	Unread bool // there are dead properties, which are too many to be told
}

// Quota is how much a user has stored and may still store, in bytes (RFC 4331).
type Quota struct{ Available, Used int64 }

// Property is a property that clients have set.
type Property struct {
	Space, Name string
	XML         string // the whole element, well-formed by itself
}

// TextProperty is a property in Multistatus.TextSpace, whose local name is
// Multistatus.TextPrefix and Key.
type TextProperty struct{ Key, Text string }

// Multistatus writes the answer to a PROPFIND (RFC 4918, section 14.16), a
// resource at a time: of the answer it holds no more than it has not sent.
// Everything is in the namespace prefix D, since some clients know no other.
// The fields are set before Begin.
type Multistatus struct {
	To      io.Writer
	Want    *Propfind
	Listing bool // it is about members as well
	Minimal bool // what a resource does not have is not told (RFC 8144, section 2.1)

	// Windows adds to a listing what Windows shows without naming it.
	Windows  bool
	MaxBytes int // of the answer; 0: any number

	TextSpace, TextPrefix string // of text properties
	Texts                 bool   // they are asked for

	buf     []byte
	err     error // of To, the first
	sent    int
	live    []liveProp
	asked   []askedProp
	missing []byte // of one resource, to be told after what it has
	unread  []byte // of the same, what is too much to be told of so many
}

// askedProp is a property that the request names.
type askedProp struct {
	name xml.Name
	live *liveProp // nil: it is none
	tag  string    // with its prefix
}

const multistatusEnd = "</D:multistatus>\n"

// Begin writes what stands before the first resource.
func (m *Multistatus) Begin() {
	m.live = liveProps()
	m.buf = append(make([]byte, 0, flushAt+8<<10), `<?xml version="1.0" encoding="utf-8"?>`+"\n"+`<D:multistatus xmlns:D="DAV:"`...)
	var spaces []string
	if m.Texts {
		spaces = append(spaces, m.TextSpace)
	}
	for _, name := range m.Want.Names {
		if name.Space != Space && name.Space != xmlSpace && name.Space != "" && !slices.Contains(spaces, name.Space) {
			spaces = append(spaces, name.Space)
		}
	}
	prefixes := map[string]string{"": "", Space: "D:", xmlSpace: "xml:"}
	for i, space := range spaces {
		prefix := "n" + strconv.Itoa(i)
		prefixes[space] = prefix + ":"
		m.buf = append(append(append(append(m.buf, " xmlns:"...), prefix...), `="`...), escapeAttr(space)...)
		m.buf = append(m.buf, '"')
	}
	m.buf = append(m.buf, '>')
	for _, name := range m.Want.Names {
		asked := askedProp{name: name, tag: prefixes[name.Space] + name.Local}
		if name.Space == Space {
			if i := slices.IndexFunc(m.live, func(p liveProp) bool { return p.name == name.Local }); i >= 0 {
				asked.live = &m.live[i]
			}
		}
		m.asked = append(m.asked, asked)
	}
}

// textTag returns the tag of a text property; Begin declares its namespace
// first.
func (m *Multistatus) textTag(key string) string { return "n0:" + m.TextPrefix + key }

// Add writes what is asked about a resource, whose address href has as XML. It
// reports false if there is no room for more, or To cannot be written to; of a
// resource for which there is no room it writes nothing.
func (m *Multistatus) Add(href []byte, r *Resource) bool {
	const found = "<D:propstat><D:prop>"
	begin := len(m.buf)
	m.buf = append(append(append(append(m.buf, "<D:response><D:href>"...), href...), "</D:href>"...), found...)
	props := len(m.buf)
	m.missing, m.unread = m.missing[:0], m.unread[:0]
	switch m.Want.Form {
	case PropNames:
		m.appendNames(r)
	case AllProps:
		m.appendAll(r)
	case NamedProps: // which are all asked for
	}
	for i := range m.asked {
		m.appendAsked(r, &m.asked[i])
	}
	if m.Minimal {
		m.missing = m.missing[:0]
	}
	if len(m.buf) == props && len(m.missing)+len(m.unread) > 0 {
		m.buf = m.buf[:props-len(found)]
	} else {
		m.buf = append(m.buf, "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>"...)
	}
	if len(m.missing) > 0 {
		m.buf = append(append(m.buf, found...), m.missing...)
		m.buf = append(m.buf, "</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>"...)
	}
	if len(m.unread) > 0 {
		m.buf = append(append(m.buf, found...), m.unread...)
		m.buf = append(m.buf, "</D:prop><D:status>HTTP/1.1 507 Insufficient Storage</D:status></D:propstat>"...)
	}
	m.buf = append(m.buf, "</D:response>"...)
	if m.MaxBytes > 0 && m.sent+len(m.buf)+len(multistatusEnd) > m.MaxBytes {
		m.buf = m.buf[:begin]
		return false
	}
	if len(m.buf) >= flushAt {
		m.flush()
	}
	return m.err == nil
}

func (m *Multistatus) flush() {
	if m.err == nil {
		_, m.err = m.To.Write(m.buf)
	}
	m.sent += len(m.buf)
	m.buf = m.buf[:0]
}

// End writes what stands after the last resource. It returns the first error of
// To.
func (m *Multistatus) End() error {
	m.buf = append(m.buf, multistatusEnd...)
	m.flush()
	return m.err
}

// appendNames writes the names of the properties that the resource has.
func (m *Multistatus) appendNames(r *Resource) {
	for i := range m.live {
		if p := &m.live[i]; p.has(r) {
			m.buf = appendEmpty(m.buf, "D:"+p.name)
		}
	}
	for i := range r.Texts {
		m.buf = appendEmpty(m.buf, m.textTag(r.Texts[i].Key))
	}
	for i := range r.Dead {
		m.buf = appendForeign(m.buf, xml.Name{Space: r.Dead[i].Space, Local: r.Dead[i].Name})
	}
}

// inAll reports whether the property stands in an answer to allprop.
func (m *Multistatus) inAll(p *liveProp) bool {
	switch p.all {
	case always:
		return true
	case alone:
		return !m.Listing
	case shown:
		return !m.Listing || m.Windows
	case named:
	}
	return false
}

// appendAll writes what allprop gives.
func (m *Multistatus) appendAll(r *Resource) {
	for i := range m.live {
		if p := &m.live[i]; m.inAll(p) && p.has(r) {
			m.buf = appendLive(m.buf, p, r)
		}
	}
	if m.Texts {
		for i := range r.Texts {
			m.buf = appendElement(m.buf, m.textTag(r.Texts[i].Key), r.Texts[i].Text)
		}
	}
	for i := range r.Dead {
		m.buf = append(m.buf, r.Dead[i].XML...)
	}
}

// appendAsked writes a property that is asked for by its name, unless it is
// in the answer already.
func (m *Multistatus) appendAsked(r *Resource, p *askedProp) {
	switch {
	case p.live != nil && p.live.has(r):
		if m.Want.Form != AllProps || !m.inAll(p.live) {
			m.buf = appendLive(m.buf, p.live, r)
		}
		return
	case p.name.Space == m.TextSpace && m.TextSpace != "":
		if text, ok := m.text(r, p.name.Local); ok {
			if m.Want.Form != AllProps {
				m.buf = appendElement(m.buf, p.tag, text)
			}
			return
		}
	}
	if i := slices.IndexFunc(r.Dead, func(d Property) bool { return d.Space == p.name.Space && d.Name == p.name.Local }); i >= 0 {
		if m.Want.Form != AllProps {
			m.buf = append(m.buf, r.Dead[i].XML...)
		}
		return
	}
	if r.Unread && p.live == nil {
		m.unread = appendEmpty(m.unread, p.tag)
	} else {
		m.missing = appendEmpty(m.missing, p.tag)
	}
}

// text returns the text property of that local name.
func (m *Multistatus) text(r *Resource, local string) (text string, ok bool) {
	key, ok := strings.CutPrefix(local, m.TextPrefix)
	if !ok {
		return "", false
	}
	i := slices.IndexFunc(r.Texts, func(p TextProperty) bool { return p.Key == key })
	if i < 0 {
		return "", false
	}
	return r.Texts[i].Text, true
}

func appendLive(dst []byte, p *liveProp, r *Resource) []byte {
	dst = append(append(append(dst, "<D:"...), p.name...), '>')
	begin := len(dst)
	if dst = p.value(dst, r); len(dst) == begin {
		return append(dst[:begin-1], "/>"...)
	}
	return append(append(append(dst, "</D:"...), p.name...), '>')
}

func appendElement(dst []byte, tag, text string) []byte {
	if text == "" {
		return appendEmpty(dst, tag)
	}
	dst = append(append(append(dst, '<'), tag...), '>')
	dst = AppendText(dst, text)
	return append(append(append(dst, "</"...), tag...), '>')
}

func appendEmpty(dst []byte, tag string) []byte {
	return append(append(append(dst, '<'), tag...), "/>"...)
}

// appendForeign appends an empty element that declares its own namespace.
func appendForeign(dst []byte, name xml.Name) []byte {
	switch name.Space {
	case "":
		return appendEmpty(dst, name.Local)
	case Space:
		return appendEmpty(dst, "D:"+name.Local)
	case xmlSpace:
		return appendEmpty(dst, "xml:"+name.Local)
	}
	return append(append(append(dst, "<p:"+name.Local+` xmlns:p="`...), escapeAttr(name.Space)...), `"/>`...)
}

// AppendText appends a text as it stands in XML. Quotes stay what they are:
// some clients look for ETags with them. What XML cannot hold becomes U+FFFD;
// the ends of lines are references, since a bare one may become another.
func AppendText(dst []byte, text string) []byte {
	for i, r := range text {
		switch {
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case r == '\r':
			dst = append(dst, "&#xD;"...)
		case r == '\n':
			dst = append(dst, "&#xA;"...)
		case r < ' ' && r != '\t', r == 0xFFFE, r == 0xFFFF:
			dst = append(dst, "\uFFFD"...)
		case r < utf8.RuneSelf:
			dst = append(dst, text[i])
		default:
			dst = utf8.AppendRune(dst, r) // U+FFFD for what is not UTF-8
		}
	}
	return dst
}

// escapeAttr returns a text as it stands in an attribute with double quotes.
func escapeAttr(text string) string {
	return strings.NewReplacer(`"`, "&quot;", "\t", "&#x9;").Replace(string(AppendText(nil, text)))
}
