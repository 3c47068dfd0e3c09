package server

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"flowdrive/internal/mediatype"
)

// A compressed answer has an ETag of its own (RFC 9110, section 8.8.3.3): that of the
// answer as it is, with one of these before the last quote. The drive never makes an
// ETag that ends so, and knows nothing of them: what clients send back is read as the
// ETag of the answer as it is (docs/contract/drive.md#compression).
var etagSuffixes = [...]string{"-gzip", "-zstd"}

// leastCompressed is the number of bytes from which an answer is compressed.
const leastCompressed = 1024

// newCompressor returns what wraps handlers behind an exchange so that their answers
// are compressed, if the client takes it. It fails if the options of the library do not
// fit each other.
func newCompressor() (func(http.Handler) http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(leastCompressed), gzhttp.SuffixETag(etagSuffixes[0]), gzhttp.ContentTypeFilter(isText))
	if err != nil {
		return nil, fmt.Errorf("server: compression: %w", err)
	}
	return func(h http.Handler) http.Handler {
		return wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(&buffered{w, exchangeOf(r.Context())}, r)
		}))
	}, nil
}

// buffered is what a handler writes to if its answer may be compressed. Its first bytes
// wait until it is known whether they are worth it, so the exchange has to be told that
// the answer has begun.
type buffered struct {
	http.ResponseWriter
	x *exchange
}

// WriteHeader implements http.ResponseWriter.
func (b *buffered) WriteHeader(status int) {
	b.x.begun = b.x.begun || status >= http.StatusOK
	b.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (b *buffered) Write(p []byte) (int, error) {
	b.x.begun = true
	return b.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (b *buffered) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// serveDrive lets the drive answer, compressed if it may be and the client takes it.
func (s *Server) serveDrive(x *exchange, r *http.Request) {
	x.copyOf = plainETags(r.Header)
	switch {
	case !mayCompress(x.area, r):
	case r.Header.Get("Accept-Encoding") == "":
		x.Header().Add("Vary", "Accept-Encoding")
	default:
		s.compressed.ServeHTTP(x, r)
		return
	}
	s.config.Drive.ServeHTTP(x, r)
}

// isText reports whether a media type is of a kind that is worth compressing.
func isText(mediaType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "text/event-stream":
		return false // each event goes out at once
	case "application/json", "application/yaml", "application/xml", "application/javascript", "application/x-ndjson", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}

// mayCompress reports whether the answer may be compressed, by what is known before it
// is made. A file whose name is not that of a text is left alone, because the
// operating system sends it without copying.
func mayCompress(a area, r *http.Request) bool {
	switch r.Method {
	case "PROPFIND":
		return true
	case http.MethodGet, http.MethodHead:
	default:
		return false
	}
	if len(r.Header["Range"]) > 0 {
		return false // the parts are those of the bytes that are stored
	}
	if a != areaDocuments && a != areaAttach {
		return true
	}
	name := path.Base(r.URL.Path)
	return name == ".contents" || name == ".ls" || strings.HasSuffix(r.URL.Path, "/") || isText(mediatype.Of(name))
}

// plainETags makes the ETags of compressed answers in the conditions of a request
// those of the answers as they are. It returns the suffix that If-None-Match had, "" for
// none.
func plainETags(header http.Header) (suffix string) {
	for _, name := range [...]string{"If-None-Match", "If-Match", "If"} {
		for i, value := range header[name] {
			for _, s := range etagSuffixes {
				plain := strings.ReplaceAll(value, s+`"`, `"`)
				if plain == value {
					continue
				}
				if name == "If-None-Match" {
					suffix = s
				}
				value = plain
			}
			header[name][i] = value
		}
	}
	return suffix
}

// confirmETag gives a 304 the ETag that the client has asked about: that of its
// compressed copy, which suffix tells.
func confirmETag(header http.Header, suffix string) {
	if etag, quoted := strings.CutSuffix(header.Get("ETag"), `"`); quoted && suffix != "" {
		header.Set("ETag", etag+suffix+`"`)
	}
}
