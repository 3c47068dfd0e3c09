package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"flowdrive/internal/errs"
)

// MaxDocument bounds a JSON or XML body that has no bound of its own
// (docs/contract/drive.md#limits).
const MaxDocument = 1 << 20

// ReadBody reads the whole body, up to limit bytes. Errors: errs.TooLarge,
// before anything is read if the length is declared; errs.BadParameter if the
// body ends early; errs.TooSlow if it does not arrive in time.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	LimitBody(w, r, limit)
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	size := r.ContentLength
	if size < 0 {
		size = 512
	}
	// One byte more, so that the end is seen without growing. What is only
	// declared takes no memory.
	const declared = 64 << 10
	data := make([]byte, 0, min(size, declared)+1)
	for {
		n, err := r.Body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, bodyFault(&bodyError{err})
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// LimitBody makes reading the body fail after limit bytes. WriteError knows
// the failure.
func LimitBody(w http.ResponseWriter, r *http.Request, limit int64) {
	// http.MaxBytesReader tells its writer to close the connection, which
	// only net/http's own understands.
	for {
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = inner.Unwrap()
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
}

// bodyError marks an error as one of reading the request's body, so that it is
// recognized however it is wrapped.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "request body: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// bodyFault returns what went wrong with reading a body as the client's
// problem, or nil if err is about something else.
func bodyFault(err error) *errs.Error {
	if tooMuch, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(tooMuch.Limit)
	}
	if _, ok := errors.AsType[*bodyError](err); !ok {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &errs.Error{Kind: errs.TooSlow, Detail: "The body did not arrive in time; send it again, at " + bytesInWords(slowestBody) + " a second or more.", Err: err}
	}
	return &errs.Error{Kind: errs.BadParameter, Detail: "The body ended before its declared length; send it again.", Err: err}
}

func tooLarge(limit int64) *errs.Error {
	return errs.New(errs.TooLarge, "The body is too large; at most %s are accepted here.", bytesInWords(limit))
}

func bytesInWords(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
