package dav

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/errs"
)

// tokenScheme begins a lock token (RFC 4918, section 6.5; RFC 9562).
const tokenScheme = "urn:uuid:"

// Token is the UUID of a lock token. The zero Token is of no lock.
type Token [16]byte

// String returns the token as it is written.
func (t Token) String() string {
	return fmt.Sprintf(tokenScheme+"%x-%x-%x-%x-%x", t[:4], t[4:6], t[6:8], t[8:10], t[10:])
}

// ParseToken reads a lock token. It returns the zero Token for a text that is
// not a token of this form: a URI that another server has made, or DAV:no-lock.
func ParseToken(text string) Token {
	const form = "00000000-0000-0000-0000-000000000000"
	if len(text) != len(tokenScheme)+len(form) || !strings.EqualFold(text[:len(tokenScheme)], tokenScheme) {
		return Token{}
	}
	text = text[len(tokenScheme):]
	if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return Token{}
	}
	var t Token
	if _, err := hex.Decode(t[:], []byte(text[:8]+text[9:13]+text[14:18]+text[19:23]+text[24:])); err != nil {
		return Token{}
	}
	return t
}

// ReadLockToken reads the header of an UNLOCK (RFC 4918, section 10.5). Some
// clients leave the angle brackets out.
func ReadLockToken(values []string) (token Token, err error) {
	if len(values) != 1 {
		return token, errs.New(errs.BadParameter, "UNLOCK needs the header Lock-Token, once: the token of the lock in angle brackets.")
	}
	text := strings.TrimSpace(values[0])
	if inner, bracketed := strings.CutPrefix(text, "<"); bracketed {
		if text, bracketed = strings.CutSuffix(inner, ">"); !bracketed {
			return token, errs.New(errs.BadParameter, "The header Lock-Token is %q; the token must be in angle brackets.", values[0])
		}
	}
	if !strings.Contains(text, ":") || strings.ContainsAny(text, "<> \t") {
		return token, errs.New(errs.BadParameter, "The header Lock-Token is %q, which does not contain a URI.", values[0])
	}
	return ParseToken(text), nil // another server's is of no lock here
}

// ReadTimeout reads the header Timeout (RFC 4918, section 10.7), of which the
// first type that is known counts. It is a wish: what cannot be read is passed
// over, and 0 stands for no wish.
func ReadTimeout(values []string) time.Duration {
	for wish := range strings.SplitSeq(strings.Join(values, ","), ",") {
		wish = strings.TrimSpace(wish)
		if strings.EqualFold(wish, "Infinite") {
			return 0
		}
		const unit = "Second-"
		if len(wish) <= len(unit) || !strings.EqualFold(wish[:len(unit)], unit) || !digits(wish[len(unit):]) {
			continue
		}
		seconds, err := strconv.ParseInt(wish[len(unit):], 10, 64)
		const most = 1 << 32
		if err != nil || seconds > most {
			seconds = most
		}
		return max(time.Duration(seconds)*time.Second, time.Second)
	}
	return 0
}

// LockInfo is the body of a LOCK (RFC 4918, section 14.11).
type LockInfo struct {
	Shared bool
	Owner  string // what is in DAV:owner, well-formed by itself
}

// ReadLockInfo reads the body of a LOCK; nil for an empty one, which asks for
// a lock to last on.
func ReadLockInfo(body []byte) (*LockInfo, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	root, err := ParseXML(body)
	if err != nil {
		return nil, err
	}
	info := &LockInfo{}
	known, err := info.read(root)
	if err == nil && !known {
		err = errs.New(errs.NotParseable, "The body is not a lockinfo (RFC 4918, section 14.11): it must have a lockscope, exclusive or shared, and the locktype write.")
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// read reads the element, and reports whether it asks for a lock that is
// known. What else stands in it is passed over (RFC 4918, section 17).
func (l *LockInfo) read(root *Element) (known bool, err error) {
	if root.Name.Space != Space || root.Name.Local != "lockinfo" {
		return false, nil
	}
	inner := func(of, local string) bool {
		if err != nil {
			return false
		}
		var outer, found *Element
		if outer, err = root.Child(of); err == nil && outer != nil {
			found, err = outer.Child(local)
		}
		return found != nil
	}
	l.Shared = inner("lockscope", "shared")
	known = (l.Shared || inner("lockscope", "exclusive")) && inner("locktype", "write")
	if err != nil {
		return false, err
	}
	owner, err := root.Child("owner")
	if owner != nil {
		l.Owner = string(appendInner(nil, owner))
	}
	return known, err
}

// appendInner appends what is in an element, well-formed by itself: each
// element declares its namespace again, so that it needs none of the prefixes
// around it. Of attributes it keeps those without a namespace.
func appendInner(dst []byte, e *Element) []byte {
	for _, item := range e.in {
		inner := item.element
		if inner == nil {
			dst = AppendText(dst, item.text)
			continue
		}
		dst = append(append(append(dst, '<'), inner.Name.Local...), ` xmlns="`...)
		dst = append(append(dst, escapeAttr(inner.Name.Space)...), '"')
		for _, a := range inner.attrs {
			if a.name.Space == "" {
				dst = append(append(append(dst, ' '), a.name.Local...), `="`...)
				dst = append(append(dst, escapeAttr(a.value)...), '"')
			}
		}
		dst = appendInner(append(dst, '>'), inner)
		dst = append(append(append(dst, "</"...), inner.Name.Local...), '>')
	}
	return dst
}

// ActiveLock is a lock as a client is told of it (RFC 4918, section 14.1).
type ActiveLock struct {
	Shared  bool
	Deep    bool          // it covers what is below its root
	Owner   string        // what the client has said of itself: XML
	Timeout time.Duration // until it ends
	Token   Token         // zero: it is not told
	Root    string        // decoded path
}

// AppendActiveLock appends a DAV:activelock; the prefix D must be bound to DAV:
// around it.
func AppendActiveLock(dst []byte, l *ActiveLock) []byte {
	scope, depth := "exclusive", "0"
	if l.Shared {
		scope = "shared"
	}
	if l.Deep {
		depth = Infinity
	}
	dst = append(dst, "<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:"+scope+"/></D:lockscope><D:depth>"+depth+"</D:depth>"...)
	if l.Owner != "" {
		dst = append(dst, "<D:owner>"+l.Owner+"</D:owner>"...)
	}
	dst = fmt.Appendf(dst, "<D:timeout>Second-%d</D:timeout>", int64((l.Timeout+time.Second-1)/time.Second))
	if l.Token != (Token{}) {
		dst = append(dst, "<D:locktoken><D:href>"+l.Token.String()+"</D:href></D:locktoken>"...)
	}
	root := Href(strings.Split(strings.Trim(l.Root, "/"), "/")...)
	dst = AppendText(append(dst, "<D:lockroot><D:href>"...), root)
	return append(dst, "</D:href></D:lockroot></D:activelock>"...)
}

// lockEntries is the value of supportedlock (RFC 4918, section 15.10) of what
// can be locked.
const lockEntries = "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>" +
	"<D:lockentry><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"

// digits reports whether the text is digits and nothing else.
func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
