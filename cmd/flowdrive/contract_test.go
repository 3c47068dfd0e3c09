package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/internal/document"
	"flowdrive/schema"
)

// furnished is what furnish has put on the drive.
type furnished struct{ entry, id, past, done, teamTask, message, attachment, day, token string }

// furnish puts something of every kind on the drive.
func (s *inProcess) furnish() furnished {
	s.Helper()
	var f furnished
	last := func(w *httptest.ResponseRecorder) string {
		location := w.Header().Get("Location")
		return strings.TrimSuffix(location[strings.LastIndexByte(location, '/')+1:], ".json")
	}
	s.must("PUT", "/dav/Admin/Teams/ops.json", `{"members": ["sam"]}`)
	s.must("PUT", "/dav/Admin/Holds/quiet.json", `{"group": "day", "reason": "Shift change"}`)
	s.must("PUT", "/dav/Account/me.json", `{"deputy": {"user": "sam", "to": "2012-12-24"}}`)
	s.must("PUT", "/dav/Account/AppPasswords/phone.json", ``)
	link := s.must("PUT", "/dav/Account/CalendarLinks/phone.json", ``).Body.String()
	for range 2 { // sessions 1 and 2
		form := url.Values{"name": {"admin"}, "password": {s.passwords["admin"]}}.Encode()
		if w := s.as("", "POST", "/login", form, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"); w.Code != http.StatusSeeOther {
			s.Fatalf("log-in to the pages: %d %s", w.Code, w.Body)
		}
	}
	s.must("PUT", "/dav/Workflow/Routes/bug/Hooks/pushes.json", `{"headers": ["X-A"]}`)
	_, f.token, _ = strings.Cut(link, "/calendar/")
	f.token, _, _ = strings.Cut(f.token, ".ics")
	f.entry = last(s.must("PUT", "/dav/Workflow/Schedule/nightly.json", `{"type": "cron", "route": "bug", "hour": "23", "minute": "0", "xattrDict": {"a": 1}}`))
	s.must("PUT", "/dav/Workflow/Schedule/once.json", `{"type": "simple", "route": "collector", "date": "2012-11-10"}`)
	s.must("PUT", "/dav/Workflow/Schedule/often.json", `{"type": "interval", "route": "collector", "hours": 8}`)
	s.must("PUT", "/dav/Workflow/Schedule/tab.json", `{"type": "crontab", "route": "collector", "spec": "0 6 * * 1"}`)
	s.must("POST", "/clock", `{"advance": "P1D"}`, "Content-Type", "application/json")
	f.id = last(s.must("PUT", "/dav/Workflow/Cases/fire.json", `{"route": "bug", "title": "Fire", "input": {"where": "hall"}, "roles": {"assignee": ["sam"]}}`))
	s.must("PUT", "/dav/Workflow/Cases/"+f.id+"/Labels/remark", "hello", "Content-Type", "text/plain")
	s.must("PUT", "/dav/Workflow/Cases/"+f.id+"/Actions/resolve.json", `{"comment": "Put out."}`)
	f.done = f.id + ".resolve"
	f.teamTask = last(s.must("PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "Water", "roles": {"assignee": ["sam"]}}`)) + ".resolve"
	f.past = last(s.must("PUT", "/dav/Workflow/Cases/past.json", `{"route": "bug", "title": "Past"}`))
	s.must("DELETE", "/dav/Workflow/Cases/"+f.past+".json", "")
	s.must("PUT", "/dav/Workflow/Cases/"+f.past+".json", `{"do": "archive"}`)
	f.attachment = last(s.must("PUT", "/attachfs/plan.csv", "1,2", "Content-Type", "text/csv"))
	s.must("PUT", "/attachfs/"+f.id+"/hall.svg", "<svg/>", "Content-Type", "image/svg+xml")
	s.must("PUT", "/dav/Workflow/Routes/copy.yaml", "states: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}\n")
	s.must("PUT", "/dav/Workflow/Cases/"+f.id+"/Timers/comment.due.json", `{"limit": "P3D"}`)
	s.must("MKCOL", "/dav/Documents/admin/plans", "")
	s.must("PUT", "/dav/Documents/admin/plans/hall.txt", "hello")
	f.day = "2012-11-09"
	listing := s.must("PROPFIND", "/dav/Workflow/Cases/"+f.id+"/Messages/", "", "Depth", "1").Body.String()
	_, rest, _ := strings.Cut(listing, "/Messages/</")
	_, rest, _ = strings.Cut(rest, "/Messages/")
	if len(rest) < 32 {
		s.Fatalf("no messages: %s", listing)
	}
	f.message = rest[:32]
	return f
}

// target returns the address of something on the drive that a path of the OpenAPI document means.
func (f *furnished) target(path string) string {
	values := map[string]string{
		"{name}": "fire.json", "{uuid}": f.entry, "{route}": "copy", "{version}": "1", "{id}": f.id, "{action}": "comment", "{timer}": "comment.due", "{list}": "Offered", "{entry}": f.entry, "{team}": "ops", "{task}": f.id + ".close",
		"{label}": "remark", "{file}": f.attachment, "{schema}": "route", "{party}": "sam", "{date}": f.day, "{mail}": "none", "{state}": "resolved", "{card}": f.id + "%20Fire.json", "{context}": "admin", "{year}": "2012", "{month}": "11", "{path}": "plans/hall.txt", "{token}": f.token,
	}
	special := map[string][2]string{ // by path: what stands for a parameter there
		"/dav/Workflow/Schedule/{name}":                     {"{name}", "nightly.json"},
		"/dav/Account/AppPasswords/{name}":                  {"{name}", "phone.json"},
		"/dav/Account/CalendarLinks/{name}":                 {"{name}", "phone.json"},
		"/dav/Account/Sessions/{name}":                      {"{name}", "1.json"},
		"/dav/Admin/Sessions/{name}":                        {"{name}", "2.json"},
		"/dav/Workflow/Worklist/Done/{task}.json":           {"{task}", f.done},
		"/dav/Workflow/Worklist/Team/{team}/{task}.json":    {"{task}", f.teamTask},
		"/dav/Workflow/Cases/{id}/Messages/{uuid}":          {"{uuid}", f.message},
		"/dav/Workflow/Archive/{year}/{month}/{id}":         {"{id}", f.past},
		"/dav/Workflow/Archive/{year}/{month}/{id}.json":    {"{id}", f.past},
		"/attachfs/view/{uuid}":                             {"{uuid}", f.attachment},
		"/attachfs/download/{uuid}":                         {"{uuid}", f.attachment},
		"/dav/Admin/Teams/{party}.json":                     {"{party}", "ops"},
		"/dav/Admin/Holds/{name}":                           {"{name}", "quiet.json"},
		"/attachfs/{id}/{file}":                             {"{file}", "more.csv"},
		"/dav/Workflow/Routes/{route}/{file}":               {"{file}", "drop.txt"},
		"/dav/Workflow/Routes/{route}/Board/{state}":        {"{route}", "bug"},
		"/dav/Workflow/Routes/{route}/Board/{state}/{card}": {"{route}", "bug"},
	}
	if at, ok := special[path]; ok {
		path = strings.ReplaceAll(path, at[0], at[1])
	}
	for name, value := range values {
		path = strings.ReplaceAll(path, name, value)
	}
	return path
}

// delivering starts a case that has something to send, and returns its id.
func (s *inProcess) delivering() string {
	s.Helper()
	s.must("PUT", "/dav/Workflow/Routes/sends.yaml", `
states: {open: {type: start, complete: true}}
actions: {begin: {trigger: init, onFire: [{mail: {to: [admin], subject: Order, text: One lamp.}}]}}
`)
	s.must("PUT", "/dav/Account/me.json", `{"email": "admin@example.org"}`)
	at := s.must("PUT", "/dav/Workflow/Cases/sends.json", `{"route": "sends"}`).Header().Get("Location")
	return strings.TrimSuffix(path.Base(at), ".json")
}

// TestAnswersAndSchemas: what the server answers is what the schemas on the
// drive say.
func TestAnswersAndSchemas(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		f := s.furnish()
		compiler := jsonschema.NewCompiler()
		for _, name := range schema.Names() {
			served := s.as("sam", "GET", "/dav/Workflow/Schemas/"+name+".schema.json", "")
			if !bytes.Equal(served.Body.Bytes(), schema.JSON(name)) || served.Header().Get("Content-Type") != "application/schema+json" {
				t.Errorf("the schema %s is served as %d %s", name, served.Code, served.Header())
			}
			value, err := jsonschema.UnmarshalJSON(served.Body)
			if err != nil {
				t.Fatal(err)
			}
			if err := compiler.AddResource("urn:flowdrive:schema:"+name, value); err != nil {
				t.Fatal(err)
			}
		}
		used := map[string]bool{"task": true, "team": true, "user": true, "me": true, "app-password": true, "calendar-link": true, "hold": true, "scenario": true} // no resource: TestExamples tries it
		for _, test := range []struct {
			schema, path string
			as           string // admin where it is ""
			kind         string // of the answer: "" for one document, "list" for each of an array, "lines"
		}{
			{"schedule-entry", "/dav/Workflow/Schedule/" + f.entry + ".json", "", ""},
			{"schedule-entry", "/dav/Workflow/Schedule/.contents", "", "list"},
			{"occurrences", "/dav/Workflow/Schedule/" + f.entry + "/occurrences.json", "", ""},
			{"listing", "/dav/Workflow/Schedule/.ls", "", ""},
			{"listing", "/dav/Workflow/Cases/.ls", "", ""},
			{"listing", "/dav/Workflow/Routes/.ls", "", ""},
			{"listing", "/attachfs/.ls", "", ""},
			{"listing", "/dav/Account/AppPasswords/.ls", "", ""},
			{"listing", "/dav/Account/CalendarLinks/.ls", "", ""},
			{"listing", "/dav/Admin/Users/.ls", "", ""},
			{"listing", "/dav/Admin/Holds/.ls", "", ""},
			{"listing", "/dav/Admin/Audit/.ls", "", ""},
			{"route", "/dav/Workflow/Routes/copy.json", "", ""},
			{"route", "/dav/Workflow/Routes/.contents", "", "list"},
			{"case#form", "/dav/Workflow/Cases/" + f.id + ".json", "", ""},
			{"case#form", "/dav/Workflow/Cases/.contents", "", "list"},
			{"case#form", "/dav/Workflow/Archive/2012/11/" + f.past + ".json", "", ""},
			{"case#form", "/dav/Workflow/Archive/.contents", "", "list"},
			{"listing", "/dav/Workflow/Archive/.ls", "", ""},
			{"case#start", "/dav/Workflow/Cases/fire.json", "", ""},
			{"task#form", "/dav/Workflow/Cases/" + f.id + "/Actions/close.json", "", ""},
			{"task#form", "/dav/Workflow/Cases/" + f.id + "/Actions/comment.json", "", ""},
			{"task#form", "/dav/Workflow/Worklist/Offered/" + f.id + ".close.json", "", ""},
			{"task#form", "/dav/Workflow/Worklist/Offered/.contents", "", "list"},
			{"listing", "/dav/Workflow/Worklist/Offered/.ls", "", ""},
			{"timer#form", "/dav/Workflow/Cases/" + f.id + "/Timers/case.json", "", ""},
			{"timer#form", "/dav/Workflow/Cases/" + f.id + "/Timers/.contents", "", "list"},
			{"listing", "/dav/Workflow/Cases/" + f.id + "/Timers/.ls", "", ""},
			{"log", "/dav/Workflow/Cases/" + f.id + "/log.json", "", ""},
			{"delivery", "/dav/Workflow/Cases/" + s.delivering() + "/Outbox/.contents", "", "list"},
			{"status#overview", "/dav/Workflow/Status/overview.json", "", ""},
			{"status#week", "/dav/Workflow/Status/week.json", "", ""},
			{"status#late", "/dav/Workflow/Status/late.json", "", ""},
			{"status#refused", "/dav/Workflow/Status/refused.json", "", ""},
			{"status#entry", "/dav/Workflow/Status/schedule/" + f.entry + ".json", "", ""},
			{"status#case", "/dav/Workflow/Status/cases/" + f.id + ".json", "", ""},
			{"status#case", "/dav/Workflow/Status/cases/" + f.past + ".json", "", ""},
			{"status#done", "/dav/Workflow/Worklist/Done/.contents", "", "list"},
			{"status#team-task", "/dav/Workflow/Worklist/Team/ops/.contents", "", "list"},
			{"attachment", "/attachfs/.contents", "", "list"},
			{"attachment", "/attachfs/" + f.id + "/.contents", "", "list"},
			{"document", "/dav/Documents/.contents", "", "list"},
			{"document", "/dav/Documents/admin/.contents", "", "list"},
			{"listing", "/dav/Documents/admin/plans/.ls", "", ""},
			{"me#form", "/dav/Account/me.json", "", ""},
			{"me#form", "/dav/Account/me.json", "sam", ""},
			{"people", "/dav/Account/people.json", "sam", ""},
			{"server-status", "/dav/Admin/Status.json", "admin", ""},
			{"usage", "/dav/Admin/Usage.json", "admin", ""},
			{"node", "/dav/Admin/Nodes/.contents", "admin", "list"},
			{"session", "/dav/Account/Sessions/1.json", "", ""},
			{"session", "/dav/Admin/Sessions/.contents", "", "list"},
			{"listing", "/dav/Account/Sessions/.ls", "", ""},
			{"app-password#form", "/dav/Account/AppPasswords/phone.json", "", ""},
			{"app-password#form", "/dav/Account/AppPasswords/.contents", "", "list"},
			{"calendar-link#form", "/dav/Account/CalendarLinks/phone.json", "", ""},
			{"calendar-link#form", "/dav/Account/CalendarLinks/.contents", "", "list"},
			{"hook#form", "/dav/Workflow/Routes/bug/Hooks/pushes.json", "", ""},
			{"user#form", "/dav/Admin/Users/admin.json", "", ""},
			{"user#form", "/dav/Admin/Users/.contents", "", "list"},
			{"team#form", "/dav/Admin/Teams/.contents", "", "list"},
			{"hold#form", "/dav/Admin/Holds/quiet.json", "", ""},
			{"hold#form", "/dav/Admin/Holds/.contents", "", "list"},
			{"audit", "/dav/Admin/Audit/" + f.day + ".jsonl", "", "lines"},
			{"audit#day", "/dav/Admin/Audit/.contents", "", "list"},
			{"clock", "/clock", "sam", ""},
			{"event", "/events", "", "stream"},
			{"problem", "/dav/Admin/", "sam", ""},
			{"problem", "/dav/", "nobody", ""},
			{"problem", "/dav/Workflow/Cases/.contents?limit=x", "sam", ""},
		} {
			name, _, _ := strings.Cut(test.schema, "#")
			used[name] = true
			compiled, err := compiler.Compile("urn:flowdrive:schema:" + test.schema)
			if err != nil {
				t.Fatal(err)
			}
			if test.as == "" {
				test.as = "admin"
			}
			w := s.as(test.as, "GET", test.path, "")
			documents := strings.Split(strings.TrimSuffix(w.Body.String(), "\n"), "\n")
			switch test.kind {
			case "lines":
			case "stream":
				documents = s.told(f)
			default:
				documents = []string{w.Body.String()}
			}
			checked := 0
			for _, text := range documents {
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
				if err != nil {
					t.Fatalf("%s: %d %v: %s", test.path, w.Code, err, text)
				}
				values, isList := value.([]any)
				if !isList || test.kind != "list" {
					values = []any{value}
				}
				for _, v := range values {
					checked++
					if err := compiled.Validate(v); err != nil {
						t.Errorf("%s is not as %s says: %v\n%v", test.path, test.schema, err, v)
					}
				}
			}
			if checked == 0 || test.kind == "lines" && checked < 5 {
				t.Errorf("%s: %d values", test.path, checked)
			}
		}
		for folder, name := range map[string]string{"AppPasswords": "app-password", "CalendarLinks": "calendar-link"} {
			made := s.must("PUT", "/dav/Account/"+folder+"/tablet.json", `{}`)
			compiled, err := compiler.Compile("urn:flowdrive:schema:" + name + "#made")
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(made.Body)
			if err == nil {
				err = compiled.Validate(value)
			}
			if err != nil {
				t.Error(err)
			}
		}
		if got := slices.Sorted(maps.Keys(used)); !slices.Equal(got, schema.Names()) {
			t.Errorf("tried: %q; there are %q", got, schema.Names())
		}
	})
}

// TestOpenAPIAndServer asks what the OpenAPI document describes: each
// operation answers with a status and a media type that it lists, a body of
// the schema that it names, and the headers that it promises; what it does
// not list is refused.
func TestOpenAPIAndServer(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		f := s.furnish()
		description := s.as("", "GET", "/openapi.json", "")
		if description.Code != http.StatusOK || !bytes.Equal(description.Body.Bytes(), schema.OpenAPI()) {
			t.Fatalf("the description: %d", description.Code)
		}
		o := newOpenAPI(t, description.Body.Bytes())
		bodies := map[string]string{
			"/dav/Workflow/Schedule/{name}":                  `{"type": "cron", "route": "bug", "hour": "22"}`,
			"/dav/Workflow/Routes/{route}.yaml":              "states: {a: {type: start}}\nactions: {begin: {trigger: init}}\n",
			"/dav/Workflow/Routes/{route}.json":              `{"states": {"a": {"type": "start"}}, "actions": {"begin": {"trigger": "init"}}}`,
			"/dav/Workflow/Cases/{name}":                     `{"title": "Smoke"}`,
			"/dav/Workflow/Cases/{id}/Actions/{action}.json": `{"comment": "Still warm."}`,
			"/dav/Workflow/Worklist/{list}/{task}.json":      `{"do": "accept"}`,
			"/dav/Workflow/Cases/{id}/Timers/{timer}.json":   `{"limit": 300}`,
			"/dav/Workflow/Cases/{id}/Labels/{label}":        "bye",
			"/attachfs/{file}":                               "1,2,3",
			"/attachfs/{id}/{file}":                          "4,5",
			"/clock":                                         `{"advance": "PT1H"}`,
		}
		for _, path := range o.paths() {
			target := f.target(path)
			body, given := bodies[path]
			if !given {
				body = `{}`
			}
			for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "POST", "DELETE"} {
				if method == "DELETE" && strings.HasPrefix(path, "/dav/Admin/Users/{") {
					continue // sam has still to do
				}
				to := target
				if method == "PUT" && path == "/attachfs/{file}" {
					to = "/attachfs/other.csv"
				}
				var header []string
				if method == "POST" {
					header = []string{"Content-Type", "application/json"}
				}
				text := ""
				if method == "PUT" || method == "POST" {
					text = body
				}
				if err := o.judge(path, method, s.as("admin", method, to, text, header...)); err != nil {
					t.Errorf("%s %s: %v", method, to, err)
				}
				if text == "" {
					continue
				}
				if method == "PUT" {
					query := "?dryRun"
					if strings.Contains(path, "{route}/{file}") {
						query = "?.dryRun&.title=x&a=1"
					}
					if err := o.judge(path, method, s.as("admin", method, to+query, text)); err != nil {
						t.Errorf("a dry run of %s: %v", to, err)
					}
				}
				if err := o.judge(path, method, s.as("admin", method, to, text[:1], append(header, "If-None-Match", "*", "If-Match", "*")...)); err != nil {
					t.Errorf("%s %s on a condition that cannot hold: %v", method, to, err)
				}
			}
			if err := o.judge(path, "GET", s.as("admin", "GET", target, "", "Range", "bytes=0-0")); err != nil {
				t.Errorf("GET of a part of %s: %v", target, err)
			}
			if err := o.judge(path, "GET", s.as("nobody", "GET", target, "")); err != nil {
				t.Errorf("GET %s without a log-in: %v", target, err)
			}
			if err := o.judge(path, "GET", s.as("admin", "GET", target+"?nonsense=1", "")); err != nil {
				t.Errorf("GET %s with a query: %v", target, err)
			}
		}
	})
}

// TestOpenAPIAndCreation does the same for what creates something, with and
// without its form in the answer.
func TestOpenAPIAndCreation(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		f := s.furnish()
		o := newOpenAPI(t, schema.OpenAPI())
		for _, test := range []struct{ path, target, body string }{
			{"/dav/Workflow/Schedule/{name}", "/dav/Workflow/Schedule/%s.json", `{"type": "cron", "route": "bug", "hour": "22"}`},
			{"/dav/Workflow/Schedule/{name}", "/dav/Workflow/Schedule/%s.yaml", "type: cron\nroute: bug\nhour: '22'\n"},
			{"/dav/Workflow/Routes/{route}.yaml", "/dav/Workflow/Routes/%s.yaml", "states: {a: {type: start}}\nactions: {begin: {trigger: init}}\n"},
			{"/dav/Workflow/Routes/{route}.json", "/dav/Workflow/Routes/%s-j.json", `{"states": {"a": {"type": "start"}}, "actions": {"begin": {"trigger": "init"}}}`},
			{"/dav/Workflow/Cases/{name}", "/dav/Workflow/Cases/%s.json", `{"route": "bug"}`},
			{"/dav/Workflow/Cases/{id}/Labels/{label}", "/dav/Workflow/Cases/" + f.id + "/Labels/%s", "hello"},
			{"/dav/Workflow/Routes/{route}/{file}", "/dav/Workflow/Routes/bug/%s.txt", "1,2"},
			{"/dav/Documents/{context}/{path}", "/dav/Documents/admin/plans/%s.csv", "1,2"},
			{"/attachfs/{file}", "/attachfs/%s.csv", "1,2"},
			{"/attachfs/{id}/{file}", "/attachfs/" + f.id + "/%s.csv", "1,2"},
			{"/dav/Account/AppPasswords/{name}", "/dav/Account/AppPasswords/%s.json", `{}`},
			{"/dav/Account/CalendarLinks/{name}", "/dav/Account/CalendarLinks/%s.json", `{}`},
			{"/dav/Admin/Users/{party}.json", "/dav/Admin/Users/u-%s.json", `{}`},
			{"/dav/Admin/Teams/{party}.json", "/dav/Admin/Teams/t-%s.json", `{}`},
			{"/dav/Admin/Holds/{name}", "/dav/Admin/Holds/%s.json", `{"group": "night"}`},
		} {
			for name, headers := range map[string][]string{"plain": nil, "whole": {"Prefer", "return=representation"}, "once": {"Idempotency-Key", test.path + test.target}} {
				target := fmt.Sprintf(test.target, name)
				w := s.as("admin", "PUT", target, test.body, headers...)
				if err := o.judge(test.path, "PUT", w); err != nil || w.Code != http.StatusCreated {
					t.Errorf("PUT %s: %d %v", target, w.Code, err)
				}
			}
		}
	})
}

// openAPI is the document that is tried.
type openAPI struct {
	doc      *document.Node
	compiler *jsonschema.Compiler
}

const openAPIAt = "https://flowdrive.invalid/openapi.json"

func newOpenAPI(t *testing.T, text []byte) *openAPI {
	t.Helper()
	doc, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &openAPI{doc: doc, compiler: jsonschema.NewCompiler()}
	if err := o.compiler.AddResource(openAPIAt, value); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *openAPI) paths() (out []string) {
	for _, m := range o.doc.Get("paths").Members {
		out = append(out, m.Key)
	}
	return out
}

// operations returns the method and path of each operation.
func (o *openAPI) operations() (out []string) {
	for _, p := range o.paths() {
		for _, m := range members(o.doc.At("paths", p)) {
			if method := strings.ToUpper(m); slices.Contains([]string{"GET", "PUT", "POST", "DELETE", "OPTIONS"}, method) {
				out = append(out, method+" "+p)
			}
		}
	}
	return out
}

// follow returns what a reference names, and the pointer to it.
func (o *openAPI) follow(n *document.Node, pointer string) (*document.Node, string) {
	if ref := n.Get("$ref"); ref != nil {
		path := strings.TrimPrefix(ref.Text, "#/")
		return o.doc.At(strings.Split(path, "/")...), "#/" + path
	}
	return n, pointer
}

// judge compares an answer with the document.
func (o *openAPI) judge(path, method string, w *httptest.ResponseRecorder) error {
	key := strings.ToLower(method)
	if method == http.MethodHead {
		key = "get"
	}
	item := o.doc.At("paths", path)
	op := item.Get(key)
	if op == nil {
		switch w.Code {
		case http.StatusMethodNotAllowed, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
			http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusNotImplemented:
			return nil
		}
		if method == http.MethodOptions && w.Code == http.StatusOK {
			return nil // said of all in one place
		}
		return fmt.Errorf("%d for what is not described", w.Code)
	}
	code := strconv.Itoa(w.Code)
	answer := op.At("responses", code)
	if answer == nil {
		return fmt.Errorf("the status %s is not described: %s", code, w.Body)
	}
	pointer := "#/paths/" + escape(path) + "/" + key + "/responses/" + code
	answer, pointer = o.follow(answer, pointer)
	if w.Code < http.StatusMultipleChoices && w.Code != http.StatusOK || w.Code == http.StatusUnauthorized {
		for _, h := range members(answer.Get("headers")) {
			switch h {
			case "ETag", "Idempotent-Replayed": // not on every answer
			default:
				if len(w.Header().Values(h)) == 0 && w.Header()[h] == nil {
					return fmt.Errorf("%s without the header %s", code, h)
				}
			}
		}
	}
	content := answer.Get("content")
	if method == http.MethodHead || w.Body.Len() == 0 {
		return nil
	}
	if content == nil {
		return fmt.Errorf("%s with a body that is not described: %s", code, w.Body)
	}
	kind, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if err != nil {
		return err
	}
	if content.Get(kind) == nil {
		if kind = "*/*"; content.Get(kind) == nil {
			return fmt.Errorf("%s as %s is not described", code, w.Header().Get("Content-Type"))
		}
	}
	if kind != "application/json" && kind != "application/problem+json" {
		return nil
	}
	return o.validate(pointer+"/content/"+escape(kind)+"/schema", w.Body.Bytes())
}

func (o *openAPI) validate(pointer string, body []byte) error {
	compiled, err := o.compiler.Compile(openAPIAt + pointer)
	if err != nil {
		return err
	}
	if !json.Valid(body) {
		return errors.New("the body is no JSON")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

func members(n *document.Node) (keys []string) {
	if n != nil {
		for _, m := range n.Members {
			keys = append(keys, m.Key)
		}
	}
	return keys
}

// escape makes a key a part of a JSON pointer in a URL.
func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "*", "%2A").Replace(key)
}
