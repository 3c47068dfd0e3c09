package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"flowdrive/internal/clock"
)

// CheckAddress says what is wrong with the address of a database, nil for nothing. An
// address is a URL: postgres://user@host:port/database, with several hosts between
// commas, and parameters as libpq has them. The text of the error has no password.
func CheckAddress(address string) error {
	if !IsAddress(address) {
		return errors.New("this is not the address of a PostgreSQL database: it begins with postgres://. The text is not shown, because it may contain a password")
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
		user, rest := split(address)
		return strings.Contains(user, ":") || strings.Contains(rest, "password=")
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password")
}

// hidden stands for what is not shown.
const hidden = "…"

// Redacted returns an address as it may be shown: without the password. Of a text that is not
// meant as a URL, such as host=db1 password=x, nothing is shown: a password can be anywhere.
func Redacted(address string) string {
	if !IsAddress(address) {
		return hidden
	}
	u, err := url.Parse(address)
	// With an @ behind the host, the host is a part of a password that has a / or ? in it.
	if err != nil || strings.Contains(u.EscapedPath()+u.RawQuery+u.Fragment, "@") {
		scheme, _, _ := strings.Cut(address, "://")
		user, rest := split(address)
		rest, _, _ = strings.Cut(rest, "?")
		if user != "" {
			rest = hidden + "@" + rest
		}
		return scheme + "://" + rest
	}
	q := u.Query()
	for _, name := range []string{"password", "sslpassword"} {
		if q.Has(name) {
			q.Set(name, "xxxxx")
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}

// split returns what is before the last @ of an address that is not a valid URL, and what is
// after it.
func split(address string) (user, rest string) {
	if _, behind, found := strings.Cut(address, "://"); found {
		address = behind
	}
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return address[:at], address[at+1:]
	}
	return "", address
}

// place is where a database is, for people.
func place(to *pgconn.Config) string {
	if strings.HasPrefix(to.Host, "/") {
		return to.Host
	}
	return net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
}

// execMode is the parameter of an address that says how statements are sent, as pgx has it.
const execMode = "default_query_exec_mode"

// direct returns the options of connections that need a session.
func (o Options) direct() Options {
	if o.Direct != "" {
		o.Address = o.Direct
	}
	return o
}

// pooled reports whether each transaction may reach another session of the database, because
// a pooler is on the way.
func (o Options) pooled() (bool, error) {
	to, err := pgconn.ParseConfig(o.Address)
	if err != nil {
		return false, refused{err}
	}
	switch mode := to.RuntimeParams[execMode]; mode {
	case "", "cache_statement":
		return false, nil
	case "exec":
		return true, nil
	default:
		return false, refused{refusal("%s=%s is not possible; leave it out, or write %s=exec if PgBouncer in transaction mode is on the way.", execMode, mode, execMode)}
	}
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
	pooled, err := o.pooled()
	if err != nil {
		return nil, err
	}
	delete(to.RuntimeParams, execMode)
	params := map[string]string{"application_name": "flowdrive " + o.Node, "client_encoding": "UTF8"}
	if !pooled { // PgBouncer refuses what it does not know, and does not keep it
		maps.Copy(params, o.bounds())
		params["jit"] = "off" // statements are short
	}
	for name, value := range params {
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
		silent := &impatient{Conn: c, within: o.Answer, among: o.dialed}
		return silent, o.dialed.add(silent)
	}
	return to, nil
}

// bounds are the settings of the database by which it gives up a little before the one who
// waits for it does.
func (o Options) bounds() map[string]string {
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	return map[string]string{
		"statement_timeout":                   milliseconds(o.Answer * 9 / 10),
		"lock_timeout":                        milliseconds(o.Answer / 2),
		"idle_in_transaction_session_timeout": milliseconds(2 * o.Answer),
	}
}

// setBounds is the statement that sets them for a transaction.
func (o Options) setBounds() string {
	bounds := o.bounds()
	set := make([]string, 0, len(bounds))
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		set = append(set, fmt.Sprintf(`set_config('%s', '%s', true)`, name, bounds[name]))
	}
	return `SELECT ` + strings.Join(set, ", ")
}

// impatient is a connection to a server that must answer within a time: one that is gone
// without a word is noticed by it, and closed. Nothing reads from it but for an answer.
type impatient struct {
	net.Conn
	within time.Duration
	among  *dialed
}

// Read implements net.Conn.
func (c *impatient) Read(to []byte) (int, error) {
	begin := clock.Real{}.Now()
	if err := c.SetReadDeadline(begin.Add(c.within)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(to)
	waited := clock.Real{}.Now().Sub(begin)
	if errors.Is(err, os.ErrDeadlineExceeded) && waited >= c.within {
		// The driver would wait once more after a deadline.
		err = errors.Join(fmt.Errorf("no answer within %v", c.within), c.Close())
	}
	return n, err
}

// Write implements net.Conn.
func (c *impatient) Write(data []byte) (int, error) {
	if err := c.SetWriteDeadline(clock.Real{}.Now().Add(c.within)); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}

// Close implements net.Conn.
func (c *impatient) Close() error {
	c.among.remove(c)
	return c.Conn.Close()
}

// dialed are the connections of a database that can be lost: then all are closed at once, so
// that nobody waits for an answer to any of them. A nil one knows of none.
type dialed struct {
	mu   sync.Mutex
	all  map[*impatient]bool
	over bool
}

// add notes a connection. It returns an error once the database is lost.
func (d *dialed) add(c *impatient) error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return errors.Join(errors.New("the database is lost"), c.Conn.Close())
	}
	d.all[c] = true
	return nil
}

func (d *dialed) remove(c *impatient) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.all, c)
}

// cut closes all connections.
func (d *dialed) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for c := range d.all {
		_ = c.Conn.Close() // it is useless anyway
	}
}
