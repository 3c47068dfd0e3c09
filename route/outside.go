package route

import (
	"net/url"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route/expr"
)

// The verbs of steps that reach beyond the server. They run from the outbox
// after the commit, and hold no case up
// (docs/contract/routes.md#reaching-outside).
const (
	StepMail Verb = "mail"
	StepHTTP Verb = "http"
	StepExec Verb = "exec"
	StepCall Verb = "call"
)

// Outside is what a step asks of the world beyond the server: one of its
// pointers is set, the one of the step's verb.
type Outside struct {
	Mail *Mail
	HTTP *HTTPCall
	Exec *Command
	Call *Callback
	Into string // label of the message that the answer becomes, "" for none

	Retry *Retry // nil: as the verb has it by itself
}

// Mail is a mail to people, and to addresses that the route names.
type Mail struct {
	To        []Recipient
	Addresses []string
	Secrets   []string // names of secrets with further addresses
	Subject   Value
	Text      Value
	// TextSecret is the name of the secret that is the text, "" for Text.
	TextSecret string
}

// HTTPCall is a request to a service.
type HTTPCall struct {
	URL string // its host is literal; behind it there may be labels
	// URLSecret is the name of the secret that is the address, "" for URL.
	URLSecret string
	Method    string
	Headers   []Header
	Body      Payload
	From      string // label of the message that is the body, "" for none
	Secret    string // name of the secret that signs it, "" for none
}

// Header is a header of a request.
type Header struct {
	Name   string
	Value  Value
	Secret string // name of the secret that is the value, "" for Value
}

// Command is a command that an administrator allowed by its name.
type Command struct {
	Name string
	Args []Value
	From string // label of the message that is its input, "" for none
}

// Callback is a function that the program which embeds the engine has
// registered.
type Callback struct {
	Name  string
	Value Payload
}

// Payload is JSON that a step hands over. In its texts there may be labels,
// and what an object {cel: …} stands for, it or any within, is what the
// expression yields.
type Payload struct {
	JSON  *document.Node                   // nil: none
	Exprs map[*document.Node]*expr.Program // of those objects
}

// Given reports whether there is one.
func (p Payload) Given() bool { return p.JSON != nil }

// ReachKind is the kind of something outside that a route names.
type ReachKind string

// What a route can name that is outside.
const (
	ReachURL      ReachKind = "url"
	ReachAddress  ReachKind = "address"
	ReachCommand  ReachKind = "command"
	ReachCallback ReachKind = "callback"

	// Secrets, by what they are for.
	ReachSecret     ReachKind = "secret"      // signs a request
	ReachSecretURL  ReachKind = "secret url"  // is the address of a request
	ReachSecretMail ReachKind = "secret mail" // is the address of a mail
	ReachSecretText ReachKind = "secret text" // is a header
	ReachSecretBody ReachKind = "secret body" // is the text of a mail
)

// Reach is something outside that a route names.
type Reach struct {
	Kind    ReachKind
	Name    string
	Pointer string
	Line    int
	Column  int
}

// Reaches returns what the document names that is outside, in its order. The
// caller checks that it is allowed.
func (r *Route) Reaches() []Reach { return r.reaches }

// ReachesOf returns the same of a document that may have faults.
func ReachesOf(name string, node *document.Node) []Reach {
	if len(tooMany(node)) > 0 {
		return nil
	}
	c := compiler{route: &Route{Name: name}, node: node}
	c.read()
	return c.route.reaches
}

func (c *compiler) reach(kind ReachKind, name string, v document.Value) {
	c.route.reaches = append(c.route.reaches, Reach{Kind: kind, Name: name, Pointer: v.Pointer, Line: v.Node.Line, Column: v.Node.Column})
}

// outside reads a step that reaches beyond the server.
func (c *compiler) outside(verb Verb, v document.Value) *Outside {
	o := &Outside{}
	c.outsides = append(c.outsides, outsideStep{verb, v})
	o.Into, _ = str(v.Get("into"))
	o.Retry = c.retry(verb, v.Get("retry"))
	switch verb {
	case StepMail:
		o.Mail = c.mail(v)
	case StepHTTP:
		o.HTTP = c.httpCall(v)
	case StepExec:
		o.Exec = c.command(v)
	default:
		o.Call = &Callback{Value: c.payload(v.Get("value"))}
		if name := v.Get("name"); isKind(name, document.String) {
			o.Call.Name = name.Node.Text
			c.reach(ReachCallback, o.Call.Name, name)
		}
	}
	return o
}

// payload reads JSON that a step hands over.
func (c *compiler) payload(v document.Value) Payload {
	p := Payload{JSON: v.Node}
	if v.Node != nil {
		c.expressions(v, &p)
	}
	return p
}

// expressions reads the expressions of a payload.
func (c *compiler) expressions(v document.Value, p *Payload) {
	switch {
	case v.Node.Kind == document.String:
		c.useText(v)
	case v.Node.Kind == document.List:
		for i := range v.Node.Items {
			c.expressions(v.Item(i), p)
		}
	case v.Node.Kind != document.Object:
	case len(v.Node.Members) == 1 && isKind(v.Get("cel"), document.String):
		if p.Exprs == nil {
			p.Exprs = map[*document.Node]*expr.Program{}
		}
		p.Exprs[v.Node] = c.expression(v.Get("cel"), expr.Any)
	default:
		for i := range v.Node.Members {
			_, member := v.Member(i)
			c.expressions(member, p)
		}
	}
}

func (c *compiler) mail(v document.Value) *Mail {
	m := &Mail{Subject: c.value(v.Get("subject"))}
	var isSecret bool
	if m.TextSecret, isSecret = c.secret(v.Get("text"), ReachSecretBody); !isSecret {
		m.Text = c.value(v.Get("text"))
	}
	to := v.Get("to")
	if name, ok := c.secret(to, ReachSecretMail); ok {
		m.Secrets = []string{name}
	}
	if !isKind(to, document.List) {
		return m
	}
	for i := range to.Node.Items {
		item := to.Item(i)
		switch text, ok := str(item); {
		case !ok:
			if name, ok := c.secret(item, ReachSecretMail); ok {
				m.Secrets = append(m.Secrets, name)
			}
		case !strings.Contains(text, "@") || strings.HasPrefix(text, "user:"):
			if r, ok := c.recipient(item, text); ok {
				m.To = append(m.To, r)
			}
		case IsAddress(text):
			m.Addresses = append(m.Addresses, text)
			c.reach(ReachAddress, text, item)
		default:
			item.Fail(errs.CodeFormat, "must be an e-mail address without a name, such as office@example.org, not %q", clip(text))
		}
	}
	return m
}

// IsAddress reports whether the text is an e-mail address as people have them:
// the dot-atoms of RFC 5321, without a name, quotes or comments.
func IsAddress(text string) bool {
	const longest, longestLocal = 254, 64
	local, domain, found := strings.Cut(text, "@")
	return found && len(text) <= longest && len(local) <= longestLocal && dotAtom(local, "!#$%&'*+/=?^_`{|}~-") && dotAtom(domain, "-") &&
		!strings.HasPrefix(domain, "-") && !strings.HasSuffix(domain, "-")
}

// dotAtom reports whether the text is words of letters, digits and those
// signs, with single dots between them.
func dotAtom(text, signs string) bool {
	for word := range strings.SplitSeq(text, ".") {
		if word == "" {
			return false
		}
		for i := range len(word) {
			if c := word[i]; !isAlphanumeric(c) && strings.IndexByte(signs, c) < 0 {
				return false
			}
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func (c *compiler) httpCall(v document.Value) *HTTPCall {
	h := &HTTPCall{Method: "POST", Headers: c.headers(v.Get("headers")), Body: c.payload(v.Get("value"))}
	at := v.Get("url")
	h.URLSecret, _ = c.secret(at, ReachSecretURL)
	if text, ok := str(at); ok {
		h.URL = text
		c.useText(at)
		if wrong := wrongURL(text); wrong != "" {
			at.Fail(errs.CodeFormat, "must be an address such as https://example.org/orders/$__PID__;, %s", wrong)
		} else {
			c.reach(ReachURL, text, at)
		}
	}
	if method, ok := str(v.Get("method")); ok {
		h.Method = method
	}
	from := v.Get("from")
	if h.From = c.from(from); from.Given() && h.Body.Given() {
		from.Fail(errs.CodeConflict, "does not go with value; keep one of them")
	}
	for _, body := range []document.Value{v.Get("value"), from} {
		if body.Given() && h.Method == "GET" {
			body.Fail(errs.CodeConflict, "does not go with GET, which has no body")
		}
	}
	if secret := v.Get("secret"); isKind(secret, document.String) {
		h.Secret = secret.Node.Text
		c.reach(ReachSecret, h.Secret, secret)
	}
	return h
}

// wrongURL says what keeps a text from being the address of a request, "" for
// nothing. Labels may stand behind the host alone: whose address it is must
// be known when the route is stored.
func wrongURL(text string) string {
	rest, ok := strings.CutPrefix(text, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "http://"); !ok {
			return "with https:// or http:// in front"
		}
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	switch {
	case strings.Contains(host, "$"):
		return "whose host is written out: labels may only follow it"
	case strings.Contains(host, "@"):
		return "without a user and password: sign the request with a secret instead"
	case strings.Contains(text, "#"):
		return "without a fragment (#)"
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return "and this is not one"
	}
	return ""
}

// mostHeaders bounds the headers of a request.
const mostHeaders = 50

func (c *compiler) headers(v document.Value) []Header {
	if !isKind(v, document.Object) {
		return nil
	}
	if len(v.Node.Members) > mostHeaders {
		v.Fail(errs.CodeRange, "must not have more than %d headers", mostHeaders)
		return nil
	}
	var out []Header
	folded := map[string]bool{}
	for i := range v.Node.Members {
		name, member := v.Member(i)
		header := Header{Name: name}
		var isSecret bool
		if header.Secret, isSecret = c.secret(member, ReachSecretText); !isSecret {
			header.Value = c.value(member)
		}
		value := header.Value
		wrong := wrongHeader(name)
		switch {
		case wrong != "":
			c.faults.AddKey(&v.Node.Members[i], member.Pointer, errs.CodeFormat, "%s", wrong)
		case folded[strings.ToLower(name)]:
			c.faults.AddKey(&v.Node.Members[i], member.Pointer, errs.CodeConflict, "is there already with other capitals")
		case value.Literal != nil && strings.ContainsFunc(value.Literal.Text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			member.Fail(errs.CodeFormat, "must be one line")
		default:
			out = append(out, header)
		}
		folded[strings.ToLower(name)] = true
	}
	return out
}

// wrongHeader says what keeps a route from setting a header, "" for nothing.
func wrongHeader(name string) string {
	const signs = "!#$%&'*+-.^_`|~" // RFC 9110, section 5.6.2
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r > 0x7e || !isAlphanumeric(byte(r)) && !strings.ContainsRune(signs, r) }) {
		return "is not a valid header name"
	}
	own := []string{
		"host", "content-length", "user-agent", "idempotency-key",
		"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "expect",
	}
	folded := strings.ToLower(name)
	if slices.Contains(own, folded) || strings.HasPrefix(folded, "webhook-") {
		return "is set by the server itself"
	}
	return ""
}

func (c *compiler) command(v document.Value) *Command {
	e := &Command{}
	if name := v.Get("command"); isKind(name, document.String) {
		e.Name = name.Node.Text
		c.reach(ReachCommand, e.Name, name)
	}
	args := v.Get("args")
	if isKind(args, document.List) {
		for i := range args.Node.Items {
			e.Args = append(e.Args, c.value(args.Item(i)))
		}
	}
	e.From = c.from(v.Get("from"))
	return e
}
