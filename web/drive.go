package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"flowdrive/internal/errs"
)

// agent is as what the pages call the drive: a script, which is taken at its word
// (docs/contract/drive.md#script-clients-and-mounting-clients).
const agent = "curl/flowdrive-pages"

// driveRequest is a request to the drive, as a script would make it.
type driveRequest struct {
	Method string
	Path   string      // escaped, with its query
	Header [][2]string // in order
	Body   []byte
	File   string // the name of the file that the body is; "": it is text
	Shown  []byte // what the curl line has in place of a body with secrets; nil: the body
}

// curl returns the command line that makes the request as the user. Secrets are not in
// it.
func (q *driveRequest) curl(user, address string) string {
	b := []string{"curl -u", shellWord(user), "-X", q.Method}
	for _, h := range q.Header {
		b = append(b, "-H", shellWord(h[0]+": "+h[1]))
	}
	body := q.Body
	if q.Shown != nil {
		body = q.Shown
	}
	switch {
	case q.File != "":
		b = append(b, "-T", shellWord(q.File))
	case len(body) > 0 && (body[0] == '@' || bytes.ContainsAny(body, "\r\n")):
		b = append(b, "--data-raw", shellWord(string(body)))
	case len(body) > 0:
		b = append(b, "-d", shellWord(string(body)))
	}
	return strings.Join(b, " ") + " \\\n  " + shellWord(address+q.Path)
}

// shellWord returns the text as a word of a POSIX shell.
func shellWord(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,=") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// curlLines returns the command lines of several requests.
func (x *visit) curlLines(requests []driveRequest) string {
	lines := make([]string, len(requests))
	for i := range requests {
		lines[i] = requests[i].curl(string(x.by.Name), x.address())
	}
	return strings.Join(lines, "\n")
}

// driveAnswer is what the drive has answered.
type driveAnswer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *driveAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *driveAnswer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *driveAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// hand makes a request to the drive in process, as the user of the visit. key is the
// idempotency key, "" for none.
func (x *visit) hand(q *driveRequest, key string) (*driveAnswer, error) {
	r, err := http.NewRequestWithContext(x.r.Context(), q.Method, q.Path, bytes.NewReader(q.Body))
	if err != nil {
		return nil, errs.Wrap("ask the drive", err)
	}
	r.Header.Set("Content-Length", strconv.Itoa(len(q.Body)))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return x.serveDrive(r, q), nil
}

// serveDrive has the drive answer a request that was made for it.
func (x *visit) serveDrive(r *http.Request, q *driveRequest) *driveAnswer {
	r.RequestURI, r.Host, r.RemoteAddr = r.URL.RequestURI(), x.r.Host, x.r.RemoteAddr
	for _, h := range q.Header {
		r.Header.Set(h[0], h[1])
	}
	r.Header.Set("User-Agent", agent)
	if q.Method != http.MethodGet {
		r.Header.Set("Accept", "application/problem+json")
	}
	a := &driveAnswer{header: http.Header{}}
	if q.Path == "/clock" && x.Clock != nil {
		x.Clock.ServeHTTP(a, r)
	} else {
		x.Drive.ServeHTTP(a, r)
	}
	a.WriteHeader(http.StatusOK)
	return a
}

// keyOf returns the idempotency key of the n-th request of a form: what the form was
// drawn with, bound to the session. Without one from the form there is none.
func (x *visit) keyOf(drawn string, n int) string {
	if drawn == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(x.token + "\x00" + drawn + "\x00" + strconv.Itoa(n)))
	return hex.EncodeToString(sum[:16])
}
