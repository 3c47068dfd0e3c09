package davfs

import (
	"slices"
	"strings"

	"flowdrive/davfs/dav"
)

// address is the path of a request, and says in which part of the drive it
// lies.
type address struct{ dav.Path }

// addressOf returns the address of the segments.
func addressOf(segments []string) address { return address{dav.Path{Segments: segments}} }

// parent returns the address of the folder; there must be one.
func (a address) parent() address { return addressOf(a.Segments[:len(a.Segments)-1]) }

// attached reports whether the address lies in /attachfs/, where every name is
// an ordinary one.
func (a address) attached() bool { return len(a.Segments) > 0 && a.Segments[0] == attachRoot }

// overlaid reports whether a mounting client may be shown something else at the address
// than what is stored: a draft or an echo.
func (a address) overlaid() bool {
	return len(a.Segments) > 1 && same(a.Segments[0], "dav") && !same(a.Segments[1], documentsRoot) || a.attached()
}

// equal reports whether two addresses are one: names differ by case below the
// roots of Documents/, and nowhere else.
func (a address) equal(b address) bool {
	if !a.inDocuments() {
		return same(a.String(), b.String())
	}
	const root = 3 // segments: dav, Documents, the context
	return b.inDocuments() && same(strings.Join(a.Segments[:root], "/"), strings.Join(b.Segments[:root], "/")) &&
		slices.Equal(a.Segments[root:], b.Segments[root:])
}

// below reports whether the address lies below another.
func (a address) below(folder address) bool {
	n := len(folder.Segments)
	return n < len(a.Segments) && addressOf(a.Segments[:n]).equal(folder)
}

// inDocuments reports whether the address lies below a root of Documents/,
// where every name is an ordinary one as well.
func (a address) inDocuments() bool { return len(a.Segments) > 2 && same(a.Segments[1], documentsRoot) }

// inWorkflow reports whether the address is of a folder of Workflow/, or lies
// below one.
func (a address) inWorkflow() bool {
	return len(a.Segments) > 2 && same(a.Segments[0], "dav") && same(a.Segments[1], "Workflow")
}

// inAdmin reports whether the address lies below Admin/.
func (a address) inAdmin() bool {
	return len(a.Segments) > 2 && same(a.Segments[0], "dav") && same(a.Segments[1], "Admin")
}
