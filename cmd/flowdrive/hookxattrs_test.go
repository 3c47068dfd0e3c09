package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const requiringRoute = `
xattrs: {amount: {type: number, required: true}, supplier: {required: true}, paid: {type: boolean}, kind: {required: true, default: plain}}
states: {open: {type: start}}
actions: {begin: {trigger: init}}
`

// TestHookSaysThatItsCasesAreDrafts: a hook of a route that requires XATTRs which no request
// can give is warned of when it is stored, and its sender is told that the case does not
// start, and why.
func TestHookSaysThatItsCasesAreDrafts(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk.yaml", requiringRoute); w.Code != http.StatusNoContent && w.Code != http.StatusOK {
			s.Fatalf("%d %s", w.Code, w.Body)
		}
		const file = "/dav/Workflow/Routes/desk/Hooks/shop.json"
		const warning = "/xattrs: the route requires amount, supplier, which neither headers nor xattrs give: each case is a draft, which does not start before the author of the hook has filled it in"
		w := s.as("sam", "PUT", file, `{"headers": ["X-Order"]}`)
		made := decoded[struct {
			URL      string
			Warnings []string
		}](s, w)
		if w.Code != http.StatusCreated || !slices.Equal(made.Warnings, []string{warning}) {
			t.Errorf("the answer: %d %s", w.Code, w.Body)
		}
		w = s.send("POST", made.URL+"?amount=5", `{"amount": 5}`)
		if got := w.Body.String(); w.Code != http.StatusCreated || !strings.Contains(got, `"state":"draft","lacks":["amount","supplier"]}`) {
			t.Errorf("the sender is told %d %s", w.Code, got)
		}
		w = s.as("sam", "PUT", file, `{"headers": ["Amount"]}`, "User-Agent", "curl/8")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "the route requires supplier, which") {
			t.Errorf("changed: %d %s", w.Code, w.Body)
		}
		if w = s.as("sam", "PUT", file, `{"headers": ["Amount", "Supplier"]}`); w.Code != http.StatusNoContent {
			t.Errorf("nothing is missing: %d %s", w.Code, w.Body)
		}
	})
}

// TestHookWarnsOfWhatHasNoEffect: what a hook that writes messages ignores, and a label for
// which nothing waits, are warned of when the hook is stored, and stand in its file.
func TestHookWarnsOfWhatHasNoEffect(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		const waiting = `
messages: {Note: {}}
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init}, paid: {in: [open], trigger: message, message: Paid, to: done}}
`
		if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk.yaml", waiting); w.Code >= 300 {
			s.Fatalf("%d %s", w.Code, w.Body)
		}
		const headers = "/headers: has no effect with deliver, which starts no case: the headers of a request become nothing"
		const label = `/deliver/label: no action of the route waits for a message "Piad", so nothing follows when it comes; if that is meant, declare it in messages of the route; did you mean "Paid"?`
		for i, tt := range []struct {
			document string
			want     []string
		}{
			{`{"headers": ["X-A"], "deliver": {"label": "Piad", "case": {"query": "case"}}}`, []string{headers, label}},
			{`{"headers": ["X-A"], "deliver": {"label": "Paid", "case": {"query": "case"}}}`, []string{headers}},
			{`{"deliver": {"label": "Note", "case": {"query": "case"}}}`, []string{}},
			{`{"headers": ["X-A"]}`, []string{}},
		} {
			file := fmt.Sprintf("/dav/Workflow/Routes/desk/Hooks/h%d.json", i)
			s.as("sam", "PUT", file, tt.document)
			got := decoded[struct{ Warnings []string }](s, s.as("sam", "GET", file, "")).Warnings
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: got %q; want %q", tt.document, got, tt.want)
			}
		}
	})
}

// TestHookTakesXattrs: a hook takes XATTRs from headers, the query and the JSON of a request,
// by their own keys, as texts, numbers and booleans. What is not there or cannot be an XATTR
// is left out.
func TestHookTakesXattrs(t *testing.T) {
	withHooks(t, t.TempDir(), func(s *inProcess) {
		s.furnishHooks()
		if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk.yaml", requiringRoute); w.Code != http.StatusNoContent && w.Code != http.StatusOK {
			s.Fatalf("%d %s", w.Code, w.Body)
		}
		at := s.hook("shop", `{"xattrs": {"amount": {"json": "order.total"}, "supplier": {"query": "by"}, "paid": {"json": "/order/paid"}, "note": {"header": "X-Note"}, "lines": {"json": "order.lines"}}}`)
		if form := s.as("sam", "GET", "/dav/Workflow/Routes/desk/Hooks/shop.json", "").Body.String(); !strings.Contains(form, `"warnings": []`) || !strings.Contains(form, `"query": "by"`) {
			t.Errorf("the form: %s", form)
		}
		for _, test := range []struct{ query, body, state, xattrs string }{
			{"?by=oak", `{"order": {"total": 12.5, "paid": true, "lines": [1]}}`, "active", "map[amount:12.5 kind:plain note:$__TODAY__; paid:true supplier:oak]"},
			{"?by=oak", `{"order": {"total": "12.5"}}`, "active", "map[amount:12.5 kind:plain note:$__TODAY__; supplier:oak]"},
			{"", `{"order": {"total": 1}}`, "draft", "map[amount:1 kind:plain note:$__TODAY__;]"},
		} {
			w := s.send("POST", at+test.query, test.body, "X-Note", "$__TODAY__;", "Content-Type", "application/json")
			answer := decoded[struct {
				Case  int64
				State string
			}](s, w)
			c := decoded[struct {
				State     string
				XattrDict map[string]any
			}](s, s.must("GET", "/dav/Workflow/Cases/"+strconv.FormatInt(answer.Case, 10)+".json", ""))
			if w.Code != http.StatusCreated || answer.State != test.state || c.State != test.state || fmt.Sprint(c.XattrDict) != test.xattrs {
				t.Errorf("%s %s: %d %s; the case is %+v, want %s", test.query, test.body, w.Code, w.Body, c, test.xattrs)
			}
		}
		cases := s.cases()
		for _, body := range []string{"not JSON", `{"order": {"total": 12.5`, ""} {
			if w := s.send("POST", at+"?by=oak", body, "Content-Type", "application/json; charset=utf-8"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "is not JSON") {
				t.Errorf("%q: %d %s", body, w.Code, w.Body)
			}
		}
		if n := s.cases(); n != cases {
			t.Errorf("%d cases of requests that were refused", n-cases)
		}
		if w := s.send("POST", at+"?by=oak", "not JSON", "Content-Type", "text/plain"); w.Code != http.StatusCreated {
			t.Errorf("what does not say that it is JSON: %d %s", w.Code, w.Body)
		}
		for document, fault := range map[string]string{
			`{"xattrs": {"amount": {}}}`:                                                                         "/xattrs/amount: must have one of header, query and json: where a request has the value",
			`{"xattrs": {"amount": {"json": "a", "query": "a"}}}`:                                                "/xattrs/amount: must have one of header, query and json",
			`{"xattrs": {"amount": {"json": "a"}, "AMOUNT": {"json": "b"}}}`:                                     "is the same XATTR as another one; keep one of them",
			`{"xattrs": {"amount": "total"}}`:                                                                    "/xattrs/amount: must be an object",
			`{"xattrs": {"amount": {"json": "a"}}, "deliver": {"label": "Paid", "case": {"json": "data.case"}}}`: "/xattrs: does not go with deliver",
		} {
			if w := s.as("sam", "PUT", "/dav/Workflow/Routes/desk/Hooks/x.json", document); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), fault) {
				t.Errorf("%s: %d %s", document, w.Code, w.Body)
			}
		}
	})
}
