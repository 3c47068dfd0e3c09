package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Call is a request for what has no method of its own, as /openapi.json describes it.
type Call struct {
	// Method is GET if it is empty.
	Method string
	// Path begins at the root of the server: /dav/Admin/Teams/core.json. It is not
	// percent-encoded.
	Path string
	// Query has the parameters of the operation, or nothing.
	Query url.Values
	// Header has further headers. With an Idempotency-Key, a request whose answer was lost is
	// sent again; without one, only if it reads.
	Header http.Header
	// Body is sent as it is. Content-Type is application/json unless Header has one.
	Body []byte
}

// Answer is what the server answers to a [Call].
type Answer struct {
	Status int // from 200 to 299
	Header http.Header
	Body   []byte
}

// Call sends a request, and returns an answer that is a success. Anything else is a [*Problem],
// as from every method. A body of more than 64 MiB is an error: [Client.Open] reads files of
// any size, and [Client.Follow] the events, which never end.
func (c *Client) Call(ctx context.Context, call Call) (answer Answer, err error) {
	r := request{method: orDefault(call.Method, http.MethodGet), path: call.Path, query: call.Query, header: call.Header.Clone()}
	if r.path == "" || r.path[0] != '/' {
		return Answer{}, fmt.Errorf("the path %q does not begin with a slash", call.Path)
	}
	switch r.method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		r.once = r.header.Get("Idempotency-Key") == ""
	}
	if call.Body != nil {
		r.body = call.Body
		if r.header.Get("Content-Type") == "" {
			r.header = withHeader(r.header, "Content-Type", "application/json")
		}
	}
	resp, err := c.send(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return Answer{}, c.unreachable(err)
	case len(body) > maxDocument:
		return Answer{}, fmt.Errorf("the answer to %s %s is longer than %d bytes", r.method, r.path, maxDocument)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}
