package schedule_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func entrySchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile("../schema/json/schedule-entry.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{})
	const name = "urn:flowdrive:schema:schedule-entry"
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, doc []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// The schema takes what Read takes, and every complete form.
func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	s := entrySchema(t)
	docs := append([]string{
		with("cron", `"weekday": "MON-Fri, 6", "hour": 23, "day": "LAST,1st  mon,*/2", "second": 0, "minute": null`),
		with("interval", `"minutes": "2", "repeat": "3", "date": 1352464496, "interval": 5, "attachmentUUID": "{0F6BD804-a4f1-4cf6-a280-7dad625e2bb1}"`),
		with("simple", `"date": "2099-11-09 12:34:56.5+01:00", "repeat": 1`), with("crontab", `"spec": " 30 5 * * Mon-Fri "`),
		`{"type": "interval", "seconds": 2, "route": "bug", "context": null, "exclude": null, "misfire": null, "timezone": "UTC"}`,
	}, sampleDocs...)
	for _, doc := range docs {
		if err := validate(t, s, []byte(doc)); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
		e := entry(t, doc, friday, nil)
		if err := validate(t, s, e.Form()); err != nil {
			t.Errorf("the form of %s: %v", doc, err)
		}
		e.Step(time.Unix(1<<33, 0))
		if err := validate(t, s, e.Form()); err != nil {
			t.Errorf("the fired form of %s: %v", doc, err)
		}
	}
}

// What the schema refuses Read refuses as well: an editor that knows the
// schema never hinders a legal entry.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := entrySchema(t)
	for _, doc := range []string{
		`[]`, `{}`, `{"type": "cron", "hour": 1}`, with("weekly", ""), with("interval", ""), with("cron", `"second": "0"`), with("crontab", ""), with("simple", ""),
		with("simple", `"date": "2012-11-9"`), with("simple", `"date": "20991109"`), with("simple", `"date": "2099-01-01", "repeat": 2`),
		with("simple", `"date": "2099-01-01", "timezone": "Europe/Berlin"`), with("simple", `"date": "2099-01-01", "spec": "@daily"`),
		with("interval", everyTwo+`, "priority": 65536`), with("interval", everyTwo+`, "priority": true`), with("interval", everyTwo+`, "priority": "x"`),
		with("interval", everyTwo+`, "repeat": 0`), with("interval", everyTwo+`, "foo": 1`), with("interval", everyTwo+`, "hour": 1`), with("interval", `"minutes": -1`),
		with("interval", everyTwo+`, "xattrDict": {"a": null}`), with("interval", everyTwo+`, "xattrDict": {"": 1}`), with("interval", everyTwo+`, "xattrDict": {"ä": 1}`),
		with("interval", everyTwo+`, "attachmentUUID": "x"`), with("interval", everyTwo+`, "exclude": ["x"]`), with("interval", everyTwo+`, "exclude": [{"from": 0}]`),
		with("cron", `"hour": 24`), with("cron", `"hour": true`), with("cron", `"hour": ""`), with("cron", `"hour": "1-"`), with("cron", `"weekday": "monday"`), with("cron", `"weekday": 7`),
		with("cron", `"day": "6th mon"`), with("cron", `"day": "lastx"`), with("cron", `"month": "jan"`), with("cron", `"minute": "5,"`), with("cron", `"minute": "0", "second": 1`),
		with("cron", nightly+`, "misfire": "x"`), with("cron", nightly+`, "timezone": "Local"`), with("cron", nightly+`, "timezone": ""`),
		with("crontab", `"spec": "* * * *"`), with("crontab", `"spec": "TZ=UTC * * * *"`), with("crontab", `"spec": "@every 5m"`),
	} {
		if validate(t, s, []byte(doc)) == nil {
			t.Errorf("the schema accepts %s", doc)
		}
		if _, faults := read(t, doc, friday, nil); len(faults) == 0 {
			t.Errorf("Read accepts %s", doc)
		}
	}
}
