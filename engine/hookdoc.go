package engine

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/internal/webhook"
	"flowdrive/store"
)

// hookSettings is what a hook's document says, as it is stored and shown.
type hookSettings struct {
	Verify  hookVerify   `json:"verify"`
	Headers []string     `json:"headers"` // that become XATTRs
	Rate    string       `json:"rate"`
	Most    int64        `json:"maxBytes"` // that a body may have; 0 in a hook stored before there was this: MaxHookBody
	Deliver *hookDeliver `json:"deliver"`  // nil: it starts cases
}

type hookVerify struct {
	Scheme webhook.Scheme `json:"scheme"`
	Secret string         `json:"secret,omitempty"` // its name
	Header string         `json:"header,omitempty"` // of hmac: where the signature is
}

// hookDeliver says of which case a message is to be written.
type hookDeliver struct {
	Label string   `json:"label"`
	Case  hookCase `json:"case"`
}

// hookCase says where a request names the case: one of the three.
type hookCase struct {
	Header string `json:"header,omitempty"`
	Query  string `json:"query,omitempty"`
	JSON   string `json:"json,omitempty"` // a path into the body: /data/case or data.case
}

const (
	defaultRate     = "600/minute"
	mostRate        = 100_000
	mostHookHeaders = 50
	mostHooks       = 100 // of a route
)

// settings returns what a stored hook says.
func hookSettingsOf(h *store.Hook) (s hookSettings, err error) {
	err = errs.Wrap("read the hook "+h.Name, json.Unmarshal(h.Settings, &s))
	s.Most = cmp.Or(s.Most, MaxHookBody)
	return s, err
}

// hookForm is the complete form of a hook. The token is in the answer that makes it
// and nowhere else.
type hookForm struct {
	Name  string `json:"name"`
	Route string `json:"route"`
	hookSettings
	Author   string   `json:"author"`
	Fault    *string  `json:"fault"` // why it does not work
	Warnings []string `json:"warnings"`
	Created  string   `json:"created"`
	Modified string   `json:"modified"`
	URL      string   `json:"url,omitempty"`
}

func (e *Hooks) form(info *routeInfo, h *store.Hook) (hookForm, error) {
	s, err := hookSettingsOf(h)
	f := hookForm{
		Name: h.Name, Route: info.Name, hookSettings: s, Warnings: e.warningsOf(s.Verify),
		Created: h.Created.UTC().Format(time.RFC3339), Modified: h.Modified.UTC().Format(time.RFC3339),
	}
	if p := e.directory().ByID(h.Author); p != nil {
		f.Author = string(p.Name)
	}
	if h.Fault != "" {
		f.Fault = &h.Fault
	}
	return f, err
}

func (e *Hooks) resource(info *routeInfo, h *store.Hook) (*Resource, error) {
	f, err := e.form(info, h)
	if err != nil {
		return nil, err
	}
	form := document.Form(f)
	v := hookVersion(h)
	return &Resource{
		Name: h.Name, Seq: h.ID, Form: form, FormETag: change.SourceETag(form), Definition: v.Definition,
		Created: h.Created, Modified: h.Modified, Own: true,
	}, nil
}

func hookVersion(h *store.Hook) Version {
	if h == nil {
		return Version{}
	}
	definition := `"` + strconv.FormatInt(h.ID, 10) + "-" + strconv.FormatInt(h.Revision, 10)
	return Version{Exists: true, ETag: definition + `"`, Modified: h.Modified}
}

// warningsOf says what keeps requests from being verified now.
func (e *Hooks) warningsOf(v hookVerify) []string {
	if _, fault := e.secretOf(v); fault != "" {
		return []string{"/verify/secret: " + fault}
	}
	return []string{}
}

// secretOf returns the secret that requests are verified with, or why there is none
// that could be.
func (e *Hooks) secretOf(v hookVerify) (secret, fault string) {
	if v.Scheme == webhook.None {
		return "", ""
	}
	secret, ok := "", false
	if e.secret != nil {
		secret, ok = e.secret(v.Secret)
	}
	if !ok {
		return "", "there is no secret " + strconv.Quote(v.Secret) + "; an administrator adds it with the setting secrets"
	}
	if _, err := webhook.Key(secret); v.Scheme == webhook.Standard && err != nil {
		return "", "the secret " + strconv.Quote(v.Secret) + " cannot be used: " + err.Error()
	}
	return secret, ""
}

// readHook reads a hook's document.
func readHook(body []byte, name string) (hookSettings, error) {
	s := hookSettings{Verify: hookVerify{Scheme: webhook.None}, Headers: []string{}, Rate: defaultRate, Most: MaxHookBody}
	node, err := document.Parse(body, false)
	if err != nil {
		return s, err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if !root.Is(document.Object) {
		return s, faults.Err()
	}
	root.Only("name", "route", "verify", "headers", "rate", "maxBytes", "deliver", "author", "fault", "warnings", "created", "modified", "url")
	if v := root.Get("name"); v.Given() {
		if given, ok := v.Str(); ok && identity.Fold(given) != identity.Fold(name) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %q", name)
		}
	}
	if v := root.Get("verify"); v.Given() {
		s.Verify = readVerify(v)
	}
	s.Headers = readHookHeaders(root.Get("headers"))
	if v := root.Get("rate"); v.Given() {
		text, _ := v.Str()
		if _, ok := parseRate(text); !ok {
			v.Fail(errs.CodeFormat, `must be a number and second, minute, hour or day, such as "60/minute"`)
		}
		s.Rate = text
	}
	if v := root.Get("maxBytes"); v.Given() {
		s.Most, _ = v.Int(1, MaxHookBody)
	}
	if v := root.Get("deliver"); v.Given() {
		s.Deliver = readDeliver(v)
	}
	return s, faults.Err()
}

func readVerify(v document.Value) hookVerify {
	out := hookVerify{Scheme: webhook.None}
	if !v.Is(document.Object) {
		return out
	}
	v.Only("scheme", "secret", "header")
	scheme := v.Get("scheme")
	text, ok := scheme.Str()
	if out.Scheme = webhook.Scheme(text); ok && !slices.Contains(webhook.Schemes(), out.Scheme) {
		scheme.Fail(errs.CodeRange, "must be one of none, standard-webhooks, github, stripe, hmac, not %q", text)
	}
	secret := v.Get("secret")
	secret.Text(&out.Secret, 63)
	switch {
	case out.Scheme == webhook.None && out.Secret != "":
		secret.Fail(errs.CodeConflict, "does not go with the scheme none")
	case out.Scheme != webhook.None && !identity.Legal(out.Secret):
		secret.Fail(errs.CodeRequired, "is required: the name of a secret")
	}
	header := v.Get("header")
	header.Text(&out.Header, 100)
	if out.Header != "" && out.Scheme != webhook.HMAC {
		header.Fail(errs.CodeConflict, "goes with the scheme hmac only; the others have headers of their own")
	}
	return out
}

// secretHeaders are headers that must not become XATTRs: they hold what proves who
// sent the request.
func secretHeaders() []string { return []string{"Authorization", "Proxy-Authorization", "Cookie"} }

func readHookHeaders(v document.Value) []string {
	out := []string{}
	if !v.Given() || !v.Is(document.List) {
		return out
	}
	if len(v.Node.Items) > mostHookHeaders {
		v.Fail(errs.CodeRange, "must not have more than %d headers", mostHookHeaders)
		return out
	}
	for i := range v.Node.Items {
		item := v.Item(i)
		name, ok := item.Str()
		canonical := http.CanonicalHeaderKey(name)
		if _, err := label.NormalizeKey(name); ok && (err != nil || strings.Contains(name, " ")) {
			item.Fail(errs.CodeFormat, "is not a header that can be the key of an XATTR")
		} else if slices.Contains(secretHeaders(), canonical) {
			item.Fail(errs.CodeRange, "holds a secret, and cannot become an XATTR, which people see")
		}
		out = append(out, name)
	}
	return out
}

func readDeliver(v document.Value) *hookDeliver {
	d := &hookDeliver{}
	if !v.Is(document.Object) {
		return d
	}
	v.Only("label", "case")
	at := v.Get("label")
	if d.Label, _ = at.Str(); d.Label != "" && !identity.Legal(d.Label) {
		at.Fail(errs.CodeFormat, "%q is not a valid label: use letters, digits, _ and -, at most 63, the first a letter or digit", d.Label)
	}
	of := v.Get("case")
	if !of.Is(document.Object) {
		return d
	}
	of.Only("header", "query", "json")
	of.Get("header").Text(&d.Case.Header, 100)
	of.Get("query").Text(&d.Case.Query, 100)
	of.Get("json").Text(&d.Case.JSON, 500)
	n := 0
	for _, text := range []string{d.Case.Header, d.Case.Query, d.Case.JSON} {
		if text != "" {
			n++
		}
	}
	if n != 1 {
		of.Fail(errs.CodeRequired, "must have one of header, query and json: where a request names the case")
	}
	return d
}

// rate is how many requests a hook takes in a time.
type rate struct {
	n   int64
	per time.Duration
}

func parseRate(text string) (rate, bool) {
	number, unit, found := strings.Cut(text, "/")
	n, err := strconv.ParseInt(number, 10, 64)
	per := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[unit]
	return rate{n, per}, found && err == nil && n > 0 && n <= mostRate && per > 0
}
