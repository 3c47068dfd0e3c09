package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACMEConfig says which certificates an authority that speaks ACME (RFC 8555) is asked for.
type ACMEConfig struct {
	Domains   []string       // in lower case and ASCII; each gets a certificate of its own
	Directory string         // URL of the authority's directory; "" for Let's Encrypt
	Roots     *x509.CertPool // by which the authority's own certificate is judged; nil for the system's
	Mail      string         // whom the authority can write to; may be ""
	Folder    string         // where account and certificates are kept
	Agent     string         // as which the server introduces itself

	Now  func() time.Time
	Log  zerolog.Logger
	Note func(wrong string) // what is wrong now; "" for nothing
}

// ACME has the certificates of a server from an authority that speaks ACME. The authority
// asks the server itself whether it has a name, by TLS (tls-alpn-01, RFC 8737).
type ACME struct {
	config  ACMEConfig
	manager *autocert.Manager
	answers *acmeAnswers

	mu    sync.Mutex
	ready map[string]bool
	wrong map[string]string
}

// NewACME returns certificates that Run orders and renews.
func NewACME(c ACMEConfig) *ACME {
	if c.Directory == "" {
		c.Directory = autocert.DefaultACMEDirectory
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert,errcheck // the library's own, which nothing here replaces
	if c.Roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12}
	}
	answers := &acmeAnswers{next: transport}
	const oneRequest = 30 * time.Second
	return &ACME{
		config: c, answers: answers, ready: map[string]bool{}, wrong: map[string]string{},
		manager: &autocert.Manager{
			Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(c.Folder), HostPolicy: autocert.HostWhitelist(c.Domains...), Email: c.Mail,
			Client: &acme.Client{DirectoryURL: c.Directory, UserAgent: c.Agent, HTTPClient: &http.Client{Transport: answers, Timeout: oneRequest}},
		},
	}
}

// TLSConfig returns a configuration for Config.TLS. Whoever names another host than those
// of the certificates, or none, is shown the first.
func (a *ACME) TLSConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1", acme.ALPNProto}, GetCertificate: a.certificate}
}

func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) { // the authority asks
		return a.manager.GetCertificate(hello)
	}
	domain := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if !slices.Contains(a.config.Domains, domain) {
		domain = a.config.Domains[0]
	}
	a.mu.Lock()
	ready := a.ready[domain]
	a.mu.Unlock()
	if !ready { // a connection orders none: the authority counts orders that fail
		return nil, fmt.Errorf("there is no certificate for %s yet", domain)
	}
	return a.manager.GetCertificate(helloFor(domain))
}

// helloFor asks for a certificate with an ECDSA key, which every client of TLS 1.2 takes.
func helloFor(domain string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// How often certificates are looked at, and ordered again after an order failed:
// authorities refuse those who fail often, some from five times an hour on.
const (
	acmeLook       = time.Hour
	acmeFirstAgain = 2 * time.Minute
)

// Run orders the certificates that are not in the folder, and looks at all of them, until
// ctx ends. They are renewed by themselves when a third of their time is left, at most 30
// days.
func (a *ACME) Run(ctx context.Context) error {
	var again time.Duration
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if a.look(ctx) {
			again = 0
			timer.Reset(acmeLook)
			continue
		}
		again = min(max(2*again, acmeFirstAgain), acmeLook)
		timer.Reset(again)
	}
}

// look orders what is missing, and says what is wrong. It reports whether nothing is.
func (a *ACME) look(ctx context.Context) bool {
	var wrong []string
	for _, domain := range a.config.Domains {
		text := a.obtain(ctx, domain)
		if ctx.Err() != nil {
			return false
		}
		a.mu.Lock()
		before := a.wrong[domain]
		a.wrong[domain] = text
		a.mu.Unlock()
		if text == "" {
			continue
		}
		wrong = append(wrong, text)
		if text != before {
			a.config.Log.Error().Str("domain", domain).Msg("server: " + text)
		}
	}
	a.config.Note(strings.Join(wrong, "; "))
	return len(wrong) == 0
}

// obtain returns what is wrong with the certificate of domain, after it has ordered one if
// there is none.
func (a *ACME) obtain(ctx context.Context, domain string) string {
	type result struct {
		certificate *tls.Certificate
		err         error
	}
	ended := make(chan result, 1)
	go func() { // the library gives up by itself after five minutes
		certificate, err := a.manager.GetCertificate(helloFor(domain))
		ended <- result{certificate, err}
	}()
	var got result
	select {
	case <-ctx.Done():
		return ""
	case got = <-ended:
	}
	if got.err != nil {
		return fmt.Sprintf("there is no certificate for %s from %s: %s", domain, a.config.Directory, a.reason(domain, got.err))
	}
	a.mu.Lock()
	first := !a.ready[domain]
	a.ready[domain] = true
	a.mu.Unlock()
	leaf := got.certificate.Leaf
	if first {
		a.config.Log.Info().Str("domain", domain).Time("until", leaf.NotAfter).Msg("server: has its certificate")
	}
	if !endsSoon(leaf, a.config.Now()) {
		return ""
	}
	text := fmt.Sprintf("the certificate for %s ends on %s and was not renewed by %s", domain, leaf.NotAfter.UTC().Format(time.RFC3339), a.config.Directory)
	if why := a.answers.refusal(); why != "" {
		text += ": " + why
	}
	return text
}

// endsSoon reports whether a certificate should have been renewed long ago: a fifth of its
// time is left, or less.
func endsSoon(leaf *x509.Certificate, now time.Time) bool {
	return leaf.NotAfter.Sub(now) <= leaf.NotAfter.Sub(leaf.NotBefore)/5
}

// reason says in a sentence why there is no certificate, and what to do if that is known.
func (a *ACME) reason(domain string, err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if unknown := new(x509.UnknownAuthorityError); errors.As(err, unknown) {
		return text + "; name the authority of its own certificate with --acme-ca"
	}
	if refused := new(acme.Error); errors.As(err, &refused) {
		if wait, limited := acme.RateLimit(refused); limited {
			return fmt.Sprintf("%s; it takes no more orders for %s", refused.Detail, max(wait, acmeFirstAgain))
		}
		return refused.Detail
	}
	if why := a.answers.refusal(); why != "" {
		return fmt.Sprintf("%s; port 443 of %s must lead to this server", why, domain)
	}
	return text
}

// acmeAnswers keeps why the authority did not find a name at this server. The library
// returns that there was no way left, and not why.
type acmeAnswers struct {
	next http.RoundTripper
	mu   sync.Mutex
	last string
}

func (t *acmeAnswers) refusal() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// RoundTrip implements http.RoundTripper.
func (t *acmeAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil || resp.Header.Get("Content-Type") != "application/json" && !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json;") {
		return resp, err
	}
	const most = 1 << 20 // answers of authorities are a few kB; the library reads no more of them
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	err = errors.Join(err, resp.Body.Close())
	if err != nil {
		return nil, fmt.Errorf("read the authority's answer: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	t.note(body)
	return resp, nil
}

func (t *acmeAnswers) note(body []byte) {
	var authorization struct {
		Status     string `json:"status"`
		Challenges []struct {
			Error *struct {
				Detail string `json:"detail"`
			} `json:"error"`
		} `json:"challenges"`
	}
	if json.Unmarshal(body, &authorization) != nil || len(authorization.Challenges) == 0 {
		return // something else
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch authorization.Status {
	case acme.StatusValid:
		t.last = ""
	case acme.StatusInvalid:
		for _, c := range authorization.Challenges {
			if c.Error != nil {
				t.last = strings.Join(strings.Fields(c.Error.Detail), " ")
			}
		}
	}
}

// ACMEFile returns the file below folder in which the certificate of domain is kept, with
// its key, in PEM.
func ACMEFile(folder, domain string) string { return filepath.Join(folder, domain) }
