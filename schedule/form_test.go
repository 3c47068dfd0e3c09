package schedule_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/schedule"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The complete forms of every type, new and after a firing: the order of
// keys and the fields of a type are those of docs/contract/schedule.md.
func TestForm(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	for _, doc := range sampleDocs {
		e := entry(t, doc, friday, nil)
		e.Route, e.ContextID, e.Context = "collector", 10100, "adam"
		got.Write(e.Form())
		if step := e.Step(e.NextIteration); step.Instant.IsZero() || step.Ended {
			continue
		}
		e.LastCase, e.LastError = 17, ""
		got.Write(e.Form())
	}
	golden := filepath.Join("testdata", "forms.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

// The example of docs/contract/schedule.md#1-the-entry, field by field.
func TestFormOfTheExample(t *testing.T) {
	t.Parallel()
	e := entry(t, `{"type": "cron", "routeId": 70470079, "route": "register-collector", "contextId": 15211340,
		"weekday": "3,6", "hour": "23", "minute": "0", "xattrDict": {"start": "$__MONTHSTART__;", "end": "$__TODAY__;"}}`, friday, nil)
	e.IterationsPerformed = 7
	want := string(document.Indent([]byte(`{"UUID":"{c658993a-dcf1-410b-8003-5dc134feb564}","type":"cron","routeId":70470079,"route":"register-collector",` +
		`"contextId":15211340,"context":null,"priority":200,` +
		`"year":"*","month":"*","day":"*","week":"*","dayOfWeek":"3,6","hour":"23","minute":"0","second":"0",` +
		`"xattrDict":{"start":"$__MONTHSTART__;","end":"$__TODAY__;"},"attachmentUUID":null,"document":null,` +
		`"nextIteration":"2012-11-11T23:00:00","next":"2012-11-11T23:00:00Z","iterationsPerformed":7,"iterationsRemaining":-1,"repeat":null,` +
		`"timezone":"UTC","misfire":"once","graceSeconds":58,"overlap":"allow","jitterSeconds":0,"start":null,"end":null,` +
		`"exclude":[],"excludeCalendar":null,"dstGap":"shift","dstOverlap":"first","heartbeat":null,"paused":false,"note":"","title":"",` +
		`"description":"At 23:00 on Thursday and Sunday","warnings":[],` +
		`"upcoming":["2012-11-11T23:00:00","2012-11-15T23:00:00","2012-11-18T23:00:00","2012-11-22T23:00:00","2012-11-25T23:00:00"],` +
		`"lastIteration":null,"lastCase":null,"lastError":null,"created":"2012-11-09T12:34:56","modified":"2012-11-09T12:34:56"}` + "\n")))
	if diff := cmp.Diff(want, string(e.Form())); diff != "" {
		t.Error("(-want +got):", diff)
	}
	back, err := schedule.ReadForm([]byte(want), zoneNamed)
	if err != nil || string(back.Form()) != want {
		t.Errorf("read back: got %s, %v", back.Form(), err)
	}
}

func TestReadForm(t *testing.T) {
	t.Parallel()
	for _, doc := range sampleDocs {
		e := entry(t, doc, friday, nil)
		e.LastError = "line\nbreak, \"quotes\" and a tab\t"
		got, err := schedule.ReadForm(e.Form(), zoneNamed)
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		if diff := cmp.Diff(e, got, cmpopts.IgnoreUnexported(schedule.Entry{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-written +read): %s", doc, diff)
		}
		if !document.Equal(mustParse(t, e.Form()), mustParse(t, got.Form())) {
			t.Errorf("%s: form changed from %s to %s", doc, e.Form(), got.Form())
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, e.Form(), "\r\n", "\t"); err != nil {
			t.Fatal(err)
		}
		later := strings.Replace(indented.String(), "{", `{"later": [{"a": [1, null, true, "x\""]}, -1.5e3, false, []], "more": {}, `, 1)
		if got, err := schedule.ReadForm([]byte(later), zoneNamed); err != nil || !bytes.Equal(got.Form(), e.Form()) {
			t.Errorf("a form with white space and the keys of a later version: %v", err)
		}
	}
}

func mustParse(tb testing.TB, data []byte) *document.Node {
	tb.Helper()
	n, err := document.ParseJSON(data)
	if err != nil {
		tb.Fatalf("%s: %v", data, err)
	}
	return n
}

func TestReadFormErrors(t *testing.T) {
	t.Parallel()
	whole := string(entry(t, sampleDocs[1], friday, nil).Form())
	docs := []string{
		"", "null", "[]", "{}", "{", whole + "x", whole + whole, strings.Replace(whole, `"type"`, `"typo"`, 1), strings.Replace(whole, `2010-01-01`, `2010-13-01`, 1),
		strings.Replace(whole, `"priority": 200`, `"priority": "200"`, 1), strings.Replace(whole, `"priority": 200`, `"priority": 2e2`, 1), strings.Replace(whole, `: 1e3`, `: 1e`, 1), strings.Replace(whole, `: true`, `: treu`, 1),
		strings.Replace(whole, `{c658993a`, `{x658993a`, 1), strings.Replace(whole, `[]`, `[,]`, 1), strings.Replace(whole, `\"`, `\x`, 1), strings.Replace(whole, `null`, `nul`, 1),
		`{"x":` + strings.Repeat("[", 100_000), strings.Replace(string(entry(t, sampleDocs[3], friday, nil).Form()), `"hour": "23"`, `"hour": "24"`, 1),
	}
	for i := 0; i < len(whole)-3; i += 7 {
		docs = append(docs, whole[:i])
	}
	for _, doc := range docs {
		if _, err := schedule.ReadForm([]byte(doc), zoneNamed); !errs.Is(err, errs.Internal) {
			t.Errorf("%.200q: got %v, want an error of kind %s", doc, err, errs.Internal)
		}
	}
}

func TestXAttrName(t *testing.T) {
	t.Parallel()
	if got := (schedule.XAttr{Key: " Start Date"}).Name(); got != "startdate" {
		t.Errorf("got %q", got)
	}
}
