package hook

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/internal/webhook"
	"flowdrive/store"
)

// Settings are what a hook's document says, as it is stored and shown.
type Settings struct {
	Verify  Verify   `json:"verify"`
	Headers []string `json:"headers"` // that become XATTRs
	Xattrs  XattrMap `json:"xattrs"`  // that are taken from requests by their key; nil in a hook stored before there was this
	Rate    string   `json:"rate"`
	Most    int64    `json:"maxBytes"` // that a body may have; 0 in a hook stored before there was this: MaxBody
	Deliver *Deliver `json:"deliver"`  // nil: it starts cases
}

// Verify says how a request proves that its sender knows a secret.
type Verify struct {
	Scheme webhook.Scheme `json:"scheme"`
	Secret string         `json:"secret,omitempty"` // its name
	Header string         `json:"header,omitempty"` // of hmac: where the signature is
}

// Deliver says of which case a message is to be written.
type Deliver struct {
	Label string `json:"label"`
	Case  Named  `json:"case"`
}

// Named says where a request names the case: one of the three.
type Named struct {
	Header string `json:"header,omitempty"`
	Query  string `json:"query,omitempty"`
	JSON   string `json:"json,omitempty"` // a path into the body: /data/case or data.case
}

const (
	// MaxBody is how many bytes the body of a request may have.
	MaxBody = 25 << 20
	// MostOfRoute is how many hooks a route may have.
	MostOfRoute = 100

	defaultRate = "600/minute"
	mostHeaders = 50
)

// SettingsOf returns what a stored hook says.
func SettingsOf(h *store.Hook) (s Settings, err error) {
	err = errs.Wrap("read the hook "+h.Name, json.Unmarshal(h.Settings, &s))
	s.Most = cmp.Or(s.Most, MaxBody)
	if s.Xattrs == nil {
		s.Xattrs = XattrMap{}
	}
	return s, err
}

// Form is the complete form of a hook. The token is in the answer that makes it
// and nowhere else.
type Form struct {
	Name  string `json:"name"`
	Route string `json:"route"`
	Settings
	Author   string   `json:"author"`
	Fault    *string  `json:"fault"` // why it does not work
	Warnings []string `json:"warnings"`
	Created  string   `json:"created"`
	Modified string   `json:"modified"`
	URL      string   `json:"url,omitempty"`
}

// Of is what a hook belongs to.
type Of struct {
	Route    string
	Author   string   // "" if the author has left
	Required []string // XATTRs without which no case of the route starts, by key
	Messages []string // labels that mean something in the route: declared, waited for, written, the output
}

// Describe returns the complete form of a hook.
func Describe(h *store.Hook, of Of, secrets Secrets) (Form, error) {
	s, err := SettingsOf(h)
	f := Form{
		Name: h.Name, Route: of.Route, Settings: s, Author: of.Author, Warnings: []string{},
		Created: h.Created.UTC().Format(time.RFC3339), Modified: h.Modified.UTC().Format(time.RFC3339),
	}
	if _, fault := secrets.Of(s.Verify); fault != "" {
		f.Warnings = append(f.Warnings, "/verify/secret: "+fault)
	}
	if lacks := slices.DeleteFunc(slices.Clone(of.Required), s.Gives); s.Deliver == nil && len(lacks) > 0 {
		keys := strings.Join(lacks, ", ")
		f.Warnings = append(f.Warnings, "/xattrs: the route requires "+keys+", which neither headers nor xattrs give: each case is a draft, which does not start before the author of the hook has filled it in")
	}
	if s.Deliver != nil {
		f.Warnings = append(f.Warnings, s.vain(of)...)
	}
	if h.Fault != "" {
		f.Fault = &h.Fault
	}
	return f, err
}

// vain says what has no effect in a hook that writes messages.
func (s *Settings) vain(of Of) (warnings []string) {
	if len(s.Headers) > 0 {
		warnings = append(warnings, "/headers: has no effect with deliver, which starts no case: the headers of a request become nothing")
	}
	if name := s.Deliver.Label; !slices.Contains(of.Messages, name) {
		warnings = append(warnings, "/deliver/label: no action of the route waits for a message "+strconv.Quote(name)+
			", so nothing follows when it comes; if that is meant, declare it in messages of the route"+document.Hint(name, of.Messages))
	}
	return warnings
}

// Resource returns the resource of a hook with that form.
func (f Form) Resource(h *store.Hook) *change.Resource {
	form := document.Form(f)
	definition := definitionOf(h)
	return &change.Resource{
		Name: h.Name, Seq: h.ID, Form: form, FormETag: definition + strings.TrimPrefix(change.SourceETag(form), `"`), Definition: definition,
		Created: h.Created, Modified: h.Modified, Own: true, Lock: store.HookKey(h.ID),
	}
}

// Version returns the version of a hook, nil for none.
func Version(h *store.Hook) change.Version {
	if h == nil {
		return change.Version{}
	}
	definition := definitionOf(h)
	return change.Version{Exists: true, ETag: definition + `"`, Definition: definition, Modified: h.Modified}
}

// definitionOf begins the ETags of a hook. It stays the same while only its fault and its
// warnings change.
func definitionOf(h *store.Hook) string {
	return `"` + strconv.FormatInt(h.ID, 10) + "-" + strconv.FormatInt(h.Revision, 10) + "."
}

// Scope says which locks concern a hook, nil for none.
func Scope(h *store.Hook) change.LockScope {
	if h == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(store.HookKey(h.ID))
}

// Secrets returns the secret of a name, one of an administrator's settings. nil has
// none.
type Secrets func(name string) (string, bool)

// Of returns the secret that requests are verified with, or why there is none
// that could be.
func (e Secrets) Of(v Verify) (secret, fault string) {
	if v.Scheme == webhook.None {
		return "", ""
	}
	secret, ok := "", false
	if e != nil {
		secret, ok = e(v.Secret)
	}
	if !ok {
		return "", "there is no secret " + strconv.Quote(v.Secret) + "; an administrator adds it with the setting secrets"
	}
	if _, err := webhook.Key(secret); v.Scheme == webhook.Standard && err != nil {
		return "", "the secret " + strconv.Quote(v.Secret) + " cannot be used: " + err.Error()
	}
	return secret, ""
}

// New returns what a hook says whose document is empty.
func New() Settings {
	return Settings{Verify: Verify{Scheme: webhook.None}, Headers: []string{}, Xattrs: XattrMap{}, Rate: defaultRate, Most: MaxBody}
}

// Read reads the document of the hook of that name. What is absent stays as in old, so that
// nobody takes the verification off an address who changes something else of it; null is as
// in a new hook. The error has every fault of it.
func Read(node *document.Node, name string, old Settings) (Settings, error) {
	s, fresh := old, New()
	var faults document.Faults
	root := document.Root(node, &faults)
	if !root.Is(document.Object) {
		return s, faults.Err()
	}
	root.Only("name", "route", "verify", "headers", "xattrs", "rate", "maxBytes", "deliver", "author", "fault", "warnings", "created", "modified", "url")
	if v := root.Get("name"); v.Given() {
		if given, ok := v.Str(); ok && identity.Fold(given) != identity.Fold(name) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %q", name)
		}
	}
	if v := root.Get("verify"); v.Node != nil {
		s.Verify = readVerify(v)
	}
	if v := root.Get("headers"); v.Node != nil {
		s.Headers = readHeaders(v)
	}
	if v := root.Get("xattrs"); v.Node != nil {
		s.Xattrs = readXattrs(v)
	}
	if v := root.Get("rate"); v.Node != nil && !v.Given() {
		s.Rate = fresh.Rate
	} else if v.Given() {
		text, _ := v.Str()
		if _, ok := ParseRate(text); !ok {
			v.Fail(errs.CodeFormat, `must be a number and second, minute, hour or day, such as "60/minute"`)
		}
		s.Rate = text
	}
	if v := root.Get("maxBytes"); v.Node != nil && !v.Given() {
		s.Most = fresh.Most
	} else if v.Given() {
		s.Most, _ = v.Int(1, MaxBody)
	}
	if v := root.Get("deliver"); v.Node != nil && !v.Given() {
		s.Deliver = nil
	} else if v.Given() {
		s.Deliver = readDeliver(v)
	}
	if s.Deliver != nil && len(s.Xattrs) > 0 {
		root.Get("xattrs").Fail(errs.CodeConflict, "does not go with deliver, which starts no case; set one of them to null")
	}
	return s, faults.Err()
}

// Changes names the fields in which a hook differs from what it was, and how the verification
// does, for the audit log.
func (s *Settings) Changes(was *Settings) string {
	var out []string
	if was.Verify != s.Verify {
		out = append(out, "verify "+was.Verify.short()+" → "+s.Verify.short())
	}
	for _, field := range []struct {
		name string
		same bool
	}{
		{"headers", slices.Equal(was.Headers, s.Headers)},
		{"xattrs", slices.Equal(was.Xattrs, s.Xattrs)},
		{"rate", was.Rate == s.Rate},
		{"maxBytes", was.Most == s.Most},
		{"deliver", was.Deliver == s.Deliver || was.Deliver != nil && s.Deliver != nil && *was.Deliver == *s.Deliver},
	} {
		if !field.same {
			out = append(out, field.name)
		}
	}
	return strings.Join(out, ", ")
}

func (v Verify) short() string { return strings.TrimSpace(string(v.Scheme) + " " + v.Secret) }

func readVerify(v document.Value) Verify {
	out := Verify{Scheme: webhook.None}
	if !v.Given() || !v.Is(document.Object) {
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
	checkHeader(header, out.Header)
	return out
}

// checkHeader refuses what no request can have as a header, so that a hook would never
// find it.
func checkHeader(v document.Value, name string) {
	if name != "" && !httpguts.ValidHeaderFieldName(name) {
		v.Fail(errs.CodeFormat, "is not a valid name of a header")
	}
}

// checkPublic refuses a header that holds a secret in a place whose value people see.
func checkPublic(v document.Value, name, becomes string) {
	if isSecret(name) {
		v.Fail(errs.CodeRange, "holds a secret, and cannot become %s, which people see", becomes)
	}
}

// isSecret reports whether a header holds what proves who sent the request. Its value must
// not become a part of a case.
func isSecret(header string) bool {
	return slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie"}, http.CanonicalHeaderKey(header))
}

func readHeaders(v document.Value) []string {
	out := []string{}
	if !v.Given() || !v.Is(document.List) {
		return out
	}
	if len(v.Node.Items) > mostHeaders {
		v.Fail(errs.CodeRange, "must not have more than %d headers", mostHeaders)
		return out
	}
	for i := range v.Node.Items {
		item := v.Item(i)
		name, ok := item.Str()
		if _, err := label.NormalizeKey(name); ok && (err != nil || strings.Contains(name, " ")) {
			item.Fail(errs.CodeFormat, "is not a header that can be the key of an XATTR")
		}
		checkPublic(item, name, "an XATTR")
		out = append(out, name)
	}
	return out
}

func readDeliver(v document.Value) *Deliver {
	d := &Deliver{}
	if !v.Is(document.Object) {
		return d
	}
	v.Only("label", "case")
	at := v.Get("label")
	if text, is := at.Str(); is && !identity.Legal(text) {
		at.Fail(errs.CodeFormat, "%q is not a valid label: use letters, digits, _ and -, at most 63, the first a letter or digit", text)
	} else {
		d.Label = text
	}
	d.Case = readNamed(v.Get("case"), "where a request names the case")
	checkPublic(v.Get("case").Get("header"), d.Case.Header, "the number of a case")
	return d
}
