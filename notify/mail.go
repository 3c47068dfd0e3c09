package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"

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

// String returns the domains with commas between them.
func (d Domains) String() string {
	texts := make([]string, len(d.items))
	for i, p := range d.items {
		if texts[i] = p.text; p.below {
			texts[i] = "*." + p.text
		}
	}
	return strings.Join(texts, ", ")
}

// have reports whether an address is in one of the domains.
func (d Domains) have(address string) bool {
	domain := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
	return slices.ContainsFunc(d.items, func(p pattern) bool { return p.matches(domain) })
}

// RefusesAddress implements engine.Outside.
func (g *Gateway) RefusesAddress(address string) string {
	if g.Mail == nil {
		return "this server sends no mail; an administrator names a mail server with the setting smtp"
	}
	if !validAddress(address) {
		return "is not an e-mail address"
	}
	if g.domains().have(address) {
		return ""
	}
	domain := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
	return fmt.Sprintf("mails go to users, and not to addresses at %s; an administrator allows them with the setting mail-domain", domain)
}

// OwnAddress says why a user may not give themselves an address, "" if they may: if there are
// domains to which mails may go, which is bounded, it must be in one of them.
func (g *Gateway) OwnAddress(address string) (refused string, bounded bool) {
	d := g.domains()
	if len(d.items) == 0 || d.have(address) {
		return "", len(d.items) > 0
	}
	return "must be in one of the domains of the setting mail-domain (" + d.String() + "); an administrator can set another one", true
}

// validAddress reports whether the text is an address without a name and
// without anything that a mail's header or an SMTP command would take for more.
func validAddress(text string) bool {
	a, err := netmail.ParseAddress(text)
	return err == nil && a.Address == text && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`<>"\,;:()[]`, r) })
}

// mail hands a mail to the server, one for each recipient who does not have it
// yet: nobody sees who else gets it.
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
	messages := make([]*mail.Msg, len(to))
	for i, address := range to {
		messages[i] = compose(g.Mail.from, &letter{Mail: m, key: key, to: address, date: g.Clock.Now()})
	}
	if len(to) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.limits.mail)
	defer cancel()
	failure := g.handOver(ctx, messages)
	o, taken := outcome{members: m.Members}, 0
	for i, m := range messages {
		if m.IsDelivered() {
			g.sent.add(key, to[i])
			taken++
		} else if m.HasSendError() {
			o.note(to[i], m.SendError())
		}
	}
	switch {
	case taken == len(to): // how the connection ended after that does not matter
		g.sent.forget(key)
		return nil
	case o.broken || failure != nil && !o.said():
		if ctx.Err() != nil {
			return g.unfinished(ctx, failure)
		}
		return fmt.Errorf("mail server %s: %w", g.Mail.host, failure)
	case len(o.deferred) == 0 && o.closed == "":
		g.sent.forget(key)
	}
	return o.err()
}

// unfinished is the error of an attempt that ended before the mail server had answered.
// What the library says then is of the connection that was closed.
func (g *Gateway) unfinished(ctx context.Context, failure error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return tooLate("the mail server %s did not finish within %s", g.Mail.host, short(g.limits.mail))
	}
	return fmt.Errorf("mail server %s: %w: %w", g.Mail.host, ctx.Err(), failure)
}

// TryMail connects to the mail server and logs in there as for a mail, and sends none. It
// returns nil if there is no mail server.
func (g *Gateway) TryMail(ctx context.Context) error {
	if g.Mail == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.limits.mail)
	defer cancel()
	if err := g.handOver(ctx, nil); err != nil && ctx.Err() != nil {
		return g.unfinished(ctx, err)
	} else if err != nil {
		return fmt.Errorf("mail server %s: %w", g.Mail.host, err)
	}
	return nil
}

// handOver sends the messages over one connection. Each says what became of it.
func (g *Gateway) handOver(ctx context.Context, messages []*mail.Msg) error {
	s := g.Mail
	port, err := strconv.Atoi(s.port)
	if err != nil {
		return fmt.Errorf("the port %q is not a number", s.port)
	}
	security := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.host, RootCAs: g.RootCAs}
	name, err := os.Hostname()
	if err != nil || name == "" || strings.ContainsAny(name, " \r\n") {
		name = "localhost"
	}
	options := []mail.Option{
		mail.WithPort(port), mail.WithTimeout(2 * g.limits.mail), // the context ends it before
		mail.WithHELO(name), mail.WithTLSConfig(security), mail.WithTLSPolicy(mail.TLSMandatory),
	}
	switch {
	case s.implicit:
		options = append(options, mail.WithSSL())
	case s.local():
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if s.user != "" {
		auth := mail.WithOpportunisticSMTPAuth(mail.SMTPAuthPlain, mail.SMTPAuthLogin)
		if s.local() {
			auth = mail.WithOpportunisticSMTPAuth(mail.SMTPAuthPlainNoEnc, mail.SMTPAuthLoginNoEnc)
		}
		options = append(options, mail.WithUsername(s.user), mail.WithPassword(s.password), auth)
	}
	d := mailDialer{Dialer: net.Dialer{Resolver: g.Resolver}, whole: ctx}
	if s.implicit {
		d.security = security
	}
	defer d.close()
	client, err := mail.NewClient(s.host, append(options, mail.WithDialContextFunc(d.dial))...)
	if err != nil {
		return err
	}
	return client.DialAndSendWithContext(ctx, messages...)
}

// mailDialer makes the one connection of a delivery. The library leaves a
// connection open if the server's answers to its first words are wrong, and
// looks at the context while it connects alone.
type mailDialer struct {
	net.Dialer
	security *tls.Config     // nil: TLS begins later, or never
	whole    context.Context //nolint:containedctx // of the delivery: its end closes the connection
	conn     net.Conn
	stop     func() bool
}

func (d *mailDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.conn = conn
	d.stop = context.AfterFunc(d.whole, func() { _ = conn.Close() }) // so that who waits for the server gives up
	if d.security != nil {
		return tls.Client(conn, d.security), nil
	}
	return conn, nil
}

func (d *mailDialer) close() {
	if d.conn != nil {
		d.stop()
		_ = d.conn.Close() // what was to be said was said
	}
}

// outcome is what became of a mail's addresses.
type outcome struct {
	members           []string // addresses that are not told
	refused, deferred []string
	closed            string // what the server said to refuse mails of this sender, "" if it does not
	broken            bool   // the connection ended before the server had answered for all
}

// said reports whether the server has said something of a mail.
func (o *outcome) said() bool { return len(o.refused)+len(o.deferred) > 0 || o.closed != "" }

// note notes what the server said of the mail to an address.
func (o *outcome) note(address string, err error) {
	e, ok := errors.AsType[*mail.SendError](err)
	if !ok || e.ErrorCode() == 0 {
		o.broken = true
		return
	}
	// The library writes the reason, the server's code and, quoted, its text, and
	// whom that is about.
	_, text, _ := strings.Cut(strings.TrimPrefix(e.Error(), e.Reason.String()+": "), " ")
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		if plain, err := strconv.Unquote(quoted); err == nil {
			text = plain
		}
	}
	line := fmt.Sprintf("%d%s", e.ErrorCode(), said([]byte(text)))
	if e.Reason == mail.ErrSMTPMailFrom && e.ErrorCode() >= 500 {
		o.closed = line // it has not heard of an address, so that it says nothing of one
		return
	}
	list := &o.deferred
	if e.ErrorCode() >= 500 {
		list = &o.refused
	}
	if !slices.Contains(o.members, address) {
		*list = append(*list, address+": "+line)
		return
	}
	// Servers say in their text whom they refuse.
	local, _, _ := strings.Cut(address, "@")
	if strings.Contains(strings.ToLower(text), strings.ToLower(local)) {
		line = strconv.Itoa(e.ErrorCode())
	}
	if line = "a member of a team: " + line; !slices.Contains(*list, line) { // how many would say how many there are
		*list = append(*list, line)
	}
}

// err says what is left: to try again while there is an address that the
// server has not decided about.
func (o *outcome) err() error {
	if o.closed != "" {
		return errors.New("the mail server takes no mails of this server: " + o.closed)
	}
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
