package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"flowdrive/internal/errs"
)

func TestReasonPhrase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ detail, want string }{
		{`1:57 /minut: is not a known field; did you mean "minute"?`, `1:57 /minut: is not a known field; did you mean "minute"?`},
		{"two\r\nX-Evil: yes", "two? X-Evil: yes"},
		{"“ä” is not …", `"?" is not ...`},
		{strings.Repeat("a", maxReason), strings.Repeat("a", maxReason)},
		{strings.Repeat("a", maxReason+1), strings.Repeat("a", maxReason-3) + "..."},
		{"\x00\x7f\u2028\xff", "????"},
		{"", ""},
	} {
		if got := reasonPhrase(tt.detail); got != tt.want {
			t.Errorf("reasonPhrase(%q) = %q, want %q", tt.detail, got, tt.want)
		}
	}
}

// reply is an answer as it stands on the wire.
type wireAnswer struct{ line, head, body string }

func readWire(t *testing.T, from *bufio.Reader) (a wireAnswer) {
	t.Helper()
	var length int
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case a.line == "":
			a.line = line
			continue
		case line != "":
			a.head += line + "\n"
			_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
			continue
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(from, body); err != nil {
			t.Fatal(err)
		}
		a.body = string(body)
		return a
	}
}

// TestStatusLine looks at the bytes on a connection: the reason of each refusal stands
// in its own status line, pipelined requests too, and headers have their known names.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newRig(t, func(c *Config) {
			c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.Method {
				case http.MethodPut:
					WriteError(w, r, errs.New(errs.Invalid, "1:2 /a: is not a\r\nknown field"))
				case http.MethodDelete:
					WriteError(w, r, errs.New(errs.NotFound, "There is nothing here."))
				default:
					w.Header().Set("ETag", `"e"`)
					w.Header().Set("DAV", "1")
					w.Header().Set("MS-Author-Via", "DAV")
					_, _ = io.WriteString(w, "fine")
				}
			})
		})
		l := newPipes()
		stop := x.running(t, l)
		c := l.dial()
		const head = " /dav/a HTTP/1.1\r\nHost: x\r\n"
		login := "Authorization: " + basic("sam", "secret") + "\r\n"
		go func() {
			for _, request := range []string{"PUT" + head + login + "Content-Length: 2\r\n\r\nok", "GET" + head + login + "\r\n", "DELETE" + head + login + "\r\n", "GET" + head + "\r\n"} {
				_, _ = io.WriteString(c, request)
			}
		}()
		from := bufio.NewReader(c)
		for i, want := range []string{
			"HTTP/1.1 422 1:2 /a: is not a? known field", "HTTP/1.1 200 OK", "HTTP/1.1 404 There is nothing here.", "HTTP/1.1 401 Unauthorized",
		} {
			a := readWire(t, from)
			if a.line != want {
				t.Errorf("answer %d begins %q, want %q", i, a.line, want)
			}
			names := map[int][]string{1: {"ETag: ", "DAV: ", "MS-Author-Via: "}, 3: {"WWW-Authenticate: Basic", "DAV: 1, 2, 3\n"}}[i]
			for _, name := range names {
				if !strings.Contains("\n"+a.head, "\n"+name) {
					t.Errorf("answer %d has no header %s:\n%s", i, name, a.head)
				}
			}
			if i == 1 && a.body != "fine" {
				t.Errorf("the body is %q", a.body)
			}
		}
		_ = c.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestStatusLineHalf sends what is not the head of the answer as it is, and reports as
// much as was written of what it was given.
func TestStatusLineHalf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, give, want string
		room, n          int
	}{
		{"another status", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", 100, 25},
		{"no whole line", "HTTP/1.1 404 Not", "HTTP/1.1 404 Not", 100, 16},
		{"whole", "HTTP/1.1 404 Not Found\r\n\r\nbody", "HTTP/1.1 404 Gone away\r\n\r\nbody", 100, 30},
		{"cut in the line", "HTTP/1.1 404 Not Found\r\n\r\nbody", "HTTP/1.1 404", 12, 12},
		{"cut in the body", "HTTP/1.1 404 Not Found\r\n\r\nbody", "HTTP/1.1 404 Gone away\r\n\r\nbo", 28, 28},
	} {
		var l statusLine
		l.setReason(http.StatusNotFound, "Gone away")
		to := &cutWriter{room: tt.room}
		n, err := l.write(to, []byte(tt.give))
		if string(to.got) != tt.want || n != tt.n || (err != nil) != (n < len(tt.give)) {
			t.Errorf("%s: wrote %q, %d, %v; want %q, %d", tt.name, to.got, n, err, tt.want, tt.n)
		}
		to.room = 100
		to.got = nil
		if _, err := l.write(to, []byte("HTTP/1.1 404 Not Found\r\n\r\n")); err != nil || !strings.Contains(string(to.got), "Not Found") {
			t.Errorf("%s: the next answer has the reason of the one before: %q, %v", tt.name, to.got, err)
		}
	}
}

// cutWriter takes so many bytes, and then no more.
type cutWriter struct {
	got  []byte
	room int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.got, w.room = append(w.got, p[:n]...), w.room-n
	if n < len(p) {
		return n, net.ErrClosed
	}
	return n, nil
}
