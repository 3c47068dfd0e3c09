package schedule_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flowdrive/internal/document"
	"flowdrive/schedule"
)

// read reads a document and returns the faults with their pointers and
// codes, "/date range".
func read(tb testing.TB, doc string, now time.Time, old *schedule.Entry) (*schedule.Entry, []string) {
	tb.Helper()
	n, err := document.ParseJSON([]byte(doc))
	if err != nil {
		tb.Fatalf("%s: %v", doc, err)
	}
	var faults document.Faults
	e := schedule.Read(document.Root(n, &faults), now, old, zoneNamed)
	var out []string
	for _, f := range faults.List() {
		if f.Detail == "" || strings.Contains(f.Detail, "%!") {
			tb.Errorf("%s: fault without a proper detail: %v", doc, f)
		}
		out = append(out, f.Pointer+" "+string(f.Code))
	}
	return e, out
}

// entry reads a document without faults, as a new entry or in place of old.
func entry(tb testing.TB, doc string, now time.Time, old *schedule.Entry) *schedule.Entry {
	tb.Helper()
	e, faults := read(tb, doc, now, old)
	if len(faults) > 0 {
		tb.Fatalf("%s: %v", doc, faults)
	}
	if old == nil {
		e.UUID = "c658993adcf1410b80035dc134feb564"
	}
	return e
}

// with returns a document of the type with further members.
func with(kind, members string) string {
	if members != "" {
		members = ", " + members
	}
	return fmt.Sprintf(`{"type": %q, "routeId": 1158480%s}`, kind, members)
}

const (
	everyTwo = `"minutes": 2`
	nightly  = `"hour": "23", "minute": "0"`
)

// A request of a client that knows only the fields of OpenGroupware Coils.
func TestReadFewFields(t *testing.T) {
	t.Parallel()
	e := entry(t, `{"routeId":1158480,"priority":300,"repeat":1,"type":"interval","minutes":2}`, friday, nil)
	if e.RouteID != 1158480 || e.Priority != 300 || e.Repeat != 1 || e.Interval != 2*time.Minute {
		t.Errorf("got %+v", e)
	}
	if e.IterationsPerformed != 0 || e.IterationsRemaining != 1 {
		t.Errorf("got %d performed, %d remaining", e.IterationsPerformed, e.IterationsRemaining)
	}
	if want := friday.Add(2 * time.Minute); e.NextIteration != want || len(e.Upcoming) != 1 {
		t.Errorf("got %v, %v, want %v alone", e.NextIteration, e.Upcoming, want)
	}
}

func TestReadDefaults(t *testing.T) {
	t.Parallel()
	e := entry(t, with("cron", `"weekday": "3, 6", "hour": 23, "minute": "00"`), friday.Add(789*time.Millisecond), nil)
	want := &schedule.Entry{
		UUID: "c658993adcf1410b80035dc134feb564", Type: schedule.TypeCron, RouteID: 1158480, Priority: 200,
		Cron:                schedule.CronFields{Year: "*", Month: "*", Day: "*", Week: "*", Weekday: "3,6", Hour: "23", Minute: "0"},
		NextIteration:       at("2012-11-11T23:00:00"),
		IterationsRemaining: -1,
		Policies: schedule.Policies{
			Timezone: "UTC", Misfire: schedule.MisfireOnce, GraceSeconds: 58, Overlap: schedule.OverlapAllow,
			DSTGap: schedule.DSTGapShift, DSTOverlap: schedule.DSTOverlapFirst,
		},
		Description: "At 23:00 on Thursday and Sunday",
		Upcoming: []time.Time{
			at("2012-11-11T23:00:00"), at("2012-11-15T23:00:00"), at("2012-11-18T23:00:00"), at("2012-11-22T23:00:00"), at("2012-11-25T23:00:00"),
		},
		Created: friday, Modified: friday,
	}
	if diff := cmp.Diff(want, e, cmpopts.IgnoreUnexported(schedule.Entry{})); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestReadFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ doc, want string }{
		{`[]`, " type"},
		{`null`, " type"},
		{`{}`, "/type required, /routeId required"},
		{`{"type": null, "route": null}`, "/type required, /routeId required"},
		{`{"type": "weekly", "route": "x"}`, "/type range"},
		{`{"type": 5, "route": "x"}`, "/type type"},

		// What is created.
		{with("interval", everyTwo+`, "priority": 65536`), "/priority range"},
		{with("interval", everyTwo+`, "priority": -1`), "/priority range"},
		{with("interval", everyTwo+`, "priority": true`), "/priority type"},
		{with("interval", everyTwo+`, "priority": "high"`), "/priority type"},
		{with("interval", everyTwo+`, "priority": 1.5`), "/priority type"},
		{`{"type": "interval", "minutes": 2, "routeId": true}`, "/routeId type"},
		{`{"type": "interval", "minutes": 2, "routeId": 0}`, "/routeId range"},
		{`{"type": "interval", "minutes": 2, "routeId": 9007199254740992}`, "/routeId range"},
		{`{"type": "interval", "minutes": 2, "route": ""}`, "/route format"},
		{`{"type": "interval", "minutes": 2, "route": 7}`, "/route type"},
		{with("interval", everyTwo+`, "contextId": 0`), "/contextId range"},
		{with("interval", everyTwo+`, "context": 5`), "/context type"},
		{with("interval", everyTwo+`, "context": ""`), "/context format"},

		// Fields that are not known, or not of this type.
		{with("interval", everyTwo+`, "minuts": 2`), "/minuts unknown-field"},
		{with("cron", nightly+`, "minutes": 2`), "/minutes unknown-field"},
		{with("simple", `"date": "2013-01-01", "spec": "@daily"`), "/spec unknown-field"},
		{with("interval", everyTwo+`, "a/b~c": 2`), "/a~1b~0c unknown-field"},
		{with("cron", nightly+`, "date": "2013-01-01"`), "/date unknown-field"},
		{with("crontab", `"spec": "@daily", "hour": 1`), "/hour unknown-field"},
		{with("interval", everyTwo+`, "do": "trigger"`), "/do unknown-field"},

		// repeat.
		{with("interval", everyTwo+`, "repeat": 0`), "/repeat range"},
		{with("interval", everyTwo+`, "repeat": -1`), "/repeat range"},
		{with("interval", everyTwo+`, "repeat": false`), "/repeat type"},
		{with("simple", `"date": "2013-01-01", "repeat": 2`), "/repeat range"},
		{with("simple", `"date": "2013-01-01", "repeat": 0`), "/repeat range"},

		// XATTRs.
		{with("interval", everyTwo+`, "xattrDict": []`), "/xattrDict type"},
		{with("interval", everyTwo+`, "xattrDict": {"a": null, "b": [], "c": {}}`), "/xattrDict/a type, /xattrDict/b type, /xattrDict/c type"},
		{with("interval", everyTwo+`, "xattrDict": {"a": 1e400, "b": -1e400, "c": 1e308, "d": 1e-400}`), "/xattrDict/a range, /xattrDict/b range"},
		{with("interval", everyTwo+`, "xattrDict": {"Start Day": 1, "startday": 2}`), "/xattrDict/startday conflict"},
		{with("interval", everyTwo+`, "title": "`+strings.Repeat("é", 501)+`", "note": "`+strings.Repeat("x", 10_001)+`"`), "/note range, /title range"},
		{with("interval", everyTwo+`, "title": "a\nb", "note": "a\u0000b"`), "/note format, /title format"},
		{with("interval", everyTwo+`, "title": "a\u0085b", "note": 5`), "/note type, /title format"},
		{with("interval", everyTwo+`, "xattrDict": {"": 1, " ": 2, "ä": 3, "a:b": 4, "a/b": 5}`), "/xattrDict/ format, /xattrDict/  format, /xattrDict/ä format, /xattrDict/a:b format, /xattrDict/a~1b format"},
		{with("interval", everyTwo+`, "xattrDict": {"`+strings.Repeat("x", 128)+`": 1}`), "/xattrDict/" + strings.Repeat("x", 128) + " format"},

		// The input message.
		{with("interval", everyTwo+`, "attachmentUUID": "x"`), "/attachmentUUID format"},
		{with("interval", everyTwo+`, "attachmentUUID": 5`), "/attachmentUUID type"},
		{with("interval", everyTwo+`, "attachmentUUID": "{0f6bd804a4f14cf6a2807dad625e2bb1"`), "/attachmentUUID format"},
		{with("interval", everyTwo+`, "attachmentUUID": "0f6bd804a-4f14-cf6-a280-7dad625e2bb1"`), "/attachmentUUID format"},
		{with("interval", everyTwo+`, "attachmentUUID": "0f6bd804a4f14cf6a2807dad625e2bbg"`), "/attachmentUUID format"},
		{with("interval", everyTwo+`, "document": 5`), "/document type"},
		{with("interval", everyTwo+`, "document": ""`), "/document format"},
		{with("interval", everyTwo+`, "document": "/dav/Documents/%00"`), "/document format"},
		{with("interval", everyTwo+`, "document": "/dav/Documents/%ff"`), "/document format"},
		{with("interval", everyTwo+`, "document": "/dav/Documents/a", "attachmentUUID": "0f6bd804a4f14cf6a2807dad625e2bb1"`), "/document conflict"},

		// Policies.
		{with("cron", nightly+`, "timezone": "Local"`), "/timezone format"},
		{with("cron", nightly+`, "timezone": ""`), "/timezone format"},
		{with("cron", nightly+`, "timezone": "Europe/"`), "/timezone format"},
		{with("cron", nightly+`, "timezone": "../etc/passwd"`), "/timezone format"},
		{with("cron", nightly+`, "timezone": 1`), "/timezone type"},
		{with("cron", nightly+`, "timezone": "Europe/Berlin "`), "/timezone format"},
		{with("interval", everyTwo+`, "timezone": "Europe/Berlin"`), "/timezone conflict"},
		{with("simple", `"date": "2013-01-01", "timezone": "Europe/Berlin"`), "/timezone conflict"},
		{with("cron", nightly+`, "misfire": "twice"`), "/misfire range"},
		{with("cron", nightly+`, "misfire": 1`), "/misfire type"},
		{with("cron", nightly+`, "overlap": "bufferone"`), "/overlap range"},
		{with("cron", nightly+`, "dstGap": "first"`), "/dstGap range"},
		{with("cron", nightly+`, "dstOverlap": "shift"`), "/dstOverlap range"},
		{with("cron", nightly+`, "graceSeconds": -1`), "/graceSeconds range"},
		{with("cron", nightly+`, "graceSeconds": 86401`), "/graceSeconds range"},
		{with("cron", nightly+`, "graceSeconds": true`), "/graceSeconds type"},
		{with("cron", nightly+`, "jitterSeconds": 3601`), "/jitterSeconds range"},
		{with("cron", nightly+`, "start": "soon"`), "/start format"},
		{with("cron", nightly+`, "end": []`), "/end type"},
		{with("cron", nightly+`, "start": "2013-01-02", "end": "2013-01-01"`), "/end conflict"},
		{with("cron", nightly+`, "exclude": "2013-01-01"`), "/exclude type"},
		{
			with("cron", nightly+`, "exclude": ["2013-01-32", "2013-01-01T00:00", 5, {"from": "2013-01-01"}, {"from": "2013-01-02", "to": "2013-01-02", "x": 1}]`),
			"/exclude/0 range, /exclude/1 format, /exclude/2 type, /exclude/3/to required, /exclude/4/x unknown-field, /exclude/4/to range",
		},
		{with("cron", nightly+`, "excludeCalendar": 5`), "/excludeCalendar type"},
		{with("cron", nightly+`, "paused": "true"`), "/paused type"},
		{with("cron", nightly+`, "note": 5`), "/note type"},
		{with("cron", nightly+`, "title": {}`), "/title type"},

		// simple.
		{with("simple", ""), "/date required"},
		{with("simple", `"date": null`), "/date required"},
		{with("simple", `"date": "x"`), "/date format"},
		{with("simple", `"date": "2012-11-09T12:33:57"`), "/date never-fires"},
		{with("simple", `"date": "2012-11-09T12:34:46", "graceSeconds": 9`), "/date never-fires"},

		// interval.
		{with("interval", ""), "/minutes required"},
		{with("interval", `"hours": null`), "/minutes required"},
		{with("interval", `"hours": 0, "seconds": "0"`), "/hours range"},
		{with("interval", `"minutes": -1`), "/minutes range"},
		{with("interval", `"minutes": 1.5, "hours": "x", "days": true, "weeks": null`), "/days type, /hours type, /minutes type"},
		{with("interval", `"weeks": 5218`), "/weeks range"},
		{with("interval", `"weeks": 5217, "days": 7`), "/weeks range"},
		{with("interval", `"minutes": 9223372036854775807`), "/minutes range"},
		{with("interval", `"minutes": 2, "date": "x"`), "/date format"},
		{with("interval", `"days": 36525, "date": "1970-01-01", "minutes": 0, "repeat": 0`), "/repeat range"},

		// cron.
		{with("cron", ""), "/minute required"},
		{with("cron", `"hour": null`), "/minute required"},
		{with("cron", `"second": "0"`), "/minute required"},
		{with("cron", `"hour": ""`), "/hour format"},
		{with("cron", `"hour": true, "minute": [], "day": {}`), "/day type, /hour type, /minute type"},
		{with("cron", `"hour": 1.5`), "/hour type"},
		{with("cron", `"hour": 24, "minute": "-5", "weekday": 7`), "/weekday range, /hour range, /minute format"},
		{with("cron", `"dayOfWeek": 7`), "/dayOfWeek range"},
		{with("cron", nightly+`, "weekday": "thu,sun", "dayOfWeek": "3,6"`), "/dayOfWeek conflict"},
		{with("cron", nightly+`, "weekday": "3", "dayOfWeek": "x"`), "/dayOfWeek format"},
		{with("cron", nightly+`, "weekday": "3", "dayOfWeek": true`), "/dayOfWeek type"},
		{with("cron", nightly+`, "second": 30`), "/second range"},
		{with("cron", nightly+`, "second": "*"`), "/second type"},
		{with("cron", `"year": 2011`), "/year never-fires"},
		{with("cron", `"month": 2, "day": 30`), "/day never-fires"},
		{with("cron", `"month": 2, "day": 30, "year": 2014`), "/day never-fires"},
		{with("cron", `"month": 2, "day": 29, "year": 2014`), "/year never-fires"},

		// crontab.
		{with("crontab", ""), "/spec required"},
		{with("crontab", `"spec": 5`), "/spec type"},
		{with("crontab", `"spec": "@every 5m"`), "/spec format"},
		{with("crontab", `"spec": "TZ=UTC"`), "/spec format"},
		{with("crontab", `"spec": "0 0 30 2 *"`), "/spec never-fires"},

		// All in one answer.
		{
			`{"type": "interval", "minutes": 0, "repeat": 0, "priority": "x", "xattrDict": {"a": null}, "misfire": "no", "foo": 1}`,
			"/foo unknown-field, /routeId required, /priority type, /xattrDict/a type, /misfire range, /minutes range, /repeat range",
		},
	} {
		if _, got := read(t, test.doc, friday, nil); strings.Join(got, ", ") != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.doc, strings.Join(got, ", "), test.want)
		}
	}
}

func TestReadAccepts(t *testing.T) {
	t.Parallel()
	uuid := "0f6bd804a4f14cf6a2807dad625e2bb1"
	for _, test := range []struct{ doc, key, want string }{
		{with("interval", `"minutes": "2", "priority": "300", "repeat": "1"`), "priority", `300`},
		{with("interval", `"minutes": 2.0, "repeat": null`), "repeat", `null`},
		{`{"type": "interval", "minutes": 2, "route": "bug", "routeId": "12"}`, "routeId", `12`},
		{`{"type": "interval", "minutes": 2, "route": "bug"}`, "route", `"bug"`},
		{`{"type": "interval", "minutes": 2, "route": "bug", "context": "core"}`, "context", `"core"`},
		{with("interval", everyTwo+`, "priority": 0`), "priority", `0`},
		{with("interval", everyTwo+`, "xattrDict": {"B b": "$__TODAY__;", "a": 1.50, "c": false, "`+strings.Repeat("x", 127)+`": ""}`), "xattrDict", `{"B b":"$__TODAY__;","a":1.50,"c":false,"` + strings.Repeat("x", 127) + `":""}`},
		{with("interval", everyTwo+`, "xattrDict": null`), "xattrDict", `{}`},
		{with("interval", everyTwo+`, "title": "`+strings.Repeat("é", 500)+`"`), "title", `"` + strings.Repeat("é", 500) + `"`},
		{with("interval", everyTwo+`, "note": "a\r\n\tb"`), "note", `"a\r\n\tb"`},
		{with("interval", everyTwo+`, "attachmentUUID": "{0F6BD804-a4f1-4cf6-a280-7dad625e2bb1}"`), "attachmentUUID", `"` + uuid + `"`},
		{with("interval", everyTwo+`, "attachmentUUID": "{`+uuid+`}"`), "attachmentUUID", `"` + uuid + `"`},
		{with("interval", everyTwo+`, "attachmentUUID": null, "document": "/dav/Documents/ops/a%20b%2525.csv"`), "document", `"/dav/Documents/ops/a b%25.csv"`},
		{with("interval", everyTwo+`, "document": "/dav/Documents/100%.csv"`), "document", `"/dav/Documents/100%.csv"`},
		{with("interval", `"days": 8, "hours": 2, "minutes": 3, "seconds": 4, "weeks": 0`), "interval", `698584`},
		{with("interval", `"days": 8, "hours": 2, "weeks": 0`), "weeks", `0`},
		{with("interval", `"seconds": 5, "date": "2012-11-09T12:34:56Z"`), "date", `"2012-11-09T12:34:56"`},
		{with("interval", everyTwo+`, "date": 1352464496`), "nextIteration", `"2012-11-09T12:34:56"`},
		{with("interval", everyTwo+`, "date": "20131109T1234"`), "nextIteration", `"2013-11-09T12:34:00"`},
		{with("simple", `"date": "2013-01-01 07:30:59"`), "date", `"2013-01-01T07:30:00"`},
		{with("simple", `"date": "2013-01-01", "repeat": 1`), "repeat", `null`},
		{with("simple", `"date": "2013-01-01"`), "iterationsRemaining", `1`},
		{with("simple", `"date": "2012-11-09T12:34:56"`), "nextIteration", `"2012-11-09T12:34:00"`},
		{with("simple", `"date": "2012-11-09T12:33:58"`), "nextIteration", `"2012-11-09T12:33:00"`},
		{with("cron", `"hour": 23, "minute": "0", "dayOfWeek": "MON-Fri"`), "dayOfWeek", `"mon-fri"`},
		{with("cron", `"weekday": "3, 06", "dayOfWeek": "3,6", "second": 0`), "dayOfWeek", `"3,6"`},
		{with("cron", `"minute": "*"`), "minute", `"*"`},
		{with("cron", `"week": "53"`), "week", `"53"`},
		{with("crontab", `"spec": " 30 5  * * Mon-Fri"`), "spec", `"30 5 * * mon-fri"`},
		{with("cron", nightly+`, "note": null, "title": "Tägliche Läufe", "paused": null, "exclude": null`), "title", `"Tägliche Läufe"`},
		{with("cron", nightly+`, "graceSeconds": 0`), "graceSeconds", `0`},
		// On a new entry everything that only the server sets is ignored.
		{with("interval", everyTwo+`, "UUID": "nonsense", "created": false, "iterationsPerformed": 7, "interval": "x", "upcoming": 5, "lastCase": {}, "modified": [], "nextIteration": null, "description": 0, "lastIteration": 1, "lastError": 2, "iterationsRemaining": "x"`), "iterationsPerformed", `0`},
	} {
		e := entry(t, test.doc, friday, nil)
		var form map[string]json.RawMessage
		if err := json.Unmarshal(e.Form(), &form); err != nil {
			t.Fatal(err)
		}
		var value bytes.Buffer
		if err := json.Compact(&value, form[test.key]); err != nil {
			t.Fatal(err)
		}
		if got := value.String(); got != test.want {
			t.Errorf("%s\n%s: got %s, want %s", test.doc, test.key, got, test.want)
		}
	}
}

func TestReadHints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ doc, hint string }{
		{with("cron", nightly+`, "wekday": 1`), `did you mean "weekday"?`},
		{with("cron", nightly+`, "minutes": 1`), `did you mean "minute"?`},
		{with("simple", `"date": "2013-01-01", "spec": "x"`), `"crontab"`},
		{with("sipmle", ``), `did you mean "simple"?`},
		{with("cron", `"hour": "9", "dayOfWeek": "0-7"`), `0 = Monday to 6 = Sunday`},
	} {
		n, err := document.ParseJSON([]byte(test.doc))
		if err != nil {
			t.Fatal(err)
		}
		var faults document.Faults
		schedule.Read(document.Root(n, &faults), friday, nil, zoneNamed)
		if list := faults.List(); len(list) == 0 || !strings.Contains(list[0].Detail, test.hint) || list[0].Line == 0 {
			t.Errorf("%s: got %v, want a hint %s and the place", test.doc, list, test.hint)
		}
	}
}

func TestReadPolicies(t *testing.T) {
	t.Parallel()
	e := entry(t, with("cron", nightly+`, "timezone": "Europe/Berlin", "misfire": "all", "overlap": "bufferOne", "jitterSeconds": 5,
		"start": "2013-01-01", "end": "2014-01-01T00:00:00+01:00", "exclude": ["2013-12-24", {"from": "2013-12-25", "to": "2013-12-27T12:00"}],
		"excludeCalendar": "/dav/Documents/ops/holidays%20DE.ics", "dstGap": "skip", "dstOverlap": "both", "paused": true`), friday, nil)
	if !e.NextIteration.IsZero() || len(e.Upcoming) > 0 {
		t.Errorf("a paused entry has %v, %v to come", e.NextIteration, e.Upcoming)
	}
	form := string(e.Form())
	for _, want := range []string{
		"\"exclude\": [\n    \"2013-12-24\",\n    {\n      \"from\": \"2013-12-25\",\n      \"to\": \"2013-12-27T12:00:00\"\n    }\n  ]", `"excludeCalendar": "/dav/Documents/ops/holidays DE.ics"`,
		`"start": "2012-12-31T23:00:00"`, `"end": "2013-12-31T23:00:00"`, `"nextIteration": null`, `"upcoming": []`, `"paused": true`,
	} {
		if !strings.Contains(form, want) {
			t.Errorf("%s is not in %s", want, form)
		}
	}
}

// sampleDocs are new entries of all kinds.
var sampleDocs = []string{
	with("interval", everyTwo),
	with("interval", `"weeks": 1, "seconds": 1, "date": "2010-01-01", "repeat": 40, "xattrDict": {"a": 1e3, "b": true, "c d": "ü\"\\<>\u2028"}`),
	with("simple", `"date": "2013-01-01T07:30", "priority": 0, "document": "/dav/Documents/ops/a%2520b.csv", "note": "n", "title": "t"`),
	with("cron", nightly+`, "weekday": "thu,sun", "week": "1-52/3", "year": "2012-2100/2", "context": "core", "contextId": 5, "route": "collector"`),
	with("cron", `"day": "last, 2nd tue", "attachmentUUID": "0f6bd804a4f14cf6a2807dad625e2bb1", "graceSeconds": 0`),
	with("crontab", `"spec": "*/5 9-17 13 * fri", "repeat": 3`),
	with("crontab", `"spec": "@weekly", "paused": true, "exclude": ["2013-01-01", {"from": "2013-01-02", "to": 1364774400}], "start": "2013-01-01"`),
}

func TestGetEditPut(t *testing.T) {
	t.Parallel()
	for _, doc := range sampleDocs {
		e := entry(t, doc, friday, nil)
		for step := range 4 {
			// Long after: what is due since stays due.
			again := entry(t, string(e.Form()), friday.AddDate(0, 0, 3*step), e)
			again.Modified = e.Modified
			if diff := cmp.Diff(e, again, cmpopts.IgnoreUnexported(schedule.Entry{})); diff != "" {
				t.Errorf("%s, step %d (-was +is): %s", doc, step, diff)
			}
			if e.Step(e.NextIteration).Ended {
				break
			}
		}
	}
}

func TestReplacedEntryKeepsItsCounts(t *testing.T) {
	t.Parallel()
	old := entry(t, with("interval", everyTwo+`, "repeat": 5, "note": "old", "xattrDict": {"a": 1}, "priority": 7`), friday, nil)
	for range 3 {
		old.Step(old.NextIteration)
	}
	old.LastCase, old.LastError = 42, "the route has gone"
	now := old.LastIteration.Add(time.Second)

	t.Run("absent fields take their defaults, counters stay", func(t *testing.T) {
		t.Parallel()
		e := entry(t, with("interval", everyTwo), now, old)
		if e.Note != "" || e.XattrDict != nil || e.Priority != 200 || e.Repeat != 0 || e.IterationsRemaining != -1 {
			t.Errorf("got %+v", e)
		}
		if e.IterationsPerformed != 3 || e.LastIteration != old.LastIteration || e.LastCase != 42 || e.LastError != old.LastError ||
			e.UUID != old.UUID || e.Created != old.Created || e.Modified != now {
			t.Errorf("got %+v", e)
		}
		if e.Date != old.Date || e.NextIteration != old.NextIteration {
			t.Errorf("the grid moved from %v, %v to %v, %v", old.Date, old.NextIteration, e.Date, e.NextIteration)
		}
	})
	t.Run("another interval starts now", func(t *testing.T) {
		t.Parallel()
		e := entry(t, with("interval", `"minutes": 3`), now, old)
		if e.Date != now || e.NextIteration != now.Add(3*time.Minute) {
			t.Errorf("got %v, %v", e.Date, e.NextIteration)
		}
		if e := entry(t, with("interval", `"seconds": 120`), now, old); e.Date != old.Date {
			t.Errorf("the same total in other units: got a grid from %v, want %v", e.Date, old.Date)
		}
	})
	t.Run("the type changes", func(t *testing.T) {
		t.Parallel()
		e := entry(t, with("cron", nightly), now, old)
		if e.IterationsPerformed != 3 || e.Interval != 0 || e.NextIteration != at("2012-11-09T23:00:00") {
			t.Errorf("got %+v", e)
		}
		e = entry(t, with("simple", `"date": "2013-01-01", "repeat": 1`), now, old)
		if e.IterationsPerformed != 3 || e.IterationsRemaining != 1 || e.Repeat != 0 {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct{ members, want string }{
			{`"repeat": 3`, "/repeat range"},
			{`"repeat": 4`, ""},
			{`"UUID": "{c658993a-dcf1-410b-8003-5dc134feb564}", "created": "2012-11-09 12:34:56Z"`, ""},
			{`"UUID": "C658993ADCF1410B80035DC134FEB564", "created": null`, ""},
			{`"UUID": "{0f6bd804-a4f1-4cf6-a280-7dad625e2bb1}"`, "/UUID read-only"},
			{`"UUID": 5`, "/UUID read-only"},
			{`"created": "2012-11-09T12:34:57"`, "/created read-only"},
			{`"created": true`, "/created read-only"},
			{`"iterationsPerformed": 99, "lastCase": "x", "upcoming": {}, "interval": 1`, ""},
		} {
			if _, got := read(t, with("interval", everyTwo+", "+test.members), now, old); strings.Join(got, ", ") != test.want {
				t.Errorf("%s: got %v, want %q", test.members, got, test.want)
			}
		}
	})
	t.Run("an instant does not come twice", func(t *testing.T) {
		t.Parallel()
		// A clock that stands still at an instant that has fired.
		still := old.LastIteration
		for _, doc := range []string{
			with("interval", `"minutes": 1, "date": "2012-11-09T12:34:56"`),
			with("interval", `"seconds": 30, "date": "2012-11-09T12:34:56"`),
		} {
			if e := entry(t, doc, still, old); !e.NextIteration.After(still) {
				t.Errorf("%s: got %v, which has fired", doc, e.NextIteration)
			}
		}
		simple := entry(t, with("interval", `"hours": 1, "date": "2012-11-09T13:00"`), friday, nil)
		simple.Step(simple.NextIteration)
		if _, got := read(t, with("simple", `"date": "2012-11-09T13:00"`), simple.LastIteration, simple); !slices.Equal(got, []string{"/date never-fires"}) {
			t.Errorf("got %v", got)
		}
	})
}

// What is due at this very moment counts, for every type.
func TestAnInstantThatIsNowCounts(t *testing.T) {
	t.Parallel()
	noon := at("2012-11-09T12:00:00")
	for _, doc := range []string{
		with("simple", `"date": "2012-11-09T12:00"`), with("interval", `"hours": 1, "date": "2012-11-09T10:00"`),
		with("cron", `"hour": "12", "minute": "0"`), with("crontab", `"spec": "@hourly"`),
	} {
		if e := entry(t, doc, noon, nil); e.NextIteration != noon {
			t.Errorf("%s: got %v, want %v", doc, e.NextIteration, noon)
		}
	}
	if e := entry(t, with("interval", `"hours": 1`), noon, nil); e.NextIteration != noon.Add(time.Hour) {
		t.Errorf("a grid that starts now: got %v", e.NextIteration)
	}
}
