package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"golang.org/x/net/http/httpguts"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
)

// limits are how far the outside is trusted. Tests have shorter ones.
type limits struct {
	call, mail  time.Duration
	answer      int64         // bytes of a service's answer
	redirects   int           // that are followed
	later       time.Duration // the longest pause that a service may ask for
	postMortem  time.Duration // for what a command leaves running
	follow      time.Duration // how often what a running command writes is told
	errorAnswer int64         // bytes read and kept of an answer that is an error
}

func defaultLimits() limits {
	return limits{
		call: 10 * time.Second, mail: 30 * time.Second, answer: 1 << 20, redirects: 3, later: time.Hour,
		postMortem: time.Second / 2, follow: time.Second, errorAnswer: outbox.MostKept,
	}
}

// newTransport returns what requests are made with: without a proxy, cookies
// or decompression, in HTTP/1.1.
func (g *Gateway) newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            g.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: g.RootCAs},
		TLSHandshakeTimeout:    g.limits.call,
		DisableCompression:     true,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    2,
		MaxConnsPerHost:        8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// forbidden is the error of an address that may not be called.
type forbidden struct{ address string }

func (f *forbidden) Error() string {
	return f.address + " is not a public address; an administrator allows it with the setting allow-host"
}

// dial connects to a host that the list has. The address is judged when it is
// connected to: what was looked up before could have changed since.
func (g *Gateway) dial(ctx context.Context, network, address string) (net.Conn, error) {
	t := targetOf(&url.URL{Host: address})
	d := net.Dialer{Timeout: g.limits.call, Resolver: g.Resolver, ControlContext: func(_ context.Context, _, at string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(at)
		if err != nil || !g.hosts().permits(t, to) {
			return &forbidden{address: at}
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// request is one request of a call: the first, or one that a redirect asks for.
type request struct {
	method string
	url    *url.URL
	body   []byte
	hidden *hidden // what must not be told of it
}

// call sends a request to a service, and follows its redirects.
func (g *Gateway) call(ctx context.Context, id string, c *outbox.HTTPCall, secrets *hidden) (*outbox.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, g.limits.call)
	defer cancel()
	first, err := g.check(c)
	if err != nil {
		return nil, err
	}
	next := request{method: c.Method, url: first, body: c.Body, hidden: secrets}
	for redirects := 0; ; redirects++ {
		if reason := g.hosts().refuses(next.url); reason != "" {
			return nil, final("%s: %s", place(next.url), reason)
		}
		r, err := g.prepare(ctx, id, c, next, sameHost(first, next.url))
		if err != nil {
			return nil, final("%s: %v", place(next.url), err)
		}
		res, err := g.transport.RoundTrip(r)
		if f, ok := errors.AsType[*forbidden](err); ok {
			return nil, final("%s: %v", place(next.url), f)
		}
		if err != nil && late(ctx, err) {
			return nil, tooLate("%s %s was not answered within %s", next.method, place(next.url), short(g.limits.call))
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", next.method, place(next.url), err)
		}
		location := res.Header.Get("Location")
		if !redirects3xx(res.StatusCode) || location == "" {
			return g.answer(ctx, next, res)
		}
		_ = res.Body.Close() // nothing was written, and it is not read
		if redirects == g.limits.redirects {
			return nil, final("%s redirects more than %d times", place(first), g.limits.redirects)
		}
		if next, err = follow(next, res.StatusCode, location); err != nil {
			return nil, err
		}
	}
}

// check returns the URL of a call that can be made.
func (g *Gateway) check(c *outbox.HTTPCall) (*url.URL, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, final("the text is not a URL")
	}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, c.Method) {
		return nil, final("%s: %q is not a method that may be used", place(u), c.Method)
	}
	if _, err := g.signer(nil, c); err != nil {
		return nil, final("%s: %v", place(u), err)
	}
	if !httpguts.ValidHeaderFieldValue(c.MediaType) {
		return nil, final("%s: %q is not a media type", place(u), c.MediaType)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		value := c.Header[name]
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, final("%s: the header %q or its value is not allowed in HTTP", place(u), name)
		}
	}
	return u, nil
}

// prepare returns the HTTP request. What the route's author put into the
// header may hold passwords, and goes to the host of the call alone.
func (g *Gateway) prepare(ctx context.Context, id string, c *outbox.HTTPCall, n request, trusted bool) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, n.method, n.url.String(), bytes.NewReader(n.body))
	if err != nil {
		return nil, err
	}
	if len(n.body) > 0 && c.MediaType != "" {
		r.Header.Set("Content-Type", c.MediaType)
	}
	for name, value := range c.Header {
		if trusted && !ours(name) {
			r.Header.Set(name, value)
		}
	}
	if len(n.body) == 0 {
		r.Header.Del("Content-Type")
	}
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "flowdrive/"+g.Version)
	r.Header.Set("Idempotency-Key", id)
	key, err := g.signer(nil, c)
	if err != nil {
		return nil, err
	}
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header)) // nothing if the delivery is not traced
	sign(r.Header, key, id, g.Clock.Now(), n.body)
	return r, nil
}

// ours reports whether a header is not the author's to set: it is of the
// connection (RFC 9110, section 7.6.1), or says who sends.
func ours(name string) bool {
	return slices.Contains([]string{
		"Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Webhook-Signature",
	}, http.CanonicalHeaderKey(name))
}

// redirects3xx reports whether a status asks to go elsewhere.
func redirects3xx(status int) bool {
	return slices.Contains([]int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	}, status)
}

// follow returns the request that a redirect asks for (RFC 9110, section 15.4):
// after 303, and as all clients do after 301 and 302 to a POST, a GET without
// the body.
func follow(from request, status int, location string) (request, error) {
	to, err := from.url.Parse(location)
	if err != nil {
		return from, final("%s redirects to something that is not a valid URL", place(from.url))
	}
	to.Fragment, to.RawFragment = "", ""
	if from.url.Scheme == "https" && to.Scheme == "http" {
		return from, final("%s redirects from https to http, which is not followed", place(from.url))
	}
	next := request{method: from.method, url: to, body: from.body, hidden: from.hidden}
	moved := status == http.StatusMovedPermanently || status == http.StatusFound
	if status == http.StatusSeeOther || moved && from.method == http.MethodPost {
		next.method, next.body = http.MethodGet, nil
	}
	return next, nil
}

// sameHost reports whether what is for one URL's host may be told the other's:
// it is the same server, or the same name once it is called by https.
func sameHost(a, b *url.URL) bool {
	ta, tb := targetOf(a), targetOf(b)
	upgrade := a.Port() == "" && b.Port() == "" && b.Scheme == "https"
	return ta.name == tb.name && ta.addr == tb.addr && (ta.port == tb.port && a.Scheme == b.Scheme || upgrade)
}

// place returns the part of a URL that may be shown: path and query may be
// secret.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host }

// answer turns an answer into a reply or an error.
func (g *Gateway) answer(ctx context.Context, asked request, res *http.Response) (*outbox.Reply, error) {
	defer res.Body.Close()
	if res.StatusCode >= 200 && res.StatusCode <= 299 {
		return g.reply(ctx, asked, res)
	}
	beginning, err := io.ReadAll(io.LimitReader(res.Body, g.limits.errorAnswer))
	if err != nil {
		beginning = nil // the status says what there is to say
	}
	beginning = asked.hidden.piece(beginning, false)
	body := &outbox.Reply{MediaType: asked.hidden.in(typeOfAnswer(res, beginning)), Content: beginning}
	reason := fmt.Sprintf("%s %s answered %d %s%s", asked.method, place(asked.url), res.StatusCode, http.StatusText(res.StatusCode), said(beginning))
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		if res.StatusCode < 500 {
			return nil, failed(res.StatusCode, body, &outbox.Final{Reason: reason})
		}
	}
	err = errors.New(reason)
	if after := g.retryAfter(res.Header.Get("Retry-After")); after > 0 {
		err = &outbox.Later{After: after, Err: err}
	}
	return nil, failed(res.StatusCode, body, err)
}

// failed is the error of an answer with a status that is not 2xx, and with that body.
func failed(status int, body *outbox.Reply, err error) error {
	return &outbox.Failed{Kind: machine.FailureStatus, Status: int64(status), Body: body, Err: err}
}

// reply reads the content of a good answer.
func (g *Gateway) reply(ctx context.Context, asked request, res *http.Response) (*outbox.Reply, error) {
	tooLong := final("the answer of %s has more than %d bytes", place(asked.url), g.limits.answer)
	if coding := res.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, final("the answer of %s is encoded as %s, which the request did not accept", place(asked.url), clean([]byte(coding), 40))
	}
	if res.ContentLength > g.limits.answer {
		return nil, tooLong
	}
	content, err := io.ReadAll(io.LimitReader(res.Body, g.limits.answer+1))
	if err != nil && late(ctx, err) {
		return nil, tooLate("the answer of %s was not complete within %s", place(asked.url), short(g.limits.call))
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", place(asked.url), err)
	}
	if int64(len(content)) > g.limits.answer {
		return nil, tooLong
	}
	return &outbox.Reply{MediaType: typeOfAnswer(res, content), Content: content}, nil
}

// typeOfAnswer returns the media type of what a service has answered.
func typeOfAnswer(res *http.Response, content []byte) string {
	mediaType, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case err == nil:
		if charset := params["charset"]; charset != "" && mediaType != "application/json" { // which is always UTF-8; others could not be read any more
			mediaType = mime.FormatMediaType(mediaType, map[string]string{"charset": charset})
		}
	case len(content) == 0:
		mediaType = "text/plain"
	default:
		mediaType = "application/octet-stream"
	}
	return mediaType
}

// retryAfter reads how long a service wants to wait for the next attempt,
// seconds or a date (RFC 9110, section 10.2.3). It returns 0 if the service
// does not say.
func (g *Gateway) retryAfter(text string) time.Duration {
	if text == "" {
		return 0
	}
	var after time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 63); err == nil {
		after = time.Duration(min(seconds, uint64(g.limits.later/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		after = at.Sub(g.Clock.Now())
	}
	return min(max(after, 0), g.limits.later)
}

// late reports whether an attempt failed because its time was over, which ctx bounds.
func late(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}

// tooLate is the error of an attempt that had no more time. It says who did not do what,
// and not on which socket the attempt waited then.
func tooLate(format string, args ...any) error {
	return &outbox.Failed{Kind: machine.FailureTimeout, Err: fmt.Errorf(format, args...)}
}

func final(format string, args ...any) error {
	return &outbox.Final{Reason: fmt.Sprintf(format, args...)}
}
