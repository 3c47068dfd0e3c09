package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"flowdrive/store"
)

// messagePage is the page of a message of a case.
type messagePage struct {
	preview
	Case     int64
	Of       string // the title of the case
	Title    string
	Facts    string
	Download string
	Author   Person
	Created  time.Time
	Changed  time.Time
}

// preview is what a page shows of a content.
type preview struct {
	Text  string
	Image string
	None  string // why nothing of it is shown
}

// mostPreview bounds what is shown of a content, in bytes.
const mostPreview = 256 << 10

// previewOf returns what is shown of a content at a path of the drive.
func previewOf(x *visit, path, mediaType string, size int64) (p preview, err error) {
	kind, _, _ := strings.Cut(mediaType, ";")
	switch {
	case size > mostPreview:
		p.None = "It is too large to be shown here. Download it."
	case kind == "image/png" || kind == "image/jpeg" || kind == "image/gif" || kind == "image/webp":
		p.Image = path
	case strings.HasPrefix(kind, "text/") || kind == "application/json" || strings.HasSuffix(kind, "yaml") || strings.HasSuffix(kind, "xml"):
		a, err := x.hand(&driveRequest{Method: http.MethodGet, Path: path}, "")
		if err != nil {
			return p, err
		}
		if a.status != http.StatusOK {
			p.None = readRefusal(a).Detail
			break
		}
		p.Text = strings.ToValidUTF8(a.body.String(), "\uFFFD")
	default:
		p.None = fmt.Sprintf("A file of the type %s is not shown here. Download it.", kind)
	}
	return p, nil
}

// messageTitle returns what a message is called: it may have no label.
func messageTitle(m *store.Message) string { return cmp.Or(m.Label, "Message without a label") }

// pageOfMessage returns the address of the page of a message.
func pageOfMessage(id int64, uuid store.UUID) string {
	return fmt.Sprintf("/cases/%d/messages/%s", id, uuid)
}

func drawMessage(x *visit) error {
	id, err := caseNumber(x.r.PathValue("id"))
	if err != nil {
		return absent()
	}
	d, err := x.Queries.CaseDetail(x.r.Context(), x.by, id, x.logRoom)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(d.Messages, func(m store.Message) bool { return m.UUID.String() == x.r.PathValue("uuid") })
	if i < 0 {
		return absent()
	}
	m := &d.Messages[i]
	folder := fmt.Sprintf("/dav/Workflow/Cases/%d/Messages", id)
	v := &messagePage{
		Case: id, Of: titleOf(&d.CaseView), Title: messageTitle(m), Download: folder + "/" + m.UUID.String(),
		Facts:  fmt.Sprintf("%s, %s, version %d", sizeOf(m.Size), m.MediaType, m.Version),
		Author: x.Queries.PersonByID(m.AuthorID), Created: m.Created, Changed: m.Modified,
	}
	if v.preview, err = previewOf(x, v.Download, m.MediaType, m.Size); err != nil {
		return err
	}
	return x.draw("message.html", head{Title: v.Title, Nav: "cases", Path: v.Download, Alternate: v.Download, AlternateType: m.MediaType}, v)
}
