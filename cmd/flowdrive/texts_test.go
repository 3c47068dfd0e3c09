package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// scanRoute decides on the words of a text of any length.
const scanRoute = `
xattrs: {urgent: {type: boolean}}
roles: {clerk: {assign: [starter]}}
states: {in: {type: start}, hot: {}, normal: {}}
actions:
  receive:
    trigger: init
    onFire: [{text: {from: InputMessage, contains: [urgent, asap], set: urgent, ignoreCase: true}}]
    decide: 'xattr.urgent ? "yes" : "no"'
    outputs: {"yes": hot, "no": normal}
  wait: {in: [hot, normal], role: clerk}
`

// copyRoute does the same as people do first: it copies the text into an XATTR.
const copyRoute = `
roles: {clerk: {assign: [starter]}}
states: {in: {type: start}, hot: {}, normal: {}}
actions:
  receive: {trigger: init}
  scan:
    trigger: auto
    in: [in]
    onFire: [SET]
    decide: 'DECIDE'
    outputs: {"yes": hot, "no": normal}
  wait: {in: [hot, normal], role: clerk}
`

// TestLongTexts: a text of any length is decided upon rightly, or not at all.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	onFolder(t, t.TempDir(), map[string]string{}, func(s *inProcess) {
		drop := func(route, content string, header ...string) (status, pending, log string) {
			w := s.must("PUT", "/dav/Workflow/Routes/"+route+"/letter.txt", content, header...)
			at := "/dav/Workflow/Cases/" + strings.Split(w.Header().Get("Location"), "/")[5]
			c := decoded[struct {
				Status         string
				State          string
				PendingActions []string
			}](s, s.must("GET", at+".json", ""))
			return c.State + " " + c.Status, strings.Join(c.PendingActions, " "), s.must("GET", at+"/log.txt", "").Body.String()
		}
		s.must("PUT", "/dav/Workflow/Routes/scan.yaml", scanRoute)
		long := strings.Repeat("a", 3_000_000)
		for _, test := range []struct{ text, mediaType, want string }{
			{long + " Urgent", "text/plain", "active hot"},
			{long, "text/plain", "active normal"},
			{"do it ASAP", "text/plain", "active hot"},
			{strings.Repeat("a", 900_000) + " urgent", "text/plain", "active hot"},
			{"", "text/plain", "active normal"},
			{"u\x00r\x00g\x00e\x00n\x00t\x00", "text/plain; charset=utf-16le", "active hot"},
			{strings.Repeat("a\x00", 1_500_000) + "u\x00r\x00g\x00e\x00n\x00t\x00", "text/plain; charset=utf-16le", "active hot"},
			{long, "text/plain; charset=klingon", "failed "},
			{"x", "text/plain; charset=klingon", "failed "},
		} {
			if got, _, log := drop("scan", test.text, "Content-Type", test.mediaType); got != test.want {
				t.Errorf("%d bytes of %s: got %s, want %s:\n%s", len(test.text), test.mediaType, got, test.want, log)
			}
		}

		for _, test := range []struct{ set, decide, text, said string }{
			{`{set: {text: "$InputMessage;"}}`, `xattr.text.contains("urgent") ? "yes" : "no"`, long + " urgent", "the step text can search it"},
			{`{set: {text: "$InputMessage;"}}`, `xattr.text.contains("urgent") ? "yes" : "no"`, long[:900_000] + " urgent", "a text of 900007 bytes is too long"},
			{`{set: {text: "$Inputmessage;"}}`, `xattr.text.contains("urgent") ? "yes" : "no"`, "urgent", "these labels have no value here: $Inputmessage;"},
			{`{set: {text: "$__XATTR_subject__;"}}`, `xattr.text.contains("urgent") ? "yes" : "no"`, "urgent", "these labels have no value here: $__XATTR_subject__;"},
			{`{set: {a: 1}}`, `input != null ? "yes" : "no"`, `"` + long + `"`, `the message \"InputMessage\" is too long for expressions`},
			{`{set: {a: 1}}`, `"InputMessage" in message ? "yes" : "no"`, `"` + long + `"`, ""},
			{`{csv: {from: InputMessage, to: Rows}}`, `"yes"`, long, "is longer than 1 MiB, which is the most that this step can read"},
			{`{jq: {from: InputMessage, filter: ., to: Rows}}`, `"yes"`, long, `jq: the message \"InputMessage\" is longer than 1 MiB`},
			{`{jq: {from: Nothing, filter: ., to: Rows}}`, `"yes"`, "", "jq: there is no message \"Nothing\"."},
			{`{csv: {from: InputMessage, to: Rows}}`, `"yes"`, "", `csv: the message \"InputMessage\" is empty.`},
			{`{csv: {from: InputMessage, to: Rows, min: 1}}`, `"yes"`, "name,amount\n", "which has no row below the names of the columns, and must have at least 1"},
			{`{csv: {from: InputMessage, to: Rows}}`, `"yes"`, "name,amount\nann\n", "line 2: it has more or fewer columns"},
			{`{csv: {from: InputMessage, to: Rows}}`, `"yes"`, "name\n\xff\xfe\n", "it is not UTF-8"},
			{`{csv: {from: Nothing, to: Rows}}`, `"yes"`, "", "there is no message"},
			{`{text: {from: InputMessage, contains: ["$__PARENTPID__;"], set: a}}`, `"yes"`, "x", "would be found everywhere"},
		} {
			s.must("PUT", "/dav/Workflow/Routes/copy.yaml", strings.NewReplacer("SET", test.set, "DECIDE", test.decide).Replace(copyRoute))
			got, pending, log := drop("copy", test.text)
			if test.said == "" {
				continue
			}
			if got != "failed in" || pending != "scan" || !strings.Contains(strings.ReplaceAll(log, `"InputMessage"`, `\"InputMessage\"`), test.said) {
				t.Errorf("%s, %s: got %s, %s:\n%s", test.set, test.decide, got, pending, log)
			}
		}
	})
}

// csvRoute adds up what a table has.
const csvRoute = `
roles: {clerk: {assign: [starter]}}
states: {in: {type: start}, large: {}, small: {}}
actions:
  receive:
    trigger: init
    onFire:
      - csv: {from: InputMessage, to: Rows}
      - jq: {from: Rows, filter: 'map(.amount | tonumber) | add', to: Sum}
    decide: 'message["Sum"] > 100 ? "yes" : "no"'
    outputs: {"yes": large, "no": small}
  wait: {in: [large, small], role: clerk}
`

// TestTables: a dropped table becomes rows that can be decided upon, whatever its
// delimiter and charset.
func TestTables(t *testing.T) {
	t.Parallel()
	onFolder(t, t.TempDir(), map[string]string{}, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/table.yaml", csvRoute)
		for _, test := range []struct{ text, mediaType, status, rows string }{
			{"name,amount\nann,60\nbob,50\n", "text/csv", "large", `[{"name":"ann","amount":"60"},{"name":"bob","amount":"50"}]`},
			{"name;amount\r\nJ\xfcrgen;60\r\n", "text/csv; charset=windows-1252", "small", `[{"name":"Jürgen","amount":"60"}]`},
		} {
			w := s.must("PUT", "/dav/Workflow/Routes/table/t.csv", test.text, "Content-Type", test.mediaType)
			at := "/dav/Workflow/Cases/" + strings.Split(w.Header().Get("Location"), "/")[5]
			if c := decoded[struct{ Status string }](s, s.must("GET", at+".json", "")); c.Status != test.status {
				t.Errorf("%q: got %s, want %s", test.text, c.Status, test.status)
			}
			if got := s.must("GET", at+"/Labels/Rows", "").Body.String(); got != test.rows {
				t.Errorf("%q: got %s, want %s", test.text, got, test.rows)
			}
		}
		w := s.must("PUT", "/dav/Workflow/Routes/table/t.csv", "name,amount\nann\n", "Content-Type", "text/csv")
		at := "/dav/Workflow/Cases/" + strings.Split(w.Header().Get("Location"), "/")[5]
		if log := s.must("GET", at+"/log.txt", "").Body.String(); !strings.Contains(log, "line 2: it has more or fewer columns") {
			t.Errorf("a row that is short: %s", log)
		}
		if w := s.as("admin", "PUT", "/dav/Workflow/Routes/wrong.yaml", strings.Replace(csvRoute, "to: Rows}", `to: Rows, delimiter: ";;"}`, 1)); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("a delimiter of two characters: %d %s", w.Code, w.Body)
		}
	})
}

// decoded returns the JSON of an answer.
func decoded[T any](s *inProcess, w *httptest.ResponseRecorder) (document T) {
	s.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		s.Fatalf("%v: %s", err, w.Body)
	}
	return document
}
