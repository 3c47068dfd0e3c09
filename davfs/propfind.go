package davfs

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"

	"golang.org/x/net/webdav"

	"flowdrive/engine"
	"flowdrive/errs"
)

// maxXML bounds the body of a PROPFIND; real ones have a few hundred bytes.
const maxXML = 64 << 10

// mostProps bounds how many properties a request may name: each is answered
// for every member.
const mostProps = 256

const (
	davSpace = "DAV:"
	infinite = "infinity"

	// miniRedirector mounts drives on Windows. It asks for all there is,
	// shows no XATTRs, and refuses large answers.
	miniRedirector = "Microsoft-WebDAV-MiniRedir"
)

// propfind answers PROPFIND for a resource and its members. What is said of
// them is fetched here, with one question for all members; webdav.Handler
// then reads the request and writes the answer from what was fetched, so
// that nothing can fail once the answer has begun.
func (d *drive) propfind(x *exchange) error {
	depth, err := readDepth(x.r.Header.Get("Depth"))
	if err != nil {
		return err
	}
	if err := x.query.only(); err != nil {
		return err
	}
	n, err := x.place()
	if err != nil {
		return err
	}
	about, err := n.stat(x.r.Context())
	if err != nil {
		return err
	}
	whole, isTree := n.(tree)
	if _, isFile := n.(documentFile); depth == infinite && isFile {
		depth = "0" // there is nothing below a file
	}
	if depth == infinite && !isTree {
		return errs.New(errs.FiniteDepth, "The depth must be 0 or 1: ask folder by folder, or read the hidden key %s.", contentsName)
	}
	body, err := readXML(x.r)
	if err != nil {
		return err
	}
	asked, err := judgePropfind(body)
	if err != nil {
		return err
	}
	at := path.Clean(x.at.path())
	view := newView(at, viewed{about, n}, asked.named)
	if dir, ok := n.(folder); ok && depth == "1" {
		err = view.fetch(x.r.Context(), dir, at)
	} else if depth == infinite {
		err = view.fetchAll(x.r.Context(), whole, at)
	}
	view.xattrs = asked.xattrs
	if !asked.named {
		view.xattrs = depth == "0" || !strings.HasPrefix(x.r.UserAgent(), miniRedirector)
	}
	if err == nil && asked.quota {
		view.quota = new(engine.Quota)
		*view.quota, err = x.engine.Quota(x.r.Context(), x.by)
	}
	if err != nil {
		return err
	}
	r := x.r.Clone(x.r.Context())
	r.URL.Path, r.URL.RawPath = at, ""
	r.Header.Set("Depth", depth)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer := &repairer{ResponseWriter: x.w}
	(&webdav.Handler{FileSystem: view, LockSystem: noLocks{}}).ServeHTTP(answer, r)
	return answer.err()
}

// readDepth reads the header; without it the depth is infinite (RFC 4918,
// section 9.1), which is refused everywhere but in Documents/.
func readDepth(header string) (string, error) {
	switch strings.ToLower(strings.TrimSpace(header)) {
	case "0":
		return "0", nil
	case "1", "1,noroot": // Microsoft's, to whom the root itself is no harm
		return "1", nil
	case "", infinite:
		return infinite, nil
	}
	return "", errs.New(errs.BadParameter, "The header Depth is %q; it must be 0 or 1.", header)
}

func readXML(r *http.Request) ([]byte, error) {
	tooLarge := errs.New(errs.TooLarge, "The body is larger than %d bytes.", maxXML)
	if r.ContentLength > maxXML {
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxXML+1))
	switch {
	case err != nil || int64(len(body)) < r.ContentLength:
		return nil, cutShort(err, int64(len(body)))
	case len(body) > maxXML:
		return nil, tooLarge
	}
	return body, nil
}

// asked is what a PROPFIND wants to know.
type asked struct {
	named  bool // it names its properties
	quota  bool // the quota's are among them
	xattrs bool // XATTRs are
}

// judgePropfind looks at what webdav.Handler would let pass: a document type
// (design: the drive, section 7: none), a prefix bound to nothing (Namespaces
// in XML, section 2.3), more than anybody asks for.
func judgePropfind(body []byte) (asked asked, err error) {
	elements := 0
	decoder := xml.NewDecoder(bytes.NewReader(body))
	for depth := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return asked, nil
		}
		if err != nil {
			return asked, errs.New(errs.NotParseable, "The body is not XML: %v.", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return asked, errs.New(errs.NotParseable, "The body has a document type declaration; send it without.")
		case xml.StartElement:
			depth++
			if elements++; elements > mostProps {
				return asked, errs.New(errs.NotParseable, "The body names more than %d properties.", mostProps)
			}
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" && a.Value == "" {
					return asked, errs.New(errs.NotParseable, "The prefix %q is bound to no namespace.", a.Name.Local)
				}
			}
			asked.named = asked.named || depth == 2 && t.Name == xml.Name{Space: davSpace, Local: "prop"}
			asked.quota = asked.quota || depth == 3 && t.Name.Space == davSpace && (t.Name.Local == quotaUsed || t.Name.Local == quotaAvailable)
			asked.xattrs = asked.xattrs || depth == 3 && t.Name.Space == xattrSpace
		case xml.EndElement:
			depth--
		}
	}
}

// repairer keeps webdav.Handler from answering failures in its own words: a
// status that it writes becomes an error of ours.
type repairer struct {
	http.ResponseWriter
	status int // what it would have answered, where that is a failure
}

// WriteHeader passes a success on.
func (w *repairer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusBadRequest {
		w.status = status
		return
	}
	if w.status == 0 {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write drops the text of a failure.
func (w *repairer) Write(p []byte) (int, error) {
	if w.status != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// err returns what is to be answered instead. The path was looked up before,
// so it can only be the body.
func (w *repairer) err() error {
	switch {
	case w.status == 0:
		return nil
	case w.status < http.StatusInternalServerError:
		return errs.New(errs.NotParseable, "The body is no propfind request (RFC 4918, section 14.20): it must ask for prop, propname or allprop.")
	}
	return errs.New(errs.Internal, "The PROPFIND was answered with the status %d.", w.status)
}
