package davfs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// What is cut off a listing for Windows stands in its last entry: a file whose name says
// how many files are not shown, so that a person who copies the folder does not take a
// part for the whole (docs/contract/drive.md#windows).

const notShownEnd = " more files are not shown.txt"

// notShownName is the name of the file that stands for n members.
func notShownName(n int) string { return thousands(n) + notShownEnd }

// thousands writes a number with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// readNotShown returns the number in such a name.
func readNotShown(name string) (n int, ok bool) {
	number, isNote := strings.CutSuffix(name, notShownEnd)
	if !isNote {
		return 0, false
	}
	n, err := strconv.Atoi(strings.ReplaceAll(number, ",", ""))
	return n, err == nil && n > 0 && thousands(n) == number
}

// notShownFile is the file that stands for what is not shown.
type notShownFile struct {
	*scope
	n int
}

func (n notShownFile) text() []byte {
	return fmt.Appendf(nil, "%s files and folders of this folder are not shown: Windows reads no list that is longer. "+
		"The newest are shown. The others are there too: open them by their names, or look at the folder with a browser or another program. "+
		"A copy of the folder that Windows makes does not have them.\r\n", thousands(n.n))
}

func (n notShownFile) about() *info {
	text := n.text()
	sum := sha256.Sum256(text)
	return &info{
		name: notShownName(n.n), size: int64(len(text)), etag: fmt.Sprintf(`"%x"`, sum[:16]), mediaType: typeText, created: n.since, modified: n.since,
	}
}

func (n notShownFile) stat(context.Context) (*info, error) { return n.about(), nil }

func (n notShownFile) open(context.Context) (*info, io.ReadSeekCloser, error) { //nolint:unparam // as reader has it
	return n.about(), contentOf(n.text()), nil
}

// notShown returns the file that stands for what Windows is not shown, if the request
// reads that and nothing of its name is there; else nil.
func (x *request) notShown() node {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead, "PROPFIND":
	default:
		return nil
	}
	if !strings.HasPrefix(x.r.UserAgent(), miniRedirector) || len(x.at.Segments) < 2 {
		return nil
	}
	if n, ok := readNotShown(x.at.Name()); ok {
		return notShownFile{x.scope, n}
	}
	return nil
}
