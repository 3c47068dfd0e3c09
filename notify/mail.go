package notify

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"flowdrive/engine/outbox"
)

// MailServer is the server that mails are handed to.
type MailServer struct {
	host, port     string
	implicit       bool // TLS from the first byte on (RFC 8314)
	user, password string
	from           *netmail.Address
}

// ParseMailServer reads where mails are sent: smtp://user@mail.example.org:587,
// where TLS begins by STARTTLS and is required unless the server is on this
// machine, or smtps:// with TLS from the beginning. from is the sender's
// address. One error has all faults, a line each. It does not contain the
// password.
func ParseMailServer(server, password, from string) (*MailServer, error) {
	s := &MailServer{password: password}
	return s, errors.Join(s.parseServer(server), s.parseFrom(from))
}

func (s *MailServer) parseServer(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return errors.New("must be like smtp://user@mail.example.org:587 or smtps://user@mail.example.org")
	}
	if _, has := u.User.Password(); has {
		return errors.New("the password does not belong in the URL; give it with the setting smtp-password or smtp-password-file")
	}
	s.host, s.port, s.user, s.implicit = u.Hostname(), u.Port(), u.User.Username(), u.Scheme == "smtps"
	if s.port == "" {
		s.port = "587"
		if s.implicit {
			s.port = "465"
		}
	}
	if s.user == "" && s.password != "" {
		return errors.New("there is a password but no user; write smtp://user@" + u.Host)
	}
	if s.user != "" && s.password == "" {
		return fmt.Errorf("the password of %s is missing; give it with the setting smtp-password or smtp-password-file", s.user)
	}
	return nil
}

func (s *MailServer) parseFrom(text string) error {
	if text == "" {
		return errors.New("the setting mail-from is missing: the address that mails are from")
	}
	var err error
	if s.from, err = netmail.ParseAddress(text); err != nil {
		return fmt.Errorf("mail-from %q is not an address such as Flowdrive <flowdrive@example.org>", text)
	}
	return nil
}

// local reports whether the server is on this machine. Nobody else can listen
// to unencrypted mails there.
func (s *MailServer) local() bool {
	addr, err := netip.ParseAddr(s.host)
	return s.host == "localhost" || err == nil && addr.IsLoopback()
}

// Domains are domains whose addresses may get mails although they are not those
// of users.
type Domains struct{ items []pattern }

// ParseDomains reads domains: example.org, or *.example.org for all below it.
// One error has all faults, a line each.
func ParseDomains(texts []string) (Domains, error) {
	var d Domains
	var faults []error
	for _, text := range texts {
		p, err := parsePattern(strings.ToLower(strings.TrimSpace(text)))
		if err != nil {
			faults = append(faults, fmt.Errorf("%q is not a domain such as example.org or *.example.org", text))
			continue
		}
		d.items = append(d.items, p)
	}
	return d, errors.Join(faults...)
}

// RefusesAddress implements engine.Outside.
func (g *Gateway) RefusesAddress(address string) string {
	if g.Mail == nil {
		return "this server sends no mail; an administrator names a mail server with the setting smtp"
	}
	if !validAddress(address) {
		return "is not an e-mail address"
	}
	domain := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
	if slices.ContainsFunc(g.Domains.items, func(p pattern) bool { return p.matches(domain) }) {
		return ""
	}
	return fmt.Sprintf("mails go to users, and not to addresses at %s; an administrator allows them with the setting mail-domain", domain)
}

// validAddress reports whether the text is an address without a name and
// without anything that a mail's header or an SMTP command would take for more.
func validAddress(text string) bool {
	a, err := netmail.ParseAddress(text)
	return err == nil && a.Address == text && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`<>"\,;:()[]`, r) })
}

// mail hands a mail to the server, for all who do not have it yet.
func (g *Gateway) mail(ctx context.Context, key string, m *outbox.Mail) error {
	if g.Mail == nil {
		return final("this server sends no mail; an administrator names a mail server with the setting smtp")
	}
	to := slices.Clone(m.To)
	slices.Sort(to)
	to = g.sent.without(key, slices.Compact(to))
	for _, address := range to {
		if !validAddress(address) {
			return final("%q is not an e-mail address", clean([]byte(address), 100))
		}
	}
	if len(to) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.limits.mail)
	defer cancel()
	c, err := g.connect(ctx)
	if err != nil {
		return fmt.Errorf("mail server %s: %w", g.Mail.host, err)
	}
	defer c.close()
	var o outcome
	for some := range slices.Chunk(to, g.limits.recipients) {
		if err := g.transact(c.Client, key, m, some, &o); err != nil {
			return fmt.Errorf("mail server %s: %w", g.Mail.host, err)
		}
	}
	_ = c.Quit() // the server's answer to the mail counts, even if the connection fails now
	if len(o.deferred) == 0 {
		g.sent.forget(key)
	}
	return o.err()
}

// connection is one to a mail server, which ends with its context.
type connection struct {
	*smtp.Client
	conn net.Conn
	stop func() bool
}

func (c *connection) close() {
	c.stop()
	_ = c.conn.Close() // what was to be said was said
}

// connect connects to the mail server and logs in.
func (g *Gateway) connect(ctx context.Context) (_ *connection, err error) {
	s := g.Mail
	d := net.Dialer{Resolver: g.Resolver}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(s.host, s.port))
	if err != nil {
		return nil, err
	}
	c := &connection{conn: conn}
	c.stop = context.AfterFunc(ctx, func() { _ = conn.Close() }) // so that a caller that waits for the connection gives up
	defer func() {
		if err != nil {
			c.close()
			if ctx.Err() != nil {
				err = fmt.Errorf("%w: %w", ctx.Err(), err)
			}
		}
	}()
	security := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.host, RootCAs: g.RootCAs}
	if s.implicit {
		conn = tls.Client(conn, security)
	}
	if c.Client, err = smtp.NewClient(conn, s.host); err != nil {
		return nil, err
	}
	name, err := os.Hostname()
	if err != nil || strings.ContainsAny(name, " \r\n") {
		name = "localhost"
	}
	if err := c.Hello(name); err != nil {
		return nil, err
	}
	if !s.implicit && !s.local() {
		if offered, _ := c.Extension("STARTTLS"); !offered {
			return nil, errors.New("it does not offer STARTTLS; without that, mails are sent only to servers on this machine")
		}
		if err := c.StartTLS(security); err != nil {
			return nil, err
		}
	}
	return c, s.logIn(c.Client)
}

// logIn logs in to the server, if there is a user to log in as.
func (s *MailServer) logIn(c *smtp.Client) error {
	if s.user == "" {
		return nil
	}
	_, offered := c.Extension("AUTH")
	switch mechanisms := strings.Fields(strings.ToUpper(offered)); {
	case slices.Contains(mechanisms, "PLAIN"):
		return c.Auth(smtp.PlainAuth("", s.user, s.password, s.host, s.local()))
	case slices.Contains(mechanisms, "LOGIN"):
		return c.Auth(smtp.LoginAuth(s.user, s.password, s.host, s.local()))
	}
	return errors.New("it offers neither of the log-ins PLAIN and LOGIN")
}

// outcome is what became of a mail's addresses.
type outcome struct{ refused, deferred []string }

// err says what is left: to try again while there is an address that the
// server has not decided about.
func (o *outcome) err() error {
	if len(o.deferred) > 0 {
		return errors.New("the mail server postpones " + some(o.deferred))
	}
	if len(o.refused) > 0 {
		return final("the mail server refuses %s", some(o.refused))
	}
	return nil
}

// some joins the first few lines.
func some(lines []string) string {
	const most = 5
	if len(lines) <= most {
		return strings.Join(lines, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(lines[:most], "; "), len(lines)-most)
}

// transact sends a mail to some of its addresses. If the server refuses some of
// them, the others still get it. The error is one of the connection, which
// cannot be used afterwards.
func (g *Gateway) transact(c *smtp.Client, key string, m *outbox.Mail, to []string, o *outcome) error {
	refuse := func(who string, err error) error {
		e, ok := errors.AsType[*textproto.Error](err)
		if !ok {
			return err
		}
		line := fmt.Sprintf("%s: %d%s", who, e.Code, said([]byte(e.Msg)))
		if e.Code >= 500 {
			o.refused = append(o.refused, line)
		} else {
			o.deferred = append(o.deferred, line)
		}
		return nil
	}
	const all = "the mail"
	if err := c.Mail(g.Mail.from.Address); err != nil {
		return refuse(all, err)
	}
	var taken []string
	for _, address := range to {
		if err := c.Rcpt(address); err == nil {
			taken = append(taken, address)
		} else if err := refuse(address, err); err != nil {
			return err
		}
	}
	if len(taken) == 0 {
		return c.Reset()
	}
	w, err := c.Data()
	if err != nil {
		return refuse(all, err)
	}
	if _, err := g.compose(key, m, to).WriteTo(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return refuse(all, err)
	}
	g.sent.add(key, taken)
	return nil
}

// compose writes the mail. Its Message-ID follows from the key, so that a
// recipient who gets it twice can tell.
func (g *Gateway) compose(key string, m *outbox.Mail, to []string) *mail.Msg {
	domain := g.Mail.from.Address[strings.LastIndexByte(g.Mail.from.Address, '@')+1:]
	identity := func(kind, text string) string {
		sum := sha256.Sum256([]byte(kind + "\x00" + text))
		return hex.EncodeToString(sum[:16]) + "@" + domain
	}
	msg := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP), mail.WithNoDefaultUserAgent())
	msg.FromMailAddress(g.Mail.from)
	addresses := make([]*netmail.Address, len(to))
	for i, a := range to {
		addresses[i] = &netmail.Address{Address: a}
	}
	msg.ToMailAddress(addresses...)
	msg.Subject(clean([]byte(m.Subject), 500))
	msg.SetDateWithValue(g.Clock.Now())
	msg.SetMessageIDWithValue(identity("mail", key))
	if m.Thread != "" {
		thread := "<" + identity("thread", m.Thread) + ">"
		msg.SetGenHeader(mail.HeaderInReplyTo, thread)
		msg.SetGenHeader(mail.HeaderReferences, thread)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // so that no absence notice answers (RFC 3834)
	msg.SetBodyString(mail.TypeTextPlain, strings.ToValidUTF8(m.Text, "\ufffd"))
	return msg
}

// receipts remember which addresses have got a mail that others have yet to
// get. There are few. A restart forgets them; a recipient may then get a mail
// twice.
type receipts struct {
	mu   sync.Mutex
	keys []string // oldest first
	of   map[string][]string
}

const mostReceipts = 1000

// add records the addresses that have got a mail.
func (r *receipts) add(key string, addresses []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string][]string{}
	}
	if r.of[key] == nil {
		if len(r.keys) == mostReceipts {
			delete(r.of, r.keys[0])
			r.keys = slices.Delete(r.keys, 0, 1)
		}
		r.keys = append(r.keys, key)
	}
	r.of[key] = append(r.of[key], addresses...)
}

// without returns the addresses that do not have the mail.
func (r *receipts) without(key string, addresses []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(addresses, func(a string) bool { return slices.Contains(r.of[key], a) })
}

// forget drops what is known of a mail that all have.
func (r *receipts) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.keys, key); i >= 0 {
		r.keys = slices.Delete(r.keys, i, i+1)
		delete(r.of, key)
	}
}
