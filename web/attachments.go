package web

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"flowdrive/internal/errs"
)

// attachmentsView is what attachments.html shows.
type attachmentsView struct {
	*documentsView
	Rows []attachmentRow
}

type attachmentRow struct {
	ID       string
	Name     string
	Type     string
	Size     string
	Made     time.Time
	Case     int64 // 0: none
	Title    string
	Expires  time.Time // zero: with what it is bound to
	Download string
	Delete   string
}

// attachmentForm is what /attachfs/.contents has of an attachment.
type attachmentForm struct {
	UUID    string     `json:"uuid"`
	Name    string     `json:"name"`
	Type    string     `json:"type"`
	Size    int64      `json:"size"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires"`
	BoundTo int64      `json:"boundTo"`
}

func attachmentForms() map[string]form { return map[string]form{"delete": deleteAttachment} }

func deleteAttachment(_ *visit, v url.Values) (*act, error) {
	if v.Get("name") == "" {
		return nil, missing("name")
	}
	return &act{requests: []driveRequest{{Method: "DELETE", Path: "/attachfs/view/" + url.PathEscape(v.Get("name"))}}, done: said("The attachment is deleted.")}, nil
}

func drawAttachments(x *visit) error {
	v := &attachmentsView{documentsView: &documentsView{
		Title: "Attachments", Here: "/attachments",
		Empty: "No attachment is yours.",
	}}
	if err := x.areas(v.documentsView, ""); err != nil {
		return err
	}
	path := "/attachfs/.contents?limit=" + strconv.Itoa(documentRows)
	if after := x.query.Get("after"); after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	body, next, err := x.readPage(path)
	if err != nil {
		return err
	}
	var forms []attachmentForm
	if err := json.Unmarshal(body, &forms); err != nil {
		return errs.Wrap("read "+path, err)
	}
	if next != "" {
		if u, err := url.Parse(next); err == nil {
			v.Next = x.with("after", u.Query().Get("after"), "do", "", "name", "")
			x.w.Header().Add("Link", "<"+v.Next+`>; rel="next"`)
		}
	}
	for i := range forms {
		f := &forms[i]
		row := attachmentRow{
			ID: f.UUID, Name: f.Name, Type: f.Type, Size: sizeOf(f.Size), Made: f.Created, Case: f.BoundTo,
			Download: "/attachfs/download/" + f.UUID, Delete: x.with("do", "delete", "name", f.UUID) + "#ask",
		}
		if f.Expires != nil {
			row.Expires = *f.Expires
		}
		v.Rows = append(v.Rows, row)
	}
	if name := x.about(); x.asked() == "delete" && name != "" {
		v.Ask = x.asks(asking{
			Do: "delete", Title: "Delete the attachment", Text: "What a case has taken from it stays with the case.", Submit: "Delete",
			Cancel: x.with("do", "", "name", ""), Hidden: []hidden{{"name", name}},
		}, deleteAttachment)
	}
	h := head{Title: "Attachments", Nav: "documents", Path: "/attachfs/", JSON: "/attachfs/.contents"}
	return x.draw("attachments.html", h, v)
}
