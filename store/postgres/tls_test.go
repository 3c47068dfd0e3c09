package postgres

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/pgtest"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key, a.pem = certify(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	return a
}

// certify makes a certificate and its key, signed by an authority, or by itself.
func certify(t *testing.T, of *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of.SerialNumber, of.NotBefore, of.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := of, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// file writes a file, and returns its path.
func file(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEncryptedWay: the way to the database is as safe as sslmode says. One that is not is a
// sentence, and nothing that waiting mends; so is a wrong password.
func TestEncryptedWay(t *testing.T) {
	t.Parallel()
	ca, stranger := newAuthority(t, "our CA"), newAuthority(t, "another CA")
	_, key, cert := certify(t, &x509.Certificate{Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}}, ca)
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	server := pgtest.Start(t)
	server.Encrypt(t, cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	server.Execute(t, "flow", `CREATE USER guarded PASSWORD 'secret-word'`)
	server.Execute(t, "flow", `GRANT CREATE ON SCHEMA public TO guarded`)
	plain := pgtest.Start(t)
	ours, theirs := file(t, ca.pem), file(t, stranger.pem)
	at := func(host string, port int, mode, root string) string {
		return fmt.Sprintf("postgres://guarded@%s:%d/flow?sslmode=%s&sslrootcert=%s", host, port, mode, root)
	}
	for _, test := range []struct{ what, address, password, want string }{
		{"all is right", at("localhost", server.Port, "verify-full", ours), "secret-word", ""},
		{"the certificate is of another name", at("127.0.0.1", server.Port, "verify-full", ours), "secret-word", "certificate of the database at 127.0.0.1"},
		{"the name is not asked for", at("127.0.0.1", server.Port, "verify-ca", ours), "secret-word", ""},
		{"another CA", at("localhost", server.Port, "verify-full", theirs), "secret-word", "certificate of the database at localhost"},
		{"no TLS", at("localhost", plain.Port, "verify-full", ours), "secret-word", "does not speak TLS"},
		{"TLS is wanted by the database", at("localhost", server.Port, "disable", ours), "secret-word", "refuses the log-in of the user"},
		{"a wrong password", at("localhost", server.Port, "verify-full", ours), "wrong-word", "refuses the log-in of the user"},
		{"no such file", at("localhost", server.Port, "verify-full", "/nothing.pem"), "secret-word", "is not a valid address"},
	} {
		db, err := Open(t.Context(), Options{Address: test.address, Password: test.password, Now: time.Now})
		if err == nil {
			err = db.Close()
		}
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.what, err)
		case test.want != "" && (err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "-word")):
			t.Errorf("%s: %v", test.what, err)
		}
	}
	looked, err := Look(t.Context(), Options{Address: at("localhost", server.Port, "verify-full", ours), Password: "secret-word", Now: time.Now})
	if err != nil || !looked.TLS {
		t.Errorf("doctor sees %+v, %v", looked, err)
	}
}
