package postgres

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"flowdrive/internal/clock"
)

// CheckAddress says what is wrong with the address of a database, nil for nothing. An
// address is a URL: postgres://user@host:port/database, with several hosts between
// commas, and parameters as libpq has them. The text of the error has no password.
func CheckAddress(address string) error {
	if !IsAddress(address) {
		return fmt.Errorf("%s is not the address of a PostgreSQL database; it begins with postgres://", Redacted(address))
	}
	if _, err := pgconn.ParseConfig(address); err != nil {
		return fmt.Errorf("%s is not a valid address: %w", Redacted(address), err)
	}
	return nil
}

// IsAddress reports whether a text is meant as the address of a PostgreSQL database.
func IsAddress(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// HasPassword reports whether an address has a password in it.
func HasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return strings.Contains(address, "@")
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password")
}

// Redacted returns an address as it may be shown: without the password.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		scheme, rest, _ := strings.Cut(address, "://")
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			return scheme + "://…" + rest[at:]
		}
		return address
	}
	if q := u.Query(); q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// place is where a database is, for people.
func place(to *pgconn.Config) string {
	if strings.HasPrefix(to.Host, "/") {
		return to.Host
	}
	return net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
}

// config returns how connections are made.
func (o Options) config() (*pgconn.Config, error) {
	if err := CheckAddress(o.Address); err != nil {
		return nil, refused{err}
	}
	to, err := pgconn.ParseConfig(o.Address)
	if err != nil {
		return nil, refused{err}
	}
	if o.Password != "" {
		to.Password = o.Password
	}
	if most := min(o.Answer, connectWithin); to.ConnectTimeout == 0 || to.ConnectTimeout > most {
		to.ConnectTimeout = most
	}
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	for name, value := range map[string]string{
		"application_name": "flowdrive " + o.Node,
		"client_encoding":  "UTF8",
		"jit":              "off", // statements are short
		// The server gives up a little before the one who waits for it does.
		"statement_timeout":                   milliseconds(o.Answer * 9 / 10),
		"lock_timeout":                        milliseconds(o.Answer / 2),
		"idle_in_transaction_session_timeout": milliseconds(2 * o.Answer),
	} {
		if _, given := to.RuntimeParams[name]; !given {
			to.RuntimeParams[name] = value
		}
	}
	dial := to.DialFunc
	to.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &impatient{c, o.Answer}, nil
	}
	return to, nil
}

// impatient is a connection to a server that must answer within a time: one that is gone
// without a word is noticed by it. Nothing reads from it but for an answer.
type impatient struct {
	net.Conn
	within time.Duration
}

// Read implements net.Conn.
func (c *impatient) Read(to []byte) (int, error) {
	if err := c.SetReadDeadline(clock.Real{}.Now().Add(c.within)); err != nil {
		return 0, err
	}
	return c.Conn.Read(to)
}

// Write implements net.Conn.
func (c *impatient) Write(data []byte) (int, error) {
	if err := c.SetWriteDeadline(clock.Real{}.Now().Add(c.within)); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}
