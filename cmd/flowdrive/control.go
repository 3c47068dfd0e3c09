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
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	api "flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

// client speaks to a server through the socket in its data folder. Anyone who
// may open the socket acts as an administrator.
type client struct{ http *http.Client }

// control calls f with a client of the server that has the data folder open. If
// there is no such server, it opens the folder while f runs. It makes no folder: a
// mistyped name is an error.
func control(ctx context.Context, s *settings, f func(*client) error) error {
	c := newClient(s.data)
	err := c.get(ctx, "/readyz", nil)
	if err == nil {
		return f(c)
	}
	if _, answered := errors.AsType[*refusal](err); answered {
		return err // a node that stands by says where to go
	}
	if _, err := os.Stat(filepath.Join(s.data, lockName)); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is not a data folder; --data names that of the server, and \"flowdrive serve\" or \"flowdrive init\" makes one", s.data)
	} else if err != nil {
		return err
	}
	if err := hasDatabase(s.data); err != nil {
		return err
	}
	s.offline, s.existing = true, true
	a, err := openApp(ctx, s, io.Discard)
	if errors.Is(err, errLocked) {
		return fmt.Errorf("%w, and it does not answer on %s", err, filepath.Join(s.data, socketName))
	}
	if err != nil {
		return err
	}
	return a.during(ctx, func() error { return f(c) })
}

// hasDatabase returns an error if there is no database in a data folder: that of a node of
// PostgreSQL has none, and to make one there would only mislead.
func hasDatabase(data string) error {
	_, err := os.Stat(filepath.Join(data, databaseName))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s has no database, and no server answers there; if it is the folder of a node of a PostgreSQL database, run the command at the folder of the active node (Admin/Nodes/ says which that is), or with --db if it takes that", data)
	}
	return err
}

// listenControl opens the control socket, for its owner alone. done is to be
// called when it is closed.
func listenControl(ctx context.Context, data string) (listener net.Listener, done func() error, err error) {
	address, done, err := socketAddress(data)
	if err != nil {
		return nil, nil, err
	}
	if err := os.Remove(address); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, errors.Join(fmt.Errorf("replace the control socket: %w", err), done())
	}
	config := net.ListenConfig{Control: ownerOnly}
	listener, err = config.Listen(ctx, "unix", address)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the control socket: %w", err), done())
	}
	return listener, done, nil
}

// ownerOnly is a net.ListenConfig.Control for sockets of which only the owner may
// open the file. On Linux the file is made with the mode that the socket has when
// it is bound. A later chmod would leave a moment, and a umask is that of all that
// the process creates meanwhile.
func ownerOnly(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) { failed = syscall.Fchmod(int(fd), 0o600) })
	return errors.Join(err, failed)
}

// socketAddress names the control socket of a data folder. The address of a
// socket has room for some hundred bytes; for a folder with a longer path it
// goes through the open folder, which done closes.
func socketAddress(data string) (address string, done func() error, err error) {
	const room = 100
	if path := filepath.Join(data, socketName); len(path) <= room {
		return path, func() error { return nil }, nil
	}
	folder, err := os.Open(data)
	if err != nil {
		return "", nil, fmt.Errorf("open the data folder: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), socketName), folder.Close, nil
}

// startControl serves the control socket.
func (a *app) startControl(ctx context.Context, group *group) (stop func(), err error) {
	listener, done, err := listenControl(ctx, a.settings.data)
	if err != nil {
		return nil, err
	}
	hs := &http.Server{Handler: a.operator, ReadHeaderTimeout: headWithin, ConnContext: withPeer}
	return group.start(func(ctx context.Context) error {
		stopped := context.AfterFunc(ctx, func() { _ = hs.Close() })
		defer stopped()
		err := hs.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			return done()
		}
		return errors.Join(fmt.Errorf("serve the control socket: %w", err), done())
	}), nil
}

func newClient(data string) *client {
	return &client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			address, done, err := socketAddress(data)
			if err != nil {
				return nil, err
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", address)
			return conn, errors.Join(err, done())
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

// The folders that the operator's commands write into.
const (
	usersFolder = "/dav/Admin/Users/"
	teamsFolder = "/dav/Admin/Teams/"
)

// address returns the path of the user or team of that name.
func address(folder, name string) string { return folder + url.PathEscape(name) + ".json" }

// create refuses to change what exists.
func (c *client) create(ctx context.Context, folder, name string, document any) error {
	_, err := c.put(ctx, address(folder, name), document, http.Header{"If-None-Match": {"*"}})
	if refused(err, http.StatusPreconditionFailed) {
		return c.taken(ctx, folder, name)
	}
	return err
}

// taken returns the error for a name that another one has, who may write it in another way.
func (c *client) taken(ctx context.Context, folder, name string) error {
	text := fmt.Sprintf("there is %q already", name)
	var there struct{ Name string }
	if err := c.get(ctx, address(folder, name), &there); err == nil && there.Name != name {
		text = fmt.Sprintf("there is %q already, and names that differ in case alone are the same name", there.Name)
	}
	return newRefusal(http.StatusConflict, text)
}

// change refuses to create what does not exist. It prints what the answer warns of.
func (c *client) change(cmd *cobra.Command, folder, name string, document any) error {
	answer, err := c.put(cmd.Context(), address(folder, name), document, http.Header{"If-Match": {"*"}})
	if refused(err, http.StatusPreconditionFailed) {
		return newRefusal(http.StatusNotFound, fmt.Sprintf("there is no %q", name))
	}
	if err != nil || len(answer) == 0 {
		return err
	}
	var told struct {
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return fmt.Errorf("read the answer to the change, which was made: %w", err)
	}
	for _, warning := range told.Warnings {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", output.Clean(byFlag(warning))); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) put(ctx context.Context, path string, document any, header http.Header) (answer []byte, err error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	return c.do(ctx, http.MethodPut, path, header, data)
}

// errNoServer says that nobody has the control socket open.
var errNoServer = errors.New("no server answers")

// unanswered returns why a request has no answer, without the request and the address of the
// socket: who gave the command knows of neither.
func unanswered(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return errNoServer
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
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
		return nil, unanswered(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, readRefusal(resp, answer)
	}
	return answer, nil
}

// refusal is a request that the server refused. It wraps the problem, which has
// the exit code.
type refusal struct {
	problem *api.Problem
	text    string
}

func newRefusal(status int, text string) *refusal {
	return &refusal{problem: &api.Problem{Status: status}, text: text}
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.problem }

// refused reports whether err is a refusal with the status.
func refused(err error, status int) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.problem.Status == status
}

// readRefusal returns the problem document (RFC 9457) as an error: its faults if
// it has any, without their places, because no person wrote that document.
func readRefusal(resp *http.Response, body []byte) error {
	var problem api.Problem
	if json.Unmarshal(body, &problem) != nil || problem.Detail == "" {
		return newRefusal(resp.StatusCode, "the server answered "+resp.Status)
	}
	problem.Status = resp.StatusCode
	r := &refusal{problem: &problem, text: problem.Detail}
	var faults []string
	for _, f := range problem.Faults {
		faults = append(faults, strings.TrimPrefix(f.Pointer, "/")+": "+f.Detail)
	}
	if len(faults) > 0 {
		r.text = strings.Join(faults, "\n")
	}
	r.text = byFlag(r.text)
	return r
}

// byFlag names the flags of the commands in a text of the server, which names what a request has.
func byFlag(text string) string {
	return strings.NewReplacer(
		"DELETE with ?handOver=<user> ", "--hand-over USER ", "The parameter handOver ", "--hand-over ", "handOver: ", "--hand-over: ",
		`{"revoke": true} ends `, "--revoke ends ",
	).Replace(text)
}
