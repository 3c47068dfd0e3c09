package web

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// uploadForm is the form by which files are uploaded without script.
type uploadForm struct {
	Post    string
	Curl    string
	Refused *refusal
	Exist   []string // names that are taken, about which the form asks
}

func (x documentDrawing) uploadForm(at engine.DocumentPath) *uploadForm {
	q := uploadRequest(under(at, "FILE"), "")
	q.File = "FILE"
	f := &uploadForm{Post: pageOfDocument(at...), Curl: x.curlLines([]driveRequest{q})}
	if x.sentTo("upload") {
		f.Refused, f.Exist = x.refused, x.sent["exist"]
	}
	return f
}

// uploadRequest returns the PUT of a document. Unless it is to replace one, it is refused
// if there is one.
func uploadRequest(to []string, as string) driveRequest {
	q := driveRequest{Method: http.MethodPut, Path: onDrive(to...)}
	if as != "replace" {
		q.Header = [][2]string{{"If-None-Match", "*"}}
	}
	return q
}

// mostUploadFields bounds the fields of an upload that are no files.
const mostUploadFields = 64 << 10

// uploadDocuments stores the files of a form, one after the other as they come. Of a name
// that is taken the field "as" says what to do: replace it, keep both, or, without it,
// ask.
func uploadDocuments(x *visit, g page) error {
	at := x.documentDrawing().documentPath()
	found, err := x.Queries.Documents(x.r.Context(), x.by, at)
	if err != nil {
		return err
	}
	parts, err := x.r.MultipartReader()
	if err != nil {
		return &errs.Error{Kind: errs.BadParameter, Detail: "The form cannot be read.", Err: err}
	}
	u := &upload{visit: x, at: at, taken: map[string]bool{}}
	for i := range found.Below {
		u.taken[identity.Fold(found.Below[i].Name)] = true
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &errs.Error{Kind: errs.BadParameter, Detail: "The form has ended too early; send it again.", Err: err}
		}
		if err := u.take(part); err != nil {
			return err
		}
	}
	return u.answer(g)
}

// upload is a form with files on its way.
type upload struct {
	*visit
	at     engine.DocumentPath
	as     string // what to do with a name that is taken
	taken  map[string]bool
	stored []noticeItem
	exist  []string // names that are taken, of which nothing is stored
	failed *refusal // the first other refusal
	which  string   // what it is about
}

// take stores the file of a part, or reads a field.
func (u *upload) take(part *multipart.Part) error {
	if part.FileName() == "" {
		text, err := io.ReadAll(io.LimitReader(part, mostUploadFields))
		if err != nil {
			return &errs.Error{Kind: errs.BadParameter, Detail: "The form cannot be read.", Err: err}
		}
		if part.FormName() == "as" {
			u.as = string(text)
		}
		return nil
	}
	name := part.FileName()
	taken := u.taken[identity.Fold(name)]
	switch {
	case taken && u.as == "both":
		name = u.free(name)
	case taken && u.as != "replace":
		u.exist = append(u.exist, name)
		return nil
	}
	q := uploadRequest(under(u.at, name), u.as)
	if kind := part.Header.Get("Content-Type"); kind != "" && kind != "application/octet-stream" {
		q.Header = append(q.Header, [2]string{"Content-Type", kind})
	}
	a, err := u.handOn(&q, part, -1)
	if err != nil {
		return err
	}
	switch {
	case a.status == http.StatusPreconditionFailed:
		u.exist = append(u.exist, name)
	case a.status >= http.StatusBadRequest:
		if u.failed == nil {
			u.failed, u.which = readRefusal(a), name
		}
	default:
		u.taken[identity.Fold(name)] = true
		u.stored = append(u.stored, noticeItem{Link: pageOfDocument(under(u.at, name)...), Name: name})
	}
	return nil
}

// free returns a name like this one that is not taken: "rates (2).csv".
func (u *upload) free(name string) string {
	end := path.Ext(name)
	stem := strings.TrimSuffix(name, end)
	for n := 2; ; n++ {
		if one := fmt.Sprintf("%s (%d)%s", stem, n, end); !u.taken[identity.Fold(one)] {
			return one
		}
	}
}

// answer leads to the folder if all is stored. Otherwise it shows it with what is not.
func (u *upload) answer(g page) error {
	text := ""
	switch len(u.stored) {
	case 0:
	case 1:
		text = "Stored:"
	default:
		text = fmt.Sprintf("%d files are stored:", len(u.stored))
	}
	if u.failed == nil && len(u.exist) == 0 {
		if text == "" {
			text = "No file was chosen, and nothing is stored."
		}
		u.notices.put(u.token, notice{Text: text, Items: u.stored})
		return u.redirect(u.landing(""))
	}
	u.notices.put(u.token, notice{Text: text, Items: u.stored})
	u.refused = u.failed
	if u.failed != nil {
		u.failed.Detail = u.which + " is not stored. " + u.failed.Detail
		u.status = u.failed.Status
	} else {
		u.status = http.StatusConflict
	}
	u.sent = map[string][]string{"do": {"upload"}, "exist": u.exist}
	return g.draw(u.visit)
}

// putDocument hands a file on to the drive as a script of the page sends it: a session may
// not change the drive itself. It is answered as the drive answers.
func putDocument(x *visit) error {
	at := x.documentDrawing().documentPath()
	if len(at) < 2 {
		return errs.New(errs.Method, "A file has a folder above it and a name.")
	}
	q := driveRequest{Method: http.MethodPut, Path: onDrive(at...)}
	for _, name := range []string{"Content-Type", "If-None-Match"} {
		if value := x.r.Header.Get(name); value != "" {
			q.Header = append(q.Header, [2]string{name, value})
		}
	}
	a, err := x.handOn(&q, x.r.Body, x.r.ContentLength)
	if err != nil {
		return err
	}
	x.headers("")
	for _, name := range []string{"Content-Type", "ETag", "Location", "Retry-After"} {
		if value := a.header.Get(name); value != "" {
			x.w.Header().Set(name, value)
		}
	}
	x.w.WriteHeader(a.status)
	_, _ = x.w.Write(a.body.Bytes())
	return nil
}
