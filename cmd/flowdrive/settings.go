package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"flowdrive/internal/clock"
	"flowdrive/internal/link"
	"flowdrive/internal/simulate"
	"flowdrive/schedule"
)

// settings are the values of the flags of serve.
type settings struct {
	addr           string
	data           string
	db             string
	sandbox        string
	timezone       string
	insecureHTTP   bool
	tlsCert        string
	tlsKey         string
	trustedProxies []string
	scriptClients  []string
	publicNames    []string
	publicURL      string
	logLevel       string
	maxEntries     int64
	maxRoutes      int64
	maxOpenCases   int64
	quota          byteSize
	outside        outsideSettings

	// offline is for an operator's command while no server runs: nothing
	// becomes due meanwhile, and the clock is the folder's, whichever it is.
	offline bool

	// rehearsal lets routes name anything outside. It is set only with a
	// sandbox, which nothing leaves.
	rehearsal bool
	// runs is how commands end in a rehearsal.
	runs map[string][]simulate.Run

	// bare leaves the examples out of a new data folder.
	bare bool
}

func (s *settings) register(flags *pflag.FlagSet) {
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on")
	s.registerData(flags)
	flags.StringVar(&s.db, "db", "", "URL of the database (default: SQLite in the data folder)")
	flags.StringVar(&s.sandbox, "sandbox", "", "rehearse with a clock that starts at this instant and stands still")
	flags.StringVar(&s.timezone, "timezone", "UTC", "time zone of dates that are written without one, such as Europe/Berlin")
	flags.BoolVar(&s.insecureHTTP, "insecure-http", false, "allow plain HTTP on addresses that are not loopback")
	flags.StringVar(&s.tlsCert, "tls-cert", "", "PEM file of the certificate; with --tls-key: serve HTTPS")
	flags.StringVar(&s.tlsKey, "tls-key", "", "PEM file of the certificate's key")
	flags.StringSliceVar(&s.trustedProxies, "trusted-proxy", nil, "CIDR of proxies whose forwarded headers count")
	flags.StringSliceVar(&s.scriptClients, "script-client", nil, "prefix of the User-Agent of other script clients")
	flags.StringSliceVar(&s.publicNames, "public-name", nil, "host name by which clients call the server; a COPY or MOVE to another is refused (default: any)")
	flags.StringVar(&s.publicURL, "public-url", "", "address by which people call the server, such as https://flow.example.org; links in mails,\nwebhooks and calendars begin with it (default: they are paths)")
	flags.Int64Var(&s.maxEntries, "max-entries", 0, "schedule entries a user may have (default 10000)")
	flags.Int64Var(&s.maxRoutes, "max-routes", 0, "routes a user may have (default 1000)")
	flags.Int64Var(&s.maxOpenCases, "max-open-cases", 0, "open cases a user may have (default 1000000)")
	flags.Var(&s.quota, "quota", "bytes a user may store, for example 500MiB (default 10GiB)")
	s.outside.register(flags)
}

// registerData registers the flags that every command on a data folder has.
func (s *settings) registerData(flags *pflag.FlagSet) {
	flags.StringVar(&s.data, "data", "./data", "data folder; created if it does not exist")
	flags.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
}

// validate returns what cannot be, naming the flag.
func (s *settings) validate() error {
	if s.db != "" {
		return usageError{fmt.Errorf("--db: databases other than SQLite in the data folder are not built yet; leave --db out")}
	}
	if (s.tlsCert == "") != (s.tlsKey == "") {
		return usageError{fmt.Errorf("--tls-cert and --tls-key go together")}
	}
	host, _, err := net.SplitHostPort(s.addr)
	if err != nil {
		return usageError{fmt.Errorf("--addr: %w", err)}
	}
	if s.tlsCert == "" && !s.insecureHTTP && !loopback(host) {
		return usageError{fmt.Errorf("--addr %s is not loopback, and passwords would cross the network in the clear; give --tls-cert and --tls-key, or --insecure-http behind a proxy that has them", s.addr)}
	}
	for _, limit := range []int64{s.maxEntries, s.maxRoutes, s.maxOpenCases} {
		if limit < 0 {
			return usageError{fmt.Errorf("--max-entries, --max-routes and --max-open-cases must not be negative")}
		}
	}
	// What is read later is checked before anything is made.
	_, sandboxErr := s.sandboxStart()
	_, proxyErr := s.proxies()
	_, levelErr := s.level()
	_, outsideErr := s.outside.gateway()
	_, linksErr := s.links()
	return errors.Join(sandboxErr, s.zoneErr(), proxyErr, levelErr, outsideErr, linksErr)
}

// zoneErr says if there is no time zone of the name that was given.
func (s *settings) zoneErr() error {
	if new(clock.Zones).Zone(s.timezone) == nil {
		return usageError{fmt.Errorf("--timezone: %q is not a time zone of the IANA database, such as Europe/Berlin or UTC", s.timezone)}
	}
	return nil
}

// links returns how links begin.
func (s *settings) links() (link.Base, error) {
	base, err := link.ParseBase(s.publicURL)
	if err != nil {
		return "", usageError{fmt.Errorf("--public-url: %w", err)}
	}
	return base, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func (s *settings) proxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range s.trustedProxies {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, usageError{fmt.Errorf("--trusted-proxy: %q is not a network like 10.0.0.0/8", text)}
		}
		out = append(out, p)
	}
	return out, nil
}

// sandboxStart returns the instant of --sandbox, or zero if it is not given.
func (s *settings) sandboxStart() (time.Time, error) {
	if s.sandbox == "" {
		return time.Time{}, nil
	}
	t, err := schedule.ParseTimeText(s.sandbox)
	if err != nil {
		return time.Time{}, usageError{fmt.Errorf("--sandbox: %w", err)}
	}
	return t, nil
}

func (s *settings) level() (zerolog.Level, error) {
	l, err := zerolog.ParseLevel(s.logLevel)
	if err != nil || l == zerolog.NoLevel {
		return 0, usageError{fmt.Errorf("--log-level: %q is not debug, info, warn or error", s.logLevel)}
	}
	return l, nil
}
