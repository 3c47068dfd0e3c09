package schedule_test

import (
	"strings"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/schedule"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		doc, name string
		ok        bool
		want      string
	}{
		{`{}`, "", false, ""},
		{`[]`, "", false, ""},
		{`{"type": "cron"}`, "", false, ""},
		{`"do"`, "", false, ""},
		{`{"do": "trigger"}`, "trigger", true, ""},
		{`{"do": "resume"}`, "resume", true, ""},
		{`{"do": "resume", "missed": "skip"}`, "resume", true, ""},
		{`{"do": "resume", "missed": "once"}`, "resume", true, "/missed range"},
		{`{"do": "resume", "missed": true}`, "resume", true, "/missed type"},
		{`{"do": "pause", "missed": "skip"}`, "pause", true, "/missed unknown-field"},
		{`{"do": "pause"}`, "pause", true, ""},
		{`{"do": "pause", "note": "holidays"}`, "pause", true, ""},
		{`{"do": "pause", "note": null}`, "pause", true, ""},
		{`{"do": "backfill", "from": "2012-11-01", "to": "2012-11-02T00:00Z"}`, "backfill", true, ""},
		{`{"do": "trigger", "note": "x"}`, "trigger", true, "/note unknown-field"},
		{`{"do": "pause", "note": 5}`, "pause", true, "/note type"},
		{`{"do": "resume", "from": 0}`, "resume", true, "/from unknown-field"},
		{`{"do": "backfill"}`, "backfill", true, "/from required, /to required"},
		{`{"do": "backfill", "from": "x", "to": "2012-11-01"}`, "backfill", true, "/from format"},
		{`{"do": "backfill", "from": "2012-11-01", "to": "2012-11-01"}`, "backfill", true, "/to range"},
		{`{"do": "triger"}`, "triger", true, "/do range"},
		{`{"do": 5}`, "", true, "/do type"},
		{`{"do": null}`, "", true, "/do type"},
	} {
		n, err := document.ParseJSON([]byte(test.doc))
		if err != nil {
			t.Fatal(err)
		}
		var faults document.Faults
		name, ok := schedule.Command(document.Root(n, &faults))
		var got []string
		for _, f := range faults.List() {
			got = append(got, f.Pointer+" "+string(f.Code))
		}
		if name != test.name || ok != test.ok || strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %q, %v, %v", test.doc, name, ok, got)
		}
	}
}
