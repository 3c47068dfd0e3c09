package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-retryablehttp"
)

const (
	workflow = "/dav/Workflow/"
	cases    = workflow + "Cases/"
	routes   = workflow + "Routes/"
	schedule = workflow + "Schedule/"
	worklist = workflow + "Worklist/"
	account  = "/dav/Account/"
)

const (
	connectTimeout = 10 * time.Second
	answerTimeout  = 2 * time.Minute
	maxRepeats     = 3
	firstWait      = 100 * time.Millisecond
	longestWait    = 10 * time.Second
	maxDocument    = 64 << 20
)

// Options are what a client can be told beside its profile. The zero value does.
type Options struct {
	// Version is the program's version, for the User-Agent.
	Version string
	// HTTP sends the requests instead of a client with timeouts and the profile's
	// authority of certificates.
	HTTP *http.Client
	// Progress is called while bytes of files travel, with how many there were so far
	// and how many there are, or -1.
	Progress func(done, all int64)
}

// Client speaks to one server as one user. It may be used by several goroutines.
type Client struct {
	base           *url.URL
	user, password string
	agent          string
	progress       func(done, all int64)
	plain          *http.Client
	repeating      *retryablehttp.Client
}

// New returns a client of the server that the profile names. It sends nothing. The URL is
// http or https, with or without /dav/ at its end.
func New(p Profile, o Options) (*Client, error) {
	base, err := serverURL(p.URL)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, user: p.User, password: p.Password, progress: o.Progress, plain: o.HTTP}
	c.agent = "flowdrive/" + orDefault(o.Version, "devel")
	if c.plain == nil {
		if c.plain, err = httpClient(p.Authority); err != nil {
			return nil, err
		}
	}
	c.repeating = &retryablehttp.Client{
		HTTPClient: c.plain, RetryMax: maxRepeats, RetryWaitMin: firstWait, RetryWaitMax: longestWait,
		CheckRetry: mayRepeat, Backoff: retryablehttp.DefaultBackoff, ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return c, nil
}

// URL returns the address of the server, without a slash at its end.
func (c *Client) URL() string { return strings.TrimSuffix(c.base.String(), "/") }

// User returns the name of the user.
func (c *Client) User() string { return c.user }

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func serverURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a server: give it as https://flow.example.org", text)
	}
	if u.User != nil {
		return nil, errors.New("the address of the server must not have a password in it")
	}
	path := strings.TrimSuffix(u.Path, "/")
	path = strings.TrimSuffix(path, "/dav")
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}, nil
}

func httpClient(authority string) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			return nil, fmt.Errorf("read the authority of certificates: %w", err)
		}
		if config.RootCAs, err = x509.SystemCertPool(); err != nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM", authority)
		}
	}
	dialer := &net.Dialer{Timeout: connectTimeout}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: config, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: time.Minute,
	}}, nil
}

// request is what is sent.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any // nil, []byte, io.ReadSeeker or io.Reader
	size         int64
	once         bool // not to be repeated after its answer was lost
}

// keyed gives the request an Idempotency-Key, so that it can be repeated.
func (r request) keyed() request {
	r.header = withHeader(r.header, "Idempotency-Key", uuid.NewString())
	return r
}

func withHeader(h http.Header, key, value string) http.Header {
	h = h.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set(key, value)
	return h
}

// onceKey marks the context of a request that must not be repeated blindly.
type onceKey struct{}

// send sends a request and returns the answer if it is a success. Its body is to be
// closed.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	resp, err := c.sendAny(ctx, r)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	return nil, errors.Join(c.problem(resp), resp.Body.Close())
}

func (c *Client) sendAny(ctx context.Context, r request) (*http.Response, error) {
	ctx = context.WithValue(ctx, onceKey{}, r.once)
	target := c.base.JoinPath()
	target.Path = strings.TrimSuffix(target.Path, "/") + r.path
	target.RawQuery = r.query.Encode()
	reader, seekable := r.body.(io.Reader)
	if _, isSeeker := r.body.(io.ReadSeeker); !isSeeker && seekable {
		req, err := http.NewRequestWithContext(ctx, r.method, target.String(), reader)
		if err != nil {
			return nil, err
		}
		req.ContentLength = r.size
		c.dress(req, r)
		return c.plain.Do(req)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.method, target.String(), r.body)
	if err != nil {
		return nil, err
	}
	if _, isSeeker := r.body.(io.ReadSeeker); isSeeker {
		req.ContentLength = r.size
	}
	c.dress(req.Request, r)
	return c.repeating.Do(req)
}

func (c *Client) dress(req *http.Request, r request) {
	for key, values := range r.header {
		req.Header[key] = values
	}
	req.Header.Set("User-Agent", c.agent)
	if c.user != "" || c.password != "" {
		req.SetBasicAuth(c.user, c.password)
	}
}

// mayRepeat decides whether a request is sent again: if the server has done nothing, or if
// doing it twice has the effect of doing it once.
func mayRepeat(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		if _, isTLS := errors.AsType[*tls.CertificateVerificationError](err); isTLS {
			return false, nil
		}
		once, _ := ctx.Value(onceKey{}).(bool)
		return !once || neverSent(err), nil
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		// A wait that cannot be read is zero: it is repeated after one of our own.
		wait, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(wait)*time.Second <= longestWait, nil
	}
	return false, nil
}

// neverSent reports whether the error came before anything of the request was sent.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// read sends a request and returns the body of its answer.
func (c *Client) read(ctx context.Context, r request) (body []byte, header http.Header, err error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if body, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument)); err != nil {
		return nil, nil, c.unreachable(err)
	}
	return body, resp.Header, nil
}
