package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// About is what a server says of itself without a log-in.
type About struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// About asks the server what it is. If it is not a Flowdrive server, the error says so.
func (c *Client) About(ctx context.Context) (About, error) {
	body, _, err := c.read(ctx, request{method: http.MethodGet, path: "/version"})
	if err != nil {
		if p, ok := errors.AsType[*Problem](err); ok && p.Status == http.StatusUnauthorized {
			return About{}, err
		}
		return About{}, c.unreachable(err)
	}
	var a About
	if json.Unmarshal(body, &a) != nil || a.Name != "flowdrive" {
		return About{}, &UnreachableError{URL: c.URL(), What: "this is not a Flowdrive server: look whether the address is right", Err: errNotFlowdrive}
	}
	return a, nil
}

var errNotFlowdrive = errors.New("not a Flowdrive server")

// Ready reports whether the server can do its work, and says why not.
func (c *Client) Ready(ctx context.Context) error {
	_, _, err := c.read(ctx, request{method: http.MethodGet, path: "/readyz"})
	return err
}

// Me returns what the server keeps of the user: me.json.
func (c *Client) Me(ctx context.Context) (json.RawMessage, error) {
	return c.rawDocument(ctx, account+"me.json")
}

// NewSecret has the server make an app password. It is returned this once. The label is its
// name; one that is in use is refused (409).
func (c *Client) NewSecret(ctx context.Context, label string) (secret string, err error) {
	body, _, err := c.read(ctx, request{method: http.MethodPut, path: account + "AppPasswords/" + label + ".json", body: []byte("{}"), header: jsonHeader(), once: true})
	if err != nil {
		return "", err
	}
	var answer struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Secret == "" {
		return "", fmt.Errorf("the server's answer has no app password: %w", errors.Join(err, errNotFlowdrive))
	}
	return answer.Secret, nil
}

// DeleteSecret makes an app password void.
func (c *Client) DeleteSecret(ctx context.Context, label string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: account + "AppPasswords/" + label + ".json", once: true})
}

// Now returns the server's time: the clock of a sandbox stands where it was set.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	resp, err := c.sendAny(ctx, request{method: http.MethodGet, path: "/clock"})
	if err != nil {
		return time.Time{}, c.unreachable(err)
	}
	var answer struct {
		Now time.Time `json:"now"`
	}
	if resp.StatusCode == http.StatusOK {
		err = json.NewDecoder(resp.Body).Decode(&answer)
	} else {
		answer.Now, err = http.ParseTime(resp.Header.Get("Date"))
	}
	return answer.Now, errors.Join(err, resp.Body.Close())
}

// People returns the users and teams that the user can name.
func (c *Client) People(ctx context.Context) ([]string, error) {
	body, _, err := c.read(ctx, request{method: http.MethodGet, path: account + "people.json", query: url.Values{}})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Users, Teams []struct {
			Name string `json:"name"`
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the answer of the server cannot be read: %w", err)
	}
	var names []string
	for _, p := range append(answer.Users, answer.Teams...) {
		names = append(names, p.Name)
	}
	return names, nil
}
