package dav

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/errs"
)

const (
	maxPath     = 4096 // bytes of a path as it is written; nothing on a drive needs more
	maxSegments = 64   // how deep the path of a Destination may be
)

// Path is the path of a URL: its segments, decoded one by one, so that an
// encoded slash stays part of a name.
type Path struct {
	Segments []string
	Slash    bool // it ends in a slash, as a folder's may
}

// ParsePath reads a percent-encoded path. Empty segments are passed over, as
// web servers do: a script that joins "…/" and "/name" means what it says.
// A path that is too long, not UTF-8, not percent-encoded correctly or that
// has "." or ".." segments is errs.BadParameter.
func ParsePath(escaped string) (Path, error) {
	if len(escaped) > maxPath {
		return Path{}, errs.New(errs.BadParameter, "The path has %d bytes, more than %d.", len(escaped), maxPath)
	}
	p := Path{Slash: strings.HasSuffix(escaped, "/")}
	for part := range strings.SplitSeq(escaped, "/") {
		if part == "" {
			continue
		}
		name, err := url.PathUnescape(part)
		switch {
		case err != nil:
			return Path{}, errs.New(errs.BadParameter, "The path contains %q, which is not a valid percent encoding.", part)
		case !utf8.ValidString(name):
			return Path{}, errs.New(errs.BadParameter, "The path is not UTF-8.")
		case name == "." || name == "..":
			return Path{}, errs.New(errs.BadParameter, "The path contains %q; write it without.", name)
		}
		p.Segments = append(p.Segments, name)
	}
	return p, nil
}

// Name returns the last segment, "" for the root.
func (p Path) Name() string {
	if len(p.Segments) == 0 {
		return ""
	}
	return p.Segments[len(p.Segments)-1]
}

// String returns the decoded path, without a slash at its end.
func (p Path) String() string { return "/" + strings.Join(p.Segments, "/") }

// Href returns the path of the segments, absolute and percent-encoded, as it
// stands in Location, in listings and in answers to PROPFIND.
func Href(segments ...string) string {
	return (&url.URL{Path: "/" + strings.Join(segments, "/")}).EscapedPath()
}

// FolderHref returns the path of a folder: with a slash at its end.
func FolderHref(href string) string {
	if href == "/" {
		return href
	}
	return href + "/"
}

// ReadDestination reads the values of the header Destination (RFC 4918, section
// 10.3): a path, or a URL of which the path counts. Its scheme is not looked
// at, since a proxy may speak TLS for the server. If it has a host for which
// ownHost reports false, the error is errs.OtherServer; any other fault is
// errs.BadParameter. The header may hold a password, so that no error quotes it.
func ReadDestination(values []string, ownHost func(host string) bool) (Path, error) {
	if len(values) != 1 {
		return Path{}, errs.New(errs.BadParameter, "The header Destination must be given once, with the URL or path of the new place.")
	}
	u, err := url.Parse(strings.TrimSpace(values[0]))
	switch {
	case err != nil || u.Opaque != "" || !strings.HasPrefix(u.Path, "/"):
		return Path{}, errs.New(errs.BadParameter, "The header Destination is neither a URL nor an absolute path; percent-encode what is not letters, digits and slashes.")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Path{}, errs.New(errs.BadParameter, "The header Destination must end with its path: no query and no fragment.")
	case u.Host != "" && !ownHost(u.Host):
		return Path{}, errs.New(errs.OtherServer, "The header Destination names another server; nothing is copied there. Use this server's own name.")
	}
	p, err := ParsePath(u.EscapedPath())
	if err != nil {
		return Path{}, errs.New(errs.BadParameter, "The path in the header Destination cannot be read; percent-encode it, in UTF-8 and without . and .. segments.")
	}
	if slices.ContainsFunc(p.Segments, func(name string) bool { return strings.Contains(name, "/") || strings.ContainsFunc(name, isControl) }) {
		return Path{}, errs.New(errs.BadParameter, "The path in the header Destination contains a name with a slash or control character in it.")
	}
	if len(p.Segments) > maxSegments {
		return Path{}, errs.New(errs.BadParameter, "The path in the header Destination has more than %d segments.", maxSegments)
	}
	return p, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// SameHost compares a configured name, with or without port, with the host of
// a URL.
func SameHost(name, host string) bool {
	if strings.EqualFold(name, host) {
		return true
	}
	u := url.URL{Host: host}
	return strings.EqualFold(name, u.Hostname()) || strings.EqualFold(strings.Trim(name, "[]"), u.Hostname())
}

// ReadOverwrite reads the header Overwrite (RFC 4918, section 10.6), which is T
// if it is not given. Anything but T and F is errs.BadParameter.
func ReadOverwrite(header string) (bool, error) {
	switch text := strings.TrimSpace(header); {
	case text == "" || strings.EqualFold(text, "T"):
		return true, nil
	case strings.EqualFold(text, "F"):
		return false, nil
	default:
		return false, errs.New(errs.BadParameter, "The header Overwrite is %q; it must be T or F.", text)
	}
}

// Infinity is the value of the header Depth for a folder and all below it.
const Infinity = "infinity"

// ReadDepth reads the header Depth of a method that takes 0 and infinity, which
// is what it means if it is not given (RFC 4918, section 10.2).
func ReadDepth(method, header string) (deep bool, err error) {
	switch strings.ToLower(strings.TrimSpace(header)) {
	case "0":
		return false, nil
	case "", Infinity:
		return true, nil
	}
	return false, errs.New(errs.BadParameter, "The header Depth is %q; that of %s must be 0 or infinity.", header, method)
}

// ReadPropfindDepth reads the header Depth of a PROPFIND: "0", "1" or Infinity,
// which is what it means if it is not given (RFC 4918, section 9.1).
func ReadPropfindDepth(header string) (string, error) {
	switch strings.ToLower(strings.TrimSpace(header)) {
	case "0":
		return "0", nil
	case "1", "1,noroot": // Microsoft's, which accepts the root as well
		return "1", nil
	case "", Infinity:
		return Infinity, nil
	}
	return "", errs.New(errs.BadParameter, "The header Depth is %q; it must be 0 or 1.", header)
}
