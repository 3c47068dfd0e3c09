package server

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/errs"
)

// Limits of a request's head.
const (
	maxTarget   = 8 << 10 // bytes of path and query
	maxSegments = 64
	maxFields   = 100      // header lines
	maxHeader   = 64 << 10 // bytes of header
)

// checkHead refuses what no resource can be meant by, before anything else is
// looked at: the drive's paths are names and slashes, and nothing that two
// programs might read differently.
func checkHead(r *http.Request) error {
	if len(r.RequestURI) > maxTarget {
		return errs.New(errs.BadParameter, "The URL is longer than %s.", bytesInWords(maxTarget))
	}
	fields := 0
	for _, lines := range r.Header {
		fields += len(lines)
	}
	if fields > maxFields {
		return errs.New(errs.BadParameter, "The request has more than %d header fields.", maxFields)
	}
	if len(r.Header["Authorization"]) > 1 {
		return errs.New(errs.BadParameter, "The request has more than one Authorization header.")
	}
	if err := checkPath(r.URL); err != nil {
		return err
	}
	if r.URL.RawQuery != "" {
		// Semicolons are the drive's to judge: in the query of a dropped file
		// they end labels.
		if _, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")); err != nil {
			return errs.New(errs.BadParameter, "The query after the ? of the URL is not well-formed; percent-encode its values.")
		}
	}
	return nil
}

// checkPath refuses encoded slashes, control characters, what is not UTF-8,
// and the segments "." and "..", which clients resolve before they ask (RFC
// 3986, section 5.2.4).
func checkPath(u *url.URL) error {
	path := u.Path
	if !strings.HasPrefix(path, "/") {
		return errs.New(errs.BadParameter, "The request names no path.")
	}
	if u.RawPath != "" && (strings.Contains(u.RawPath, "%2F") || strings.Contains(u.RawPath, "%2f")) {
		return errs.New(errs.BadParameter, "A name cannot contain a slash, not even as %%2F.")
	}
	if !utf8.ValidString(path) {
		return errs.New(errs.BadParameter, "The path is not UTF-8.")
	}
	segments, begin := 0, 1
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			if path[i] < ' ' || path[i] == 0x7f {
				return errs.New(errs.BadParameter, "The path contains a control character.")
			}
			continue
		}
		if segment := path[begin:i]; segment == "." || segment == ".." {
			return errs.New(errs.BadParameter, "The path contains the segment %q; resolve it before asking.", segment)
		}
		if i > begin {
			segments++
		}
		begin = i + 1
	}
	if segments > maxSegments {
		return errs.New(errs.BadParameter, "The path has more than %d segments.", maxSegments)
	}
	return nil
}
