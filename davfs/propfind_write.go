package davfs

import (
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"flowdrive/engine"
)

// flushAt is how much of an answer is gathered before it is sent.
const flushAt = 32 << 10

// member is a resource of which an answer tells properties.
type member struct {
	*info
	tag   string // of a folder that has none of its own
	quota *engine.Quota
	book  *lockBook // nil: nobody asks for locks
	locks []*engine.Lock
}

// multistatus writes the answer to a PROPFIND (RFC 4918, section 14.16), a
// resource at a time: of the answer it holds no more than it has not sent.
// Everything is in the namespace prefix D, since some clients know no other.
type multistatus struct {
	w       io.Writer
	buf     []byte
	err     error // of w, the first
	sent    int
	windows bool // the answer may have no more than bytesToWindows bytes
	want    *wanted
	tag     string // of folders that have none of their own
	listing bool   // it is about members as well
	xattrs  bool   // XATTRs are wanted
	quota   *engine.Quota
	book    *lockBook
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

func (m *multistatus) begin() {
	m.live = liveProps()
	m.buf = append(make([]byte, 0, flushAt+8<<10), `<?xml version="1.0" encoding="utf-8"?>`+"\n"+`<D:multistatus xmlns:D="DAV:"`...)
	var spaces []string
	if m.xattrs {
		spaces = append(spaces, xattrSpace)
	}
	for _, name := range m.want.names {
		if name.Space != davSpace && name.Space != xmlSpace && name.Space != "" && !slices.Contains(spaces, name.Space) {
			spaces = append(spaces, name.Space)
		}
	}
	prefixes := map[string]string{"": "", davSpace: "D:", xmlSpace: "xml:"}
	for i, space := range spaces {
		prefix := "n" + strconv.Itoa(i)
		prefixes[space] = prefix + ":"
		m.buf = append(append(append(append(m.buf, " xmlns:"...), prefix...), `="`...), escapeAttr(space)...)
		m.buf = append(m.buf, '"')
	}
	m.buf = append(m.buf, '>')
	for _, name := range m.want.names {
		asked := askedProp{name: name, tag: prefixes[name.Space] + name.Local}
		if name.Space == davSpace {
			if i := slices.IndexFunc(m.live, func(p liveProp) bool { return p.name == name.Local }); i >= 0 {
				asked.live = &m.live[i]
			}
		}
		m.asked = append(m.asked, asked)
	}
}

// xattrTag is the prefix of XATTRs, which begin declares first.
const xattrTag = "n0:" + xattrPrefix

// add writes what is asked about a resource. It reports false, and writes
// nothing, where that would be more than the answer may have.
func (m *multistatus) add(href []byte, about *info, locks []*engine.Lock) bool {
	const found = "<D:propstat><D:prop>"
	begin := len(m.buf)
	m.buf = append(append(append(append(m.buf, "<D:response><D:href>"...), href...), "</D:href>"...), found...)
	props := len(m.buf)
	r := &member{info: about, tag: about.etag, quota: m.quota, book: m.book, locks: locks}
	if about.dir && about.etag == "" {
		r.tag = m.tag
	}
	m.missing, m.unread = m.missing[:0], m.unread[:0]
	switch m.want.form {
	case propNames:
		m.appendNames(r)
	case allProps:
		m.appendAll(r)
	case namedProps: // which are all asked for
	}
	for i := range m.asked {
		m.appendAsked(r, &m.asked[i])
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
	if m.windows && m.sent+len(m.buf)+len(multistatusEnd) > bytesToWindows {
		m.buf = m.buf[:begin]
		return false
	}
	if len(m.buf) >= flushAt {
		m.flush()
	}
	return m.err == nil
}

func (m *multistatus) flush() {
	if m.err == nil {
		_, m.err = m.w.Write(m.buf)
	}
	m.sent += len(m.buf)
	m.buf = m.buf[:0]
}

func (m *multistatus) end() error {
	m.buf = append(m.buf, multistatusEnd...)
	m.flush()
	return m.err
}

// appendNames writes the names of the properties that the resource has.
func (m *multistatus) appendNames(r *member) {
	for i := range m.live {
		if p := &m.live[i]; p.has(r) {
			m.buf = appendEmpty(m.buf, "D:"+p.name)
		}
	}
	for _, x := range r.xattrs() {
		m.buf = appendEmpty(m.buf, xattrTag+x.Key)
	}
	for i := range r.dead {
		m.buf = appendForeign(m.buf, xml.Name{Space: r.dead[i].Space, Local: r.dead[i].Name})
	}
}

func (m *multistatus) inAll(p *liveProp) bool { return p.all.in(m.listing, m.windows) }

// appendAll writes what allprop gives.
func (m *multistatus) appendAll(r *member) {
	for i := range m.live {
		if p := &m.live[i]; m.inAll(p) && p.has(r) {
			m.buf = appendLive(m.buf, p, r)
		}
	}
	if m.xattrs {
		for _, x := range r.xattrs() {
			m.buf = appendElement(m.buf, xattrTag+x.Key, x.Value.Text)
		}
	}
	for i := range r.dead {
		m.buf = append(m.buf, r.dead[i].XML...)
	}
}

// appendAsked writes a property that is asked for by its name, unless it is
// in the answer already.
func (m *multistatus) appendAsked(r *member, p *askedProp) {
	switch {
	case p.live != nil && p.live.has(r):
		if m.want.form != allProps || !m.inAll(p.live) {
			m.buf = appendLive(m.buf, p.live, r)
		}
		return
	case p.name.Space == xattrSpace:
		if text, ok := r.xattr(p.name.Local); ok {
			if m.want.form != allProps {
				m.buf = appendElement(m.buf, p.tag, text)
			}
			return
		}
	}
	if i := slices.IndexFunc(r.dead, func(d engine.Property) bool { return d.Space == p.name.Space && d.Name == p.name.Local }); i >= 0 {
		if m.want.form != allProps {
			m.buf = append(m.buf, r.dead[i].XML...)
		}
		return
	}
	if r.unread && p.live == nil {
		m.unread = appendEmpty(m.unread, p.tag)
	} else {
		m.missing = appendEmpty(m.missing, p.tag)
	}
}

func appendLive(dst []byte, p *liveProp, r *member) []byte {
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
	dst = appendText(dst, text)
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
	case davSpace:
		return appendEmpty(dst, "D:"+name.Local)
	case xmlSpace:
		return appendEmpty(dst, "xml:"+name.Local)
	}
	return append(append(append(dst, "<p:"+name.Local+` xmlns:p="`...), escapeAttr(name.Space)...), `"/>`...)
}

// appendText appends a text as it stands in XML. Quotes stay what they are:
// some clients look for ETags with them. What XML cannot hold becomes U+FFFD;
// the ends of lines are references, since a bare one may become another.
func appendText(dst []byte, text string) []byte {
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
	return strings.NewReplacer(`"`, "&quot;", "\t", "&#x9;").Replace(string(appendText(nil, text)))
}
