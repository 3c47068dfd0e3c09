package davfs

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	maxName = filename.MaxBytes // bytes of a legal name
	maxID   = 1<<53 - 1         // ids survive every JSON reader
)

// same reports whether two names are equal except for case. Every segment of every
// path is compared with several names, so that ASCII is compared without making new
// strings.
func same(a, b string) bool {
	if a == b {
		return true
	}
	if isASCII(a) && isASCII(b) {
		return len(a) == len(b) && strings.EqualFold(a, b)
	}
	return identity.Fold(a) == identity.Fold(b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// splitName cuts off a document's extension, in lower case. ext is "" if the name
// does not end with one of .json, .yaml and .yml.
func splitName(name string) (stem, ext string) {
	for _, e := range [...]string{".json", ".yaml", ".yml"} {
		if n := len(name) - len(e); n > 0 && strings.EqualFold(name[n:], e) {
			return name[:n], e
		}
	}
	return name, ""
}

// legalName answers errs.NameNotAllowed for a name that nothing can be given
// (docs/contract/drive.md#legal-names). The name must be in NFC.
func legalName(name string) error {
	refuse := func(why string) error {
		return errs.New(errs.NameNotAllowed, "The name %q %s; choose another.", name, why)
	}
	switch {
	case name == "":
		return refuse("is empty")
	case len(name) > maxName:
		return errs.New(errs.NameNotAllowed, "The name has %d bytes, more than %d; choose a shorter one.", len(name), maxName)
	case !utf8.ValidString(name):
		return refuse("is not UTF-8")
	case strings.ContainsFunc(name, filename.Unwritable):
		return refuse("contains a control character")
	case strings.ContainsAny(name, filename.Illegal):
		return refuse(`contains one of \ / : * ? " < > | @`)
	case strings.TrimSpace(name) != name:
		return refuse("begins or ends with a blank")
	case strings.HasSuffix(name, "."):
		return refuse("ends with a dot")
	case deviceName(name):
		return refuse("is a device on Windows")
	}
	return nil
}

// deviceName reports whether Windows takes the name for a device, which it
// does whatever follows the first dot.
func deviceName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, isPort := strings.CutPrefix(stem, "COM")
	if !isPort {
		port, isPort = strings.CutPrefix(stem, "LPT")
	}
	return isPort && len(port) > 0 && strings.Contains("0123456789¹²³", port) && utf8.RuneCountInString(port) == 1
}

// taskWord reports whether the text can name a task: an action, or what a step
// of an action or timer asked of the outside and did not get, as submit.12-1.
func taskWord(name string) bool {
	words := strings.Split(name, ".")
	const most = 3 // action, its timer, the delivery
	return len(words) <= most && !slices.ContainsFunc(words, func(word string) bool { return !legalWord(word) })
}

// legalWord reports whether the name is one that users, teams, actions and
// labels may have.
func legalWord(name string) bool {
	if len(name) == 0 || len(name) > 63 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return true
}

// sideFile reports whether the name is one that editors and desktops write
// beside a document (docs/contract/drive.md#side-files): never a resource.
func sideFile(name string) bool { return filename.Temporary(name) }

// parseID reads an id as a name spells it: digits, without leading zeros.
func parseID(text string) (int64, bool) {
	if !digits(text) || text[0] == '0' {
		return 0, false
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id > maxID {
		return 0, false
	}
	return id, true
}

// digits reports whether the text is digits and nothing else.
func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// parseUUID reads a UUID in any of its forms.
func parseUUID(text string) (store.UUID, bool) {
	const urn = "urn:uuid:"
	if len(text) > len(urn) && strings.EqualFold(text[:len(urn)], urn) {
		text = text[len(urn):]
	}
	return store.ParseUUID(text)
}

// sourceType is the media type of a document's source.
func sourceType(ext string) string {
	if ext == ".json" {
		return typeJSON
	}
	return typeYAML
}
