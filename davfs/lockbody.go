package davfs

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/errs"
)

// tokenScheme begins a lock token (RFC 4918, section 6.5; RFC 9562).
const tokenScheme = "urn:uuid:"

// tokenText returns the token as it is written.
func tokenText(token engine.UUID) string {
	return tokenScheme + strings.Trim(token.Braced(), "{}")
}

// parseToken reads a lock token; ok is false for one that no lock of ours has.
func parseToken(text string) (token engine.UUID, ok bool) {
	const form = len("00000000-0000-0000-0000-000000000000")
	if len(text) != len(tokenScheme)+form || !strings.EqualFold(text[:len(tokenScheme)], tokenScheme) {
		return engine.UUID{}, false
	}
	return engine.ParseUUID(text[len(tokenScheme):])
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
	token, _ = parseToken(text) // another server's is of no lock here
	return token, nil
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
	owner  string // the inner XML of DAV:owner, well-formed by itself
}

// readLockInfo reads the body of a LOCK; nil for an empty one, which asks for
// a lock to last on.
func readLockInfo(body []byte) (*lockInfo, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	p := &lockInfoParser{decoder: xml.NewDecoder(bytes.NewReader(body))}
	if err := p.read(); err != nil {
		return nil, errs.New(errs.NotParseable, "The body is no lockinfo (RFC 4918, section 14.11): %v.", err)
	}
	return &p.info, nil
}

// lockInfoParser reads a lockinfo element by element.
type lockInfoParser struct {
	decoder      *xml.Decoder
	info         lockInfo
	scope, write bool
	elements     int
}

// mostElements bounds a lockinfo; real ones have six.
const mostElements = 256

func (p *lockInfoParser) token() (xml.Token, error) {
	t, err := p.decoder.Token()
	switch t := t.(type) {
	case xml.Directive:
		return nil, errors.New("it has a document type declaration; send it without")
	case xml.StartElement:
		if p.elements++; p.elements > mostElements {
			return nil, fmt.Errorf("it has more than %d elements", mostElements)
		}
		for _, a := range t.Attr {
			if a.Name.Space == "xmlns" && a.Value == "" {
				return nil, fmt.Errorf("the prefix %q is bound to no namespace", a.Name.Local)
			}
		}
	}
	return t, err
}

func davName(local string) xml.Name { return xml.Name{Space: davSpace, Local: local} }

func (p *lockInfoParser) read() error {
	root, err := p.start()
	if err != nil {
		return err
	}
	if root.Name != davName("lockinfo") {
		return fmt.Errorf("it begins with %q", root.Name.Local)
	}
	if err := p.members(p.member); err != nil {
		return err
	}
	for { // nothing but blanks and comments may follow
		t, err := p.token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if _, ok := t.(xml.StartElement); ok {
			return errors.New("something follows the element")
		}
	}
	if !p.scope || !p.write {
		return errors.New("it must have a lockscope, exclusive or shared, and the locktype write")
	}
	return nil
}

// start reads up to the first element.
func (p *lockInfoParser) start() (xml.StartElement, error) {
	for {
		t, err := p.token()
		if err != nil {
			return xml.StartElement{}, err
		}
		if e, ok := t.(xml.StartElement); ok {
			return e, nil
		}
	}
}

// members calls f for each element in the one that has begun; f reads it to
// its end.
func (p *lockInfoParser) members(f func(xml.StartElement) error) error {
	for {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := f(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// skip reads an element to its end.
func (p *lockInfoParser) skip(xml.StartElement) error { return p.members(p.skip) }

func (p *lockInfoParser) member(e xml.StartElement) error {
	switch e.Name {
	case davName("lockscope"):
		return p.members(func(scope xml.StartElement) error {
			switch scope.Name {
			case davName("shared"):
				p.info.shared, p.scope = true, true
			case davName("exclusive"):
				p.scope = true
			}
			return p.skip(scope)
		})
	case davName("locktype"):
		return p.members(func(kind xml.StartElement) error {
			p.write = p.write || kind.Name == davName("write")
			return p.skip(kind)
		})
	case davName("owner"):
		return p.owner()
	}
	return p.skip(e) // what is not known is passed over (RFC 4918, section 17)
}

// owner copies what stands in the owner element. Each element declares its
// namespace anew, so that the copy needs none of the prefixes around it.
func (p *lockInfoParser) owner() error {
	var out bytes.Buffer
	for depth := 0; ; {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			fmt.Fprintf(&out, "<%s xmlns=\"", t.Name.Local)
			_ = xml.EscapeText(&out, []byte(t.Name.Space)) // into memory
			out.WriteString("\">")
		case xml.EndElement:
			if depth--; depth < 0 {
				p.info.owner = out.String()
				return nil
			}
			fmt.Fprintf(&out, "</%s>", t.Name.Local)
		case xml.CharData:
			_ = xml.EscapeText(&out, t)
		}
	}
}
