package web

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"

	"flowdrive/internal/errs"
)

// read returns what the drive has at the path, as the caller of the page may see it. It
// is for pages that show a resource of the drive as it is. Errors are those of the drive.
func (x *visit) read(path string) ([]byte, error) {
	body, _, err := x.readPage(path)
	return body, err
}

// readPage is read for listings in pages: next is the address of the next one on the
// drive, "" for none.
func (x *visit) readPage(path string) (body []byte, next string, err error) {
	a, err := x.hand(&driveRequest{Method: http.MethodGet, Path: path}, "")
	if err != nil {
		return nil, "", err
	}
	if a.status >= http.StatusBadRequest {
		refused := readRefusal(a)
		if refused.Kind == errs.NotFound {
			return nil, "", absent()
		}
		return nil, "", errs.New(refused.Kind, "%s", refused.Detail)
	}
	if m := nextLink.FindStringSubmatch(a.header.Get("Link")); m != nil {
		next = m[1]
	}
	return a.body.Bytes(), next, nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// readJSON is read into a value.
func (x *visit) readJSON(path string, into any) error {
	body, err := x.read(path)
	if err != nil {
		return err
	}
	return errs.Wrap("read "+path, json.Unmarshal(body, into))
}

// handOn makes a request to the drive with a body that is read as it comes. size is -1 if
// it is not known.
func (x *visit) handOn(q *driveRequest, body io.Reader, size int64) (*driveAnswer, error) {
	r, err := http.NewRequestWithContext(x.r.Context(), q.Method, q.Path, io.NopCloser(body))
	if err != nil {
		return nil, errs.Wrap("ask the drive", err)
	}
	r.ContentLength = size
	return x.serveDrive(r, q), nil
}
