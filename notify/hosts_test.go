package notify

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseHosts(t *testing.T) {
	t.Parallel()
	for _, item := range []string{
		"", "*", "*.", "https://example.org", "example.org/x", "example..org", "exa mple.org", "münchen.example", "a@example.org",
		"example.org:0", "example.org:70000", "example.org:http", "[fd00::1", "[fd00::1]:x", "fd00::1]",
		"intranet.example=", "intranet.example=10.0.0.0/40", "intranet.example=x", "10.0.0.1=10.0.0.0/8", "localhost", "localhost:80",
		strings.Repeat("a", 64) + ".example",
	} {
		if _, err := ParseHosts([]string{"good.example", item}); err == nil || !strings.Contains(err.Error(), `"`+item+`": `) {
			t.Errorf("%s: got %v", item, err)
		}
	}
}

func TestRefusesURL(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{Hosts: allow(t, "Hooks.example.org", "*.example.com", "ports.example:8443", "ports.example:9443",
		"10.1.2.3", "127.0.0.1:9000", "[fd00::1]:80", "fd00::2", "intranet.example=10.0.0.0/8")})
	for _, test := range []struct{ url, want string }{
		{"https://hooks.example.org/x?y=$__PID__;", ""},
		{"http://HOOKS.example.org.:8080/", ""},
		{"https://a.example.com", ""},
		{"https://a.b.example.com", ""},
		{"https://example.com", "may not call example.com;"},
		{"https://evilexample.com", "may not call"},
		{"https://hooks.example.org.evil.example", "may not call"},
		{"https://ports.example:8443", ""},
		{"https://ports.example:9443", ""},
		{"https://ports.example", "ports.example at port 443"},
		{"http://10.1.2.3:99/", ""},
		{"http://[::ffff:10.1.2.3]/", ""},
		{"http://10.1.2.4/", "may not call"},
		{"http://127.0.0.1:9000/", ""},
		{"http://127.0.0.1/", "at port 80"},
		{"http://0x7f000001:9000/", "may not call"},
		{"http://2130706433:9000/", "may not call"},
		{"http://[fd00::1]/", ""},
		{"http://[fd00::2]:5/", ""},
		{"http://[fd00::3]/", "may not call"},
		{"http://intranet.example/", ""},
		{"http://hooks.example.org@evil.example/", "must not contain a user"},
		{"http://user:secret@hooks.example.org/", "must not contain a user"},
		{"ftp://hooks.example.org/", "is not an http"},
		{"//hooks.example.org/", "is not an http"},
		{"http:///x", "is not an http"},
		{"http://hooks.example.org:x/", "is not a URL"},
		{"\x00", "is not a URL"},
	} {
		got := g.RefusesURL(test.url)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) || strings.Contains(got, ":secret") {
			t.Errorf("%s: got %q, want %q", test.url, got, test.want)
		}
	}
}

func TestPermits(t *testing.T) {
	t.Parallel()
	h := allow(t, "hooks.example.org", "intranet.example=10.0.0.0/8", "intranet.example=fd00::/8", "odd.example:99=192.168.1.7",
		"10.9.9.9", "127.0.0.1:9000", "nat.example=64:ff9b::/96")
	for _, test := range []struct {
		host, at string
		want     bool
	}{
		{"hooks.example.org", "93.184.215.14:443", true},
		{"hooks.example.org", "[2606:2800:21f:cb07::1]:443", true},
		{"hooks.example.org", "127.0.0.1:443", false},
		{"hooks.example.org", "127.0.0.1:9000", true}, // the list names that very place
		{"hooks.example.org", "10.9.9.9:443", true},
		{"hooks.example.org", "10.9.9.8:443", false},
		{"hooks.example.org", "[::ffff:10.9.9.8]:443", false},
		{"hooks.example.org", "[::ffff:127.0.0.1]:443", false},
		{"hooks.example.org", "[::ffff:93.184.215.14]:443", true},
		{"hooks.example.org", "169.254.169.254:80", false},
		{"hooks.example.org", "[fd00:ec2::254]:80", false},
		{"hooks.example.org", "[fe80::1%eth0]:80", false},
		{"hooks.example.org", "0.0.0.0:80", false},
		{"hooks.example.org", "[::]:80", false},
		{"hooks.example.org", "[::1]:80", false},
		{"hooks.example.org", "100.64.0.1:80", false},
		{"hooks.example.org", "172.31.0.1:80", false},
		{"hooks.example.org", "172.32.0.1:80", true},
		{"hooks.example.org", "192.168.0.1:80", false},
		{"hooks.example.org", "198.19.0.1:80", false},
		{"hooks.example.org", "224.0.0.1:80", false},
		{"hooks.example.org", "255.255.255.255:80", false},
		{"hooks.example.org", "[ff02::1]:80", false},
		{"hooks.example.org", "[64:ff9b::7f00:1]:80", false},
		{"hooks.example.org", "[2002:7f00:1::]:80", false},
		{"hooks.example.org", "[2001:0:1::]:80", false},
		{"hooks.example.org", "[::7f00:1]:80", false},
		{"nat.example", "[64:ff9b::5db8:d70e]:80", true},
		{"intranet.example", "10.0.0.1:80", true},
		{"intranet.example", "[fd12::1]:80", true},
		{"intranet.example", "192.168.0.1:80", false},
		{"odd.example", "192.168.1.7:99", true},
		{"odd.example", "192.168.1.7:98", false},
		{"odd.example", "192.168.1.8:99", false},
	} {
		if got := h.permits(target{name: test.host}, netip.MustParseAddrPort(test.at)); got != test.want {
			t.Errorf("%s at %s: got %t", test.host, test.at, got)
		}
	}
	if new(Hosts).permits(target{name: "x"}, netip.MustParseAddrPort("127.0.0.1:80")) {
		t.Error("the zero value permits this machine")
	}
}

// FuzzParseHosts: what is taken can be asked, and does not mean what it does
// not say.
func FuzzParseHosts(f *testing.F) {
	for _, seed := range []string{"example.org", "*.example.org:443", "[fd00::1]:80", "a=10.0.0.0/8", "::ffff:1.2.3.4", "fe80::1%x"} {
		f.Add(seed, "other.example")
	}
	f.Fuzz(func(t *testing.T, item, name string) {
		h, err := ParseHosts([]string{item})
		if err != nil {
			return
		}
		if h.permits(target{name: name, port: "80"}, netip.MustParseAddrPort("169.254.169.254:80")) && !strings.Contains(item, "=") && !strings.Contains(item, "169.254.169.254") && !strings.Contains(strings.ToLower(item), "a9fe:a9fe") {
			t.Errorf("%q permits the address of metadata", item)
		}
	})
}

// TestAllow: what may be reached changes while the gateway is used.
func TestAllow(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{Hosts: allow(t, "before.example")})
	const before, after = "https://before.example/", "https://after.example/"
	if g.RefusesURL(before) != "" || g.RefusesURL(after) == "" {
		t.Errorf("at first: %q, %q", g.RefusesURL(before), g.RefusesURL(after))
	}
	domains, err := ParseDomains([]string{"example.org"})
	if err != nil {
		t.Fatal(err)
	}
	g.Allow(allow(t, "after.example"), domains)
	if g.RefusesURL(before) == "" || g.RefusesURL(after) != "" {
		t.Errorf("after the change: %q, %q", g.RefusesURL(before), g.RefusesURL(after))
	}
	if len(g.domains().items) != 1 {
		t.Errorf("domains: %+v", g.domains())
	}
}
