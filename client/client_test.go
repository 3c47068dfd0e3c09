package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"flowdrive/client"
)

// answers is a transport that gives one answer after the other, and keeps what was sent.
type answers struct {
	next []any // an error, or a reply
	sent []string
	keys []string
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		data, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = " " + string(data)
	}
	a.sent = append(a.sent, req.Method+" "+req.URL.EscapedPath()+body)
	a.keys = append(a.keys, req.Header.Get("Idempotency-Key"))
	first := a.next[0]
	if len(a.next) > 1 {
		a.next = a.next[1:]
	}
	if err, ok := first.(error); ok {
		return nil, err
	}
	r, ok := first.(reply)
	if !ok {
		return nil, errors.New("no answer")
	}
	resp := &http.Response{
		StatusCode: r.status, Status: http.StatusText(r.status), Header: http.Header{"Content-Type": {r.contentType}},
		Body: io.NopCloser(strings.NewReader(r.body)), ContentLength: int64(len(r.body)), Request: req,
	}
	if r.after != "" {
		resp.Header.Set("Retry-After", r.after)
	}
	return resp, nil
}

// reply is what a server answers.
type reply struct {
	status                   int
	contentType, body, after string
}

func lost() error    { return &net.OpError{Op: "read", Err: syscall.ECONNRESET} }
func refused() error { return &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED} }

func busy(after string) reply {
	return reply{503, "application/problem+json", `{"type":"urn:flowdrive:problem:unavailable","status":503,"detail":"It drains."}`, after}
}

func with(t *testing.T, a *answers) *client.Client {
	t.Helper()
	c, err := client.New(client.Profile{URL: "https://flow.example.org", User: "ann", Password: "secret"}, client.Options{HTTP: &http.Client{Transport: a}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRepeats: what is sent again, and how often. An answer of 204 ends each.
func TestRepeats(t *testing.T) {
	t.Parallel()
	read := func(ctx context.Context, c *client.Client) error { _, err := c.Text(ctx, "late"); return err }
	perform := func(ctx context.Context, c *client.Client) error {
		_, err := c.Do(ctx, 1, "a", client.Do{})
		return err
	}
	remove := func(ctx context.Context, c *client.Client) error { return c.Delete(ctx, "Documents/x", nil) }
	move := func(ctx context.Context, c *client.Client) error { return c.Move(ctx, "Documents/x", "Documents/y") }
	file := func(ctx context.Context, c *client.Client) error {
		_, err := c.Put(ctx, "Documents/x", strings.NewReader("text"), 4)
		return err
	}
	stream := func(ctx context.Context, c *client.Client) error {
		_, err := c.Put(ctx, "Documents/x", struct{ io.Reader }{strings.NewReader("text")}, -1)
		return err
	}
	account := func(ctx context.Context, c *client.Client) error {
		_, err := c.Put(ctx, "Account/me.json", strings.NewReader("{}"), 2)
		return err
	}
	for _, tt := range []struct {
		name   string
		do     func(context.Context, *client.Client) error
		fault  any
		sent   int
		failed bool
	}{
		{"a read whose answer is lost", read, lost(), 2, false},
		{"a performance whose answer is lost", perform, lost(), 2, false},
		{"a file whose answer is lost", file, lost(), 2, false},
		{"a stream cannot be sent twice", stream, lost(), 1, true},
		{"a deletion whose answer is lost", remove, lost(), 1, true},
		{"a deletion that was never sent", remove, refused(), 2, false},
		{"a deletion that the server put off", remove, busy("1"), 2, false},
		{"a move whose answer is lost", move, lost(), 1, true},
		{"an account, whose answers are not kept", account, lost(), 1, true},
		{"a wait of a minute is the caller's", read, busy("60"), 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := &answers{next: []any{tt.fault, reply{status: 204}}}
				err := tt.do(t.Context(), with(t, a))
				if (err != nil) != tt.failed || len(a.sent) != tt.sent {
					t.Errorf("got %v, sent %q", err, a.sent)
				}
				if len(a.sent) == 2 && (a.sent[0] != a.sent[1] || a.keys[0] != a.keys[1]) {
					t.Errorf("another request: %q, keys %q", a.sent, a.keys)
				}
			})
		})
	}
}

// TestGivesUp: after three repetitions the caller is told what to do.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{next: []any{refused()}}
		_, err := with(t, a).About(t.Context())
		if u, ok := errors.AsType[*client.UnreachableError](err); !ok || len(a.sent) != 4 || !strings.Contains(u.Error(), "no server listens there") {
			t.Errorf("got %v, sent %d times", err, len(a.sent))
		}
	})
}

// TestProblems: what a refusal becomes.
func TestProblems(t *testing.T) {
	t.Parallel()
	const faults = `{"type":"urn:flowdrive:problem:invalid","title":"Invalid","status":422,"detail":"1:2 /a: is wrong","errors":[
		{"pointer":"/a","detail":"is wrong","code":"type","line":1,"column":2},{"pointer":"/b","detail":"is required"}]}`
	for _, tt := range []struct {
		name   string
		answer reply
		want   string
	}{
		{"faults", reply{422, "application/problem+json", faults, ""}, "1:2 /a: is wrong\n/b: is required"},
		{"no log-in", reply{401, "application/problem+json", "{}", ""}, "the server does not know this user and password: log in again with flowdrive login, or set FLOWDRIVE_USER and FLOWDRIVE_PASSWORD"},
		{"WebDAV", reply{403, "application/xml", `<error xmlns="DAV:"><x/><responsedescription>Not there.</responsedescription></error>`, ""}, "Not there."},
		{"something else", reply{404, "text/html", "<html>", ""}, `https://flow.example.org: answers "Not Found", and not as a Flowdrive server does: look whether the address is right, and what a proxy before the server says`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := with(t, &answers{next: []any{tt.answer}}).Text(t.Context(), "late")
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMissingReference: what a document names on the server may be missing; a time zone that
// does not exist is a mistake.
func TestMissingReference(t *testing.T) {
	t.Parallel()
	route := client.Fault{Pointer: "/route", Code: "not-found"}
	for _, test := range []struct {
		faults []client.Fault
		want   bool
	}{
		{nil, false},
		{[]client.Fault{route}, true},
		{[]client.Fault{route, {Pointer: "/title", Code: "invalid"}}, false},
		{[]client.Fault{{Pointer: "/timezone", Code: "not-found"}}, false},
		{[]client.Fault{route, {Pointer: "/timezone", Code: "not-found"}}, false},
	} {
		if got := (&client.Problem{Faults: test.faults}).MissingReference(); got != test.want {
			t.Errorf("%v: got %v", test.faults, got)
		}
	}
}

// TestOtherServers: an address that is not one of a Flowdrive server.
func TestOtherServers(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "flow.example.org", "ftp://flow.example.org", "https://ann:secret@flow.example.org", "https://"} {
		if _, err := client.New(client.Profile{URL: address}, client.Options{}); err == nil || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: got %v", address, err)
		}
	}
	a := &answers{next: []any{reply{200, "text/html", "<html>", ""}}}
	if _, err := with(t, a).About(t.Context()); err == nil || !strings.Contains(err.Error(), "this is not a Flowdrive server") {
		t.Errorf("got %v", err)
	}
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	defer secured.Close()
	c, err := client.New(client.Profile{URL: secured.URL}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.About(t.Context()); err == nil || !strings.Contains(err.Error(), "--cacert FILE") {
		t.Errorf("got %v", err)
	}
}

// TestPaths: a path of the drive is escaped once, and does not lead out of it.
func TestPaths(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Documents/a b":       "/dav/Documents/a%20b",
		"/Documents/50% ?#":   "/dav/Documents/50%25%20%3F%23",
		"dav/Documents/x":     "/dav/Documents/x",
		"../../metrics":       "/dav/metrics",
		"Documents/../../x/.": "/dav/x",
		"davos":               "/dav/davos",
	} {
		a := &answers{next: []any{reply{status: 204}}}
		if err := with(t, a).Delete(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"DELETE " + want}, a.sent); diff != "" {
			t.Error(diff)
		}
	}
}

// TestProfiles: only their user can read them, and a file that is damaged is said to be.
func TestProfiles(t *testing.T) {
	t.Parallel()
	ps := client.Profiles{Path: filepath.Join(t.TempDir(), "a", "profiles.json")}
	want := client.Profile{URL: "https://flow.example.org", User: "ann", Password: "p", Secret: "s", Authority: "ca.pem"}
	for _, name := range []string{client.DefaultProfile, "other"} {
		if err := ps.Save(name, want); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(ps.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := ps.Delete("other"); err != nil {
		t.Fatal(err)
	}
	if _, err := ps.Load("other"); !errors.Is(err, client.ErrNoProfile) {
		t.Errorf("got %v", err)
	}
	got, err := ps.Load(client.DefaultProfile)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := os.WriteFile(ps.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ps.All(); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("got %v", err)
	}
}
