package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
)

// client speaks to a server through the socket in its data folder: whoever
// may open the socket acts as an administrator.
type client struct{ http *http.Client }

// control calls f with a client of the server that has the data folder open;
// where none has, the folder is opened for as long as f runs.
func control(ctx context.Context, s *settings, f func(*client) error) error {
	c := newClient(s.data)
	if err := c.get(ctx, "/readyz", nil); err == nil {
		return f(c)
	}
	a, err := openApp(ctx, s, io.Discard)
	if errors.Is(err, errLocked) {
		return fmt.Errorf("%w, and it does not answer on %s", err, filepath.Join(s.data, socketName))
	}
	if err != nil {
		return err
	}
	return a.during(ctx, func() error { return f(c) })
}

func newClient(data string) *client {
	path := filepath.Join(data, socketName)
	return &client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
		DisableKeepAlives: true,
	}}}
}

func (c *client) get(ctx context.Context, path string, into any) error {
	body, err := c.do(ctx, http.MethodGet, path, nil, nil)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// create refuses to change what exists.
func (c *client) create(ctx context.Context, path string, document any) error {
	return c.put(ctx, path, document, http.Header{"If-None-Match": {"*"}})
}

// change refuses to create what does not exist.
func (c *client) change(ctx context.Context, path string, document any) error {
	return c.put(ctx, path, document, http.Header{"If-Match": {"*"}})
}

func (c *client) put(ctx context.Context, path string, document any, header http.Header) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, http.MethodPut, path, header, data)
	return err
}

func (c *client) do(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://flowdrive"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for key, values := range header {
		req.Header[key] = values
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end below
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, problem{}.err(resp.Status, answer)
	}
	return answer, nil
}
