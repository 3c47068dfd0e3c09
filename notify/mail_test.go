package notify

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	gocmp "github.com/google/go-cmp/cmp"

	"flowdrive/engine/outbox"
	"flowdrive/internal/mailbox"
)

// toServer returns the settings for a mail server of a test.
func toServer(t *testing.T, box *mailbox.Server, url, password string) *MailServer {
	t.Helper()
	s, err := ParseMailServer(strings.Replace(url, "ADDRESS", box.Address, 1), password, "Flowdrive <flow@example.org>")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mailOf(to ...string) *outbox.Delivery {
	return &outbox.Delivery{Mail: &outbox.Mail{To: to, Subject: "Case 17", Text: "It is your turn.\n", Thread: "case-17"}}
}

// TestMail: a mail as it arrives, without log-in and TLS on this machine.
func TestMail(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{})
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", "")})
	d := mailOf("ann@example.org", "ann@example.org")
	d.Mail.Subject = "Überweisung\r\nBcc: eve@example.org\x00 " + strings.Repeat("lang ", 30)
	d.Mail.Text = "Grüße,\n.\n.hidden\nFrom me\n" + strings.Repeat("x", 2000) + "\n"
	for range 2 {
		if got := deliver(t, g, d); got != "nothing" {
			t.Fatal(got)
		}
	}
	mails := box.Mails()
	if len(mails) != 2 {
		t.Fatalf("got %d mails", len(mails))
	}
	m, again := mails[0], mails[1]
	if m.From != "flow@example.org" || !slices.Equal(m.To, []string{"ann@example.org"}) {
		t.Errorf("from %s to %v", m.From, m.To)
	}
	if diff := gocmp.Diff(d.Mail.Text, m.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if want := "Überweisung Bcc: eve@example.org " + strings.TrimSpace(strings.Repeat("lang ", 30)); m.Subject != want {
		t.Errorf("subject %q", m.Subject)
	}
	id := m.Header.Get("Message-Id")
	if !strings.HasSuffix(id, "@example.org>") || id != again.Header.Get("Message-Id") {
		t.Errorf("identities %s, %s", id, again.Header.Get("Message-Id"))
	}
	thread := m.Header.Get("References")
	if thread == "" || thread != m.Header.Get("In-Reply-To") || thread == id {
		t.Errorf("thread %s", thread)
	}
	for name, want := range map[string]string{
		"Bcc": "", "From": `"Flowdrive" <flow@example.org>`, "To": "<ann@example.org>", "Date": "Fri, 20 Nov 2026 12:00:00 +0000",
		"Auto-Submitted": "auto-generated", "Content-Type": "text/plain; charset=UTF-8", "Mime-Version": "1.0",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for line := range strings.SplitSeq(m.Raw, "\r\n") {
		if len(line) > 998 {
			t.Errorf("a line of %d characters (RFC 5322, section 2.1.1)", len(line))
		}
	}
}

// TestMailWithHTML: a mail that has its text as HTML too is one with two
// alternatives, the plain text first.
func TestMailWithHTML(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{})
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", "")})
	d := mailOf("ann@example.org")
	d.Mail.HTML = "<p>It is your turn, Jürgen.</p>"
	for range 2 {
		if got := deliver(t, g, d); got != "nothing" {
			t.Fatal(got)
		}
	}
	mails := box.Mails()
	if len(mails) != 2 || mails[0].Raw != mails[1].Raw {
		t.Fatalf("equal mails are not equal bytes: %+v", mails)
	}
	mediaType, params, err := mime.ParseMediaType(mails[0].Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/alternative" {
		t.Fatalf("it is %s, %v", mediaType, err)
	}
	m, err := netmail.ReadMessage(strings.NewReader(mails[0].Raw))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"]) // it decodes quoted-printable
	for _, want := range [][2]string{{"text/plain; charset=UTF-8", d.Mail.Text}, {"text/html; charset=UTF-8", d.Mail.HTML}} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if got := strings.ReplaceAll(string(text), "\r\n", "\n"); err != nil || part.Header.Get("Content-Type") != want[0] || strings.TrimSpace(got) != strings.TrimSpace(want[1]) {
			t.Errorf("a part is %v %q (%v), want %q", part.Header, got, err, want)
		}
	}
}

// TestMailSecurity: off this machine nothing is said in the clear, and
// certificates are checked.
func TestMailSecurity(t *testing.T) {
	t.Parallel()
	https := httptest.NewTLSServer(nil)
	https.Close()
	certificate := &tls.Config{Certificates: https.TLS.Certificates}
	pool := x509.NewCertPool()
	pool.AddCert(https.Certificate())

	starttls := mailbox.Start(t, mailbox.Options{TLS: certificate})
	implicit := mailbox.Start(t, mailbox.Options{TLS: certificate, Implicit: true})
	bare := mailbox.Start(t, mailbox.Options{})
	// example.com is what the certificate is for; it is not on this machine
	// as far as its name goes.
	away := func(m *mailbox.Server, scheme, password string) *MailServer {
		s := toServer(t, m, scheme+"://flow@ADDRESS", password)
		s.host, s.port, _ = strings.Cut(m.Address, ":")
		s.host = "example.com"
		return s
	}
	for _, test := range []struct {
		name   string
		box    *mailbox.Server
		scheme string
		roots  *x509.CertPool
		want   string
	}{
		{"STARTTLS", starttls, "smtp", pool, "nothing"},
		{"implicit", implicit, "smtps", pool, "nothing"},
		{"no STARTTLS", bare, "smtp", pool, "again: mail server example.com: dial failed: STARTTLS mode set to: \"TLSMandatory\", but target host does not support STARTTLS"},
		{"unknown certificate", starttls, "smtp", nil, "again: mail server example.com: dial failed: tls: failed to verify certificate"},
		{"unknown certificate, implicit", implicit, "smtps", nil, "again: mail server example.com: dial failed: tls: failed to verify certificate"},
	} {
		g := newGateway(t, Config{Mail: away(test.box, test.scheme, "top secret"), Resolver: resolving(t, func() [4]byte { return [4]byte{127, 0, 0, 1} }), RootCAs: test.roots})
		if got := deliver(t, g, mailOf("ann@example.org")); !strings.HasPrefix(got, test.want) || strings.Contains(got, "top secret") {
			t.Errorf("%s: got %s", test.name, got)
		}
	}
	for name, box := range map[string]*mailbox.Server{"STARTTLS": starttls, "implicit": implicit} {
		if !slices.Equal(box.LogIns(), []string{"flow:top secret"}) {
			t.Errorf("%s: log-ins %q", name, box.LogIns())
		}
	}
	if len(bare.LogIns()) > 0 {
		t.Error("the password was said in the clear")
	}
}

// TestMailRefused: what the server says of a mail with 5xx is for good; what
// it says with 4xx, and what it says of us, is not.
func TestMailRefused(t *testing.T) {
	t.Parallel()
	perhaps := func(code int, text string) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}
	}
	for _, test := range []struct {
		name   string
		refuse func(command, argument string) error
		want   string
		mails  int
	}{
		{"from, for good, which a change of the server mends", on("MAIL", "", perhaps(550, "who\x1b are you")), "again: the mail server takes no mails of this server: 550: who are you", 0},
		{"from, for now", on("MAIL", "", perhaps(451, "later")), "again: the mail server postpones ann@example.org: 451: later; bob@example.org: 451: later", 0},
		{"one for good", on("RCPT", "ann@example.org", perhaps(550, "no Ann")), "final: the mail server refuses ann@example.org: 550: no Ann", 1},
		{"of many", on("RCPT", "", perhaps(550, strings.Repeat("no", 200))), "final: the mail server refuses ann@example.org: 550: nono", 0},
		{"all for good", on("RCPT", "", perhaps(553, "nobody")), "final: the mail server refuses ann@example.org: 553: nobody; bob@example.org: 553: nobody", 0},
		{"one for now", on("RCPT", "bob@example.org", perhaps(452, "full")), "again: the mail server postpones bob@example.org: 452: full", 1},
		{"the text, for good", on("DATA", "", perhaps(554, "spam")), "final: the mail server refuses ann@example.org: 554: spam; bob@example.org: 554: spam", 0},
		{"the text, for now", on("DATA", "", perhaps(451, "busy")), "again: the mail server postpones ann@example.org: 451: busy; bob@example.org: 451: busy", 0},
		{"the log-in", on("AUTH", "", smtp.ErrAuthFailed), "again: mail server 127.0.0.1: dial failed: SMTP AUTH failed: 535 ", 0},
	} {
		box := mailbox.Start(t, mailbox.Options{Refuse: test.refuse})
		g := newGateway(t, Config{Mail: toServer(t, box, "smtp://flow@ADDRESS", "top secret")})
		if got := deliver(t, g, mailOf("ann@example.org", "bob@example.org")); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %s\nwant %s", test.name, got, test.want)
		}
		if len(box.Mails()) != test.mails {
			t.Errorf("%s: %d mails arrived", test.name, len(box.Mails()))
		}
	}
}

// TestMailRefusedForMembers: who is in a team that a route names is not told by what the
// mail server says of them, and neither is how many they are.
func TestMailRefusedForMembers(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{Refuse: func(command, argument string) error {
		switch {
		case command != "RCPT":
		case argument == "ann@example.org":
			return &smtp.SMTPError{Code: 550, Message: "no mailbox Ann here"}
		case argument != "x@example.org":
			return &smtp.SMTPError{Code: 551, Message: "gone"}
		}
		return nil
	}})
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", "")})
	d := mailOf("ann@example.org", "bob@example.org", "cy@example.org", "dan@example.org", "x@example.org")
	d.Mail.Members = []string{"ann@example.org", "bob@example.org", "cy@example.org"}
	const want = "final: the mail server refuses a member of a team: 550; a member of a team: 551: 5.0.0 gone; dan@example.org: 551: 5.0.0 gone"
	if got := deliver(t, g, d); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// on returns what refuses a command, with that argument or any.
func on(command, argument string, err error) func(string, string) error {
	return func(c, a string) error {
		if c == command && cmp.Or(argument, a) == a {
			return err
		}
		return nil
	}
}

// TestMailOnce: who has a mail does not get it again because another one's
// mailbox is full.
func TestMailOnce(t *testing.T) {
	t.Parallel()
	full := true
	box := mailbox.Start(t, mailbox.Options{Refuse: func(command, argument string) error {
		if command == "RCPT" && argument == "bob@example.org" && full {
			return &smtp.SMTPError{Code: 452, Message: "full"}
		}
		return nil
	}})
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", "")})
	d := mailOf("ann@example.org", "bob@example.org")
	for range 2 {
		if got := deliver(t, g, d); !strings.HasPrefix(got, "again: ") {
			t.Fatal(got)
		}
	}
	full = false
	if got := deliver(t, g, d); got != "nothing" {
		t.Fatal(got)
	}
	var to []string
	for _, m := range box.Mails() {
		to = append(to, strings.Join(m.To, " "))
	}
	if !slices.Equal(to, []string{"ann@example.org", "bob@example.org"}) {
		t.Errorf("got mails to %q", to)
	}
	if len(g.sent.keys) > 0 || len(g.sent.of) > 0 {
		t.Errorf("it is kept who has it: %v", g.sent.of)
	}
	for i := range 2 * mostReceipts {
		g.sent.add(strings.Repeat("x", i), "ann@example.org")
	}
	if len(g.sent.keys) != mostReceipts || len(g.sent.of) != mostReceipts {
		t.Errorf("%d and %d are kept", len(g.sent.keys), len(g.sent.of))
	}
}

// TestMailOfMany: of many recipients each has a mail of their own, by one
// connection, and sees nobody else.
func TestMailOfMany(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{})
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", "")})
	var to []string
	for i := range 50 {
		to = append(to, strings.Repeat("a", i+1)+"@example.org")
	}
	if got := deliver(t, g, mailOf(to...)); got != "nothing" {
		t.Fatal(got)
	}
	mails := box.Mails()
	ids := map[string]bool{}
	for i, m := range mails {
		if len(m.To) != 1 || m.To[0] != to[i] || m.Header.Get("To") != "<"+to[i]+">" || strings.Count(m.Raw, "@example.org") != strings.Count(mails[0].Raw, "@example.org") {
			t.Errorf("mail %d is to %v:\n%s", i, m.To, m.Raw)
		}
		ids[m.Header.Get("Message-Id")] = true
	}
	if len(mails) != len(to) || len(ids) != len(to) {
		t.Errorf("got %d mails with %d identities", len(mails), len(ids))
	}
}

// TestMailTakenThenClosed: a mail that the server has taken is delivered, also if the
// connection ends before the server has answered QUIT.
func TestMailTakenThenClosed(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mails := make(chan int, 1)
	go func() {
		taken := 0
		defer func() { mails <- taken }()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
		say("220 mail.example.org")
		inData := false
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			switch line := lines.Text(); {
			case inData && line == ".":
				inData = false
				taken++
				say("250 taken")
			case inData:
			case line == "DATA":
				inData = true
				say("354 go on")
			case line == "QUIT":
				return
			default:
				say("250 mail.example.org")
			}
		}
	}()
	box := &mailbox.Server{Address: l.Addr().String()}
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", "")})
	if got := deliver(t, g, mailOf("ann@example.org")); got != "nothing" {
		t.Errorf("got %s", got)
	}
	if taken := <-mails; taken != 1 {
		t.Errorf("the server has taken %d mails", taken)
	}
}

// TestMailSilent: a server that says nothing is left in time.
func TestMailSilent(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	box := &mailbox.Server{Address: l.Addr().String()}
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", "")})
	g.limits.mail = 50 * time.Millisecond
	if got, want := deliver(t, g, mailOf("ann@example.org")), "again: the mail server 127.0.0.1 did not finish within 50ms"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestParseMailServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, password, from, want string }{
		{"smtp://mail.example.org", "", "flow@example.org", ""},
		{"smtps://flow@mail.example.org:4650", "pw-secret", "Flow <flow@example.org>", ""},
		{"mail.example.org:25", "", "flow@example.org", "must be like"},
		{"http://mail.example.org", "", "flow@example.org", "must be like"},
		{"smtp://", "", "flow@example.org", "must be like"},
		{"smtp://mail.example.org/x", "", "flow@example.org", "must be like"},
		{"smtp://flow:pw-secret@mail.example.org", "", "flow@example.org", "the password does not belong"},
		{"smtp://mail.example.org", "pw-secret", "flow@example.org", "there is a password but no user"},
		{"smtp://flow@mail.example.org", "", "flow@example.org", "the password of flow is missing"},
		{"smtp://mail.example.org", "", "", "mail-from is missing"},
		{"smtp://mail.example.org", "", "Flow", "mail-from \"Flow\" is not"},
		{"smtp://mail.example.org", "", "flow@example.org\r\nBcc: x@example.org", "mail-from "},
	} {
		_, err := ParseMailServer(test.url, test.password, test.from)
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "pw-secret")) {
			t.Errorf("%s, %s: got %v, want %s", test.url, test.from, err, test.want)
		}
	}
}

func TestRefusesAddress(t *testing.T) {
	t.Parallel()
	if _, err := ParseDomains([]string{"example.org", "@example.org", "*"}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v", err)
	}
	domains, err := ParseDomains([]string{"Example.org", "*.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	g := newGateway(t, Config{Mail: toServer(t, &mailbox.Server{Address: "127.0.0.1:1"}, "smtp://ADDRESS", ""), Domains: domains})
	for _, test := range []struct{ address, want string }{
		{"ann@example.org", ""},
		{"Ann.B+c@EXAMPLE.ORG", ""},
		{"ann@x.example.com", ""},
		{"ann@example.com", "not to addresses at example.com; an administrator allows them with the setting mail-domain"},
		{"ann@sub.example.org", "setting mail-domain"},
		{"ann@evil.example@example.org", "is not an e-mail address"},
		{"Ann <ann@example.org>", "is not an e-mail address"},
		{"ann@example.org, eve@evil.example", "is not an e-mail address"},
		{"ann@example.org\r\nRCPT TO:<eve@evil.example>", "is not an e-mail address"},
		{`"eve@evil.example>"@example.org`, "is not an e-mail address"},
		{"ann", "is not an e-mail address"},
		{"", "is not an e-mail address"},
	} {
		got := g.RefusesAddress(test.address)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.address, got, test.want)
		}
		d := mailOf("ann@example.org", test.address)
		if out := deliver(t, g, d); test.want == "is not an e-mail address" && !strings.HasPrefix(out, "final: ") {
			t.Errorf("%q: got %s", test.address, out)
		}
	}
}
