package change

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
)

// DocumentPath leads to a document or folder: the name of the context whose
// root it begins at, then a name for each step down.
type DocumentPath []string

// documentsFolder is the folder of the roots on the drive. Schedule entries and
// start documents name documents by their whole path.
const documentsFolder = "/dav/Documents/"

// String returns the path on the drive, decoded.
func (p DocumentPath) String() string { return documentsFolder + strings.Join(p, "/") }

// ParseDocumentPath reads the path of a document on the drive, decoded. It may
// begin at the root of the drive, as the paths of commands and clients do. It
// returns errs.NameNotAllowed if the path leads into no root, or has a name
// that nothing can have.
func ParseDocumentPath(text string) (DocumentPath, error) {
	path := "/" + strings.TrimPrefix(text, "/")
	if !strings.HasPrefix(path, documentsFolder) {
		path = "/dav" + path
	}
	rest, ok := strings.CutPrefix(path, documentsFolder)
	if !ok {
		return nil, errs.New(errs.NameNotAllowed, "The path %q does not begin with %s.", text, documentsFolder)
	}
	p := DocumentPath(strings.Split(norm.NFC.String(rest), "/"))
	if len(p) < 2 {
		return nil, errs.New(errs.NameNotAllowed, "The path %q does not name a document: %s is followed by a user or team, and by the names of folders and of the document.", text, documentsFolder)
	}
	for _, name := range p {
		if err := LegalDocumentName(name); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// DecodedPath returns the path in a document's text, percent-decoded if that is
// possible (docs/contract/schedule.md#fields).
func DecodedPath(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		return decoded
	}
	return text
}

// LegalDocumentName answers errs.NameNotAllowed for what a path cannot hold;
// everything else is a name in Documents/, and names differ by case
// (docs/contract/drive.md#legal-names).
func LegalDocumentName(name string) error {
	var why string
	switch {
	case name == "":
		why = "is empty"
	case name == "." || name == "..":
		why = "means a folder"
	case !utf8.ValidString(name):
		why = "is not UTF-8"
	case strings.Contains(name, "/"):
		why = "contains a slash"
	case strings.ContainsFunc(name, filename.Unwritable):
		why = "contains a control character"
	default:
		return nil
	}
	return errs.New(errs.NameNotAllowed, "The name %q %s; choose another.", name, why)
}

// Normal returns the path with its names in NFC, in which they are stored.
func (p DocumentPath) Normal() DocumentPath {
	out := make(DocumentPath, len(p))
	for i, name := range p {
		out[i] = norm.NFC.String(name)
	}
	return out
}
