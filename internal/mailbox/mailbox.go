// Package mailbox is a mail server on this machine that keeps what it gets, for
// tests of packages that send mails.
package mailbox

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Options are how a server behaves. With the zero value it takes everything,
// without a log-in and without TLS.
type Options struct {
	TLS      *tls.Config // it offers STARTTLS
	Implicit bool        // it speaks TLS from the first byte on instead

	// Refuse answers AUTH, MAIL, RCPT and DATA with an error, such as an
	// *smtp.SMTPError; nil takes everything.
	Refuse func(command, argument string) error

	// Took is called when a mail has arrived, before the client is told so; nil does
	// nothing.
	Took func()
}

// Server is a running mail server.
type Server struct {
	Address string // host:port

	options Options
	mu      sync.Mutex
	mails   []Mail
	logIns  []string
	arrived chan struct{} // closed when another mail has arrived
}

// Mail is a mail as it arrived.
type Mail struct {
	From    string
	To      []string
	Header  mail.Header
	Subject string // decoded
	Text    string // decoded, with single line feeds
	Raw     string
}

// Start starts a server that ends with the test.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	m := &Server{Address: l.Addr().String(), options: o, arrived: make(chan struct{})}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{box: m}, nil }))
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "mail.example", o.TLS == nil, silent{}
	if o.Implicit {
		l = tls.NewListener(l, o.TLS)
	} else {
		s.TLSConfig = o.TLS
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Serve(l); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() {
		_ = s.Close() // clients that still hold a connection are not waited for
		_ = l.Close() // s does not know it yet if the test has ended at once
		wg.Wait()
	})
	return m
}

// Mails returns what has arrived.
func (m *Server) Mails() []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.mails)
}

// LogIns returns the log-ins, as user:password.
func (m *Server) LogIns() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.logIns)
}

// Wait returns what has arrived once n mails have, or when ctx ends.
func (m *Server) Wait(ctx context.Context, n int) []Mail {
	for {
		m.mu.Lock()
		mails, arrived := slices.Clone(m.mails), m.arrived
		m.mu.Unlock()
		if len(mails) >= n {
			return mails
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return mails
		}
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// session is a connection to the server.
type session struct {
	box  *Server
	mail Mail
}

func (s *session) judge(command, argument string) error {
	if s.box.options.Refuse == nil {
		return nil
	}
	return s.box.options.Refuse(command, argument)
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.box.mu.Lock()
		s.box.logIns = append(s.box.logIns, user+":"+password)
		s.box.mu.Unlock()
		return s.judge("AUTH", user)
	}), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail = Mail{From: from}
	return s.judge("MAIL", from)
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.judge("RCPT", to); err != nil {
		return err
	}
	s.mail.To = append(s.mail.To, to)
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	if err := s.judge("DATA", ""); err != nil {
		return err
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.mail.read(string(raw)); err != nil {
		return err
	}
	s.box.add(s.mail)
	if s.box.options.Took != nil {
		s.box.options.Took()
	}
	return nil
}

func (m *Server) add(arrived Mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mails = append(m.mails, arrived)
	close(m.arrived)
	m.arrived = make(chan struct{})
}

// read takes the mail apart.
func (m *Mail) read(raw string) error {
	parsed, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	if err != nil {
		return err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil {
		return err
	}
	m.Raw, m.Header, m.Subject, m.Text = raw, parsed.Header, subject, strings.ReplaceAll(string(text), "\r\n", "\n")
	return nil
}

// Reset implements smtp.Session.
func (s *session) Reset() {}

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }
