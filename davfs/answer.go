package davfs

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// answer is the answer to a change. It is a value because the one to a
// request with an idempotency key is stored and given again.
type answer struct {
	Status  int         `json:"status"`
	Headers [][2]string `json:"headers"` // in order, spelled as clients look for them
	Body    []byte      `json:"body,omitempty"`
}

func (a *answer) add(name, value string) { a.Headers = append(a.Headers, [2]string{name, value}) }

// locate adds the header Location: the address of the resource by its identity.
func (a *answer) locate(segments ...string) { a.add("Location", dav.Href(segments...)) }

// madeAt returns the address of what an answer has located, as a member of a problem; nil if it
// has located nothing.
func (a *answer) madeAt() map[string]any {
	for _, h := range a.Headers {
		if h[0] == "Location" {
			return map[string]any{"location": h[1]}
		}
	}
	return nil
}

// represented is a writer of contents from which a resource comes that has a
// complete form. formAt returns its address.
type represented interface {
	formAt(o *engine.Outcome) string
}

// answer makes the answer to a PUT of its outcome.
func (p *putRequest) answer(o *engine.Outcome) *answer {
	if p.dryRun {
		a := &answer{Status: http.StatusOK, Body: o.Form}
		switch {
		case o.Report != nil:
			a.Body = o.Report
		case o.Told != nil:
			a.Body = o.Told
		}
		a.add("Content-Type", typeJSON)
		return a
	}
	a := &answer{Status: http.StatusNoContent}
	if o.Created {
		a.Status = http.StatusCreated
	}
	p.target.describe(a, o)
	if o.Report != nil {
		if !o.Created {
			a.Status = http.StatusOK
		}
		a.Body = o.Report
		a.add("Content-Type", typeJSON)
		return a
	}
	if len(o.Warnings) > 0 && p.script && (!p.whole || o.Form == nil) && o.Draft == nil {
		p.tag(a, o)
		return a.warn(o)
	}
	if o.Draft != nil && p.script && !p.whole {
		return a.ask(o)
	}
	where := ""
	if r, ok := p.target.(represented); ok {
		where = r.formAt(o)
	}
	if !p.whole || p.rules.content && where == "" || o.Once != nil || o.Form == nil {
		p.tag(a, o)
		return a
	}
	if !o.Created {
		a.Status = http.StatusOK
	}
	if o.Told != nil { // no address has that, so that it has no ETag
		a.add("Content-Type", typeJSON)
		a.add("Preference-Applied", "return=representation")
		a.Body = o.Told
		return a
	}
	for _, h := range a.Headers {
		if h[0] == "Location" && where == "" {
			where = h[1]
		}
	}
	if where != "" {
		a.add("Content-Location", where)
	}
	if o.FormETag != "" {
		a.add("ETag", o.FormETag)
	}
	a.add("Content-Type", typeJSON)
	a.add("Preference-Applied", "return=representation")
	a.Body = o.Form
	return a
}

// tag adds the ETag, if a GET of the same address returns the bytes that were PUT. The name of
// an identity gives the complete form, never these bytes, unless they are the same.
func (p *putRequest) tag(a *answer, o *engine.Outcome) {
	if o.ETag != "" && (!p.rules.existing || o.ETag == o.FormETag) {
		a.add("ETag", o.ETag)
	}
}

// mostKept is how many bytes of a representation are kept to be given again. Kept answers
// count against no quota, and a request of a few bytes can have an answer of megabytes.
const mostKept = 16 << 10

// kept makes the answer that is stored for a request with an idempotency key. It has no
// representation if that is large.
func (p *putRequest) kept(o *engine.Outcome) *answer {
	a := p.answer(o)
	if len(a.Body) <= mostKept || !p.whole {
		return a
	}
	plain := *p
	plain.whole = false
	return plain.answer(o)
}

// warn makes the answer to a script client say what it should look at. Mounting clients
// take no body, and find the warnings in the complete form.
func (a *answer) warn(o *engine.Outcome) *answer {
	if !o.Created {
		a.Status = http.StatusOK
	}
	a.add("Content-Type", typeJSON)
	a.Body = document.Line(struct {
		Warnings []string `json:"warnings"`
	}{o.Warnings})
	return a
}

// send writes the answer. Headers that OpenGroupware Coils and ownCloud have
// too go out spelled as these spell them, for scripts that look for them with grep
// (docs/contract/drive.md#compatibility-headers).
func (a *answer) send(w http.ResponseWriter) {
	header := w.Header()
	for _, h := range a.Headers {
		if strings.HasPrefix(h[0], "X-OpenGroupware-") || strings.HasPrefix(h[0], "X-COILS-") || strings.HasPrefix(h[0], "X-OC-") {
			header[h[0]] = []string{h[1]}
		} else {
			header.Set(h[0], h[1])
		}
	}
	if a.Body != nil {
		header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	w.Write(a.Body)
}

// encode returns the answer as it is stored.
func (a *answer) encode() []byte {
	stored, err := json.Marshal(a)
	if err != nil {
		panic("davfs: an answer did not encode: " + err.Error())
	}
	return stored
}

func decodeAnswer(stored []byte) (*answer, error) {
	var a answer
	if err := json.Unmarshal(stored, &a); err != nil {
		return nil, errs.Wrap("read a stored answer", err)
	}
	if a.Status < 200 || a.Status > 299 {
		return nil, errs.New(errs.Internal, "A stored answer has the status %d.", a.Status)
	}
	return &a, nil
}

// returnPreference returns what a Prefer header asks the answer to have:
// "representation", which is the complete form, "minimal", or "" (RFC 7240). Of
// several "return" preferences the first counts, as the RFC says.
func returnPreference(values []string) string {
	for _, preference := range splitQuoted(strings.Join(values, ","), ',') {
		name, value, _ := strings.Cut(splitQuoted(preference, ';')[0], "=")
		if !strings.EqualFold(strings.TrimSpace(name), "return") {
			continue
		}
		value = strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))
		if value == "representation" || value == "minimal" {
			return value
		}
		return ""
	}
	return ""
}

// minimal says whether a multistatus leaves out what says nothing new (RFC 8144,
// section 2), and adds to the header what the request asked for. Older clients of
// Microsoft ask for it by "Brief: t".
func (x *request) minimal(applied func(name, value string)) bool {
	if returnPreference(x.r.Header.Values("Prefer")) == "minimal" {
		applied("Preference-Applied", "return=minimal")
		return true
	}
	return strings.EqualFold(x.r.Header.Get("Brief"), "t")
}

// splitQuoted splits at each mark outside double quotes.
func splitQuoted(text string, mark byte) []string {
	var out []string
	begin, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && text[i] == mark:
			out = append(out, text[begin:i])
			begin = i + 1
		}
	}
	return append(out, text[begin:])
}
