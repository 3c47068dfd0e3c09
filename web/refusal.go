package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"flowdrive/internal/errs"
)

// refusal is why the drive has not done what a form asked: the problem document of its
// answer.
type refusal struct {
	Kind   errs.Kind       `json:"-"`
	Type   string          `json:"type"`
	Status int             `json:"status"`
	Title  string          `json:"title"`
	Detail string          `json:"detail"`
	ID     string          `json:"instance"`
	Faults []fault         `json:"errors"`
	By     json.RawMessage `json:"performedBy"`
	At     string          `json:"performedAt"`
	After  int             `json:"-"`        // seconds until it may work, 0: unknown
	Made   string          `json:"location"` // the address on the drive of what the form has made before

	Link, LinkName string `json:"-"` // the page of that, "" for none
}

// fault is one fault of what was sent.
type fault struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`

	Field string `json:"-"` // the name of the field, "": it goes into the summary alone
	Label string `json:"-"` // what people call it, "" for all that was sent
}

// Text returns what is wrong, as it goes on behind the label.
func (f fault) Text() string {
	if first, _ := utf8.DecodeRuneInString(f.Detail); f.Label != "" && unicode.IsUpper(first) {
		return ": " + f.Detail
	}
	return " " + f.Detail
}

// readRefusal reads the problem document of an answer.
func readRefusal(a *driveAnswer) *refusal {
	f := &refusal{}
	if json.Unmarshal(a.body.Bytes(), f) != nil || f.Detail == "" {
		f = &refusal{Title: "Refused", Detail: "The drive has refused this.", Type: string(errs.Internal)}
	}
	f.Status = a.status
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil {
		f.After = seconds
	}
	f.Kind = errs.Kind(f.Type[strings.LastIndexByte(f.Type, ':')+1:])
	f.place()
	return f
}

// refusalOfRequest reads why a request was refused. One that is to make something, and finds
// that there is something of the name, has a condition that only programs know of.
func refusalOfRequest(q *driveRequest, a *driveAnswer) *refusal {
	f := readRefusal(a)
	if f.Kind == errs.IdempotencyMismatch { // a person knows of no key
		f.Title, f.Detail = "Sent already", "You have sent this form already, with something else in it."
		f.Link, f.LinkName = pageOfMade(f.Made)
		return f
	}
	if f.Detail = byField(f.Detail); f.Status != http.StatusPreconditionFailed {
		return f
	}
	taken := ""
	for _, h := range q.Header {
		switch {
		case h[0] == "If-None-Match" && h[1] == "*":
			taken = cmp.Or(taken, q.Path)
		case h[0] == "Destination":
			taken = h[1]
		}
	}
	if taken == "" {
		return f
	}
	name, err := url.PathUnescape(path.Base(taken))
	if err != nil {
		return f
	}
	if end := path.Ext(name); end == ".json" || end == ".yaml" {
		name = strings.TrimSuffix(name, end)
	}
	f.Kind, f.Title, f.Faults = errs.NameTaken, "The name is taken", nil
	f.Detail = "The name " + name + " is taken. Choose another one."
	return f
}

// pageOfMade returns the page of what was made at an address of the drive, and its name.
func pageOfMade(at string) (page, name string) {
	last := strings.TrimSuffix(path.Base(at), ".json")
	switch path.Dir(at) {
	case "/dav/Workflow/Cases":
		return "/cases/" + last, "case " + last
	case entryFolder:
		return "/schedule/" + last, "the entry"
	}
	return at, "what it has made"
}

// refusalOf makes an error of the pages themselves a refusal; nil of nil.
func refusalOf(e *errs.Error) *refusal {
	if e == nil || e.Kind == errs.BadParameter || e.Kind == errs.NotFound || e.Kind == errs.LogIn {
		return nil
	}
	f := &refusal{Kind: e.Kind, Status: 422, Title: "Invalid", Detail: e.Detail}
	if e.Kind == errs.ActionNotEnabled {
		f.Status, f.Title = 409, "Conflict"
	}
	for _, one := range e.Faults {
		f.Faults = append(f.Faults, fault{Pointer: one.Pointer, Detail: one.Detail})
	}
	f.place()
	return f
}

// asProblem returns the error as a problem that may be told, nil if it is the server's
// own fault.
func asProblem(err error) *errs.Error {
	if e, ok := errors.AsType[*errs.Error](err); ok && errs.KindOf(err) != errs.Internal {
		return e
	}
	return nil
}

// Lead is the sentence above the faults, or without any what is wrong. The detail of a
// problem with faults names the first by its JSON pointer, which is for programs.
func (f *refusal) Lead() string {
	switch n := len(f.Faults); n {
	case 0:
		return f.Detail
	case 1:
		return "This is not right yet."
	default:
		return strconv.Itoa(n) + " things are not right yet."
	}
}

// Words returns all that is wrong in one line.
func (f *refusal) Words() string {
	if len(f.Faults) == 0 {
		return f.Detail
	}
	all := make([]string, len(f.Faults))
	for i, one := range f.Faults {
		all[i] = strings.TrimSpace(one.Label + one.Text())
	}
	return strings.Join(all, "; ")
}

// Advice says what to do about the refusal, "" if nothing helps that its detail does not
// say.
func (f *refusal) Advice() string {
	switch f.Status {
	case http.StatusConflict:
		return "Look at how it stands now before you send anything again."
	case http.StatusPreconditionFailed:
		if f.Kind == errs.NameTaken {
			return ""
		}
		return "Somebody has changed it since it was shown: load the page in another tab and compare."
	case http.StatusUnprocessableEntity:
		if f.Kind == errs.IdempotencyMismatch {
			return "Send it once more if you want both."
		}
		if len(f.Faults) > 0 {
			return "Mend what is marked, and send it again."
		}
	case http.StatusLocked:
		return "Somebody else has it open: wait until it is closed there, then send it again."
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return waitAdvice(f.After)
	case http.StatusInsufficientStorage:
		return "Delete what is not needed any more, or ask an administrator for room, then send it again."
	}
	return ""
}

// waitAdvice says when to send a form again; 0 seconds: that is not known.
func waitAdvice(seconds int) string {
	if seconds <= 0 {
		return "Wait a moment, then send it again."
	}
	return "Wait " + plural(seconds, "second") + ", then send it again."
}

// place says of each fault which field it is about: fields bear the names of the keys.
func (f *refusal) place() {
	for i := range f.Faults {
		p := strings.TrimPrefix(f.Faults[i].Pointer, "/")
		if key, isXattr := strings.CutPrefix(p, "xattrDict/"); isXattr {
			p = "x." + key
			f.Faults[i].Detail = ofTyped(f.Faults[i].Detail)
		} else if role, isRole := strings.CutPrefix(p, "roles/"); isRole {
			p = rolePrefix + role
		}
		key, _, _ := strings.Cut(p, "/")
		if key == "dayOfWeek" { // the long name of a key of entries, whose form has the short one
			key = "weekday"
		}
		f.Faults[i].Field = unescapePointer(key)
		last := unescapePointer(p[strings.LastIndexByte(p, '/')+1:])
		last = strings.TrimPrefix(strings.TrimPrefix(last, "x."), rolePrefix)
		f.Faults[i].Label = upperFirst(last)
	}
}

// within returns the refusal for a form of these fields: its faults bear their labels, and
// a fault of what it does not ask for is about none of them.
func (f *refusal) within(fields []*field) *refusal {
	if f == nil {
		return nil
	}
	out := *f
	out.Faults = slices.Clone(f.Faults)
	for i := range out.Faults {
		at := slices.IndexFunc(fields, func(one *field) bool { return one.Name == out.Faults[i].Field })
		if at < 0 {
			out.Faults[i].Field = ""
			continue
		}
		out.Faults[i].Label, out.Faults[i].Detail = fields[at].Label, ofTyped(out.Faults[i].Detail)
	}
	return &out
}

// ofTyped returns a fault without the type of the value: what is typed into a field is always a
// text, and programs alone can send a number.
func ofTyped(detail string) string { return strings.Replace(detail, ", not a string", "", 1) }

// unescapePointer reads a token of a JSON pointer (RFC 6901, section 4).
func unescapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Of returns what is wrong with a field, "" if nothing is.
func (f *refusal) Of(field string) string {
	if f == nil {
		return ""
	}
	for _, one := range f.Faults {
		if one.Field == field {
			return one.Detail
		}
	}
	return ""
}
