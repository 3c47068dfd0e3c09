package davfs

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// tokenScheme begins a lock token (RFC 4918, section 6.5; RFC 9562).
const tokenScheme = "urn:uuid:"

// tokenText returns the token as it is written.
func tokenText(token engine.UUID) string {
	return tokenScheme + strings.Trim(token.Braced(), "{}")
}

// parseToken reads a lock token; the zero UUID stands for one that no lock of
// ours has.
func parseToken(text string) engine.UUID {
	const form = len("00000000-0000-0000-0000-000000000000")
	if len(text) != len(tokenScheme)+form || !strings.EqualFold(text[:len(tokenScheme)], tokenScheme) {
		return engine.UUID{}
	}
	if token, ok := engine.ParseUUID(text[len(tokenScheme):]); ok {
		return token
	}
	return engine.UUID{}
}

// readLockToken reads the header of an UNLOCK (RFC 4918, section 10.5). Some
// clients leave the angle brackets out.
func readLockToken(values []string) (token engine.UUID, err error) {
	if len(values) != 1 {
		return token, errs.New(errs.BadParameter, "UNLOCK needs the header Lock-Token, once: the token of the lock in angle brackets.")
	}
	text := strings.TrimSpace(values[0])
	if inner, bracketed := strings.CutPrefix(text, "<"); bracketed {
		if text, bracketed = strings.CutSuffix(inner, ">"); !bracketed {
			return token, errs.New(errs.BadParameter, "The header Lock-Token is %q; the token must stand in angle brackets.", values[0])
		}
	}
	if !strings.Contains(text, ":") || strings.ContainsAny(text, "<> \t") {
		return token, errs.New(errs.BadParameter, "The header Lock-Token is %q, which holds no URI.", values[0])
	}
	return parseToken(text), nil // another server's is of no lock here
}

// readTimeout reads the header Timeout (RFC 4918, section 10.7), of which the
// first type that is known counts. It is a wish: what cannot be read is passed
// over, and 0 stands for no wish.
func readTimeout(values []string) time.Duration {
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

// readLockDepth reads the header Depth of a LOCK: 0, or infinity, which it is
// without the header (RFC 4918, section 9.10.3).
func readLockDepth(h http.Header) (deep bool, err error) {
	switch depth := strings.ToLower(strings.TrimSpace(h.Get("Depth"))); depth {
	case "0":
		return false, nil
	case "", infinite:
		return true, nil
	default:
		return false, errs.New(errs.BadParameter, "The header Depth is %q; that of a LOCK must be 0 or infinity.", depth)
	}
}

// lockInfo is the body of a LOCK (RFC 4918, section 14.11).
type lockInfo struct {
	shared bool
	owner  string // what is in DAV:owner, well-formed by itself
}

// readLockInfo reads the body of a LOCK; nil for an empty one, which asks for
// a lock to last on.
func readLockInfo(body []byte) (*lockInfo, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	root, err := parseXML(body)
	if err != nil {
		return nil, err
	}
	info := &lockInfo{}
	known, err := info.read(root)
	if err == nil && !known {
		err = errs.New(errs.NotParseable, "The body is no lockinfo (RFC 4918, section 14.11): it must have a lockscope, exclusive or shared, and the locktype write.")
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// read reads the element, and reports whether it asks for a lock that is
// known. What else stands in it is passed over (RFC 4918, section 17).
func (l *lockInfo) read(root *xmlElement) (known bool, err error) {
	if root.name.Space != davSpace || root.name.Local != "lockinfo" {
		return false, nil
	}
	inner := func(of, local string) bool {
		if err != nil {
			return false
		}
		var outer, found *xmlElement
		if outer, err = root.child(of); err == nil && outer != nil {
			found, err = outer.child(local)
		}
		return found != nil
	}
	l.shared = inner("lockscope", "shared")
	known = (l.shared || inner("lockscope", "exclusive")) && inner("locktype", "write")
	if err != nil {
		return false, err
	}
	owner, err := root.child("owner")
	if owner != nil {
		l.owner = string(appendInner(nil, owner))
	}
	return known, err
}

// appendInner appends what is in an element, well-formed by itself: each
// element says its namespace anew, so that it needs none of the prefixes
// around it. Of attributes it keeps those without a namespace.
func appendInner(dst []byte, e *xmlElement) []byte {
	for _, item := range e.in {
		inner := item.element
		if inner == nil {
			dst = appendText(dst, item.text)
			continue
		}
		dst = append(append(append(dst, '<'), inner.name.Local...), ` xmlns="`...)
		dst = append(append(dst, escapeAttr(inner.name.Space)...), '"')
		for _, a := range inner.attrs {
			if a.name.Space == "" {
				dst = append(append(append(dst, ' '), a.name.Local...), `="`...)
				dst = append(append(dst, escapeAttr(a.value)...), '"')
			}
		}
		dst = appendInner(append(dst, '>'), inner)
		dst = append(append(append(dst, "</"...), inner.name.Local...), '>')
	}
	return dst
}
