package davfs

import (
	"net/url"
	"slices"
	"strings"

	"flowdrive/internal/errs"
)

// readHeaders reads the headers of a COPY or MOVE.
func (t *transfer) readHeaders() (err error) {
	if t.to, err = t.readDestination(t.r.Header.Values("Destination")); err != nil {
		return err
	}
	switch text := strings.TrimSpace(t.r.Header.Get("Overwrite")); {
	case text == "" || strings.EqualFold(text, "T"): // RFC 4918, section 10.6: without the header as with T
		t.overwrite = true
	case !strings.EqualFold(text, "F"):
		return errs.New(errs.BadParameter, "The header Overwrite is %q; it must be T or F.", text)
	}
	switch depth := strings.ToLower(strings.TrimSpace(t.r.Header.Get("Depth"))); {
	case depth == "0":
		t.shallow = true
	case depth != "" && depth != infinite:
		return errs.New(errs.BadParameter, "The header Depth is %q; that of %s must be 0 or infinity.", depth, t.r.Method)
	}
	return nil
}

// readDestination reads the header Destination (RFC 4918, section 10.3): a
// path, or a URL of which the path counts. Its scheme is that of another
// world where a proxy speaks TLS for us; its host is looked at where it is
// known by which names the server is called. It may hold a password, so that
// it is never quoted.
func (d *drive) readDestination(values []string) (address, error) {
	if len(values) != 1 {
		return address{}, errs.New(errs.BadParameter, "The header Destination must say where to, once: the URL or path of the new place.")
	}
	u, err := url.Parse(strings.TrimSpace(values[0]))
	switch {
	case err != nil || u.Opaque != "" || !strings.HasPrefix(u.Path, "/"):
		return address{}, errs.New(errs.BadParameter, "The header Destination holds no URL and no absolute path; percent-encode what is not letters, digits and slashes.")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return address{}, errs.New(errs.BadParameter, "The header Destination must end with its path: no query and no fragment.")
	case u.Host != "" && !d.ownHost(u.Host):
		return address{}, errs.New(errs.OtherServer, "The header Destination names another server; nothing is copied there. Use the name by which this one is called.")
	}
	at, err := parseAddress(u.EscapedPath())
	if err != nil {
		return address{}, errs.New(errs.BadParameter, "The path in the header Destination cannot be read; percent-encode it, in UTF-8 and without . and .. segments.")
	}
	if slices.ContainsFunc(at.segments, func(name string) bool { return strings.Contains(name, "/") || strings.ContainsFunc(name, isControl) }) {
		return address{}, errs.New(errs.BadParameter, "The path in the header Destination holds a name with a slash or control character in it.")
	}
	if len(at.segments) > maxSegments {
		return address{}, errs.New(errs.BadParameter, "The path in the header Destination has more than %d segments.", maxSegments)
	}
	return at, nil
}

// maxSegments is how deep a path may be: that of a request may not be deeper.
const maxSegments = 64

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// ownHost reports whether a host is one of the configured names of the
// server; without any, every host is taken for its own.
func (d *drive) ownHost(host string) bool {
	return len(d.PublicNames) == 0 || slices.ContainsFunc(d.PublicNames, func(name string) bool { return sameHost(name, host) })
}

// sameHost compares a configured name, with or without port, with the host of
// a URL.
func sameHost(name, host string) bool {
	if strings.EqualFold(name, host) {
		return true
	}
	u := url.URL{Host: host}
	return strings.EqualFold(name, u.Hostname()) || strings.EqualFold(strings.Trim(name, "[]"), u.Hostname())
}
