package web

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"

	"flowdrive/internal/errs"
)

// inputField is the field of what a case begins with: a file that is uploaded with the form,
// or the UUID of an attachment.
const inputField = "attachmentUUID"

// inputNameField is the field of the name under which that attachment was uploaded.
const inputNameField = "attachmentName"

// fileField is a field of a form that takes a file.
type fileField struct {
	Name, ID, Label, Hint string
	Fault                 string
	Kept                  []hidden // the attachment that was uploaded before the form was refused
	KeptName              string   // its name
}

// inputFile returns the field of the input of a case that begins.
func (x *visit) inputFile() *fileField {
	f := &fileField{
		Name: inputField, ID: "start-" + inputField, Label: "File",
		Hint: "It becomes the input of the case. Drop it here, or choose it.",
	}
	if !x.sentTo("start") {
		return f
	}
	f.Fault = x.refused.Of(inputField)
	if uuid := x.sent.Get(inputField); uuid != "" && f.Fault == "" {
		f.KeptName = x.sent.Get(inputNameField)
		f.Kept = []hidden{{inputField, uuid}, {inputNameField, f.KeptName}}
	}
	return f
}

// fileTaker says what becomes of a file that is sent with a form.
type fileTaker struct {
	request func(name string) driveRequest // stores it
	lost    string                         // what is said of it if it cannot be stored
	made    func(a *driveAnswer) string    // what its field has then; nil: the last part of its Location
}

// takeFile takes a form with a file, which becomes an attachment first, or without one.
func takeFile(x *visit, g page, taker fileTaker) error {
	kind, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return x.submit(x, g)
	}
	if err := x.Weigh(x.r.Context(), 4*mostForm); err != nil {
		return err
	}
	parts, err := x.r.MultipartReader()
	if err != nil {
		return &errs.Error{Kind: errs.BadParameter, Detail: "The form cannot be read.", Err: err}
	}
	s := &startForm{visit: x, taker: taker, fields: url.Values{}, left: mostForm}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &errs.Error{Kind: errs.BadParameter, Detail: "The form has ended too early; send it again.", Err: err}
		}
		if err := s.take(part); err != nil {
			return err
		}
	}
	x.r.PostForm = s.fields
	if s.failed != nil {
		return x.redraw(g, s.fields, s.failed, nil)
	}
	return x.perform(x, g)
}

// startForm is a form with a file on its way.
type startForm struct {
	*visit
	taker  fileTaker
	fields url.Values
	left   int64    // how many bytes of fields are still taken
	stored bool     // a file came with it
	failed *refusal // why the file is not stored
}

// take reads a field, or hands a file on to the drive.
func (s *startForm) take(part *multipart.Part) error {
	if part.FileName() != "" {
		return s.attach(part)
	}
	text, err := io.ReadAll(io.LimitReader(part, s.left+1))
	if err != nil {
		return &errs.Error{Kind: errs.BadParameter, Detail: "The form cannot be read.", Err: err}
	}
	// Each field counts a little more than it has, so that many empty ones end, too.
	if s.left -= int64(len(text)+len(part.FormName())) + 64; s.left < 0 {
		return errs.New(errs.TooLarge, "The fields of the form are larger than %d KiB, the most that is taken here.", mostForm>>10)
	}
	name := part.FormName()
	if len(text) == 0 && name == inputField || s.stored && (name == inputField || name == inputNameField) {
		return nil // no file was chosen: one that was uploaded before stays; or another is there in its place
	}
	s.fields.Add(name, strings.ReplaceAll(string(text), "\r\n", "\n"))
	return nil
}

// attach stores the file as an attachment, once however often the form is sent.
func (s *startForm) attach(part *multipart.Part) error {
	if part.FormName() != inputField {
		return errs.New(errs.BadParameter, "The form has a file in the field %q, which takes none.", part.FormName())
	}
	if s.failed != nil {
		return nil
	}
	q := s.taker.request(part.FileName())
	if kind := part.Header.Get("Content-Type"); kind != "" && kind != "application/octet-stream" {
		q.Header = append(q.Header, [2]string{"Content-Type", kind})
	}
	if key := s.keyOf(s.fields.Get("key"), attachNumber); key != "" {
		q.Header = append(q.Header, [2]string{"Idempotency-Key", key})
	}
	a, err := s.handOn(&q, part, -1)
	if err != nil {
		return err
	}
	if a.status >= http.StatusBadRequest {
		s.failed = refusalOfRequest(&q, a)
		s.failed.Detail = part.FileName() + " " + s.taker.lost + " " + s.failed.Detail
		return nil
	}
	made := path.Base(a.header.Get("Location"))
	if s.taker.made != nil {
		made = s.taker.made(a)
	}
	s.fields.Set(inputField, made)
	s.fields.Set(inputNameField, part.FileName())
	s.stored = true
	return nil
}

// attachNumber is the number of the request that stores a file, by which its idempotency
// key differs from those of the requests that follow.
const attachNumber = -1

// attachRequest is the request that makes an attachment.
func attachRequest(name string) driveRequest {
	return driveRequest{Method: http.MethodPut, Path: "/attachfs/" + url.PathEscape(name), File: name}
}
