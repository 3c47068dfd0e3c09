package server

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"time"

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
	reads     bool        // nothing is changed: who has lost access gets no more of the answer
	peer      netip.Addr  // who is connected, a proxy perhaps
	client    netip.Addr  // who asks; see clientOf
	area      area

	started time.Time
	now     func() time.Time
	written time.Time // when the connection was last given time to write
	status  int       // 0 until the answer has begun
	bytes   int64

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

// PrincipalOf returns who the request acts as; the zero Principal where
// nobody has logged in, as on the requests that need no log-in.
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

// RequestID returns the id under which the request is logged, "" where it
// has none.
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id[0]
	}
	return ""
}

// AddressOf returns the address that the request comes from, "" where it came
// over no network.
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
	}
	x.ResponseWriter.WriteHeader(status)
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
	if x.status == 0 {
		x.status = http.StatusOK
	}
	if err := x.stands(); err != nil {
		return 0, err
	}
	x.giveTime()
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that files go from disk to socket
// without passing through here. It does so in parts, each of which gets the
// time that a write does.
func (x *exchange) ReadFrom(src io.Reader) (n int64, err error) {
	const part = 256 << 10
	limited, _ := src.(*io.LimitedReader)
	for {
		size := int64(part)
		from := src
		if limited != nil {
			from, size = limited.R, min(size, limited.N)
		}
		if size <= 0 {
			return n, nil
		}
		if x.status == 0 {
			x.status = http.StatusOK
		}
		if err := x.stands(); err != nil {
			return n, err
		}
		x.giveTime()
		m, err := io.CopyN(x.ResponseWriter, from, size)
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
	if x.status == 0 {
		x.status = http.StatusOK
	}
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

// requestBody is a body whose sender may take its time, but not for ever: a
// body that stands still for stallTimeout is an error. The limits of
// net/http are for the whole body, which may be gigabytes.
type requestBody struct {
	io.ReadCloser
	x     *exchange
	until time.Time // the connection's deadline for reading
}

// newRequestBody gives the sender its first time at once: what a handler
// does not read net/http does, before it answers.
func newRequestBody(body io.ReadCloser, x *exchange) *requestBody {
	b := &requestBody{ReadCloser: body, x: x}
	b.giveTime(x.started)
	return b
}

func (b *requestBody) giveTime(now time.Time) {
	b.until = now.Add(stallTimeout)
	_ = http.NewResponseController(b.x.ResponseWriter).SetReadDeadline(b.until)
}

// goOn gives the sender more time. While it sends, the answer is not late:
// HTTP/2 would end the stream though nothing waits to be written.
func (b *requestBody) goOn(now time.Time) {
	b.giveTime(now)
	b.x.written = now
	_ = http.NewResponseController(b.x.ResponseWriter).SetWriteDeadline(now.Add(2 * stallTimeout))
}

// Read implements io.Reader. Errors are bodyErrors.
func (b *requestBody) Read(p []byte) (int, error) {
	if now := b.x.now(); b.until.Sub(now) < stallTimeout*3/4 {
		b.goOn(now)
	}
	n, err := b.ReadCloser.Read(p)
	switch err {
	case nil:
		return n, nil
	case io.EOF:
		// From now on net/http waits for the client to hang up, while the
		// answer is made: that may take longer.
		_ = http.NewResponseController(b.x.ResponseWriter).SetReadDeadline(time.Time{})
		return n, io.EOF
	}
	return n, &bodyError{err}
}
