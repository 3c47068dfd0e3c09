package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/link"
	"flowdrive/internal/simulate"
	"flowdrive/schedule"
	"flowdrive/server"
)

// settings are the values of the flags of serve.
type settings struct {
	addr           string
	data           string
	database       databaseSettings
	contents       string
	sandbox        string
	timezone       string
	insecureHTTP   bool
	tlsCert        string
	tlsKey         string
	acme           acmeSettings
	trustedProxies []string
	scriptClients  []string
	publicNames    []string
	publicURL      string
	logLevel       string
	maxEntries     int64
	maxRoutes      int64
	maxOpenCases   int64
	maxVersions    int64
	keepVersions   string
	maxFiles       int64
	maxStarted     int64
	maxFromOne     int64
	maxMails       int64
	maxNotices     int64
	quota          byteSize
	memoryLimit    byteSize
	maxConnections int
	fromOneAddress int
	ratePerUser    rateFlag
	ratePerAddress rateFlag
	outside        outsideSettings
	signOn         signOnSettings
	traces         traceSettings

	backup backupSettings

	// offline is for an operator's command while no server runs: nothing
	// becomes due meanwhile, and the clock is the folder's, whichever it is.
	offline bool

	// existing refuses a data folder in which no server has ever been.
	existing bool

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
	s.database.register(flags)
	registerContents(flags, &s.contents)
	flags.StringVar(&s.sandbox, "sandbox", "", "rehearse with a clock that starts at this instant, or now, and stands still")
	flags.StringVar(&s.timezone, "timezone", "UTC", "time zone of dates that are written without one, such as Europe/Berlin; files in Schedule/ have their own, else UTC")
	flags.BoolVar(&s.insecureHTTP, "insecure-http", false, "allow plain HTTP on addresses that are not loopback")
	flags.StringVar(&s.tlsCert, "tls-cert", "", "PEM file of the certificate; with --tls-key: serve HTTPS")
	flags.StringVar(&s.tlsKey, "tls-key", "", "PEM file of the certificate's key")
	s.acme.register(flags)
	flags.StringSliceVar(&s.trustedProxies, "trusted-proxy", nil, "CIDR of proxies whose forwarded headers count")
	flags.StringSliceVar(&s.scriptClients, "script-client", nil, "prefix of the User-Agent of other script clients")
	flags.StringSliceVar(&s.publicNames, "public-name", nil, "host name by which clients call the server; a COPY or MOVE to another is refused (default: any)")
	flags.StringVar(&s.publicURL, "public-url", "", "address by which people call the server, such as https://flow.example.org; links in mails,\nwebhooks and calendars begin with it (default: they are paths)")
	flags.Int64Var(&s.maxEntries, "max-entries", 0, "schedule entries a user may have (default 10000)")
	flags.Int64Var(&s.maxRoutes, "max-routes", 0, "routes a user may have (default 1000)")
	flags.Int64Var(&s.maxOpenCases, "max-open-cases", 0, "open cases a user may have (default 1000000)")
	flags.Int64Var(&s.maxStarted, "max-started-cases", 0, "cases that routes start by themselves for a user in an hour (default 100000)")
	flags.Int64Var(&s.maxFromOne, "max-started-by-case", 0, "of these, cases that one case starts with its children and all that they start (default half of them)")
	flags.Int64Var(&s.maxMails, "max-mails-by-author", 0, "mails that the steps of a user's routes send in an hour; others wait (default 200; administrators are not bounded)")
	flags.Int64Var(&s.maxNotices, "max-notices-by-user", 0, "notices that a user gets by mail in an hour, each by itself; what is more comes in one mail at the end of the hour (default 200)")
	flags.Int64Var(&s.maxFiles, "max-files", 0, "documents and folders a user may have (default 1000000)")
	flags.Var(&s.quota, "quota", "bytes a user may store, for example 500MiB (default 10GiB)")
	flags.Var(&s.memoryLimit, "memory-limit", "memory that the server keeps to, for example 1GiB (default 256MiB)")
	flags.IntVar(&s.maxConnections, "max-connections", 4096, "connections that may be open at the same time")
	flags.IntVar(&s.fromOneAddress, "connections-per-address", 256, "of these, connections from one address; those of trusted proxies are not counted")
	flags.Var(&s.ratePerUser, "rate-per-user", "requests that a user may send in a second, such as 100/s, or 100/s,2000 with 2000 at once\n(20 times as many at once if it is not said; default off)")
	s.ratePerAddress = rateFlag{PerSecond: 200, Burst: 4000}
	flags.Var(&s.ratePerAddress, "rate-per-address", "the same for the requests of an address that have no valid log-in; off for any number")
	flags.StringVar(&s.keepVersions, "keep-versions", "", "how long what is overwritten or deleted in Documents/ is kept, as 90d or P90D; 0d for not at all (default 30d)")
	flags.Int64Var(&s.maxVersions, "max-versions", 0, "versions of a document that are kept (default 100)")
	flags.StringVar(&s.backup.to, "backup-to", "", "folder into which the server makes backups of itself (default: none)")
	flags.StringVar(&s.backup.at, "backup-at", backupAt, "when it does: a crontab line, in the zone of --timezone")
	flags.StringVar(&s.backup.keep, "backup-keep", "", "how many of these stay, such as 7d,4w,12m (default: all)")
	s.outside.register(flags)
	s.signOn.register(flags)
	s.traces.register(flags)
	keepFaults(flags)
}

// registerData registers the flags that every command on a data folder has.
func (s *settings) registerData(flags *pflag.FlagSet) {
	flags.StringVar(&s.data, "data", "./data", "data folder; created if it does not exist")
	flags.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
}

// validate returns everything that cannot be, naming the flags.
func (s *settings) validate() error {
	// What is read later is checked before anything is made.
	_, sandboxErr := s.sandboxStart()
	_, proxyErr := s.proxies()
	_, levelErr := s.level()
	_, outsideErr := s.outside.gateway()
	_, linksErr := s.links()
	_, _, backupErr := s.backup.read()
	_, versionsErr := s.versionsLast()
	_, contentsErr := contentsAddress(s.contents)
	_, _, signOnErr := s.signOn.oidc(s.publicURL)
	_, _, directoryErr := s.signOn.directory()
	_, tracesErr := s.traces.address()
	return errors.Join(tracesErr, s.acmeErr(), signOnErr, directoryErr, s.addressErr(), s.limitsErr(), versionsErr, contentsErr, backupErr, s.confirmErr(), sandboxErr, s.zoneErr(), proxyErr, levelErr, outsideErr, linksErr)
}

// addressErr says what is wrong with where the server listens and keeps its data.
func (s *settings) addressErr() error {
	var wrong []error
	if err := s.database.fault(); err != nil {
		wrong = append(wrong, err)
	}
	if s.database.address != "" && s.backup.to != "" {
		wrong = append(wrong, configError{errors.New("--backup-to: a PostgreSQL database is backed up with its own means, such as pg_dump or pgBackRest; leave it out with --db")})
	}
	if (s.tlsCert == "") != (s.tlsKey == "") {
		wrong = append(wrong, configError{errors.New("--tls-cert and --tls-key go together")})
	}
	host, port, err := net.SplitHostPort(s.addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port) //nolint:noctx // what has a name is looked up in a file
	}
	if s.data == "" {
		wrong = append(wrong, configError{errors.New("--data must be the path of a folder; leave it out for ./data")})
	}
	switch {
	case err != nil:
		wrong = append(wrong, configError{fmt.Errorf("--addr: %q is not a host and a port, such as 127.0.0.1:8080", s.addr)})
	case !s.secure() && !s.insecureHTTP && !loopback(host):
		wrong = append(wrong, configError{fmt.Errorf("--addr %s is not loopback, and passwords would cross the network in the clear; give --tls-cert and --tls-key, or --acme-domain, or --insecure-http behind a proxy that has them", s.addr)})
	}
	return errors.Join(wrong...)
}

// limit is a setting that bounds what a user may have; 0 stands for the default.
type limit struct {
	flag  string
	value *int64
	usual int64
}

// userLimits returns the limits of users. Those of which the default follows from another
// come after it.
func (s *settings) userLimits() []limit {
	started := cmp.Or(max(0, s.maxStarted), engine.DefaultStarted)
	return []limit{
		{"max-entries", &s.maxEntries, engine.DefaultEntries},
		{"max-routes", &s.maxRoutes, engine.DefaultRoutes},
		{"max-open-cases", &s.maxOpenCases, engine.DefaultOpenCases},
		{"max-versions", &s.maxVersions, engine.DefaultVersions},
		{"max-files", &s.maxFiles, engine.DefaultFiles},
		{"max-started-cases", &s.maxStarted, engine.DefaultStarted},
		{"max-started-by-case", &s.maxFromOne, engine.DefaultFromOne(started)},
		{"max-mails-by-author", &s.maxMails, engine.DefaultMails},
		{"max-notices-by-user", &s.maxNotices, engine.DefaultNotices},
	}
}

// fillIn puts in place of what stands for a default what is in force then, so that it can
// be shown.
func (s *settings) fillIn() {
	for _, l := range s.userLimits() {
		*l.value = cmp.Or(*l.value, l.usual)
	}
	s.quota = cmp.Or(s.quota, engine.DefaultQuota)
	s.memoryLimit = cmp.Or(s.memoryLimit, defaultMemory)
	s.keepVersions = cmp.Or(s.keepVersions, fmt.Sprintf("%dd", engine.DefaultVersionsLast/(24*time.Hour)))
}

// limitsErr says which limits cannot be.
func (s *settings) limitsErr() error {
	var wrong []error
	for _, l := range s.userLimits() {
		if *l.value < 0 {
			wrong = append(wrong, configError{fmt.Errorf("--%s must not be negative", l.flag)})
		}
	}
	if s.maxConnections < 1 {
		wrong = append(wrong, configError{errors.New("--max-connections must be positive")})
	}
	if s.fromOneAddress < 1 {
		wrong = append(wrong, configError{errors.New("--connections-per-address must be positive")})
	}
	if s.memoryLimit != 0 && s.memoryLimit < leastMemory {
		wrong = append(wrong, configError{errors.New("--memory-limit must be at least 128MiB")})
	}
	return errors.Join(wrong...)
}

// limits returns the bounds that can change while the server runs.
func (s *settings) limits() server.Limits {
	return server.Limits{
		PerUser: server.Rate(s.ratePerUser), PerAddress: server.Rate(s.ratePerAddress),
		Connections: s.maxConnections, FromOneAddress: s.fromOneAddress,
	}
}

// versionsLast returns how long versions of documents are kept: 0 for as long as usual,
// less for not at all.
func (s *settings) versionsLast() (time.Duration, error) {
	if s.keepVersions == "" {
		return 0, nil
	}
	d, err := clock.ParseLength(s.keepVersions)
	switch {
	case err != nil:
		return 0, configError{fmt.Errorf("--keep-versions: %w", err)}
	case d == 0:
		return -1, nil
	}
	return d, nil
}

// zoneErr says if there is no time zone of the name that was given.
func (s *settings) zoneErr() error {
	if new(clock.Zones).Zone(s.timezone) == nil {
		return configError{fmt.Errorf("--timezone: %q is not a time zone of the IANA database, such as Europe/Berlin or UTC", s.timezone)}
	}
	return nil
}

// links returns how links begin.
func (s *settings) links() (link.Base, error) {
	base, err := link.ParseBase(s.publicURL)
	if err != nil {
		return "", configError{fmt.Errorf("--public-url: %w", err)}
	}
	return base, nil
}

// names returns the hosts by which clients may call a server on loopback.
func (s *settings) names() []string {
	names := slices.Clone(s.publicNames)
	if u, err := url.Parse(s.publicURL); err == nil && u.Host != "" {
		names = append(names, u.Host)
	}
	if machine, err := os.Hostname(); err == nil {
		names = append(names, machine)
	}
	return names
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
			return nil, configError{fmt.Errorf("--trusted-proxy: %q is not a network like 10.0.0.0/8", text)}
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
	if s.sandbox == "now" { // which is the instant of the first look
		s.sandbox = clock.Real{}.Now().UTC().Format(time.RFC3339)
	}
	t, err := schedule.ParseTimeText(s.sandbox)
	if err != nil {
		return time.Time{}, configError{fmt.Errorf("--sandbox: %w", err)}
	}
	return t, nil
}

func (s *settings) level() (zerolog.Level, error) {
	l, err := zerolog.ParseLevel(s.logLevel)
	if err != nil || l == zerolog.NoLevel {
		return 0, configError{fmt.Errorf("--log-level: %q is not debug, info, warn or error", s.logLevel)}
	}
	return l, nil
}
