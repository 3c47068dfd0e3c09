package server

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"flowdrive/internal/errs"
)

// namesOf returns the hosts, with or without port, as hostOf returns them.
func namesOf(hosts []string) map[string]bool {
	names := make(map[string]bool, len(hosts))
	for _, host := range hosts {
		if name := hostOf(host); name != "" {
			names[name] = true
		}
	}
	return names
}

// hostOf returns the name or address in a Host header, without its port.
func hostOf(header string) string {
	host := header
	if name, _, err := net.SplitHostPort(header); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// checkHost refuses requests to loopback that call the server by a name that is not
// its own. A page of another site may have given its own name the address of
// loopback (DNS rebinding), so that the browser takes what it reads for the page's
// (docs/contract/drive.md#requests-of-other-sites). A trusted proxy passes on what
// it was called by.
func (s *Server) checkHost(x *exchange, r *http.Request) error {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil || s.proxies.trust(x.peer) || !isLoopback(local) {
		return nil
	}
	name := hostOf(r.Host)
	if addr, err := netip.ParseAddr(name); err == nil && addr.IsLoopback() {
		return nil
	}
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || s.names[name] {
		return nil
	}
	return errs.New(errs.Misdirected, "This server is not known as %s; call it localhost, or name the host by --public-name or --public-url.", clip(name, 100))
}

// isLoopback reports whether what the address names is reached from this machine alone.
func isLoopback(local net.Addr) bool {
	if tcp, ok := local.(*net.TCPAddr); ok { // as it nearly always is; its text need not be made and read
		return tcp.IP.IsLoopback()
	}
	return addrOf(local.String()).IsLoopback()
}
