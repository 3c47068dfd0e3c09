package client

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
)

// Problem is what the server answers if it refuses a request: an RFC 9457 document.
type Problem struct {
	Type     string  `json:"type"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail"`
	Instance string  `json:"instance"`
	Faults   []Fault `json:"errors"`
	Line     int     `json:"line"` // of a document that cannot be parsed, else 0
	Column   int     `json:"column"`
	Scenario string  `json:"scenario"` // path of the scenario that the faults are in, else empty
}

// Fault is one fault of a document.
type Fault struct {
	Pointer string `json:"pointer"` // a JSON pointer into the document
	Detail  string `json:"detail"`
	Code    string `json:"code"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// Slug returns the last part of the type, such as "not-found".
func (p *Problem) Slug() string { return p.Type[strings.LastIndexByte(p.Type, ':')+1:] }

// Error returns the detail, and the faults a line each if there are several.
func (p *Problem) Error() string {
	if p.Status == http.StatusUnauthorized {
		why := strings.TrimSuffix(orDefault(p.Detail, "the server does not know this user and password"), ".")
		return why + ": log in again with flowdrive login, or set FLOWDRIVE_USER and FLOWDRIVE_PASSWORD"
	}
	if len(p.Faults) < 2 {
		return orDefault(p.Detail, orDefault(p.Title, http.StatusText(p.Status)))
	}
	lines := make([]string, len(p.Faults))
	for i, f := range p.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the fault with its place, as "2:5 /minute: is not a number".
func (f Fault) String() string {
	text := f.Detail
	if f.Pointer != "" {
		text = f.Pointer + ": " + text
	}
	if f.Line > 0 {
		text = fmt.Sprintf("%d:%d %s", f.Line, f.Column, text)
	}
	return text
}

// Placed reports whether the problem says where in a document a fault is.
func (p *Problem) Placed() bool {
	return p.Line > 0 || slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Line > 0 })
}

// MissingReference reports whether the only faults are that what the document or the query names
// on the server is not there, or not visible. A name of a time zone that does not exist is a
// mistake in the document.
func (p *Problem) MissingReference() bool {
	for _, f := range p.Faults {
		if f.Code != "not-found" || strings.HasSuffix(f.Pointer, "/timezone") {
			return false
		}
	}
	return len(p.Faults) > 0
}

// IsSlug reports whether the error is a problem of that type, such as "not-found".
func IsSlug(err error, slug string) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Slug() == slug
}

// UnreachableError says that no Flowdrive server has answered. Its text says what to do.
type UnreachableError struct {
	URL  string
	What string
	Err  error
}

func (e *UnreachableError) Error() string { return e.URL + ": " + e.What }

func (e *UnreachableError) Unwrap() error { return e.Err }

// problem reads the refusal in an answer.
func (c *Client) problem(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return c.unreachable(err)
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	p := &Problem{Status: resp.StatusCode}
	if err == nil && kind == "application/problem+json" && json.Unmarshal(body, p) == nil {
		return p
	}
	// COPY, MOVE and MKCOL are answered in XML; whatever else there is may be a proxy.
	if err == nil && (kind == "application/xml" || kind == "text/xml") {
		p.Title, p.Detail = resp.Status, xmlText(body)
		return p
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return p
	}
	if resp.StatusCode == http.StatusBadRequest && strings.Contains(string(body), "HTTP request to an HTTPS server") {
		return &UnreachableError{URL: c.URL(), Err: p, What: "the server speaks TLS on this port: try https://"}
	}
	return &UnreachableError{
		URL: c.URL(), Err: p,
		What: fmt.Sprintf("answers %q, and not as a Flowdrive server does: look whether the address is right, and what a proxy before the server says", resp.Status),
	}
}

// unreachable says in words why there was no answer.
func (c *Client) unreachable(err error) error {
	_, isProblem := errors.AsType[*Problem](err)
	_, isUnreachable := errors.AsType[*UnreachableError](err)
	if isProblem || isUnreachable {
		return err
	}
	return &UnreachableError{URL: c.URL(), What: whyUnreachable(err), Err: err}
}

func whyUnreachable(err error) string {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	host, otherHost := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	record, notTLS := errors.AsType[tls.RecordHeaderError](err)
	dns, noName := errors.AsType[*net.DNSError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case unknown:
		return "its certificate is not from an authority that this machine knows; if that is meant, give the authority's file with flowdrive login --cacert FILE"
	case otherHost:
		return "its certificate is for another host: " + host.Error()
	case invalid:
		return "its certificate is not valid: " + err.Error()
	case notTLS && record.Conn != nil, strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server does not speak TLS on this port: try http:// or another port"
	case noName:
		return fmt.Sprintf("there is no host %q: look at the spelling of the address", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "no server listens there: look whether it runs, and at the port"
	case isNet && timeout.Timeout():
		return "the server does not answer in time"
	}
	return "the server cannot be reached: " + err.Error()
}
