package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Of several nodes on one database one is active, and the others pass on to it what they
// are asked (docs/operate/cluster.md#how-a-request-finds-the-active-node). They speak TLS,
// with a key that is made anew whenever a node becomes the active one, and that the others
// read in the database. Both sides must have it: who has it says for whom it asks.

// What a node that passes a request on says of it. A client that sends these is not
// believed.
const (
	headerPeerFrom = "Flowdrive-Peer-From" // the address of the client, with its port
	headerPeerTo   = "Flowdrive-Peer-To"   // the address that the client has called
	headerPeerTLS  = "Flowdrive-Peer-Tls"  // "1": by TLS
)

// peerName is the name in the certificate, instead of that of a host.
const peerName = "node.flowdrive.invalid"

// PeerWay is how other nodes reach the active one.
type PeerWay struct {
	Address     string // host and port
	Certificate []byte // in DER
	Key         []byte // that of the certificate, in PKCS #8
}

// NewPeerWay returns a way with a key of its own.
func NewPeerWay(address string) (*PeerWay, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for other nodes: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: peerName}, DNSNames: []string{peerName},
		NotBefore: peerEpoch, NotAfter: peerEpoch.AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	w := &PeerWay{Address: address}
	if w.Certificate, err = x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key); err != nil {
		return nil, fmt.Errorf("make a certificate for other nodes: %w", err)
	}
	if w.Key, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return nil, fmt.Errorf("make a key for other nodes: %w", err)
	}
	return w, nil
}

// peerEpoch is the day on which certificates of nodes are looked at, whatever the clocks
// of the nodes say: they are good until they are replaced.
var peerEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// config returns the settings of both sides.
func (w *PeerWay) config() (*tls.Config, error) {
	certificate, err := x509.ParseCertificate(w.Certificate)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of the active node: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(w.Key)
	if err != nil {
		return nil, fmt.Errorf("read the key of the active node: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{w.Certificate}, PrivateKey: key}},
		RootCAs:      trusted, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert, ServerName: peerName,
		Time: func() time.Time { return peerEpoch.Add(time.Hour) }, MinVersion: tls.VersionTLS13,
	}, nil
}

// peerListener accepts connections of other nodes.
type peerListener struct {
	net.Listener
	config *tls.Config
}

// ListenToPeers returns a listener for Server.Run that takes requests that other nodes
// pass on. It closes l if it fails.
func ListenToPeers(l net.Listener, way *PeerWay) (net.Listener, error) {
	config, err := way.config()
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &peerListener{l, config}, nil
}

// Accept implements net.Listener. The handshake comes with the first request.
func (l *peerListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &peerConn{Conn: tls.Server(c, l.config)}, nil
}

// peerConn is a connection of another node. The reason of a refusal stands in the status
// line, so that it comes to the client.
type peerConn struct {
	net.Conn
	statusLine
}

// Write implements net.Conn.
func (c *peerConn) Write(p []byte) (int, error) { return c.statusLine.write(c.Conn, p) }

// asAsked returns a request as the client has sent it, to whichever node.
func asAsked(r *http.Request) *http.Request {
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	if _, passed := conn.(*peerConn); !passed {
		return r
	}
	r.RemoteAddr = r.Header.Get(headerPeerFrom)
	if r.Header.Get(headerPeerTLS) != "" {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true}
	}
	to, err := netip.ParseAddrPort(r.Header.Get(headerPeerTo))
	for _, name := range []string{headerPeerFrom, headerPeerTo, headerPeerTLS} {
		r.Header.Del(name)
	}
	if err != nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(net.TCPAddrFromAddrPort(to))))
}
