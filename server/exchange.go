package server

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// exchange is one request with its answer: the ResponseWriter that handlers
// get, and what the server notes about them until it logs the request. It
// is not used again for another request, as handlers may hold its context
// for longer.
type exchange struct {
	http.ResponseWriter
	id        [1]string // a slice of it is the header's value
	principal identity.Principal
	holds     func() bool // whether the log-in is still good; nil: it needs none
	reads     bool        // it changes nothing; if the log-in ends, the answer stops
	peer      netip.Addr  // the connected peer, perhaps a proxy
	client    netip.Addr  // the client itself; see clientOf
	area      area

	body       *requestBody // nil: there is none
	room       *room        // in the memory that requests share; nil: as much as it likes
	connection net.Conn     // that the answer of HTTP/1.1 goes to; nil: another way
	draining   *atomic.Bool // the server ends, and closes its connections; nil: it does not

	method, path  string    // of the request; the path holds what is secret in it
	before, after *exchange // in the list of requests in flight, which guards both

	copyOf string // the suffix of the ETag of the compressed copy that the client has; "" for none

	started time.Time
	now     func() time.Time
	written time.Time // when the connection was last given time to write
	status  int       // 0 until the head of the answer was written
	begun   bool      // the handler has begun to write an answer that is buffered
	bytes   int64

	span trace.Span // nil: it has none

	kind   errs.Kind // of the problem that was answered
	err    error     // its cause, for the log
	stack  []byte    // of a panic
	broken bool      // the answer cannot be ended as it began
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// PrincipalOf returns who the request acts as, or the zero Principal if nobody
// is logged in, as on requests that need no log-in.
func PrincipalOf(ctx context.Context) identity.Principal {
	if x := exchangeOf(ctx); x != nil {
		return x.principal
	}
	return identity.Principal{}
}

// WithPrincipal returns a context in which the request acts as p, for
// handlers that are not behind a Server, as in tests.
func WithPrincipal(ctx context.Context, p identity.Principal) context.Context {
	x := &exchange{principal: p}
	if outer := exchangeOf(ctx); outer != nil {
		*x = *outer
		x.principal = p
	}
	return context.WithValue(ctx, exchangeKey{}, x)
}

// Standing returns errs.LogIn if the log-in of the request has ended since it
// was checked: its user is disabled or gone, or the password it came with is
// another one or revoked. It is nil for what needs no log-in.
func Standing(ctx context.Context) error {
	if x := exchangeOf(ctx); x != nil && !x.stillHolds() {
		return errLogInEnded()
	}
	return nil
}

// stillHolds reports whether the log-in that the request came with is good.
func (x *exchange) stillHolds() bool { return x.holds == nil || x.holds() }

func errLogInEnded() *errs.Error {
	return errs.New(errs.LogIn, "Your log-in ended while the request was on its way; log in again.")
}

// RequestID returns the id under which the request is logged, or "" if it has
// none.
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id[0]
	}
	return ""
}

// AddressOf returns the address that the request comes from, or "" if it did
// not come over a network.
func AddressOf(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil && x.client.IsValid() {
		return x.client.String()
	}
	return ""
}

// newRequestID returns 16 hex digits.
func newRequestID() string {
	const digits = "0123456789abcdef"
	var text [16]byte
	for i, n := 0, rand.Uint64(); i < len(text); i, n = i+1, n>>4 {
		text[i] = digits[n&15]
	}
	return string(text[:])
}

// failed notes what the client was told and why.
func (x *exchange) failed(kind errs.Kind, cause error) { x.kind, x.err = kind, cause }

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK { // 1xx announce an answer
		x.status = status
		if status == http.StatusNotModified {
			confirmETag(x.Header(), x.copyOf)
		}
		if x.draining != nil && x.draining.Load() { // perhaps since the request came
			x.Header().Set("Connection", "close")
		}
		if x.connection != nil {
			spell(x.Header())
		}
	}
	x.ResponseWriter.WriteHeader(status)
}

// giveReason puts the reason of a refusal into the status line, if the connection can.
func (x *exchange) giveReason(status int, detail string) {
	if c, ok := x.connection.(interface {
		setReason(status int, detail string)
	}); ok && status != http.StatusUnauthorized {
		c.setReason(status, detail)
	}
}

// begin writes the head of an answer that no handler has begun.
func (x *exchange) begin() {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
}

// stands returns why the answer is broken off: it tells what is stored, and
// the log-in has ended. What the server answers of its own accord, a problem,
// goes out.
func (x *exchange) stands() error {
	if !x.reads || x.kind != "" || x.stillHolds() {
		return nil
	}
	err := errLogInEnded()
	x.failed(errs.LogIn, err)
	x.broken = true
	return err
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(p []byte) (int, error) {
	x.begin()
	if err := x.stands(); err != nil {
		return 0, err
	}
	x.giveTime()
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// inMemory is what a bytes.Reader can do, and what has one in it: the whole of what is
// left is written at once, without a buffer in between.
type inMemory interface {
	io.WriterTo
	Len() int
}

// ofFile returns whether what is read, or at most so much of it, is a file of the
// operating system.
func ofFile(src io.Reader) bool {
	if limited, ok := src.(*io.LimitedReader); ok {
		src = limited.R
	}
	_, ok := src.(*os.File)
	return ok
}

// ReadFrom implements io.ReaderFrom, so that files go from disk to socket
// without a copy. It sends them in parts. Each part gets the time limit of a
// write. What is in memory goes through the buffer that holds the header: the
// ReadFrom of net/http sends the header in a packet of its own first.
func (x *exchange) ReadFrom(src io.Reader) (n int64, err error) {
	const part = 256 << 10
	limited, _ := src.(*io.LimitedReader)
	to := io.Writer(x.ResponseWriter)
	if !ofFile(src) {
		to = struct{ io.Writer }{x.ResponseWriter}
	}
	for {
		size := int64(part)
		from := src
		if limited != nil {
			from, size = limited.R, min(size, limited.N)
		}
		if size <= 0 {
			return n, nil
		}
		x.begin()
		if err := x.stands(); err != nil {
			return n, err
		}
		x.giveTime()
		if whole, ok := from.(inMemory); ok && limited != nil && int64(whole.Len()) == size && size == limited.N {
			m, err := whole.WriteTo(to)
			n, x.bytes, limited.N = n+m, x.bytes+m, limited.N-m
			return n, err
		}
		m, err := io.CopyN(to, from, size)
		n, x.bytes = n+m, x.bytes+m
		if limited != nil {
			limited.N -= m
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// Flush implements http.Flusher.
func (x *exchange) Flush() {
	x.begin()
	_ = http.NewResponseController(x.ResponseWriter).Flush()
}

// giveTime lets the client take another stallTimeout to read what is written
// next. net/http has given the first time with the request.
func (x *exchange) giveTime() {
	now := x.now()
	if now.Sub(x.written) < stallTimeout/4 {
		return
	}
	x.written = now
	_ = http.NewResponseController(x.ResponseWriter).SetWriteDeadline(now.Add(stallTimeout))
}

// requestBody is a body whose sender may take its time, but not for ever: there
// is a slowest rate, and a bound on the whole, since a request takes room that
// others need. net/http can only bound the whole, which may be gigabytes.
type requestBody struct {
	io.ReadCloser
	x     *exchange
	until time.Time // when the sender has used up its time
	read  time.Time // when a Read returned last: what the server does between does not count
	set   time.Time // the connection's deadline for reading, until or somewhat before
	began bool      // some of it was asked for, so that what waits for 100 Continue sends it
	ended bool      // it was read to its end
}

// refusedTimeout is how long the body of a refused request is waited for: what comes
// meanwhile is passed over, so that the connection can go on. Otherwise it ends with
// the answer, which does not wait for the body.
const refusedTimeout = time.Second

// refuse gives up on what of the body has not come.
func (b *requestBody) refuse() {
	if b.ended {
		return
	}
	if soon := b.x.now().Add(refusedTimeout); soon.Before(b.until) {
		b.until = soon
		b.setDeadline()
	}
}

// How much of the body of a refused request net/http passes over before it answers, and
// how long what is longer is passed over after the answer.
const (
	passedOver    = 256 << 10
	lingerTimeout = time.Minute
)

// lingers reports whether the rest of the body is to be passed over after the refusal. A
// client that reads the answer only once it has sent all, as wget does, would find a
// connection that was reset, and not the answer; so would one that is slow to read it. What
// still waits for 100 Continue sends nothing.
func (b *requestBody) lingers(r *http.Request) bool {
	if b.ended || r.ProtoMajor != 1 || r.Header.Get("Expect") != "" && !b.began {
		return false
	}
	return b.isLong(r.ContentLength) && http.NewResponseController(b.x.ResponseWriter).EnableFullDuplex() == nil
}

// isLong reports whether more of the body may come than net/http passes over. If its length
// was not announced, that much is passed over here: a shorter body leaves the connection to
// the next request.
func (b *requestBody) isLong(length int64) bool {
	if length >= 0 {
		return length > passedOver
	}
	_, err := io.CopyN(io.Discard, b.ReadCloser, passedOver)
	b.ended = errors.Is(err, io.EOF)
	return err == nil
}

// linger passes over what still comes, until nothing has come for refusedTimeout. The
// connection ends after that.
func (b *requestBody) linger(ctx context.Context) {
	control := http.NewResponseController(b.x.ResponseWriter)
	if control.Flush() != nil {
		return
	}
	part := make([]byte, 32<<10)
	for last := b.x.now().Add(lingerTimeout); ctx.Err() == nil && b.x.now().Before(last); {
		if control.SetReadDeadline(b.x.now().Add(refusedTimeout)) != nil {
			return
		}
		if _, err := b.ReadCloser.Read(part); err != nil {
			return
		}
	}
}

// newRequestBody gives the sender its first time at once: what a handler
// does not read net/http does, before it answers.
func newRequestBody(body io.ReadCloser, x *exchange) *requestBody {
	b := &requestBody{ReadCloser: body, x: x, until: x.started.Add(stallTimeout), read: x.started}
	b.setDeadline()
	return b
}

func (b *requestBody) setDeadline() {
	b.set = b.until
	_ = http.NewResponseController(b.x.ResponseWriter).SetReadDeadline(b.set)
}

// give lets the sender have so much more time, up to stallTimeout from now.
func (b *requestBody) give(d time.Duration, now time.Time) {
	b.until = b.until.Add(d)
	for _, most := range [...]time.Time{now.Add(stallTimeout), b.x.started.Add(bodyTimeout)} {
		if b.until.After(most) {
			b.until = most
		}
	}
}

// goOn tells the connection how much time there is. While the sender sends, the
// answer is not late: HTTP/2 would end the stream though nothing waits to be
// written.
func (b *requestBody) goOn(now time.Time) {
	b.setDeadline()
	b.x.written = now
	_ = http.NewResponseController(b.x.ResponseWriter).SetWriteDeadline(now.Add(2 * stallTimeout))
}

// Read implements io.Reader. Errors are bodyErrors.
func (b *requestBody) Read(p []byte) (int, error) {
	b.began = true
	now := b.x.now()
	if b.give(now.Sub(b.read), now); b.set.Sub(now) < stallTimeout*3/4 {
		b.goOn(now)
	}
	n, err := b.ReadCloser.Read(p)
	b.read = b.x.now()
	b.give(time.Duration(n)*time.Second/slowestBody, b.read)
	switch err {
	case nil:
		return n, nil
	case io.EOF:
		b.ended = true
		// From now on net/http waits for the client to hang up, while the
		// answer is made: that may take longer.
		_ = http.NewResponseController(b.x.ResponseWriter).SetReadDeadline(time.Time{})
		return n, io.EOF
	}
	return n, &bodyError{err}
}
