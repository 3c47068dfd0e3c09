package dav

import (
	"net/url"
	"slices"
	"strings"

	"flowdrive/internal/errs"
)

// maxIfLists bounds an If header: each list about another resource is a
// look-up.
const maxIfLists = 32

// ifList is a list of an If header: it matches if all its terms do.
type ifList struct {
	tag     *Path // the resource it is about; nil for the request's
	terms   []ifTerm
	settled bool // it is about another resource and was judged already
	matched bool
}

// ifTerm is a condition of a list: a state token or an entity tag.
type ifTerm struct {
	not   bool
	token string // "" for an entity tag
	lock  Token  // of the token; zero for one that no lock has, "DAV:no-lock" for instance
	etag  string
}

// matches judges the list: a token matches if a lock of it covers the
// resource.
func (l *ifList) matches(v Version) bool {
	if l.settled {
		return l.matched
	}
	return !slices.ContainsFunc(l.terms, func(t ifTerm) bool {
		matches := strongly(t.etag, v)
		if t.token != "" {
			matches = t.lock != Token{} && slices.Contains(v.Tokens, t.lock)
		}
		return matches == t.not
	})
}

// Tokens returns the lock tokens that stand anywhere in the If header: to name
// one is to submit it (RFC 4918, section 10.4.1).
func (c *Conditions) Tokens() []Token {
	var out []Token
	for i := range c.lists {
		for _, t := range c.lists[i].terms {
			if t.lock != (Token{}) && !slices.Contains(out, t.lock) {
				out = append(out, t.lock)
			}
		}
	}
	return out
}

// SettleElsewhere judges the lists of the If header that are about other
// resources than the request's (RFC 4918, section 10.4.2), so that Check needs
// to know that one only. here reports whether a path is the request's; version
// returns what is stored at another path. Its error is returned as it is.
func (c *Conditions) SettleElsewhere(here func(Path) bool, version func(Path) (Version, error)) error {
	for i := range c.lists {
		list := &c.lists[i]
		if list.tag == nil || here(*list.tag) {
			continue
		}
		there, err := version(*list.tag)
		if err != nil {
			return err
		}
		list.settled, list.matched = true, list.matches(there)
	}
	return nil
}

// parseIf reads the value of an If header (RFC 4918, section 10.4.2): lists
// without tag, or lists that follow tags, not both.
func parseIf(text string) ([]ifList, error) {
	p := ifParser{rest: text}
	lists := p.lists()
	if p.fault != "" {
		return nil, errs.New(errs.BadParameter, "The header If cannot be read: %s.", p.fault)
	}
	return lists, nil
}

// ifParser reads an If header from left to right; fault is the first thing
// that is wrong with it.
type ifParser struct {
	rest  string
	fault string
}

func (p *ifParser) fail(fault string) {
	if p.fault == "" {
		p.fault = fault
	}
	p.rest = ""
}

// take reports whether the text comes next, after blanks, and takes it.
func (p *ifParser) take(text string) bool {
	p.rest = strings.TrimLeft(p.rest, " \t")
	rest, found := strings.CutPrefix(p.rest, text)
	if found {
		p.rest = rest
	}
	return found
}

// until takes what stands before the end mark, and the mark.
func (p *ifParser) until(end string) string {
	text, rest, found := strings.Cut(p.rest, end)
	if !found {
		p.fail("there is no " + end)
		return ""
	}
	p.rest = rest
	return text
}

func (p *ifParser) lists() []ifList {
	var out []ifList
	var tag *Path
	tagged, pending := false, false
	for p.take(""); p.rest != ""; p.take("") {
		switch {
		case p.take("<"):
			if pending || len(out) > 0 && !tagged {
				p.fail("a tag is where a list must be")
				break
			}
			tag, tagged, pending = p.tag(), true, true
		case p.take("("):
			if len(out) == maxIfLists {
				p.fail("it has too many lists")
				break
			}
			out = append(out, ifList{tag: tag, terms: p.terms()})
			pending = false
		default:
			p.fail("a list in parentheses is expected at " + firstOf(p.rest))
		}
	}
	if pending {
		p.fail("no list follows a tag")
	}
	return out
}

// tag reads a resource tag. Its host is not looked at: behind a proxy the
// server does not know by what name it was called.
func (p *ifParser) tag() *Path {
	u, err := url.Parse(p.until(">"))
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		p.fail("a tag must be an absolute path or URL")
		return nil
	}
	a, err := ParsePath(u.EscapedPath())
	if err != nil {
		p.fail("a tag has a path that cannot be read")
		return nil
	}
	return &a
}

func (p *ifParser) terms() []ifTerm {
	var out []ifTerm
	for {
		if p.take(")") {
			if len(out) == 0 {
				p.fail("a list is empty")
			}
			return out
		}
		t := ifTerm{not: p.takeNot()}
		switch {
		case p.take("<"):
			if t.token = p.until(">"); t.token == "" {
				p.fail("a state token is empty")
			}
			t.lock = ParseToken(t.token)
		case p.take("["):
			t.etag = p.entityTag()
		default:
			p.fail("a token or ETag is expected at " + firstOf(p.rest))
		}
		if p.fault != "" {
			return nil
		}
		out = append(out, t)
	}
}

func (p *ifParser) takeNot() bool {
	p.take("")
	if len(p.rest) < 3 || !strings.EqualFold(p.rest[:3], "Not") {
		return false
	}
	p.rest = p.rest[3:]
	return true
}

func (p *ifParser) entityTag() string {
	p.take("")
	tag, rest, ok := cutTag(p.rest)
	if !ok {
		p.fail("an ETag must be in double quotes")
		return ""
	}
	if p.rest = rest; !p.take("]") {
		p.fail("there is no ] after an ETag")
	}
	return tag
}

// firstOf shows the place at which a text could not be read.
func firstOf(rest string) string {
	if rest == "" {
		return "its end"
	}
	r := []rune(rest)
	return "“" + string(r[:min(len(r), 10)]) + "”"
}
