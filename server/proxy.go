package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// addrOf returns the address in the text of a net.Conn's address. It is not
// valid for a Unix socket.
func addrOf(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// proxies are the networks whose forwarded headers count.
type proxies []netip.Prefix

func (p proxies) trust(addr netip.Addr) bool {
	for _, network := range p {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// clientOf returns the client's address: the peer or, if the peer is a trusted
// proxy, the last address in X-Forwarded-For that is not a trusted proxy. What
// stands before that was written by the client and proves nothing.
func (p proxies) clientOf(peer netip.Addr, h http.Header) netip.Addr {
	if len(p) == 0 || !p.trust(peer) {
		return peer
	}
	lines := h["X-Forwarded-For"]
	for i := len(lines) - 1; i >= 0; i-- {
		rest := lines[i]
		for more := true; more; {
			var item string
			if comma := strings.LastIndexByte(rest, ','); comma >= 0 {
				rest, item = rest[:comma], rest[comma+1:]
			} else {
				item, more = rest, false
			}
			addr, ok := forwarded(strings.TrimSpace(item))
			if !ok {
				return peer // a proxy that does not say is as far as we see
			}
			if peer = addr; !p.trust(addr) {
				return addr
			}
		}
	}
	return peer
}

// forwarded reads an address as proxies write it, with a port or without.
func forwarded(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		ap, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = ap.Addr()
	}
	return addr.Unmap().WithZone(""), true
}

// noteProxy says once in the log that requests come over a proxy which the settings do
// not name: all its clients are one address, and who guesses passwords there makes the
// others wait. A peer far away can be anybody who says so.
func (s *Server) noteProxy(peer netip.Addr, h http.Header) {
	if s.proxies.trust(peer) || !isForwarded(h) || !peer.IsLoopback() && !peer.IsPrivate() {
		return
	}
	s.unnamed.Do(func() {
		s.config.Log.Warn().Stringer("address", peer).Msg("server: requests come over a proxy that --trusted-proxy does not name; all its clients count as one address, so that one client's failed log-ins make the others wait")
	})
}

// viaProxy reports whether the request came over a proxy.
func (s *Server) viaProxy(x *exchange, r *http.Request) bool {
	return s.proxies.trust(x.peer) || isForwarded(r.Header)
}

// isForwarded reports whether a proxy stands between, trusted or not.
func isForwarded(h http.Header) bool {
	return len(h["X-Forwarded-For"]) > 0 || len(h["Forwarded"]) > 0 || len(h["Via"]) > 0
}
