package davfs

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/errs"
)

// maxAddress bounds a path as it is written; nothing on the drive needs more.
const maxAddress = 4096

// address is the path of a request: its segments, decoded one by one, so
// that an encoded slash stays part of a name (and makes it one that nothing
// has).
type address struct {
	segments []string
	slash    bool // it ends in a slash, as a folder's may
}

// parseAddress reads an escaped path. Empty segments are passed over, as web
// servers do: a script that joins "…/" and "/name" means what it says.
func parseAddress(escaped string) (address, error) {
	if len(escaped) > maxAddress {
		return address{}, errs.New(errs.BadParameter, "The path has %d bytes, more than %d.", len(escaped), maxAddress)
	}
	a := address{slash: strings.HasSuffix(escaped, "/")}
	for part := range strings.SplitSeq(escaped, "/") {
		if part == "" {
			continue
		}
		name, err := url.PathUnescape(part)
		switch {
		case err != nil:
			return address{}, errs.New(errs.BadParameter, "The path holds %q, which is no percent encoding.", part)
		case !utf8.ValidString(name):
			return address{}, errs.New(errs.BadParameter, "The path is not UTF-8.")
		case name == "." || name == "..":
			return address{}, errs.New(errs.BadParameter, "The path holds %q; write it without.", name)
		}
		a.segments = append(a.segments, name)
	}
	return a, nil
}

// name returns the last segment, "" for the root.
func (a address) name() string {
	if len(a.segments) == 0 {
		return ""
	}
	return a.segments[len(a.segments)-1]
}

// path returns the decoded path, without a slash at its end.
func (a address) path() string { return "/" + strings.Join(a.segments, "/") }

// attached reports whether the address lies in /attachfs/, where every name is
// an ordinary one.
func (a address) attached() bool { return len(a.segments) > 0 && a.segments[0] == attachRoot }

// equal reports whether two addresses are one: names differ by case below the
// roots of Documents/, and nowhere else.
func (a address) equal(b address) bool {
	if !a.inDocuments() {
		return same(a.path(), b.path())
	}
	const root = 3 // segments: dav, Documents, the context
	return b.inDocuments() && same(strings.Join(a.segments[:root], "/"), strings.Join(b.segments[:root], "/")) &&
		slices.Equal(a.segments[root:], b.segments[root:])
}

// inDocuments reports whether the address lies below a root of Documents/,
// where every name is an ordinary one as well.
func (a address) inDocuments() bool { return len(a.segments) > 2 && same(a.segments[1], documentsRoot) }

// inWorkflow reports whether the address is of a folder of Workflow/, or lies
// below one.
func (a address) inWorkflow() bool {
	return len(a.segments) > 2 && same(a.segments[0], "dav") && same(a.segments[1], "Workflow")
}

// href returns the path of the segments, absolute and percent-encoded, as it
// stands in Location, in listings and in PROPFIND answers.
func href(segments ...string) string {
	return (&url.URL{Path: "/" + strings.Join(segments, "/")}).EscapedPath()
}
