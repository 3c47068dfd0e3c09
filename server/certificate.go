package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Certificate is the server's own, from files that others renew.
type Certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]

	mu   sync.Mutex
	seen [2]fileState // of the files of current
}

// fileState tells whether a file has changed.
type fileState struct {
	modified time.Time
	size     int64
}

// states returns the states of both files. That of a file that is not there is zero.
func (c *Certificate) states() (now [2]fileState) {
	for i, path := range [...]string{c.certFile, c.keyFile} {
		if info, err := os.Stat(path); err == nil {
			now[i] = fileState{info.ModTime(), info.Size()}
		}
	}
	return now
}

// ReloadIfChanged reloads if a file is not what it was when the certificate was taken,
// and reports whether it has. Errors are those of Reload.
func (c *Certificate) ReloadIfChanged() (changed bool, err error) {
	c.mu.Lock()
	same := c.states() == c.seen
	c.mu.Unlock()
	if same {
		return false, nil
	}
	err = c.Reload()
	return err == nil, err
}

// LoadCertificate reads the PEM files of a certificate chain and its key. It
// fails if they cannot be read or do not match.
func LoadCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	if err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// Reload reads the files again. If they cannot be used, it returns an error and
// the certificate stays as it was.
func (c *Certificate) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.states() // what changes while it is read is read again
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		advice := ""
		if strings.Contains(err.Error(), "does not match") { // crypto/tls has no error of its own for it
			advice = "; give the key of the first certificate in that file, which is to be that of the server, before those of its authorities"
		}
		return fmt.Errorf("the certificate %s with the key %s: %w%s", c.certFile, c.keyFile, err, advice)
	}
	c.current.Store(&pair)
	c.seen = before
	return nil
}

// Leaf returns the certificate that is served, without its chain.
func (c *Certificate) Leaf() *x509.Certificate { return c.current.Load().Leaf }

// TLSConfig returns a configuration for Config.TLS that follows Reload.
func (c *Certificate) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current.Load(), nil
		},
	}
}
