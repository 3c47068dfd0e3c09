package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// The reason of a refusal stands in the status line of HTTP/1.1, since some programs
// show that and nothing else of an answer ("HTTP/1.1 422 1:57 /minut: is not a known
// field"). net/http writes the standard words there and takes no others, so that the
// connection replaces them in the bytes that it is given. That is done on connections
// without TLS only: net/http needs the TLS connection itself to speak HTTP/2 on it
// (docs/contract/drive.md#errors).

// maxReason bounds the reason in a status line, in bytes. Some programs read lines of a
// few hundred.
const maxReason = 160

// reasonPhrase returns a sentence as a status line can hold it (RFC 9112, section 4):
// printable ASCII on one line, not too long.
func reasonPhrase(detail string) string {
	var b strings.Builder
	for _, r := range strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "…", "...").Replace(detail) {
		switch {
		case b.Len() == maxReason:
			return b.String()[:maxReason-len("...")] + "..."
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r < ' ' || r > '~':
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// statusLine is the status line that the next answer of a connection begins with, in
// the place of the standard one. The zero value changes nothing.
type statusLine struct{ next atomic.Pointer[replacedLine] }

type replacedLine struct {
	begin string // of the line to be replaced
	line  string
}

// setReason is called before the head of an answer with the status is written.
func (l *statusLine) setReason(status int, detail string) {
	begin := fmt.Sprintf("HTTP/1.1 %d ", status)
	l.next.Store(&replacedLine{begin: begin, line: begin + reasonPhrase(detail)})
}

// write writes what net/http gives the connection. The head of an answer comes at the
// beginning of a call, because the answer before was flushed.
func (l *statusLine) write(to io.Writer, p []byte) (int, error) {
	if l.next.Load() == nil {
		return to.Write(p)
	}
	replaced := l.next.Swap(nil)
	end := bytes.IndexByte(p, '\r')
	if replaced == nil || end < 0 || !bytes.HasPrefix(p, []byte(replaced.begin)) {
		return to.Write(p)
	}
	changed := append([]byte(replaced.line), p[end:]...)
	n, err := to.Write(changed)
	return min(max(n-len(changed)+len(p), 0), len(p)), err
}

// connectionKey is the key of the connection in the context of its requests.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// connectionOf returns the connection of a request of HTTP/1.1, nil if the request came
// in another way.
func connectionOf(r *http.Request) net.Conn {
	if r.ProtoMajor != 1 || r.ProtoMinor != 1 {
		return nil
	}
	c, _ := r.Context().Value(connectionKey{}).(net.Conn)
	return c
}

// spelled are the names of headers that WebDAV writes in another way than net/http
// does. Names are the same in any case, but not to all programs.
var spelled = [...][2]string{{"Etag", "ETag"}, {"Dav", "DAV"}, {"Ms-Author-Via", "MS-Author-Via"}, {"Www-Authenticate", "WWW-Authenticate"}}

// spell gives the headers of an answer the names that they are known by.
func spell(h http.Header) {
	for _, name := range spelled {
		if values, ok := h[name[0]]; ok {
			delete(h, name[0])
			h[name[1]] = values
		}
	}
}
