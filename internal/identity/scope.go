package identity

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Scope is what an app password may be used for: everything that its user may do, only
// to read, or one folder and what is below it
// (docs/contract/drive.md#log-in).
type Scope string

// AppPassword is what a log-in knows of the app password by which it came.
type AppPassword struct {
	Label string // its name among those of the user
	Scope Scope  // zero: everything
}

// The scopes that are not a folder.
const (
	ScopeAll  Scope = "all"
	ScopeRead Scope = "read"
)

// ParseScope reads a scope as a user writes it: all, read, or the path of a folder from
// the root of the server or, without a slash before it, of the drive. ok is false if it
// is none.
func ParseScope(text string) (s Scope, ok bool) {
	switch text {
	case "": // a script whose variable is empty does not want everything
		return "", false
	case string(ScopeAll):
		return ScopeAll, true
	case string(ScopeRead):
		return ScopeRead, true
	}
	if !strings.HasPrefix(text, "/") {
		text = "/dav/" + text
	}
	folder := norm.NFC.String(path.Clean(text))
	for _, root := range []string{"/dav/Documents", "/dav/Workflow", "/attachfs"} {
		if within(folder, root) && !strings.ContainsAny(folder, "\x00?#") {
			return Scope(folder), true
		}
	}
	return "", false
}

// Allows reports whether a request may be made: its method, its decoded path and, of a
// COPY or MOVE, the decoded path of its destination, "" for none. The zero Scope allows
// everything. The folder of a scope stays: who has such a password does what there is in it.
func (s Scope) Allows(method, at, destination string) bool {
	switch {
	case s == "" || s == ScopeAll || method == "OPTIONS":
		return true
	case s == ScopeRead:
		return method == "GET" || method == "HEAD" || method == "PROPFIND"
	}
	return within(at, string(s)) && (destination == "" || within(destination, string(s))) && !s.Removes(method, at, destination)
}

// Removes reports whether a request would take away the folder of a scope, or put another
// one in its place.
func (s Scope) Removes(method, at, destination string) bool {
	return (method == "DELETE" || method == "MOVE") && s.is(at) || (method == "COPY" || method == "MOVE") && s.is(destination)
}

func (s Scope) is(at string) bool {
	return strings.HasPrefix(string(s), "/") && cleaned(at) == string(s)
}

// Reads reports whether what is at a path may be read, also as what a document names.
func (s Scope) Reads(path string) bool { return s.Allows("GET", path, "") }

// Outside says of a scope that is a folder that something else was asked for.
func (s Scope) Outside() string {
	return fmt.Sprintf("is not in %s, which alone this app password is for", s)
}

// within reports whether a path is that of the folder or below it.
func within(at, folder string) bool {
	at = cleaned(at)
	return at == folder || strings.HasPrefix(at, folder+"/")
}

func cleaned(at string) string { return norm.NFC.String(path.Clean("/" + at)) }

// Documents returns whose documents the scope is for: the name of a user or team, "" if it
// is for others or for something else.
func (s Scope) Documents() string {
	below, _ := strings.CutPrefix(string(s), "/dav/Documents/")
	if below == string(s) {
		return ""
	}
	name, _, _ := strings.Cut(below, "/")
	return name
}
