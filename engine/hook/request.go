// Package hook has what hooks are made of: their documents, their rates, and the
// requests that come to their addresses (docs/contract/drive.md#hooks).
package hook

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/internal/webhook"
	"flowdrive/store"
)

// Request is a request that came to the address of a hook.
type Request struct {
	Token  string
	Header http.Header
	Query  url.Values
	Body   io.Reader
	Length int64     // that the sender says the body has, -1 if it does not say
	Wall   time.Time // the machine's time

	// Hold is called before the body is read, with how many bytes it has at most. It
	// returns an error if there is no room for them; nil: there always is.
	Hold func(bytes int64) error
}

// Answer is what the sender is told.
type Answer struct {
	Case     int64    `json:"case"`
	Label    string   `json:"label,omitempty"` // of the message that was written
	State    string   `json:"state,omitempty"` // in which the case is that was started
	Lacks    []string `json:"lacks,omitempty"` // of a draft, which does not start yet: XATTRs that its route requires
	Replayed bool     `json:"-"`               // it is the first answer to the same request again
}

// ReadBody returns the body, which may have so many bytes. Whether its signature is right
// is only known when all of it is there, so nothing is read that is announced as too
// large or for which there is no room.
func (in *Request) ReadBody(most int64) ([]byte, error) {
	tooLarge := errs.New(errs.TooLarge, "The body is larger than %d bytes, the most that this address takes.", most)
	if in.Length > most {
		return nil, tooLarge
	}
	if in.Length >= 0 {
		most = in.Length
	}
	if in.Hold != nil {
		if err := in.Hold(most); err != nil {
			return nil, err
		}
	}
	body, err := io.ReadAll(io.LimitReader(in.Body, most+1))
	if _, told := errors.AsType[*errs.Error](err); err != nil && !told {
		err = &errs.Error{Kind: errs.NotParseable, Detail: "The body was cut short; nothing was done.", Err: err}
	}
	if err == nil && int64(len(body)) > most {
		err = tooLarge
	}
	return body, err
}

// Received is a request whose sender is known.
type Received struct {
	Hook     *store.Hook
	Settings Settings
	In       *Request
	Body     []byte
	ID       string // the sender's, "" if it gives none

	values map[string]any // by path, that are taken from the content, if it is JSON; nil: not read yet
}

// Answer returns what the sender is told of an outcome.
func (r *Received) Answer(o *change.Outcome) *Answer {
	if r.Settings.Deliver != nil {
		return &Answer{Case: o.CaseID, Label: r.Settings.Deliver.Label}
	}
	return &Answer{Case: o.CaseID, State: string(o.Life), Lacks: o.Lacks}
}

// CaseName returns the id of the case that the request names, "" if it names none. Only
// a request that delivers a message names a case.
func (r *Received) CaseName() string {
	at := r.Settings.Deliver.Case
	switch {
	case at.Header != "":
		if values := r.header(at.Header); len(values) > 0 {
			return values[0]
		}
		return ""
	case at.Query != "":
		return r.In.Query.Get(at.Query)
	}
	switch value := r.inJSON(at.JSON).(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

// header returns the values of a header of the request. Of one that holds a secret there are
// none, since a hook that names it may be stored.
func (r *Received) header(name string) []string {
	if isSecret(name) {
		return nil
	}
	return r.In.Header.Values(name)
}

// Xattrs returns the XATTRs of a case: the allowed headers that the request has, and what
// the hook takes from its query and body.
// What strangers write is taken as it is, without labels.
func (r *Received) Xattrs() label.Dict {
	var dict label.Dict
	for _, name := range r.Settings.Headers {
		values := r.header(name)
		key, err := label.NormalizeKey(name)
		if err != nil || len(values) == 0 {
			continue
		}
		dict = dict.Set(key, label.Text(strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")))
	}
	for _, x := range r.Settings.Xattrs {
		if v, ok := r.value(x.Named); ok {
			dict = dict.Set(x.Key, v)
		}
	}
	return dict
}

// Content returns what the case gets of the request: a form as JSON, and what else
// came as it came. GitHub sends its JSON in a field of a form if it is told so.
func (r *Received) Content() (content []byte, mediaType string) {
	mediaType = r.In.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(mediaType)
	switch {
	case err != nil && json.Valid(r.Body):
		return r.Body, "application/json"
	case err != nil:
		return r.Body, "application/octet-stream"
	case kind != "application/x-www-form-urlencoded":
		return r.Body, mediaType
	}
	values, err := url.ParseQuery(string(r.Body))
	if err != nil {
		return r.Body, mediaType
	}
	if payload := values.Get("payload"); r.Settings.Verify.Scheme == webhook.GitHub && json.Valid([]byte(payload)) {
		return []byte(payload), "application/json"
	}
	fields := make(map[string]any, len(values))
	for name, list := range values {
		if fields[name] = list; len(list) == 1 {
			fields[name] = list[0]
		}
	}
	form, err := json.Marshal(fields)
	if err != nil {
		return r.Body, mediaType
	}
	return form, "application/json"
}
