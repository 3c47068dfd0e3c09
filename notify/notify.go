// Package notify is the outside for the engine: it calls services by HTTP,
// hands mails to a server, and runs commands. It reaches only what an
// administrator has named. It treats every answer as hostile and limits its
// time and size (docs/contract/routes.md#reaching-outside).
package notify

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/confine"
)

// Config is what a Gateway is made of. With its zero value nothing may leave
// the machine.
type Config struct {
	Hosts    Hosts
	Secrets  Secrets
	Mail     *MailServer // nil: no mail is sent
	Domains  Domains
	Commands Commands

	Destinations []Destination // of notices

	Clock   engine.Clock
	Version string // of this program, which it tells the services that it calls
	Log     zerolog.Logger

	// Confined are the arguments with which the running program calls
	// confine.Become with those that follow.
	Confined []string

	// Scratch is the folder in which commands have their working folders. "" is
	// the system's temporary folder.
	Scratch string

	Resolver *net.Resolver  // nil: the system's
	RootCAs  *x509.CertPool // nil: the system's
}

// Gateway is the engine's way out.
type Gateway struct {
	Config
	allowed   atomic.Pointer[allowed]
	transport *http.Transport
	limits    limits
	sent      receipts
	guardian  guardian
}

// New returns a gateway. Close frees what it keeps open.
func New(c Config) *Gateway {
	g := &Gateway{Config: c, limits: defaultLimits()}
	g.guardian.clan = confine.NewClan()
	g.transport = g.newTransport()
	g.Allow(c.Hosts, c.Domains)
	return g
}

// allowed is what may be reached, and can change while the gateway is used.
type allowed struct {
	hosts   Hosts
	domains Domains
}

// Allow replaces the hosts that may be called and the domains to which mails may go. A
// call that is under way is not broken off.
func (g *Gateway) Allow(hosts Hosts, domains Domains) {
	g.allowed.Store(&allowed{hosts, domains})
	g.transport.CloseIdleConnections() // what is kept open may lead where nobody may go any more
}

func (g *Gateway) hosts() Hosts     { return g.allowed.Load().hosts }
func (g *Gateway) domains() Domains { return g.allowed.Load().domains }

// Close closes the connections that are kept for further calls, and ends the process that
// watches over commands. There are none any more.
func (g *Gateway) Close() {
	g.transport.CloseIdleConnections()
	g.guardian.close()
}

// Deliver implements engine.Outside.
func (g *Gateway) Deliver(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
	filled, secrets, err := g.fillIn(d)
	if err != nil {
		return nil, err
	}
	return secrets.outcome(g.deliver(ctx, filled, secrets))
}

func (g *Gateway) deliver(ctx context.Context, d *outbox.Delivery, secrets *hidden) (*outbox.Reply, error) {
	switch {
	case d.HTTP != nil:
		return g.call(ctx, d.Key, d.HTTP, secrets)
	case d.Mail != nil:
		return nil, g.mail(ctx, d.Key, d.Mail)
	case d.Exec != nil:
		return g.run(ctx, d, secrets)
	case d.News != nil:
		return nil, g.announce(ctx, d.Key, d.News, secrets)
	}
	return nil, &outbox.Final{Reason: "this server does not know this kind of delivery"}
}

// clean returns the beginning of a text of strangers in one line that can be
// shown: without control characters, spaces not repeated.
func clean(text []byte, most int) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text), ""))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// said returns ": " and the text of a stranger, or "" if there is no text.
func said(text []byte) string {
	const most = 200 // characters
	if s := clean(text, most); s != "" {
		return ": " + s
	}
	return ""
}

var _ outbox.Outside = (*Gateway)(nil)
