package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const hookedRoute = `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, answered: {type: complete}}
actions:
  open: {trigger: init}
  answer: {trigger: message, message: Reply, in: [open], to: answered}
  close: {in: [open], role: clerk, to: answered}
`

// hookSecrets are those that the tests' senders share with the server.
const hookSecrets = `{github: it-is-a-secret-of-github, stripe: whsec_not+base64?, standard: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, plain: another plain secret}`

// withHooks runs use on a server that has a route for hooks and the secrets.
func withHooks(t *testing.T, data string, use func(s *inProcess)) {
	t.Helper()
	t.Setenv("FLOWDRIVE_ADMIN_PASSWORD", "admin works upstairs")
	settings := &settings{data: data, sandbox: "2012-11-09T12:34:56Z", logLevel: "error"}
	if err := settings.outside.secrets.Set(hookSecrets); err != nil {
		t.Fatal(err)
	}
	withSettings(t, settings, map[string]string{"sam": "sam works upstairs", "ann": "ann works upstairs"}, use)
}

func (s *inProcess) furnishHooks() {
	s.Helper()
	for _, user := range []string{"sam", "ann"} {
		s.must("PUT", "/dav/Admin/Users/"+user+".json", `{"password": "`+user+` works upstairs"}`)
	}
	if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk.yaml", hookedRoute); w.Code != http.StatusCreated {
		s.Fatalf("%d %s", w.Code, w.Body)
	}
}

// hook makes a hook of Sam's and returns its path.
func (s *inProcess) hook(name, document string) string {
	s.Helper()
	w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk/Hooks/"+name+".json", document)
	made := decoded[struct{ URL string }](s, w)
	if w.Code != http.StatusCreated || !strings.HasPrefix(made.URL, "/hook/") || len(made.URL) != len("/hook/")+32 {
		s.Fatalf("%s: %d %s", name, w.Code, w.Body)
	}
	return made.URL
}

// send makes a request without a log-in.
func (s *inProcess) send(method, path, body string, header ...string) *httptest.ResponseRecorder {
	s.Helper()
	return s.as("", method, path, body, header...)
}

func (s *inProcess) cases() int {
	s.Helper()
	return len(decoded[[]any](s, s.must("GET", "/dav/Workflow/Cases/.contents", "")))
}

func hexMAC(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// TestHooksStart: what comes to a hook starts a case with the body as its input and
// the allowed headers as its XATTRs, as the hook's author.
func TestHooksStart(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		at := s.hook("open", `{"headers": ["X-Order", "X-Kind"]}`)
		for _, test := range []struct{ method, body, mediaType, input, inputType string }{
			{"POST", `{"n": 1}`, "application/json", `{"n": 1}`, "application/json"},
			{"PUT", `{"n": 1}`, "", `{"n": 1}`, "application/json"},
			{"POST", "a=1&b=x&b=y", "application/x-www-form-urlencoded", `{"a":"1","b":["x","y"]}`, "application/json"},
			{"POST", "\x00\x01\xff", "application/octet-stream", "\x00\x01\xff", "application/octet-stream"},
			{"POST", "", "", "", "application/octet-stream"},
		} {
			header := []string{"X-Order", "A-1 $__EMAIL__;", "X-Other", "no", "Content-Type", test.mediaType}
			w := s.send(test.method, at, test.body, header...)
			if w.Code != http.StatusCreated {
				t.Fatalf("%s %q: %d %s", test.method, test.body, w.Code, w.Body)
			}
			id := strconv.FormatInt(decoded[struct{ Case int64 }](s, w).Case, 10)
			c := decoded[struct {
				Starter, Status string
				XattrDict       map[string]any
			}](s, s.must("GET", "/dav/Workflow/Cases/"+id+".json", ""))
			if c.Starter != "sam" || c.Status != "open" || fmt.Sprint(c.XattrDict) != "map[x-order:A-1 $__EMAIL__;]" {
				t.Errorf("%s %q: got %+v", test.method, test.body, c)
			}
			input := s.must("GET", "/dav/Workflow/Cases/"+id+"/input", "")
			if input.Body.String() != test.input || input.Header().Get("Content-Type") != test.inputType {
				t.Errorf("%s %q: got %s %q", test.method, test.body, input.Header().Get("Content-Type"), input.Body)
			}
		}
		before := s.cases()
		for _, method := range []string{"GET", "HEAD", "DELETE", "PROPFIND", "PATCH", "OPTIONS"} {
			if w := s.send(method, at, ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST, PUT" {
				t.Errorf("%s: got %d, %s", method, w.Code, w.Header().Get("Allow"))
			}
		}
		if w := s.send("POST", at, "x", "Content-Encoding", "gzip"); w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("encoded: got %d", w.Code)
		}
		if w := s.send("POST", at, strings.Repeat("x", 25<<20+1)); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("too large: got %d %s", w.Code, w.Body)
		}
		for _, path := range []string{"/hook/", "/hook/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", at + "/x", at + "x"} {
			if w := s.send("POST", path, "{}"); w.Code != http.StatusNotFound && w.Code != http.StatusTooManyRequests {
				t.Errorf("%s: got %d", path, w.Code)
			}
		}
		if w := s.as("sam", "DELETE", "/dav/Workflow/Routes/desk/Hooks/open.json", ""); w.Code != http.StatusNoContent {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w := s.send("POST", at, "{}"); w.Code != http.StatusNotFound && w.Code != http.StatusTooManyRequests {
			t.Errorf("a revoked hook: got %d %s", w.Code, w.Body)
		}
		if n := s.cases(); n != before {
			t.Errorf("%d more cases", n-before)
		}
	})
}

// TestHooksVerify: senders prove that they know the secret, in each scheme; a
// request that is sent again is known by the sender's id, also after a restart.
func TestHooksVerify(t *testing.T) {
	data := t.TempDir()
	now := time.Now()
	stamp := func(ago time.Duration) string { return strconv.FormatInt(now.Add(-ago).Unix(), 10) }
	standard := func(id, at, body string) []string {
		raw, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		if err != nil {
			t.Fatal(err)
		}
		sum, err := hex.DecodeString(hexMAC(string(raw), id+"."+at+"."+body))
		if err != nil {
			t.Fatal(err)
		}
		return []string{"webhook-id", id, "webhook-timestamp", at, "webhook-signature", "v1,AAAA v1," + base64.StdEncoding.EncodeToString(sum)}
	}
	stripe := func(at, body string) []string {
		return []string{"Stripe-Signature", "t=" + at + ",v0=00,v1=00,v1=" + hexMAC("whsec_not+base64?", at+"."+body)}
	}
	github := func(id, body string) []string {
		return []string{"X-GitHub-Delivery", id, "X-Hub-Signature-256", "sha256=" + hexMAC("it-is-a-secret-of-github", body)}
	}
	plain := hexMAC("another plain secret", "{}")
	tests := []struct {
		hook, body string
		header     []string
		want       int
		again      bool // known by its id
	}{
		{"standard", `{"a": 1}`, standard("msg_1", stamp(0), `{"a": 1}`), 201, false},
		{"standard", `{"a": 1}`, standard("msg_1", stamp(time.Minute), `{"a": 1}`), 201, true},
		{"standard", `{"a": 2}`, standard("msg_2", stamp(0), `{"a": 1}`), 403, false},
		{"standard", `{"a": 1}`, standard("msg_3", stamp(6*time.Minute), `{"a": 1}`), 403, false},
		{"standard", `{"a": 1}`, standard("msg_3", stamp(-6*time.Minute), `{"a": 1}`), 403, false},
		{"standard", `{"a": 1}`, standard("msg_3", "soon", `{"a": 1}`), 403, false},
		{"standard", `{"a": 1}`, nil, 403, false},
		{"github", `{"zen": 1}`, github("d-1", `{"zen": 1}`), 201, false},
		{"github", `{"zen": 1}`, github("d-1", `{"zen": 1}`), 201, true},
		{"github", `{"zen": 2}`, github("d-1", `{"zen": 1}`), 403, false},
		{"github", `{"zen": 1}`, []string{"X-Hub-Signature-256", "sha256=zz"}, 403, false},
		{"stripe", `{"id": "evt_1"}`, stripe(stamp(0), `{"id": "evt_1"}`), 201, false},
		{"stripe", `{"id": "evt_1"}`, stripe(stamp(time.Minute), `{"id": "evt_1"}`), 201, true},
		{"stripe", `{"id": "evt_2"}`, stripe(stamp(time.Hour), `{"id": "evt_2"}`), 403, false},
		{"stripe", `{"id": "evt_2"}`, []string{"Stripe-Signature", "t=,v1="}, 403, false},
		{"plain", `{}`, []string{"X-Signature", plain, "Idempotency-Key", "k"}, 201, false},
		{"plain", `{}`, []string{"X-Signature-256", "sha256=" + plain, "Idempotency-Key", "k"}, 201, true},
		{"plain", `{} `, []string{"X-Signature", plain}, 403, false},
		{"own", `{}`, []string{"X-Shop-Hmac", base64.StdEncoding.EncodeToString(fromHex(t, plain))}, 201, false},
		{"own", `{}`, []string{"X-Signature", plain}, 403, false},
		{"unset", `{}`, []string{"X-Signature", plain}, 503, false},
	}
	at, first := map[string]string{}, map[string]string{}
	withHooks(t, data, func(s *inProcess) {
		s.furnishHooks()
		for name, verify := range map[string]string{
			"standard": `{"scheme": "standard-webhooks", "secret": "standard"}`, "github": `{"scheme": "github", "secret": "github"}`,
			"stripe": `{"scheme": "stripe", "secret": "stripe"}`, "plain": `{"scheme": "hmac", "secret": "plain"}`,
			"own": `{"scheme": "hmac", "secret": "plain", "header": "X-Shop-Hmac"}`, "unset": `{"scheme": "hmac", "secret": "none"}`,
		} {
			at[name] = s.hook(name, `{"verify": `+verify+`}`)
		}
		want := 0
		for i, test := range tests {
			w := s.send("POST", at[test.hook], test.body, test.header...)
			replayed := w.Header().Get("Idempotent-Replayed") == "true"
			if w.Code != test.want || replayed != test.again || test.again && w.Body.String() != first[test.hook] {
				t.Errorf("%d %s %v: got %d %v %s", i, test.hook, test.header, w.Code, replayed, w.Body)
			}
			if w.Code == 201 && !replayed {
				want++
				if first[test.hook] == "" {
					first[test.hook] = w.Body.String()
				}
			}
			if strings.Contains(w.Body.String(), "secret-of-github") || strings.Contains(w.Body.String(), plain) {
				t.Errorf("%d: the answer tells the secret: %s", i, w.Body)
			}
		}
		if got := s.cases(); got != want {
			t.Errorf("got %d cases, want %d", got, want)
		}
		form := s.must("GET", "/dav/Workflow/Routes/desk/Hooks/unset.json", "").Body.String()
		if !strings.Contains(form, `"fault": "there is no secret \"none\"`) || !strings.Contains(form, `"warnings": ["/verify/secret: `) {
			t.Errorf("the hook without its secret: %s", form)
		}
	})
	withHooks(t, data, func(s *inProcess) { // after a restart
		before := s.cases()
		for _, test := range tests {
			if !test.again {
				continue
			}
			w := s.send("POST", at[test.hook], test.body, test.header...)
			if w.Code != test.want || w.Body.String() != first[test.hook] {
				t.Errorf("%s after a restart: got %d %s, want %s", test.hook, w.Code, w.Body, first[test.hook])
			}
		}
		if got := s.cases(); got != before {
			t.Errorf("%d more cases", got-before)
		}
	})
}

func fromHex(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestHooksDeliver: a hook writes a message of the case that the request names, if
// it is one of its route.
func TestHooksDeliver(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		s.must("PUT", "/dav/Workflow/Routes/other.yaml", hookedRoute)
		open := func(user, route string) string {
			w := s.as(user, "POST", "/dav/Workflow/Cases/", `{"route": "`+route+`"}`)
			return strings.TrimSuffix(w.Header().Get("Location")[len("/dav/Workflow/Cases/"):], ".json")
		}
		deliver := func(of string) string { return `{"deliver": {"label": "Reply", "case": ` + of + `}}` }
		byHeader, byQuery := s.hook("header", deliver(`{"header": "X-Case"}`)), s.hook("query", deliver(`{"query": "case"}`))
		byPath, byPointer := s.hook("path", deliver(`{"json": "data.refs.0"}`)), s.hook("pointer", deliver(`{"json": "/data/a~1b"}`))
		for name, ask := range map[string]func(id string) *httptest.ResponseRecorder{
			"header": func(id string) *httptest.ResponseRecorder { return s.send("POST", byHeader, "yes", "X-Case", id) },
			"query":  func(id string) *httptest.ResponseRecorder { return s.send("POST", byQuery+"?case="+id, "yes") },
			"path": func(id string) *httptest.ResponseRecorder {
				return s.send("PUT", byPath, `{"data": {"refs": [`+id+`]}}`)
			},
			"pointer": func(id string) *httptest.ResponseRecorder {
				return s.send("PUT", byPointer, `{"data": {"a/b": "`+id+`"}}`)
			},
		} {
			id := open("sam", "desk")
			if w := ask(id); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != `{"case":`+id+`,"label":"Reply"}` {
				t.Errorf("%s: got %d %s", name, w.Code, w.Body)
			}
			if c := s.must("GET", "/dav/Workflow/Cases/"+id+".json", "").Body.String(); !strings.Contains(c, `"status": "answered"`) {
				t.Errorf("%s: the case did not hear it: %s", name, c)
			}
			if w := ask(open("admin", "other")); w.Code != http.StatusNotFound {
				t.Errorf("%s: a case of another route: got %d %s", name, w.Code, w.Body)
			}
			if w := ask("4711"); w.Code != http.StatusNotFound {
				t.Errorf("%s: no case: got %d %s", name, w.Code, w.Body)
			}
		}
		if w := s.send("POST", byHeader, "yes"); w.Code != http.StatusBadRequest {
			t.Errorf("without a case: got %d %s", w.Code, w.Body)
		}
	})
}

// TestHooksBelongToAdministrators: who administers the route makes hooks and sees
// them, without their tokens; others see nothing. A hook stops working when its
// author has left.
func TestHooksBelongToAdministrators(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		const folder = "/dav/Workflow/Routes/desk/Hooks/"
		at := s.hook("first", `{"rate": "2/hour", "verify": {"scheme": "none"}}`)
		token := at[len("/hook/"):]
		for _, request := range [][2]string{{"GET", folder}, {"GET", folder + "first.json"}, {"GET", folder + ".contents"}, {"PUT", folder + "second.json"}, {"DELETE", folder + "first.json"}} {
			if w := s.as("ann", request[0], request[1], "{}"); w.Code != http.StatusNotFound {
				t.Errorf("ann %v: got %d %s", request, w.Code, w.Body)
			}
		}
		for user, want := range map[string]bool{"sam": true, "admin": true, "ann": false} {
			listing := s.as(user, "PROPFIND", "/dav/Workflow/Routes/desk/", "", "Depth", "1").Body.String()
			if strings.Contains(listing, "/desk/Hooks/") != want {
				t.Errorf("%s sees Hooks/: %v", user, !want)
			}
		}
		for _, path := range []string{folder + "first.json", folder + ".contents", "/dav/Workflow/Routes/desk.json"} {
			if strings.Contains(s.must("GET", path, "").Body.String(), token) {
				t.Errorf("%s tells the token", path)
			}
		}
		if listing := s.must("PROPFIND", folder, "", "Depth", "1").Body.String(); !strings.Contains(listing, "first.json") {
			t.Errorf("the listing: %s", listing)
		}
		// What it is for can be changed; the address stays.
		if w := s.as("sam", "PUT", folder+"first.json", `{"rate": "2/hour", "headers": ["X-A"]}`); w.Code != http.StatusNoContent || w.Body.Len() > 0 {
			t.Errorf("changed: %d %s", w.Code, w.Body)
		}
		secret := decoded[struct{ Secret string }](s, s.as("sam", "PUT", "/dav/Account/AppPasswords/phone.json", "")).Secret
		s.passwords["sam"], secret = secret, s.passwords["sam"]
		if w := s.as("sam", "PUT", folder+"device.json", "{}"); w.Code != http.StatusForbidden {
			t.Errorf("a device: %d %s", w.Code, w.Body)
		}
		s.passwords["sam"] = secret

		for i, want := range []int{201, 201, 429} {
			w := s.send("POST", at, "{}")
			if w.Code != want || want == 429 && w.Header().Get("Retry-After") == "" {
				t.Errorf("request %d: got %d %s", i, w.Code, w.Body)
			}
		}
		second := s.hook("second", `{}`)
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": true}`)
		if w := s.send("POST", second, "{}"); w.Code != http.StatusNotFound {
			t.Errorf("after its author has left: %d %s", w.Code, w.Body)
		}
		if form := s.must("GET", folder+"second.json", "").Body.String(); !strings.Contains(form, `"fault": "its author has left`) {
			t.Errorf("the hook: %s", form)
		}
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": false}`)
		if w := s.send("POST", second, "{}"); w.Code != http.StatusCreated {
			t.Errorf("after its author is back: %d %s", w.Code, w.Body)
		}
		if form := s.must("GET", folder+"second.json", "").Body.String(); !strings.Contains(form, `"fault": null`) {
			t.Errorf("the hook: %s", form)
		}
		if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk.yaml", strings.Replace(hookedRoute, "start: [everyone]", "start: [ann]", 1)); w.Code != http.StatusNoContent {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w := s.send("POST", second, "{}"); w.Code != http.StatusForbidden {
			t.Errorf("after the right to start was lost: %d %s", w.Code, w.Body)
		}
		audited := s.must("GET", "/dav/Admin/Audit/2012-11-09.jsonl", "").Body.String()
		if !strings.Contains(audited, "hook-add") || strings.Contains(audited, token) {
			t.Errorf("the audit log: %s", audited)
		}
	})
}

// TestEmptyPutLeavesAHook: a PUT of no bytes, as by a script whose file is missing, makes no
// hook that anybody may use, and takes no verification away.
func TestEmptyPutLeavesAHook(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		const path, settings = "/dav/Workflow/Routes/desk/Hooks/x.json", `{"verify": {"scheme": "github", "secret": "github"}}`
		for _, agent := range []string{"curl/8.5", "python-requests/2"} {
			if w := s.as("sam", "PUT", path, "", "User-Agent", agent); w.Code != http.StatusUnprocessableEntity {
				t.Errorf("%s: an empty PUT of a new one: got %d %s", agent, w.Code, w.Body)
			}
		}
		if w := s.as("sam", "PUT", path, settings); w.Code != http.StatusCreated {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		for agent, want := range map[string]int{"curl/8.5": http.StatusUnprocessableEntity, "davfs2/1.6": http.StatusNoContent} {
			if w := s.as("sam", "PUT", path, "", "User-Agent", agent); w.Code != want {
				t.Errorf("%s: an empty PUT: got %d %s; want %d", agent, w.Code, w.Body, want)
			}
			if form := s.must("GET", path, "").Body.String(); !strings.Contains(form, `"scheme": "github"`) {
				t.Errorf("%s: an empty PUT has taken the verification away: %s", agent, form)
			}
		}
	})
}

// TestHookFaults: every fault of a hook's document has its place.
func TestHookFaults(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		for document, want := range map[string]string{
			`{"verify": {"scheme": "md5"}}`:                                      "/verify/scheme",
			`{"verify": {"scheme": "github"}}`:                                   "/verify/secret",
			`{"verify": {"secret": "x"}}`:                                        "/verify/scheme",
			`{"verify": {"scheme": "none", "secret": "x"}}`:                      "/verify/secret",
			`{"verify": {"scheme": "github", "secret": "x", "header": "X-A"}}`:   "/verify/header",
			`{"verify": {"scheme": "hmac", "secret": "x", "header": "X\r\nY"}}`:  "/verify/header",
			`{"deliver": {"label": "L", "case": {"header": "a b"}}}`:             "/deliver/case/header",
			`{"headers": ["X A"]}`:                                               "/headers/0",
			`{"headers": ["Authorization"]}`:                                     "/headers/0",
			`{"rate": "often"}`:                                                  "/rate",
			`{"rate": "0/minute"}`:                                               "/rate",
			`{"deliver": {"label": "a b", "case": {"header": "X"}}}`:             "/deliver/label",
			`{"deliver": {"label": "", "case": {"header": "X"}}}`:                "/deliver/label",
			`{"deliver": {"case": {"header": "X"}}}`:                             "/deliver/label",
			`{"deliver": {"label": "A", "case": {}}}`:                            "/deliver/case",
			`{"deliver": {"label": "A", "case": {"header": "X", "query": "y"}}}`: "/deliver/case",
			`{"deliver": {"label": "A"}}`:                                        "/deliver/case",
			`{"name": "other"}`:                                                  "/name",
			`{"verfy": {}}`:                                                      "/verfy",
			`{"verify": {"scheme": null, "secret": 5}, "rate": 5}`:               "/rate",
		} {
			w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk/Hooks/x.json", document)
			var problem struct{ Errors []struct{ Pointer string } }
			if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code != http.StatusUnprocessableEntity {
				t.Errorf("%s: got %d %s", document, w.Code, w.Body)
			}
			found := false
			for _, fault := range problem.Errors {
				found = found || fault.Pointer == want
			}
			if !found {
				t.Errorf("%s: got %s", document, w.Body)
			}
		}
		if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk/Hooks/x.txt", "{}"); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("another kind of name: %d", w.Code)
		}
		if w := s.as("sam", "PUT", "/dav/Workflow/Routes/nowhere/Hooks/x.json", "{}"); w.Code != http.StatusNotFound {
			t.Errorf("no route: %d", w.Code)
		}
		// A form of GitHub holds its JSON in a field.
		at := s.hook("github", `{"verify": {"scheme": "github", "secret": "github"}}`)
		body := url.Values{"payload": {`{"zen": "x"}`}}.Encode()
		w := s.send("POST", at, body, "Content-Type", "application/x-www-form-urlencoded", "X-Hub-Signature-256", "sha256="+hexMAC("it-is-a-secret-of-github", body))
		id := strconv.FormatInt(decoded[struct{ Case int64 }](s, w).Case, 10)
		if input := s.must("GET", "/dav/Workflow/Cases/"+id+"/input", "").Body.String(); input != `{"zen": "x"}` {
			t.Errorf("got %s", input)
		}
	})
}

// TestHookFaultIsTold: that a hook refuses requests by its own fault is told to the
// administrators of its route: once, a day later, and once when it works again, and to
// nobody who was not told before.
func TestHookFaultIsTold(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"password": "sam works upstairs", "email": "sam@example.org"}`)
		s.must("PUT", "/dav/Admin/Users/ann.json", `{"password": "ann works upstairs", "email": "ann@example.org"}`)
		s.must("PUT", "/dav/Admin/Users/admin.json", `{"email": "root@example.org"}`)
		read := map[string]bool{}
		told := func() string {
			var lines []string
			for _, l := range decoded[[]struct{ Name string }](s, s.must("GET", "/dav/Admin/Outbox/.ls", "")) {
				if read[l.Name] {
					continue
				}
				read[l.Name] = true
				letter := s.must("GET", "/dav/Admin/Outbox/"+url.PathEscape(l.Name), "").Body.String()
				message, err := mail.ReadMessage(strings.NewReader(letter))
				if err != nil {
					t.Fatal(err)
				}
				subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(subject, "can do it: close") {
					continue // the task of the case that the hook has started
				}
				lines = append(lines, strings.Trim(message.Header.Get("To"), "<>")+": "+subject)
			}
			slices.Sort(lines)
			return strings.Join(lines, "\n")
		}
		want := func(when, lines string) {
			t.Helper()
			if got := told(); got != lines {
				t.Errorf("%s: got %q, want %q", when, got, lines)
			}
		}
		at := s.hook("second", `{}`)
		s.must("PUT", "/dav/Workflow/Routes/desk.yaml", strings.Replace(hookedRoute, "access: {", "access: {admin: [ann], ", 1))
		told()
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": true}`)
		for range 2 {
			s.send("POST", at, "{}")
		}
		const left = ": its author has left, or is disabled; another administrator of the route can store it ag…"
		want("once", "ann@example.org: Failed: the hook second of desk"+left)
		s.must("POST", "/clock", `{"advance": "PT24H"}`, "Content-Type", "application/json")
		want("a day later", "ann@example.org: Still failed: the hook second of desk"+strings.Replace(left, " it ag…", "…", 1))
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": false}`)
		if w := s.send("POST", at, "{}"); w.Code != http.StatusCreated {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		want("it works again, which sam was never told", "ann@example.org: Mended: the hook second of desk")
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": true}`)
		s.send("POST", at, "{}")
		told()
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": false}`)
		s.must("POST", "/clock", `{"advance": "PT24H"}`, "Content-Type", "application/json")
		want("its author is back, and nobody has sent anything", "ann@example.org: Mended: the hook second of desk\nsam@example.org: To do: close (desk)")
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": true}`)
		s.send("POST", at, "{}")
		told()
		s.as("ann", "PUT", "/dav/Workflow/Routes/desk/Hooks/second.json", `{}`)
		want("ann, who stores it again, is told, too", "ann@example.org: Mended: the hook second of desk")
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": false}`)
		s.as("sam", "PUT", "/dav/Workflow/Routes/desk/Hooks/second.json", `{}`)
		if form := s.must("GET", "/dav/Workflow/Routes/desk/Hooks/second.json", "").Body.String(); !strings.Contains(form, `"fault": null`) {
			t.Errorf("the hook: %s", form)
		}
		s.must("PUT", "/dav/Admin/Users/sam.json", `{"disabled": true}`)
		s.send("POST", at, "{}")
		told()
		s.must("DELETE", "/dav/Workflow/Routes/desk/Hooks/second.json", "")
		want("it is deleted", "ann@example.org: Deleted: the hook second of desk")
		s.must("POST", "/clock", `{"advance": "PT48H"}`, "Content-Type", "application/json")
		want("afterwards", "")
	})
}

// TestHooksBoundWhatIsRead: nothing is read of a body that is announced as larger than
// its hook takes, or that cannot be signed rightly.
func TestHooksBoundWhatIsRead(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		at := s.hook("small", `{"verify": {"scheme": "github", "secret": "github"}, "maxBytes": 10}`)
		sign := func(body string) []string {
			return []string{"X-Hub-Signature-256", "sha256=" + hexMAC("it-is-a-secret-of-github", body)}
		}
		if w := s.send("POST", at, `{"n": 123}`, sign(`{"n": 123}`)...); w.Code != http.StatusCreated {
			t.Errorf("as large as may be: %d %s", w.Code, w.Body)
		}
		if w := s.send("POST", at, `{"n": 1234}`, sign(`{"n": 1234}`)...); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("too large: %d %s", w.Code, w.Body)
		}
		if w := s.send("POST", at, strings.Repeat("x", 11)); w.Code != http.StatusForbidden {
			t.Errorf("without a signature its length does not matter: %d %s", w.Code, w.Body)
		}
		form := s.must("GET", "/dav/Workflow/Routes/desk/Hooks/small.json", "").Body.String()
		if !strings.Contains(form, `"maxBytes": 10`) {
			t.Errorf("the hook: %s", form)
		}
		for _, document := range []string{`{"maxBytes": 0}`, `{"maxBytes": 26214401}`, `{"maxBytes": "1 MiB"}`} {
			if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk/Hooks/x.json", document); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "/maxBytes") {
				t.Errorf("%s: %d %s", document, w.Code, w.Body)
			}
		}
	})
}
