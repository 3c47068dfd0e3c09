package server

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

// kinds reads the kinds from the source of package errs, so that none can be
// forgotten here.
func kinds(t *testing.T) []errs.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/errs/errs.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []errs.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if ident, ok := spec.Type.(*ast.Ident); ok && ident.Name == "Kind" {
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s is no literal", spec.Names[0])
			}
			slug, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, errs.Kind(slug))
		}
		return true
	})
	if len(out) < 30 {
		t.Fatalf("only %d kinds found", len(out))
	}
	return out
}

// The table of docs/contract/drive.md#status-codes-and-problem-types.
func TestStatus(t *testing.T) {
	t.Parallel()
	want := map[int]string{
		400: "not-parseable bad-parameter content-range",
		401: "log-in",
		429: "too-many",
		403: "not-allowed read-only not-movable not-deletable not-lockable context-not-available role-not-assignable four-eyes propfind-finite-depth",
		404: "not-found",
		405: "method",
		408: "too-slow",
		409: "action-not-enabled case-not-open ambiguous-move in-use name-taken endless-automatic-loop route-fault migrate missing-parent",
		412: "precondition",
		413: "too-large",
		415: "media-type",
		421: "misdirected",
		423: "locked",
		422: "invalid scenario-broken empty-document name-not-allowed idempotency-mismatch",
		500: "internal",
		501: "not-built",
		502: "other-server",
		503: "unavailable",
		507: "full",
	}
	status := map[errs.Kind]int{}
	for code, slugs := range want {
		for slug := range strings.FieldsSeq(slugs) {
			status[errs.Kind(slug)] = code
		}
	}
	all := kinds(t)
	for _, kind := range all {
		if got := Status(kind); got != status[kind] {
			t.Errorf("Status(%s) = %d; want %d", kind, got, status[kind])
		}
		if _, ok := problems[kind]; !ok {
			t.Errorf("%s is not in the table", kind)
		}
	}
	if len(problems) != len(all) {
		t.Errorf("the table has %d kinds; errs has %d", len(problems), len(all))
	}
	if got := Status("unheard-of"); got != 500 {
		t.Errorf("Status of an unknown kind = %d; want 500", got)
	}
}

func TestProblemJSON(t *testing.T) {
	t.Parallel()
	x := newRig(t, func(c *Config) {
		c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"stale"`)
			w.Header().Set("Content-Length", "99999")
			WriteError(w, r, &errs.Error{
				Kind: errs.Invalid, Detail: `/minutes: must be "more" than <0>`,
				Faults: []errs.Fault{
					{Pointer: "/minutes", Detail: "must be 1 or more & whole", Code: errs.CodeRange, Line: 3, Column: 14},
					{Pointer: "/type", Detail: "is required", Code: errs.CodeRequired},
				},
				Extra: map[string]any{"zebra": 1, "enabled": []string{"close"}, "status": 200, "detail": "no", ExtraCondition: "x", "bad": func() {}},
				Err:   errors.New("a secret cause"),
			})
		})
	})
	resp := x.do(request("PUT", "/dav/a.json", "{}"))
	id := resp.Header().Get("X-Request-Id")
	want := `{
  "detail": "/minutes: must be \"more\" than <0>",
  "type": "urn:flowdrive:problem:invalid",
  "title": "Invalid",
  "status": 422,
  "instance": "` + id + `",
  "errors": [
    {"pointer":"/minutes","detail":"must be 1 or more & whole","code":"range","line":3,"column":14},
    {"pointer":"/type","detail":"is required","code":"required"}
  ],
  "enabled": ["close"],
  "zebra": 1
}
`
	body := resp.Body.String()
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !json.Valid([]byte(body)) {
		t.Error("that is no JSON")
	}
	header := map[string]string{
		"Content-Type": "application/problem+json", "Content-Length": strconv.Itoa(len(body)), "ETag": "",
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
	}
	for name, want := range header {
		if got := resp.Header().Get(name); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
	if len(id) != 16 {
		t.Errorf("X-Request-Id: %q", id)
	}
}

// TestProblemForReaders: who only reads is not told that nothing was stored.
func TestProblemForReaders(t *testing.T) {
	t.Parallel()
	err := &errs.Error{Kind: errs.Unavailable, Detail: "The store of contents does not answer as it should. Nothing was stored; try again."}
	for method, want := range map[string]string{
		"GET": "should. Try again.", "PROPFIND": "should. Try again.", "REPORT": "should. Try again.",
		"PUT": "should. Nothing was stored; try again.", "DELETE": "should. Nothing was stored; try again.", "LOCK": "should. Nothing was stored; try again.",
	} {
		w := httptest.NewRecorder()
		WriteError(w, httptest.NewRequestWithContext(t.Context(), method, "/dav/a", nil), err)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s", method, w.Body)
		}
	}
	if other := errs.New(errs.Full, "The quota is used up."); other.ForReader() != other {
		t.Error("another error is changed")
	}
}

func TestProblemText(t *testing.T) {
	t.Parallel()
	err := errs.InvalidDocument([]errs.Fault{
		{Pointer: "/a", Detail: "is wrong", Code: errs.CodeType, Line: 1, Column: 2}, {Pointer: "/b", Detail: "too", Code: errs.CodeType},
	})
	tests := map[string]bool{
		"text/plain": true, "TEXT/PLAIN; charset=utf-8": true, "text/*": true, "text/plain, */*": true, "application/json;q=0.5, text/plain": true,
		"": false, "*/*": false, "text/html,application/xhtml+xml,*/*;q=0.8": false, "text/plain;q=0": false, "text/plain;q=x": false,
		"application/json, text/plain": false, "application/problem+json": false, "text/plain;q=0.5, application/*": false, "text/plain;q=NaN": false,
	}
	for accept, want := range tests {
		for _, method := range []string{"PUT", "MOVE"} {
			r := httptest.NewRequest(method, "/dav/a", nil)
			r.Header.Set("Accept", accept)
			w := httptest.NewRecorder()
			WriteError(w, r, err)
			if got := strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain"); got != want {
				t.Errorf("%s with Accept %q got %s", method, accept, w.Header().Get("Content-Type"))
			}
			if text := "1:2 /a: is wrong (and one more fault, see errors)\n1:2 /a: is wrong\n/b: too\n"; want && w.Body.String() != text {
				t.Errorf("got %q; want %q", w.Body, text)
			}
		}
	}
}

func TestProblemXML(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method string
		err    *errs.Error
		want   string
	}{
		{"PROPFIND", errs.New(errs.FiniteDepth, "Ask for depth 0 or 1."), `<D:propfind-finite-depth/>`},
		{"MOVE", errs.New(errs.Locked, "Locked."), `<D:lock-token-submitted><D:href>/dav/a%20&amp;b</D:href></D:lock-token-submitted>`},
		{"COPY", &errs.Error{Kind: errs.Locked, Extra: map[string]any{ExtraHref: "/dav/<x>"}}, `<D:lock-token-submitted><D:href>/dav/&lt;x&gt;</D:href></D:lock-token-submitted>`},
		{"LOCK", errs.New(errs.Locked, "Locked."), `<D:no-conflicting-lock/>`},
		{"UNLOCK", &errs.Error{Kind: errs.NameTaken, Extra: map[string]any{ExtraCondition: "lock-token-matches-request-uri"}}, `<D:lock-token-matches-request-uri/>`},
		{"MKCOL", &errs.Error{Kind: errs.NotAllowed, Extra: map[string]any{ExtraCondition: "x/><y"}}, `<F:not-allowed xmlns:F="urn:flowdrive:problem:"/>`},
		{"PROPPATCH", errs.New(errs.Full, "Full."), `<D:sufficient-disk-space/>`},
	}
	for _, test := range tests {
		w := httptest.NewRecorder()
		WriteError(w, httptest.NewRequest(test.method, "/dav/a%20&b", nil), test.err)
		if got := w.Header().Get("Content-Type"); got != "application/xml; charset=utf-8" {
			t.Errorf("%s: Content-Type %s", test.method, got)
		}
		if !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: got %s; want %s in it", test.method, w.Body, test.want)
		}
	}
	w := httptest.NewRecorder()
	WriteError(w, httptest.NewRequest("MOVE", "/dav/a", nil), &errs.Error{
		Kind: errs.Invalid, Detail: "a < b & c\x01", Faults: []errs.Fault{{Pointer: "/x", Detail: "y"}},
	})
	var answer struct {
		XMLName     xml.Name  `xml:"DAV: error"`
		Description string    `xml:"DAV: responsedescription"`
		Invalid     *struct{} `xml:"urn:flowdrive:problem: invalid"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	if want := "a < b & c\uFFFD\n/x: y"; answer.Description != want || answer.Invalid == nil {
		t.Errorf("got %q in %s; want %q", answer.Description, w.Body, want)
	}
}

// A single fault is the detail; nobody needs to read it twice.
func TestTextOfOneFault(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("PUT", "/dav/a", nil)
	r.Header.Set("Accept", "text/plain")
	w := httptest.NewRecorder()
	WriteError(w, r, &errs.Error{Kind: errs.Invalid, Detail: "/minute: is required", Faults: []errs.Fault{{Pointer: "/minute", Detail: "is required"}}})
	if got, want := w.Body.String(), "/minute: is required\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every kind can be answered in every form.
func TestProblemOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds(t) {
		for _, method := range []string{"GET", "HEAD", "PUT", "PROPFIND"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(method, "/dav/a", nil)
			WriteError(w, r, fmt.Errorf("outer: %w", &errs.Error{Kind: kind}))
			if w.Code != Status(kind) {
				t.Errorf("%s %s: status %d; want %d", method, kind, w.Code, Status(kind))
			}
			switch method {
			case "HEAD":
				if w.Body.Len() > 0 {
					t.Errorf("HEAD %s: has a body: %s", kind, w.Body)
				}
			case "PROPFIND":
				if err := xml.Unmarshal(w.Body.Bytes(), new(struct{})); err != nil {
					t.Errorf("%s: %v in %s", kind, err, w.Body)
				}
			default:
				var doc struct{ Detail, Type, Title string }
				if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.Detail == "" || doc.Title == "" || doc.Type != problemType+string(kind) {
					t.Errorf("%s: %+v, %v in %s", kind, doc, err, w.Body)
				}
			}
		}
	}
}

func TestProblemHeaders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err        *errs.Error
		name, want string
	}{
		{errs.New(errs.LogIn, ""), "WWW-Authenticate", `Basic realm="Flowdrive", charset="UTF-8"`},
		{errs.New(errs.NotAllowed, ""), "WWW-Authenticate", ""},
		{&errs.Error{Kind: errs.Method, Extra: map[string]any{ExtraAllow: []string{"GET", "PUT"}}}, "Allow", "GET, PUT"},
		{errs.New(errs.Unavailable, ""), "Retry-After", "5"},
		{errs.New(errs.TooMany, ""), "Retry-After", "60"},
		{&errs.Error{Kind: errs.TooMany, Extra: map[string]any{errs.ExtraRetryAfter: 7}}, "Retry-After", "7"},
		{errs.New(errs.Full, ""), "Retry-After", ""},
	}
	for _, test := range tests {
		w := httptest.NewRecorder()
		WriteError(w, httptest.NewRequest("GET", "/", nil), test.err)
		if got := w.Header().Get(test.name); got != test.want {
			t.Errorf("%s: %s: %q; want %q", test.err.Kind, test.name, got, test.want)
		}
	}
}

func TestProblemForDavfs2(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, agent string
		kind          errs.Kind
		want          int
	}{
		{"PUT", "davfs2/1.6.1 neon/0.32.2", errs.Invalid, 415},
		{"PUT", "davfs2/1.6.1 neon/0.32.2", errs.NameTaken, 409},
		{"MOVE", "davfs2/1.6.1 neon/0.32.2", errs.Invalid, 415},
		{"PUT", "curl/8.5 davfs2/1", errs.Invalid, 422},
	}
	for _, test := range tests {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(test.method, "/dav/a", nil)
		r.Header.Set("User-Agent", test.agent)
		WriteError(w, r, errs.New(test.kind, "Wrong."))
		if w.Code != test.want {
			t.Errorf("%s by %s: %d; want %d", test.method, test.agent, w.Code, test.want)
		}
	}
}

// A failure of ours is in the log with its cause, once, and tells the client
// nothing.
func TestInternalError(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"wrapped":      fmt.Errorf("outer: %w", errs.Wrap("store.Commit", errors.New("disk on fire"))),
		"foreign":      errors.New("disk on fire"),
		"unknown kind": &errs.Error{Kind: "unheard-of", Detail: "disk on fire"},
		"not a body":   fmt.Errorf("disk on fire: %w", io.ErrUnexpectedEOF),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newRig(t, func(c *Config) {
				c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { WriteError(w, r, err) })
			})
			resp := x.do(request("GET", "/dav/", ""))
			body := resp.Body.String()
			id := resp.Header().Get("X-Request-Id")
			if resp.Code != 500 || strings.Contains(body, "fire") || strings.Contains(body, "store") || !strings.Contains(body, id) {
				t.Errorf("%d %s", resp.Code, body)
			}
			if log := x.log.String(); strings.Count(log, "disk on fire") != 1 || !strings.Contains(log, id) || !strings.Contains(log, `"level":"error"`) {
				t.Errorf("log: %s", log)
			}
		})
	}
}

func TestCancelledRequest(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	WriteError(w, httptest.NewRequest("GET", "/", nil), errs.Wrap("store.View", context.Canceled))
	if w.Code != 503 {
		t.Errorf("status %d; want 503", w.Code)
	}
}

func TestReadBody(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		body   io.Reader
		length int64
		want   string
		kind   errs.Kind
	}{
		{"declared", strings.NewReader("hello"), 5, "hello", ""},
		{"chunked", io.MultiReader(strings.NewReader("hel"), strings.NewReader("lo")), -1, "hello", ""},
		{"empty", strings.NewReader(""), 0, "", ""},
		{"as large as may be", bytes.NewReader(make([]byte, 1000)), 1000, string(make([]byte, 1000)), ""},
		{"declared too large", strings.NewReader(""), 1001, "", errs.TooLarge},
		{"is too large", bytes.NewReader(make([]byte, 1001)), -1, "", errs.TooLarge},
		{"cut short", io.MultiReader(strings.NewReader("hel"), failing{io.ErrUnexpectedEOF}), 5, "", errs.BadParameter},
		{"reset", failing{errors.New("connection reset")}, 5, "", errs.BadParameter},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("PUT", "/", io.NopCloser(test.body))
			r.ContentLength = test.length
			got, err := ReadBody(httptest.NewRecorder(), r, 1000)
			if string(got) != test.want || errs.KindOf(err) != test.kind {
				t.Errorf("got %d bytes, %v; want %d bytes, kind %q", len(got), err, len(test.want), test.kind)
			}
		})
	}
	if got, want := tooLarge(MaxDocument).Detail, "The body is too large; at most 1 MiB are accepted here."; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestBrowsersReadPages: who looks with a browser is answered a page with the same
// status; machines, and programs that mount the drive, get what they did.
func TestBrowsersReadPages(t *testing.T) {
	t.Parallel()
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, tt := range []struct{ method, agent, accept, want string }{
		{"GET", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140", browser, "text/html; charset=utf-8"},
		{"HEAD", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140", browser, "text/html; charset=utf-8"},
		{"PUT", "Mozilla/5.0", browser, "application/problem+json"},
		{"GET", "Mozilla/5.0 (X11; Linux x86_64) KIO/5.103", browser, "application/problem+json"},
		{"GET", "curl/8.5.0", "*/*", "application/problem+json"},
		{"GET", "davfs2/1.6.1", "", "application/problem+json"},
		{"GET", "x", "text/html, application/json", "application/problem+json"},
		{"GET", "x", "text/plain", "text/plain; charset=utf-8"},
		{"PROPFIND", "Mozilla/5.0", browser, "application/xml; charset=utf-8"},
	} {
		r := httptest.NewRequest(tt.method, "/nothing", nil)
		r.Header.Set("User-Agent", tt.agent)
		if tt.accept != "" {
			r.Header.Set("Accept", tt.accept)
		}
		w := httptest.NewRecorder()
		WriteError(w, r, errs.New(errs.NotFound, "There is no <b>such</b> thing."))
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusNotFound || got != tt.want {
			t.Errorf("%s by %s: %d %s, want %s", tt.method, tt.agent, w.Code, got, tt.want)
		}
		if body := w.Body.String(); strings.HasPrefix(tt.want, "text/html") && tt.method == "GET" && !strings.Contains(body, "There is no &lt;b&gt;such&lt;/b&gt; thing.") {
			t.Errorf("the page is %s", body)
		}
	}
}

// TestFormsThatAreRefusedGetAPage: a browser that has sent a form of the pages is answered
// a page that says that nothing is lost, and not JSON.
func TestFormsThatAreRefusedGetAPage(t *testing.T) {
	t.Parallel()
	for area, want := range map[area]string{areaPages: "text/html; charset=utf-8", areaDrive: "application/problem+json"} {
		r := httptest.NewRequest(http.MethodPost, "/tasks", nil)
		r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, &exchange{area: area}))
		w := httptest.NewRecorder()
		WriteError(w, r, errs.New(errs.TooMany, "Too many."))
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusTooManyRequests || got != want || (area == areaPages) != strings.Contains(w.Body.String(), "what you wrote is still there") {
			t.Errorf("area %v: %d %s %s, want %s", area, w.Code, got, w.Body, want)
		}
	}
}
