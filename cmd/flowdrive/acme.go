package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/net/idna"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/server"
)

// acmeSettings are the flags of serve that say from whom it gets its certificate.
type acmeSettings struct {
	domains   []string
	directory string
	ca        string
	mail      string
}

func (s *acmeSettings) register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&s.domains, "acme-domain", nil, "host name for which the server gets a certificate by ACME, and renews it; it serves HTTPS then, and port 443 of\nthat name must lead to it. Who sets this accepts the terms of the authority")
	flags.StringVar(&s.directory, "acme-directory", "", "URL of the directory of the authority that gives it (default Let's Encrypt)")
	flags.StringVar(&s.ca, "acme-ca", "", "PEM file of the authorities that vouch for the one of --acme-directory (default: those of the system)")
	flags.StringVar(&s.mail, "acme-mail", "", "mail address at which that authority reaches whoever runs the server")
}

// on reports whether the server gets its certificate by ACME.
func (s *acmeSettings) on() bool { return len(s.domains) > 0 }

// fault says everything that is wrong with the settings.
func (s *settings) acmeErr() error {
	var wrong []error
	add := func(format string, args ...any) { wrong = append(wrong, configError{fmt.Errorf(format, args...)}) }
	a := &s.acme
	if !a.on() {
		for flag, value := range map[string]string{"acme-directory": a.directory, "acme-ca": a.ca, "acme-mail": a.mail} {
			if value != "" {
				add("--%s has no effect without --acme-domain", flag)
				break // one of them says it
			}
		}
		return errors.Join(wrong...)
	}
	if _, err := a.names(); err != nil {
		add("--acme-domain: %w", err)
	}
	if s.tlsCert != "" || s.tlsKey != "" {
		add("--acme-domain and --tls-cert do not go together: the certificate comes from the authority or from files")
	}
	if s.database.address != "" {
		add("--acme-domain: the authority would ask any of several nodes; with --db, give the nodes files with --tls-cert, or put a proxy in front")
	}
	if u, err := url.Parse(a.directory); a.directory != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		add("--acme-directory: %q is not an https address, such as https://acme-v02.api.letsencrypt.org/directory", a.directory)
	}
	if a.mail != "" && (strings.Count(a.mail, "@") != 1 || strings.ContainsAny(a.mail, " ,<>:")) {
		add("--acme-mail: %q is not a mail address, such as admin@example.org", a.mail)
	}
	if _, err := a.roots(); err != nil {
		add("--acme-ca: %w", err)
	}
	return errors.Join(wrong...)
}

// names returns the host names as certificates have them: in lower case and ASCII.
func (s *acmeSettings) names() ([]string, error) {
	names := make([]string, len(s.domains))
	for i, text := range s.domains {
		name, err := idna.Lookup.ToASCII(strings.TrimSpace(text))
		_, address := netip.ParseAddr(name)
		switch {
		case strings.HasPrefix(text, "*."):
			return nil, fmt.Errorf("%q: such an authority gives no certificate for all names of a domain in this way; list the names, or give files with --tls-cert", text)
		case err != nil || address == nil || !strings.Contains(strings.Trim(name, "."), ".") || strings.ContainsAny(name, "/:"):
			return nil, fmt.Errorf("%q is not a host name with its domain, such as flow.example.org", text)
		}
		names[i] = strings.TrimSuffix(name, ".")
	}
	return names, nil
}

// roots returns those who vouch for the authority; nil for those of the system.
func (s *acmeSettings) roots() (*x509.CertPool, error) {
	if s.ca == "" {
		return nil, nil //nolint:nilnil // documented
	}
	text, err := os.ReadFile(s.ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", s.ca)
	}
	return pool, nil
}

// secure reports whether the server itself speaks TLS.
func (s *settings) secure() bool { return s.tlsCert != "" || s.acme.on() }

// acmeFolder is where certificates by ACME are kept.
func (s *settings) acmeFolder() string { return filepath.Join(s.data, "acme") }

// openTLS gives the server its certificate, if it has one.
func (a *app) openTLS(cfg *server.Config) error {
	s := a.settings
	switch {
	case s.acme.on():
		names, err := s.acme.names()
		if err != nil {
			return err
		}
		roots, err := s.acme.roots()
		if err != nil {
			return err
		}
		a.acme = server.NewACME(server.ACMEConfig{
			Domains: names, Directory: s.acme.directory, Roots: roots, Mail: s.acme.mail, Folder: s.acmeFolder(),
			Agent: "flowdrive/" + version(), Now: clock.Real{}.Now, Log: a.log,
			Note: func(wrong string) { a.told.note(engine.ServerCertificate, wrong) },
		})
		cfg.TLS = a.acme.TLSConfig()
	case s.tlsCert != "":
		certificate, err := server.LoadCertificate(s.tlsCert, s.tlsKey)
		if err != nil {
			return err
		}
		cfg.TLS, a.certificate = certificate.TLSConfig(), certificate
	}
	return nil
}

// servedCertificates returns the certificates that the server has, by the files in which they are.
func (s *settings) servedCertificates() ([]servedCertificate, error) {
	if !s.acme.on() {
		leaf, err := leafOf(s.tlsCert, s.tlsKey)
		return []servedCertificate{{s.tlsCert, "", leaf}}, err
	}
	names, err := s.acme.names()
	if err != nil {
		return nil, err
	}
	var served []servedCertificate
	for _, name := range names {
		file := server.ACMEFile(s.acmeFolder(), name)
		leaf, err := leafOf(file, file)
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("there is none for %s from %s yet; the log of the server says why", name, cmp.Or(s.acme.directory, "Let's Encrypt"))
		}
		if err != nil {
			return nil, err
		}
		served = append(served, servedCertificate{file, name, leaf})
	}
	return served, nil
}

// servedCertificate is a certificate of the server.
type servedCertificate struct {
	file string
	name string // the only one that it must be for; "" for all by which clients call the server
	leaf *x509.Certificate
}

func leafOf(certFile, keyFile string) (*x509.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("%s with %s cannot be used: %w", certFile, keyFile, err)
	}
	return pair.Leaf, nil
}
