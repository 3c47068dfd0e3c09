package notify

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Hosts are those that routes may call. The zero value allows none.
type Hosts struct{ items []host }

// host is one item of the administrator's list.
type host struct {
	name   pattern      // of the host, unless the item is an address
	addr   netip.Addr   // the address that the item is
	port   string       // "" for any
	within netip.Prefix // non-public networks in which the host's addresses may be
}

// ParseHosts reads the administrator's list. An item is the name of a host
// (hooks.example.org), all names below one (*.example.org), or an address
// (10.1.2.3, [fd00::1]). A port after it (:8443) allows only that port. A name
// must resolve to public addresses, unless the item names a network that they
// may be in: intranet.example=10.0.0.0/8. One error has all faults, a line
// each.
func ParseHosts(items []string) (Hosts, error) {
	var h Hosts
	var faults []error
	for _, text := range items {
		item, err := parseHost(strings.ToLower(strings.TrimSpace(text)))
		if err != nil {
			faults = append(faults, fmt.Errorf("%q: %w", text, err))
			continue
		}
		h.items = append(h.items, item)
	}
	return h, errors.Join(faults...)
}

func parseHost(text string) (host, error) {
	name, within, private := strings.Cut(text, "=")
	item, err := parsePlace(name)
	if err != nil {
		return item, err
	}
	if private {
		if item.addr.IsValid() {
			return item, errors.New("an address is allowed by itself, without = and what follows")
		}
		if item.within, err = parseNetwork(within); err != nil {
			return item, err
		}
	}
	if item.name.text == "localhost" && !private {
		return item, errors.New("its address is not public; write localhost=127.0.0.1, or the address alone")
	}
	return item, nil
}

// parsePlace reads a name or address and the port.
func parsePlace(text string) (host, error) {
	if addr, ok := parseAddr(text); ok {
		return host{addr: addr}, nil
	}
	var item host
	if strings.Contains(text, "/") {
		return item, errNoName
	}
	name, port, ported := cutPort(text)
	if ported {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return item, fmt.Errorf("%q is not a port", port)
		}
		item.port = port
	}
	if addr, ok := parseAddr(name); ok {
		item.addr = addr
		return item, nil
	}
	var err error
	item.name, err = parsePattern(name)
	return item, err
}

// parseAddr reads an address, which may be in brackets.
func parseAddr(text string) (netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(text)
	return plain(addr), err == nil
}

// cutPort cuts a port off, which an IPv6 address has behind its bracket.
func cutPort(text string) (name, port string, found bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = plain(addr)
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", text)
	}
	return p.Masked(), nil
}

// plain returns the address that is meant: an IPv4 address is one also when it
// comes as an IPv6 address.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

var errNoName = errors.New("is not the name of a host, such as hooks.example.org or *.example.org, in its ASCII form and without a scheme or path")

// pattern is a name in the DNS, or all names below one.
type pattern struct {
	text  string
	below bool
}

func parsePattern(text string) (pattern, error) {
	name, below := strings.CutPrefix(text, "*.")
	name = strings.TrimSuffix(name, ".")
	for label := range strings.SplitSeq(name, ".") {
		if !validLabel(label) {
			return pattern{}, errNoName
		}
	}
	return pattern{text: name, below: below}, nil
}

func validLabel(label string) bool {
	return label != "" && len(label) <= 63 && !strings.ContainsFunc(label, func(r rune) bool {
		return r != '-' && r != '_' && (r < 'a' || 'z' < r) && (r < '0' || '9' < r)
	})
}

// matches reports whether the name, in lower case, is meant.
func (p pattern) matches(name string) bool {
	if p.below {
		return strings.HasSuffix(name, "."+p.text)
	}
	return p.text != "" && name == p.text
}

// target is the host and port of a URL.
type target struct {
	name string     // "" if it is an address
	addr netip.Addr // invalid if it is a name
	port string
}

func targetOf(u *url.URL) target {
	t := target{name: strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port: portOf(u)}
	if addr, err := netip.ParseAddr(t.name); err == nil {
		t.name, t.addr = "", plain(addr)
	}
	return t
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// means reports whether the item is about that host, at any port.
func (h host) means(t target) bool {
	if h.addr.IsValid() {
		return h.addr == t.addr
	}
	return h.name.matches(t.name)
}

func (h host) allowsPort(port string) bool { return h.port == "" || h.port == port }

// refuses says why the URL may not be called; it returns "" if it may be.
func (h Hosts) refuses(u *url.URL) string {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "is not an http or https URL with a host"
	}
	if u.User != nil {
		return "must not contain a user or password: everyone who may read the route would see them"
	}
	t := targetOf(u)
	ports := false
	for _, item := range h.items {
		if !item.means(t) {
			continue
		}
		if item.allowsPort(t.port) {
			return ""
		}
		ports = true
	}
	if ports {
		return fmt.Sprintf("routes may not call %s at port %s; an administrator allows it with the setting allow-host", u.Hostname(), t.port)
	}
	return fmt.Sprintf("routes may not call %s; an administrator allows it with the setting allow-host", u.Hostname())
}

// permits reports whether the address that a host resolved to may be called:
// it is public, or the list names it, or the list says that the host is there.
func (h Hosts) permits(t target, at netip.AddrPort) bool {
	a := plain(at.Addr())
	if public(a) {
		return true
	}
	return slices.ContainsFunc(h.items, func(item host) bool {
		return item.allowsPort(strconv.Itoa(int(at.Port()))) &&
			(item.addr == a || item.within.Contains(a) && item.means(t))
	})
}

// public reports whether an address is one of the Internet's, by IANA's
// registries of special-purpose addresses (RFC 6890). Of IPv6 only what is
// allocated as global unicast is; addresses that hold one of IPv4 (6to4,
// Teredo, NAT64) are not, since what they lead to is not looked at.
func public(a netip.Addr) bool {
	special := []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	}
	if a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a) {
		return false
	}
	return !slices.ContainsFunc(special, func(p string) bool { return netip.MustParsePrefix(p).Contains(a) })
}

// RefusesURL implements engine.Outside.
func (g *Gateway) RefusesURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "is not a URL"
	}
	return g.hosts().refuses(u)
}
