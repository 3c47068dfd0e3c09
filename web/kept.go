package web

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"flowdrive/internal/errs"
)

// What a form has sent that cannot be answered by its own page, because the server has no
// room, the session has ended or the database does not answer, is kept on the page that
// says so: nobody has to write it again.

// mostKept is how large a form is at most that is kept.
const mostKept = 64 << 10

// keptForm is what a form has sent, to be sent again.
type keptForm struct {
	Action string
	Fields []hidden
	Texts  []hidden // what somebody has written, for people to read
	LogIn  bool     // somebody has to log in first
	Again  bool     // sending it again may help
	Told   bool     // it was refused for a reason that the page tells
}

// keepSent reads what a form has sent, if it was not read before the request failed.
func (x *visit) keepSent() {
	r := x.r
	if r.Method != http.MethodPost || r.PostForm != nil {
		return
	}
	limit := int64(mostKept)
	if x.by.ID == 0 {
		limit = mostLogInForm
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" || r.ContentLength < 0 || r.ContentLength > limit || x.origins.Check(r) != nil {
		return
	}
	r.Body = http.MaxBytesReader(x.w, r.Body, limit)
	if r.ParseForm() != nil {
		r.PostForm = nil // then nothing is kept
	}
}

// passing are the refusals after which the same form can be accepted a little later.
var passing = []errs.Kind{errs.LogIn, errs.Unavailable, errs.TooMany, errs.Locked, errs.Full, errs.Internal}

// keptForm returns what a form of the page has sent, nil for none, and for those with
// secrets.
func (x *visit) keptForm(kind errs.Kind) *keptForm {
	sent := x.r.PostForm
	if x.r.Method != http.MethodPost || len(sent) == 0 || x.r.URL.Path == "/login" || x.origins.Check(x.r) != nil {
		return nil
	}
	k := &keptForm{Action: x.r.URL.RequestURI(), LogIn: kind == errs.LogIn}
	if slices.Contains(passing, kind) {
		k.Again = !strings.HasPrefix(x.r.Header.Get("Content-Type"), "multipart/")
	}
	return k.keep(sent)
}

// refusedForm returns what a form has sent that was refused and that the page does not draw. It
// can be sent again once what is wrong is mended, with a key of its own.
func refusedForm(x *visit, kind errs.Kind) *keptForm {
	k := x.keptForm(kind)
	if k == nil {
		return nil
	}
	k.Told, k.Again = true, !strings.HasPrefix(x.r.Header.Get("Content-Type"), "multipart/")
	for i := range k.Fields {
		if k.Fields[i].Name == "key" {
			k.Fields[i].Value = x.Key()
		}
	}
	return k
}

// keep adds the fields of the form; it returns nil if there is a secret among them, or too much.
func (k *keptForm) keep(sent url.Values) *keptForm {
	length := 0
	for _, name := range sortedKeys(sent) {
		if lower := strings.ToLower(name); strings.Contains(lower, "password") || strings.Contains(lower, "secret") || lower == "code" || lower == "half" {
			return nil
		}
		for _, value := range sent[name] {
			k.Fields = append(k.Fields, hidden{name, value})
			length += len(name) + len(value)
			switch name {
			case "do", "key", "show", "case", "action", "etag", "match", "from":
			default:
				if strings.TrimSpace(value) != "" {
					k.Texts = append(k.Texts, hidden{name, value})
				}
			}
		}
	}
	if length > mostKept {
		return nil
	}
	return k
}
